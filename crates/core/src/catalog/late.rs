//! Servers whose tools are not known yet: a model waits for them shortly and once; they go on
//! starting meanwhile, and their tools join at a later step. Owns who is late and what the person
//! was told of it. Must not know pins or rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::Catalog;
use crate::hub::{HubError, HubNotice, ServerState, ServerTools};

/// Our own servers are up in a blink, and a model without them is of little use: on a machine that
/// is busy it is better to wait.
const OWN_WAIT: Duration = Duration::from_secs(20);
/// What nobody has fetched yet; a door that shows none of it must not let it grow.
const NOTICES_MAX: usize = 50;

type Listing = JoinHandle<Result<Arc<ServerTools>, HubError>>;

/// Shared with the tasks that wait for late servers.
#[derive(Clone, Default)]
pub(super) struct Late {
    state: Arc<Mutex<State>>,
    /// Signals when a server is not waited for any more.
    settled: Arc<Notify>,
}

#[derive(Default)]
struct State {
    servers: BTreeMap<String, Stage>,
    /// Those that start for the first time under their launch command.
    first: BTreeSet<String>,
    /// Servers that are late, until a door fetches the one sentence about all of them.
    told_late: Vec<String>,
    /// Servers that are up after they were late, likewise.
    told_up: Vec<String>,
    /// Sentences for the person, until a door fetches them.
    notices: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A task waits for its list.
    Listing,
    /// It has its tools now.
    Listed,
    /// It is tried again at a later step, when the hub lets it start.
    Failed,
}

impl Late {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stage(&self, server: &str) -> Option<Stage> {
        self.state().servers.get(server).copied()
    }

    fn set(&self, server: &str, stage: Stage) {
        self.state().servers.insert(server.to_owned(), stage);
        if stage != Stage::Listing {
            self.settled.notify_waiters();
        }
    }

    /// Keeps a sentence until a door fetches it.
    pub(super) fn tell(&self, notice: String) {
        let mut state = self.state();
        if state.notices.len() < NOTICES_MAX && !state.notices.contains(&notice) {
            state.notices.push(notice);
        }
    }

    /// What was not fetched yet. Who is late, and who is up, is one sentence each, however many
    /// servers there are.
    pub(super) fn take_notices(&self, claw: &str) -> Vec<String> {
        let mut state = self.state();
        let (late, up) = (std::mem::take(&mut state.told_late), std::mem::take(&mut state.told_up));
        let mut notices = std::mem::take(&mut state.notices);
        if !late.is_empty() {
            let (servers, are, their) = counted(&late, "is", "are");
            let (they, wait) = if late.len() == 1 { ("it is", "it") } else { ("they are", "them") };
            notices.insert(
                0,
                format!(
                    "The {servers} {are} still starting; {their} tools join as soon as {they} up \
                 (`{claw} tools` waits for {wait})."
                ),
            );
        }
        if !up.is_empty() {
            let (servers, are, their) = counted(&up, "is", "are");
            notices
                .push(format!("The {servers} {are} up; {their} tools are offered from here on."));
        }
        notices
    }

    /// Its tools are in the catalog. The person hears it if they were told before that they are
    /// not.
    pub(super) fn arrived(&self, server: &str) {
        let mut state = self.state();
        state.first.remove(server);
        if state.servers.remove(server).is_some() {
            state.told_late.retain(|late| late != server);
            state.told_up.push(server.to_owned());
        }
    }

    /// Nothing is known of these any more: they are gone, or others have their names.
    pub(super) fn forget<'a>(&self, servers: impl Iterator<Item = &'a String>) {
        let mut state = self.state();
        for server in servers {
            state.servers.remove(server);
            state.first.remove(server);
            state.told_late.retain(|late| late != server);
            state.told_up.retain(|up| up != server);
        }
        drop(state);
        self.settled.notify_waiters();
    }

    /// Those that start for the first time.
    fn first_starts(&self) -> Vec<String> {
        let state = self.state();
        let starts = |server: &&String| state.servers.get(*server) == Some(&Stage::Listing);
        state.first.iter().filter(starts).cloned().collect()
    }

    fn failed(&self) -> Vec<String> {
        let state = self.state();
        state
            .servers
            .iter()
            .filter(|(_, stage)| **stage == Stage::Failed)
            .map(|(server, _)| server.clone())
            .collect()
    }
}

impl Catalog {
    /// The tools from the server itself, if it has them soon. `None`: not now; the person hears of
    /// it once.
    pub(super) async fn listed_soon(&self, server: &str) -> Option<Arc<ServerTools>> {
        let stage = self.late.stage(server);
        let wait = match stage {
            Some(Stage::Listing) => return None,
            Some(Stage::Listed) => OWN_WAIT,
            Some(Stage::Failed) => Duration::ZERO,
            None if self.hub.builtin(server).is_some() => OWN_WAIT,
            // It was late under the same command before, so nobody waits for it again.
            None if self.was_late(server) => Duration::ZERO,
            None => self.settings().server_wait,
        };
        let mut listing = self.list_in_background(server);
        match tokio::time::timeout(wait, &mut listing).await {
            Ok(Ok(Ok(listed))) => Some(listed),
            // The next look at the servers finds it gone, or another one in its place.
            Ok(Ok(Err(HubError::TakenOut { .. }))) => None,
            Ok(Ok(Err(error))) => {
                self.note_failure(server, stage, &error.to_string());
                None
            }
            Ok(Err(bug)) => {
                self.note_failure(
                    server,
                    stage,
                    &format!("the server `{server}` could not be asked: {bug}"),
                );
                None
            }
            Err(_) => {
                self.note_late(server, stage);
                self.join_later(server, listing, stage);
                None
            }
        }
    }

