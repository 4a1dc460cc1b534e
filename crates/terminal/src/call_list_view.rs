//! How a question about several calls looks on the console: as short as it gets, and all of it.
//! Must not know how an answer is read, or which lines there is room for (`doors/call_list.rs`).

use crate::domain::{Answer, Question, Scope, Term};
use crate::doors::call_list::{ListBrief, always_for, list_brief, texts_left_out, whole_list};
use crate::doors::clock::Clock;

use super::question_view::{hang, one_row, remark};
use super::style::{Line, Look, Span, Style, paint_line};
use super::wrap::width;

/// Rows of the frame beside the list: the answers.
const FRAME_ROWS: usize = 1;

/// The list and the keys of its answers. `number` is there where several questions are open.
pub(super) fn list_lines(question: &Question, number: Option<usize>, look: Look) -> Vec<String> {
    let label = number.map(|number| format!("(question {number})"));
    let Some(brief) = list_brief(question, look.width, FRAME_ROWS) else { return Vec::new() };
    let more = brief.more;
    let mut rows = list_rows(&brief, label.as_deref(), look);
    rows.push(keys(question, more, look));
    rows
}

/// The list without its answers, behind `label`.
pub(super) fn brief_list_lines(question: &Question, label: &str, look: Look) -> Vec<String> {
    let brief = list_brief(question, look.width, FRAME_ROWS);
    brief.map(|brief| list_rows(&brief, Some(label), look)).unwrap_or_default()
}

/// Every call, and what each answer means.
pub(super) fn whole_list_lines(
    question: &Question,
    number: Option<usize>,
    look: Look,
    clock: &Clock,
) -> Vec<String> {
    let label = number.map(|number| format!("(question {number})"));
    let Some(whole) = whole_list(question) else { return Vec::new() };
    let mut rows = list_rows(&whole, label.as_deref(), look);
    let mut lines: Vec<Line> = Vec::new();
    let until = format!("open until {}", clock.until(question.expires_at_ms));
    hang(&mut lines, Span::new("  ", Style::PLAIN), &[Span::new(&until, Style::DIM)], look);
    let choices = question.choices.iter();
    let choices = choices.filter(|choice| !matches!(choice.answer, Answer::Pick { .. }));
    let keys = choices.map(|choice| (choice.key.as_str(), choice.label.as_str()));
    let picks = [("1 3-5", "yes to these alone, this once"), ("-2", "no to that one")];
    for (key, label) in keys.chain(picks) {
        let key = format!("  {}{}  ", one_row(key), " ".repeat(5_usize.saturating_sub(width(key))));
        let key = Span::new(&key, Style::BOLD.with(Style::CYAN));
        hang(&mut lines, key, &[Span::new(&one_row(label), Style::PLAIN)], look);
    }
    rows.extend(lines.iter().map(|line| paint_line(line, look)));
    rows
}

fn list_rows(list: &ListBrief, label: Option<&str>, look: Look) -> Vec<String> {
    let mut lines: Vec<Line> = Vec::new();
    let mut title = Vec::new();
    if let Some(label) = label {
        title.push(Span::new(&format!("{label} "), Style::DIM));
    }
    title.push(Span::new(&one_row(&list.title), Style::BOLD));
    hang(&mut lines, Span::new("? ", Style::YELLOW.with(Style::BOLD)), &title, look);
    if let Some(asker) = &list.asker {
        let asker = [Span::new(&one_row(asker), Style::DIM)];
        hang(&mut lines, Span::new("  ", Style::PLAIN), &asker, look);
    }
    for line in &list.lines {
        let number = Span::new(&format!("{:>2}  ", line.number), Style::BOLD.with(Style::CYAN));
        let style = match (line.mark.is_empty(), line.danger) {
            (false, _) => Style::DIM,
            (true, true) => Style::RED.with(Style::BOLD),
            (true, false) => Style::PLAIN,
        };
        hang(&mut lines, number, &[Span::new(&one_row(&line.says()), style)], look);
        let texts = line.text.iter().flat_map(|text| &text.lines);
        for text in texts {
            let text = [Span::new(&one_row(text), Style::DIM)];
            hang(&mut lines, Span::new("    │ ", Style::DIM), &text, look);
        }
    }
    let mut rows: Vec<String> = lines.drain(..).map(|line| paint_line(&line, look)).collect();
    if list.left_out > 0 {
        rows.push(remark(&format!("… and {} more of this kind", list.left_out), look));
    }
    rows.extend(texts_left_out(list).map(|text| remark(&text, look)));
    for note in &list.notes {
        let note = [Span::new(&one_row(note), Style::DIM)];
        hang(&mut lines, Span::new("  ", Style::PLAIN), &note, look);
    }
    rows.extend(lines.iter().map(|line| paint_line(line, look)));
    rows
}

/// The keys of the answers in one row: all and none first, then what fits.
fn keys(question: &Question, left_out: bool, look: Look) -> String {
    let some = match question.list.as_ref().map_or(0, |list| list.items.len()) {
        ..=2 => "1",
        3..=4 => "1 3",
        _ => "1 3-5",
    };
    let more = if left_out { "show all" } else { "more" };
    let mut keys = vec![("y".to_owned(), "all".to_owned()), ("n".into(), "none".into())];
    keys.push((some.to_owned(), "these".into()));
    keys.extend(question.choices.iter().filter_map(|choice| match &choice.answer {
        Answer::Allow { scope: Scope::Mode { mode }, .. } => {
            Some((one_row(&choice.key), format!("all, mode {mode}")))
        }
        Answer::Allow { term: Term::Always, .. } => {
            Some((one_row(&choice.key), format!("all, {}", always_for(question))))
        }
        _ => None,
    }));
    let mut room = look.width.saturating_sub(3 + width(more));
    let mut spans = vec![Span::new("  ", Style::PLAIN)];
    for (key, label) in keys {
        let takes = width(&key) + width(&label) + 4;
        if takes <= room {
            room -= takes;
            spans.push(Span::new(&key, Style::BOLD.with(Style::CYAN)));
            spans.push(Span::new(&format!(" {label} · "), Style::PLAIN));
        }
    }
    spans.push(Span::new("?", Style::BOLD.with(Style::CYAN)));
    spans.push(Span::new(&format!(" {more}"), Style::PLAIN));
    paint_line(&spans, look)
}
