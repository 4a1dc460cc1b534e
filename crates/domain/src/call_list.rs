//! Several calls of one reply in one question. Each keeps its own frozen call and its own question,
//! which the list names. Owns no wording; must not know doors, or who decides.

use serde::{Deserialize, Serialize};

use super::{ApprovalId, ApprovalState, CallId};

/// What a question about several calls lists, in the order of their numbers, from one on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallList {
    pub items: Vec<ListedCall>,
}

/// One call of a list. Every string in it is already made visible by [`crate::escape`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedCall {
    /// The call's own question, by which it is answered alone.
    pub approval: ApprovalId,
    pub call: CallId,
    /// The digest of the frozen call that the line is about.
    pub digest: String,
    /// All of the call in one line, but for what it writes.
    pub says: String,
    /// The lines that it changes in a file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub difference: String,
    /// The whole text that it writes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub danger: bool,
    /// What belongs beside the line, such as what the box lets a command do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether it stands in the list however long that is. The others may stand behind "show all".
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always_shown: bool,
    /// What has become of it. It is no part of what was asked: the store fills it in at each
    /// reading.
    #[serde(default, skip_serializing_if = "ListedCall::is_waiting")]
    pub state: ApprovalState,
}

impl ListedCall {
    pub fn is_open(&self) -> bool {
        Self::is_waiting(&self.state)
    }

    fn is_waiting(state: &ApprovalState) -> bool {
        *state == ApprovalState::Waiting
    }
}

impl CallList {
    /// With the number of each.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &ListedCall)> {
        (1..).zip(&self.items)
    }

    /// The numbers of those that wait for an answer.
    pub fn open(&self) -> Vec<u32> {
        let open = self.numbered().filter(|(_, item)| item.is_open());
        open.map(|(number, _)| number).collect()
    }

    pub fn states(&self) -> Vec<ApprovalState> {
        self.items.iter().map(|item| item.state).collect()
    }

    /// As it was asked, before anything of it was answered.
    #[must_use]
    pub fn as_asked(&self) -> Self {
        let items = self.items.iter().cloned();
        let items = items.map(|item| ListedCall { state: ApprovalState::Waiting, ..item });
        Self { items: items.collect() }
    }
}
