//! The loop of an interactive console: what is typed goes out as [`ConsoleEvent`]s, what comes in
//! as [`ConsoleShow`]s is shown. Owns the order of the two and when the screen is painted; must not
//! know sessions, the store or how to answer.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use rustix::process::Signal as SignalName;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::domain::{Answer, ApprovalId, Live, Mode, OutboundBody, Question, Scope, SessionId};
pub use crate::doors::commands::ChatCommand;

use super::editor::{Console, Input};
use super::screen::Screen;
use super::state::{ChatState, Effect};
use crate::doors::answer_words;
use crate::terminal::question::Clock;
use crate::terminal::size::terminal_size;
use crate::terminal::style::Look;

/// Drafts are painted at most this often.
const PAINT_EVERY: Duration = Duration::from_millis(40);

/// What the person wants, in the order in which it was typed.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleEvent {
    /// A message. While a turn runs it joins the turn; while a question is open it waits for the
    /// answer.
    Line(String),
    /// With the words behind it. Never `Help`, `Staged` or `Quit`: the loop answers the first two
    /// and turns the other into [`ConsoleEvent::Quit`].
    Command(ChatCommand, String),
    /// A line that looks like a command and is none of claw's, and what to say where it is no
    /// prompt of a server either.
    Foreign {
        line: String,
        otherwise: String,
    },
    Answer {
        approval: ApprovalId,
        answer: Answer,
    },
    /// Stop the running turn.
    Interrupt,
    /// The last event. The loop ends by itself.
    Quit,
}

impl ConsoleEvent {
    /// Whether it is answered with [`ConsoleShow::Mode`].
    pub(super) fn may_set_mode(&self) -> bool {
        match self {
            Self::Command(command, _) => *command == ChatCommand::Mode,
            Self::Answer { answer, .. } => {
                matches!(answer, Answer::Allow { scope: Scope::Mode { .. }, .. })
            }
            Self::Line(_) | Self::Foreign { .. } | Self::Interrupt | Self::Quit => false,
        }
    }
}

/// What claw has to show.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleShow {
    Live(Live),
    Out(OutboundBody),
    /// What was staged in a turn, all of it together. A question about all items at once is not
    /// among them: here `all` says that.
    Staged {
        turn_seq: u64,
        questions: Vec<Question>,
    },
    /// Something of a question about several calls is answered, which is open and shown.
    ListChanged(Box<Question>),
    /// A question is no longer open, though it was not answered here; `how` completes "The question
    /// about … ": `was answered from another terminal`, `has expired`, `was closed`.
    QuestionClosed {
        approval: ApprovalId,
        how: String,
    },
    /// What came before this is the whole of a row with this number; it is wanted back when all of
    /// it has left for the screen.
    Mark(i64),
    /// The answer to a command, in Markdown.
    Status(String),
    /// What runs without a question from now on. `asked`: the answer to an event of this console
    /// that may set a mode, also where it is the mode of before.
    Mode {
        mode: Mode,
        asked: bool,
    },
    /// One sentence and a next step.
    Error(String),
    /// Nothing runs and nothing is queued, after `taken` events have been received; a turn that
    /// waits for an answer counts as idle. The count keeps an old "idle" from meeting a new
    /// message.
    TurnIdle {
        taken: u64,
    },
}

