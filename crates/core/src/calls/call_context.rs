//! What surrounds one call: who watches it, what ends it, and from whose turn it comes. Must not
//! know how a call is judged or sent.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::rounds::InputSink;
use crate::domain::{LiveSink, TurnId, unseen};
use crate::hub::CallSource;
use crate::store::CallRow;

/// What surrounds one call.
#[derive(Clone)]
pub struct CallContext {
    pub live: LiveSink,
    /// Cancelled when the owner stops the turn or pulls the stop switch.
    pub cancel: CancellationToken,
    /// Cancelled when this process is about to end: what a server works on as a task is left to
    /// the next one then. Never cancelled where none would go on.
    pub leaves: CancellationToken,
    /// When the time of the turn is up.
    pub deadline: Instant,
    /// Whose changes are undone together; none for a call of nobody's turn.
    pub turn: Option<TurnId>,
    /// Whether somebody else than the owner reads what comes of it, or may have: a group, an
    /// allowed user.
    pub heard_by_others: bool,
    /// Who hears what a server asks the owner in the middle of the call. `None` where nobody can
    /// answer: then the server is told so.
    pub asks: Option<InputSink>,
}

impl CallContext {
    /// Of a call that claw makes by itself: no door shows it, it belongs to no turn, no stranger
    /// reads what comes of it, nobody answers what its server asks, and a server that makes a task
    /// of it is waited for. It has this much time from now on.
    pub fn unseen(cancel: CancellationToken, time: Duration) -> Self {
        Self {
            live: unseen(),
            cancel,
            leaves: CancellationToken::new(),
            deadline: Instant::now() + time,
            turn: None,
            heard_by_others: false,
            asks: None,
        }
    }

    /// What a server of ours may be told of who asks.
    pub fn source(&self, row: &CallRow) -> CallSource {
        CallSource {
            origin: row.origin,
            session: row.id.session().cloned(),
            chat: row.id.session().cloned(),
            turn: self.turn.as_ref().map(|turn| turn.seq),
            heard_by_others: self.heard_by_others,
        }
    }
}
