//! Styled text and the only escape sequences that we write for it (SGR, ECMA-48 8.3.117). Must not
//! know Markdown.

use crate::doors::clean::clean;

/// The narrowest terminal that is laid out for; a narrower one wraps by itself.
pub const WIDTH_MIN: usize = 20;

/// How a terminal is to be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Whether SGR sequences may be written. Without them headings and code keep their Markdown
    /// marks.
    pub colour: bool,
    /// Whether lines of code are broken between words. A terminal breaks them anywhere; what goes
    /// into a pipe stays as it is.
    pub breaks_code: bool,
}

impl Look {
    pub fn new(width: usize, colour: bool) -> Self {
        Self { width: width.max(WIDTH_MIN), colour, breaks_code: false }
    }

    pub fn breaking_code(self, breaks_code: bool) -> Self {
        Self { breaks_code, ..self }
    }
}

/// A set of attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style(u8);

impl Style {
    pub const PLAIN: Self = Self(0);
    pub const BOLD: Self = Self(1);
    pub const DIM: Self = Self(2);
    pub const ITALIC: Self = Self(4);
    pub const UNDERLINE: Self = Self(8);
    pub const STRIKE: Self = Self(16);
    pub const CYAN: Self = Self(32);
    pub const RED: Self = Self(64);
    pub const YELLOW: Self = Self(128);

    const CODES: [(Self, &'static str); 8] = [
        (Self::BOLD, "1"),
        (Self::DIM, "2"),
        (Self::ITALIC, "3"),
        (Self::UNDERLINE, "4"),
        (Self::STRIKE, "9"),
        (Self::CYAN, "36"),
        (Self::RED, "31"),
        (Self::YELLOW, "33"),
    ];

    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A run of text in one style. Its text holds no control character: the constructor sees to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    text: String,
    style: Style,
}

impl Span {
    /// Cleans `text`; line feeds are kept for the wrapper as forced breaks, tabs become four
    /// spaces.
    pub fn new(text: &str, style: Style) -> Self {
        Self { text: clean(text).replace('\t', "    "), style }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds text, cleaned like the constructor's.
    pub fn push(&mut self, text: &str) {
        if text.contains('\t') {
            self.text.push_str(&clean(text).replace('\t', "    "));
        } else {
            self.text.push_str(&clean(text));
        }
    }

    pub fn style(&self) -> Style {
        self.style
    }
}

/// One line of output.
pub type Line = Vec<Span>;

/// The line as it is written: without a line feed, without white space at its end.
pub fn paint_line(line: &[Span], look: Look) -> String {
    let last = line.iter().rposition(|span| !span.text.trim_end().is_empty());
    let Some(last) = last else { return String::new() };
    let mut out = String::new();
    for (index, span) in line.iter().enumerate().take(last + 1) {
        let text = if index == last { span.text.trim_end() } else { &span.text };
        paint_span(&mut out, text, span.style, look);
    }
    out
}

fn paint_span(out: &mut String, text: &str, style: Style, look: Look) {
    // A line feed would break the count of rows; the wrapper has dealt with all of them.
    let text = text.replace('\n', " ");
    if !look.colour || style == Style::PLAIN || text.is_empty() {
        out.push_str(&text);
        return;
    }
    let codes: Vec<&str> =
        Style::CODES.iter().filter(|(bit, _)| style.has(*bit)).map(|(_, code)| *code).collect();
    out.push_str("\u{1b}[");
    out.push_str(&codes.join(";"));
    out.push('m');
    out.push_str(&text);
    out.push_str("\u{1b}[0m");
}

/// `text` without our own SGR sequences: what a person sees. For tests and for measuring.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\u{1b}[") {
        out.push_str(&rest[..start]);
        let tail = &rest[start + 2..];
        match tail
            .find('m')
            .filter(|end| tail[..*end].bytes().all(|b| b.is_ascii_digit() || b == b';'))
        {
            Some(end) => rest = &tail[end + 1..],
            None => {
                out.push_str("\u{1b}[");
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_only_where_asked_for() {
        let line =
            vec![Span::new("a ", Style::PLAIN), Span::new("b  ", Style::BOLD.with(Style::CYAN))];
        assert_eq!(paint_line(&line, Look::new(40, false)), "a b");
        assert_eq!(paint_line(&line, Look::new(40, true)), "a \u{1b}[1;36mb\u{1b}[0m");
        assert_eq!(visible(&paint_line(&line, Look::new(40, true))), "a b");
    }

    #[test]
    fn a_span_cannot_carry_an_escape_sequence() {
        let line = vec![Span::new("\u{1b}[31mred\n", Style::PLAIN)];
        assert_eq!(paint_line(&line, Look::new(40, true)), "␛[31mred");
    }
}
