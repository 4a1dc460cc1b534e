//! Which exported variables the shells of a session keep, read from its log: what each
//! command has made of its own. Pure. Must not know which server is ours, what a call
//! becomes, or what a variable means.
//!
//! Of commands that run side by side the last one in the order of the reply counts that has changed
//! a variable, for each name by itself. A new shell keeps none.

use std::collections::BTreeMap;

use claw_kit::variables::Room;

use super::log::Log;
use super::shell_fold::{Shell, ShellFold, is_later};
use crate::domain::{CallId, ShellKeeps, ShellPart, ShellVariables, ToolOutput, ToolUse};

/// So many names are told to a model in claw's own words.
const NAMES_TOLD_MAX: usize = 12;

/// What the shells keep, by server, for whoever has begun the newest turn.
pub type Keeps = BTreeMap<String, BTreeMap<String, String>>;

/// A value, and who has left it; none where it was taken away.
type Left = (Option<String>, Option<CallId>);

/// What a shell keeps, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables(BTreeMap<String, Left>);

/// What the shells keep for these uses of tools, which are of one reply.
pub fn before(log: &Log, uses: &[(CallId, ToolUse)]) -> Keeps {
    let shells = ShellFold::<Variables>::before(log, uses);
    shells.own().into_iter().map(|(server, kept)| (server.clone(), kept.values())).collect()
}

/// What a compaction keeps of everything up to `through_seq`.
pub(super) fn kept(log: &Log, through_seq: u64) -> Vec<ShellKeeps> {
    let shells = ShellFold::<Variables>::through(log, through_seq);
    let kept = shells.all();
    kept.map(|(whose, server, kept)| ShellKeeps { whose, server, variables: kept.values() })
        .collect()
}

impl Variables {
    /// As many as one call can give. Only commands side by side can have left more: then the first
    /// ones by their names are kept.
    fn values(&self) -> BTreeMap<String, String> {
        let mut room = Room::default();
        let found = self.0.iter().filter_map(|(name, (value, _))| Some((name, value.as_ref()?)));
        let fits = found.filter(|(name, value)| room.take(name, value));
        fits.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

impl Shell for Variables {
    const PART: ShellPart = ShellPart::Variables;
    type Left = ShellVariables;

    fn kept(log: &Log) -> Vec<(String, String, Self)> {
        let kept = log.shell_variables().iter().cloned();
        kept.map(|ShellKeeps { whose, server, variables }| {
            let left = variables.into_iter().map(|(name, value)| (name, (Some(value), None)));
            (whose, server, Self(left.collect()))
        })
        .collect()
    }

    fn left_in(output: &ToolOutput) -> Option<&ShellVariables> {
        output.shell_variables.as_deref()
    }

    fn server(left: &ShellVariables) -> &str {
        &left.server
    }

    fn take(&mut self, call: &CallId, left: &ShellVariables) -> bool {
        let set = left.set.iter().map(|(name, value)| (name, Some(value.clone())));
        for (name, value) in set.chain(left.unset.iter().map(|name| (name, None))) {
            let known = self.0.get(name).and_then(|(_, by)| by.as_ref());
            if !known.is_some_and(|by| is_later(by, call)) {
                self.0.insert(name.clone(), (value, Some(call.clone())));
            }
        }
        true
    }

    fn is_new(&self) -> bool {
        self.values().is_empty()
    }

    /// Names alone.
    fn told(&self, of: Option<&str>) -> String {
        let by = of.map(|server| format!(" by {server}")).unwrap_or_default();
        format!("exported{by}: {}", named(&self.values().keys().collect::<Vec<_>>()))
    }
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

#[cfg(test)]
mod tests;
