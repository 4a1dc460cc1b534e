//! The console on one side, the session on the other. Must not know how anything is drawn or how a
//! turn goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use futures::future::LocalBoxFuture;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};

use super::delivery::{Delivery, mark_shown};
use super::{ConsoleDoor, Unwritten};
use crate::chat::{self, ConsoleEvent, ConsoleShow};
use crate::chat_commands::PromptLine;
use crate::domain::{Live, Mode, SessionId, named_in};
use crate::door_context::Context;
use crate::doors::Door as _;
use crate::doors::commands::near;
use crate::doors::instance_outbox::InstanceOutbox;
use crate::editor::{Console, EditorSettings};
use crate::jobs::{JobCallbacks, JobPlace, Spot};
use crate::mail::Instance;
use crate::router::{Order, Visitor};

/// Glimpses of a turn that wait to be shown; more are dropped, for what matters comes again through
/// the outbox.
const SHOWS_QUEUED_MAX: usize = 4096;
/// How long the screen has for its last lines. It gives up by itself after two seconds.
const SCREEN_ENDS_IN: Duration = Duration::from_secs(3);

/// What one chat begins with.
pub struct ConsoleStart {
    pub session: SessionId,
    pub instance: Instance,
    pub editor: EditorSettings,
    /// Markdown.
    pub greeting: String,
    /// What the owner should know, a sentence each.
    pub notices: Vec<String>,
}

/// Runs until the person leaves. Gives back whether a pipe has ended while a call waited for an
/// answer.
///
/// # Errors
/// There is no terminal, or it does not take what is shown.
// Boxed, so that it is compiled here, and not once more in the program.
pub fn run(
    context: Context,
    opening: ConsoleStart,
) -> LocalBoxFuture<'static, anyhow::Result<bool>> {
    Box::pin(talk(context, opening))
}

async fn talk(context: Context, opening: ConsoleStart) -> anyhow::Result<bool> {
    let ConsoleStart { session, instance, editor, greeting, notices } = opening;
    let visitor = context.console_visitor(&instance);
    let (written, left) = mpsc::unbounded_channel();
    let mode = editor.mode;
    let console = Console::open(editor, written)?;
    let has_a_person = console.interactive;
    let (end_marking, ended) = oneshot::channel();
    let outbox = Arc::new(InstanceOutbox::new(&context.mail, Arc::new(instance), &session));
    let marking = claw_kit::task::spawn(mark_shown(outbox.clone(), left, ended));
    let (show, shows) = mpsc::channel(SHOWS_QUEUED_MAX);
    let (send, mut events) = mpsc::channel(16);
    let whose = (context.agent.clone(), session.clone(), context.zone.clone());
    let screen = claw_kit::task::spawn(chat::run(console, whose, shows, send));
    let door = Arc::new(ConsoleDoor::new(show, context.owner.clone()));
    greet(&door, greeting, notices).await;
    let (wake, handled, mode) = (Notify::new(), AtomicU64::new(0), Mutex::new(mode));
    let talk = Arc::new(Talk { context, session, outbox, door, wake, handled, mode });
    let keep_task = claw_kit::task::spawn(talk.clone().keep(visitor.clone(), has_a_person));
    let watching = claw_kit::task::spawn(talk.clone().watch_settings());
    let jobs = claw_kit::task::spawn(talk.clone().keep_jobs());
    while let Some(event) = events.recv().await {
        let quit = event == ConsoleEvent::Quit;
        if let Err(error) = talk.take(&visitor, event).await {
            talk.door.say(ConsoleShow::Error(format!("{error:#}"))).await;
        }
        talk.handled.fetch_add(1, Ordering::SeqCst);
        talk.wake.notify_one();
        if quit {
            break;
        }
    }
    // What was committed goes on from its log; leaving in the middle loses nothing.
    keep_task.abort();
    watching.abort();
    jobs.abort();
    drop(talk);
    // The screen ends by itself when nobody can show anything any more.
    let screen = tokio::time::timeout(SCREEN_ENDS_IN, screen).await;
    drop(end_marking);
    marking.await?;
    let waits = screen
        .context("the terminal does not take what is shown; it comes again at the next start")??
        .map_err(Unwritten)?;
    Ok(waits)
}

