//! How a question to a human looks on the console: as short as it gets, and the whole of it. Owns
//! the frame; must not know how an answer is read, or what a question says (`doors/brief.rs`).

use crate::domain::{Answer, Mode, Question, Scope, Term};
use crate::doors::brief::{Block, arguments_left_out, brief};
use crate::doors::clock::Clock;
use crate::doors::input_answers;

use super::call_list_view;
use super::diff::changed_rows;
use super::style::{Line, Look, Span, Style, paint_line};
use super::wrap::{Long, chop, width, wrap};
use crate::doors::clean::clean;

/// Rows of the frame beside effect, notes and call: the answers.
const FRAME_ROWS: usize = 1;

/// The question as lines, without line feeds, and the keys of the answers. `number` is what a
/// person types to answer this one of several.
pub fn question_lines(question: &Question, number: Option<usize>, look: Look) -> Vec<String> {
    if question.list.is_some() {
        return call_list_view::list_lines(question, number, look);
    }
    let label = number.map(|number| format!("(question {number})"));
    let (mut rows, left_out) = brief_rows(question, label.as_deref(), look);
    if question.input.is_some() {
        rows.extend(value_keys(question, left_out, look));
        return rows;
    }
    rows.push(keys(question, left_out, look));
    rows
}

/// The question without its answers, behind `label`, for a list.
pub fn brief_lines(question: &Question, label: &str, look: Look) -> Vec<String> {
    if question.list.is_some() {
        return call_list_view::brief_list_lines(question, label, look);
    }
    brief_rows(question, Some(label), look).0
}

/// The rows, and whether a part of the call is not in them.
fn brief_rows(question: &Question, label: Option<&str>, look: Look) -> (Vec<String>, bool) {
    let brief = brief(question, look.width, FRAME_ROWS);
    let mut lines: Vec<Line> = Vec::new();
    let mut title = Vec::new();
    if let Some(label) = label {
        title.push(Span::new(&format!("{label} "), Style::DIM));
    }
    if brief.danger {
        title.push(Span::new("⚠ ", Style::RED.with(Style::BOLD)));
    }
    let style = if brief.danger { Style::RED.with(Style::BOLD) } else { Style::BOLD };
    title.push(Span::new(&one_row(&brief.says), style));
    hang(&mut lines, Span::new("? ", Style::YELLOW.with(Style::BOLD)), &title, look);
    for note in &brief.notes {
        hang(
            &mut lines,
            Span::new("  ", Style::PLAIN),
            &[Span::new(&one_row(note), Style::DIM)],
            look,
        );
    }
    let mut rows: Vec<String> = lines.iter().map(|line| paint_line(line, look)).collect();
    for block in &brief.blocks {
        rows.extend(block_rows(block, look));
    }
    if brief.blocks_left_out > 0 {
        rows.push(remark(&arguments_left_out(brief.blocks_left_out), look));
    }
    (rows, brief.left_out)
}

fn block_rows(block: &Block, look: Look) -> Vec<String> {
    let lines = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .flat_map(|line| match block.name {
                None => changed_rows(line, look),
                Some(_) => value_rows(line, look),
            })
            .collect()
    };
    let mut rows = Vec::new();
    if let Some(name) = &block.name {
        let name = one_row(name);
        let columns = look.width.saturating_sub(4).max(10);
        if block.is_one_line() && block.rows(columns) == 1 {
            let value = visible_end(&clean(&block.head.concat()).replace('\t', "␉"));
            let spans = [
                Span::new(&format!("  {name} "), Style::BOLD),
                Span::new("│ ", Style::DIM),
                Span::new(&value, Style::PLAIN),
            ];
            return vec![paint_line(&spans, look)];
        }
        rows.push(paint_line(&[Span::new(&format!("  {name}"), Style::BOLD)], look));
    }
    rows.extend(lines(&block.head));
    rows.extend(block.gap.map(|gap| remark(&gap.says(), look)));
    rows.extend(lines(&block.tail));
    rows
}

/// A line of a value on as many rows as it needs: `│` starts it, `┊` continues it.
fn value_rows(line: &str, look: Look) -> Vec<String> {
    let text = clean(line).replace('\t', "␉");
    let rows = chop(&text, look.width.saturating_sub(4).max(10));
    let bar = |part: usize| if part == 0 { "  │ " } else { "  ┊ " };
    rows.iter()
        .enumerate()
        .map(|(part, text)| {
            let value = Span::new(&visible_end(text), Style::PLAIN);
            paint_line(&[Span::new(bar(part), Style::DIM), value], look)
        })
        .collect()
}

pub(super) fn remark(text: &str, look: Look) -> String {
    paint_line(&[Span::new(&format!("  {text}"), Style::DIM)], look)
}

