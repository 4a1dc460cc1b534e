//! What a list looks like: an aligned table for a person, one JSON object a line for a program. Owns column widths and the
//! form of times; must not know what is listed.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::domain::UnixMillis;

/// Columns between two cells.
const GAP: usize = 2;
/// A column is not made narrower than this to fit the terminal.
const COLUMN_MIN: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum JsonLineError {
    #[error("a list's row cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
    #[error("a list's row must be a JSON object")]
    NotAnObject,
}

/// One row for a program: `value`'s fields with `"id"` before them. Characters that could drive a terminal are escaped.
pub fn json_line(id: &str, value: &impl Serialize) -> Result<String, JsonLineError> {
    let Value::Object(fields) = serde_json::to_value(value)? else { return Err(JsonLineError::NotAnObject) };
    let mut row = serde_json::Map::new();
    row.insert("id".to_owned(), Value::from(id));
    row.extend(fields.into_iter().filter(|(name, _)| name != "id"));
    let text = serde_json::to_string(&Value::Object(row))?;
    Ok(text.chars().map(|c| if is_hidden(c) { json_escape(c) } else { c.to_string() }).collect())
}

/// A table of left-aligned cells under a header. Cells are wrapped, never cut; the last line has no white space at its end.
#[derive(Debug, Default)]
pub struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; control characters in it are made visible. Missing cells are empty, surplus ones are kept.
    pub fn row<Cell: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().map(|cell| clean(cell.as_ref())).collect());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All lines, each with a line feed. No line is wider than `columns`, unless the columns alone need more.
    pub fn text(&self, columns: usize) -> String {
        let count = self.rows.iter().map(Vec::len).chain([self.header.len()]).max().unwrap_or(0);
        let widths = self.widths(count, columns);
        let header: Vec<String> = self.header.iter().map(|title| (*title).to_owned()).collect();
        let mut out = String::new();
        for row in std::iter::once(&header).chain(&self.rows) {
            let cells: Vec<Vec<String>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| wrap(row.get(column).map_or("", String::as_str), *width))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for part in 0..height {
                let mut line = String::new();
                for (cell, width) in cells.iter().zip(&widths) {
                    let text = cell.get(part).map_or("", String::as_str);
                    line.push_str(text);
                    line.push_str(&" ".repeat(width.saturating_sub(text.width()) + GAP));
                }
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
        out
    }

    fn widths(&self, count: usize, columns: usize) -> Vec<usize> {
        let natural: Vec<usize> = (0..count)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
                let longest = |cell: &str| cell.lines().map(|line| line.width()).max().unwrap_or(0);
                cells.chain(self.header.get(column).copied()).map(longest).max().unwrap_or(0)
            })
            .collect();
        let room = columns.saturating_sub(GAP * count.saturating_sub(1));
        let fits = |cap: usize| natural.iter().map(|width| (*width).min(cap)).sum::<usize>() <= room;
        let cap = (COLUMN_MIN..=room.max(COLUMN_MIN)).rev().find(|cap| fits(*cap)).unwrap_or(COLUMN_MIN);
        natural.into_iter().map(|width| width.min(cap)).collect()
    }
}

/// `14:05:09` of today, else `2026-11-20 14:05`.
pub fn local_time(at_ms: UnixMillis, now_ms: UnixMillis, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(at_ms).map(|at| at.to_zoned(zone.clone()));
    let now = Timestamp::from_millisecond(now_ms).map(|now| now.to_zoned(zone.clone()));
    match (at, now) {
        (Ok(at), Ok(now)) if at.date() == now.date() => at.strftime("%H:%M:%S").to_string(),
        (Ok(at), _) => at.strftime("%Y-%m-%d %H:%M").to_string(),
        (Err(_), _) => format!("{at_ms} ms"),
    }
}

/// `in 4 h`, `3 min ago`, `now`; whole units, rounded down.
pub fn relative_time(at_ms: UnixMillis, now_ms: UnixMillis) -> String {
    let seconds = (i128::from(at_ms) - i128::from(now_ms)) / 1000;
    let amount = match seconds.unsigned_abs() {
        0 => return "now".to_owned(),
        s @ 1..60 => format!("{s} s"),
        s @ 60..3_600 => format!("{} min", s / 60),
        s @ 3_600..172_800 => format!("{} h", s / 3_600),
        s => format!("{} days", s / 86_400),
    };
    if seconds > 0 { format!("in {amount}") } else { format!("{amount} ago") }
}

/// Makes control, bidirectional and other invisible characters visible; line feeds stay and tabs become spaces.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            c if is_hidden(c) => out.push_str(&format!("<U+{:04X}>", c as u32)),
            c => out.push(c),
        }
    }
    out
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}'
            | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

fn json_escape(c: char) -> String {
    let mut units = [0_u16; 2];
    c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Breaks at spaces where it can and keeps every character but the space at the break.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let mut row = String::new();
        for word in line.split_inclusive(' ') {
            if !row.is_empty() && row.width() + word.trim_end().width() > columns {
                rows.push(std::mem::take(&mut row));
            }
            for cluster in word.graphemes(true) {
                if row.width() + cluster.width() > columns && cluster != " " {
                    rows.push(std::mem::take(&mut row));
                }
                row.push_str(cluster);
            }
        }
        rows.push(row);
    }
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table() -> Table {
        let mut table = Table::new(&["ID", "TOOL", "ARGUMENTS"]);
        table.row(["q1", "bash · run", "command: find . -name '*.rs' -newer Cargo.toml\u{1b}[2J"]);
        table.row(["q2", "日本 · 語", "日本語日本語日本語日本語日本語日本語日本語日本語"]);
        table
    }

    #[test]
    fn columns_are_aligned_and_nothing_is_cut() {
        let wide = table().text(100);
        assert_eq!(
            wide,
            "ID  TOOL        ARGUMENTS\n\
             q1  bash · run  command: find . -name '*.rs' -newer Cargo.toml<U+001B>[2J\n\
             q2  日本 · 語   日本語日本語日本語日本語日本語日本語日本語日本語\n"
        );
        let narrow = table().text(40);
        assert!(narrow.lines().all(|line| line.width() <= 40), "{narrow}");
        let letters = |text: &str| {
            let mut all: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(letters(&narrow), letters(&wide));
    }

    #[test]
    fn a_json_line_starts_with_its_id_and_is_safe_to_print() {
        let line = json_line("q1", &json!({"tool": "a\u{1b}\u{9b}\u{202e}\u{e0041}\n", "id": "other"})).unwrap();
        assert_eq!(line, r#"{"id":"q1","tool":"a\u001b\u009b\u202e\udb40\udc41\n"}"#);
        let back: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(back["tool"], "a\u{1b}\u{9b}\u{202e}\u{e0041}\n");
        assert!(json_line("q1", &[1]).is_err());
    }

    #[test]
    fn times_are_told_as_people_tell_them() {
        let now = 1_795_000_000_000;
        assert_eq!(relative_time(now + 4 * 3_600_000, now), "in 4 h");
        assert_eq!(relative_time(now - 90_000, now), "1 min ago");
        assert_eq!(relative_time(now - 200_000_000, now), "2 days ago");
        assert_eq!(relative_time(i64::MIN, i64::MAX), "213503982334 days ago");
        assert_eq!(local_time(now, now, &TimeZone::UTC), "11:06:40");
        assert_eq!(local_time(now - 86_400_000, now, &TimeZone::UTC), "2026-11-17 11:06");
        assert_eq!(local_time(i64::MAX, now, &TimeZone::UTC), format!("{} ms", i64::MAX));
    }
}
