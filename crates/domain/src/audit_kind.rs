//! The kinds of rows of the audit that are looked for again, each written and read by one name.
//! Must not know what a row says beside its kind.

/// A call has come to the gate, or was staged.
pub const RECEIVED: &str = "received";
/// What was decided of it.
pub const VERDICT: &str = "verdict";
/// Its question was put.
pub const ASKED: &str = "asked";
/// Its question has its answer.
pub const ANSWERED: &str = "answered";
/// It was started, just before the hub is asked.
pub const STARTED: &str = "started";
/// Which hosts a command has reached.
pub const NETWORK: &str = "network";
/// Its end.
pub const ENDED: &str = "ended";
/// It never came to the gate.
pub const DROPPED: &str = "dropped";
/// Something was opened to commands.
pub const OPENED: &str = "opened";
/// It was closed.
pub const CLOSED: &str = "closed";
/// A tool was seen for the first time.
pub const PINNED: &str = "pinned";
/// A tool has changed.
pub const QUARANTINED: &str = "quarantined";
/// Its owner has accepted the change.
pub const ACCEPTED: &str = "accepted";
/// The files of a turn are put back.
pub const UNDO_STARTED: &str = "undo.started";
/// They were.
pub const UNDO_ENDED: &str = "undo.ended";
