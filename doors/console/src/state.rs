//! What a typed line means just now: a message, a command, or an answer and to which question. Owns
//! the open questions and the count of Ctrl-C; pure, so that every rule can be tested. Must not
//! know channels, terminals or layout.

mod addressed;
mod lists;
mod open_notices;

use std::time::{Duration, Instant};

use crate::domain::{Answer, ApprovalId, Question, SessionId, Staged};
use crate::doors::call_list;
use crate::doors::commands::{self, ChatCommand, DoorKind, Parsed};
use crate::doors::list_answers;

use super::chat::ConsoleEvent;
use super::editor::Input;
use super::staged_answers::{GivenAnswer, Read, StagedAnswers};
use crate::doors::answer_words::in_words;
use crate::doors::clean::clean_line;
use crate::terminal::question::{ParsedAnswer, parse_answer};

/// A second Ctrl-C within this time leaves. Two sentences below name it.
pub(super) const INTERRUPT_TWICE: Duration = Duration::from_secs(2);
/// Nobody reads a question faster: a typed approval that comes sooner was meant for what stood
/// there before.
pub(super) const READ_TIME_MIN: Duration = Duration::from_millis(700);

/// What follows from an input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    Send(ConsoleEvent),
    /// One sentence for the person.
    Note(String),
    Markdown(String),
    /// Everything that is staged and open, once more.
    Staged,
    /// All of a question, and what each answer means. The number is there where several are open.
    Whole(Box<Question>, Option<usize>),
    /// These questions wait on after the person has left.
    StaysOpen(Vec<Question>),
    Leave,
}

#[derive(Debug)]
struct OpenQuestion {
    question: Question,
    number: usize,
    /// Since when a plain answer goes to it; `None` while another one is before it.
    addressed: Option<Instant>,
    shown: Instant,
}

#[derive(Debug)]
pub(super) struct ChatState {
    /// A person sits there, who needs time to read.
    interactive: bool,
    /// What another session asks holds up nothing that is typed here.
    session: SessionId,
    /// Oldest first.
    open: Vec<OpenQuestion>,
    pub(super) staged: StagedAnswers,
    busy: bool,
    /// The input has ended; leave when nothing runs any more.
    ended: bool,
    interrupted: Option<Instant>,
    sent: u64,
}

impl ChatState {
    pub(super) fn new(interactive: bool, session: SessionId) -> Self {
        // From a pipe nobody can be asked to wait: what an earlier run left is finished before the
        // end of the input counts.
        let (open, staged) = (Vec::new(), StagedAnswers::default());
        Self {
            interactive,
            session,
            open,
            staged,
            busy: !interactive,
            ended: false,
            interrupted: None,
            sent: 0,
        }
    }

    /// Takes a question in and returns its number; `None` if it is open already.
    pub(super) fn ask(&mut self, question: &Question, now: Instant) -> Option<usize> {
        if self.open.iter().any(|open| open.question.approval == question.approval) {
            return None;
        }
        let number = self.open.iter().map(|open| open.number).max().unwrap_or(0) + 1;
        self.open.push(OpenQuestion {
            question: question.clone(),
            number,
            addressed: None,
            shown: now,
        });
        self.address_oldest(now);
        Some(number)
    }

    /// A question was answered elsewhere, expired or closed. Returns which, if it was open here.
    pub(super) fn close(&mut self, approval: &ApprovalId, now: Instant) -> Option<String> {
        if let Some(staged) = self.staged.close(approval) {
            return Some(format!(
                "What was staged as {}",
                numbered(staged.number, &staged.question)
            ));
        }
        let index = self.open.iter().position(|open| open.question.approval == *approval)?;
        Some(format!("The question about {}", self.remove(index, now)))
    }

    /// Something runs.
    pub(super) fn running(&mut self) {
        self.busy = true;
    }

    /// Nothing runs after `taken` events. `None` if more events than that are on their way.
    pub(super) fn idle(&mut self, taken: u64) -> Option<Vec<Effect>> {
        if taken < self.sent {
            return None;
        }
        self.busy = false;
        Some(if self.ended { self.leave() } else { Vec::new() })
    }

    pub(super) fn input(&mut self, input: Input, now: Instant, now_ms: i64) -> Vec<Effect> {
        match input {
            Input::Line(_) if self.ended => Vec::new(),
            Input::Line(line) => self.line(&line, now, now_ms),
            Input::Interrupt { discarded: true } => Vec::new(),
            Input::Interrupt { discarded: false } => self.interrupt(now),
            Input::Eof => self.end(),
            Input::Failed(why) => {
                let mut effects = vec![Effect::Note(format!("The console ends: {why}."))];
                effects.extend(self.leave());
                effects
            }
        }
    }

