//! Risk classes: the built-in table for our own servers and the owner's table for all others. Must
//! not know rules, grants, or what a server says about itself.

use claw_domain::OwnServerName;
use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};

/// What a tool can do at worst. `Ord` follows risk, so that the strictest of several is their
/// `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Reads only. Runs without a question.
    Safe,
    /// Changes something. Asks. Every tool that nobody classified is of this class.
    Mutating,
    /// Denied, unless a rule says otherwise.
    Dangerous,
}

impl Class {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Mutating => "mutating",
            Self::Dangerous => "dangerous",
        }
    }
}

/// Whether this is a tool of ours that does nothing but ask, or end the asking.
pub(super) fn only_proposes(builtin: Option<OwnServerName>, tool: &str) -> bool {
    builtin.is_some_and(|own| own.server().proposes.contains(&tool))
}

/// Whether this is a tool of our own servers that changes nothing that counts.
pub fn is_own_reader(builtin: Option<OwnServerName>, tool: &str) -> bool {
    let own = builtin.map(OwnServerName::server);
    own.is_some_and(|own| own.readers.contains(&tool) || own.proposes.contains(&tool))
}

/// The longest glob of a table or a rule, in bytes.
pub(super) const GLOB_BYTES_MAX: usize = 256;

/// A glob over a server's or a tool's name, with the text it was made from.
#[derive(Clone, Debug)]
pub(super) struct NameGlob {
    pub(super) text: String,
    matcher: GlobMatcher,
}

impl NameGlob {
    /// The error is half a sentence about `text`.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.len() > GLOB_BYTES_MAX {
            return Err(format!("`{text}` is not a pattern: use 1 to {GLOB_BYTES_MAX} bytes"));
        }
        let glob = Glob::new(text)
            .map_err(|error| format!("`{text}` is not a pattern: {}", error.kind()))?;
        Ok(Self { text: text.to_owned(), matcher: glob.compile_matcher() })
    }

    pub(super) fn is_match(&self, name: &str) -> bool {
        self.matcher.is_match(name)
    }

    /// The name itself, if the pattern can match nothing else.
    pub(super) fn literal(&self) -> Option<&str> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
        self.text.chars().all(plain).then_some(self.text.as_str())
    }
}

/// A `server/tool` pair of globs.
#[derive(Clone, Debug)]
pub(super) struct ToolGlob {
    pub(super) server: NameGlob,
    pub(super) tool: NameGlob,
}

impl ToolGlob {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let (server, tool) = text
            .split_once('/')
            .ok_or_else(|| format!("`{text}` is not of the form `server/tool`"))?;
        Ok(Self { server: NameGlob::new(server)?, tool: NameGlob::new(tool)? })
    }

    fn is_match(&self, server: &str, tool: &str) -> bool {
        self.server.is_match(server) && self.tool.is_match(tool)
    }
}

/// The owner's `[classes]`, `idempotent` and `bash_reads`.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    pub(super) table: Vec<(ToolGlob, Class)>,
    pub(super) idempotent: Vec<ToolGlob>,
    /// Whether commands that only read are asked about like all others.
    pub(super) bash_reads_ask: bool,
}

impl Classes {
    /// `builtin` says which of our own servers this is by its launch; a stranger that calls itself
    /// `filesystem` is none. Of several patterns that fit, the riskiest class wins.
    pub(super) fn class(&self, builtin: Option<OwnServerName>, server: &str, tool: &str) -> Class {
        if let Some(own) = builtin {
            return if is_own_reader(Some(own), tool) { Class::Safe } else { Class::Mutating };
        }
        let fitting = self
            .table
            .iter()
            .filter(|(glob, _)| glob.is_match(server, tool))
            .map(|(_, class)| *class);
        fitting.max().unwrap_or(Class::Mutating)
    }

    pub(super) fn names(&self, server: &str, tool: &str) -> bool {
        self.table.iter().any(|(glob, _)| glob.is_match(server, tool))
    }

    pub(super) fn is_idempotent(
        &self,
        builtin: Option<OwnServerName>,
        server: &str,
        tool: &str,
    ) -> bool {
        match builtin {
            Some(_) => is_own_reader(builtin, tool),
            None => self.idempotent.iter().any(|glob| glob.is_match(server, tool)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[(&str, Class)]) -> Classes {
        let table =
            entries.iter().map(|(glob, class)| (ToolGlob::new(glob).unwrap(), *class)).collect();
        Classes { table, idempotent: vec![ToolGlob::new("time/*").unwrap()], ..Classes::default() }
    }

    #[test]
    fn our_readers_are_safe_and_all_else_is_mutating() {
        let classes = Classes::default();
        for tool in ["read_file", "read_files", "list_dir", "find", "search", "read_artifact"] {
            assert_eq!(classes.class(Some(OwnServerName::Filesystem), "files", tool), Class::Safe);
            assert!(classes.is_idempotent(Some(OwnServerName::Filesystem), "files", tool));
        }
        for tool in ["write_file", "edit_file", "move", "delete", "invented"] {
            assert_eq!(
                classes.class(Some(OwnServerName::Filesystem), "filesystem", tool),
                Class::Mutating
            );
            assert!(!classes.is_idempotent(Some(OwnServerName::Filesystem), "filesystem", tool));
        }
        assert_eq!(classes.class(Some(OwnServerName::Bash), "bash", "run"), Class::Mutating);
        assert_eq!(classes.class(Some(OwnServerName::Bash), "bash", "read_file"), Class::Mutating);
        for (tool, class) in [
            ("output", Class::Safe),
            ("list", Class::Safe),
            ("start", Class::Mutating),
            ("stop", Class::Mutating),
        ] {
            assert_eq!(classes.class(Some(OwnServerName::Bash), "bash", tool), class, "{tool}");
        }
    }

    #[test]
    fn looking_into_the_memory_is_safe_and_writing_asks() {
        let classes = Classes::default();
        for tool in ["recall", "read", "list", "propose"] {
            assert_eq!(
                classes.class(Some(OwnServerName::Memory), "notes", tool),
                Class::Safe,
                "{tool}"
            );
            assert_eq!(classes.class(None, "memory", tool), Class::Mutating, "{tool}");
        }
        for tool in ["promote", "remember", "update", "supersede", "forget", "restore", "link"] {
            assert_eq!(
                classes.class(Some(OwnServerName::Memory), "notes", tool),
                Class::Mutating,
                "{tool}"
            );
        }
    }

    #[test]
    fn a_stranger_with_our_name_is_a_stranger() {
        let classes = Classes::default();
        assert_eq!(classes.class(None, "filesystem", "read_file"), Class::Mutating);
        assert!(!classes.is_idempotent(None, "filesystem", "read_file"));
    }

    #[test]
    fn the_riskiest_pattern_wins_and_our_own_table_stands() {
        let classes =
            table(&[("*/*", Class::Safe), ("git/push*", Class::Dangerous), ("git/*", Class::Safe)]);
        assert_eq!(classes.class(None, "git", "push_force"), Class::Dangerous);
        assert_eq!(classes.class(None, "git", "log"), Class::Safe);
        assert_eq!(classes.class(Some(OwnServerName::Bash), "bash", "run"), Class::Mutating);
        assert!(classes.is_idempotent(None, "time", "now"));
        assert!(!classes.is_idempotent(None, "git", "log"));
    }

    #[test]
    fn patterns_that_mean_nothing_are_errors() {
        for bad in ["git", "/x", "x/", "[/x", "{a/x"] {
            assert!(ToolGlob::new(bad).is_err(), "{bad}");
        }
    }
}
