//! The form of a kept window: a text of rows without names of fields, in which a reader goes from
//! one field to the next and copies each text once. As JSON, reading a window of thousands of short
//! messages took more than all else about a turn. Must not know where it is kept.
//!
//! ```text
//! names   = JSON, in one line
//! row     = LETTER place fields
//! number  = DIGITS " "
//! text    = number (its length in bytes) BYTES
//! ```

use std::collections::HashMap;
use std::fmt::Write as _;

use claw_domain::{
    Address, Block, Compaction, Event, EventBody, Finish, Origin, TurnEnd, UnixMillis, Usage,
};

/// By their places. An origin that is not here is written in the form of the log.
const ORIGINS: [Origin; 6] = [
    Origin::Forwarded,
    Origin::SubAgent,
    Origin::McpClient,
    Origin::Schedule,
    Origin::Button,
    Origin::Owner,
];

/// Room for the events that have come since, so that thousands need not be moved for a few.
const BEHIND: usize = super::READ_ONE_BY_ONE_MAX + 64;

/// The rows of these events, behind the names that come in them again and again.
pub(super) fn written(events: Vec<Event>) -> Result<String, serde_json::Error> {
    let mut writer = Writer::default();
    for event in &events {
        writer.event(event)?;
    }
    Ok(serde_json::to_string(&writer.names.all)? + "\n" + &writer.rows)
}

/// The events with a number of at least `from`, of about `count` that were written. `None` for what
/// was not written by [`written`].
pub(super) fn read(body: &[u8], count: usize, from: u64) -> Option<Vec<Event>> {
    let (names, rest) = std::str::from_utf8(body).ok()?.split_once('\n')?;
    let names: Vec<String> = serde_json::from_str(names).ok()?;
    // No row is shorter than a byte, whatever the count says.
    let mut events = Vec::with_capacity(count.min(rest.len()) + BEHIND);
    let mut reader = Reader { rest, names: &names, before: (0, 0) };
    while !reader.rest.is_empty() {
        let event = reader.event()?;
        if event.seq >= from {
            events.push(event);
        }
    }
    Some(events)
}

/// Who speaks, and which model answers: a few, which stand in nearly every event.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    places: HashMap<String, u64>,
}

