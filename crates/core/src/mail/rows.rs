//! What a door reads and writes of what is kept, as it needs it: the store's rows become these
//! types here, and nowhere else. Must not know any statement.

use std::path::PathBuf;

use jiff::tz::TimeZone;

use super::late::say_when_due;
use crate::domain::{
    Address, Answer, ApprovalId, ApprovalState, Approvers, Blame, Blamed, CallId, Outbound,
    Outcome, Question, UnixMillis,
};
use crate::store::{ApprovalRow, CallRow, KeptUpdate, OutboxRow, OverheardRow, StoreError};

/// What went wrong with what is kept, in words that name the next step.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct MailError(#[from] StoreError);

impl MailError {
    /// Too many messages wait in this conversation already: a matter of the sender's.
    pub fn is_queue_full(&self) -> bool {
        matches!(self.0, StoreError::QueueFull(_))
    }

    /// Whether it is about one row, so that the store itself can be read and written.
    pub fn is_about_one_row(&self) -> bool {
        self.is_queue_full() || matches!(self.0, StoreError::Decode(_))
    }
}

impl Blamed for MailError {
    fn blame(&self) -> Blame {
        self.0.blame()
    }
}

impl From<serde_json::Error> for MailError {
    fn from(error: serde_json::Error) -> Self {
        Self(error.into())
    }
}

impl From<MailError> for StoreError {
    fn from(error: MailError) -> Self {
        error.0
    }
}

/// Something that waits to be shown.
#[derive(Clone, Debug)]
pub struct OutboxMessage {
    pub id: i64,
    /// A door had begun to show part number `parts_sent` when it was last heard of: that part may
    /// or may not be there.
    pub sending: bool,
    /// How many parts of it are certainly there.
    pub parts_sent: u32,
    pub outbound: Outbound,
}

impl OutboxMessage {
    pub(super) fn of(row: OutboxRow, now_ms: UnixMillis, zone: &TimeZone) -> Self {
        let OutboxRow { id, sending, parts_sent, mut outbound, at_ms } = row;
        // The words of one that is there in part stay what they were.
        if parts_sent == 0 {
            say_when_due(&mut outbound.body, at_ms, now_ms, zone);
        }
        Self { id, sending, parts_sent, outbound }
    }
}

/// A question that was asked, open or closed.
#[derive(Clone, Debug)]
pub struct AskedQuestion {
    pub id: ApprovalId,
    pub call: CallId,
    pub state: ApprovalState,
    pub question: Question,
    /// Who may answer.
    pub approvers: Approvers,
    pub expires_ms: UnixMillis,
    pub decided_ms: Option<UnixMillis>,
    pub decided_by: Option<String>,
    pub answer: Option<Answer>,
}

impl From<ApprovalRow> for AskedQuestion {
    fn from(row: ApprovalRow) -> Self {
        Self {
            id: row.id,
            call: row.call,
            state: row.state,
            question: row.question,
            approvers: row.approvers,
            expires_ms: row.expires_ms,
            decided_ms: row.decided_ms,
            decided_by: row.decided_by,
            answer: row.answer,
        }
    }
}

/// A call that an answer is about.
#[derive(Clone, Debug)]
pub struct AnsweredCall {
    pub id: CallId,
    pub server: String,
    pub tool: String,
    pub outcome: Option<Outcome>,
}

impl From<CallRow> for AnsweredCall {
    fn from(row: CallRow) -> Self {
        Self { id: row.id, server: row.server, tool: row.tool, outcome: row.outcome }
    }
}

/// What a call is about, while it runs.
#[derive(Clone, Debug)]
pub struct CallSubject {
    pub server: String,
    pub tool: String,
    /// As they were frozen, and as they go to the tool.
    pub arguments: serde_json::Value,
    /// The workspace that it was frozen in.
    pub folder: PathBuf,
}

impl From<CallRow> for CallSubject {
    fn from(row: CallRow) -> Self {
        let arguments = serde_json::from_str(&row.arguments).unwrap_or_default();
        Self { server: row.server, tool: row.tool, arguments, folder: row.cwd.into() }
    }
}

/// An update of a chat service that waits to be handled.
#[derive(Clone, Debug)]
pub struct WaitingUpdate {
    /// Counts up in the order in which updates were kept, over all bots.
    pub nr: i64,
    /// The service's own number.
    pub id: i64,
    pub body: String,
}

impl From<KeptUpdate> for WaitingUpdate {
    fn from(KeptUpdate { nr, id, body }: KeptUpdate) -> Self {
        Self { nr, id, body }
    }
}

/// What somebody wrote to others where claw reads along.
#[derive(Clone, Debug)]
pub struct Overheard {
    pub address: Address,
    /// When it was written, in seconds since 1970.
    pub at_s: i64,
    /// Who wrote it.
    pub name: String,
    pub text: String,
}

impl From<OverheardRow> for Overheard {
    fn from(OverheardRow { address, at_s, name, text }: OverheardRow) -> Self {
        Self { address, at_s, name, text }
    }
}

impl From<Overheard> for OverheardRow {
    fn from(Overheard { address, at_s, name, text }: Overheard) -> Self {
        Self { address, at_s, name, text }
    }
}

/// The rows of a look, as doors read them.
pub(super) fn all<Row, T: From<Row>>(
    rows: Result<Vec<Row>, MailError>,
) -> Result<Vec<T>, MailError> {
    Ok(rows?.into_iter().map(T::from).collect())
}

/// The one row of a look, if it is there.
pub(super) fn one<Row, T: From<Row>>(
    row: Result<Option<Row>, MailError>,
) -> Result<Option<T>, MailError> {
    Ok(row?.map(T::from))
}
