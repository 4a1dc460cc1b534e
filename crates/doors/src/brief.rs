//! What a question says, the same at every door: effect, danger, who asks, why, the difference, and
//! of the call what there is room for. Owns what is left out and that it is said; must not know
//! how a door paints, or what an answer does.
//!
//! Nothing is lost: where something is, [`Brief::left_out`] says so, and each door has
//! a way to all of it.

use unicode_width::UnicodeWidthStr as _;

use crate::domain::{Effect, Question};

/// The most rows that a question takes at [`COLUMNS`], with the row of answers.
pub const ROWS_MAX: usize = 12;
/// How wide a narrow screen is: a phone, half a terminal.
pub const COLUMNS: usize = 40;
/// The least that is shown of a call, in rows, however much stands above it.
const BODY_ROWS_MIN: usize = 3;
/// Of an argument in several lines this share of its rows shows its end.
const TAIL_SHARE: usize = 4;
/// Arguments that are read first: what is run, and a place before what is put there.
const PLACES: &[&str] = &["command", "path", "source", "destination", "file", "url", "to", "cwd"];

/// A question, as short as it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    /// The effect in one sentence.
    pub says: String,
    pub danger: bool,
    /// What stands below it: who asks, why, what the box allows.
    pub notes: Vec<String>,
    pub blocks: Vec<Block>,
    /// How many arguments have no block at all.
    pub blocks_left_out: usize,
    /// Whether a part of the call is not in it.
    pub left_out: bool,
}

/// An argument or the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// `None` for the difference.
    pub name: Option<String>,
    pub head: Vec<String>,
    pub gap: Option<Gap>,
    pub tail: Vec<String>,
}

/// What is missing between the head and the tail of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Of the line that the head ends in.
    pub characters: usize,
    pub lines: usize,
}

impl Gap {
    /// `… 37 more lines`.
    pub fn says(&self) -> String {
        let counted = |number: usize, noun: &str| match number {
            0 => None,
            1 => Some(format!("1 more {noun}")),
            number => Some(format!("{number} more {noun}s")),
        };
        let parts = [counted(self.characters, "character"), counted(self.lines, "line")];
        format!("… {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" and "))
    }
}

/// `… and 3 more arguments`.
pub fn arguments_left_out(number: usize) -> String {
    format!("… and {number} more argument{}", if number == 1 { "" } else { "s" })
}

/// What is shown of a question on a screen of so many columns. `frame` is how many rows of
/// [`ROWS_MAX`] the door's own lines take.
pub fn brief(question: &Question, columns: usize, frame: usize) -> Brief {
    let effect = question.effect.clone().unwrap_or_else(|| of_older(question));
    let notes: Vec<String> = effect
        .notes
        .iter()
        .cloned()
        .chain(effect.asker.clone())
        .chain(effect.why.as_ref().map(|why| format!("Why: {why}")))
        .collect();
    let above: usize = std::iter::once(&effect.says)
        .chain(&notes)
        .map(|line| rows(line, columns.saturating_sub(2), 4))
        .sum();
    let room = ROWS_MAX.saturating_sub(above + frame).max(BODY_ROWS_MIN);
    let all = blocks(question, &effect);
    let (blocks, blocks_left_out) = fit(all, room, columns.saturating_sub(4).max(10));
    let cut = blocks_left_out > 0 || blocks.iter().any(|block| block.gap.is_some());
    // A difference leaves out the lines that stay.
    let stays = effect.seen.is_some() && !effect.difference.is_empty();
    let (says, danger) = (effect.says, effect.danger);
    Brief { says, danger, notes, blocks, blocks_left_out, left_out: cut || stays }
}

/// A question of an older claw, or about a turn: it is called by its names, and says why it asks.
fn of_older(question: &Question) -> Effect {
    let says = format!("May {}/{} run this?", question.server, question.tool);
    Effect { says, why: Some(question.why.clone()), ..Effect::default() }
}

/// Everything that the sentence does not tell, in the order in which it is read.
fn blocks(question: &Question, effect: &Effect) -> Vec<Block> {
    let block = |name: Option<String>, text: &str| Block {
        name,
        head: text.split('\n').map(str::to_owned).collect(),
        gap: None,
        tail: Vec::new(),
    };
    let untold: Vec<&(String, String)> =
        question.arguments.iter().filter(|(name, _)| !effect.tells(name)).collect();
    let place = |name: &str| PLACES.iter().position(|place| *place == name);
    let mut arguments: Vec<&(String, String)> = untold;
    arguments.sort_by_key(|(name, value)| {
        (place(name).unwrap_or(PLACES.len()), value.contains('\n') || value.len() > COLUMNS)
    });
    let difference = effect.difference.strip_suffix('\n').filter(|text| !text.is_empty());
    let difference = difference.map(|text| block(None, text));
    let arguments = arguments.into_iter().map(|(name, value)| block(Some(name.clone()), value));
    difference.into_iter().chain(arguments).collect()
}

impl Block {
    /// How many rows it takes. A name has a row of its own before a value of several rows.
    pub fn rows(&self, columns: usize) -> usize {
        let name = self.name.as_ref().map_or(0, |name| name.width() + 3);
        if self.is_one_line() && self.head.iter().all(|line| line.width() + name <= columns) {
            return 1;
        }
        let lines = self.head.iter().chain(&self.tail);
        let lines: usize = lines.map(|line| rows(line, columns, usize::MAX)).sum();
        lines + usize::from(self.gap.is_some()) + usize::from(name > 0)
    }

