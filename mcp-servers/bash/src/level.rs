//! The levels of the box: what one command may do, as its caller says in the argument `needs`. The
//! operating system holds it (`confine`). Must not know how, or who is asked about a level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confine::Enforcement;
use crate::network::{HOSTS_MAX, HostRule};
use crate::openings::Openings;
use crate::services::{Service, ServiceUse};

/// What a command may do. Each level may do what the one before it may.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(inline)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Look: read the workspace and what the system's programs need, write an empty TMPDIR that is
    /// removed afterwards, reach no network.
    #[default]
    Read,
    /// Also change the workspace and the TMPDIR that commands share.
    Write,
    /// Also reach the network, and read what the system keeps for all its users.
    Network,
}

/// Where hosts are named and nothing would hold the command to them.
const NOT_HELD: &str = "This system gives commands no network of their own, so no command can be kept to hosts. Call again \
     without `hosts`: it then has all of the network. Nothing was run.";

/// Where its host counts on something that nothing would hold the command to.
const NOT_KEPT: &str = "This system cannot keep a command off what other programs run or obey on \
     sight, and it may run without a question only where that is kept. Nothing was run.";

/// What one command may do, with the hosts that it has named.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub level: Level,
    /// Empty at `network`: all of the network.
    pub hosts: Vec<HostRule>,
    /// What others obey on sight stays as it is: always at `write`, and at `network` where the host
    /// wants it, because nobody was asked about this command.
    pub keeps_obeyed: bool,
    /// The owner's services that it has named, all of which are open to it.
    pub opens: Vec<ServiceUse>,
    /// The owner's folders that are open to this command and not to its server.
    pub folders: Openings,
    /// What is to be said of them.
    pub said: Vec<String>,
}

/// What a model has said of it, and what the host has opened for the call.
pub struct ScopeRequest<'a> {
    pub needs: Option<Level>,
    pub hosts: Option<&'a [String]>,
    pub opens: Option<&'a [Service]>,
    pub opened: &'a [ServiceUse],
    /// Whether the host wants what is obeyed on sight to stay as it is.
    pub keep_off: bool,
}

impl Scope {
    /// Reads what a model has said; the error tells it what to change.
    pub fn parse(asked: ScopeRequest<'_>, enforcement: Enforcement) -> Result<Self, String> {
        let level = asked.needs.unwrap_or_default();
        let hosts = asked.hosts.unwrap_or_default();
        let mut named = asked.opens.unwrap_or_default().to_vec();
        named.sort();
        named.dedup();
        if !named.is_empty() && !level.has_network() {
            return Err("`opens` goes with needs: \"network\". Nothing was run.".into());
        }
        let open = |service: Service| {
            let opened = asked.opened.iter().find(|opened| opened.service == service);
            opened.cloned().ok_or_else(|| format!("{} Nothing was run.", service.how_to_open()))
        };
        let opens = named.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        if !hosts.is_empty() && !level.has_network() {
            return Err("`hosts` go with needs: \"network\". Nothing was run.".into());
        }
        if !hosts.is_empty() && !enforcement.own_networks {
            return Err(NOT_HELD.into());
        }
        if asked.keep_off && level.has_network() && !enforcement.keeps_what_is_obeyed() {
            return Err(NOT_KEPT.into());
        }
        if hosts.len() > HOSTS_MAX {
            return Err(format!("At most {HOSTS_MAX} hosts can be named. Nothing was run."));
        }
        let hosts = hosts.iter().map(|host| HostRule::parse(host));
        let hosts =
            hosts.collect::<Result<_, _>>().map_err(|why| format!("{why}. Nothing was run."))?;
        let keeps_obeyed = level == Level::Write || (asked.keep_off && level.has_network());
        Ok(Self { level, hosts, opens, keeps_obeyed, ..Self::default() })
    }

    pub fn with_folders(self, (folders, said): (Openings, Vec<String>)) -> Self {
        Self { folders, said, ..self }
    }
}

impl Level {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Network => "network",
        }
    }

    pub fn has_network(self) -> bool {
        self == Self::Network
    }

    /// For the model, where a command that failed seems to have met its level. At `read` nothing
    /// can have happened, so it may simply call again.
    pub fn refusal(self, output: &str) -> Option<&'static str> {
        let has = |words: &[&str]| words.iter().any(|word| output.contains(word));
        match self {
            Self::Read if has(NOT_CONNECTED) && !has(NOT_WRITTEN) => Some(
                "It ran at level `read`, which has no network but a loopback of its own. It changed nothing; call again with \
                 needs: \"network\" if it has to reach one.",
            ),
            Self::Read if has(NOT_WRITTEN) => Some(
                "It ran at level `read`, which can only look: at the workspace and at the system's programs. It changed nothing; \
                 call again with needs: \"write\" to change files in the workspace, or needs: \"network\".",
            ),
            Self::Write if has(NOT_REPLACED) => Some(
                "It ran at level `write`, which changes no file that other programs run or obey on sight (.git/config, .git/hooks, .envrc, \
                 .vscode, AGENTS.md, .github/workflows and the like). What it did until then stays done; needs: \"network\" may change \
                 them.",
            ),
            Self::Write if has(NOT_CONNECTED) => Some(
                "It ran at level `write`, which has no network but a loopback of its own. What it did until then stays done; call \
                 again with needs: \"network\" if it has to reach one.",
            ),
            _ => None,
        }
    }
}

