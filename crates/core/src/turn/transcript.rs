//! The transcript sent to a model: a pure fold of the events. Nothing else is stored as "the
//! history". Guarantees that every tool use is followed by its result, in order, whatever the log
//! looks like. What a summary, `/new` or `/undo` has hidden is not in the log any more ([`Log`]
//! forgets it). Must not know providers.

use std::collections::HashMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::actions;
use super::cut::Cuts;
use super::kinds::{ModelView, meaning};
use super::log::Log;
use super::standing;
use crate::domain::{
    Block, CallId, Event, EventBody, ImageRef, Message, Outcome, Role, SessionId, ToolOutput,
    ToolUse, UnixMillis,
};

/// What a model is told whose reply was interrupted because claw was ended.
const GO_ON: &str =
    "[You were interrupted here. Go on from there, without repeating what you have said.]";

/// What `claw doctor --repair` puts into a log for an event that cannot be read names this limit.
const LOG_NOTE: &str = "log";
/// Why nobody knows what became of a call whose result may have been such an event.
const LOST: &str = "its result could not be read any more, and was put aside";

/// Before the images that came with results.
const IMAGES_INTRO: &str =
    "[The images of these results, in their order, for a model that can see them:]";

/// The whole window as a model is asked with it. With a zone, what a person says carries the time
/// at which it came in: from the log and not from the clock, so that the same words are the same
/// bytes in every request, and a provider's cache holds.
pub fn to_ask(log: &Log, zone: Option<&TimeZone>) -> Vec<Message> {
    let mut messages = fold_where(log, zone, |_| true);
    // Not every provider goes on with its own last words, so somebody has to say that it shall.
    if messages.last().is_some_and(|last| last.role == Role::Assistant) {
        messages.push(Message::user_text(GO_ON));
    }
    messages
}

/// Folds the whole window.
#[cfg(test)]
pub fn fold(log: &Log) -> Vec<Message> {
    fold_where(log, None, |_| true)
}

/// Folds the part that a summary is to replace: everything up to and including `through_seq`, apart
/// from what was recalled or read of the workspace's own files. A fact that is superseded later
/// must not live on in a summary.
pub fn fold_through(log: &Log, through_seq: u64) -> Vec<Message> {
    let looked_up = |event: &Event| {
        matches!(meaning(event).seen, ModelView::Recalled(_) | ModelView::Project(_))
    };
    fold_where(log, None, |event| event.seq <= through_seq && !looked_up(event))
}

fn fold_where(log: &Log, zone: Option<&TimeZone>, wanted: impl Fn(&Event) -> bool) -> Vec<Message> {
    let events: Vec<&Event> = log.events().iter().filter(|event| wanted(event)).collect();
    let mut fold = Fold::new(log, zone, &events);
    if let Some(standing) = log.standing() {
        fold.user(vec![Block::Text { text: standing::text(standing) }]);
    }
    for event in events {
        fold.event(event);
    }
    fold.messages
}

struct Fold<'a> {
    session: &'a SessionId,
    clock: Option<Clock<'a>>,
    results: HashMap<&'a CallId, &'a Outcome>,
    /// The newest event that could not be read, and whose place a note has taken.
    put_aside: Option<u64>,
    cuts: Cuts<'a>,
    messages: Vec<Message>,
}

