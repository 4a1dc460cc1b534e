//! What an event is by its kind alone, whatever came before it: who writes it, what the time before
//! it was spent on, what a model sees of it, what it does to the window. A new kind of event
//! answers here, and in `state.rs` what it changes in a turn. Pure; must not know turns or logs.

use crate::domain::{Block, CallId, Compaction, Event, EventBody, ImageRef, Outcome};

/// What the kind of an event says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meaning<'a> {
    pub written: Written,
    pub time: Time,
    pub seen: ModelView<'a>,
    pub window: InWindow<'a>,
    pub part_of: PartOf,
}

/// Why an event stands in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It came from outside: a message, an answer, an order, or a limit that needs a clock or a
    /// count over other sessions.
    Input,
    /// The runner wrote it because it asked the model. What a model says can be anything.
    AskingTheModel,
    /// The runner wrote it for another step, which says more of it.
    Step,
}

/// What the time before an event was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The turn was at work.
    Working,
    /// The turn waited for a person, or an action ran that a person has confirmed: what is
    /// confirmed runs on that person's account.
    Waiting,
}

/// What a model sees of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModelView<'a> {
    Nothing,
    /// Where the calls run: the mode, the branch.
    Context(&'a str),
    /// What was found in the memory. It is kept there, so no summary is made of it.
    Recalled(&'a str),
    /// What the workspace has for agents. It is read anew, so no summary is made of it.
    Project(&'a str),
    /// What a person has named in a message, as its server gave it.
    Named(&'a str, &'a [ImageRef]),
    /// A person's words.
    Person(&'a [Block]),
    /// The model's own words.
    Model(&'a [Block]),
    /// The model's own words, as far as they came.
    Partial(&'a str),
    /// The end of a call, behind the reply that made it.
    Result(&'a CallId, &'a Outcome),
    /// What `actions::told` says of a staged action, perhaps nothing.
    Action,
}

/// What an event does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InWindow<'a> {
    /// It is part of it.
    Stays,
    TurnBegins,
    TurnEnds,
    /// The window begins behind the event with this number, and with a summary, which may be empty.
    BeginsBehind {
        through_seq: u64,
        summary: &'a str,
        made: &'a Compaction,
    },
    /// The window begins with this very event, and with nothing before it.
    BeginsHere,
    /// No model sees these events any more.
    Hides {
        from_seq: u64,
        through_seq: u64,
    },
    /// The oldest turns are to be summarised.
    Compacts(CompactionRequest),
    /// They could not be.
    NotCompacted,
}

/// Why a summary is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionRequest {
    /// A person asked for it.
    Asked,
    /// The next turn begins after a long pause: nothing before it stays.
    Idle,
}

/// What goes together with an event when an exchange is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOf {
    /// It is dropped with the exchange that it was written in.
    Exchange,
    /// It says something about other exchanges, and stays.
    Session,
}

const INPUT: Meaning<'static> = Meaning {
    written: Written::Input,
    time: Time::Working,
    seen: ModelView::Nothing,
    window: InWindow::Stays,
    part_of: PartOf::Exchange,
};
const ASKING: Meaning<'static> = Meaning { written: Written::AskingTheModel, ..INPUT };
const STEP: Meaning<'static> = Meaning { written: Written::Step, ..INPUT };

/// The table of all kinds.
pub fn meaning(event: &Event) -> Meaning<'_> {
    of_body(&event.body)
}

/// The same of an event that has no number yet.
pub fn of_body(body: &EventBody) -> Meaning<'_> {
    #[cfg(test)]
    LOOKS.set(LOOKS.get() + 1);
    let waited = |meaning| Meaning { time: Time::Waiting, ..meaning };
    let of_session = |meaning, window| Meaning { window, part_of: PartOf::Session, ..meaning };
    match body {
        EventBody::TurnStarted { .. } => Meaning { window: InWindow::TurnBegins, ..INPUT },
        EventBody::TurnEnded { .. } => Meaning { window: InWindow::TurnEnds, ..STEP },
        EventBody::TurnContext { text } => {
            Meaning { seen: ModelView::Context(text), ..waited(INPUT) }
        }
        EventBody::TurnRecalled { text, .. } => {
            Meaning { seen: ModelView::Recalled(text), ..INPUT }
        }
        EventBody::TurnProject { text, .. } => Meaning { seen: ModelView::Project(text), ..INPUT },
        EventBody::TurnNamed { text, images, .. } => {
            Meaning { seen: ModelView::Named(text, images), ..waited(INPUT) }
        }
        EventBody::UserMessage { blocks, .. } => {
            Meaning { seen: ModelView::Person(blocks), ..waited(INPUT) }
        }
        EventBody::ModelReply { blocks, .. } => {
            Meaning { seen: ModelView::Model(blocks), ..ASKING }
        }
        EventBody::ModelPartial { text } => Meaning { seen: ModelView::Partial(text), ..ASKING },
        EventBody::PromptPacked { .. } | EventBody::ModelFailed { .. } => ASKING,
        EventBody::CallParked { .. } => STEP,
        EventBody::CallAnswered { .. } => waited(INPUT),
        EventBody::ToolResult { call, outcome } => {
            Meaning { seen: ModelView::Result(call, outcome), ..STEP }
        }
        // The turn in which it was staged may be long out of the window.
        EventBody::ActionAnswered { .. } => {
            Meaning { seen: ModelView::Action, ..waited(of_session(INPUT, InWindow::Stays)) }
        }
        EventBody::ActionResult { .. } => {
            Meaning { seen: ModelView::Action, ..waited(of_session(STEP, InWindow::Stays)) }
        }
        EventBody::StopRequested { .. } | EventBody::LimitReached { .. } => INPUT,
        EventBody::CompactRequested { .. } => {
            of_session(INPUT, InWindow::Compacts(CompactionRequest::Asked))
        }
        EventBody::WindowIdle { .. } => {
            of_session(INPUT, InWindow::Compacts(CompactionRequest::Idle))
        }
        // It depends on which servers there are. An undo takes nothing out of the list of tools.
        EventBody::ToolsLoaded { .. } => of_session(INPUT, InWindow::Stays),
        EventBody::ResultsCut { .. } => of_session(STEP, InWindow::Stays),
        EventBody::CompactionFailed { .. } => of_session(STEP, InWindow::NotCompacted),
        EventBody::Summary { text: summary, through_seq, made, .. }
        | EventBody::WindowDropped { through_seq, kept_summary: summary, made, .. } => {
            let through_seq = *through_seq;
            of_session(STEP, InWindow::BeginsBehind { through_seq, summary, made })
        }
        EventBody::SessionCleared {} => of_session(INPUT, InWindow::BeginsHere),
        EventBody::ShellForgotten { .. } => of_session(INPUT, InWindow::Stays),
        EventBody::ExchangeDropped { from_seq, through_seq } => {
            let (from_seq, through_seq) = (*from_seq, *through_seq);
            of_session(INPUT, InWindow::Hides { from_seq, through_seq })
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How often this thread has asked what an event means: the work of whoever walks
    /// through a log.
    pub(super) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}
