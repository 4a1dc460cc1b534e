//! Formatted text on its way to a chat: one string and the style of each stretch of it. Owns which
//! styles can stand together; must not know Markdown, or how long a message may be.

use reqwest::Url;

pub(super) use crate::{Part, utf16_len};

/// What can be said of one character. Numbers are places in the tables of the [`Rich`] that the
/// style belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub bold: bool,
    pub italic: bool,
    pub strike: bool,
    /// Code within a line.
    pub code: bool,
    /// A block of code, by its place in [`Rich::languages`].
    pub pre: Option<usize>,
    /// A link, by its place in [`Rich::links`].
    pub link: Option<usize>,
    /// A block quote, by a number of its own, so that two in a row stay two.
    pub quote: Option<usize>,
}

impl Style {
    pub const PLAIN: Self = Self {
        bold: false,
        italic: false,
        strike: false,
        code: false,
        pre: None,
        link: None,
        quote: None,
    };
    pub const BOLD: Self = Self { bold: true, ..Self::PLAIN };
    pub const ITALIC: Self = Self { italic: true, ..Self::PLAIN };

    /// Without what Telegram forbids together: code holds no other entity and stands in none but a
    /// quote. In a link the link is kept, because it does something.
    fn allowed(self) -> Self {
        let quote = self.quote;
        match self {
            Self { pre: Some(_), .. } => Self { pre: self.pre, quote, ..Self::PLAIN },
            Self { code: true, link: None, .. } => Self { code: true, quote, ..Self::PLAIN },
            _ => Self { code: false, ..self },
        }
    }

    /// What a line feed between two stretches has: what both have, so that one entity can span
    /// both. Code is left out, because code of one line that goes on in the next was written as
    /// two. Nothing spans the edge of a quote.
    fn between(self, other: Self) -> Self {
        if self.quote != other.quote {
            return Self::PLAIN;
        }
        let same = |a: Option<usize>, b: Option<usize>| a.filter(|_| a == b);
        Self {
            bold: self.bold && other.bold,
            italic: self.italic && other.italic,
            strike: self.strike && other.strike,
            code: false,
            pre: None,
            link: same(self.link, other.link),
            quote: self.quote,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Where the run ends, in bytes of the text. It starts where the one before ends.
    pub end: usize,
    pub style: Style,
}

/// A text of any length with its styles.
#[derive(Clone, Debug, Default)]
pub(super) struct Rich {
    pub text: String,
    pub runs: Vec<Run>,
    pub links: Vec<Url>,
    /// The language of each block of code.
    pub languages: Vec<Option<String>>,
}

impl Rich {
    pub fn push(&mut self, text: &str, style: Style) {
        let style = style.allowed();
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        let end = self.text.len();
        match self.runs.last_mut() {
            Some(run) if run.style == style => run.end = end,
            _ => self.runs.push(Run { end, style }),
        }
    }

    /// Line feeds before something of style `next`.
    pub fn push_line_feeds(&mut self, count: usize, next: Style) {
        let before = self.runs.last().map_or(Style::PLAIN, |run| run.style);
        self.push(&"\n".repeat(count), before.between(next));
    }

    /// A block of code. White space inside is kept; the caller has taken blank lines off both ends.
    pub fn push_pre(&mut self, code: &str, language: Option<&str>, quote: Option<usize>) {
        self.languages.push(language.map(str::to_owned));
        self.push(code, Style { pre: Some(self.languages.len() - 1), quote, ..Style::PLAIN });
    }

    /// The place of `url` in the table of links.
    pub fn link(&mut self, url: Url) -> usize {
        self.links.push(url);
        self.links.len() - 1
    }

    /// The run that holds the byte at `at`, by its place; the number of runs at the end of the
    /// text.
    pub fn run_at(&self, at: usize) -> usize {
        self.runs.partition_point(|run| run.end <= at)
    }

    pub fn style_at(&self, at: usize) -> Style {
        self.runs.get(self.run_at(at)).map_or(Style::PLAIN, |run| run.style)
    }

    /// Where the run that holds the byte at `at` starts, in bytes.
    pub fn run_start(&self, at: usize) -> usize {
        self.run_at(at)
            .checked_sub(1)
            .and_then(|before| self.runs.get(before))
            .map_or(0, |run| run.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stands_in_nothing_but_a_quote() {
        let mut rich = Rich::default();
        rich.push("a", Style { code: true, quote: Some(0), ..Style::BOLD });
        rich.push("b", Style { code: true, link: Some(0), ..Style::BOLD });
        assert_eq!(rich.runs[0].style, Style { code: true, quote: Some(0), ..Style::PLAIN });
        assert_eq!(rich.runs[1].style, Style { link: Some(0), ..Style::BOLD });
    }

    #[test]
    fn runs_are_found_by_their_bytes() {
        let mut rich = Rich::default();
        rich.push("ab", Style::PLAIN);
        rich.push("é", Style::BOLD);
        assert_eq!(
            (rich.style_at(1), rich.style_at(2), rich.run_start(3)),
            (Style::PLAIN, Style::BOLD, 2)
        );
        assert_eq!(utf16_len("aé👩\u{200d}👧"), 7);
    }
}
