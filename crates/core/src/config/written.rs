//! What `claw.toml` says to one agent, key by key, as it is written: to tell what has changed. Must
//! not know what a key means to a room, or who is told.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use super::agents::MAIN;
use super::limits::Limits;
use super::serve::ServeSection;
use crate::domain::AgentCard;

/// The agents that a file describes, as a key of its own.
const AGENTS: &str = "agents";

/// Keys such as `limits.turn_time_s` with their values as JSON. `$NAME` is not filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written(BTreeMap<String, String>);

/// A key that says something else than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedKey {
    pub key: String,
    /// `None`: it was taken out.
    pub value: Option<String>,
    /// It counts while claw runs; otherwise from the next start.
    pub counts_now: bool,
}

impl ChangedKey {
    /// Whether other models may come of it.
    pub fn is_of_models(&self) -> bool {
        self.key.starts_with("model.") || self.key == "limits.model_timeout_s"
    }
}

impl Written {
    /// From the table of one agent.
    pub(super) fn of(
        table: Spanned<DeTable<'_>>,
        agents: &[AgentCard],
        agent: &str,
    ) -> Result<Self, toml::de::Error> {
        let table = toml::Table::deserialize(Deserializer::from(table))?;
        let text = |value: &toml::Value| serde_json::to_string(value).unwrap_or_default();
        let mut keys = BTreeMap::new();
        for (key, value) in &table {
            match value {
                toml::Value::Table(section) => {
                    keys.extend(
                        section.iter().map(|(name, value)| (format!("{key}.{name}"), text(value))),
                    );
                }
                value => drop(keys.insert(key.clone(), text(value))),
            }
        }
        if agent == MAIN {
            let names: Vec<&str> = agents.iter().map(|card| card.name.as_str()).collect();
            keys.insert(AGENTS.to_owned(), names.join(", "));
        }
        Ok(Self(keys))
    }

    /// Whether a key stands there, such as `model.agent`.
    pub fn says(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// What `new` says otherwise, in the order of the keys.
    pub fn changes(&self, new: &Self) -> Vec<ChangedKey> {
        let keys: std::collections::BTreeSet<&String> = self.0.keys().chain(new.0.keys()).collect();
        let changed = keys.into_iter().filter(|key| self.0.get(*key) != new.0.get(*key));
        let change = |key: &String| ChangedKey {
            key: key.clone(),
            value: new.0.get(key).cloned(),
            counts_now: counts_now(key),
        };
        changed.map(change).collect()
    }

    /// Takes over the keys of `new` that count while claw runs. The others stay what they were when
    /// it started.
    pub fn follow(&mut self, new: &Self) {
        let at_start = std::mem::take(&mut self.0).into_iter().filter(|(key, _)| !counts_now(key));
        let now = new.0.iter().filter(|(key, _)| counts_now(key));
        self.0 = at_start.chain(now.map(|(key, value)| (key.clone(), value.clone()))).collect();
    }
}

/// Whether a running claw follows this key.
pub(super) fn counts_now(key: &str) -> bool {
    let (section, name) = key.split_once('.').unwrap_or((key, ""));
    match section {
        "limits" => !Limits::is_for_starts(name),
        "tools" => !matches!(name, "pins" | "harmless_variables"),
        "serve" => !ServeSection::is_for_starts(name),
        // What `[update]` says is read by `claw update` alone.
        "model" | "prices" | "retention" | "audit" | "memory" | "prompt" | "persona" | "roles"
        | "default_role" | "redact" | "update" | "box" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Written {
        Written::of(DeTable::parse(text).unwrap(), &[], "other").unwrap()
    }

    #[test]
    fn only_what_says_something_else_is_a_change_and_each_knows_when_it_counts() {
        let before = written("workspace = 'a'\n[limits]\nturn_time_s = 600\ntool_timeout_s = 5\n");
        let new = written(
            "# moved\n\nworkspace = 'b'\n[limits]\ntool_timeout_s = 5\nserver_start_s = 9\n\
             [roles.x]\ninstructions = 'y'\n",
        );
        let changes = before.changes(&new);
        let seen: Vec<_> = changes
            .iter()
            .map(|change| (change.key.as_str(), change.value.as_deref(), change.counts_now))
            .collect();
        assert_eq!(
            seen,
            [
                ("limits.server_start_s", Some("9"), false),
                ("limits.turn_time_s", None, true),
                ("roles.x", Some("{\"instructions\":\"y\"}"), true),
                ("workspace", Some("\"b\""), false),
            ]
        );
        // What waits for the next start is told again with the next change, and no more once it is
        // taken back.
        let mut running = before.clone();
        running.follow(&new);
        let waiting =
            running.changes(&new).into_iter().map(|change| change.key).collect::<Vec<_>>();
        assert_eq!(waiting, ["limits.server_start_s", "workspace"]);
        assert_eq!(running.changes(&before).len(), 2, "the two that counted at once");
    }
}
