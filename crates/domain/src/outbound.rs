//! What goes out to a door. Owns the stored form of an outbox row; must not know any door's
//! rendering.

use serde::{Deserialize, Serialize};

use super::{Address, Question, SessionId};

/// Between the words of a reminder that comes late and the moment at which it was due.
pub const LATE_REMINDER: &str = "\n\n*This was due ";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outbound {
    pub session: SessionId,
    pub to: Address,
    pub body: OutboundBody,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutboundBody {
    /// The final answer of a turn, in Markdown. `turn_seq` is the sequence number of its
    /// `turn.started`; `step` numbers the round-trips to the model in a turn from one on, and is
    /// zero for words that no model said.
    Reply {
        turn_seq: u64,
        #[serde(default)]
        step: u32,
        text: String,
    },
    /// What the model said before it went on to act, or, if it is `partial`, before it was
    /// interrupted.
    Said { turn_seq: u64, step: u32, text: String, partial: bool },
    /// A call waits for a human.
    Question { turn_seq: u64, question: Box<Question> },
    /// One sentence from claw itself: a limit, a broken server, an error.
    Notice { text: String },
    /// Words that a job says, as claw shows them; behind [`LATE_REMINDER`] when they were due, if
    /// they come late. `firing` and `job` are the scheduler's ids.
    Reminder { firing: String, job: String, text: String },
    /// What ran without a question, in Markdown. `number` is that of the digest, `grants` those of
    /// its grants that can be taken back.
    Digest { number: i64, text: String, grants: Vec<i64> },
}
