//! What of the shells of a session is gone on with: in which folders they stand, and which
//! variables they keep. Pure. Must not know which server is ours, or what a call becomes.

use super::log::Log;
use super::shell_fold::{Shell, ShellFold};
use super::shell_folder::{self, Folder};
use super::shell_variables::{self, Variables};
use crate::domain::{CallId, ShellPart, ToolUse};

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
    let folders = ShellFold::<Folder>::now(log).told();
    let variables = ShellFold::<Variables>::now(log).told();
    let told: Vec<(String, bool)> = folders.into_iter().chain(variables).collect();
    let is_news = told.iter().any(|(_, is_news)| *is_news);
    let words: Vec<String> = told.into_iter().map(|(words, _)| words).collect();
    (!words.is_empty()).then(|| (words.join("; "), is_news))
}

/// What the owner wants to be forgotten, and is remembered: `keeps` says whether folders
/// and variables are kept.
pub fn unwanted(log: &Log, keeps: (bool, bool)) -> Vec<ShellPart> {
    let folder = (!keeps.0 && is_any_used::<Folder>(log)).then_some(ShellPart::Folder);
    let variables = (!keeps.1 && is_any_used::<Variables>(log)).then_some(ShellPart::Variables);
    folder.into_iter().chain(variables).collect()
}

/// Whether any shell is not as a new one.
fn is_any_used<S: Shell>(log: &Log) -> bool {
    ShellFold::<S>::now(log).all().next().is_some()
}