/// Runs until the person leaves, the input ends and nothing runs, or the other side closes `shows`.
///
/// Gives back whether the input has ended while a call waited for an answer, and nobody sat there
/// to give it.
///
/// # Errors
/// What kept the screen from taking everything that was shown.
pub async fn run(
    mut console: Console,
    (agent, session, zone): (String, SessionId, TimeZone),
    mut shows: mpsc::Receiver<ConsoleShow>,
    events: mpsc::Sender<ConsoleEvent>,
) -> std::io::Result<bool> {
    let mut chat = Chat::new(&console, agent, session);
    let clock = || Clock::now_in(&zone);
    let (mut signals, mut continued) = (Signals::new(), continued());
    let mut ticks = tokio::time::interval(PAINT_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while !chat.left() {
        tokio::select! {
            permit = events.reserve(), if !chat.pending.is_empty() => match (permit, chat.pending.pop_front()) {
                (Ok(permit), Some(event)) => permit.send(event),
                _ => break,
            },
            input = console.inputs.recv(), if chat.takes_input() => {
                chat.input(input.unwrap_or(Input::Eof), &clock());
                if !chat.leaving && !chat.awaits_mode {
                    console.go_on();
                }
            }
            input = signals.recv() => chat.input(input, &clock()),
            () = next(&mut continued) => if console.goes_on_after_stop() {
                chat.screen.below_others();
            },
            show = shows.recv() => match show {
                Some(ConsoleShow::Mode { mode, asked }) => {
                    console.set_mode(mode);
                    if chat.mode(mode, asked) {
                        console.go_on();
                    }
                }
                Some(show) => chat.show(show, &clock()),
                None => break,
            },
            _ = ticks.tick(), if chat.screen.has_changed() || chat.screen.moves() => {}
        }
        chat.screen.tick(Instant::now());
        if !chat.paint(&console) {
            break;
        }
    }
    while let Ok(show) = shows.try_recv() {
        chat.show(show, &clock());
    }
    chat.last_paint = None;
    chat.screen.idle();
    chat.paint(&console);
    let waits = !chat.interactive && chat.state.asked().next().is_some();
    console.close().map(|()| waits)
}

/// Between two lines the terminal makes a signal of Ctrl-C, and a pipe has no keys at all. Being
/// ended or hung up leaves in good order, so that the terminal is given back.
struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
}

impl Signals {
    /// A signal that cannot be listened to keeps its usual effect.
    fn new() -> Self {
        let listen = |kind| signal(kind).ok();
        Self {
            interrupt: listen(SignalKind::interrupt()),
            terminate: listen(SignalKind::terminate()),
            hang_up: listen(SignalKind::hangup()),
        }
    }

    async fn recv(&mut self) -> Input {
        tokio::select! {
            () = next(&mut self.interrupt) => Input::Interrupt { discarded: false },
            () = next(&mut self.terminate) => Input::Failed("claw was asked to end".into()),
            () = next(&mut self.hang_up) => Input::Failed("it was closed".into()),
        }
    }
}

/// The process goes on after it was stopped.
fn continued() -> Option<Signal> {
    signal(SignalKind::from_raw(SignalName::CONT.as_raw())).ok()
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => _ = signal.recv().await,
        None => std::future::pending().await,
    }
}

struct Chat {
    /// Whose chat it is.
    agent: String,
    state: ChatState,
    screen: Screen,
    colour: bool,
    interactive: bool,
    /// Not yet taken by the other side.
    pending: VecDeque<ConsoleEvent>,
    leaving: bool,
    /// What was typed last may set a mode: the next prompt waits until it is known.
    awaits_mode: bool,
    last_paint: Option<Instant>,
}

/// As wide as the terminal is now. What goes into a pipe keeps its lines of code whole.
fn look(colour: bool, interactive: bool) -> Look {
    Look::new(terminal_size().columns, colour).breaking_code(interactive)
}

impl Chat {
    fn new(console: &Console, agent: String, session: SessionId) -> Self {
        let (colour, interactive) = (console.colour, console.interactive);
        Self {
            agent,
            state: ChatState::new(interactive, session),
            screen: Screen::new(look(colour, interactive), interactive),
            colour,
            interactive,
            pending: VecDeque::new(),
            leaving: false,
            awaits_mode: false,
            last_paint: None,
        }
    }

    fn left(&self) -> bool {
        self.leaving && self.pending.is_empty()
    }

    /// A line is taken when the one before has been, so that a fast pipe does not fill the memory.
    fn takes_input(&self) -> bool {
        self.pending.is_empty() && !self.leaving
    }

