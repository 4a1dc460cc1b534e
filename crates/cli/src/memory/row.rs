//! One note in a list: on one line where there is room, else on two, cut to the width of the
//! terminal. Pure. Must not know where the note comes from.

use serde_json::Value;

use super::{of_agent, said};
use crate::out;
use crate::terminal::wrap::{head, width};

/// Columns that a note's words have at least beside its id, kind and date; with fewer they stand on
/// a line of their own.
const WORDS_COLUMNS_MIN: usize = 30;
/// The shortest word that chooses the line of a note that is shown.
const WORD_CHARS_MIN: usize = 3;

/// The lines of a note that is named by `id`. Of several lines of text the first is shown that
/// holds one of the words. Without columns nothing is cut.
pub fn lines(note: &Value, id: &str, looked_for: &str, columns: Option<usize>) -> Vec<String> {
    let front = out::clean(&format!("{id:<12} {:<10} {}", said(note, "kind"), said(note, "date")));
    let gone = if note.get("superseded_by").is_some() { " (no longer so)" } else { "" };
    let behind = out::clean(&format!("{gone}{}", of_agent(note)));
    let words = out::clean(&words(note, looked_for));
    let fitted =
        |room: usize| format!("{}{behind}", head(&words, room.saturating_sub(width(&behind))));
    let mut lines = match columns {
        None => vec![format!("{front}  {words}{behind}")],
        Some(columns) if columns >= width(&front) + 2 + WORDS_COLUMNS_MIN => {
            vec![format!("{front}  {}", fitted(columns - width(&front) - 2))]
        }
        Some(columns) => vec![front, format!("  {}", fitted(columns.saturating_sub(2)))],
    };
    let why = said(note, "why");
    let why = (!why.is_empty()).then(|| format!("  ↳ {why}"));
    for line in why.into_iter().chain(to_mend(note)) {
        let line = out::clean(&line);
        lines.push(columns.map_or(line.clone(), |columns| head(&line, columns)));
    }
    lines
}

/// What its owner has to do with the file by hand.
fn to_mend(note: &Value) -> Option<String> {
    let fault = said(note, "fault");
    match (fault, note["is_conflict_copy"] == true) {
        ("", false) => None,
        ("", true) => Some("  ! a conflict copy, which is not searched; merge it by hand".into()),
        (fault, _) => Some(format!("  ! mend it by hand: {fault}")),
    }
}

/// `Anna: Lives in Graz.`, or the text alone where it begins with what it is about.
fn words(note: &Value, looked_for: &str) -> String {
    let subject = said(note, "subject");
    let text = match said(note, "text") {
        "" => said(note, "begins"),
        text => text,
    };
    let holds_one = |line: &str| {
        let line = line.to_lowercase();
        let long =
            looked_for.split_whitespace().filter(|word| word.chars().count() >= WORD_CHARS_MIN);
        long.map(str::to_lowercase).any(|word| line.contains(&word))
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let line = lines.find(|line| holds_one(line)).unwrap_or(first);
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match (line.is_empty(), line.starts_with(subject)) {
        (true, _) => subject.to_owned(),
        (_, true) => line,
        _ => format!("{subject}: {line}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn note(text: &str) -> Value {
        json!({"kind": "preference", "date": "2026-11-23", "subject": "Anna", "begins": text})
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_what_is_cut_says_so() {
        let long = note(&"Lives in Graz, near the park. ".repeat(9));
        for columns in [20, 40, 80, 120] {
            let lines = lines(&long, "m7k2x9qd4wa", "", Some(columns));
            let line = lines.last().unwrap();
            assert!(width(line) <= columns && line.ends_with('…'), "{columns}: {line}");
        }
        assert_eq!(
            lines(&note("Lives in Graz."), "m7k2x9qd4wa", "", Some(40)),
            ["m7k2x9qd4wa  preference 2026-11-23", "  Anna: Lives in Graz."]
        );
        assert_eq!(
            lines(&note("Lives in Graz."), "m7k2x9qd4wa", "", Some(80)),
            ["m7k2x9qd4wa  preference 2026-11-23  Anna: Lives in Graz."]
        );
        assert!(lines(&long, "m7k2x9qd4wa", "", None)[0].ends_with("near the park."));
    }

    #[test]
    fn what_came_by_a_link_says_so_and_what_is_no_longer_so_is_not_cut_away() {
        let mut linked = note(&"Lives in Graz. ".repeat(9));
        linked["why"] = "it is linked from Bob (friend)".into();
        linked["superseded_by"] = "m2".into();
        let lines = lines(&linked, "m1", "", Some(60));
        assert!(lines[0].ends_with("… (no longer so)") || lines[1].ends_with("… (no longer so)"));
        assert_eq!(lines.last().unwrap(), "  ↳ it is linked from Bob (friend)");
    }

    #[test]
    fn what_has_to_be_mended_says_so() {
        let mut broken = note("words");
        broken["fault"] = "its front matter is no YAML: line 2".into();
        assert_eq!(
            lines(&broken, "torn.md", "", Some(80)).last().unwrap(),
            "  ! mend it by hand: its front matter is no YAML: line 2"
        );
        assert!(lines(&broken, "torn.md", "", Some(40)).iter().all(|line| width(line) <= 40));
        let mut copy = note("words");
        copy["is_conflict_copy"] = true.into();
        assert!(lines(&copy, "a (conflicted copy).md", "", None)[1].contains("merge it by hand"));
        assert_eq!(lines(&note("words"), "m1", "", None).len(), 1);
    }

    #[test]
    fn the_line_that_holds_a_word_is_shown() {
        let mut hit = note("");
        hit["text"] = "First line.\n\nAnna keeps the BOILER clean.".into();
        assert_eq!(words(&hit, "boiler"), "Anna keeps the BOILER clean.");
        assert_eq!(words(&hit, "is it"), "Anna: First line.");
    }
}
