//! Behind which homes this process was started: by a server of each, which tells it by a variable.
//! Must not know what is served.

use super::Config;
use crate::domain::canonical::sha256_hex;

/// The marks of the homes, with `:` between them.
pub const BEHIND: &str = "CLAW_BEHIND";
/// A mark says no path to a stranger.
const MARK_DIGITS: usize = 16;

impl Config {
    /// What the servers of this home are told.
    pub fn behind(&self) -> String {
        match self.env.get(BEHIND) {
            Some(before) => format!("{before}:{}", self.mark_of_home()),
            None => self.mark_of_home(),
        }
    }

    /// Whether a server of this very home has started the process, so that it would serve itself.
    pub fn is_behind_itself(&self) -> bool {
        let own = self.mark_of_home();
        self.env.get(BEHIND).is_some_and(|before| before.split(':').any(|mark| mark == own))
    }

    fn mark_of_home(&self) -> String {
        let mut mark = sha256_hex(self.home.path().as_os_str().as_encoded_bytes());
        mark.truncate(MARK_DIGITS);
        mark
    }
}