impl Names {
    fn place(&mut self, name: &str) -> u64 {
        if let Some(known) = self.places.get(name) {
            return *known;
        }
        let place = self.all.len() as u64;
        self.all.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

#[derive(Default)]
struct Writer {
    rows: String,
    names: Names,
    before: (u64, UnixMillis),
}

impl Writer {
    fn event(&mut self, event: &Event) -> Result<(), serde_json::Error> {
        match &event.body {
            EventBody::TurnStarted { origin, principal, role } => {
                let Some(origin) = place_of(*origin) else { return self.other(event) };
                self.begin('S', event);
                self.number(origin);
                self.name(principal);
                match role {
                    Some(role) => {
                        self.number(1);
                        self.name(role);
                    }
                    None => self.number(0),
                }
            }
            EventBody::UserMessage { blocks, inbox_id, from, origin } => {
                let Some(origin) = place_of(*origin) else { return self.other(event) };
                self.begin('U', event);
                self.blocks(blocks)?;
                self.signed(*inbox_id);
                self.name(&from.0);
                self.number(origin);
            }
            EventBody::PromptPacked {
                from_seq,
                dropped_events,
                estimated_tokens,
                account: None,
            } => {
                self.begin('P', event);
                self.numbers(&[*from_seq, *dropped_events, *estimated_tokens]);
            }
            EventBody::ModelReply { blocks, finish, usage, provider, model, notice } => {
                self.begin('R', event);
                self.blocks(blocks)?;
                self.finish(finish);
                let Usage { input_tokens, output_tokens, cached_tokens, cache_write_tokens } =
                    *usage;
                self.numbers(&[input_tokens, output_tokens, cached_tokens, cache_write_tokens]);
                self.name(provider);
                self.name(model);
                match notice {
                    Some(notice) => {
                        self.number(1);
                        self.text(notice);
                    }
                    None => self.number(0),
                }
            }
            EventBody::TurnEnded { end: TurnEnd::Answered } => self.begin('A', event),
            EventBody::Summary { text, through_seq, spent, made } => {
                // Thousands of names may stand in it, and as JSON they are read twice.
                let mut made = made.clone();
                let names = std::mem::take(&mut made.kept.identifiers);
                self.begin('M', event);
                self.text(text);
                self.number(*through_seq);
                self.text(&serde_json::to_string(spent)?);
                self.text(&serde_json::to_string(&made)?);
                self.number(names.len() as u64);
                names.iter().for_each(|name| self.text(name));
            }
            _ => return self.other(event),
        }
        Ok(())
    }

    /// What is rare stands in the form that it has in the log.
    fn other(&mut self, event: &Event) -> Result<(), serde_json::Error> {
        let body = serde_json::to_string(&event.body)?;
        self.begin('O', event);
        self.text(&body);
        Ok(())
    }

    /// How much greater number and time are than those of the event before. Time may go back, and
    /// nothing keeps a damaged log from holding any time.
    fn begin(&mut self, kind: char, event: &Event) {
        self.rows.push(kind);
        self.number(event.seq.wrapping_sub(self.before.0));
        self.signed(event.at_ms.wrapping_sub(self.before.1));
        self.before = (event.seq, event.at_ms);
    }

    fn blocks(&mut self, blocks: &[Block]) -> Result<(), serde_json::Error> {
        self.number(blocks.len() as u64);
        for block in blocks {
            match block {
                Block::Text { text } => {
                    self.rows.push('T');
                    self.text(text);
                }
                other => {
                    self.rows.push('J');
                    self.text(&serde_json::to_string(other)?);
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, finish: &Finish) {
        match finish {
            Finish::Complete => self.number(0),
            Finish::ToolUse => self.number(1),
            Finish::MaxTokens => self.number(2),
            Finish::Refusal { reason } => {
                self.number(3);
                self.text(reason);
            }
        }
    }

    fn name(&mut self, name: &str) {
        let place = self.names.place(name);
        self.number(place);
    }

    fn number(&mut self, number: u64) {
        // A String takes everything.
        let _ = write!(self.rows, "{number} ");
    }

    fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|number| self.number(*number));
    }

    fn signed(&mut self, number: i64) {
        let _ = write!(self.rows, "{number} ");
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.rows.push_str(text);
    }
}

fn place_of(origin: Origin) -> Option<u64> {
    ORIGINS.iter().position(|known| *known == origin).map(|place| place as u64)
}

struct Reader<'a> {
    rest: &'a str,
    names: &'a [String],
    before: (u64, UnixMillis),
}

impl<'a> Reader<'a> {
    fn event(&mut self) -> Option<Event> {
        let kind = self.letter()?;
        let seq = self.before.0.wrapping_add(self.number()?);
        let at_ms = self.before.1.wrapping_add(self.signed()?);
        self.before = (seq, at_ms);
        let body = match kind {
            b'S' => EventBody::TurnStarted {
                origin: self.origin()?,
                principal: self.name()?,
                role: if self.is_there()? { Some(self.name()?) } else { None },
            },
            b'U' => EventBody::UserMessage {
                blocks: self.blocks()?,
                inbox_id: self.signed()?,
                from: Address(self.name()?),
                origin: self.origin()?,
            },
            b'P' => EventBody::PromptPacked {
                from_seq: self.number()?,
                dropped_events: self.number()?,
                estimated_tokens: self.number()?,
                account: None,
            },
            b'R' => EventBody::ModelReply {
                blocks: self.blocks()?,
                finish: self.finish()?,
                usage: Usage {
                    input_tokens: self.number()?,
                    output_tokens: self.number()?,
                    cached_tokens: self.number()?,
                    cache_write_tokens: self.number()?,
                },
                provider: self.name()?,
                model: self.name()?,
                notice: if self.is_there()? { Some(self.text()?.to_owned()) } else { None },
            },
            b'A' => EventBody::TurnEnded { end: TurnEnd::Answered },
            b'M' => self.summary()?,
            b'O' => serde_json::from_str(self.text()?).ok()?,
            _ => return None,
        };
        Some(Event { seq, at_ms, body })
    }

    fn summary(&mut self) -> Option<EventBody> {
        let (text, through_seq) = (self.text()?.to_owned(), self.number()?);
        let spent = serde_json::from_str(self.text()?).ok()?;
        let mut made: Box<Compaction> = serde_json::from_str(self.text()?).ok()?;
        let count = usize::try_from(self.number()?).ok()?;
        let names = &mut made.kept.identifiers;
        names.reserve_exact(count.min(self.rest.len()));
        for _ in 0..count {
            names.push(self.text()?.to_owned());
        }
        Some(EventBody::Summary { text, through_seq, spent, made })
    }

    fn blocks(&mut self) -> Option<Vec<Block>> {
        let count = usize::try_from(self.number()?).ok()?;
        let mut blocks = Vec::with_capacity(count.min(self.rest.len()));
        for _ in 0..count {
            blocks.push(match self.letter()? {
                b'T' => Block::Text { text: self.text()?.to_owned() },
                b'J' => serde_json::from_str(self.text()?).ok()?,
                _ => return None,
            });
        }
        Some(blocks)
    }

    fn finish(&mut self) -> Option<Finish> {
        Some(match self.number()? {
            0 => Finish::Complete,
            1 => Finish::ToolUse,
            2 => Finish::MaxTokens,
            3 => Finish::Refusal { reason: self.text()?.to_owned() },
            _ => return None,
        })
    }

    fn origin(&mut self) -> Option<Origin> {
        ORIGINS.get(usize::try_from(self.number()?).ok()?).copied()
    }

    fn name(&mut self) -> Option<String> {
        self.names.get(usize::try_from(self.number()?).ok()?).cloned()
    }

    fn is_there(&mut self) -> Option<bool> {
        Some(self.number()? == 1)
    }

    fn letter(&mut self) -> Option<u8> {
        let letter = *self.rest.as_bytes().first()?;
        self.rest = self.rest.get(1..)?;
        Some(letter)
    }

    fn number(&mut self) -> Option<u64> {
        let bytes = self.rest.as_bytes();
        let (mut number, mut digits) = (0_u64, 0);
        loop {
            match *bytes.get(digits)? {
                digit @ b'0'..=b'9' => {
                    number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
                }
                b' ' if digits > 0 => break,
                _ => return None,
            }
            digits += 1;
        }
        self.rest = self.rest.get(digits + 1..)?;
        Some(number)
    }

    fn signed(&mut self) -> Option<i64> {
        let Some(rest) = self.rest.strip_prefix('-') else {
            return i64::try_from(self.number()?).ok();
        };
        self.rest = rest;
        0_i64.checked_sub_unsigned(self.number()?)
    }

    fn text(&mut self) -> Option<&'a str> {
        let bytes = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(text)
    }
}
