//! What people did, for the oracle: their own memory, apart from what Telegram's stand-in recorded.
//! Must not know why they did it.

use std::time::Instant;

use crate::botapi::{Tap, UpdateId};

/// A command that claw answers itself, told apart by what stands in its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    Status,
    Usage,
    Model,
    Help,
    /// `/panic on` and `/panic off`.
    Switch,
    /// `/mode edits`.
    Mode,
    /// No command at all.
    Unknown,
    /// The reason behind a denial, which is answered, too.
    Reason,
}

/// What goes to the session, as the inbox calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    Clear,
    Stop,
    Undo,
    Compact,
}

impl Order {
    pub fn kind(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Stop => "stop",
            Self::Undo => "undo",
            Self::Compact => "compact",
        }
    }

    pub fn command(self) -> &'static str {
        match self {
            Self::Clear => "/new",
            Self::Stop => "/stop",
            Self::Undo => "/undo",
            Self::Compact => "/compact",
        }
    }
}

#[derive(Clone, Debug)]
pub enum Act {
    /// A message, or a new version of one, with a name that no other one has.
    Task {
        name: String,
    },
    /// A file, whose caption is the task of this name.
    Paper {
        name: String,
    },
    Command {
        asked: Asked,
        update: Option<UpdateId>,
    },
    /// `/remember`, with a word that no other note has.
    Remember {
        word: String,
    },
    Order {
        order: Order,
    },
    /// A tap on a question; `old` if the message did not show that button any more.
    Tap {
        tap: Tap,
        approval: String,
        code: String,
        old: bool,
        at: Instant,
    },
    /// The reason of a denial, as a reply to the message that asks for it.
    Reason {
        approval: String,
        text: String,
        update: Option<UpdateId>,
    },
}

/// The question and the code of a button: `q:ID:CODE`.
pub fn button_of(data: &str) -> Option<(&str, &str)> {
    data.strip_prefix("q:")?.split_once(':')
}

/// Whether the code of a button lets something run.
pub fn is_allowing(code: &str) -> bool {
    ["=y", "=10m", "=s", "=a", MODE_CODE].contains(&code)
}

/// The code of the button that gives the mode `edits` with a yes.
pub const MODE_CODE: &str = "=e";

/// The number of a list that a button allows: `=3`.
pub fn number_of(code: &str) -> Option<usize> {
    code.strip_prefix('=')?.parse().ok()
}

/// What is in the file that goes with a task.
pub fn paper_of(task: &str) -> Vec<u8> {
    format!("the paper of {task}\n").repeat(40).into_bytes()
}
