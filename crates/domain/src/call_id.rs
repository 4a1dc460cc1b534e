//! Who made a call, and which of theirs it is. Owns the text form of the id, and the one that it
//! had before; must not know where either is stored.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SessionId;

/// The id of a call, or of a question that is about no single call. It is ours: a provider's id is
/// never unique enough (some reuse one for parallel calls).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum CallId {
    /// A model made it: the tool use at the index `block` of the `model.reply` with this number.
    Reply { session: SessionId, reply_seq: u64, block: u32 },
    /// A tool proposed it: the entry at `index` of the result with this number (`tool.result`,
    /// `action.result`), or of what a summary has brought.
    Action { session: SessionId, result_seq: u64, index: u32 },
    /// The question about all actions of a list, which is named after the result of its first.
    List { session: SessionId, result_seq: u64 },
    /// The question about a group of buttons of such a list; groups count from one.
    Buttons { session: SessionId, result_seq: u64, group: u32 },
    /// The question about several calls of one reply, which is named after the first event that is
    /// logged of it (`call.parked`).
    Together { session: SessionId, parked_seq: u64 },
    /// The question whether a turn may go on. `turn_seq` is the number of its `turn.started`, and
    /// `nth` counts the pauses of the same cause from zero.
    Pause { session: SessionId, turn_seq: u64, cause: PauseCause, nth: u32 },
    /// The session's owner gave it by a command (`/remember`). `at_ms` is when, and moved on until
    /// no other call is named so.
    Order { session: SessionId, at_ms: u64 },
    /// Claw itself looks into the memory, for the message that comes in. `seq` is the number of the
    /// next event of the log, which is what was recalled, or the message.
    Recall { session: SessionId, seq: u64 },
    /// Claw itself asks git what has changed in the workspace, for the message that comes in. `seq`
    /// is the number of the next event of the log.
    Git { session: SessionId, seq: u64 },
    /// Claw itself fetches what the owner names in a message: the entry at `index` of the row of
    /// the inbox with this number.
    Named { session: SessionId, inbox: u64, index: u32 },
    /// An MCP client made it, and has numbered it.
    Client { principal: String, number: u64 },
    /// Claw itself sees to jobs that are due, for no session.
    Jobs { number: u64 },
    /// The check of a heartbeat, which decides whether a model is asked at all; for no session.
    Heartbeat { number: u64 },
}

/// Why a turn asks whether it may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PauseCause {
    /// Most of the day's budget is used.
    Budget,
    /// The process has died in it again and again.
    Deaths,
}