impl<'a> Fold<'a> {
    fn new(log: &'a Log, zone: Option<&'a TimeZone>, events: &[&'a Event]) -> Self {
        let results = events
            .iter()
            .filter_map(|event| match meaning(event).seen {
                ModelView::Result(call, outcome) => Some((call, outcome)),
                _ => None,
            })
            .collect();
        let (session, cuts) = (log.session(), Cuts::of(log.events()));
        let is_note = |event: &&&Event| matches!(&event.body, EventBody::LimitReached { limit, .. } if limit == LOG_NOTE);
        let put_aside = events.iter().rfind(is_note).map(|event| event.seq);
        let clock = zone.map(Clock::new);
        Self { session, clock, results, put_aside, cuts, messages: Vec::new() }
    }

    fn event(&mut self, event: &Event) {
        match meaning(event).seen {
            ModelView::Context(text) | ModelView::Recalled(text) | ModelView::Project(text) => {
                self.user(vec![Block::Text { text: text.to_owned() }])
            }
            ModelView::Named(text, images) => {
                let text = Block::Text { text: text.to_owned() };
                self.user(std::iter::once(text).chain(images.iter().map(image)).collect());
            }
            ModelView::Person(blocks) => {
                let time = self.clock.as_mut().and_then(|clock| clock.read(event.at_ms));
                let mut said = Vec::with_capacity(blocks.len() + 1);
                said.extend(time);
                said.extend_from_slice(blocks);
                self.user(said);
            }
            ModelView::Model(blocks) => self.reply(event.seq, blocks),
            ModelView::Partial("") => {}
            ModelView::Partial(text) => {
                self.assistant(vec![Block::Text { text: format!("{text}\n[stopped here]") }]);
            }
            ModelView::Action => {
                if let Some(text) = actions::told(&event.body) {
                    self.user(vec![Block::Text { text }]);
                }
            }
            // A result stands behind its reply.
            ModelView::Result(..) | ModelView::Nothing => {}
        }
    }

    /// A reply, and right behind it the result of each of its tool uses. A use without a result
    /// (the turn is still in its call step, or ended hard) gets one that says so: no provider
    /// accepts a gap.
    fn reply(&mut self, seq: u64, blocks: &[Block]) {
        if blocks.is_empty() {
            return;
        }
        self.assistant(blocks.to_vec());
        let mut results = Vec::new();
        let mut images = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let Block::ToolUse(tool_use) = block else { continue };
            let id = CallId::Reply {
                session: self.session.clone(),
                reply_seq: seq,
                block: index as u32,
            };
            let outcome = self.results.get(&id).copied();
            let is_lost = outcome.is_none() && self.put_aside.is_some_and(|aside| aside > seq);
            let lost = is_lost.then(|| Outcome::Unknown { reason: LOST.to_owned() });
            results.push(self.result(&id, tool_use, outcome.or(lost.as_ref())));
            images.extend(outcome.into_iter().flat_map(images_of));
        }
        if !images.is_empty() {
            // No wire takes an image between two results, so they follow all of them.
            results.push(Block::Text { text: IMAGES_INTRO.to_owned() });
            results.extend(images);
        }
        if !results.is_empty() {
            self.user(results);
        }
    }

    fn result(&self, call: &CallId, tool_use: &ToolUse, outcome: Option<&Outcome>) -> Block {
        let (content, is_error) = match outcome {
            Some(Outcome::Ended { output }) => {
                let text = self.cuts.seen(call, &output.text);
                (with_staged(&text, output), output.is_error)
            }
            Some(Outcome::Denied { reason, .. }) => (format!("Not run: {reason}"), true),
            Some(Outcome::Unknown { reason }) => (
                format!(
                    "Interrupted: it may or may not have run ({reason}). Check what happened \
                     before trying again."
                ),
                true,
            ),
            Some(Outcome::Parked { .. } | Outcome::Left) | None => {
                ("No result yet: it waits for the owner.".to_owned(), true)
            }
        };
        let (use_id, name) = (tool_use.id.clone(), tool_use.name.clone());
        Block::ToolResult { use_id, name, content, is_error }
    }

    fn user(&mut self, blocks: Vec<Block>) {
        self.push(Role::User, blocks);
    }

    fn assistant(&mut self, blocks: Vec<Block>) {
        self.push(Role::Assistant, blocks);
    }

    /// Consecutive messages of one role become one: providers demand that roles alternate.
    fn push(&mut self, role: Role, blocks: Vec<Block>) {
        match self.messages.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => self.messages.push(Message { role, blocks }),
        }
    }
}

/// When a message came in, as its writer reads a clock. Most messages came on the day of the one
/// before, and to write a day takes longer than all the rest of a message.
struct Clock<'a> {
    zone: &'a TimeZone,
    day: Option<(Date, String)>,
}

impl<'a> Clock<'a> {
    fn new(zone: &'a TimeZone) -> Self {
        Self { zone, day: None }
    }

    fn read(&mut self, at_ms: UnixMillis) -> Option<Block> {
        let at = Timestamp::from_millisecond(at_ms).ok()?.to_zoned(self.zone.clone());
        if self.day.as_ref().is_none_or(|(date, _)| *date != at.date()) {
            self.day = Some((at.date(), at.strftime("%A %Y-%m-%d").to_string()));
        }
        let (_, day) = self.day.as_ref()?;
        let (hour, minute) = (at.hour(), at.minute());
        let zone = self.zone.iana_name().unwrap_or("local time");
        // Once for each message of a window, so it asks for its memory once.
        let mut text = String::with_capacity(day.len() + zone.len() + "[ 00:00, ]".len());
        // A String takes everything.
        let _ = write!(text, "[{day} {hour:02}:{minute:02}, {zone}]");
        Some(Block::Text { text })
    }
}

fn images_of(outcome: &Outcome) -> impl Iterator<Item = Block> {
    let images = match outcome {
        Outcome::Ended { output } => output.images.as_slice(),
        _ => &[],
    };
    images.iter().map(image)
}

fn image(image: &ImageRef) -> Block {
    let ImageRef { mime, digest, bytes } = image.clone();
    Block::ImageRef { mime, digest, bytes }
}

fn with_staged(text: &str, output: &ToolOutput) -> String {
    match actions::staged(output) {
        Some(staged) => format!("{text}\n\n{staged}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
