//! What an owner is asked once, beside the calls: who may talk to claw, how far a new server is
//! trusted, whether tools that have changed may be used. Must not know how a question is shown or
//! stored, or what an answer does.

use crate::{Address, Trust, UnixMillis};

/// What a question is about. It is frozen when it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerQuestionAbout {
    /// An unknown user or a group has written to a bot. What is shown is who it is, in the door's
    /// own form.
    Access { bot: i64, chat: i64 },
    /// A server of others was seen for the first time, started as this launch form says. What is
    /// shown is what it says about itself, in claw's words.
    NewServer { server: String, launch: String },
    /// Tools of a server have changed: each with the pin of the form that is asked about. What is
    /// shown are the differences, made visible.
    ChangedTools { server: String, forms: Vec<(String, String)> },
}

/// The kinds of questions, without what each is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerQuestionKind {
    Access,
    NewServer,
    ChangedTools,
}

/// An owner's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerAnswer {
    LetIn,
    Ignore,
    Trust(Trust),
    Accept,
    /// The tools stay withheld.
    KeepWithheld,
}

/// How far a question is. `Decided` and `Stale` are still to be shown where it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerQuestionState {
    /// No owner has seen it yet.
    New,
    Told,
    Decided,
    /// It was settled elsewhere, or what it asks about is not so any more.
    Stale,
    Closed,
}

/// One question, and where it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerQuestion {
    pub id: String,
    pub about: OwnerQuestionAbout,
    pub shown: String,
    pub state: OwnerQuestionState,
    pub answer: Option<OwnerAnswer>,
    /// Where it was asked, and by which message.
    pub address: Address,
    pub message: i64,
    pub decided_by: String,
    pub decided_ms: UnixMillis,
    /// When it was asked.
    pub at_ms: UnixMillis,
}

impl OwnerQuestionAbout {
    /// The id of the question about a chat. There is one at a time, so nobody is announced twice
    /// before an owner has sent them away, or wants to be asked again.
    pub fn access_id(bot: i64, chat: i64) -> String {
        format!("access.{bot}.{chat}")
    }

    pub fn kind(&self) -> OwnerQuestionKind {
        match self {
            Self::Access { .. } => OwnerQuestionKind::Access,
            Self::NewServer { .. } => OwnerQuestionKind::NewServer,
            Self::ChangedTools { .. } => OwnerQuestionKind::ChangedTools,
        }
    }
}

impl OwnerQuestionKind {
    pub const ALL: [Self; 3] = [Self::Access, Self::NewServer, Self::ChangedTools];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::NewServer => "new_server",
            Self::ChangedTools => "changed_tools",
        }
    }

    /// Whether a question of this kind can be answered so.
    pub fn offers(self, answer: OwnerAnswer) -> bool {
        self == match answer {
            OwnerAnswer::LetIn | OwnerAnswer::Ignore => Self::Access,
            OwnerAnswer::Trust(_) => Self::NewServer,
            OwnerAnswer::Accept | OwnerAnswer::KeepWithheld => Self::ChangedTools,
        }
    }
}

impl OwnerQuestionState {
    pub const ALL: [Self; 5] = [Self::New, Self::Told, Self::Decided, Self::Stale, Self::Closed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Told => "told",
            Self::Decided => "decided",
            Self::Stale => "stale",
            Self::Closed => "closed",
        }
    }
}

impl OwnerAnswer {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LetIn => "let_in",
            Self::Ignore => "ignore",
            Self::Trust(level) => level.as_str(),
            Self::Accept => "accept",
            Self::KeepWithheld => "keep_withheld",
        }
    }

    /// An answer that this claw does not know is none.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = [Self::LetIn, Self::Ignore, Self::Accept, Self::KeepWithheld];
        let known = plain.into_iter().find(|answer| answer.as_str() == text);
        known.or_else(|| Trust::parse(text).map(Self::Trust))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_reads_back_and_is_one_of_one_kind() {
        let plain = [
            OwnerAnswer::LetIn,
            OwnerAnswer::Ignore,
            OwnerAnswer::Accept,
            OwnerAnswer::KeepWithheld,
        ];
        for answer in plain.into_iter().chain(Trust::ALL.map(OwnerAnswer::Trust)) {
            assert_eq!(OwnerAnswer::parse(answer.as_str()), Some(answer));
            let kinds = OwnerQuestionKind::ALL.iter().filter(|kind| kind.offers(answer));
            assert_eq!(kinds.count(), 1, "{answer:?}");
        }
        assert_eq!(OwnerAnswer::parse("yes"), None);
    }
}