/// Whose call it is: who drives it, and hears of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOwner<'a> {
    /// The log of a session.
    Session(&'a SessionId),
    /// A client of claw, by its principal.
    Client(&'a str),
    /// Nobody but claw.
    Claw,
}

/// In place of a client's principal, each of which names its kind before a colon.
const JOBS: &str = "jobs";
const HEARTBEATS: &str = "heartbeats";

/// The numbers that lists and pauses had while every id was a session and two numbers.
const LISTS_FROM: u32 = 1000;
const DEATHS_FROM: u32 = 500;

/// Those that stand in the log of a session.
macro_rules! of_session {
    ($session:ident) => {
        CallId::Reply { $session, .. }
            | CallId::Action { $session, .. }
            | CallId::List { $session, .. }
            | CallId::Buttons { $session, .. }
            | CallId::Together { $session, .. }
            | CallId::Recall { $session, .. }
            | CallId::Git { $session, .. }
            | CallId::Pause { $session, .. }
            | CallId::Named { $session, .. }
            | CallId::Order { $session, .. }
    };
}

impl CallId {
    pub fn owner(&self) -> CallOwner<'_> {
        match self {
            of_session!(session) => CallOwner::Session(session),
            Self::Client { principal, .. } => CallOwner::Client(principal),
            Self::Jobs { .. } | Self::Heartbeat { .. } => CallOwner::Claw,
        }
    }

    /// The session in whose log it stands, if it stands in one.
    pub fn session(&self) -> Option<&SessionId> {
        match self.owner() {
            CallOwner::Session(session) => Some(session),
            CallOwner::Client(_) | CallOwner::Claw => None,
        }
    }

    /// Whether claw makes it by itself, so that nobody is asked about it. An order that changes
    /// something has its frozen row and its yes.
    pub fn asks_nobody(&self) -> bool {
        matches!(
            self,
            Self::Recall { .. }
                | Self::Git { .. }
                | Self::Named { .. }
                | Self::Order { .. }
                | Self::Jobs { .. }
                | Self::Heartbeat { .. }
        )
    }

    /// The number of the event that it is named after, if it stands in a log.
    pub fn seq(&self) -> Option<u64> {
        match self {
            Self::Reply { reply_seq: seq, .. }
            | Self::Action { result_seq: seq, .. }
            | Self::List { result_seq: seq, .. }
            | Self::Buttons { result_seq: seq, .. }
            | Self::Together { parked_seq: seq, .. }
            | Self::Recall { seq, .. }
            | Self::Git { seq, .. }
            | Self::Pause { turn_seq: seq, .. } => Some(*seq),
            Self::Client { .. }
            | Self::Order { .. }
            | Self::Named { .. }
            | Self::Jobs { .. }
            | Self::Heartbeat { .. } => None,
        }
    }

    /// The same call in a log under another name.
    pub fn rename_session(&mut self, name: &SessionId) {
        match self {
            of_session!(session) => *session = name.clone(),
            Self::Client { .. } | Self::Jobs { .. } | Self::Heartbeat { .. } => {}
        }
    }

    /// How it was written before ids said who made the call, if that was otherwise than today. The
    /// audit, which never changes, and digests of that time have it so.
    pub fn earlier_text(&self) -> Option<String> {
        let (session, seq, number) = match self {
            Self::Reply { .. }
            | Self::Together { .. }
            | Self::Recall { .. }
            | Self::Git { .. }
            | Self::Order { .. }
            | Self::Named { .. }
            | Self::Client { .. }
            | Self::Jobs { .. }
            | Self::Heartbeat { .. } => return None,
            Self::Action { session, result_seq, index } => (session, result_seq, *index),
            Self::List { session, result_seq } => (session, result_seq, LISTS_FROM),
            Self::Buttons { session, result_seq, group } => {
                (session, result_seq, LISTS_FROM.saturating_add(*group))
            }
            Self::Pause { session, turn_seq, cause, nth } => match cause {
                PauseCause::Budget => (session, turn_seq, *nth),
                PauseCause::Deaths => (session, turn_seq, DEATHS_FROM.saturating_add(*nth)),
            },
        };
        Some(format!("{session}:{seq}:{number}"))
    }

    /// What an id that reads like that of a reply may stand for in rows from before ids said who
    /// made the call.
    pub fn may_have_meant(&self) -> Vec<Self> {
        let Self::Reply { session, reply_seq: seq, block } = self else { return Vec::new() };
        let (session, seq) = (session.clone(), *seq);
        let of_list = block.checked_sub(LISTS_FROM).map(|group| match group {
            0 => Self::List { session: session.clone(), result_seq: seq },
            group => Self::Buttons { session: session.clone(), result_seq: seq, group },
        });
        let pause = Self::pause_of_earlier(&session, seq, *block);
        let action = Self::Action { session, result_seq: seq, index: *block };
        of_list.into_iter().chain([action, pause]).collect()
    }

    /// The pause that had this number in its turn before ids said who made the call.
    pub fn pause_of_earlier(session: &SessionId, turn_seq: u64, number: u32) -> Self {
        let (cause, nth) = match number.checked_sub(DEATHS_FROM) {
            Some(nth) => (PauseCause::Deaths, nth),
            None => (PauseCause::Budget, number),
        };
        Self::Pause { session: session.clone(), turn_seq, cause, nth }
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply { session, reply_seq, block } => write!(f, "{session}:{reply_seq}:{block}"),
            Self::Action { session, result_seq, index } => {
                write!(f, "{session}:{result_seq}:action.{index}")
            }
            Self::List { session, result_seq } => write!(f, "{session}:{result_seq}:all"),
            Self::Buttons { session, result_seq, group } => {
                write!(f, "{session}:{result_seq}:buttons.{group}")
            }
            Self::Together { session, parked_seq } => write!(f, "{session}:{parked_seq}:together"),
            Self::Recall { session, seq } => write!(f, "{session}:{seq}:recall"),
            Self::Git { session, seq } => write!(f, "{session}:{seq}:git"),
            Self::Pause { session, turn_seq, cause, nth } => {
                let cause = match cause {
                    PauseCause::Budget => "budget",
                    PauseCause::Deaths => "deaths",
                };
                write!(f, "{session}:{turn_seq}:{cause}.{nth}")
            }
            Self::Order { session, at_ms } => write!(f, "{session}:{at_ms}:order"),
            Self::Named { session, inbox, index } => write!(f, "{session}:{inbox}:named.{index}"),
            // No name of a session has a slash, and a principal may.
            Self::Client { principal, number } => write!(f, "{principal}/{number}"),
            Self::Jobs { number } => write!(f, "{JOBS}/{number}"),
            Self::Heartbeat { number } => write!(f, "{HEARTBEATS}/{number}"),
        }
    }
}

impl FromStr for CallId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read(text).ok_or_else(|| {
            format!("`{text}` is not a call id: expected SESSION:EVENT:WHICH or CLIENT/NUMBER")
        })
    }
}

