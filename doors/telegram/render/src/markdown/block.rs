//! Where lines start and what stands before them: gaps between blocks, list markers, indents,
//! quotes. Must not know Markdown's syntax or how text within a line is formatted.

use crate::doors::markdown::Marker;
use crate::rich::{Rich, Style};

/// What a level of a list puts before its further lines.
const INDENT: &str = "   ";
/// A quote in a quote; Telegram does not nest its own.
const INNER_QUOTE: &str = "│ ";
/// Deeper levels add no further indent: a phone has no room for them.
const LEVELS_MAX: usize = 6;

enum Container {
    /// An item of a list, until its first line with its marker.
    Item {
        marker: Option<String>,
    },
    InnerQuote,
}

/// Writes blocks of text one after another.
#[derive(Default)]
pub(super) struct Blocks {
    pub rich: Rich,
    /// Line feeds before the next line, if anything stands before it.
    gap: usize,
    /// The current line has its prefix.
    in_line: bool,
    containers: Vec<Container>,
    /// Some container still has its marker.
    marker_due: bool,
    /// How many lists are open.
    lists: usize,
    quote_depth: usize,
    /// How many containers stand around the outermost quote; they indent nothing in it.
    quote_base: usize,
    /// How many quotes there were, for telling them apart.
    quotes: usize,
}

impl Blocks {
    /// Text within a block. A line feed in it starts a new line.
    pub fn text(&mut self, text: &str, style: Style) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 && self.in_line {
                self.end_line();
            } else if index > 0 {
                self.gap = (self.gap + 1).min(2);
            }
            if !line.is_empty() {
                let style = Style { quote: self.quote(), ..style };
                self.begin_line(style);
                self.rich.push(line, style);
            }
        }
    }

    /// A block of code: on lines of its own, without prefix, so that it can be copied.
    pub fn pre(&mut self, code: &str, language: Option<&str>) {
        self.start_block();
        let code = without_blank_ends(code);
        if code.is_empty() {
            return;
        }
        self.write_marker();
        let quote = self.quote();
        self.line_feeds(Style { quote, ..Style::PLAIN });
        self.rich.push_pre(code, language, quote);
        self.in_line = true;
        self.end_block(self.gap_after_block());
    }

    pub fn start_block(&mut self) {
        self.end_line();
    }

    /// A block ends; the next one is so many line feeds away.
    pub fn end_block(&mut self, gap: usize) {
        self.end_line();
        self.gap = self.gap.max(gap);
    }

    pub fn start_heading(&mut self) {
        self.end_line();
        if !self.marker_due {
            self.gap = self.gap.max(2);
        }
    }

    pub fn start_quote(&mut self) {
        self.end_line();
        if self.quote_depth == 0 {
            self.write_marker();
            self.quotes += 1;
            self.quote_base = self.containers.len();
        } else {
            self.containers.push(Container::InnerQuote);
        }
        self.quote_depth += 1;
    }

    pub fn end_quote(&mut self) {
        self.end_block(self.gap_after_block());
        self.quote_depth = self.quote_depth.saturating_sub(1);
        if self.quote_depth > 0 {
            self.containers.pop();
        }
    }

    pub fn start_list(&mut self) {
        self.end_line();
        self.lists += 1;
    }

    pub fn end_list(&mut self) {
        self.lists = self.lists.saturating_sub(1);
        self.end_block(self.gap_after_block());
    }

    pub fn start_item(&mut self, marker: Marker) {
        self.end_line();
        self.containers.push(Container::Item { marker: Some(marker.text()) });
        self.marker_due = true;
    }

    pub fn end_item(&mut self) {
        self.write_marker();
        self.end_line();
        self.gap = self.gap.max(1);
        self.containers.pop();
    }

    /// A task's box takes the place of a bullet, and stands behind a number.
    pub fn task(&mut self, done: bool) {
        let mark = if done { "☑ " } else { "☐ " };
        match self.containers.last_mut() {
            Some(Container::Item { marker: Some(marker) }) if marker.starts_with(['•', '◦']) => {
                mark.clone_into(marker)
            }
            _ => self.text(mark, Style::PLAIN),
        }
    }

    fn quote(&self) -> Option<usize> {
        (self.quote_depth > 0).then_some(self.quotes)
    }

    /// Items stay together; between other blocks there is a blank line.
    fn gap_after_block(&self) -> usize {
        if self.lists == 0 { 2 } else { 1 }
    }

    fn end_line(&mut self) {
        if self.in_line {
            self.in_line = false;
            self.gap = self.gap.max(1);
        }
    }

    /// Markers whose item begins with something that has lines of its own stand on a line for
    /// themselves.
    fn write_marker(&mut self) {
        if self.marker_due && !self.in_line {
            let style = Style { quote: self.quote(), ..Style::PLAIN };
            let prefix = self.prefix();
            self.line_feeds(style);
            self.rich.push(prefix.trim_end(), style);
            self.in_line = true;
            self.end_line();
        }
    }

    fn line_feeds(&mut self, next: Style) {
        let gap = std::mem::take(&mut self.gap);
        if !self.rich.text.is_empty() {
            self.rich.push_line_feeds(gap, next);
        }
    }

    fn begin_line(&mut self, first: Style) {
        if self.in_line {
            return;
        }
        self.in_line = true;
        let prefix = self.prefix();
        let style = Style { quote: self.quote(), ..Style::PLAIN };
        self.line_feeds(if prefix.is_empty() { first } else { style });
        self.rich.push(&prefix, style);
    }

    fn prefix(&mut self) -> String {
        let mut prefix = String::new();
        // Without a marker the levels that add nothing need not be looked at.
        let seen = if self.marker_due { usize::MAX } else { LEVELS_MAX };
        let outside = if self.quote_depth > 0 { self.quote_base } else { 0 };
        for (level, container) in self.containers.iter_mut().skip(outside).take(seen).enumerate() {
            match container {
                Container::Item { marker } => match marker.take() {
                    Some(marker) => prefix.push_str(&marker),
                    None if level < LEVELS_MAX => prefix.push_str(INDENT),
                    None => {}
                },
                Container::InnerQuote if level < LEVELS_MAX => prefix.push_str(INNER_QUOTE),
                Container::InnerQuote => {}
            }
        }
        self.marker_due = false;
        prefix
    }
}

/// `code` from its first line with something in it to its last, with the first one's indent.
fn without_blank_ends(code: &str) -> &str {
    let code = code.trim_end();
    let indent = code.len() - code.trim_start().len();
    let start = code[..indent].rfind('\n').map_or(0, |line_feed| line_feed + 1);
    &code[start..]
}
