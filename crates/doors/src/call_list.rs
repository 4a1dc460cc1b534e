//! What a question about several calls says, the same at every door: which lines there is room for,
//! and how many are behind "show all". Must not know how a door paints, or what an answer does.

use std::collections::BTreeMap;

use unicode_width::UnicodeWidthStr as _;

use super::brief::ROWS_MAX;
use crate::domain::{ApprovalState, CallList, ListedCall, Question};

/// Rows of the frame: the title, and how many more there are.
const FRAME_ROWS: usize = 2;
/// How far the text of a call stands to the right of its line, in columns.
const TEXT_INDENT: usize = 2;

/// A list, as short as it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListBrief {
    pub title: String,
    pub danger: bool,
    /// Who asks, where that is not the owner's own message.
    pub asker: Option<String>,
    pub lines: Vec<ListLine>,
    /// What belongs beside some of the lines, with their numbers.
    pub notes: Vec<String>,
    /// How many lines are left out.
    pub left_out: usize,
    /// The numbers of those of which the text is left out.
    pub texts_left_out: Vec<u32>,
    /// Whether a part of any call is not in it.
    pub more: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLine {
    pub number: u32,
    pub sentence: String,
    pub danger: bool,
    /// Empty while it waits; else what became of it: `yes`, `no`.
    pub mark: &'static str,
    /// What it writes, as far as there is room for it.
    pub text: Vec<ListText>,
}

/// What a call of a list writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListText {
    pub lines: Vec<String>,
    pub is_difference: bool,
}

/// What is shown of a list on a screen of so many columns. `frame` is how many rows of
/// [`ROWS_MAX`] the door's own lines take. `None` for a question about one thing.
pub fn list_brief(question: &Question, columns: usize, frame: usize) -> Option<ListBrief> {
    let whole = whole_list(question)?;
    let list = question.list.as_ref()?;
    let room = columns.saturating_sub(4).max(10);
    let takes = |text: &str| text.width().div_ceil(room);
    let beside: usize = whole.notes.iter().chain(&whole.asker).map(|note| takes(note)).sum();
    let mut left = ROWS_MAX.saturating_sub(FRAME_ROWS + frame + beside);
    let always = |line: &ListLine| {
        list.items.get(line.number as usize - 1).is_some_and(|item| item.always_shown)
    };
    let must: usize =
        whole.lines.iter().filter(|line| always(line)).map(|line| takes(&line.says())).sum();
    left = left.saturating_sub(must);
    let (mut lines, mut left_out) = (Vec::new(), 0);
    for line in whole.lines {
        let rows = takes(&line.says());
        if always(&line) {
            lines.push(line);
        } else if left_out == 0 && rows <= left {
            left -= rows;
            lines.push(line);
        } else {
            left_out += 1;
        }
    }
    // The row that would say that one line is left out has room for a short one itself; it is not
    // looked for, so that what is shown depends on the list alone.
    let left = if left_out > 0 { 0 } else { left };
    let texts_left_out = fit_texts(&mut lines, left, room.saturating_sub(TEXT_INDENT).max(10));
    // Beside a difference stands the whole text only where all is shown.
    let shortened =
        list.items.iter().any(|item| !item.difference.is_empty() && !item.content.is_empty());
    let more = left_out > 0 || !texts_left_out.is_empty() || shortened;
    Some(ListBrief { lines, left_out, texts_left_out, more, ..whole })
}

/// Keeps the texts that fit into so many rows, the first ones first, and of each no more than the
/// first form of it. The numbers of the others.
fn fit_texts(lines: &mut [ListLine], room: usize, columns: usize) -> Vec<u32> {
    let rows = |line: &ListLine| -> usize {
        let first = line.text.iter().take(1).flat_map(|text| &text.lines);
        first.map(|line| line.width().div_ceil(columns).max(1)).sum()
    };
    let all: usize = lines.iter().map(rows).sum();
    // A row says of which calls it is left out.
    let mut left = if all > room { room.saturating_sub(1) } else { room };
    let mut left_out = Vec::new();
    for line in lines.iter_mut() {
        let takes = rows(line);
        line.text.truncate(1);
        if takes <= left {
            left -= takes;
        } else {
            line.text.clear();
            left_out.push(line.number);
        }
    }
    left_out
}

