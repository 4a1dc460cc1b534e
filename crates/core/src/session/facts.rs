//! Durable facts that a summary has brought, before the part that they are from leaves the window:
//! each is proposed to our memory server through the gate, like the model's own proposals. Owns
//! where that is done; must not know how a fact is found, or what a tap does.

use std::time::Duration;

use serde_json::json;

use super::drive::Drive;
use super::recall::first_line;
use super::worker::SessionError;
use crate::calls::Proposed;
use crate::domain::{Address, CallId, Origin, Outcome, OwnServerName, Proposal, ToolCall};
use crate::gate::CallContext;
use crate::turn::durable_facts::{Fact, Spoken};

const PROPOSE: &str = "propose";
/// What is noted as the source. What the model proposes by itself has another one, so that of two
/// alike one is asked about, and a summary that is made again is the same call.
const FROM: &str = "summary of the conversation";
/// A summary does not wait longer for one of them.
const TIME: Duration = Duration::from_secs(5);

/// What the memory has made of them: the calls, and what each proposes.
pub(super) type Offered = Vec<(CallId, Proposal)>;

impl Drive<'_> {
    /// Only where the owner is alone with claw, as the memory is asked.
    pub(super) fn asks_for_facts(&self) -> bool {
        self.settings.runner.proposes_facts
            && self.is_owner_alone()
            && self.worker.recall_rests.is_over()
            && self.worker.gate.calls().own_server(OwnServerName::Memory).is_some()
    }

    /// Has them proposed. What the memory does not take (known, asked before, too many of a turn or
    /// a day) is left, and the summary goes on.
    pub(super) async fn propose_facts(
        &self,
        facts: &[Fact],
        through_seq: u64,
    ) -> Result<Offered, SessionError> {
        let mut offered = Vec::new();
        let Some(spoken) = Spoken::through(&self.log, through_seq) else { return Ok(offered) };
        let Some(server) = self.worker.gate.calls().own_server(OwnServerName::Memory) else {
            return Ok(offered);
        };
        for fact in facts {
            if !spoken.says(fact) {
                tracing::info!(session = %self.session, "a fact of a summary is nobody's own word");
                continue;
            }
            let call = self.proposal_of(fact, spoken.origin, server.clone())?;
            let id = call.id.clone();
            match self.offer(call).await {
                Ok(proposals) => {
                    offered.extend(proposals.into_iter().map(|one| (id.clone(), one)));
                }
                Err(why) => {
                    tracing::info!(session = %self.session, why, "a fact was not proposed");
                    if !self.worker.recall_rests.is_over() {
                        break;
                    }
                }
            }
        }
        Ok(offered)
    }

    fn proposal_of(
        &self,
        fact: &Fact,
        origin: Origin,
        server: String,
    ) -> Result<ToolCall, SessionError> {
        let turn = self.log.newest_turn();
        Ok(ToolCall {
            id: self.worker.gate.calls().look_id(&self.session)?,
            server,
            tool: PROPOSE.to_owned(),
            arguments: json!({
                "subject": fact.subject, "text": fact.text, "source": { "file": FROM },
            }),
            origin,
            principal: turn.map(|turn| turn.principal.to_owned()).unwrap_or_default(),
        })
    }

    async fn offer(&self, call: ToolCall) -> Result<Vec<Proposal>, String> {
        // The turn counts, because a turn proposes only so many; also one that has ended, where a
        // summary is asked for after it.
        let turn = self.log.newest_turn().map(|turn| self.turn_id(turn.seq));
        let context = CallContext { turn, ..self.unseen(TIME) };
        let called = self.call_unseen(call, context).await;
        if called.was_late {
            self.worker.recall_rests.begin();
        }
        match called.outcome {
            Outcome::Ended { output } if !output.is_error => Ok(output.actions),
            other => Err(first_line(&other.into_reason())),
        }
    }

    /// Asks about them, under the number of the summary that they came with.
    pub(super) fn stage_facts(
        &mut self,
        offered: Offered,
        summary_seq: u64,
        told: &[Address],
    ) -> Result<(), SessionError> {
        let proposed = (0..).zip(offered).map(|(index, (source, proposal))| Proposed {
            source,
            session: self.session.clone(),
            result_seq: summary_seq,
            index,
            proposal,
        });
        self.stage(proposed.collect(), told, self.turn_seq())
    }

    /// Also where no turn is open: a summary may be asked for between turns. Nobody is known any
    /// more once the part has gone.
    pub(super) fn who_is_here(&self) -> Vec<Address> {
        let mut told = self.addresses();
        if told.is_empty() {
            told.extend(self.log.asked_to_compact());
        }
        if told.is_empty() {
            let newest = self.log.newest_turn();
            let last = newest.and_then(|turn| turn.messages.last().map(|one| one.from.clone()));
            told.extend(last);
        }
        told
    }
}
