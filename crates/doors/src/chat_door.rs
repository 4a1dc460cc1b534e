//! What a door for chats can do beside what every door can, as the parts that all such doors share
//! see it. Must not know any door by its name, or when something is shown.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::door::{Door, DoorFault};
use super::shared::DoorState;
use crate::domain::{Address, ApprovalId, Outbound, OutboundBody, SessionId};
use crate::mail::{AskedQuestion, MailError};

/// One thing that a door sends for a row of the outbox.
#[derive(Clone, Debug, PartialEq)]
pub enum DoorPiece<T> {
    Text(T),
    File(File),
    /// The whole of a text whose first message is sent already, as a file. `rest` are its other
    /// messages, for a place that takes no files.
    Whole {
        file: File,
        rest: Vec<T>,
    },
}

impl<T> DoorPiece<T> {
    /// How many parts of a row it counts as, whether it goes as a file or as messages.
    pub fn parts(&self) -> usize {
        match self {
            Self::Text(_) | Self::File(_) => 1,
            Self::Whole { rest, .. } => rest.len(),
        }
    }
}

/// A file that a door hands over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum File {
    /// The whole of a text that is too long for messages, under this name.
    Whole { name: &'static str, text: String },
    /// A file of the workspace, by the path that the model wrote.
    Linked(String),
}

/// How a door paints what is not finished. `T` is one message. Pure, so that drafts need no chat.
pub trait Paint<T> {
    /// The messages of a text that is still being written.
    fn beginning(markdown: &str) -> Vec<T>;

    /// A call that runs, with the newest line of its progress. One message.
    fn running(title: &str, progress: &str) -> T;

    /// A call that has ended, and what there is to say about it. One message.
    fn ended(title: &str, ok: bool, summary: &str) -> T;

    /// Whether an answer can have a button that puts back what its turn has changed. Where it
    /// cannot, a line under the answer names the command.
    const HAS_BUTTONS: bool = false;

    /// The last message of an answer with that button.
    fn with_undo_button(text: T, _: &Address, _: UndoButton) -> T {
        text
    }

    /// The last message of this digest, with buttons that take these grants back.
    fn with_grant_buttons(text: T, _digest: i64, _grants: &[i64]) -> T {
        text
    }

    /// The last message of a reminder, with buttons that answer this firing.
    fn with_reminder_buttons(text: T, _firing: &str) -> T {
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
/// when: [`super::delivery`], [`super::questions`], [`super::sessions`], [`super::live`]. The names
/// of its sessions begin with [`Door::NAME`].
pub trait ChatDoor: Door + Paint<<Self as Door>::Text> {
    fn shared(&self) -> &DoorState<Self::Text>;

    // Who is where.

    /// Whether this instance writes to the address now. What waits for others stays where it is.
    fn writes_to(&self, to: &Address) -> bool;

    /// Whether somebody may read there what claw says. What waits for a conversation that was sent
    /// away is put aside.
    fn may_read(&self, _: &Address) -> bool {
        true
    }

    /// The conversation of a session; `None` for another door's.
    fn place_of(&self, session: &SessionId) -> Option<Address>;

    /// What the names of the sessions begin with that this instance sees to at once. Other sessions
    /// are left to other processes for a moment.
    fn sees_to_first(&self) -> String {
        format!("{}.", Self::NAME)
    }

    /// Where an owner reads what no conversation of theirs shows.
    fn owners_place(&self) -> Option<Address>;

    /// Whether somebody who may decide reads this conversation.
    fn has_an_owner(&self, to: &Address) -> bool;

    /// Whether this principal is an owner at this door.
    fn is_owner(&self, principal: &str) -> bool;

    /// Whether this question of another door is put to an owner here.
    fn asks_for_others(&self, _: &AskedQuestion) -> bool {
        false
    }

    /// Which of these questions have an answer that came in and is not handled yet.
    fn answers_on_the_way(&self, _: &[ApprovalId]) -> Result<HashSet<ApprovalId>, MailError> {
        Ok(HashSet::new())
    }

    // What it shows beside what every door does.

    /// What a text is sent as. It depends on the row alone, because after a restart the pieces are
    /// counted again to find where it was left.
    fn pieces(&self, body: &OutboundBody, text: &str) -> Vec<DoorPiece<Self::Text>>;

    /// Hands a file over. A linked one that cannot be sent is named in a message instead.
    fn file(&self, to: &Address, file: &File)
    -> impl Future<Output = Result<(), DoorFault>> + Send;

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