/// `… the text of 2, 4 is behind`.
pub fn texts_left_out(list: &ListBrief) -> Option<String> {
    (!list.texts_left_out.is_empty())
        .then(|| format!("… the text of {}: show all", ranges(&list.texts_left_out)))
}

/// All of a list.
pub fn whole_list(question: &Question) -> Option<ListBrief> {
    let list = question.list.as_ref()?;
    let (all, open) = (list.items.len(), list.open().len());
    let says = question.effect.as_ref().map(|effect| effect.says.clone()).unwrap_or_default();
    let title = match all - open {
        0 => says,
        answered => format!("{says}; {answered} answered"),
    };
    let lines = list.numbered().map(|(number, item)| ListLine {
        number,
        sentence: item.says.clone(),
        danger: item.danger,
        mark: mark(item.state),
        text: texts(item),
    });
    let asker = question.effect.as_ref().and_then(|effect| effect.asker.clone());
    let danger = list.items.iter().any(|item| item.danger);
    Some(ListBrief {
        title,
        danger,
        asker,
        lines: lines.collect(),
        notes: notes(list),
        left_out: 0,
        texts_left_out: Vec::new(),
        more: false,
    })
}

/// What is shown first of what a call writes, and all of it behind that.
fn texts(item: &ListedCall) -> Vec<ListText> {
    let lines = |text: &str| text.trim_end_matches('\n').split('\n').map(str::to_owned).collect();
    let text = |text: &str, is_difference| ListText { lines: lines(text), is_difference };
    let difference = Some(item.difference.as_str()).filter(|it| !it.is_empty());
    let content = Some(item.content.as_str()).filter(|it| !it.is_empty());
    difference
        .map(|it| text(it, true))
        .into_iter()
        .chain(content.map(|it| text(it, false)))
        .collect()
}

impl ListLine {
    /// Without its number.
    pub fn says(&self) -> String {
        let danger = if self.danger { "⚠ " } else { "" };
        let mark = if self.mark.is_empty() { String::new() } else { format!("[{}] ", self.mark) };
        format!("{mark}{danger}{}", self.sentence)
    }
}

fn mark(state: ApprovalState) -> &'static str {
    match state {
        ApprovalState::Waiting => "",
        ApprovalState::Approved => "yes",
        ApprovalState::Denied => "no",
        ApprovalState::Expired => "expired",
        ApprovalState::Superseded => "closed",
    }
}

/// Each note once, behind the numbers that it is about.
fn notes(list: &CallList) -> Vec<String> {
    let mut order: Vec<&String> = Vec::new();
    let mut numbers: BTreeMap<&String, Vec<u32>> = BTreeMap::new();
    for (number, item) in list.numbered() {
        for note in &item.notes {
            if !order.contains(&note) {
                order.push(note);
            }
            numbers.entry(note).or_default().push(number);
        }
    }
    let about = |note: &String| numbers.get(note).map(|of| ranges(of)).unwrap_or_default();
    order.into_iter().map(|note| format!("{}: {note}", about(note))).collect()
}

/// `1-3, 5`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let run = |(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

/// A question in a few words, for a sentence about it.
pub fn about(question: &Question) -> String {
    match &question.list {
        Some(list) => format!("{} things", list.items.len()),
        None => format!("{}/{}", question.server, question.tool),
    }
}
/// For whom "always" holds, where a job or a client asks.
pub fn always_for(question: &Question) -> &'static str {
    match question.effect.as_ref().is_some_and(|effect| effect.for_client) {
        true => "always for this client",
        false => "always for this job",
    }
}