    fn input(&mut self, input: Input, clock: &Clock) {
        if matches!(input, Input::Line(_)) {
            self.screen.typed();
        }
        let effects = self.state.input(input, Instant::now(), clock.now_ms);
        self.apply(effects, clock);
    }

    fn apply(&mut self, effects: Vec<Effect>, clock: &Clock) {
        for effect in effects {
            match effect {
                Effect::Send(event) => {
                    self.awaits_mode |= self.interactive && event.may_set_mode();
                    self.pending.push_back(event);
                }
                Effect::Note(text) => self.screen.note(&text),
                Effect::Markdown(text) => self.screen.markdown(&text),
                Effect::Staged => {
                    let list = self.state.staged.again(Instant::now());
                    self.screen.staged(0, list, clock);
                }
                Effect::Whole(question, number) => {
                    self.screen.whole_question(&question, number, clock);
                }
                Effect::StaysOpen(open) => {
                    self.screen.note(&answer_words::stays_open(&open, &self.agent, clock));
                }
                Effect::Leave => self.leaving = true,
            }
        }
    }

    /// Whether the prompt that has waited for this may come now. Where the mode has changed without
    /// this console, the prompt that stands there may have no room for its name, so a line says it.
    fn mode(&mut self, mode: Mode, asked: bool) -> bool {
        if !asked {
            self.screen.note(&format!("Mode {mode} from now on: {}.", mode.says()));
            return false;
        }
        std::mem::take(&mut self.awaits_mode)
    }

    fn show(&mut self, show: ConsoleShow, clock: &Clock) {
        let now = Instant::now();
        match show {
            ConsoleShow::Live(live) => {
                if matches!(live, Live::StepStarted { .. } | Live::CallStarted { .. }) {
                    self.state.running();
                }
                self.screen.live(live, now);
            }
            ConsoleShow::Out(OutboundBody::Question { turn_seq, question }) => {
                if let Some(number) = self.state.ask(&question, now) {
                    self.screen.question(
                        turn_seq,
                        &question,
                        Some(number).filter(|number| *number > 1),
                    );
                }
            }
            ConsoleShow::Staged { turn_seq, questions } => {
                let list = self.state.staged.stage(questions, now);
                if !list.is_empty() {
                    self.screen.staged(turn_seq, &list, clock);
                }
            }
            ConsoleShow::Out(body) => self.screen.out(&body),
            ConsoleShow::ListChanged(question) => {
                if let Some(note) = self.state.list_changed(&question) {
                    self.screen.note(&note);
                }
            }
            ConsoleShow::QuestionClosed { approval, how } => {
                if let Some(about) = self.state.close(&approval, now) {
                    self.screen.note(&format!("{about} {how}."));
                }
            }
            ConsoleShow::Mark(mark) => self.screen.mark(mark),
            ConsoleShow::Mode { mode, asked } => _ = self.mode(mode, asked),
            ConsoleShow::Status(text) => self.screen.markdown(&text),
            ConsoleShow::Error(text) => self.screen.error(&text),
            ConsoleShow::TurnIdle { taken } => {
                if let Some(effects) = self.state.idle(taken) {
                    self.screen.idle();
                    self.apply(effects, clock);
                }
            }
        }
    }

    /// Paints what has changed, unless only drafts have and the last ones are fresh. False if the
    /// screen is gone.
    fn paint(&mut self, console: &Console) -> bool {
        let fresh = self.last_paint.is_some_and(|at| at.elapsed() < PAINT_EVERY);
        if fresh && !self.screen.has_lines() {
            return true;
        }
        let Some(frame) = self.screen.take() else { return true };
        self.last_paint = Some(Instant::now());
        let shown = console.painter.show(frame);
        if self.interactive {
            self.screen.set_look(look(self.colour, true));
        }
        shown
    }
}
