//! One conversation of an editor with claw: what the person sends in its order, and a task that
//! keeps the session going. Owns when a prompt is answered. Must not know the protocol's requests
//! or how anything is drawn.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    PromptResponse, RequestPermissionOutcome, SetSessionModeResponse, StopReason,
};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use super::available_commands::AvailableCommands;
use super::delivery::Delivery;
use super::door::{AcpDoor, AcpDoorParts, PermissionAnswer};
use super::pending::{End, Prompts};
use super::{question, wire_error};
use crate::domain::{Answer, Mode, Named, SessionId};
use crate::door_context::Context;
use crate::doors::Door as _;
use crate::doors::commands::DoorKind;
use crate::doors::instance_outbox::InstanceOutbox;
use crate::doors::typed::{Typed, typed};
use crate::doors::written::{self, Written};
use crate::mail::Instance;
use crate::router::{Order, Visitor};
use crate::session::Ran;

/// After something went wrong, unless the person sends something.
const TRY_AGAIN: Duration = Duration::from_secs(5);
/// How long a conversation that is closed has for the end of what runs.
const SETTLE_TIME_MAX: Duration = Duration::from_secs(10);
/// Requests of one conversation that wait to be carried out.
const EVENTS_QUEUED_MAX: usize = 64;

/// What the person does, in its order.
pub enum TalkEvent {
    /// `named`: what of tool servers the person has named in their own words.
    Prompt {
        text: String,
        named: Vec<Named>,
        responder: Responder<PromptResponse>,
    },
    Cancel,
    Mode {
        mode: Mode,
        responder: Responder<SetSessionModeResponse>,
    },
}

/// Where and for whom a conversation is.
pub struct TalkParts {
    pub context: Context,
    pub instance: Instance,
    pub session: SessionId,
    pub workspace: std::path::PathBuf,
    pub editor: agent_client_protocol::v1::ConnectionTo<agent_client_protocol::Client>,
}

/// Dropping it ends its tasks; what was committed goes on from its log.
pub struct Talk {
    /// Shared with the tasks, as `inner` is; both go with the last of them.
    pub door: Arc<AcpDoor>,
    inner: Arc<Inner>,
    /// To the task that takes them, in their order.
    events: mpsc::Sender<TalkEvent>,
    last: Mutex<Instant>,
    /// Told of each prompt; whoever begins the conversation waits for the first one.
    pub prompted: Arc<Notify>,
    _tasks: JoinSet<()>,
}

/// What the tasks of one conversation share, until it is closed.
struct Inner {
    /// The process's own; the next three name this conversation and never change.
    context: Context,
    session: SessionId,
    visitor: Visitor,
    door: Arc<AcpDoor>,
    outbox: Arc<InstanceOutbox>,
    delivery: Delivery,
    wake: Notify,
    /// Those that wait for the end of a turn.
    prompts: Prompts,
    /// The mode that the editor was told last.
    mode: Mutex<Mode>,
    commands: AvailableCommands,
}

impl Talk {
    /// Begins the conversation. Nothing of an earlier one is shown before [`Self::go_on`].
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn open(parts: TalkParts) -> anyhow::Result<Self> {
        let TalkParts { context, instance, session, workspace, editor } = parts;
        let visitor = context.console_visitor(&instance);
        let mode = context.chat_commands.mode(&visitor, &session)?;
        let (answers, answered) = mpsc::unbounded_channel();
        let door = Arc::new(AcpDoor::new(AcpDoorParts {
            editor,
            session: session.clone(),
            owner: context.owner.clone(),
            workspace,
            mail: context.mail.clone(),
            zone: context.zone.clone(),
            answers,
        }));
        let outbox = Arc::new(InstanceOutbox::new(&context.mail, Arc::new(instance), &session));
        let delivery = Delivery::new(&context, outbox.clone(), door.clone());
        let commands = AvailableCommands::new(context.chat_commands.clone(), door.clone());
        let inner = Arc::new(Inner {
            context,
            session,
            visitor,
            door: door.clone(),
            outbox,
            delivery,
            wake: Notify::new(),
            prompts: Prompts::default(),
            mode: Mutex::new(mode),
            commands,
        });
        let (events, taken) = mpsc::channel(EVENTS_QUEUED_MAX);
        let mut tasks = JoinSet::new();
        tasks.spawn(inner.clone().take(taken));
        tasks.spawn(inner.clone().hear(answered));
        let (last, prompted) = (Mutex::new(Instant::now()), Arc::default());
        Ok(Self { door, inner, events, last, prompted, _tasks: tasks })
    }

    /// The mode as the editor is told it.
    pub fn mode(&self) -> Mode {
        *self.inner.mode()
    }

