//! How the shells of a session are folded from its log: whose each is, which results count for a
//! call, what a job begins anew and what forgets. Pure. Must not know what a command leaves
//! (`shell_folder.rs`, `shell_variables.rs`).
//!
//! What counts stands in `tool.result`, and the gate alone puts it there. A reply's calls all begin
//! where the calls before that reply have left the shell. Whoever begins a turn has shells of their
//! own: the owner, each other person, each client. A job begins with a new one each time.

use std::collections::{BTreeMap, BTreeSet};

use super::log::Log;
use crate::domain::{
    CallId, Event, EventBody, Origin, Outcome, ShellPart, ToolOutput, ToolUse, job_of,
};

/// What one shell goes on with. The default is what a new shell has.
pub(super) trait Shell: Clone + Default {
    const PART: ShellPart;
    /// What the end of a command says of it.
    type Left;

    /// What a compaction has kept: whose, of which server, and what.
    fn kept(log: &Log) -> Vec<(String, String, Self)>;
    fn left_in(output: &ToolOutput) -> Option<&Self::Left>;
    fn server(left: &Self::Left) -> &str;
    /// Goes on with what a command has left. False if that is nothing to this shell.
    fn take(&mut self, call: &CallId, left: &Self::Left) -> bool;
    fn is_new(&self) -> bool;
    /// For a model. `of` is the server, where there are several.
    fn told(&self, of: Option<&str>) -> String;
}

/// Whose it is (empty for the owner), and of which server.
type Key = (String, String);

/// What the events so far come to.
#[derive(Clone, Debug, Default)]
pub(super) struct ShellFold<S> {
    by: BTreeMap<Key, S>,
    /// Who has begun the newest turn.
    whose: String,
    /// What a model believes that reads the window, by server.
    seen: BTreeMap<String, S>,
    /// One has changed since a model was told.
    untold: bool,
}

impl<S: Shell> ShellFold<S> {
    /// For these uses of tools, which are of one reply.
    pub(super) fn before(log: &Log, uses: &[(CallId, ToolUse)]) -> Self {
        let reply = uses.iter().filter_map(|(call, _)| reply_of(call)).min();
        Self::of(log, |event| match &event.body {
            EventBody::ToolResult { call, .. } => reply_of(call) < reply,
            _ => true,
        })
    }

    pub(super) fn now(log: &Log) -> Self {
        Self::of(log, |_| true)
    }

    /// Behind everything up to `through_seq`.
    pub(super) fn through(log: &Log, through_seq: u64) -> Self {
        Self::of(log, |event| event.seq <= through_seq)
    }

    fn of(log: &Log, counts: impl Fn(&Event) -> bool) -> Self {
        let kept = S::kept(log).into_iter().map(|(whose, server, shell)| ((whose, server), shell));
        let mut shells =
            Self { by: kept.collect(), whose: String::new(), seen: BTreeMap::new(), untold: false };
        log.events().iter().filter(|event| counts(event)).for_each(|event| shells.take(event));
        shells
    }

    fn take(&mut self, event: &Event) {
        match &event.body {
            EventBody::TurnStarted { origin, principal, .. } => {
                self.whose = match origin {
                    Origin::Owner => String::new(),
                    _ => principal.clone(),
                };
                if job_of(principal).is_some() {
                    self.by.retain(|(whose, _), _| *whose != self.whose);
                }
            }
            EventBody::ToolResult { call, outcome } => {
                if let Outcome::Ended { output } = &**outcome
                    && let Some(left) = S::left_in(output)
                {
                    self.left(call, left);
                }
            }
            EventBody::TurnContext { .. } => self.untold = false,
            EventBody::ShellForgotten { part } if *part == S::PART => self.by.clear(),
            _ => {}
        }
    }

    fn left(&mut self, call: &CallId, left: &S::Left) {
        let server = S::server(left).to_owned();
        let shell = self.by.entry((self.whose.clone(), server.clone())).or_default();
        if shell.take(call, left) {
            self.seen.insert(server, shell.clone());
            self.untold = true;
        }
    }

    /// Everybody's that are not as new ones: whose, of which server, and what.
    pub(super) fn all(self) -> impl Iterator<Item = (String, String, S)> {
        let used = self.by.into_iter().filter(|(_, shell)| !shell.is_new());
        used.map(|((whose, server), shell)| (whose, server, shell))
    }

    /// Those of whoever has begun the newest turn, by server, if they are not as new ones.
    pub(super) fn own(&self) -> BTreeMap<&String, &S> {
        let own = self.by.iter().filter(|((whose, _), _)| *whose == self.whose);
        own.map(|((_, server), shell)| (server, shell))
            .filter(|(_, shell)| !shell.is_new())
            .collect()
    }

    /// What a model is told before a message of the turn that has begun, if it would believe
    /// something else otherwise, or may have lost it. And whether a shell has changed since it was
    /// told last, so that the same words are news.
    pub(super) fn told(&self) -> Option<(String, bool)> {
        let (own, new) = (self.own(), S::default());
        let servers: BTreeSet<&String> = own.keys().copied().chain(self.seen.keys()).collect();
        let is_one = servers.len() < 2;
        let words = servers.into_iter().filter_map(|server| {
            let shell = own.get(server).copied().unwrap_or(&new);
            let believed = self.seen.get(server).is_some_and(|seen| !seen.is_new());
            let of = (!is_one).then_some(server.as_str());
            (!shell.is_new() || believed).then(|| shell.told(of))
        });
        let words = words.collect::<Vec<_>>().join(", ");
        (!words.is_empty()).then_some((words, self.untold))
    }
}

/// Whether `by` ran beside `call`, and comes later in the reply.
pub(super) fn is_later(by: &CallId, call: &CallId) -> bool {
    reply_of(by) == reply_of(call) && block_of(by) > block_of(call)
}

fn reply_of(call: &CallId) -> Option<u64> {
    match call {
        CallId::Reply { reply_seq, .. } => Some(*reply_seq),
        _ => None,
    }
}

fn block_of(call: &CallId) -> Option<u32> {
    match call {
        CallId::Reply { block, .. } => Some(*block),
        _ => None,
    }
}
