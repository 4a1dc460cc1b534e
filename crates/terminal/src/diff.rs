//! How a change of a file looks on the console. Owns colours and layout of a unified diff; must not
//! know who made the change.

use super::style::{Line, Look, Span, Style, paint_line};
use super::wrap::chop;
use crate::doors::clean::clean;

/// Rows of a diff that are shown; the whole is in the result and in the file.
const ROWS_MAX: usize = 40;
/// Stands before each row, under the mark of its call.
const INDENT: &str = "  ";

/// The hunks of a unified diff as rows, without line feeds: every character, a long line on as many
/// rows as it needs. The names of the file are left out, because they are in the title.
pub fn diff_lines(diff: &str, look: Look) -> Vec<String> {
    let mut rows = Vec::new();
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ ")) {
            lines.next();
            continue;
        }
        rows.extend(changed_rows(line, look));
    }
    let more = rows.len().saturating_sub(ROWS_MAX);
    if more > 0 {
        rows.truncate(ROWS_MAX);
        let noun = if more == 1 { "row" } else { "rows" };
        rows.push(paint_line(
            &[Span::new(&format!("{INDENT}… and {more} more {noun}"), Style::DIM)],
            look,
        ));
    }
    rows
}

/// One line of a difference, behind its mark.
pub(super) fn changed_rows(line: &str, look: Look) -> Vec<String> {
    changed_lines(line, look).iter().map(|line| paint_line(line, look)).collect()
}

/// The same before it is painted.
pub fn changed_lines(line: &str, look: Look) -> Vec<Line> {
    let room = look.width.saturating_sub(INDENT.len() + 1).max(10);
    let mut rows = Vec::new();
    let style = match line.as_bytes().first() {
        Some(b'+') => Style::CYAN,
        Some(b'-') => Style::RED,
        _ => Style::DIM,
    };
    let mark: String =
        line.chars().take(1).filter(|mark| matches!(mark, '+' | '-' | ' ')).collect();
    let text = spaces_seen(&clean(&line[mark.len()..]));
    for (part, piece) in chop(&text, room - mark.len()).into_iter().enumerate() {
        // The mark is repeated, so that a continued line is not taken for one that was not
        // changed.
        let joint = if part == 0 { "" } else { "┊" };
        let piece = if part == 0 { piece } else { format!("{joint}{piece}") };
        rows.push(vec![
            Span::new(INDENT, Style::PLAIN),
            Span::new(&format!("{mark}{piece}"), style),
        ]);
    }
    rows
}

/// A tab and spaces at the end are often all that a change is about.
fn spaces_seen(text: &str) -> String {
    let kept = text.trim_end_matches(' ');
    format!("{}{}", kept.replace('\t', "→   "), "·".repeat(text.len() - kept.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::visible;
    use crate::wrap::width;

    const DIFF: &str = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-\tone\u{1b}[2J\n+two, a line that is \
        longer than the room\n same  ";

    #[test]
    fn every_line_keeps_its_mark_and_fits() {
        let rows = diff_lines(DIFF, Look::new(24, false));
        assert_eq!(
            rows,
            [
                "  @@ -1,2 +1,2 @@",
                "  -→   one␛[2J",
                "  +two, a line that is",
                "  +┊longer than the room",
                "   same··",
            ]
        );
        assert!(rows.iter().all(|row| width(row) <= 24));
        let coloured = diff_lines(DIFF, Look::new(24, true));
        assert_eq!(coloured.iter().map(|row| visible(row)).collect::<Vec<_>>(), rows);
        assert!(
            coloured[1].contains("\u{1b}[31m") && coloured[2].contains("\u{1b}[36m"),
            "{coloured:?}"
        );
    }

    #[test]
    fn a_long_diff_says_what_is_missing() {
        let long = format!("--- a/f\n+++ b/f\n@@ -0,0 +1,50 @@\n{}", "+x\n".repeat(50));
        let rows = diff_lines(&long, Look::new(80, false));
        assert_eq!((rows.len(), rows[ROWS_MAX].as_str()), (ROWS_MAX + 1, "  … and 11 more rows"));
        let one_more = format!("--- a/f\n+++ b/f\n{}", "+x\n".repeat(ROWS_MAX + 1));
        let rows = diff_lines(&one_more, Look::new(80, false));
        assert_eq!(rows.last().map(String::as_str), Some("  … and 1 more row"));
        assert!(diff_lines("", Look::new(80, false)).is_empty());
    }
}
