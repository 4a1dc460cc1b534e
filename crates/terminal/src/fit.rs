//! A plain line in the width of a terminal: words stay whole, and what goes on hangs under its
//! start. Must not know Markdown, or where the line goes.

use super::style::{Span, Style};
use super::wrap::{Long, line_width, width, wrap};

/// Columns by which a line that goes on is set in where its label is too wide to hang under.
const HANG: usize = 4;
/// A space that no line breaks at, for as long as a line is wrapped.
const STAYS: char = '\u{a0}';

/// The lines that `text` takes in so many columns. One that fits stays as it is, spaces and all; so
/// does a JSON object, which is for programs.
pub fn fit(text: &str, columns: usize) -> Vec<String> {
    text.split('\n').flat_map(|row| fit_row(row, columns)).collect()
}

fn fit_row(row: &str, columns: usize) -> Vec<String> {
    if width(row) <= columns || row.starts_with('{') {
        return vec![row.to_owned()];
    }
    let label = label(row, columns);
    let (head, rest) = row.split_at(label);
    let is_narrow = width(head) <= columns / 3;
    let indent = row.len() - row.trim_start_matches(' ').len();
    let (head, hang) = match head.trim_end() {
        _ if is_narrow => (head.to_owned(), width(head)),
        start => (format!("{start}  "), indent + HANG),
    };
    let room = columns.saturating_sub(hang).max(1);
    // The label is part of the first word, which begins left of the others.
    let before = width(&head).saturating_sub(hang);
    let start: String = std::iter::repeat_n(STAYS, before).collect();
    let rows = wrap(&[Span::new(&format!("{start}{rest}"), Style::PLAIN)], room, Long::Keep);
    let words = |row: &[Span]| row.iter().map(Span::text).collect::<String>();
    let mut lines: Vec<String> = Vec::new();
    for (index, row) in rows.iter().filter(|row| line_width(row) > 0).enumerate() {
        let words = words(row);
        lines.push(match index {
            0 => format!("{head}{}", words.trim_start_matches(STAYS)),
            _ => format!("{}{words}", " ".repeat(hang)),
        });
    }
    lines
}

/// Where the text behind the label of a row begins: behind the last gap between two columns that
/// leaves half of the width, or else the first; behind its indent where there is none.
fn label(row: &str, columns: usize) -> usize {
    let indent = row.len() - row.trim_start_matches(' ').len();
    let mut gaps = Vec::new();
    let mut spaces = 0;
    for (at, c) in row.char_indices().skip(indent) {
        if c != ' ' && spaces >= 2 {
            gaps.push(at);
        }
        spaces = if c == ' ' { spaces + 1 } else { 0 };
    }
    let is_label =
        |at: &&usize| row.get(..**at).is_some_and(|head| width(head.trim_end()) <= columns / 2);
    gaps.iter().rev().find(is_label).or(gaps.first()).copied().unwrap_or(indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_and_what_is_for_programs_stays_as_it_is() {
        for row in ["", "  a   b", "exactly ten"] {
            assert_eq!(fit(row, 11), [row]);
        }
        let json = "{\"a\": \"one two three four\"}";
        assert_eq!(fit(json, 10), [json]);
        assert_eq!(fit("one\ntwo three", 8), ["one", "two", "three"]);
    }

    #[test]
    fn words_hang_under_the_start_of_their_column() {
        assert_eq!(fit("  one two three four", 12), ["  one two", "  three four"]);
        assert_eq!(
            fit("ok  id     what the doctor says of it", 24),
            ["ok  id  what the doctor", "    says of it"]
        );
        assert_eq!(
            fit("ok  id  what the doctor says of it", 30),
            ["ok  id  what the doctor says", "        of it"]
        );
        assert_eq!(
            fit("  claw chat              talk to it in this terminal", 34),
            ["  claw chat  talk to it in this", "      terminal"]
        );
    }

    #[test]
    fn a_word_that_is_too_wide_stands_alone() {
        let path = "/a/path/that/is/wider/than/all";
        assert_eq!(fit(&format!("Written: {path} now."), 16), ["Written:", path, "now."]);
    }
}
