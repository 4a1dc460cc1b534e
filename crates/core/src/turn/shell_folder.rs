//! In which folders the shells of a session stand, read from its log: where each command has left
//! its own. Pure. Must not know which server is ours, what a call becomes, or whether a folder is
//! there.
//!
//! Of commands that run side by side the last one in the order of the reply counts that has moved
//! its shell. A new shell stands in the workspace.

use std::collections::BTreeMap;

use super::log::Log;
use super::shell_fold::{Shell, ShellFold, is_later};
use crate::domain::{CallId, ShellFolder, ShellPart, ShellStands, ToolOutput, ToolUse};

/// The workspace itself.
const WORKSPACE: &str = ".";
/// Characters of a folder's name that are quoted to a model in claw's own words.
const PLAIN: &str = "/._-+@ ";

/// The folders of the shells, by server, for whoever has begun the newest turn.
pub type Stands = BTreeMap<String, String>;

/// Where a shell stands, and which command has left it there.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    folder: String,
    by: Option<CallId>,
}

/// Where the shells stand for these uses of tools, which are of one reply.
pub fn before(log: &Log, uses: &[(CallId, ToolUse)]) -> Stands {
    let shells = ShellFold::<Folder>::before(log, uses);
    shells.own().into_iter().map(|(server, at)| (server.clone(), at.folder.clone())).collect()
}

/// What a compaction keeps of everything up to `through_seq`.
pub(super) fn kept(log: &Log, through_seq: u64) -> Vec<ShellStands> {
    let shells = ShellFold::<Folder>::through(log, through_seq);
    let kept = shells.all();
    kept.map(|(whose, server, at)| ShellStands { whose, server, folder: at.folder }).collect()
}

impl Default for Folder {
    fn default() -> Self {
        Self { folder: WORKSPACE.to_owned(), by: None }
    }
}

impl Shell for Folder {
    const PART: ShellPart = ShellPart::Folder;
    type Left = ShellFolder;

    fn kept(log: &Log) -> Vec<(String, String, Self)> {
        let kept = log.shells().iter().cloned();
        kept.map(|ShellStands { whose, server, folder }| (whose, server, Self { folder, by: None }))
            .collect()
    }

    fn left_in(output: &ToolOutput) -> Option<&ShellFolder> {
        output.shell.as_deref()
    }

    fn server(left: &ShellFolder) -> &str {
        &left.server
    }

    fn take(&mut self, call: &CallId, left: &ShellFolder) -> bool {
        let is_elsewhere = left.instead_of.as_ref().is_some_and(|refused| *refused != self.folder);
        if is_elsewhere || self.by.as_ref().is_some_and(|by| is_later(by, call)) {
            return false;
        }
        *self = Self { folder: left.folder.clone(), by: Some(call.clone()) };
        true
    }

    fn is_new(&self) -> bool {
        self.folder == WORKSPACE
    }

    /// ``shell in `sub` ``.
    fn told(&self, of: Option<&str>) -> String {
        let of = of.map(|server| format!(" of {server}")).unwrap_or_default();
        format!("shell{of} in {}", named(&self.folder))
    }
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

#[cfg(test)]
mod tests;