async fn greet(door: &ConsoleDoor, greeting: String, notices: Vec<String>) {
    door.say(ConsoleShow::Status(greeting)).await;
    for notice in notices {
        door.say(ConsoleShow::Error(notice)).await;
    }
}

/// What the tasks of one chat share, until the person leaves: then they are ended, and it goes.
struct Talk {
    /// A clone of the door's start.
    context: Context,
    /// The one that is shown. It never changes.
    session: SessionId,
    /// Shared with the task that marks what has left, which ends behind the screen.
    outbox: Arc<InstanceOutbox>,
    /// Holds the way to the screen, which ends when nobody has one any more.
    door: Arc<ConsoleDoor>,
    /// Wakes the task that keeps the session going.
    wake: Notify,
    /// How many events of the person have been carried out.
    handled: AtomicU64,
    /// The mode that the screen was told last. Held while an event is carried out that may set one,
    /// so that it is told as the answer to that.
    mode: Mutex<Mode>,
}

impl Talk {
    /// Tells the screen of another mode than the one that it was told last, which somebody else has
    /// set.
    async fn tell_mode(&self, visitor: &Visitor) {
        let Ok(mut told) = self.mode.try_lock() else { return };
        // A store that cannot be read shows itself at the next turn.
        let Ok(mode) = self.context.chat_commands.mode(visitor, &self.session) else { return };
        if std::mem::replace(&mut *told, mode) != mode {
            self.door.say(ConsoleShow::Mode { mode, asked: false }).await;
        }
    }

    /// Carries an event out. The screen, which waits for the mode that comes of it, always hears.
    async fn take(&self, visitor: &Visitor, event: ConsoleEvent) -> anyhow::Result<()> {
        if !event.may_set_mode() {
            return self.handle(visitor, event).await;
        }
        let mut told = self.mode.lock().await;
        let done = self.handle(visitor, event).await;
        if let Ok(mode) = self.context.chat_commands.mode(visitor, &self.session) {
            *told = mode;
        }
        self.door.say(ConsoleShow::Mode { mode: *told, asked: true }).await;
        done
    }

    async fn handle(&self, visitor: &Visitor, event: ConsoleEvent) -> anyhow::Result<()> {
        match event {
            ConsoleEvent::Line(text) => {
                if let Some(told) = self.context.chat_commands.login_answer(visitor, &text).await {
                    self.door.say(ConsoleShow::Status(told)).await;
                    return Ok(());
                }
                self.context.worker.keep_here(&self.session).await?;
                let named = named_in(&text);
                self.context.router.message_naming(visitor, &self.session, &text, named).await?;
            }
            ConsoleEvent::Answer { approval, answer } => {
                self.context.router.answer(visitor, &approval, &answer).await?;
            }
            ConsoleEvent::Interrupt => {
                self.context.router.order(visitor, &self.session, Order::Stop).await?;
            }
            ConsoleEvent::Command(command, words) => {
                if let Some(text) = self
                    .context
                    .chat_commands
                    .command(visitor, &self.session, command, &words)
                    .await?
                {
                    self.door.say(ConsoleShow::Status(text)).await;
                }
            }
            ConsoleEvent::Foreign { line, otherwise } => {
                self.foreign(visitor, &line, otherwise).await?;
            }
            ConsoleEvent::Quit => {}
        }
        Ok(())
    }