    pub fn is_one_line(&self) -> bool {
        self.head.len() == 1 && self.tail.is_empty() && self.gap.is_none()
    }

    /// The same in at most so many rows, with what is missing.
    fn cut(self, room: usize, columns: usize) -> Self {
        if self.rows(columns) <= room {
            return self;
        }
        let name = usize::from(self.name.is_some());
        let room = room.saturating_sub(name + 1).max(1);
        let mut tail: Vec<String> = Vec::new();
        let mut left = room / TAIL_SHARE;
        let mut lines = self.head;
        while let Some(last) = lines.pop_if(|last| rows(last, columns, usize::MAX) <= left) {
            left -= rows(&last, columns, usize::MAX);
            tail.insert(0, last);
        }
        let mut left =
            room - tail.iter().map(|line| rows(line, columns, usize::MAX)).sum::<usize>();
        let (mut head, mut gap) = (Vec::new(), Gap::default());
        let mut rest = lines.into_iter();
        for line in rest.by_ref() {
            let takes = rows(&line, columns, usize::MAX);
            if takes <= left {
                left -= takes;
                head.push(line);
                continue;
            }
            // A line that is longer than all the room is begun.
            if head.is_empty() || left > 1 {
                let kept = begun(&line, left.max(1) * columns);
                gap.characters = line.chars().count() - kept.chars().count();
                head.push(kept.to_owned());
            } else {
                gap.lines += 1;
            }
            break;
        }
        gap.lines += rest.count();
        Self { name: self.name, head, gap: Some(gap), tail }
    }
}

/// The blocks in so many rows: short ones whole, and what is left is shared by the long ones.
fn fit(blocks: Vec<Block>, room: usize, columns: usize) -> (Vec<Block>, usize) {
    let all: usize = blocks.iter().map(|block| block.rows(columns)).sum();
    if all <= room {
        return (blocks, 0);
    }
    let long = |block: &Block| block.rows(columns) > 2;
    let mut longs = blocks.iter().filter(|block| long(block)).count();
    // A row may have to say how many arguments are left out.
    let mut left = room - usize::from(blocks.len() > 1);
    let kept_for_long = if longs > 0 { BODY_ROWS_MIN.min(left) } else { 0 };
    let shorts: Vec<bool> = blocks
        .iter()
        .map(|block| {
            let takes = block.rows(columns);
            let fits = !long(block) && takes + kept_for_long <= left;
            left -= if fits { takes } else { 0 };
            fits
        })
        .collect();
    let (mut shown, mut left_out) = (Vec::new(), 0);
    for (block, fits) in blocks.into_iter().zip(shorts) {
        if fits {
            shown.push(block);
            continue;
        }
        // A name, a line and what is missing.
        let least = 2 + usize::from(block.name.is_some());
        let others = longs.saturating_sub(1);
        // What changes is worth more than what is there besides.
        let share = match (long(&block), block.name.is_some()) {
            (false, _) => 0,
            (true, true) => left / longs.max(1),
            (true, false) => left.saturating_sub(others * BODY_ROWS_MIN).max(left / longs.max(1)),
        };
        longs -= usize::from(long(&block));
        if share < least {
            left_out += 1;
            continue;
        }
        let block = block.cut(share, columns);
        left = left.saturating_sub(block.rows(columns));
        shown.push(block);
    }
    (shown, left_out)
}

/// The beginning of a line in so many columns. No escape of something invisible is cut in two.
fn begun(line: &str, columns: usize) -> &str {
    let (mut room, mut end, mut rest) = (columns, 0, line);
    while let Some(first) = rest.chars().next() {
        let piece = match first {
            '\\' if rest.starts_with("\\u{") => rest.find('}').map_or(rest.len(), |at| at + 1),
            '\\' => rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at),
            first => first.len_utf8(),
        };
        let takes = rest[..piece].width();
        if takes > room {
            break;
        }
        room -= takes;
        end += piece;
        rest = &rest[piece..];
    }
    &line[..end]
}

/// How many rows a line takes, at most `most`.
fn rows(line: &str, columns: usize, most: usize) -> usize {
    line.width().div_ceil(columns.max(1)).clamp(1, most)
}

#[cfg(test)]
mod tests;