/// What answers a question for a value: each choice with its key, and what is typed.
fn value_keys(question: &Question, left_out: bool, look: Look) -> Vec<String> {
    let mut lines = Vec::new();
    let mut spans = Vec::new();
    for choice in &question.choices {
        let (key, label) = (one_row(&choice.key), one_row(&choice.label));
        spans.push(Span::new(&key, Style::BOLD.with(Style::CYAN)));
        let label = if label.to_lowercase() == key { String::new() } else { format!(" {label}") };
        spans.push(Span::new(&format!("{label} · "), Style::PLAIN));
    }
    spans.push(Span::new(if left_out { "? all of it" } else { "? more" }, Style::DIM));
    if let Some(wants) = input_answers::typed(question) {
        let text = Span::new(&format!("Type {}.", one_row(&wants)), Style::PLAIN);
        hang(&mut lines, Span::new("  ", Style::PLAIN), &[text], look);
    }
    hang(&mut lines, Span::new("  ", Style::PLAIN), &spans, look);
    lines.iter().map(|line| paint_line(line, look)).collect()
}

/// The keys of the answers in one row: yes and no first, then what fits. `?` shows all of them, and
/// all of the call.
fn keys(question: &Question, left_out: bool, look: Look) -> String {
    let more = if left_out { "? all of it" } else { "? more" };
    let mut room = look.width.saturating_sub(2 + width(more));
    let mut spans = vec![Span::new("  ", Style::PLAIN)];
    let yes_and_no = |answer: &Answer| is_once(answer) || matches!(answer, Answer::Deny { .. });
    let (first, others): (Vec<_>, Vec<_>) = question
        .choices
        .iter()
        .filter(|choice| !choice.key.contains(' '))
        .partition(|choice| yes_and_no(&choice.answer));
    let offer = question.effect.as_ref().and_then(|effect| effect.offer.as_deref());
    let (offered, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|choice| Some(choice.key.as_str()) == offer);
    for choice in first.into_iter().chain(offered).chain(others) {
        let is_offered = Some(choice.key.as_str()) == offer;
        let Some(label) = key_label(&choice.answer, is_offered) else { continue };
        let (key, label) = (one_row(&choice.key), one_row(&label));
        let takes = width(&key) + width(&label) + 4;
        if takes > room {
            continue;
        }
        room -= takes;
        spans.push(Span::new(&key, Style::BOLD.with(Style::CYAN)));
        spans.push(Span::new(&format!(" {label} · "), Style::PLAIN));
    }
    spans.push(Span::new("?", Style::BOLD.with(Style::CYAN)));
    spans.push(Span::new(&more[1..], Style::PLAIN));
    paint_line(&spans, look)
}

fn is_once(answer: &Answer) -> bool {
    matches!(answer, Answer::Allow { term: Term::Once, .. })
}

/// What stands beside a key. The widest grants, and what forbids permanently, are read first: they
/// stand behind `?` alone, but for the one that claw offers.
fn key_label(answer: &Answer, is_offered: bool) -> Option<String> {
    let (term, scope) = match answer {
        Answer::Allow { term: Term::Once, .. } => return Some("yes".to_owned()),
        Answer::Deny { .. } => return Some("no".to_owned()),
        Answer::Allow { term: Term::Session, scope } => ("this session", scope),
        Answer::Allow { term: Term::Always, scope } if is_offered => ("always", scope),
        Answer::Allow { .. }
        | Answer::Never
        | Answer::Press { .. }
        | Answer::Pick { .. }
        | Answer::Give { .. }
        | Answer::Skip => return None,
    };
    let what = match scope {
        Scope::Exact => "same,".to_owned(),
        Scope::Below { path } => format!("below {path},"),
        Scope::Files { path } if path.is_empty() => "edits anywhere here,".to_owned(),
        Scope::Files { path } => format!("edits below {path},"),
        Scope::Command { words } => format!("any {},", words.join(" ")),
        Scope::Hosts { hosts } => format!("any to {},", hosts.join(", ")),
        Scope::Mode { mode: Mode::Edits } => "all edits,".to_owned(),
        Scope::Mode { mode: Mode::Work } => "mode work,".to_owned(),
        Scope::Mode { mode: Mode::Ask } => return None,
    };
    Some(format!("{what} {term}"))
}

/// The widest name of an argument that stands beside its value.
const NAME_COLUMNS_MAX: usize = 16;

