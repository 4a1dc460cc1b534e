//! A question about a call as it is first read in a chat: what `doors/brief.rs` says of it,
//! painted. Must not know buttons, or how the whole call is shown.

use super::value::shown_value;
use super::{call_list, cleaned_line, name_line, short};
use crate::domain::Question;
use crate::doors::brief::{Block, COLUMNS, arguments_left_out, brief};
use crate::doors::call_list::list_brief;
use crate::doors::input_answers;
use crate::rich::{Rich, Style};

/// Rows of the frame beside effect, notes and call: until when it is open.
const FRAME_ROWS: usize = 1;
const CODE: Style = Style { code: true, ..Style::PLAIN };

/// Whether all of the call is in what [`push`] writes.
pub(super) fn says_all(question: &Question) -> bool {
    match list_brief(question, COLUMNS, FRAME_ROWS) {
        Some(list) => !list.more,
        None => !brief(question, COLUMNS, FRAME_ROWS).left_out,
    }
}

pub(super) fn push(rich: &mut Rich, question: &Question) {
    if let Some(list) = list_brief(question, COLUMNS, FRAME_ROWS) {
        return call_list::push(rich, &list);
    }
    let brief = brief(question, COLUMNS, FRAME_ROWS);
    if brief.danger {
        rich.push("⚠️ ", Style::BOLD);
    }
    push_sentence(rich, &brief.says, Style::BOLD);
    for note in &brief.notes {
        rich.push("\n", Style::PLAIN);
        rich.push(&short(note), Style::ITALIC);
    }
    for block in &brief.blocks {
        rich.push("\n", Style::PLAIN);
        push_block(rich, block);
    }
    if let Some(wants) = input_answers::typed(question) {
        rich.push("\nReply to this message with ", Style::PLAIN);
        rich.push(&cleaned_line(&wants), Style::PLAIN);
        rich.push(".", Style::PLAIN);
    }
    if brief.blocks_left_out > 0 {
        rich.push("\n", Style::PLAIN);
        rich.push(&arguments_left_out(brief.blocks_left_out), Style::ITALIC);
    }
}

/// What stands in backticks is code, and so is a word with a point in it: Telegram would make a
/// link of `main.rs`.
pub(super) fn push_sentence(rich: &mut Rich, says: &str, style: Style) {
    for (index, part) in says.split('`').enumerate() {
        if index % 2 == 1 {
            rich.push(&shown_value(part), CODE);
            continue;
        }
        for (place, word) in part.split(' ').enumerate() {
            rich.push(if place == 0 { "" } else { " " }, style);
            let inner = word.trim_end_matches(['.', ',', ')']);
            let link = inner.contains('.') && !inner.starts_with('(');
            rich.push(&cleaned_line(word), if link { CODE } else { style });
        }
    }
}

fn push_block(rich: &mut Rich, block: &Block) {
    if let Some(name) = &block.name {
        rich.push(&name_line(name), Style::BOLD);
        if block.is_one_line() {
            rich.push(" ", Style::PLAIN);
            match shown_value(&block.head.concat()) {
                shown if shown.is_empty() => rich.push("(empty)", Style::ITALIC),
                shown => rich.push(&shown, CODE),
            }
            return;
        }
        rich.push("\n", Style::PLAIN);
    }
    push_lines(rich, &block.head, block.name.is_none());
    if let Some(gap) = block.gap {
        rich.push(if block.head.is_empty() { "" } else { "\n" }, Style::PLAIN);
        rich.push(&gap.says(), Style::ITALIC);
    }
    if !block.tail.is_empty() {
        rich.push("\n", Style::PLAIN);
        push_lines(rich, &block.tail, block.name.is_none());
    }
}

fn push_lines(rich: &mut Rich, lines: &[String], is_difference: bool) {
    match shown_value(&lines.join("\n")) {
        shown if shown.is_empty() => {}
        shown => rich.push_pre(&shown, is_difference.then_some("diff"), None),
    }
}