    /// The person is done. A person leaves at once; a pipe waits for what its lines have set going.
    fn end(&mut self) -> Vec<Effect> {
        if self.interactive || !self.busy {
            return self.leave();
        }
        self.ended = true;
        Vec::new()
    }

    fn interrupt(&mut self, now: Instant) -> Vec<Effect> {
        let again = self.interrupted.is_some_and(|at| now.duration_since(at) < INTERRUPT_TWICE);
        let idle = !self.busy && self.open.is_empty();
        if again || idle && !self.interactive {
            return self.leave();
        }
        self.interrupted = Some(now);
        if idle {
            return vec![Effect::Note(
                "Ctrl-C once more within 2 s leaves, and so do Ctrl-D and /quit.".into(),
            )];
        }
        vec![
            self.send(ConsoleEvent::Interrupt),
            Effect::Note("Stopping. Ctrl-C once more within 2 s leaves.".into()),
        ]
    }

    fn leave(&mut self) -> Vec<Effect> {
        let open: Vec<Question> = self.left_open().cloned().collect();
        let said = (!open.is_empty()).then_some(Effect::StaysOpen(open));
        let ends = [self.send(ConsoleEvent::Quit), Effect::Leave];
        said.into_iter().chain(ends).collect()
    }

    /// What waits for an answer here, oldest first, and what is staged behind it.
    pub(super) fn left_open(&self) -> impl Iterator<Item = &Question> {
        self.asked().chain(self.staged.questions())
    }

    /// What waits for an answer before its turn goes on.
    pub(super) fn asked(&self) -> impl Iterator<Item = &Question> {
        self.open.iter().map(|open| &open.question)
    }

    fn send(&mut self, event: ConsoleEvent) -> Effect {
        self.sent += 1;
        self.busy |= !matches!(event, ConsoleEvent::Quit);
        Effect::Send(event)
    }

