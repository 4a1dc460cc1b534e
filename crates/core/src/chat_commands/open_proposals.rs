//! What waits for a tap to be remembered: counted in `/status`, and told once a day in one message.
//! Owns its words, and that a day is told once. Must not know who looks at the clock, or how a door
//! shows it.

use futures::future::BoxFuture;
use jiff::Zoned;
use jiff::civil::Time;

use super::{ChatCommands, code_of};
use crate::domain::{Address, Outbound, OutboundBody, Question, SessionId, Staged};
use crate::store::{ApprovalRow, StoreError, Tx};

/// So many proposals are named.
const NAMED_MAX: usize = 5;
/// Of the words of each, in characters.
const SAYS_CHARS_MAX: usize = 160;

/// Whom to tell, and when.
pub struct WordOfDay {
    /// In the owner's zone.
    pub now: Zoned,
    /// From what time of a day on.
    pub at: Time,
    pub session: SessionId,
    pub to: Address,
    /// Whether nobody but the owner reads it there.
    pub is_private: bool,
}

impl ChatCommands {
    /// Tells what waits, unless this day was told, its time has not come, or nothing waits. That
    /// the day was told and the message are one transaction. True if it goes out.
    pub fn word_of_day(&self, of: WordOfDay) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let store = self.parts().store.clone();
            let day = of.now.date().to_string();
            let is_told = store.read(|tx| tx.proposals_told())?.as_ref() == Some(&day);
            if is_told || of.now.time() < of.at {
                return Ok(false);
            }
            store.write(move |tx| tell(tx, of, &day)).await
        })
    }
}

fn tell(tx: &Tx<'_>, of: WordOfDay, day: &str) -> Result<bool, StoreError> {
    let last = tx.proposals_told()?.unwrap_or_default();
    if last == day {
        return Ok(false);
    }
    tx.set_proposals_told(day)?;
    let mut open = tx.open_questions(None)?;
    open.retain(|row| row.question.is_to_remember());
    // A day behind the last one: the clock was put back. It begins anew tomorrow.
    if last.as_str() > day || open.is_empty() {
        return Ok(false);
    }
    let body = OutboundBody::Notice { text: text(&open, of.is_private) };
    tx.add_outbound(&Outbound { session: of.session, to: of.to, body })?;
    Ok(true)
}

/// How many of them wait, and where they are, for `/status`.
pub(super) fn proposals_wait(number: usize) -> String {
    format!("to remember: {}; `/approvals` shows what", waits(number))
}

fn waits(number: usize) -> String {
    let noun = if number == 1 { "proposal waits" } else { "proposals wait" };
    format!("{number} {noun} for your tap")
}

fn text(open: &[ApprovalRow], is_private: bool) -> String {
    let mut text = format!("**To remember: {}.**\n", waits(open.len()));
    if is_private {
        text.push('\n');
        for row in open.iter().take(NAMED_MAX) {
            text.push_str(&format!("- {}\n", code_of(says(&row.question), SAYS_CHARS_MAX)));
        }
        if open.len() > NAMED_MAX {
            text.push_str(&format!("- and {} more\n", open.len() - NAMED_MAX));
        }
    }
    text.push_str(
        "\nNothing of it is remembered yet. Tap where it was asked; `/approvals` has the ids for \
         `claw approve` and `claw deny`. What nobody answers within a week is dropped.",
    );
    text
}

/// What would be remembered, in the words of the question.
fn says(question: &Question) -> &str {
    match &question.staged {
        Some(Staged::Item { summary, .. }) => {
            summary.strip_prefix("Remember ").unwrap_or(summary.as_str())
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests;
