//! Shows Markdown while it arrives. Owns what of a step has been given out, so that nothing is
//! shown twice and nothing is missing; must not know terminals, turns or where the text comes from.

use super::markdown::render;
use super::style::{Line, Look, Span, Style, paint_line};
use crate::doors::markdown::normalised;

/// Shown where a repeated step says something else than what was printed of it.
pub const STARTS_AGAIN: &str = "(the connection broke; the answer starts again)";
/// An open block is laid out again when it has grown by this part of itself, so that a block of n
/// bytes costs O(n).
const GROWTH_PART: usize = 32;

/// The text of one step on its way to the screen. Every method that returns lines returns each of
/// them once.
#[derive(Debug)]
pub struct StreamView {
    look: Look,
    next_look: Look,
    /// All text of the step, as it came.
    raw: String,
    /// Where the last, incomplete line starts in `raw`.
    line_start: usize,
    /// The open block: whole lines, normalised.
    open: String,
    /// How much of `open` has been laid out, in bytes.
    parsed: usize,
    /// How many lines of the open block were given out.
    given: usize,
    /// Something was given out, so that the next block needs a blank line before it.
    any: bool,
    /// After a restart: the source of what is on the screen, until the new text has caught up with
    /// it.
    replay: Option<String>,
}

impl StreamView {
    pub fn new(look: Look) -> Self {
        Self {
            look,
            next_look: look,
            raw: String::new(),
            line_start: 0,
            open: String::new(),
            parsed: 0,
            given: 0,
            any: false,
            replay: None,
        }
    }

    /// The step's text so far, without what a restart has taken back.
    pub fn text(&self) -> &str {
        &self.raw
    }

    /// Takes effect with the next block: lines that are out cannot be laid out again.
    pub fn set_look(&mut self, look: Look) {
        self.next_look = look;
    }

    /// Adds text and returns the lines that are now final, without line feeds.
    pub fn push(&mut self, text: &str) -> Vec<String> {
        self.raw.push_str(text);
        let Some(shown) = &self.replay else { return self.advance() };
        if self.raw.len() < shown.len() && shown.starts_with(&self.raw) {
            return Vec::new();
        }
        if self.raw.starts_with(shown.as_str()) {
            self.line_start = shown.len();
            self.replay = None;
            return self.advance();
        }
        self.start_over()
    }

    /// What is held back, laid out as if it were complete. It is to be shown as a draft and erased
    /// before the next lines.
    pub fn draft(&self) -> Vec<String> {
        if self.replay.is_some() || self.pending_is_blank() {
            return Vec::new();
        }
        let source = format!("{}{}", self.open, normalised(&self.raw[self.line_start..]));
        let rendered = render(&source, self.look);
        let lines = rendered.lines.get(self.given..).unwrap_or_default();
        let gap = usize::from(self.any && self.given == 0 && !lines.is_empty());
        std::iter::repeat_n(String::new(), gap)
            .chain(lines.iter().map(|line| paint_line(line, self.look)))
            .collect()
    }

    /// The step is repeated: what comes next replaces all its text. What is on the screen stays if
    /// the new text repeats it.
    pub fn restart(&mut self) {
        if !self.any {
            *self = Self::new(self.next_look);
            return;
        }
        if self.replay.is_none() {
            self.replay = Some(self.raw[..self.line_start].to_owned());
        }
        self.raw.clear();
    }

    /// The step is complete: returns what was held back. The view can then take another step.
    pub fn finish(&mut self) -> Vec<String> {
        let mut out = if self.replay.is_some() { self.start_over() } else { Vec::new() };
        let tail = normalised(&self.raw[self.line_start..]);
        self.open.push_str(&tail);
        self.line_start = self.raw.len();
        let rendered = render(&self.open, self.look);
        self.give(&rendered.lines, rendered.lines.len(), &mut out);
        *self = Self::new(self.next_look);
        out
    }

    fn pending_is_blank(&self) -> bool {
        self.raw[self.line_start..].trim().is_empty() && self.open.trim().is_empty()
    }

    /// The repeated step went another way: says so and shows its text from the start.
    fn start_over(&mut self) -> Vec<String> {
        let raw = std::mem::take(&mut self.raw);
        *self = Self::new(self.next_look);
        let mut out =
            vec![String::new(), paint_line(&[Span::new(STARTS_AGAIN, Style::DIM)], self.look)];
        self.any = true;
        self.raw = raw;
        out.extend(self.advance());
        out
    }

    fn advance(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(end) = self.raw[self.line_start..].rfind('\n') {
            let end = self.line_start + end + 1;
            self.open.push_str(&normalised(&self.raw[self.line_start..end]));
            self.line_start = end;
        }
        let grown = self.open.len() - self.parsed;
        if grown == 0 || grown * GROWTH_PART < self.open.len() {
            return out;
        }
        let whole = render(&self.open, self.look);
        if whole.last_block > 0 {
            let closed = render(&self.open[..whole.last_block], self.look);
            self.give(&closed.lines, closed.lines.len(), &mut out);
            self.open.drain(..whole.last_block);
            self.given = 0;
            self.look = self.next_look;
            let last = render(&self.open, self.look);
            self.give(&last.lines, last.stable, &mut out);
        } else {
            self.give(&whole.lines, whole.stable, &mut out);
        }
        self.parsed = self.open.len();
        out
    }

    fn give(&mut self, lines: &[Line], until: usize, out: &mut Vec<String>) {
        let fresh = lines.get(self.given..until).unwrap_or_default();
        if fresh.is_empty() {
            return;
        }
        if self.given == 0 && self.any {
            out.push(String::new());
        }
        out.extend(fresh.iter().map(|line| paint_line(line, self.look)));
        self.given = until;
        self.any = true;
    }
}

/// The whole of a Markdown text as lines, without line feeds. A stream of the same text ends in the
/// same lines.
pub fn markdown_lines(text: &str, look: Look) -> Vec<String> {
    render(&normalised(text), look).lines.iter().map(|line| paint_line(line, look)).collect()
}
