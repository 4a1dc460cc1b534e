//! A start under way: it waits for its place, has a clock of its own, and goes on when those who
//! wait for it give up. Owns who may start now and when a start is late. Must not know how a server
//! is started.
//!
//! `npx` and `uvx` install a server at its first start. Killing them at a limit and starting again
//! would install forever, so that a start by such a program goes on behind the back of those who
//! were told that it is late.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::error::HubError;
use super::health::Phase;
use super::manifest::StdioLaunch;
use super::server::Server;
use super::start::{Start, StartFailed, Up, Way};

/// How long an installing program may go on after its start was told to be late.
const INSTALL_MAX: Duration = Duration::from_secs(600);

/// Programs that fetch what they run.
const INSTALLERS: [&str; 15] = [
    "npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "deno", "uvx", "uv", "pipx", "hatch",
    "docker", "podman", "nix",
];

#[derive(Clone)]
enum Progress {
    Going,
    /// Told to be late; it goes on.
    Late(HubError),
    Up(Arc<Connection>),
    Failed(HubError),
}

/// The start, as its server keeps it.
pub(super) struct Starting {
    progress: watch::Receiver<Progress>,
    give_up: CancellationToken,
}

/// Somebody who waits for a start.
pub(super) struct Joined {
    progress: watch::Receiver<Progress>,
    /// The start was late already when it was joined.
    was_late: bool,
}

impl Starting {
    /// Begins a start, which runs by itself from here on.
    pub(super) fn begin(server: &Arc<Server>) -> (Self, Joined) {
        let (tell, progress) = watch::channel(Progress::Going);
        let give_up = CancellationToken::new();
        server.health().phase = Phase::Starting;
        claw_kit::task::spawn(run(server.clone(), tell, give_up.clone()));
        let joined = Joined { progress: progress.clone(), was_late: false };
        (Self { progress, give_up }, joined)
    }

    /// `None` once it is over.
    pub(super) fn join(&self) -> Option<Joined> {
        let was_late = match &*self.progress.borrow() {
            Progress::Going => false,
            Progress::Late(_) => true,
            Progress::Up(_) | Progress::Failed(_) => return None,
        };
        Some(Joined { progress: self.progress.clone(), was_late })
    }

    /// Ends what was started, and returns when nobody starts it any more.
    pub(super) async fn give_up(mut self) {
        self.give_up.cancel();
        // The sender is dropped when the start is over.
        while self.progress.changed().await.is_ok() {}
    }
}

impl Joined {
    /// Until it is up, has failed, or is late. One who joins a start that was late already has
    /// `patience`.
    pub(super) async fn wait(mut self, patience: Duration) -> Result<Arc<Connection>, HubError> {
        let until = Instant::now() + patience;
        loop {
            let now = self.progress.borrow_and_update().clone();
            match now {
                Progress::Up(connection) => return Ok(connection),
                Progress::Failed(error) => return Err(error),
                Progress::Late(error) if !self.was_late => return Err(error),
                Progress::Late(error) => match timeout_at(until, self.progress.changed()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return Err(HubError::ShuttingDown),
                    Err(_) => return Err(error),
                },
                Progress::Going => {
                    if self.progress.changed().await.is_err() {
                        return Err(HubError::ShuttingDown);
                    }
                }
            }
        }
    }
}

async fn run(server: Arc<Server>, tell: watch::Sender<Progress>, give_up: CancellationToken) {
    let given_up = |error| {
        let mut health = server.health();
        if matches!(health.phase, Phase::Starting) {
            health.phase = Phase::Idle;
        }
        Progress::Failed(error)
    };
    let name = || server.entry.name.clone();
    let end = tokio::select! {
        biased;
        () = server.closing.cancelled() => given_up(server.why_closed()),
        () = give_up.cancelled() => given_up(HubError::Interrupted { server: name() }),
        started = start(&server, &tell) => match started {
            Ok(Up { connection, pid }) => {
                let connection = Arc::new(connection);
                server.is_up(&connection, pid).await;
                Progress::Up(connection)
            }
            Err(error) => Progress::Failed(error),
        },
    };
    // Nobody may wait for it any more, and then nobody needs to know.
    let _ = tell.send(end);
    // The server keeps the connection itself; the start would keep it alive beyond its end.
    let mut slot = server.slot.lock().await;
    slot.start.take_if(|start| start.join().is_none());
}

/// Waits for a place among those that start, then starts.
async fn start(server: &Arc<Server>, tell: &watch::Sender<Progress>) -> Result<Up, HubError> {
    let way = server.way()?;
    if let Some(behind) = &server.behind {
        behind.cancelled().await;
    }
    // Claw's own servers are up in a moment; behind strangers they would wait for minutes. What
    // runs elsewhere takes no processor here.
    let place = match way {
        Way::Process(launch) if launch.own.is_none() => server.settings.starts.acquire().await.ok(),
        Way::Process(_) | Way::Http(_) => None,
    };
    let (whole, name) = (server.startup_timeout(), server.entry.name.clone());
    let installer = match way {
        Way::Process(launch) => installer(launch),
        Way::Http(_) => None,
    };
    let (era, doubted) = {
        let health = server.health();
        (health.era, health.doubts_opening)
    };
    let limit = if installer.is_some() { whole + INSTALL_MAX } else { whole };
    let (entry, settings, reapers) = (&server.entry, &server.settings, &server.reapers);
    let attempt = Start { entry, way, settings, reapers, era, doubted, limit };
    let mut running = std::pin::pin!(attempt.run());
    let started = match (timeout(whole, &mut running).await, installer) {
        (Ok(started), _) => started,
        (Err(_), Some(installer)) => {
            drop(place);
            let (waited, goes_on) = (whole, INSTALL_MAX);
            let late = HubError::Installing { server: name.clone(), installer, waited, goes_on };
            server.is_not_up(&late.to_string());
            let _ = tell.send(Progress::Late(late));
            running.await
        }
        // Its own limit is the same; whichever comes first.
        (Err(_), None) => running.await,
    };
    started.map_err(|StartFailed { reason, was_silent }| {
        server.health().doubts_opening ^= was_silent;
        server.is_not_up(&reason);
        match way {
            Way::Process(_) => HubError::Start { server: name, reason },
            Way::Http(_) => HubError::Connect { server: name, reason },
        }
    })
}

/// The program of a launch that may install what it runs, by its name; also behind a shell (`bash
/// -c "npx …"`).
fn installer(launch: &StdioLaunch) -> Option<String> {
    let words = std::iter::once(launch.command.as_str())
        .chain(launch.args.iter().flat_map(|arg| arg.split_whitespace()));
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    words.map(name).find(|name| INSTALLERS.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installer_is_known_by_its_name_and_behind_a_shell() {
        let launch = |command: &str, args: &[&str]| StdioLaunch {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..StdioLaunch::default()
        };
        assert_eq!(installer(&launch("/usr/local/bin/npx", &["-y", "x"])).as_deref(), Some("npx"));
        assert_eq!(
            installer(&launch("bash", &["-lc", "exec uvx mcp-server-git"])).as_deref(),
            Some("uvx")
        );
        assert_eq!(installer(&launch("node", &["server.js", "npx-like"])), None);
    }
}
