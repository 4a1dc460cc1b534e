//! The end of a turn: every tool use gets a result, everybody gets the answer, in one transaction.
//! Must not know doors.

use super::drive::Drive;
use super::worker::SessionError;
use crate::domain::{EventBody, OutboundBody, TurnEnd};
use crate::killpoint;
use crate::turn::last_words;
use crate::turn::next::is_over_the_window;

impl Drive<'_> {
    /// Ends the turn: the model has answered, or something else ended it. Calls that were never
    /// forwarded are not; one that was is reported as unknown.
    pub(super) async fn end(&mut self, end: TurnEnd) -> Result<(), SessionError> {
        let reason = match &end {
            TurnEnd::Stopped { .. } => "the turn was stopped before it ran",
            TurnEnd::Limit { .. } => "a limit stopped the turn before it ran",
            TurnEnd::Failed { .. } => "the turn failed before it ran",
            TurnEnd::Answered => "the turn ended before it ran",
        };
        let open = self.turn().unanswered();
        for (call, _) in open {
            let outcome = self.worker.gate.abandon(&call, reason).await?;
            self.called(call, outcome)?;
        }
        self.close_pauses(reason).await?;
        let turn_seq = self.turn_seq();
        // Before anybody reads the answer and changes something.
        self.worker.gate.snapshots().note(&self.turn_id(turn_seq)).await;
        let text = last_words(&self.turn(), &end);
        let step = if end == TurnEnd::Answered { self.steps() } else { 0 };
        let told = self.told_at_end(&end, text)?;
        let is_silent = told.is_none();
        if let Some(text) = told {
            self.tell(&OutboundBody::Reply { turn_seq, step, text });
        }
        self.stage_of_turn()?;
        self.pending.key_refused = self.turn().key_refused.map(str::to_owned);
        let over = is_silent || is_over_the_window(&self.turn(), &self.settings.runner.bounds);
        let through_seq = self.push(EventBody::TurnEnded { end });
        if over {
            // The log keeps what no model could read, and no later request carries it.
            self.push(EventBody::ExchangeDropped { from_seq: turn_seq, through_seq });
        }
        killpoint::here("turn.end.before");
        self.flush_now().await?;
        killpoint::here("turn.end.after");
        Ok(())
    }
}
