//! Another manifest while claw runs: which servers come, stay and go. A server that goes ends
//! behind the calls that it works on; one that takes its place starts behind its end. Must not know
//! who reads the file, or why it changed.

use std::sync::{Arc, PoisonError};

use super::manifest::{Manifest, ServerEntry};
use super::server::Server;
use super::{Hub, Leaving};

/// What another manifest has changed: names of servers, in order. A server that is disabled counts
/// as one that is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    pub added: Vec<String>,
    /// They are there as before, with another entry.
    pub changed: Vec<String>,
    pub removed: Vec<String>,
}

impl Replaced {
    /// Notes what has become of one server.
    fn note(&mut self, name: &str, before: Option<&ServerEntry>, now: Option<&ServerEntry>) {
        let is_on = |entry: Option<&ServerEntry>| entry.is_some_and(|entry| !entry.disabled);
        match (is_on(before), is_on(now)) {
            (false, true) => self.added.push(name.to_owned()),
            (true, true) => self.changed.push(name.to_owned()),
            (true, false) => self.removed.push(name.to_owned()),
            (false, false) => {}
        }
    }
}

impl Hub {
    /// From now on these are the servers. One whose entry is the same stays as it is, with its
    /// process. All others are found by no call any more, and end by themselves once the calls that
    /// they work on have ended. Needs a Tokio runtime.
    pub fn replace(&self, manifest: Manifest) -> Replaced {
        let mut replaced = Replaced::default();
        let mut gone = Vec::new();
        {
            let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
            let mut before = std::mem::take(&mut *servers);
            for (name, entry) in manifest.servers {
                let server = match before.remove(&name) {
                    Some(same) if same.entry == entry => same,
                    other => {
                        replaced.note(
                            &name,
                            other.as_ref().map(|other| &other.entry),
                            Some(&entry),
                        );
                        let behind = other.as_ref().map(|other| other.gone.clone());
                        gone.extend(other);
                        let (settings, reapers) = (self.settings.clone(), self.reapers.clone());
                        Arc::new(
                            Server::new(entry, settings, &self.closing, reapers)
                                .starting_behind(behind),
                        )
                    }
                };
                servers.insert(name, server);
            }
            for (name, other) in before {
                replaced.note(&name, Some(&other.entry), None);
                gone.push(other);
            }
        }
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner).extend(gone.iter().cloned());
        for server in gone {
            claw_kit::task::spawn(leave(server, self.leaving.clone()));
        }
        replaced
    }
}

async fn leave(server: Arc<Server>, leaving: Leaving) {
    server.leave().await;
    leaving
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .retain(|other| !Arc::ptr_eq(other, &server));
}
