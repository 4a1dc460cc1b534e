//! The console on one side, the session on the other. Must not know how anything is drawn or how a
//! turn goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::{Notify, mpsc, oneshot};

use super::postman::{Postman, mark_shown};
use crate::app::{App, watch};
use crate::cli::out::Unwritten;
use crate::desk::Desk;
use crate::domain::{LiveSink, SessionId, escape};
use crate::doors::console::chat::{self, ConsoleEvent, ConsoleShow};
use crate::doors::console::editor::{Console, EditorSettings};
use crate::mail::Instance;
use crate::router::{Order, Visitor};
use crate::session::Worker;

/// How often the store is looked at for what other processes did. A look costs microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Glimpses of a turn that wait to be shown; more are dropped, for what matters comes again through
/// the outbox.
const SHOWS_QUEUED_MAX: usize = 4096;
/// How long the screen has for its last lines. It gives up by itself after two seconds.
const SCREEN_ENDS_IN: Duration = Duration::from_secs(3);

pub async fn run(app: Arc<App>, session: SessionId) -> anyhow::Result<()> {
    let worker = app.worker().await?;
    let instance = app.open_door("console")?;
    let visitor = app.console_visitor(instance.address());
    let settings = EditorSettings {
        history: Some(app.config.home.path().join("history")),
        no_colour: no_colour(&app),
    };
    let (written, left) = mpsc::unbounded_channel();
    let console = Console::open(settings, written)?;
    let (end_marking, ended) = oneshot::channel();
    let marking = tokio::spawn(mark_shown(app.mail.clone(), left, ended));
    let (show, shows) = mpsc::channel(SHOWS_QUEUED_MAX);
    let (send, mut events) = mpsc::channel(16);
    let screen = tokio::spawn(chat::run(console, shows, send));
    greet(&app, &session, &show).await?;
    let desk = app.desk(app.agents()).await?;
    let keeping = tokio::spawn(crate::cli::retention::keep(app.clone()));
    let (wake, handled) = (Notify::new(), AtomicU64::new(0));
    let talk = Arc::new(Talk { app, session, instance, worker, desk, show, wake, handled });
    let keeper = tokio::spawn(talk.clone().keep());
    let watching = tokio::spawn(talk.clone().watch_settings());
    while let Some(event) = events.recv().await {
        let quit = event == ConsoleEvent::Quit;
        if let Err(error) = talk.handle(&visitor, event).await {
            talk.say(ConsoleShow::Error(format!("{error:#}"))).await;
        }
        talk.handled.fetch_add(1, Ordering::SeqCst);
        talk.wake.notify_one();
        if quit {
            break;
        }
    }
    // What was committed goes on from its log; leaving in the middle loses nothing.
    keeper.abort();
    keeping.abort();
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

fn no_colour(app: &App) -> bool {
    use crate::config::Color;
    match app.config.console.color {
        Color::Always => false,
        Color::Never => true,
        Color::Auto => app.config.env.get("NO_COLOR").is_some(),
    }
}

async fn greet(
    app: &App,
    session: &SessionId,
    show: &mpsc::Sender<ConsoleShow>,
) -> anyhow::Result<()> {
    let chosen = app.model().await?;
    let text = format!(
        "**claw** · session `{session}` · workspace `{}`\n\n{}\n\n`/help` lists the commands.",
        app.config.workspace.display(),
        chosen.whys.join("\n\n")
    );
    // A screen that is gone ends the loop of events by itself.
    let _ = show.send(ConsoleShow::Status(text)).await;
    for notice in app.warnings.iter().chain(&app.config.notices) {
        let _ = show.send(ConsoleShow::Error(notice.clone())).await;
    }
    Ok(())
}

/// What the tasks of one chat share.
struct Talk {
    app: Arc<App>,
    session: SessionId,
    instance: Instance,
    worker: Arc<Worker>,
    desk: Desk,
    show: mpsc::Sender<ConsoleShow>,
    wake: Notify,
    /// How many events of the person have been carried out.
    handled: AtomicU64,
}

impl Talk {
    async fn say(&self, show: ConsoleShow) {
        // A screen that is gone ends the loop of events by itself.
        let _ = self.show.send(show).await;
    }

    async fn handle(&self, visitor: &Visitor, event: ConsoleEvent) -> anyhow::Result<()> {
        match event {
            ConsoleEvent::Line(text) => {
                self.app.router.message(visitor, &self.session, &text).await?;
            }
            ConsoleEvent::Answer { approval, answer } => {
                self.app.router.answer(visitor, &approval, &answer).await?;
            }
            ConsoleEvent::Interrupt => {
                self.app.router.order(visitor, &self.session, Order::Stop).await?;
            }
            ConsoleEvent::Command(command, words) => {
                if let Some(text) =
                    self.desk.command(visitor, &self.session, command, &words).await?
                {
                    self.say(ConsoleShow::Status(text)).await;
                }
            }
            ConsoleEvent::Quit => {}
        }
        Ok(())
    }

    /// Applies changes of the files of settings, and tells of them, until it is aborted.
    async fn watch_settings(self: Arc<Self>) {
        loop {
            tokio::time::sleep(watch::LOOK_EVERY).await;
            for told in self.app.look().await {
                // It may quote the file, so nothing in it is Markdown.
                let shown = escape::visible(&told).replace('`', "'");
                self.say(ConsoleShow::Status(format!("`{shown}`"))).await;
            }
        }
    }

    /// Keeps the session going and the person informed, until it is aborted.
    async fn keep(self: Arc<Self>) {
        let mut postman = Postman::new(
            self.app.clone(),
            self.session.clone(),
            self.instance.address().clone(),
            self.show.clone(),
        );
        if let Err(error) = postman.begin().await {
            self.say(ConsoleShow::Error(format!("{error:#}"))).await;
        }
        let mut idle_at = None;
        loop {
            let handled = self.handled.load(Ordering::SeqCst);
            let ran = match self.round(&mut postman).await {
                Ok(ran) => ran,
                Err(error) => {
                    // The session lives on: what was committed is still there, and the next look
                    // tries again.
                    tracing::error!(error = format!("{error:#}"), "a turn failed");
                    self.say(ConsoleShow::Error(format!("{error:#}"))).await;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    true
                }
            };
            // Also when somebody else's answer has set it going: the screen has seen that something
            // runs.
            if ran || idle_at != Some(handled) {
                idle_at = Some(handled);
                self.say(ConsoleShow::TurnIdle { taken: handled }).await;
            }
            loop {
                tokio::select! {
                    () = self.wake.notified() => break,
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
                if postman.news() {
                    break;
                }
            }
        }
    }

    /// Does what there is to do, and delivers while it is done. Whether there was something.
    async fn round(&self, postman: &mut Postman) -> anyhow::Result<bool> {
        let left_over = self.worker.left_over(&self.session)?;
        if left_over {
            let live = self.live();
            let settle = self.worker.settle(&self.session, &live);
            tokio::pin!(settle);
            loop {
                tokio::select! {
                    ran = &mut settle => { ran?; break }
                    () = tokio::time::sleep(LOOK_EVERY) => postman.deliver().await?,
                }
            }
        }
        postman.deliver().await?;
        Ok(left_over)
    }

    fn live(&self) -> LiveSink {
        let show = self.show.clone();
        // A full queue drops a glimpse; the outbox brings the whole.
        Arc::new(move |live| drop(show.try_send(ConsoleShow::Live(live))))
    }
}