fn read(text: &str) -> Option<CallId> {
    if let Some((principal, number)) = text.rsplit_once('/') {
        let (principal, number) = (principal.to_owned(), number.parse().ok()?);
        if principal == JOBS {
            return Some(CallId::Jobs { number });
        }
        if principal == HEARTBEATS {
            return Some(CallId::Heartbeat { number });
        }
        return (!principal.is_empty()).then_some(CallId::Client { principal, number });
    }
    let mut parts = text.splitn(3, ':');
    let session = SessionId::new(parts.next()?).ok()?;
    let seq = parts.next()?.parse().ok()?;
    let which = parts.next()?;
    let Some((kind, number)) = which.split_once('.') else {
        return Some(match which {
            "all" => CallId::List { session, result_seq: seq },
            "order" => CallId::Order { session, at_ms: seq },
            "together" => CallId::Together { session, parked_seq: seq },
            "recall" => CallId::Recall { session, seq },
            "git" => CallId::Git { session, seq },
            block => CallId::Reply { session, reply_seq: seq, block: block.parse().ok()? },
        });
    };
    let number = number.parse().ok()?;
    let pause =
        |cause| CallId::Pause { session: session.clone(), turn_seq: seq, cause, nth: number };
    Some(match kind {
        "action" => CallId::Action { session, result_seq: seq, index: number },
        "buttons" => CallId::Buttons { session, result_seq: seq, group: number },
        "named" => CallId::Named { session, inbox: seq, index: number },
        "budget" => pause(PauseCause::Budget),
        "deaths" => pause(PauseCause::Deaths),
        _ => return None,
    })
}

/// As JSON: that of a reply is what every id was from the beginning, so that logs and exports stay
/// what they are; every other one is its text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Reply { session: SessionId, reply_seq: u64, block: u32 },
    Text(String),
}

impl From<CallId> for Written {
    fn from(id: CallId) -> Self {
        match id {
            CallId::Reply { session, reply_seq, block } => {
                Self::Reply { session, reply_seq, block }
            }
            other => Self::Text(other.to_string()),
        }
    }
}

impl TryFrom<Written> for CallId {
    type Error = String;
    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Reply { session, reply_seq, block } => {
                Ok(Self::Reply { session, reply_seq, block })
            }
            Written::Text(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<(CallId, &'static str)> {
        let session = || SessionId::new("a.b-c").unwrap();
        let pause = |cause| CallId::Pause { session: session(), turn_seq: 12, cause, nth: 3 };
        let client = |principal: &str| CallId::Client { principal: principal.into(), number: 7 };
        vec![
            (CallId::Reply { session: session(), reply_seq: 12, block: 3 }, "a.b-c:12:3"),
            (CallId::Action { session: session(), result_seq: 12, index: 3 }, "a.b-c:12:action.3"),
            (CallId::List { session: session(), result_seq: 12 }, "a.b-c:12:all"),
            (
                CallId::Buttons { session: session(), result_seq: 12, group: 3 },
                "a.b-c:12:buttons.3",
            ),
            (CallId::Together { session: session(), parked_seq: 12 }, "a.b-c:12:together"),
            (CallId::Recall { session: session(), seq: 12 }, "a.b-c:12:recall"),
            (CallId::Git { session: session(), seq: 12 }, "a.b-c:12:git"),
            (pause(PauseCause::Budget), "a.b-c:12:budget.3"),
            (pause(PauseCause::Deaths), "a.b-c:12:deaths.3"),
            (CallId::Order { session: session(), at_ms: 1_795 }, "a.b-c:1795:order"),
            (CallId::Named { session: session(), inbox: 12, index: 3 }, "a.b-c:12:named.3"),
            (client("mcp:laptop"), "mcp:laptop/7"),
            (client("a:1:2/0"), "a:1:2/0/7"),
            (CallId::Jobs { number: 7 }, "jobs/7"),
            (CallId::Heartbeat { number: 7 }, "heartbeats/7"),
        ]
    }

    #[test]
    fn every_kind_of_id_reads_back_as_text_and_as_json() {
        for (id, text) in all() {
            assert_eq!(id.to_string(), text);
            assert_eq!(text.parse::<CallId>().unwrap(), id);
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(serde_json::from_str::<CallId>(&json).unwrap(), id, "{json}");
        }
        for bad in [
            "",
            "main",
            "main:1",
            "main:1:x",
            "main:1:actions.1",
            "main:1:2:3",
            "/7",
            "a/b",
            "a b:1:2",
        ] {
            assert!(bad.parse::<CallId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_id_of_a_reply_is_written_as_it_always_was() {
        let (reply, _) = &all()[0];
        let json = r#"{"session":"a.b-c","reply_seq":12,"block":3}"#;
        assert_eq!(serde_json::to_string(reply).unwrap(), json);
        assert_eq!(reply.earlier_text(), None);
    }

    #[test]
    fn the_earlier_text_of_an_id_leads_back_to_it() {
        for (id, text) in all() {
            let Some(earlier) = id.earlier_text() else { continue };
            let meant = earlier.parse::<CallId>().unwrap().may_have_meant();
            assert!(meant.contains(&id), "{text}: {earlier} may have meant {meant:?}");
        }
    }
}
