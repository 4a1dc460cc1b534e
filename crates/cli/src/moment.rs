//! A moment as a command line shows it: by the clock of this machine. Must not know what happened
//! at it.

use jiff::tz::TimeZone;

use crate::chat_commands;
use crate::domain::UnixMillis;

pub fn when(at_ms: UnixMillis) -> String {
    chat_commands::when(at_ms, &TimeZone::system())
}
