//! The doors by their short names, and whose an error of each is. Must not know what a door does.

use std::error::Error;

pub use claw_door_acp as acp;
pub use claw_door_console as console;
pub use claw_door_mcp as mcp;
pub use claw_door_telegram as telegram;
pub use claw_doors::*;

use crate::domain::Blame;

/// Whose an error is that a door has given.
pub fn blame_of(cause: &(dyn Error + 'static)) -> Option<Blame> {
    claw_doors::blame_of(cause)
        .or_else(|| console::blame_of(cause))
        .or_else(|| mcp::blame_of(cause))
        .or_else(|| telegram::blame_of(cause))
}

/// The types that answer.
#[cfg(test)]
pub fn asked() -> impl Iterator<Item = &'static &'static str> {
    let of_doors = [claw_doors::ASKED, console::ASKED, mcp::ASKED, telegram::ASKED];
    of_doors.into_iter().flatten()
}
