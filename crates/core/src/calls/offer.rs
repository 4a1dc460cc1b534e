//! After the third equal yes a question offers the narrowest grant that would have spared them.
//! Must not know how a grant is given, or doors.

use std::path::Path;

use super::Calls;
use super::approvals::call_of_row;
use super::grants::CLASS_MUTATING;
use crate::domain::{Answer, Choice, Effect, Scope, Term, ToolCall, UnixMillis};
use crate::policy::mode;
use crate::policy::shape::{self, Shape};
use crate::store::{ApprovalRow, StoreError, now_ms};

/// So many yeses to the like of a call make an offer.
const YESES: usize = 3;
/// So many of the newest answers are looked at.
const ANSWERS_MAX: u32 = 200;
const DAY_MS: UnixMillis = 24 * 60 * 60 * 1000;

/// An answer to a call of the same tool by the same person in the same workspace.
struct Earlier {
    question: ApprovalRow,
    call: ToolCall,
}

impl Calls {
    /// Names the answer in the effect, and says why it is there. Only what a mode would let through
    /// is offered: nothing that deletes, reaches the network, is obeyed on sight, or is not our own
    /// tool. An offer that was passed over is not made again within the same days.
    pub(super) fn offer(
        &self,
        call: &ToolCall,
        rule: &str,
        choices: &[Choice],
        effect: &mut Effect,
    ) {
        let days = self.limits().grant_offer_days;
        let facts = self.facts(call, None);
        if days == 0 || rule != CLASS_MUTATING || mode::that_fits(&facts).is_none() {
            return;
        }
        let earlier = match self.earlier(call, now_ms() - DAY_MS * UnixMillis::from(days)) {
            Ok(earlier) => earlier,
            Err(error) => {
                tracing::warn!(%error, "the earlier answers cannot be read; no grant is offered");
                return;
            }
        };
        // The choices stand from the narrowest to the widest.
        let narrowest = choices.iter().find(|choice| match &choice.answer {
            Answer::Allow { term: Term::Always, scope } => Shape::of(scope, &facts)
                .is_some_and(|shape| self.is_due(&shape, &choice.answer, &earlier)),
            _ => false,
        });
        if let Some(choice) = narrowest {
            effect.offer = Some(choice.key.clone());
            effect.notes.push(format!("You have said yes {YESES} times to the like of it"));
        }
    }

    /// Whether the newest answers to calls of this shape are three yeses of one person, and the
    /// offer was not passed over.
    fn is_due(&self, shape: &Shape, answer: &Answer, earlier: &[Earlier]) -> bool {
        if earlier.iter().any(|one| passed_over(&one.question, answer)) {
            return false;
        }
        let covered =
            earlier.iter().filter(|one| shape::covers(shape, &self.facts(&one.call, None)));
        let mut yeses = Vec::new();
        for one in covered {
            match one.question.answer {
                Some(Answer::Allow { term: Term::Once, scope: Scope::Exact }) => {
                    yeses.push(&one.question.decided_by);
                }
                // What was granted once has ended since.
                Some(Answer::Allow { .. }) => {}
                _ => break,
            }
        }
        yeses.len() >= YESES && yeses[1..YESES].iter().all(|who| *who == yeses[0])
    }

    /// The newest answers first.
    fn earlier(&self, call: &ToolCall, since: UnixMillis) -> Result<Vec<Earlier>, StoreError> {
        self.store.read(|tx| {
            let mut found = Vec::new();
            for question in tx.approvals_answered_since(since, ANSWERS_MAX)? {
                if question.question.server != call.server || question.question.tool != call.tool {
                    continue;
                }
                let Some(row) = tx.call(&question.call)? else { continue };
                if row.principal == call.principal && Path::new(&row.cwd) == self.workspace() {
                    found.push(Earlier { question, call: call_of_row(&row)? });
                }
            }
            Ok(found)
        })
    }
}

/// Whether a question has offered this answer, and was answered otherwise.
fn passed_over(question: &ApprovalRow, answer: &Answer) -> bool {
    let asked = &question.question;
    let offered = asked.effect.as_ref().and_then(|effect| effect.offer.as_ref());
    offered.is_some_and(|key| {
        asked.choices.iter().any(|choice| choice.key == *key && choice.answer == *answer)
            && question.answer.as_ref() != Some(answer)
    })
}