/// For the model, where a command at `network` that was kept off what is obeyed on sight seems to
/// have met that.
pub fn refusal_of_obeyed(output: &str) -> Option<&'static str> {
    NOT_REPLACED.iter().any(|word| output.contains(word)).then_some(
        "It ran without a question, and such a command changes no file that other programs run or \
         obey on sight (.git/config, .git/hooks, .envrc, AGENTS.md, .github/workflows and the \
         like). What it did until then stays done; the file tools change them, and ask the owner.",
    )
}

/// Whether git says that it could not write or replace a file that a command is kept off.
pub fn is_refused_by_git(output: &str) -> bool {
    refused_by_git(output).next().is_some()
}

/// Whether such a file is one of the working tree, which a configuration of git is not.
pub fn is_in_part(output: &str) -> bool {
    refused_by_git(output).any(|line| !line.contains(" config file "))
}

fn refused_by_git(output: &str) -> impl Iterator<Item = &str> {
    let says = |line: &str| line.starts_with("error: ") || line.starts_with("fatal: ");
    let is_refused = |line: &str| NOT_REPLACED.iter().any(|word| line.contains(word));
    output.lines().filter(move |line| says(line) && is_refused(line))
}

/// For the model, where git has moved HEAD and perhaps not all of the files.
pub fn half_switched(head: &str) -> String {
    format!(
        "HEAD is at `{head}` now, and files of it may be missing or older: compare by `git status` \
         before you commit, because `git commit -a` would take them back. `git checkout HEAD -- \
         PATH` for each of them with needs: \"network\", without `hosts`, makes the tree whole. A \
         path that was put back for the owner is theirs: do not check it out. Next time switch, \
         pull, merge or rebase with needs: \"network\" where such files differ."
    )
}

/// What programs print for EACCES, EPERM and EROFS, in C and in the runtimes that have words of
/// their own.
const NOT_WRITTEN: &[&str] = &[
    "Permission denied",
    "permission denied",
    "Operation not permitted",
    "operation not permitted",
    "Read-only file system",
    "EACCES",
    "EPERM",
    "EROFS",
    "PermissionError",
];

/// Whether a line of output speaks of a refusal.
pub fn has_refusal(line: &str) -> bool {
    NOT_WRITTEN.iter().any(|word| line.contains(word))
}

/// What programs print for EROFS and EBUSY: a file that is mounted read-only is neither written nor
/// replaced.
const NOT_REPLACED: &[&str] =
    &["Read-only file system", "Device or resource busy", "EROFS", "EBUSY"];

/// What programs print when they can make no socket, or find no name without one.
const NOT_CONNECTED: &[&str] = &[
    "Could not resolve host",
    "could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "unable to resolve host address",
    "Connection refused",
    "ECONNREFUSED",
    "Network is unreachable",
    "Connection refused",
    "connection refused",
    "ECONNREFUSED",
    "network is unreachable",
    "EAI_AGAIN",
    "getaddrinfo",
    "socket:",
    "socket(",
    "Couldn't connect to server",
    "failed to lookup address information",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_level_that_would_allow_it() {
        let write = Level::Read.refusal("bash: x: Permission denied").unwrap();
        assert!(write.contains("needs: \"write\"") && write.contains("changed nothing"), "{write}");
        for level in [Level::Read, Level::Write] {
            let network = level.refusal("curl: (6) Could not resolve host: x").unwrap();
            assert!(network.contains("needs: \"network\""), "{network}");
        }
        assert_eq!(Level::Read.refusal("no such file"), None);
        let obeyed = Level::Write.refusal("could not lock config file: Read-only file system");
        assert!(obeyed.unwrap().contains(".git/config"));
        assert!(is_refused_by_git("error: unable to unlink old 'A': Device or resource busy\nok"));
        assert!(!is_refused_by_git("src/errno.rs: Device or resource busy"));
        assert!(is_in_part("error: unable to unlink old 'A': Device or resource busy"));
        let of_config =
            "error: could not write config file .git/config: Device or resource busy\nok";
        assert!(is_refused_by_git(of_config) && !is_in_part(of_config));
        // At `write` a permission is the file's own business.
        assert_eq!(Level::Write.refusal("Permission denied"), None);
        assert_eq!(Level::Network.refusal("Could not resolve host: x"), None);
    }

    #[test]
    fn what_is_no_level_is_no_argument() {
        assert_eq!(serde_json::from_str::<Level>("\"write\"").unwrap(), Level::Write);
        for odd in ["\"Write\"", "\"\"", "\"root\"", "1", "null", "[]"] {
            assert!(serde_json::from_str::<Level>(odd).is_err(), "{odd}");
        }
    }
}
