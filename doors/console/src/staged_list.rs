//! How a list of what is staged looks on the console: every item with the server's words, server,
//! tool, all arguments and what to type. Must not know how a line is read.

use crate::domain::{Question, Staged};
use crate::doors::brief::brief;
use crate::doors::clock::Clock;
use crate::doors::staged_questions::{count, group, in_our_words, label};

use super::staged_answers::Open;
use crate::terminal::diff::changed_lines;
use crate::terminal::question_view::{argument, arguments, hang, one_row};
use crate::terminal::style::{Line, Look, Span, Style, paint_line};
use crate::terminal::wrap::width;

/// Rows of the frame beside effect, notes and call: the answers.
const FRAME_ROWS: usize = 1;

/// The list as lines, without line feeds.
pub(super) fn staged_lines(list: &[Open], look: Look, clock: &Clock) -> Vec<String> {
    let mut lines: Vec<Line> = Vec::new();
    let items = list.iter().filter(|open| !open.is_buttons()).count();
    let title = if items > 0 { count(items) } else { "Buttons".to_owned() };
    let note = if items > 0 { ": nothing of it is done yet" } else { "" };
    let title = [Span::new(&title, Style::BOLD), Span::new(note, Style::PLAIN)];
    hang(&mut lines, Span::new("? ", Style::YELLOW.with(Style::BOLD)), &title, look);
    for open in list {
        match &open.question.staged {
            Some(Staged::Item { summary, .. }) => item(&mut lines, open, summary, look, clock),
            Some(staged) => buttons(&mut lines, open, staged, look, clock),
            None => {}
        }
    }
    lines.push(Vec::new());
    hang(&mut lines, Span::new("  ", Style::PLAIN), &[Span::new(&hint(list), Style::DIM)], look);
    lines.iter().map(|line| paint_line(line, look)).collect()
}

fn item(lines: &mut Vec<Line>, open: &Open, summary: &str, look: Look, clock: &Clock) {
    let question = &open.question;
    lines.push(Vec::new());
    let number = Span::new(&format!("{} ", open.number), Style::BOLD.with(Style::CYAN));
    if in_our_words(question) {
        return in_brief(lines, open, number, look, clock);
    }
    // In quotation marks, because they are the server's own words.
    hang(lines, number, &[Span::new(&format!("“{}”", one_row(summary)), Style::BOLD)], look);
    let group = question
        .staged
        .as_ref()
        .and_then(group)
        .map(|group| format!(" · group {}", one_row(&group)));
    let call = format!(
        "{}/{}{}",
        one_row(&question.server),
        one_row(&question.tool),
        group.unwrap_or_default()
    );
    hang(lines, Span::new("  ", Style::PLAIN), &[Span::new(&call, Style::PLAIN)], look);
    arguments(lines, question, look);
    open_until(lines, question, look, clock);
    let keys = [open.number.to_string(), format!("-{}", open.number)];
    let widest = keys.iter().map(|key| width(key)).max().unwrap_or(0);
    for (key, choice) in keys.iter().zip(&question.choices) {
        let Some(label) = label(question, choice) else { continue };
        let key_cell = format!("  {key}{}  ", " ".repeat(widest - width(key)));
        let quoted = label.quoted.map(|own| format!(" (its server calls it “{}”)", one_row(&own)));
        let text = format!("{}{}", one_row(&label.shown), quoted.unwrap_or_default());
        hang(
            lines,
            Span::new(&key_cell, Style::BOLD.with(Style::CYAN)),
            &[Span::new(&text, Style::PLAIN)],
            look,
        );
    }
}

/// Where claw says itself what a tap does: as short as every other question.
fn in_brief(lines: &mut Vec<Line>, open: &Open, number: Span, look: Look, clock: &Clock) {
    let question = &open.question;
    let brief = brief(question, look.width, FRAME_ROWS);
    hang(lines, number, &[Span::new(&one_row(&brief.says), Style::BOLD)], look);
    let indent = || Span::new("  ", Style::PLAIN);
    for note in &brief.notes {
        hang(lines, indent(), &[Span::new(&one_row(note), Style::DIM)], look);
    }
    // All of it, also what is long: here nothing asks for more.
    let difference = question.effect.iter().flat_map(|effect| effect.difference.lines());
    for line in difference {
        lines.extend(changed_lines(line, look));
    }
    let untold = |name: &str| question.effect.as_ref().is_none_or(|effect| !effect.tells(name));
    for (name, value) in question.arguments.iter().filter(|(name, _)| untold(name)) {
        argument(lines, name, value, width(name), look);
    }
    let key = |key: String| Span::new(&key, Style::BOLD.with(Style::CYAN));
    let labels: Vec<String> = question
        .choices
        .iter()
        .filter_map(|choice| label(question, choice))
        .map(|label| one_row(&label.shown))
        .collect();
    let [yes, no] = &labels[..] else { return };
    let until = format!(" · open until {}", clock.until(question.expires_at_ms));
    let row = [
        key(open.number.to_string()),
        Span::new(&format!(" {yes} · "), Style::PLAIN),
        key(format!("-{}", open.number)),
        Span::new(&format!(" {no}"), Style::PLAIN),
        Span::new(&until, Style::DIM),
    ];
    hang(lines, indent(), &row, look);
}