    /// Tries those that have failed again, as soon as the hub lets them start: at a step that is
    /// made anyway, and without holding it up.
    pub(super) fn try_failed_again(&self) {
        let failed = self.late.failed();
        if failed.is_empty() {
            return;
        }
        for status in self.hub.servers() {
            let due = matches!(status.state, ServerState::Idle)
                || matches!(status.state, ServerState::Failed { retry_in: Duration::ZERO, .. });
            if due && failed.contains(&status.name) {
                let listing = self.list_in_background(&status.name);
                self.join_later(&status.name, listing, Some(Stage::Failed));
            }
        }
    }

    /// What the person has not heard yet, one sentence each.
    pub(super) fn take_notices(&self) -> Vec<String> {
        for notice in self.hub.take_notices() {
            match notice {
                HubNotice::Died { server, reason } => self.late.tell(format!(
                    "The server `{server}` has ended ({}); it is started again when it is needed.",
                    self.redactor.redact(&reason)
                )),
                HubNotice::Odd { server, text } => {
                    self.late
                        .tell(format!("The server `{server}`: {}.", self.redactor.redact(&text)));
                }
                // Both are told by whoever wanted the tools or the call: not offered, withheld, not
                // run.
                HubNotice::Failed { .. } | HubNotice::ToolsChanged { .. } => {}
            }
        }
        self.late.take_notices(&self.settings().claw)
    }

    /// Waits until those that start for the first time are up or have failed, so that a short
    /// command does not throw away what it has begun. `say` is told their names, if there are any.
    /// No later process waits for them under the same command.
    pub async fn finish_first_starts(&self, say: impl FnOnce(&[String])) {
        let first = self.late.first_starts();
        if first.is_empty() {
            return;
        }
        say(&first);
        loop {
            let settled = self.late.settled.notified();
            if self.late.first_starts().is_empty() {
                return;
            }
            settled.await;
        }
    }

    /// Keeps the tools of servers that came after the last step, so that the next start knows them.
    pub async fn remember_late_servers(&self) {
        if self.is_old.load(Ordering::SeqCst) {
            self.offered().await;
        }
    }

    fn list_in_background(&self, server: &str) -> Listing {
        let (hub, name) = (self.hub.clone(), server.to_owned());
        claw_kit::task::spawn(async move { hub.tools(&name).await })
    }

    fn join_later(&self, server: &str, listing: Listing, before: Option<Stage>) {
        self.late.set(server, Stage::Listing);
        let (late, is_old, redactor) =
            (self.late.clone(), self.is_old.clone(), self.redactor.clone());
        let server = server.to_owned();
        claw_kit::task::spawn(async move {
            match listing.await {
                Ok(Ok(_)) => {
                    late.set(&server, Stage::Listed);
                    is_old.store(true, Ordering::SeqCst);
                }
                // Claw is ending, or everything was told to end: that is no news of the server.
                Ok(Err(
                    HubError::ShuttingDown
                    | HubError::Interrupted { .. }
                    | HubError::TakenOut { .. },
                ))
                | Err(_) => {
                    late.set(&server, Stage::Failed);
                }
                Ok(Err(error @ HubError::Installing { .. })) => {
                    late.set(&server, Stage::Failed);
                    if before != Some(Stage::Failed) {
                        late.tell(format!(
                            "{}; its tools join when it is up.",
                            redactor.redact(&error.to_string())
                        ));
                    }
                }
                Ok(Err(error)) => {
                    late.set(&server, Stage::Failed);
                    if before != Some(Stage::Failed) {
                        late.tell(not_offered(&redactor.redact(&error.to_string())));
                    }
                }
            }
        });
    }

    fn note_failure(&self, server: &str, before: Option<Stage>, reason: &str) {
        self.late.set(server, Stage::Failed);
        if before != Some(Stage::Failed) {
            // The reason may quote the server's own last words.
            self.late.tell(not_offered(&self.redactor.redact(reason)));
        }
    }

    fn note_late(&self, server: &str, before: Option<Stage>) {
        let is_first = before.is_none() && !self.was_late(server);
        if before.is_none() {
            self.late.state().told_late.push(server.to_owned());
        }
        if let Some(launch) = self.hub.launch_pin(server).filter(|_| is_first) {
            self.late.state().first.insert(server.to_owned());
            let server = server.to_owned();
            self.store.write_soon(move |tx| tx.set_late(&server, &launch));
        }
    }

    fn was_late(&self, server: &str) -> bool {
        let late = self.store.read(|tx| tx.late(server)).ok().flatten();
        late.is_some() && late == self.hub.launch_pin(server)
    }
}

/// The servers of a sentence, their verb, and whose tools they are.
fn counted(
    servers: &[String],
    one: &'static str,
    many: &'static str,
) -> (String, &'static str, &'static str) {
    match servers {
        [server] => (format!("server `{server}`"), one, "its"),
        servers => {
            let names: Vec<String> = servers.iter().map(|server| format!("`{server}`")).collect();
            (format!("{} servers {}", names.len(), names.join(", ")), many, "their")
        }
    }
}

fn not_offered(reason: &str) -> String {
    format!("{reason}; its tools are not offered.")
}