    /// A prompt of a server, or nothing that anybody knows.
    async fn foreign(
        &self,
        visitor: &Visitor,
        line: &str,
        otherwise: String,
    ) -> anyhow::Result<()> {
        let commands = &self.context.chat_commands;
        let text = match commands.prompt_of(visitor, line, near(line)).await {
            PromptLine::None => otherwise,
            PromptLine::Wrong(why) => why,
            PromptLine::Runs(prompt) => {
                self.context.worker.keep_here(&self.session).await?;
                let (router, named) = (&self.context.router, vec![prompt]);
                router.message_naming(visitor, &self.session, line, named).await?;
                return Ok(());
            }
        };
        // It may quote a server; a note is no Markdown.
        self.door.say(ConsoleShow::Live(Live::Notice { text })).await;
        Ok(())
    }

    /// Applies changes of the files of settings, and tells of them, until it is aborted.
    async fn watch_settings(self: Arc<Self>) {
        loop {
            for told in (self.context.settings.changes)().await {
                // It may quote the file; a note is no Markdown.
                self.door.say(ConsoleShow::Live(Live::Notice { text: told })).await;
            }
        }
    }

    /// Sees to the jobs of this session while it is open, until it is aborted.
    async fn keep_jobs(self: Arc<Self>) {
        let (session, at) = (self.session.clone(), self.outbox.address().clone());
        let (own, waking) = (self.session.clone(), self.clone());
        let callbacks = JobCallbacks {
            place_of: Arc::new(move |of| match of {
                Some(of) if *of == own => {
                    JobPlace::Here(Spot { session: session.clone(), at: at.clone() })
                }
                _ => JobPlace::NotMine,
            }),
            written: Arc::new(move || waking.wake.notify_one()),
        };
        self.context.jobs.clone().keep(callbacks).await;
    }

    /// Keeps the session going and the person informed, until it is aborted.
    async fn keep(self: Arc<Self>, visitor: Visitor, has_a_person: bool) {
        let (outbox, door) = (self.outbox.clone(), self.door.clone());
        // Before anything is looked at: what is committed from here on is heard.
        let mut changes = self.context.mail.changes();
        let mut delivery = Delivery::new(&self.context, outbox, door, has_a_person);
        if let Err(error) = delivery.begin().await {
            self.door.say(ConsoleShow::Error(format!("{error:#}"))).await;
        }
        let mut idle_at = None;
        loop {
            let handled = self.handled.load(Ordering::SeqCst);
            self.tell_mode(&visitor).await;
            let ran = match self.round(&mut delivery, &visitor).await {
                Ok(ran) => ran,
                Err(error) => {
                    // The session lives on: what was committed is still there, and the next look
                    // tries again.
                    tracing::error!(error = format!("{error:#}"), "a turn failed");
                    self.door.say(ConsoleShow::Error(format!("{error:#}"))).await;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    true
                }
            };
            // Also when somebody else's answer has set it going: the screen has seen that something
            // runs.
            if ran || idle_at != Some(handled) {
                idle_at = Some(handled);
                self.door.say(ConsoleShow::TurnIdle { taken: handled }).await;
            }
            loop {
                tokio::select! {
                    () = self.wake.notified() => break,
                    () = changes.wait_at_most(delivery.next_expiry()) => {}
                }
                if delivery.news() {
                    break;
                }
            }
        }
    }

    /// Does what there is to do, and delivers while it is done. Whether there was something.
    async fn round(&self, delivery: &mut Delivery, visitor: &Visitor) -> anyhow::Result<bool> {
        let mut changes = self.context.mail.changes();
        let left_over = self.context.worker.left_over(&self.session)?;
        if left_over {
            let live = self.door.glimpses(&self.session, self.outbox.address());
            let run = self.context.worker.run(&self.session, &live);
            tokio::pin!(run);
            loop {
                tokio::select! {
                    ran = &mut run => { ran?; break }
                    () = changes.wait_at_most(delivery.next_expiry()) => {
                        self.tell_mode(visitor).await;
                        delivery.deliver().await?;
                    }
                }
            }
        }
        delivery.deliver_all().await?;
        Ok(left_over)
    }
}
