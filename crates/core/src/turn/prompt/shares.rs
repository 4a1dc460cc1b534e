//! What of a conversation a window holds, by kind. Pure. Must not know what stands beside it.

use crate::domain::PromptAccount;
use crate::turn::kinds::{ModelView, meaning};
use crate::turn::log::Log;
use crate::turn::window;

/// Estimated tokens of each kind; together they are the window's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// What stands for the part of the conversation before the window.
    pub summary: u64,
    /// What persons and the model have said, the model's calls included.
    pub messages: u64,
    pub results: u64,
    /// Notes of the memory.
    pub recalled: u64,
    /// What the workspace has for agents.
    pub project: u64,
    /// What claw has told: the mode, the branch, how staged actions went.
    pub told: u64,
}

impl Shares {
    pub fn tokens(&self) -> u64 {
        self.summary + self.messages + self.results + self.recalled + self.project + self.told
    }
}

/// The shares of a window.
pub fn shares(log: &Log) -> Shares {
    let mut shares = Shares { summary: window::standing(log), ..Shares::default() };
    for event in log.events() {
        let share = match meaning(event).seen {
            ModelView::Person(_) | ModelView::Model(_) | ModelView::Partial(_) => {
                &mut shares.messages
            }
            ModelView::Result(..) | ModelView::Named(..) => &mut shares.results,
            ModelView::Recalled(_) => &mut shares.recalled,
            ModelView::Project(_) => &mut shares.project,
            ModelView::Context(_) | ModelView::Action => &mut shares.told,
            ModelView::Nothing => continue,
        };
        *share += window::tokens(log, event);
    }
    shares
}

/// What stood beside the conversation when a model was asked last, as far as the window says it.
pub fn beside(log: &Log) -> Option<&PromptAccount> {
    log.beside()
}
