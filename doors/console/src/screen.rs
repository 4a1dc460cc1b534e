//! What the screen shows of a running turn: streamed text, calls, notices, the reply. Owns what has
//! been shown, so that a reply that was streamed is not printed again; must not know channels,
//! terminals or what was typed.

use std::time::Instant;

use crate::chat_commands::without_buttons;
use crate::domain::{CallId, Live, OutboundBody, Question};

use super::running::RunningCalls;
use super::staged_answers::Open;
use super::staged_list::staged_lines;
use super::streamed::Streamed;
use crate::doors::clean::{clean, clean_line};
use crate::doors::live::same_words;
use crate::paint::Frame;
use crate::terminal::diff::diff_lines;
use crate::terminal::question::{Clock, question_lines, whole_lines};
use crate::terminal::stream::{StreamView, markdown_lines};
use crate::terminal::style::{Look, Span, Style, paint_line};
use crate::terminal::thinking::Thinking;
use crate::terminal::wrap::{Long, head, wrap};

/// (turn, step) of the text that is being streamed.
type StepKey = (u64, u32);

/// What was shown last, to set unlike things apart by a blank line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Text,
    Call,
    Note,
    Question,
    Typed,
}

/// Collects what is to be painted; [`Screen::take`] hands it out.
#[derive(Debug)]
pub struct Screen {
    look: Look,
    /// Drafts can be shown and erased.
    drafts: bool,
    step: Option<StepKey>,
    view: StreamView,
    /// Lines of the running step have been shown.
    step_shown: bool,
    /// The last step of each turn that was shown to its end and has no reply yet.
    streamed: Streamed,
    /// The last turn whose reply was shown.
    replied: Option<u64>,
    calls: RunningCalls,
    /// One passing sentence: waiting for the provider.
    passing: String,
    /// The model that is at work on the running step.
    thinking: Option<Thinking>,
    last: Shown,
    lines: Vec<String>,
    /// What is whole with these lines.
    marks: Vec<i64>,
    changed: bool,
}

impl Screen {
    pub fn new(look: Look, drafts: bool) -> Self {
        Self {
            look,
            drafts,
            step: None,
            view: StreamView::new(look),
            step_shown: false,
            streamed: Streamed::default(),
            replied: None,
            calls: RunningCalls::default(),
            passing: String::new(),
            thinking: None,
            last: Shown::Nothing,
            lines: Vec::new(),
            marks: Vec::new(),
            changed: false,
        }
    }

    /// The terminal has another size. Lines that are out stay as they are.
    pub fn set_look(&mut self, look: Look) {
        self.look = look;
        self.view.set_look(look);
    }