    /// The rows of the outbox that a replay of the log shows, too, as far as it is read behind
    /// this.
    pub fn said_before(
        &self,
    ) -> impl Future<Output = anyhow::Result<Vec<i64>>> + Send + 'static + use<> {
        let inner = self.inner.clone();
        async move { inner.delivery.said_before().await }
    }

    /// From now on what waits is shown, and what an earlier process has left goes on.
    pub fn go_on(&mut self) {
        self.inner.commands.send();
        self._tasks.spawn(self.inner.clone().keep());
    }

    /// Takes an event in. It is carried out behind those before it.
    ///
    /// # Errors
    /// Too many wait; a sentence.
    pub fn send(&self, event: TalkEvent) -> Result<(), String> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if matches!(event, TalkEvent::Prompt { .. }) {
            self.prompted.notify_one();
        }
        self.events.try_send(event).map_err(|_| {
            format!(
                "{EVENTS_QUEUED_MAX} requests of this conversation wait already, so this one was \
                 not taken in; send it again in a moment."
            )
        })
    }

    pub fn address(&self) -> &crate::domain::Address {
        self.inner.outbox.address()
    }

    /// Something was put into its inbox or outbox.
    pub fn wake(&self) {
        self.inner.wake.notify_one();
    }

    /// Whether no prompt of the editor waits for anything.
    pub fn is_idle(&self) -> bool {
        self.inner.prompts.is_empty()
    }

    /// When the editor last sent something to it.
    pub fn last(&self) -> Instant {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops what runs, and waits until it has ended, for a while: whoever opens it next ends it
    /// otherwise.
    pub async fn stop_and_settle(&self) -> anyhow::Result<()> {
        self.inner.stop().await?;
        let settled = async {
            let mut changes = self.inner.context.mail.changes();
            while self.inner.context.worker.left_over(&self.inner.session)? {
                changes.wait().await;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(SETTLE_TIME_MAX, settled).await.unwrap_or(Ok(()))
    }
}

impl Inner {
    fn mode(&self) -> std::sync::MutexGuard<'_, Mode> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out what the person does, one after the other.
    async fn take(self: Arc<Self>, mut events: mpsc::Receiver<TalkEvent>) {
        while let Some(event) = events.recv().await {
            match event {
                TalkEvent::Prompt { text, named, responder } => {
                    self.prompt(&text, named, responder).await;
                }
                TalkEvent::Cancel => {
                    if let Err(error) = self.stop().await {
                        self.door.say(&format!("{error:#}"));
                    }
                }
                TalkEvent::Mode { mode, responder } => {
                    let set =
                        self.context.chat_commands.set_mode(&self.visitor, &self.session, mode);
                    let set = set.await.map(|()| SetSessionModeResponse::new());
                    if set.is_ok() {
                        *self.mode() = mode;
                    }
                    // An editor that has gone waits for no answer.
                    let _ = responder.respond_with_result(set.map_err(wire_error::broken));
                }
            }
            self.wake.notify_one();
        }
    }

    async fn prompt(&self, text: &str, named: Vec<Named>, responder: Responder<PromptResponse>) {
        self.door.persons_turn();
        let before = self.last_end().map(|(seq, _)| seq);
        let waits = match self.prompted(text, named).await {
            Ok(waits) => waits,
            Err(error) => {
                self.door.say(&format!("{error:#}"));
                false
            }
        };
        if waits {
            self.prompts.add(responder, before);
        } else {
            // An editor that has gone waits for no answer.
            let _ = responder.respond(PromptResponse::new(StopReason::EndTurn));
        }
    }

    /// Whether something runs because of it, whose end the editor waits for.
    async fn prompted(&self, text: &str, named: Vec<Named>) -> anyhow::Result<bool> {
        let (visitor, session) = (&self.visitor, &self.session);
        let line = (text, DoorKind::Editor);
        let written = written::command(&self.context, visitor, session, line).await?;
        self.tell_mode();
        match written {
            Written::Notice(told) => self.door.say(&told),
            Written::Runs => return Ok(true),
            Written::Message | Written::NotForUs => return self.message(text, named).await,
        }
        Ok(false)
    }

    /// A message; or, where a question is open, a no with a word to the model. A written yes
    /// approves nothing: that does the answer to the question's own request alone.
    async fn message(&self, text: &str, named: Vec<Named>) -> anyhow::Result<bool> {
        let open = self.outbox.mail.open_questions(Some(&self.session))?;
        let open: Vec<_> = open.iter().filter(|row| row.question.staged.is_none()).collect();
        match (typed(text), &open[..]) {
            (Typed::No { word }, [only]) => {
                let no = Answer::Deny { word };
                self.context.router.answer(&self.visitor, &only.id, &no).await?;
                self.delivery.answered_here(&only.id);
                return Ok(true);
            }
            (Typed::Yes, [_, ..]) => {
                self.door.say("A written yes allows nothing here: answer the question itself.");
                self.delivery.ask_open().await?;
                return Ok(true);
            }
            _ => {}
        }
        self.context.router.message_naming(&self.visitor, &self.session, text, named).await?;
        if !open.is_empty() {
            self.door.say("Your message goes in when the open question is answered.");
            self.delivery.ask_open().await?;
        }
        Ok(true)
    }

    async fn stop(&self) -> anyhow::Result<()> {
        if self.prompts.is_empty() && !self.context.worker.left_over(&self.session)? {
            return Ok(());
        }
        self.prompts.cancel();
        self.door.withdraw_all();
        self.context.router.order(&self.visitor, &self.session, Order::Stop).await?;
        self.wake.notify_one();
        Ok(())
    }

    /// Hears what the person answers to requests for permission.
    async fn hear(self: Arc<Self>, mut answers: mpsc::UnboundedReceiver<PermissionAnswer>) {
        while let Some(answer) = answers.recv().await {
            if let Err(error) = self.answered(answer).await {
                self.door.say(&format!("{error:#}"));
            }
            self.wake.notify_one();
        }
    }

    async fn answered(&self, given: PermissionAnswer) -> anyhow::Result<()> {
        let PermissionAnswer { approval, request, question, result } = given;
        let is_open = self.door.answered(&approval, request);
        let selected = match &result {
            Ok(response) => match &response.outcome {
                RequestPermissionOutcome::Selected(selected) => Some(&selected.option_id),
                _ => None,
            },
            Err(_) => None,
        };
        let Some(option) = selected else {
            // What was taken back here is answered so, too.
            if is_open {
                self.dismissed();
            }
            return Ok(());
        };
        if !is_open {
            self.door.say(
                "Your answer did not count: the question had been closed or asked anew before.",
            );
            return Ok(());
        }
        let Some(answer) = question::answer_of(&question, &option.to_string()) else {
            self.door.say("That answer was not among those offered, so it did not count.");
            self.dismissed();
            return Ok(());
        };
        self.delivery.answered_here(&approval);
        self.context.router.answer(&self.visitor, &approval, &answer).await?;
        Ok(())
    }

    /// A question was closed without an answer. It stays open, and the turn waits; the editor does
    /// not.
    fn dismissed(&self) {
        if !self.prompts.go_on() {
            return;
        }
        self.door.say(&format!(
            "The question stays open. It is asked again with your next message; `no, …` denies it, \
             and `{} approvals` lists it.",
            self.context.claw()
        ));
        self.prompts.answer(self.prompts.count(), || None);
    }

    /// Tells the editor of another mode than the one that it was told last.
    fn tell_mode(&self) {
        // A store that cannot be read shows itself at the next turn.
        let Ok(now) = self.context.chat_commands.mode(&self.visitor, &self.session) else { return };
        let before = std::mem::replace(&mut *self.mode(), now);
        if before != now {
            self.door.tell_mode(now);
        }
    }

    /// Keeps the session going and the person informed, until it is aborted.
    async fn keep(self: Arc<Self>) {
        // Before anything is looked at: what is committed from here on is heard.
        let mut changes = self.context.mail.changes();
        if let Err(error) = self.delivery.ask_open().await {
            self.door.say(&format!("{error:#}"));
        }
        let mut told = String::new();
        loop {
            // What is committed from here on is seen by the next round.
            let before = self.prompts.count();
            let failed = match self.round().await {
                Ok(Ran::Idle) => {
                    self.prompts.answer(before, || self.last_end());
                    self.commands.look().await;
                    false
                }
                Ok(_) => false,
                Err(error) => {
                    // The session lives on: what was committed is still there.
                    tracing::error!(error = format!("{error:#}"), "a turn failed");
                    let sentence = format!("{error:#}");
                    if sentence != told || !self.prompts.is_empty() {
                        self.door.say(&sentence);
                    }
                    told = sentence;
                    self.prompts.answer(before, || self.last_end());
                    true
                }
            };
            if failed {
                let _ = tokio::time::timeout(TRY_AGAIN, self.wake.notified()).await;
                continue;
            }
            told.clear();
            loop {
                tokio::select! {
                    () = self.wake.notified() => break,
                    () = changes.wait_at_most(self.delivery.next_expiry()) => {}
                }
                if self.delivery.news() {
                    break;
                }
            }
        }
    }

    /// Does what there is to do, and delivers while it is done.
    async fn round(&self) -> anyhow::Result<Ran> {
        let mut changes = self.context.mail.changes();
        self.tell_mode();
        let mut ran = Ran::Idle;
        if self.context.worker.left_over(&self.session)? {
            let here = (self.context.worker_of)(self.session.clone()).await;
            let here = here.map_err(anyhow::Error::msg)?;
            let live = self.door.glimpses(&self.session, self.outbox.address());
            let run = here.worker.run(&self.session, &live);
            tokio::pin!(run);
            ran = loop {
                tokio::select! {
                    ran = &mut run => break ran?,
                    () = changes.wait_at_most(self.delivery.next_expiry()) => {
                        self.tell_mode();
                        self.delivery.deliver().await?;
                    }
                }
            };
        }
        self.delivery.deliver().await?;
        Ok(ran)
    }

    fn last_end(&self) -> Option<End> {
        // A store that cannot be read shows itself at the turn.
        self.context.chat_commands.last_end(&self.session).ok().flatten()
    }
}
