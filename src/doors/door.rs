//! What a door for chats can do, as the parts that all doors share see it. Must not know any door
//! by its name, or when something is shown.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use crate::domain::{
    Address, Answer, ApprovalId, Outbound, OutboundBody, PostedState, Question, SessionId,
    UnixMillis,
};
use crate::mail::{MailError, PostedRow};

/// Why something is not shown, by what has to be done about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DoorFault {
    /// No answer that could be read: it may have been done or not. Trying again may help.
    #[error("the chat cannot be reached: {0}")]
    MayPass(String),
    /// The chat does not let this door write. What it should get waits until it does.
    #[error("the chat does not let claw write: {0}")]
    Blocked(String),
    /// The formatting was refused; the same text without it may pass.
    #[error("the formatting was refused: {0}")]
    Formatting(String),
    /// The chat goes on somewhere else, and the door could not follow it.
    #[error("the chat has moved: {0}")]
    Moved(String),
    /// A part of a chat (a topic) is gone; the chat itself may take the message.
    #[error("the place is gone: {0}")]
    Gone(String),
    /// Any other refusal. Asking again brings the same answer.
    #[error("refused: {0}")]
    Refused(String),
}

impl crate::domain::Blamed for DoorFault {
    fn blame(&self) -> crate::domain::Blame {
        match self {
            Self::MayPass(_)
            | Self::Blocked(_)
            | Self::Formatting(_)
            | Self::Moved(_)
            | Self::Gone(_)
            | Self::Refused(_) => crate::domain::Blame::Broken,
        }
    }
}

/// One thing that a door sends for a row of the outbox.
#[derive(Clone, Debug, PartialEq)]
pub enum DoorPiece<T> {
    Text(T),
    File(File),
}

/// A file that a door hands over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum File {
    /// The whole of a text that is too long for messages, under this name.
    Whole { name: &'static str, text: String },
    /// A file of the workspace, by the path that the model wrote.
    Linked(String),
}

/// The message that a question went out in.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub message: i64,
    /// When the service had it, in its own seconds since 1970; 0 if that is not known.
    pub at_s: i64,
    /// The message is a file, and the question is its caption.
    pub file: bool,
}

impl Asked {
    /// As it goes on record.
    pub fn posted(&self, approval: &ApprovalId, to: &Address) -> PostedRow {
        PostedRow {
            approval: approval.clone(),
            address: to.clone(),
            message: self.message,
            state: PostedState::Open,
            file: self.file,
            sent_s: self.at_s,
        }
    }
}

/// How a question was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// `by` is who answered; `end` is how the call went, once that is known.
    Answered {
        answer: Answer,
        by: String,
        at_ms: UnixMillis,
        end: Option<CallStatus>,
    },
    Expired {
        at_ms: UnixMillis,
    },
    /// It was closed without an answer, for this reason.
    Superseded {
        at_ms: UnixMillis,
        why: String,
    },
    /// The question stands in a newer message.
    AskedAgain,
}

/// How an answered call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStatus {
    Ok,
    Failed,
    Denied,
    Unknown,
}

/// How a door paints what is not finished. Pure, so that drafts need no chat.
pub trait Paint {
    /// One message, as this door shows text.
    type Text: Clone + PartialEq + Debug + Send + Sync + 'static;

    /// The messages of a text that is still being written.
    fn beginning(markdown: &str) -> Vec<Self::Text>;

    /// A call that runs, with the newest line of its progress. One message.
    fn running(title: &str, progress: &str) -> Self::Text;

    /// A call that has ended, and what there is to say about it. One message.
    fn ended(title: &str, ok: bool, summary: &str) -> Self::Text;

    /// Whether an answer can have a button that puts back what its turn has changed. Where it
    /// cannot, a line under the answer names the command.
    const HAS_UNDO_BUTTON: bool = false;

    /// The last message of an answer with that button.
    fn with_undo_button(text: Self::Text, _: &Address, _: UndoButton) -> Self::Text {
        text
    }
}

/// What a button under an answer puts back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoButton {
    pub turn_seq: u64,
    /// So many files were changed; 0: folders alone.
    pub files: usize,
}