/// The whole question, with every argument and what each answer means.
pub fn whole_lines(
    question: &Question,
    number: Option<usize>,
    look: Look,
    clock: &Clock,
) -> Vec<String> {
    if question.list.is_some() {
        return call_list_view::whole_list_lines(question, number, look, clock);
    }
    let mut lines: Vec<Line> = Vec::new();
    let label = number.map(|number| format!(" (question {number})")).unwrap_or_default();
    let (before, behind) = match question.input.is_some() {
        true => ("", " runs, and asks"),
        false => ("May ", " run this?"),
    };
    let title = [
        Span::new(before, Style::PLAIN),
        Span::new(
            &format!("{}/{}", one_row(&question.server), one_row(&question.tool)),
            Style::BOLD,
        ),
        Span::new(&format!("{behind}{label}"), Style::PLAIN),
    ];
    hang(&mut lines, Span::new("? ", Style::YELLOW.with(Style::BOLD)), &title, look);
    let mut rows: Vec<String> = Vec::new();
    if let Some(effect) = &question.effect {
        let danger = if effect.danger { "⚠ " } else { "" };
        let says = format!("{danger}{}", effect.says);
        for line in std::iter::once(&says).chain(&effect.notes).chain(&effect.asker) {
            let text = Span::new(&one_row(line), Style::PLAIN);
            hang(&mut lines, Span::new("  ", Style::PLAIN), &[text], look);
        }
        rows.extend(lines.drain(..).map(|line| paint_line(&line, look)));
        rows.extend(effect.difference.lines().flat_map(|line| changed_rows(line, look)));
    }
    arguments(&mut lines, question, look);
    hang(
        &mut lines,
        Span::new("  why: ", Style::DIM),
        &[Span::new(&one_row(&question.why), Style::PLAIN)],
        look,
    );
    let until = format!("open until {}", clock.until(question.expires_at_ms));
    hang(&mut lines, Span::new("  ", Style::PLAIN), &[Span::new(&until, Style::DIM)], look);
    let keys =
        question.choices.iter().map(|choice| width(&one_row(&choice.key))).max().unwrap_or(0);
    for choice in &question.choices {
        let key = one_row(&choice.key);
        let label = format!("  {key}{}  ", " ".repeat(keys.saturating_sub(width(&key))));
        let grants = Span::new(&one_row(&choice.label), Style::PLAIN);
        hang(&mut lines, Span::new(&label, Style::BOLD.with(Style::CYAN)), &[grants], look);
    }
    rows.extend(lines.iter().map(|line| paint_line(line, look)));
    rows
}

/// Every argument whole.
pub fn arguments(lines: &mut Vec<Line>, question: &Question, look: Look) {
    if question.arguments.is_empty() {
        lines.push(vec![Span::new("  (no arguments)", Style::DIM)]);
    }
    // A longer name has a row of its own and does not push the values to the side.
    let fits = |name: &usize| *name <= NAME_COLUMNS_MAX.min(look.width / 4);
    let names = question
        .arguments
        .iter()
        .map(|(name, _)| width(&one_row(name)))
        .filter(fits)
        .max()
        .unwrap_or(0);
    for (name, value) in &question.arguments {
        argument(lines, name, value, names, look);
    }
}

/// Every character of the value, on as many rows as it needs: `│` starts a line of the value, `┊`
/// continues it.
pub fn argument(lines: &mut Vec<Line>, name: &str, value: &str, names: usize, look: Look) {
    let name = one_row(name);
    let own_row = width(&name) > names;
    if own_row {
        lines.push(vec![Span::new(&format!("  {name}"), Style::BOLD)]);
    }
    let room = look.width.saturating_sub(names + 6).max(10);
    let mut label = if own_row { String::new() } else { name };
    for row in clean(value).replace('\t', "␉").split('\n') {
        for (part, text) in chop(row, room).iter().enumerate() {
            let pad = " ".repeat(names.saturating_sub(width(&label)));
            let bar = if part == 0 { "│ " } else { "┊ " };
            lines.push(vec![
                Span::new(&format!("  {label}{pad}  "), Style::BOLD),
                Span::new(bar, Style::DIM),
                Span::new(&visible_end(text), Style::PLAIN),
            ]);
            label.clear();
        }
    }
}

/// Spaces at the end of a row would be lost to the eye.
fn visible_end(row: &str) -> String {
    let text = row.trim_end();
    format!("{text}{}", "·".repeat(row[text.len()..].chars().count()))
}

pub fn one_row(text: &str) -> String {
    clean(text).replace('\n', "␊").replace('\t', "␉")
}

/// A label and a text beside it, wrapped under its own start.
pub fn hang(lines: &mut Vec<Line>, label: Span, text: &[Span], look: Look) {
    let indent = width(label.text());
    for (index, row) in
        wrap(text, look.width.saturating_sub(indent).max(10), Long::Break).into_iter().enumerate()
    {
        let start =
            if index == 0 { label.clone() } else { Span::new(&" ".repeat(indent), Style::PLAIN) };
        lines.push(std::iter::once(start).chain(row).collect());
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use claw_test_kit::question;

    #[test]
    fn arguments_are_shown_whole() {
        let mut question = question();
        let value = format!("first  line \n{}\u{1b}[2J\u{202e}", "x".repeat(200));
        question.arguments = vec![("content".into(), value)];
        let lines = whole_lines(
            &question,
            None,
            Look::new(40, false),
            &Clock { now_ms: 0, zone: TimeZone::UTC },
        );
        assert!(lines.iter().all(|line| width(line) <= 40), "{lines:#?}");
        let shown: String = lines
            .iter()
            .filter_map(|line| line.split_once(['│', '┊']))
            .map(|(_, text)| &text[1..])
            .collect();
        assert_eq!(shown, format!("first  line·{}␛[2J<U+202E>", "x".repeat(200)));
    }
}
