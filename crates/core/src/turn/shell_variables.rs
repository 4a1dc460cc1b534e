//! Which exported variables the shells of a session keep, read from its log: what each
//! command has made of its own. Pure. Must not know which server is ours, what a call
//! becomes, or what a variable means.
//!
//! What counts stands in `tool.result`, and the gate alone puts it there. Of calls that run side by
//! side the last one in the order of the reply counts that has changed a variable, for each name by
//! itself. Whose a shell is goes by the same rule as for its folder (`shells.rs`).

use std::collections::{BTreeMap, BTreeSet};

use claw_kit::variables::Room;

use super::log::Log;
use super::shells::{Begun, block_of, earlier, reply_of};
use crate::domain::{
    CallId, Event, EventBody, Outcome, ShellKeeps, ShellPart, ShellVariables, ToolUse,
};

/// So many names are told to a model in claw's own words.
const NAMES_TOLD_MAX: usize = 12;

/// What the shells keep, by server, for whoever has begun the newest turn.
pub type Keeps = BTreeMap<String, BTreeMap<String, String>>;

/// Whose it is (empty for the owner), and of which server.
type Key = (String, String);

/// A value, and who has left it; none where it was taken away.
type Left = (Option<String>, Option<CallId>);

/// What the events so far come to.
#[derive(Clone, Debug, Default)]
struct Shells {
    by: BTreeMap<Key, BTreeMap<String, Left>>,
    /// Who has begun the newest turn.
    whose: String,
    /// The names that a model believes in that reads the window, by server.
    seen: BTreeMap<String, BTreeSet<String>>,
    /// One has changed since a model was told.
    untold: bool,
}

/// What the shells keep for these uses of tools, which are of one reply.
pub fn before(log: &Log, uses: &[(CallId, ToolUse)]) -> Keeps {
    Shells::of(log, |event| earlier(uses, event)).keeps()
}

/// Whether any shell keeps a variable.
pub fn is_any_kept(log: &Log) -> bool {
    Shells::of(log, |_| true).by.values().any(|left| !values(left).is_empty())
}

/// What a compaction keeps of everything up to `through_seq`.
pub(super) fn kept(log: &Log, through_seq: u64) -> Vec<ShellKeeps> {
    let shells = Shells::of(log, |event| event.seq <= through_seq);
    let kept = shells.by.into_iter().map(|((whose, server), left)| ShellKeeps {
        whose,
        server,
        variables: values(&left),
    });
    kept.filter(|keeps| !keeps.variables.is_empty()).collect()
}

/// What a model is told before a message of the turn that has begun, if it would believe something
/// else otherwise, or may have lost it: names alone. And whether one has changed since it was told
/// last.
pub(super) fn told(log: &Log) -> Option<(String, bool)> {
    let shells = Shells::of(log, |_| true);
    let keeps = shells.keeps();
    let servers: BTreeSet<&String> = keeps.keys().chain(shells.seen.keys()).collect();
    let is_one = servers.len() < 2;
    let words = servers.into_iter().filter_map(|server| {
        let is: Vec<&String> = keeps.get(server).into_iter().flat_map(BTreeMap::keys).collect();
        let believed = shells.seen.get(server).is_some_and(|names| !names.is_empty());
        let of = if is_one { String::new() } else { format!(" by {server}") };
        (!is.is_empty() || believed).then(|| format!("exported{of}: {}", named(&is)))
    });
    let words = words.collect::<Vec<_>>().join(", ");
    (!words.is_empty()).then_some((words, shells.untold))
}

fn named(names: &[&String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let told = names.iter().take(NAMES_TOLD_MAX).map(|name| format!("`{name}`"));
    let told = told.collect::<Vec<_>>().join(" ");
    match names.len().saturating_sub(NAMES_TOLD_MAX) {
        0 => told,
        more => format!("{told} and {more} more, which `export -p` tells"),
    }
}

/// As many as one call can give. Only commands side by side can have left more: then the first ones
/// by their names are kept.
fn values(left: &BTreeMap<String, Left>) -> BTreeMap<String, String> {
    let mut room = Room::default();
    let found = left.iter().filter_map(|(name, (value, _))| Some((name, value.as_ref()?)));
    let fits = found.filter(|(name, value)| room.take(name, value));
    fits.map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl Shells {
    fn of(log: &Log, counts: impl Fn(&Event) -> bool) -> Self {
        let mut shells = Self::default();
        for keeps in log.shell_variables() {
            let key = (keeps.whose.clone(), keeps.server.clone());
            let left = keeps.variables.iter();
            let left = left.map(|(name, value)| (name.clone(), (Some(value.clone()), None)));
            shells.by.insert(key, left.collect());
        }
        log.events().iter().filter(|event| counts(event)).for_each(|event| shells.take(event));
        shells
    }

    fn take(&mut self, event: &Event) {
        match &event.body {
            EventBody::TurnStarted { origin, principal, .. } => {
                let Begun { whose, is_job } = Begun::by(*origin, principal);
                self.whose = whose;
                if is_job {
                    self.by.retain(|(whose, _), _| *whose != self.whose);
                }
            }
            EventBody::ToolResult { call, outcome: Outcome::Ended { output } } => {
                if let Some(left) = &output.shell_variables {
                    self.left(call, left);
                }
            }
            EventBody::TurnContext { .. } => self.untold = false,
            EventBody::ShellForgotten { part: ShellPart::Variables } => self.by.clear(),
            _ => {}
        }
    }

    fn left(&mut self, call: &CallId, left: &ShellVariables) {
        let key = (self.whose.clone(), left.server.clone());
        let kept = self.by.entry(key).or_default();
        // One that ran beside it, and comes later in the reply.
        let is_later =
            |by: &CallId| reply_of(by) == reply_of(call) && block_of(by) > block_of(call);
        let set = left.set.iter().map(|(name, value)| (name, Some(value.clone())));
        for (name, value) in set.chain(left.unset.iter().map(|name| (name, None))) {
            let known = kept.get(name).and_then(|(_, by)| by.as_ref());
            if !known.is_some_and(is_later) {
                kept.insert(name.clone(), (value, Some(call.clone())));
            }
        }
        self.seen.insert(left.server.clone(), values(kept).into_keys().collect());
        self.untold = true;
    }

    fn keeps(&self) -> Keeps {
        let own = self.by.iter().filter(|((whose, _), _)| *whose == self.whose);
        own.map(|((_, server), left)| (server.clone(), values(left)))
            .filter(|(_, variables)| !variables.is_empty())
            .collect()
    }
}

#[cfg(test)]
mod tests;
