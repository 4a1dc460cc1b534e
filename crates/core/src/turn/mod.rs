//! One turn: `next` reads the log and says the next step, `run` does it. Resuming after a crash is
//! the same loop on the same log. Must not know doors, SQL, MCP.

mod actions;
mod alike;
pub mod estimate;
pub mod export;
mod kinds;
pub mod log;
pub mod next;
pub mod persona;
pub mod prompt;
pub mod replay;
pub mod run;
pub mod state;
pub mod transcript;

pub use log::Log;
pub use next::{Bounds, Step, next};
pub use state::Turn;
