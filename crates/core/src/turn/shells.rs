//! What of the shells of a session is gone on with: in which folders they stand, and which
//! variables they keep. Pure. Owns whose a shell is, and which results count for a call. Must not
//! know which server is ours, or what a call becomes.

use super::log::Log;
use super::{shell_folder, shell_variables};
use crate::domain::{CallId, Event, EventBody, Origin, ShellPart, ToolUse, job_of};

/// The shells of whoever has begun the newest turn, as a call goes on with them.
#[derive(Clone, Debug, Default)]
pub struct Shells {
    pub folders: shell_folder::Stands,
    pub variables: shell_variables::Keeps,
}

/// The shells for these uses of tools, which are of one reply.
pub fn before(log: &Log, uses: &[(CallId, ToolUse)]) -> Shells {
    Shells {
        folders: shell_folder::before(log, uses),
        variables: shell_variables::before(log, uses),
    }
}

/// What a model is told before a message of the turn that has begun, and whether something has
/// changed since it was told last, so that the same words are news.
pub fn told(log: &Log) -> Option<(String, bool)> {
    let told = [shell_folder::told(log), shell_variables::told(log)];
    let told: Vec<(String, bool)> = told.into_iter().flatten().collect();
    let is_news = told.iter().any(|(_, is_news)| *is_news);
    let words: Vec<String> = told.into_iter().map(|(words, _)| words).collect();
    (!words.is_empty()).then(|| (words.join("; "), is_news))
}

/// What the owner wants to be forgotten, and is remembered: `keeps` says whether folders
/// and variables are kept.
pub fn unwanted(log: &Log, keeps: (bool, bool)) -> Vec<ShellPart> {
    let folder = (!keeps.0 && shell_folder::is_any_elsewhere(log)).then_some(ShellPart::Folder);
    let variables = (!keeps.1 && shell_variables::is_any_kept(log)).then_some(ShellPart::Variables);
    folder.into_iter().chain(variables).collect()
}

/// Who has begun a turn.
pub(super) struct Begun {
    /// Empty for the owner.
    pub(super) whose: String,
    /// A job's shells begin anew each time.
    pub(super) is_job: bool,
}

impl Begun {
    pub(super) fn by(origin: Origin, principal: &str) -> Self {
        let whose = match origin {
            Origin::Owner => String::new(),
            _ => principal.to_owned(),
        };
        Self { whose, is_job: job_of(principal).is_some() }
    }
}

/// Whether an event counts for these uses of tools: a reply's calls all begin where the calls
/// before that reply have left the shell.
pub(super) fn earlier(uses: &[(CallId, ToolUse)], event: &Event) -> bool {
    let reply = uses.iter().filter_map(|(call, _)| reply_of(call)).min();
    match &event.body {
        EventBody::ToolResult { call, .. } => reply_of(call) < reply,
        _ => true,
    }
}

pub(super) fn reply_of(call: &CallId) -> Option<u64> {
    match call {
        CallId::Reply { reply_seq, .. } => Some(*reply_seq),
        _ => None,
    }
}

pub(super) fn block_of(call: &CallId) -> Option<u32> {
    match call {
        CallId::Reply { block, .. } => Some(*block),
        _ => None,
    }
}
