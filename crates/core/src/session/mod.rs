//! A session: one mailbox, one turn at a time, one log. Owns the order in which things happen to a
//! log. Must not know doors, MCP, or how a model is reached.

mod absorb;
mod actions;
mod active_time;
mod budget;
mod calls;
mod client;
mod compaction;
mod drive;
mod ending;
mod facts;
mod finish;
mod for_user;
mod git_state;
mod heartbeat;
mod named;
mod pending_rows;
mod persona;
mod poison;
mod project;
mod proposals;
mod recall;
mod recent;
mod stop_order;
mod undo;
mod unseen_call;
mod watch;
mod worker;

pub use budget::{ASK_PERCENT, Budget};
pub use ending::Ending;
pub use heartbeat::NOTHING_TO_TELL;
pub use undo::TURN_IS_OPEN;
pub use worker::{Ran, SessionError, TurnSettings, Worker, WorkerParts};

#[cfg(test)]
pub(crate) mod tests;