    fn line(&mut self, line: &str, now: Instant, now_ms: i64) -> Vec<Effect> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        match commands::parse(line, DoorKind::Console) {
            Parsed::Command(ChatCommand::Help, _) => {
                return vec![Effect::Markdown(commands::help_markdown(DoorKind::Console))];
            }
            Parsed::Command(ChatCommand::Quit, _) => return self.end(),
            Parsed::Command(ChatCommand::Staged, _) if self.staged.is_empty() => {
                return vec![Effect::Note(
                    "Nothing is staged here. /approvals lists what waits anywhere.".into(),
                )];
            }
            Parsed::Command(ChatCommand::Staged, _) => return vec![Effect::Staged],
            Parsed::Command(command, words) => {
                return vec![self.send(ConsoleEvent::Command(command, words))];
            }
            Parsed::Unknown(sentence) => return vec![Effect::Note(sentence)],
            Parsed::Foreign(otherwise) => {
                let line = line.to_owned();
                return vec![self.send(ConsoleEvent::Foreign { line, otherwise })];
            }
            Parsed::Message | Parsed::NotForUs => {}
        }
        if let Some(effects) = self.of_list(line, now, now_ms) {
            return effects;
        }
        match self.staged.read(line) {
            Read::Answers(given) => return self.answer_staged(given, now, now_ms),
            Read::Unclear(sentence) => return vec![Effect::Note(sentence)],
            Read::NotAnAnswer => {}
        }
        if self.open.is_empty() {
            return match self.staged.by_word(line) {
                Some(given) => self.answer_staged(vec![given], now, now_ms),
                None => vec![self.send(ConsoleEvent::Line(line.to_owned()))],
            };
        }
        if let Some(whole) = self.whole(line, now) {
            return vec![whole];
        }
        match self.addressee(line) {
            Ok((index, rest)) => self.maybe_answer(index, &rest, line, now, now_ms),
            Err(sentence) => vec![Effect::Note(sentence)],
        }
    }

    /// All of them or, where one has not been read, none: half of a line is not what was meant.
    fn answer_staged(&mut self, given: Vec<GivenAnswer>, now: Instant, now_ms: i64) -> Vec<Effect> {
        let unread = |given: &GivenAnswer| {
            let read = self
                .staged
                .find(&given.approval)
                .is_some_and(|open| open.was_read(now, READ_TIME_MIN));
            self.interactive && !read && !matches!(given.answer, Answer::Deny { .. })
        };
        if given.iter().any(unread) {
            return vec![Effect::Note(
                "This has only just come up: look, and answer again.".into(),
            )];
        }
        let mut effects = Vec::new();
        for GivenAnswer { number, approval, answer } in given {
            let Some(open) = self.staged.close(&approval) else { continue };
            let about = numbered(number, &open.question);
            if open.is_over(now_ms) {
                effects.push(Effect::Note(format!("Expired, and not run: {about}")));
                continue;
            }
            // What was cancelled is told by claw, at once and everywhere.
            let word = match answer {
                Answer::Deny { .. } | Answer::Never => None,
                Answer::Press { .. } => Some("Pressed"),
                Answer::Allow { .. } | Answer::Pick { .. } | Answer::Give { .. } | Answer::Skip => {
                    Some("Confirmed")
                }
            };
            effects.push(self.send(ConsoleEvent::Answer { approval, answer }));
            effects.extend(word.map(|word| Effect::Note(format!("{word}: {about}"))));
        }
        if let Some(left) = self.staged.left() {
            effects.push(Effect::Note(format!("Still staged: {left}. /staged shows it.")));
        }
        effects
    }

    fn maybe_answer(
        &mut self,
        index: usize,
        rest: &str,
        line: &str,
        now: Instant,
        now_ms: i64,
    ) -> Vec<Effect> {
        let Some(open) = self.open.get(index) else { return Vec::new() };
        let answer = match parse_answer(rest, &open.question) {
            ParsedAnswer::Answer(answer) => answer,
            ParsedAnswer::NotAnAnswer => {
                let note = self.still_open().map(Effect::Note);
                let sent = self.send(ConsoleEvent::Line(line.to_owned()));
                return std::iter::once(sent).chain(note).collect();
            }
            ParsedAnswer::Unclear(sentence) => return vec![Effect::Note(sentence)],
        };
        // Named by its number it was aimed at as soon as it was shown; otherwise since it is the
        // oldest.
        let since = if rest == line { open.addressed } else { Some(open.shown) };
        let unread = since.is_none_or(|since| now.duration_since(since) < READ_TIME_MIN);
        if self.interactive && unread && !matches!(answer, Answer::Deny { .. }) {
            let about = about(&open.question);
            return vec![Effect::Note(format!(
                "The question about {about} has only just come up: look, and answer again."
            ))];
        }
        if open.question.expires_at_ms <= now_ms {
            let about = self.remove(index, now);
            return vec![Effect::Note(format!(
                "The question about {about} has expired; nothing was allowed."
            ))];
        }
        let approval = open.question.approval.clone();
        let list = open.question.list.as_ref();
        let told = match list {
            Some(list) => list_answers::in_words(&answer, list),
            None => in_words(&answer, &open.question),
        };
        if self.picked(index, &answer) {
            return vec![self.send(ConsoleEvent::Answer { approval, answer }), Effect::Note(told)];
        }
        let said = Effect::Note(told);
        self.remove(index, now);
        let mut effects = vec![self.send(ConsoleEvent::Answer { approval, answer }), said];
        if let Some(next) = self.open.first() {
            let text =
                format!("Question {} is open: {}", next.number, about_with_key(&next.question));
            effects.push(Effect::Note(text));
        }
        effects
    }

    fn remove(&mut self, index: usize, now: Instant) -> String {
        let open = self.open.remove(index);
        self.address_oldest(now);
        about(&open.question)
    }

    fn address_oldest(&mut self, now: Instant) {
        if let Some(oldest) = self.open.first_mut() {
            oldest.addressed.get_or_insert(now);
        }
    }
}

/// What was staged, by the number that stands beside it.
fn numbered(number: usize, question: &Question) -> String {
    match &question.staged {
        Some(Staged::Item { summary, .. }) => format!("{number} “{}”", clean_line(summary)),
        _ => number.to_string(),
    }
}

fn about(question: &Question) -> String {
    clean_line(&call_list::about(question))
}

fn about_with_key(question: &Question) -> String {
    if question.list.is_some() {
        return about(question);
    }
    let first = question
        .arguments
        .first()
        .map(|(name, value)| format!(" ({}: {})", clean_line(name), clean_line(value)));
    format!("{}{}", about(question), first.unwrap_or_default())
}

#[cfg(test)]
mod tests;