    /// What has changed since the last call, or nothing.
    pub fn take(&mut self) -> Option<Frame> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let draft = if self.drafts { self.draft() } else { Vec::new() };
        Some(Frame {
            lines: std::mem::take(&mut self.lines),
            draft,
            marks: std::mem::take(&mut self.marks),
        })
    }

    /// All that was shown so far includes the whole of this.
    pub fn mark(&mut self, mark: i64) {
        self.marks.push(mark);
        self.changed = true;
    }

    /// There are lines that stay; a change of drafts alone can wait.
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Shows a glimpse of a running turn.
    pub fn live(&mut self, live: Live, now: Instant) {
        self.changed = true;
        match live {
            Live::StepStarted { turn_seq, step } => {
                self.enter((turn_seq, step), true);
                if self.is_current((turn_seq, step)) {
                    self.thinking = Some(Thinking::new(now));
                }
            }
            Live::Text { turn_seq, step, text } => {
                self.heard((turn_seq, step), text.len());
                self.text((turn_seq, step), &text);
            }
            Live::Reasoning { turn_seq, step, text } => self.heard((turn_seq, step), text.len()),
            Live::StepRestarted { turn_seq, step, why } => {
                if !self.is_current((turn_seq, step)) {
                    return;
                }
                self.enter((turn_seq, step), false);
                self.view.restart();
                self.passing = clean_line(&why);
                if !self.drafts {
                    self.note(&why);
                }
            }
            Live::CallStarted { call, title } => {
                self.end_step();
                let title = clean_line(&title);
                if !self.drafts {
                    self.hang(
                        Shown::Call,
                        ("· ", Style::DIM),
                        &format!("running: {title}"),
                        Style::DIM,
                    );
                }
                self.calls.start(call, title);
            }
            Live::CallProgress { call, text } => self.progress(&call, &text, now),
            // Its question comes by the outbox.
            Live::CallAsks { .. } => {}
            Live::CallEnded { call, ok, title, summary, diff, output } => {
                self.calls.end(&call);
                let mark = if ok { ("✓ ", Style::CYAN) } else { ("✗ ", Style::RED) };
                let title = clean_line(&title);
                let text = if summary.trim().is_empty() {
                    title
                } else {
                    format!("{title} · {}", summary.trim())
                };
                self.hang(Shown::Call, mark, &text, Style::PLAIN);
                let row = |line: &str| {
                    head(&format!("  {}", clean(line).replace('\t', "    ")), self.look.width)
                };
                let lines = output
                    .lines()
                    .map(|line| paint_line(&[Span::new(&row(line), Style::DIM)], self.look));
                self.lines.extend(lines);
                self.lines.extend(diff_lines(&diff, self.look));
            }
            Live::Server { text } | Live::Notice { text } => self.note(&text),
        }
    }

    /// Shows a message from the outbox. Questions come by [`Screen::question`].
    pub fn out(&mut self, body: &OutboundBody) {
        self.changed = true;
        match body {
            OutboundBody::Reply { turn_seq, text, .. } => self.reply(*turn_seq, text),
            // It is news only of a step that ran elsewhere.
            OutboundBody::Said { turn_seq, step, text, .. } => {
                let key = (*turn_seq, *step);
                if self.is_current(key) && self.step != Some(key) {
                    self.markdown(text);
                }
            }
            OutboundBody::Notice { text } => self.notice(text),
            OutboundBody::Digest { .. } | OutboundBody::Reminder { .. } => {
                self.notice(&without_buttons(body))
            }
            OutboundBody::Question { turn_seq, question } => {
                self.question(*turn_seq, question, None)
            }
        }
    }

    /// Shows a question of turn `turn`, whose text is complete by now.
    pub fn question(&mut self, turn: u64, question: &Question, number: Option<usize>) {
        if self.step.is_some_and(|(running, _)| running == turn) {
            self.end_step();
        }
        let lines = question_lines(question, number, self.look);
        self.add(Shown::Question, lines);
    }

    /// All of a question that is open.
    pub(super) fn whole_question(
        &mut self,
        question: &Question,
        number: Option<usize>,
        clock: &Clock,
    ) {
        self.add(Shown::Question, whole_lines(question, number, self.look, clock));
    }

    /// What was staged in turn `turn`, as one list.
    pub(super) fn staged(&mut self, turn: u64, list: &[Open], clock: &Clock) {
        if self.step.is_some_and(|(running, _)| running == turn) {
            self.end_step();
        }
        let lines = staged_lines(list, self.look, clock);
        self.add(Shown::Question, lines);
    }

    /// One sentence from claw itself.
    pub fn note(&mut self, text: &str) {
        self.hang(Shown::Note, ("• ", Style::DIM), text, Style::DIM);
    }

    /// The same from the outbox, in Markdown: a result that it quotes stands in a block of its own.
    fn notice(&mut self, text: &str) {
        let look = Look::new(self.look.width.saturating_sub(2), self.look.colour);
        // A painted line has no space at its end.
        let mark = format!("{} ", paint_line(&[Span::new("•", Style::DIM)], self.look));
        let lines =
            markdown_lines(text, look).into_iter().enumerate().map(|(index, line)| match index {
                0 => format!("{mark}{line}"),
                _ if line.is_empty() => line,
                _ => format!("  {line}"),
            });
        let lines = lines.collect();
        self.add(Shown::Note, lines);
    }

    pub fn error(&mut self, text: &str) {
        self.hang(Shown::Note, ("! ", Style::RED.with(Style::BOLD)), text, Style::RED);
    }

    /// A whole text in Markdown.
    pub fn markdown(&mut self, text: &str) {
        let lines = markdown_lines(text, self.look);
        self.last = if self.last == Shown::Nothing { Shown::Nothing } else { Shown::Typed };
        self.add(Shown::Text, lines);
    }

    /// The person has typed a line, which stands above whatever comes next.
    pub fn typed(&mut self) {
        self.last = Shown::Typed;
    }

    /// Others have written on the terminal: what comes next stands below that.
    pub fn below_others(&mut self) {
        self.lines.push(String::new());
        self.last = Shown::Typed;
        self.changed = true;
    }

    /// No turn runs: nothing is left of what was passing.
    pub fn idle(&mut self) {
        self.end_step();
        self.calls.clear();
        self.passing.clear();
        self.changed = true;
    }

    fn heard(&mut self, key: StepKey, bytes: usize) {
        if self.is_current(key)
            && let Some(thinking) = &mut self.thinking
        {
            thinking.heard(bytes);
        }
    }

    /// Whether something on the screen goes on by itself.
    pub fn moves(&self) -> bool {
        self.drafts && self.thinking.is_some()
    }

    /// Time goes on: a model that says nothing is still seen to be at work.
    pub fn tick(&mut self, now: Instant) {
        let Some(thinking) = self.thinking.as_mut().filter(|_| self.drafts) else { return };
        self.changed |= thinking.tick(now);
    }

    fn is_current(&self, key: StepKey) -> bool {
        self.replied.is_none_or(|turn| key.0 > turn) && self.step.is_none_or(|step| key >= step)
    }

    /// Makes `key` the step that is shown. A step that starts once more is a repetition.
    fn enter(&mut self, key: StepKey, starts: bool) {
        if !self.is_current(key) {
            return;
        }
        if self.step != Some(key) {
            self.end_step();
            self.streamed.forget(key.0);
            self.step = Some(key);
        } else if starts && !self.view.text().is_empty() {
            self.view.restart();
        }
        self.passing.clear();
    }

    fn text(&mut self, key: StepKey, text: &str) {
        if !self.is_current(key) {
            return;
        }
        self.enter(key, false);
        let lines = self.view.push(text);
        self.add_streamed(lines);
    }

    fn add_streamed(&mut self, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        // The view sets its own blocks apart; only its first lines need to be set apart from what
        // was there before.
        let apart = match self.last {
            Shown::Nothing => false,
            Shown::Text => !self.step_shown,
            _ => true,
        };
        if apart && lines.first().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
        self.step_shown = true;
        self.last = Shown::Text;
        self.lines.extend(lines);
        self.changed = true;
    }

    fn end_step(&mut self) {
        self.thinking = None;
        let text = self.view.text().to_owned();
        let lines = self.view.finish();
        self.add_streamed(lines);
        if let Some((turn, _)) = self.step.filter(|_| !text.is_empty()) {
            self.streamed.keep(turn, text);
        }
        self.step_shown = false;
        self.passing.clear();
    }

    fn reply(&mut self, turn: u64, text: &str) {
        if self.replied == Some(turn) {
            return;
        }
        if self.step.is_some_and(|(running, _)| running == turn) {
            // The reply may overtake the last glimpses: what it has more than them is all that is
            // missing.
            let streamed = self.view.text().trim_start();
            if !same_words(streamed, text)
                && let Some(rest) = text.trim_start().strip_prefix(streamed)
                && !self.streamed.has(turn, text)
            {
                let lines = self.view.push(rest);
                self.add_streamed(lines);
            }
        }
        // The next turn may be under way already: its text goes on below this reply.
        if self.step.is_none_or(|(running, _)| running <= turn) {
            self.end_step();
        }
        if !self.streamed.has(turn, text) {
            let lines = markdown_lines(text, self.look);
            self.last = if self.last == Shown::Nothing { Shown::Nothing } else { Shown::Typed };
            self.add(Shown::Text, lines);
        }
        self.replied = self.replied.max(Some(turn));
        self.streamed.replied(turn);
    }

    fn progress(&mut self, call: &CallId, text: &str, now: Instant) {
        let Some(row) = self.calls.progress(call, text) else { return };
        if !self.drafts && self.calls.may_print(call, now) {
            self.hang(Shown::Call, ("  ", Style::PLAIN), &row, Style::DIM);
        }
    }

    fn draft(&self) -> Vec<String> {
        let mut draft = self.view.draft();
        let room = self.look.width.saturating_sub(1);
        let mut row = |text: &str| {
            draft.push(paint_line(&[Span::new(&head(text, room), Style::DIM)], self.look))
        };
        if !self.passing.is_empty() {
            row(&self.passing);
        }
        if let Some(thinking) = &self.thinking {
            row(&thinking.row(!self.view.text().is_empty(), room));
        }
        self.calls.rows(room).iter().for_each(|text| row(text));
        draft
    }

    /// A mark and a text beside it; line feeds of the text stay.
    fn hang(&mut self, shown: Shown, (mark, mark_style): (&str, Style), text: &str, style: Style) {
        let spans = [Span::new(&clean(text.trim()), style)];
        let rows = wrap(&spans, self.look.width.saturating_sub(2), Long::Keep);
        let lines = rows.into_iter().enumerate().map(|(index, row)| {
            let start = if index == 0 {
                Span::new(mark, mark_style)
            } else {
                Span::new("  ", Style::PLAIN)
            };
            paint_line(&std::iter::once(start).chain(row).collect::<Vec<_>>(), self.look)
        });
        let lines = lines.collect();
        self.add(shown, lines);
    }

    fn add(&mut self, shown: Shown, lines: Vec<String>) {
        let apart = match self.last {
            Shown::Nothing => false,
            Shown::Typed => shown == Shown::Text || shown == Shown::Question,
            last => last != shown || shown == Shown::Question,
        };
        if apart && !lines.is_empty() {
            self.lines.push(String::new());
        }
        self.last = shown;
        self.lines.extend(lines);
        self.changed = true;
    }
}

#[cfg(test)]
mod tests;
