//! Redaction of text that comes in pieces. Owns how much is held back; must not know what a secret
//! is.

use super::{Pattern, Redactor};

/// Masks secrets in a stream: whatever the pieces, what comes out is what `Redactor::redact` makes
/// of the whole. It holds back only an end that could be the beginning of a secret.
#[derive(Debug)]
pub struct StreamRedactor {
    redactor: Redactor,
    held: String,
}

impl StreamRedactor {
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, held: String::new() }
    }

    /// Takes a piece and gives back what is safe to show by now.
    pub fn push(&mut self, piece: &str) -> String {
        let known = self.redactor.known();
        let Some(finder) = &known.finder else { return piece.to_owned() };
        self.held.push_str(piece);
        let mut out = String::with_capacity(self.held.len());
        let mut done = 0;
        loop {
            let open = self.open_from(&known.patterns, done);
            let input = aho_corasick::Input::new(&self.held).range(done..);
            // A find is final only if nothing that began earlier, or at the same place and is
            // longer, may still be complete.
            let Some(found) = finder.find(input).filter(|found| found.start() < open) else {
                out.push_str(self.held.get(done..open).unwrap_or_default());
                self.held.drain(..open);
                return out;
            };
            out.push_str(self.held.get(done..found.start()).unwrap_or_default());
            out.push_str(known.mark(found.pattern()));
            done = found.end();
        }
    }

    /// The end of the stream: gives back what was held.
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        self.redactor.redact(&held).into_owned()
    }

    /// The first place from `done` on at which the text ends within a secret; the text's length
    /// where there is none.
    fn open_from(&self, patterns: &[Pattern], done: usize) -> usize {
        let longest = patterns.iter().map(|pattern| pattern.text.len()).max().unwrap_or(0);
        let from = done.max((self.held.len() + 1).saturating_sub(longest));
        let begins = |at: &usize| {
            let tail = self.held.as_bytes().get(*at..).unwrap_or_default();
            patterns.iter().any(|pattern| {
                pattern.text.len() > tail.len() && pattern.text.as_bytes().starts_with(tail)
            })
        };
        (from..self.held.len()).find(begins).unwrap_or(self.held.len())
    }
}
