//! The words of a closed question about its answer, and about what came of the call. Must not know
//! who has answered.

use super::keyboard::{shown_command, shown_hosts, shown_path};
use super::short;
use crate::domain::{Answer, Scope, Term};
use crate::doors::door::CallStatus;

pub(super) fn decision(answer: &Answer) -> String {
    let Answer::Allow { term, scope } = answer else {
        return if *answer == Answer::Never { "Denied, now and always" } else { "Denied" }
            .to_owned();
    };
    let term = match term {
        Term::Once => "Allowed once",
        Term::TenMinutes => "Allowed for 10 minutes",
        Term::Session => "Allowed for this session",
        Term::Always => "Allowed until revoked",
    };
    match scope {
        Scope::Exact => term.to_owned(),
        Scope::Below { path } => {
            format!("{term}: any path at or below {}", short(&shown_path(path)))
        }
        Scope::Files { path } if path.is_empty() => {
            format!("{term}: edits anywhere in the workspace")
        }
        Scope::Files { path } => {
            format!("{term}: edits at or below {}", short(&shown_path(path)))
        }
        Scope::Command { words } => {
            format!("{term}: any {}", short(&shown_command(words)))
        }
        Scope::Hosts { hosts } => format!("{term}: any command to {}", shown_hosts(hosts)),
        Scope::Mode { mode } => format!("{term}: mode {mode}"),
    }
}

pub(super) fn end_words(end: CallStatus) -> &'static str {
    match end {
        CallStatus::Ok => "ran: ok",
        CallStatus::Failed => "ran: failed",
        CallStatus::Denied => "denied: it did not run",
        CallStatus::Unknown => "unknown: it may or may not have run, and is not run again",
    }
}
