//! One turn: `next` reads the log and says the next step, `run` does it. Resuming after a crash is
//! the same loop on the same log. Must not know doors, SQL, MCP.

mod actions;
mod alike;
mod archive;
pub mod compaction;
mod counted;
pub mod cut;
pub mod durable_facts;
pub mod estimate;
pub mod export;
pub mod git_status;
mod kept;
mod kinds;
mod last_words;
pub mod loaded;
pub mod log;
pub mod named;
pub mod next;
pub mod persona;
pub mod project;
pub mod prompt;
pub mod recall;
pub mod replay;
pub mod run;
mod session_row;
mod shell_fold;
pub mod shell_folder;
pub mod shell_variables;
pub mod shells;
mod standing;
pub mod state;
pub mod summarise;
mod totals;
pub mod transcript;
pub mod window;

pub use last_words::last_words;
pub use log::Log;
pub use next::{Bounds, Step, next};
pub use session_row::{SessionRow, became};
pub use state::{Call as CallInTurn, Turn};