/// The arguments of such a question are the buttons: what each is called, and what it runs.
fn buttons(lines: &mut Vec<Line>, open: &Open, staged: &Staged, look: Look, clock: &Clock) {
    lines.push(Vec::new());
    let group = group(staged).map(|group| format!(" · group {}", one_row(&group)));
    let head = format!("buttons{}", group.unwrap_or_default());
    hang(lines, Span::new("  ", Style::PLAIN), &[Span::new(&head, Style::DIM)], look);
    let names = (open.number + open.question.choices.len()).to_string().len();
    for (index, choice) in open.question.choices.iter().enumerate() {
        let shown = label(&open.question, choice).map(|label| label.shown).unwrap_or_default();
        let runs = open.question.arguments.get(index).map_or(shown, |(_, runs)| runs.clone());
        argument(lines, &(open.number + index).to_string(), &runs, names, look);
    }
    open_until(lines, &open.question, look, clock);
}

fn open_until(lines: &mut Vec<Line>, question: &Question, look: Look, clock: &Clock) {
    let until = format!("open until {}", clock.until(question.expires_at_ms));
    hang(lines, Span::new("  ", Style::PLAIN), &[Span::new(&until, Style::DIM)], look);
}

fn hint(list: &[Open]) -> String {
    let numbers: Vec<usize> =
        list.iter().filter(|open| !open.is_buttons()).map(|open| open.number).collect();
    let mut hint = match numbers[..] {
        [] => String::new(),
        [one] if list.len() == 1 => {
            format!("`{one}` or `yes` confirms it, `-{one}` or `no` cancels it. ")
        }
        [one] => format!("`{one}` confirms it, `-{one}` cancels it. "),
        [first, second, ..] => format!(
            "`{first}` confirms that one, `{first} {second}` both, `-{first}` cancels it, `all` \
             and `none` are for every item. "
        ),
    };
    if let Some(open) = list.iter().find(|open| open.is_buttons()) {
        hint.push_str(&format!("`{}` presses that button. ", open.number));
    }
    hint.push_str("Anything else is a message, and this stays open.");
    hint
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use insta::assert_snapshot;
    use jiff::tz::TimeZone;

    use super::*;
    use crate::domain::{Answer, ApprovalId, CallId, Choice, Scope, SessionId, Term};
    use crate::staged_answers::StagedAnswers;

    fn question(
        staged: Staged,
        tool: &str,
        arguments: &[(&str, &str)],
        labels: &[&str],
    ) -> Question {
        let session = SessionId::new("main").unwrap();
        let answers = |index: usize| match (&staged, index) {
            (Staged::Buttons { .. }, _) => Answer::Press { index: index as u32 },
            (_, 0) => Answer::Allow { term: Term::Once, scope: Scope::Exact },
            _ => Answer::Deny { word: None },
        };
        let choice = |(index, label): (usize, &&str)| Choice {
            key: index.to_string(),
            label: (*label).into(),
            answer: answers(index),
        };
        Question {
            approval: ApprovalId(tool.into()),
            call: CallId::Reply { session: session.clone(), reply_seq: 3, block: 0 },
            session: Some(session),
            server: "shop".into(),
            tool: tool.into(),
            arguments: arguments
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            why: "the server `shop` proposes it".into(),
            effect: None,
            expires_at_ms: 1_795_000_000_000 + 4 * 3_600_000,
            choices: labels.iter().enumerate().map(choice).collect(),
            staged: Some(staged),
            list: None,
            input: None,
        }
    }

    fn list() -> Vec<Question> {
        let item = |summary: &str, group: Option<&str>, number| Staged::Item {
            summary: summary.into(),
            group: group.map(str::to_owned),
            number,
            of: 2,
        };
        vec![
            question(
                item(
                    "Add 2 apples to the cart, and have them brought on Tuesday\nor later",
                    Some("cart"),
                    1,
                ),
                "confirm_add",
                &[
                    ("item", "apples"),
                    (
                        "note",
                        "the red ones, please, and none that has been lying in the sun\nthank you",
                    ),
                ],
                &["Add to cart", "❌ Cancel"],
            ),
            question(item("Book", None, 2), "confirm_booking", &[], &["❌ Cancel", "Leave it"]),
            question(
                Staged::Buttons { group: Some("song".into()) },
                "staged_buttons",
                &[("1", "👍 Like  shop/like {\"id\":7}"), ("2", "More  shop/more {}")],
                &["👍 Like", "More"],
            ),
        ]
    }

    fn shown(questions: Vec<Question>, width: usize) -> String {
        let clock = Clock { now_ms: 1_795_000_000_000, zone: TimeZone::UTC };
        let lines = staged_lines(
            &StagedAnswers::default().stage(questions, Instant::now()),
            Look::new(width, false),
            &clock,
        );
        assert!(lines.iter().all(|line| super::width(line) <= width), "{lines:#?}");
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_list_at_80_and_40_columns() {
        assert_snapshot!(shown(list(), 80), @r#"
        ? Staged 2 items: nothing of it is done yet

        1 “Add 2 apples to the cart, and have them brought on Tuesday␊or later”
          shop/confirm_add · group cart
          item  │ apples
          note  │ the red ones, please, and none that has been lying in the sun
                │ thank you
          open until 15:06 (4 h)
          1   ✅ Confirm (its server calls it “Add to cart”)
          -1  ❌ Cancel

        2 “Book”
          shop/confirm_booking
          (no arguments)
          open until 15:06 (4 h)
          2   ✅ Confirm (its server calls it “❌ Cancel”)
          -2  ❌ Cancel (its server calls it “Leave it”)

          buttons · group song
          3  │ 👍 Like  shop/like {"id":7}
          4  │ More  shop/more {}
          open until 15:06 (4 h)

          `1` confirms that one, `1 2` both, `-1` cancels it, `all` and `none` are for
          every item. `3` presses that button. Anything else is a message, and this
          stays open.
        "#);
        assert_snapshot!(shown(list(), 40), @r#"
        ? Staged 2 items: nothing of it is done
          yet

        1 “Add 2 apples to the cart, and have
          them brought on Tuesday␊or later”
          shop/confirm_add · group cart
          item  │ apples
          note  │ the red ones, please, and none
                ┊  that has been lying in the su
                ┊ n
                │ thank you
          open until 15:06 (4 h)
          1   ✅ Confirm (its server calls it
              “Add to cart”)
          -1  ❌ Cancel

        2 “Book”
          shop/confirm_booking
          (no arguments)
          open until 15:06 (4 h)
          2   ✅ Confirm (its server calls it “
              ❌ Cancel”)
          -2  ❌ Cancel (its server calls it
              “Leave it”)

          buttons · group song
          3  │ 👍 Like  shop/like {"id":7}
          4  │ More  shop/more {}
          open until 15:06 (4 h)

          `1` confirms that one, `1 2` both,
          `-1` cancels it, `all` and `none` are
          for every item. `3` presses that
          button. Anything else is a message,
          and this stays open.
        "#);
    }

    #[test]
    fn one_item_or_only_buttons() {
        assert_snapshot!(shown(list().drain(1..2).collect(), 80), @r"
        ? Staged 1 item: nothing of it is done yet

        1 “Book”
          shop/confirm_booking
          (no arguments)
          open until 15:06 (4 h)
          1   ✅ Confirm (its server calls it “❌ Cancel”)
          -1  ❌ Cancel (its server calls it “Leave it”)

          `1` or `yes` confirms it, `-1` or `no` cancels it. Anything else is a message,
          and this stays open.
        ");
        assert_snapshot!(shown(list().drain(2..).collect(), 80), @r#"
        ? Buttons

          buttons · group song
          1  │ 👍 Like  shop/like {"id":7}
          2  │ More  shop/more {}
          open until 15:06 (4 h)

          `1` presses that button. Anything else is a message, and this stays open.
        "#);
    }

    /// What drives a terminal is made visible, and a line feed in a summary cannot begin a line
    /// that looks like ours.
    #[test]
    fn hostile_words_stay_in_their_place() {
        let hostile = "ok”\n2 “fine”\n\u{1b}[2J\u{202e}";
        let staged =
            Staged::Item { summary: hostile.into(), group: Some(hostile.into()), number: 1, of: 1 };
        let shown = shown(vec![question(staged, "t", &[("a", hostile)], &[hostile, hostile])], 80);
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        assert!(!shown.lines().any(|line| line.starts_with("2 ")), "{shown}");
    }
}
