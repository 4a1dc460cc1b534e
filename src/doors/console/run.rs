//! The console on one side, the session on the other. Must not know how anything is drawn or how a
//! turn goes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::{Notify, mpsc, oneshot};

use super::delivery::{Delivery, mark_shown};
use super::{ConsoleDoor, Unwritten};
use crate::domain::{Mode, SessionId, escape};
use crate::door_context::Context;
use crate::doors::Door as _;
use crate::doors::console::chat::{self, ConsoleEvent, ConsoleShow};
use crate::doors::console::editor::{Console, EditorSettings};
use crate::doors::instance_outbox::InstanceOutbox;
use crate::mail::Instance;
use crate::router::{Order, Visitor};

/// How often the store is looked at for what other processes did. A look costs microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(100);
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

/// Runs until the person leaves.
///
/// # Errors
/// There is no terminal, or it does not take what is shown.
pub async fn run(context: Context, opening: ConsoleStart) -> anyhow::Result<()> {
    let ConsoleStart { session, instance, editor, greeting, notices } = opening;
    let visitor = context.console_visitor(&instance);
    let (written, left) = mpsc::unbounded_channel();
    let mode = editor.mode;
    let console = Console::open(editor, written)?;
    let (end_marking, ended) = oneshot::channel();
    let outbox = Arc::new(InstanceOutbox::new(&context.mail, Arc::new(instance), &session));
    let marking = tokio::spawn(mark_shown(outbox.clone(), left, ended));
    let (show, shows) = mpsc::channel(SHOWS_QUEUED_MAX);
    let (send, mut events) = mpsc::channel(16);
    let screen = tokio::spawn(chat::run(console, shows, send));
    let door = Arc::new(ConsoleDoor::new(show));
    greet(&door, greeting, notices).await;
    let (wake, handled, mode) = (Notify::new(), AtomicU64::new(0), Mutex::new(mode));
    let talk = Arc::new(Talk { context, session, outbox, door, wake, handled, mode });
    let keep_task = tokio::spawn(talk.clone().keep(visitor.clone()));
    let watching = tokio::spawn(talk.clone().watch_settings());
    while let Some(event) = events.recv().await {
        let quit = event == ConsoleEvent::Quit;
        if let Err(error) = talk.handle(&visitor, event).await {
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
    drop(talk);
    // The screen ends by itself when nobody can show anything any more.
    let screen = tokio::time::timeout(SCREEN_ENDS_IN, screen).await;
    drop(end_marking);
    marking.await?;
    screen
        .context("the terminal does not take what is shown; it comes again at the next start")??
        .map_err(Unwritten)?;
    Ok(())
}

async fn greet(door: &ConsoleDoor, greeting: String, notices: Vec<String>) {
    door.say(ConsoleShow::Status(greeting)).await;
    for notice in notices {
        door.say(ConsoleShow::Error(notice)).await;
    }
}

/// What the tasks of one chat share.
struct Talk {
    context: Context,
    session: SessionId,
    outbox: Arc<InstanceOutbox>,
    door: Arc<ConsoleDoor>,
    wake: Notify,
    /// How many events of the person have been carried out.
    handled: AtomicU64,
    /// The mode that the screen was told last.
    mode: Mutex<Mode>,
}

impl Talk {
    /// Tells the screen of another mode than the one that it was told last.
    async fn tell_mode(&self, visitor: &Visitor) {
        // A store that cannot be read shows itself at the next turn.
        let Ok(now) = self.context.chat_commands.mode(visitor, &self.session) else { return };
        let before = {
            let mut told = self.mode.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *told, now)
        };
        if before != now {
            self.door.say(ConsoleShow::Mode(now)).await;
        }
    }

    async fn handle(&self, visitor: &Visitor, event: ConsoleEvent) -> anyhow::Result<()> {
        match event {
            ConsoleEvent::Line(text) => {
                self.context.worker.keep_here(&self.session).await?;
                self.context.router.message(visitor, &self.session, &text).await?;
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
                    self.tell_mode(visitor).await;
                    self.door.say(ConsoleShow::Status(text)).await;
                }
            }
            ConsoleEvent::Quit => {}
        }
        Ok(())
    }

    /// Applies changes of the files of settings, and tells of them, until it is aborted.
    async fn watch_settings(self: Arc<Self>) {
        loop {
            for told in (self.context.settings.changes)().await {
                // It may quote the file, so nothing in it is Markdown.
                let shown = escape::visible(&told).replace('`', "'");
                self.door.say(ConsoleShow::Status(format!("`{shown}`"))).await;
            }
        }
    }

    /// Keeps the session going and the person informed, until it is aborted.
    async fn keep(self: Arc<Self>, visitor: Visitor) {
        let mut delivery = Delivery::new(&self.context, self.outbox.clone(), self.door.clone());
        if let Err(error) = delivery.begin().await {
            self.door.say(ConsoleShow::Error(format!("{error:#}"))).await;
        }
        let mut idle_at = None;
        loop {
            let handled = self.handled.load(Ordering::SeqCst);
            self.tell_mode(&visitor).await;
            let ran = match self.round(&mut delivery).await {
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
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
                if delivery.news() {
                    break;
                }
            }
        }
    }

    /// Does what there is to do, and delivers while it is done. Whether there was something.
    async fn round(&self, delivery: &mut Delivery) -> anyhow::Result<bool> {
        let left_over = self.context.worker.left_over(&self.session)?;
        if left_over {
            let live = self.door.glimpses(&self.session, self.outbox.address());
            let run = self.context.worker.run(&self.session, &live);
            tokio::pin!(run);
            loop {
                tokio::select! {
                    ran = &mut run => { ran?; break }
                    () = tokio::time::sleep(LOOK_EVERY) => delivery.deliver().await?,
                }
            }
        }
        delivery.deliver().await?;
        Ok(left_over)
    }
}