/// A door with conversations that have an address each, whether anybody looks or not. What it shows
/// goes out one thing at a time in each conversation. The parts beside this file decide what and
/// when: [`super::delivery`], [`super::questions`], [`super::sessions`], [`super::live`].
pub trait Door: Paint + Send + Sync + Sized + 'static {
    /// The first word of its addresses and of its sessions' names.
    const NAME: &'static str;

    fn shared(&self) -> &Shared<Self::Text>;

    // Who is where.

    /// Whether this instance writes to the address now. What waits for others stays where it is.
    fn writes_to(&self, to: &Address) -> bool;

    /// The conversation of a session; `None` for another door's.
    fn place_of(&self, session: &SessionId) -> Option<Address>;

    /// Where an owner reads what no conversation of theirs shows.
    fn owners_place(&self) -> Option<Address>;

    /// Whether somebody who may decide reads this conversation.
    fn has_an_owner(&self, to: &Address) -> bool;

    /// Whether this principal is an owner at this door.
    fn is_owner(&self, principal: &str) -> bool;

    /// Whether the questions of other doors are put to an owner here.
    fn asks_for_others(&self) -> bool {
        false
    }

    /// Which of these questions have an answer that came in and is not handled yet.
    fn answers_on_the_way(&self, _: &[ApprovalId]) -> Result<HashSet<ApprovalId>, MailError> {
        Ok(HashSet::new())
    }

    // What it shows.

    /// What a text is sent as. It depends on the row alone, because after a restart the pieces are
    /// counted again to find where it was left.
    fn pieces(&self, body: &OutboundBody, text: &str) -> Vec<DoorPiece<Self::Text>>;

    /// Sends a message, with its formatting or without, and gives back its number.
    fn send(
        &self,
        to: &Address,
        text: &Self::Text,
    ) -> impl Future<Output = Result<i64, DoorFault>> + Send;

    /// Makes a message show something else. It may be done twice.
    fn edit(
        &self,
        to: &Address,
        message: i64,
        text: &Self::Text,
    ) -> impl Future<Output = Result<(), DoorFault>> + Send;

    /// Takes a message away.
    fn take_away(
        &self,
        to: &Address,
        message: i64,
    ) -> impl Future<Output = Result<(), DoorFault>> + Send;

    /// Hands a file over. One that cannot be sent is named in a message instead.
    fn file(&self, to: &Address, file: &File)
    -> impl Future<Output = Result<(), DoorFault>> + Send;

    /// Puts a question, with whatever an answer takes.
    fn ask(
        &self,
        to: &Address,
        question: &Question,
    ) -> impl Future<Output = Result<Asked, DoorFault>> + Send;

    /// Makes the message of a list, which is still open, show what of it is answered. It may be
    /// done twice.
    fn show_answered(
        &self,
        posted: &PostedRow,
        question: &Question,
    ) -> impl Future<Output = Result<(), DoorFault>> + Send;

    /// Makes the message of a question say what became of it.
    fn close(
        &self,
        posted: &PostedRow,
        question: &Question,
        how: &Closed,
    ) -> impl Future<Output = Result<(), DoorFault>> + Send;

    /// Sends a message that is not finished, or changes the one that is there: now, or not at all
    /// (`None`), because nothing of it is needed. With `stops`, a button that stops what runs goes
    /// with it, where a door has buttons.
    fn glimpse(
        &self,
        to: &Address,
        message: Option<i64>,
        text: &Self::Text,
        stops: bool,
    ) -> impl Future<Output = Result<Option<i64>, DoorFault>> + Send;

    /// The least time between two glimpses in one conversation.
    fn glimpse_every(&self, _: &Address) -> Duration {
        Duration::from_secs(1)
    }

    /// Whether words of the model are shown before its turn has ended: as they are written, and
    /// those before an act.
    fn shows_words_before_acts(&self) -> bool {
        true
    }

    /// A tool server has something to say to the owner.
    fn about_a_server(self: &Arc<Self>, text: String) {
        tracing::warn!(text, "a tool server");
    }

    /// Shows that claw is at work, for as long as it is polled.
    fn working(&self, _: &Address) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    // What cannot be shown.

    /// What is sent elsewhere in place of a message that its place refuses. Nothing: the log and
    /// the session keep it.
    fn instead(&self, _: &Outbound, _: &DoorFault) -> Vec<Outbound> {
        Vec::new()
    }

    /// A conversation does not let this door write.
    fn blocked(
        &self,
        to: &Address,
        why: &str,
    ) -> impl Future<Output = Result<(), MailError>> + Send;

    /// The store could not be read or written.
    fn store_failed(self: &Arc<Self>, _: &MailError) {}
}
