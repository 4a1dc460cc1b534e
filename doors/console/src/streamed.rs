//! What was streamed of each turn whose reply has not come yet, so that a reply is not shown a
//! second time. The next turn may begin before the reply of the one before it is delivered. Must
//! not know how anything looks.

use std::collections::BTreeMap;

use crate::doors::live::same_words;

/// Turns of which a text is kept. A turn that was stopped has no reply that would free it.
const TURNS_MAX: usize = 16;

/// The text of the last step of a turn that was shown to its end, by turn. It goes with the reply
/// of that turn or of a later one.
#[derive(Debug, Default)]
pub(super) struct Streamed(BTreeMap<u64, String>);

impl Streamed {
    /// A step was shown to its end.
    pub(super) fn keep(&mut self, turn: u64, text: String) {
        self.0.insert(turn, text);
        while self.0.len() > TURNS_MAX {
            self.0.pop_first();
        }
    }

    /// Another step of this turn begins: what was shown of the one before is no reply.
    pub(super) fn forget(&mut self, turn: u64) {
        self.0.remove(&turn);
    }

    /// Whether this text stands on the screen as the last one of its turn.
    pub(super) fn has(&self, turn: u64, text: &str) -> bool {
        self.0.get(&turn).is_some_and(|streamed| same_words(streamed, text))
    }

    /// The reply of this turn was shown: nothing more comes of it or of an earlier one.
    pub(super) fn replied(&mut self, turn: u64) {
        self.0.retain(|kept, _| *kept > turn);
    }
}
