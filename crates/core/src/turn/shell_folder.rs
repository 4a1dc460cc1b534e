//! In which folders the shells of a session stand, read from its log: where each command has left
//! its own. Pure. Must not know which server is ours, what a call becomes, or whether a folder is
//! there.
//!
//! What counts stands in `tool.result`, and the gate alone puts it there. A reply's calls all begin
//! where the calls before that reply have left the shell; of those that run side by side the last
//! one in the order of the reply counts that has moved it. Whoever begins a turn has shells of
//! their own: the owner, each other person, each client. A job begins in the workspace each time.

use std::collections::{BTreeMap, BTreeSet};

use super::log::Log;
use super::shells::{Begun, block_of, earlier, reply_of};
use crate::domain::{
    CallId, Event, EventBody, Outcome, ShellFolder, ShellPart, ShellStands, ToolUse,
};

/// The workspace itself.
const WORKSPACE: &str = ".";
/// Characters of a folder's name that are quoted to a model in claw's own words.
const PLAIN: &str = "/._-+@ ";

/// The folders of the shells, by server, for whoever has begun the newest turn.
pub type Stands = BTreeMap<String, String>;

/// Whose it is (empty for the owner), and of which server.
type Key = (String, String);

/// What the events so far come to.
#[derive(Clone, Debug, Default)]
struct Shells {
    by: BTreeMap<Key, (String, Option<CallId>)>,
    /// Who has begun the newest turn.
    whose: String,
    /// What a model believes that reads the window, by server.
    seen: BTreeMap<String, String>,
    /// One has moved since a model was told of where its calls run.
    untold: bool,
}

/// Where the shells stand for these uses of tools, which are of one reply.
pub fn before(log: &Log, uses: &[(CallId, ToolUse)]) -> Stands {
    Shells::of(log, |event| earlier(uses, event)).stands()
}

/// Whether any shell stands elsewhere than in the workspace.
pub fn is_any_elsewhere(log: &Log) -> bool {
    Shells::of(log, |_| true).by.values().any(|(folder, _)| folder != WORKSPACE)
}

/// What a compaction keeps of everything up to `through_seq`.
pub(super) fn kept(log: &Log, through_seq: u64) -> Vec<ShellStands> {
    let shells = Shells::of(log, |event| event.seq <= through_seq);
    let kept = shells.by.into_iter().map(|((whose, server), (folder, _))| ShellStands {
        whose,
        server,
        folder,
    });
    kept.filter(|stands| stands.folder != WORKSPACE).collect()
}

/// What a model is told before a message of the turn that has begun, if it would believe something
/// else otherwise, or may have lost it: `shell in `sub``. And whether a shell has moved since it
/// was told last, so that the same words are news.
pub fn told(log: &Log) -> Option<(String, bool)> {
    let shells = Shells::of(log, |_| true);
    let stands = shells.stands();
    let servers: BTreeSet<&String> = stands.keys().chain(shells.seen.keys()).collect();
    let at = |known: &BTreeMap<String, String>, server: &str| {
        known.get(server).map_or(WORKSPACE, String::as_str).to_owned()
    };
    let is_one = servers.len() < 2;
    let words = servers.into_iter().filter_map(|server| {
        let (is, seen) = (at(&stands, server), at(&shells.seen, server));
        let of = if is_one { String::new() } else { format!(" of {server}") };
        (is != WORKSPACE || seen != WORKSPACE).then(|| format!("shell{of} in {}", named(&is)))
    });
    let words = words.collect::<Vec<_>>().join(", ");
    (!words.is_empty()).then_some((words, shells.untold))
}

/// A folder's name is the workspace's word: one that could be read as more than that is not quoted.
fn named(folder: &str) -> String {
    let is_plain = folder.chars().all(|c| c.is_alphanumeric() || PLAIN.contains(c));
    match folder {
        WORKSPACE => "the workspace".to_owned(),
        folder if is_plain => format!("`{folder}`"),
        _ => "a folder with an odd name, which `pwd` tells".to_owned(),
    }
}

impl Shells {
    fn of(log: &Log, counts: impl Fn(&Event) -> bool) -> Self {
        let mut shells = Self::default();
        for stands in log.shells() {
            let key = (stands.whose.clone(), stands.server.clone());
            shells.by.insert(key, (stands.folder.clone(), None));
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
                if let Some(left) = &output.shell {
                    self.left(call, left);
                }
            }
            EventBody::TurnContext { .. } => self.untold = false,
            EventBody::ShellForgotten { part: ShellPart::Folder } => self.by.clear(),
            _ => {}
        }
    }

    fn left(&mut self, call: &CallId, left: &ShellFolder) {
        let key = (self.whose.clone(), left.server.clone());
        let known = self.by.get(&key);
        let stood = known.map_or(WORKSPACE, |(folder, _)| folder);
        if left.instead_of.as_ref().is_some_and(|refused| refused != stood) {
            return;
        }
        // One that ran beside it, and comes later in the reply.
        let later = known
            .and_then(|(_, by)| by.as_ref())
            .is_some_and(|by| reply_of(by) == reply_of(call) && block_of(by) > block_of(call));
        if !later {
            self.by.insert(key, (left.folder.clone(), Some(call.clone())));
            self.seen.insert(left.server.clone(), left.folder.clone());
            self.untold = true;
        }
    }

    fn stands(&self) -> Stands {
        let own = self.by.iter().filter(|((whose, _), _)| *whose == self.whose);
        own.map(|((_, server), (folder, _))| (server.clone(), folder.clone()))
            .filter(|(_, folder)| folder != WORKSPACE)
            .collect()
    }
}

#[cfg(test)]
mod tests;
