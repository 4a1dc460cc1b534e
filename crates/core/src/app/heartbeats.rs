//! The heartbeats of this agent, as `heartbeats.toml` has them now. Must not know when one fires.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::App;
use crate::chat_commands::{HeartbeatLine, HeartbeatsShown};
use crate::config::{Config, ConfigError, Heartbeat, HeartbeatBudgets, load_heartbeats};
use crate::heartbeats::{HeartbeatShown, Heartbeats, HeartbeatsParts, shown};
use crate::store::{Store, StoreError};

/// Those of the file. One that is broken keeps nobody from talking to the agent: it has none then,
/// and whoever starts the gateway is told.
pub(super) fn read(config: &Config) -> (Vec<Heartbeat>, Option<String>) {
    match load(config) {
        Ok(all) => (all, None),
        Err(error) => {
            let why = format!("There are no heartbeats, because their file is refused: {error}");
            (Vec::new(), Some(why))
        }
    }
}

fn load(config: &Config) -> Result<Vec<Heartbeat>, ConfigError> {
    load_heartbeats(&config.home.heartbeats_toml(), &config.zone)
}

fn shown_of(
    all: &[Heartbeat],
    store: &Store,
    zone: &TimeZone,
) -> Result<Vec<HeartbeatShown>, StoreError> {
    let now = Timestamp::now();
    let day = now.to_zoned(zone.clone()).date().to_string();
    all.iter()
        .map(|one| Ok(shown(one, store.read(|tx| tx.heartbeat(&one.name))?, &day, now)))
        .collect()
}

impl App {
    /// For the one door that sees to them.
    pub(super) fn heartbeats(self: &Arc<Self>) -> Heartbeats {
        let limits = self.clone();
        Heartbeats::new(HeartbeatsParts {
            store: self.store.clone(),
            gate: self.gate.clone(),
            zone: self.config.zone.clone(),
            entries: self.heartbeats.subscribe(),
            queued_max: Arc::new(move || limits.settings().limits.queued_messages_max),
        })
    }

    /// Those of the file, as it was last read.
    pub fn heartbeats_now(&self) -> Arc<Vec<Heartbeat>> {
        self.heartbeats.borrow().clone()
    }

    /// Each with when it fires next, and what is left of its day.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn heartbeats_shown(&self) -> Result<Vec<HeartbeatShown>, StoreError> {
        shown_of(&self.heartbeats.borrow(), &self.store, &self.config.zone)
    }

    /// The same for chat commands, with the file as it is then.
    pub(super) fn heartbeats_for_chats(&self) -> HeartbeatsShown {
        let entries = self.heartbeats.subscribe();
        let (store, zone) = (self.store.clone(), self.config.zone.clone());
        Arc::new(move || {
            let all = entries.borrow().clone();
            let all = shown_of(&all, &store, &zone)?;
            let line = |one: HeartbeatShown| HeartbeatLine {
                next: one.next_in_zone(),
                left: one.left(),
                name: one.name,
                when: one.when,
                fault: one.fault,
            };
            Ok(all.into_iter().map(line).collect())
        })
    }

    /// What they may take in a day.
    pub(super) fn heartbeat_budgets(&self) -> HeartbeatBudgets {
        let all = self.heartbeats.borrow();
        all.iter().map(|heartbeat| (heartbeat.name.clone(), heartbeat.budget)).collect()
    }

    /// Reads the file again and follows it.
    ///
    /// # Errors
    /// It is broken; then those of before stay.
    pub(super) fn heartbeats_again(&self) -> anyhow::Result<String> {
        let all = load(&self.config)?;
        let names: Vec<_> = all.iter().map(|heartbeat| heartbeat.name.clone()).collect();
        self.heartbeats.send_replace(Arc::new(all));
        self.settings_reach_turns();
        Ok(match names.len() {
            0 => "no heartbeats; in force from now on.".to_owned(),
            1 => format!("1 heartbeat, {}; in force from now on.", names.join(", ")),
            count => format!("{count} heartbeats, {}; in force from now on.", names.join(", ")),
        })
    }
}
