//! What an editor was shown of the running turns: which words as they were written, and which
//! calls.
//! So nothing is shown twice, and words of different kinds stay apart. Must not know the protocol.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::CallId;
use crate::doors::live::same_words;

/// Steps and calls of which this is kept; a turn has few that can still be told again.
const KEPT_MAX: usize = 64;

/// (turn, step).
pub type TurnStep = (u64, u32);

#[derive(Debug, Default)]
pub struct Streaming {
    /// The words of a step as they were streamed.
    steps: BTreeMap<TurnStep, String>,
    /// The calls that the editor knows.
    calls: BTreeSet<CallId>,
    /// What the last thing was that was shown.
    last: Last,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    /// Nothing that words would run into.
    #[default]
    Apart,
    /// The words of this step go on.
    Step(TurnStep),
    /// Whole words, which are not to be run into.
    Words,
}

impl Streaming {
    /// Words of a step that goes on; as they are shown.
    pub fn goes_on(&mut self, step: TurnStep, text: &str) -> String {
        let apart = self.last == Last::Apart || self.last == Last::Step(step);
        self.last = Last::Step(step);
        self.steps.entry(step).or_default().push_str(text);
        while self.steps.len() > KEPT_MAX {
            self.steps.pop_first();
        }
        if apart { text.to_owned() } else { format!("\n\n{text}") }
    }

    /// The step is asked for again: what it said does not count.
    pub fn begins_again(&mut self, step: TurnStep) {
        self.steps.remove(&step);
    }

    /// Whether these words of a step were shown while they were written.
    pub fn has(&self, step: TurnStep, text: &str) -> bool {
        self.steps.get(&step).is_some_and(|shown| same_words(shown, text))
    }

    /// Words that are whole; as they are shown.
    pub fn whole(&mut self, text: &str) -> String {
        let apart = self.last == Last::Apart;
        self.last = Last::Words;
        if apart { text.to_owned() } else { format!("\n\n{text}") }
    }

    /// A call is shown. Whether the editor knows it already.
    pub fn call(&mut self, call: &CallId) -> bool {
        self.last = Last::Apart;
        let known = !self.calls.insert(call.clone());
        while self.calls.len() > KEPT_MAX {
            self.calls.pop_first();
        }
        known
    }

    /// A person's message was sent: what comes now stands below it.
    pub fn persons_turn(&mut self) {
        self.last = Last::Apart;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_belong_apart_do_not_run_into_each_other() {
        let mut shown = Streaming::default();
        assert_eq!(shown.goes_on((1, 1), "a"), "a");
        assert_eq!(shown.goes_on((1, 1), "b"), "b");
        assert_eq!(shown.goes_on((1, 2), "c"), "\n\nc");
        assert_eq!(shown.whole("d"), "\n\nd");
        assert_eq!(shown.whole("e"), "\n\ne");
        shown.persons_turn();
        assert_eq!(shown.whole("f"), "f");
    }

    #[test]
    fn what_was_streamed_is_known_and_what_was_begun_again_is_not() {
        let mut shown = Streaming::default();
        shown.goes_on((1, 1), "It is");
        shown.goes_on((1, 1), " done.");
        assert!(shown.has((1, 1), "It is\n\ndone."));
        assert!(!shown.has((1, 1), "It is") && !shown.has((1, 2), "It is done."));
        shown.begins_again((1, 1));
        assert!(!shown.has((1, 1), "It is done."));
    }
}
