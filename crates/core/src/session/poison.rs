//! The breaker for poison: a step at which the process has died again and again is not begun once
//! more without a person. Owns what is asked then. Must not know what a step does, or why it was
//! deadly.

use claw_kit::counted::counted;
use serde_json::json;

use super::drive::Drive;
use super::worker::SessionError;
use crate::domain::{EventBody, OutboundBody, PauseCause};
use crate::store::now_ms;
use crate::turn::Step;
use crate::turn::summarise::asked_ms;

impl Drive<'_> {
    /// Notes that the step begins. True if it does not, because that was deadly too often: its turn
    /// is parked with a question, or, where no turn is open, what was asked for is given up.
    pub(super) async fn is_poisoned(&mut self, step: &Step) -> Result<bool, SessionError> {
        let deaths = self.lock.begins(self.log.next_seq() - 1);
        if deaths < self.settings.deaths_of_turn_max {
            return Ok(false);
        }
        tracing::error!(session = %self.session, deaths, "claw died again and again at the same \
            step, which is not begun");
        if self.log.open_turn().is_none() {
            if let Step::Compact { .. } = step {
                self.push(EventBody::CompactionFailed {
                    reason: format!("claw died {} over it", counted(deaths, "time")),
                    asked_ms: asked_ms(&self.log, Some(now_ms())),
                });
                return Ok(true);
            }
            return Ok(false);
        }
        self.ask_after_deaths(step, deaths).await?;
        Ok(true)
    }

    async fn ask_after_deaths(&mut self, step: &Step, deaths: u32) -> Result<(), SessionError> {
        let doing = match step {
            Step::Call(_) => "ran this turn's tools",
            Step::Compact { .. } => "had the conversation summarised",
            _ => "read the model's reply",
        };
        let why = format!(
            "claw ended unexpectedly {} while it {doing} (limits.deaths_of_turn_max). Should it \
             try once more?",
            counted(deaths, "time")
        );
        let behalf = self.behalf();
        let call = self.next_pause(PauseCause::Deaths);
        let details =
            json!({"deaths": deaths, "deaths_of_turn_max": self.settings.deaths_of_turn_max});
        let gate = &self.worker.gate;
        let label = "try once more";
        let asked = gate
            .calls()
            .ask_to_go_on(&call, behalf.origin, &behalf.principal, &details, why, label)
            .await?;
        let (approval, turn_seq) = (asked.approval.clone(), self.turn_seq());
        self.tell(&OutboundBody::Question { turn_seq, question: Box::new(asked) });
        self.push(EventBody::CallParked { call, approval });
        Ok(())
    }
}
