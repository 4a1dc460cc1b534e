//! The calls of one reply on their way through the gate: results into the log as they come, and
//! what waits for a human asked about together. Must not know how a call is judged, or doors.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::drive::Drive;
use super::watch::By;
use super::worker::SessionError;
use crate::domain::{
    ApprovalId, ApprovalState, CallId, EventBody, Live, LiveSink, LoadedBy, OutboundBody, Outcome,
    OwnServerName, TOOL_SEARCH, ToolUse, escape,
};
use crate::gate::InputNews;
use crate::turn::{loaded, shells};

/// How long a question waits for the calls beside it that are not judged yet, because their server
/// is being started. What asks later is another question.
const JUDGED_WITHIN: Duration = Duration::from_secs(10);

/// The calls of a reply that wait for a human and are not asked about yet.
struct Parking {
    parked: Vec<(CallId, ApprovalId)>,
    /// Those that may still come to wait.
    unjudged: HashSet<CallId>,
    /// When those that wait are asked about at the latest.
    until: Instant,
}

impl Drive<'_> {
    pub(super) async fn calls(&mut self, uses: Vec<(CallId, ToolUse)>) -> Result<(), SessionError> {
        let worker = self.worker;
        let mut around = self.around(worker.ending().no_running_call());
        let (live, mut started) = hearing_starts(around.live.clone());
        around.live = live;
        let (tell, mut news) = mpsc::unbounded_channel();
        around.asks = Arc::new(move |heard| {
            // Nobody listens when the step is over.
            let _ = tell.send(heard);
        });
        let mut parking = Parking {
            parked: Vec::new(),
            unjudged: uses.iter().map(|(call, _)| call.clone()).collect(),
            until: Instant::now(),
        };
        let behalf = self.behalf();
        let session = self.session.clone();
        let cancel = around.cancel.clone();
        let settings = self.settings.clone();
        let shells = shells::before(&self.log, &uses);
        let mut outcomes = std::pin::pin!(settings.runner.calls(uses, &shells, &behalf, &around));
        let step = async {
            loop {
                let asks_now = parking.unjudged.is_empty() && !parking.parked.is_empty();
                if asks_now {
                    self.park(&mut parking.parked)?;
                }
                tokio::select! {
                    biased;
                    Some(call) = started.recv() => {
                        parking.unjudged.remove(&call);
                    }
                    Some(heard) = news.recv() => self.hear(heard)?,
                    outcome = outcomes.next() => match outcome {
                        None => break,
                        Some((call, outcome)) => self.take_in(&mut parking, call, outcome)?,
                    },
                    () = tokio::time::sleep_until(parking.until), if !parking.parked.is_empty() => {
                        self.park(&mut parking.parked)?;
                    }
                }
            }
            while let Ok(heard) = news.try_recv() {
                self.hear(heard)?;
            }
            self.park(&mut parking.parked)
        };
        worker.interruptible(&session, &cancel, By::StopOrPanic, step).await?;
        if cancel.is_cancelled() {
            worker.gate.obey_panic().await?;
        }
        Ok(())
    }

    fn take_in(
        &mut self,
        parking: &mut Parking,
        call: CallId,
        outcome: Outcome,
    ) -> Result<(), SessionError> {
        parking.unjudged.remove(&call);
        if outcome == Outcome::Left {
            return Ok(());
        }
        if let Outcome::Parked { approval } = outcome {
            if parking.parked.is_empty() {
                parking.until = Instant::now() + JUDGED_WITHIN;
            }
            parking.parked.push((call, approval));
            return Ok(());
        }
        // Its server had asked, and does not wait for the answer any more.
        if let Some(approval) = self.turn().waiting.get(&call).cloned() {
            let by = ApprovalState::Superseded.to_string();
            self.push(EventBody::CallAnswered { call: call.clone(), approval, answer: None, by });
        }
        self.called(call, outcome)?;
        self.flush_soon();
        Ok(())
    }

    /// What became of one call. What nobody knows is told to the owner, too.
    pub(super) fn called(&mut self, call: CallId, outcome: Outcome) -> Result<(), SessionError> {
        if let Outcome::Parked { approval } = outcome {
            return self.park(&mut vec![(call, approval)]);
        }
        let outcome = self.within_limit(outcome);
        if let Outcome::Unknown { reason } = &outcome {
            let text = format!(
                "The call {call} was interrupted: it may or may not have run ({reason}). It will \
                 not be repeated."
            );
            self.tell(&OutboundBody::Notice { text });
        }
        self.tell_of_full(&call, &outcome)?;
        self.tell_for_user(&call, &outcome);
        let loads = self.loads(&call, &outcome);
        self.push(EventBody::ToolResult { call, outcome: Box::new(outcome) });
        // With the result, so that no kill comes between them.
        if let Some(loads) = loads {
            self.push(loads);
        }
        Ok(())
    }

    /// What a server asks while its call runs. The question goes out at once, and stands in the log
    /// like that of a call that waits: the time until its answer is not the turn's.
    fn hear(&mut self, news: InputNews) -> Result<(), SessionError> {
        match news {
            InputNews::Notice { text } => self.tell(&OutboundBody::Notice { text }),
            InputNews::Asked { call, approval } => {
                let asked = self.worker.gate.calls().question(&approval)?;
                let turn_seq = self.turn_seq();
                (self.live)(Live::CallAsks { call: call.clone(), approval: approval.clone() });
                if let Some(question) = asked {
                    self.tell(&OutboundBody::Question { turn_seq, question: Box::new(question) });
                }
                self.push(EventBody::CallParked { call, approval });
            }
            InputNews::Answered { call, approval } => {
                if let Some((answer, by)) = self.worker.gate.calls().answer_to(&approval)? {
                    self.push(EventBody::CallAnswered { call, approval, answer, by });
                }
            }
            InputNews::TakenBack { call, approval } => self.is_taken_back(call, approval)?,
        }
        self.flush_soon();
        Ok(())
    }

    /// The end of the call may have said so already.
    fn is_taken_back(&mut self, call: CallId, approval: ApprovalId) -> Result<(), SessionError> {
        if self.turn().waiting.get(&call) != Some(&approval) {
            return Ok(());
        }
        // Somebody may have answered in the same moment.
        let answered = self.worker.gate.calls().answer_to(&approval)?;
        let answered = answered.filter(|(answer, _)| answer.is_some());
        let closed = || (None, ApprovalState::Superseded.to_string());
        let (answer, by) = answered.unwrap_or_else(closed);
        self.push(EventBody::CallAnswered { call, approval, answer, by });
        Ok(())
    }

    /// The tools that a model has found by this call and that are not in its requests yet.
    fn loads(&self, call: &CallId, outcome: &Outcome) -> Option<EventBody> {
        let Outcome::Ended { output } = outcome else { return None };
        let turn = self.turn();
        let known = turn.calls.iter().find(|known| known.id == *call)?;
        let loaded = loaded::of(&self.log).filter(|_| known.tool_use.name == TOOL_SEARCH)?;
        let found = output.structured.as_ref()?.get("tools")?.as_array()?;
        let found = found.iter().filter_map(|name| name.as_str());
        let tools: Vec<String> = found
            .filter(|name| !loaded.all.iter().any(|known| known == name))
            .map(str::to_owned)
            .collect();
        (!tools.is_empty()).then_some(EventBody::ToolsLoaded { by: LoadedBy::Search, tools })
    }

    /// Our memory has refused a line because the file that every prompt holds is full. Its owner
    /// hears of it when it happens, once a turn.
    fn tell_of_full(&mut self, call: &CallId, outcome: &Outcome) -> Result<(), SessionError> {
        let Some(why) = full(outcome).filter(|_| self.is_owner_alone()) else { return Ok(()) };
        let is_told = self.turn().results.iter().any(|ended| full(ended.outcome).is_some());
        let row = self.worker.store.read(|tx| tx.call(call))?;
        let hub = self.worker.gate.hub();
        let is_own = row.is_some_and(|row| hub.builtin(&row.server) == Some(OwnServerName::Memory));
        if is_own && !is_told {
            let text = format!("Not proposed: {}", escape::visible(why));
            self.tell(&OutboundBody::Notice { text });
        }
        Ok(())
    }

    /// Asks about calls that wait for a human: several that one question can hold in one, the
    /// others each by itself. A question must not wait for a slow sibling.
    fn park(&mut self, parked: &mut Vec<(CallId, ApprovalId)>) -> Result<(), SessionError> {
        if parked.is_empty() {
            return Ok(());
        }
        let mut parked = std::mem::take(parked);
        parked.sort();
        let asked: Vec<ApprovalId> = parked.iter().map(|(_, approval)| approval.clone()).collect();
        let parked_seq = self.log.next_seq();
        let together = self.worker.gate.calls().together(&self.session, parked_seq, &asked)?;
        let turn_seq = self.turn_seq();
        for question in together.questions {
            self.tell(&OutboundBody::Question { turn_seq, question: Box::new(question) });
        }
        self.pending.lists.extend(together.list);
        for (call, approval) in parked {
            self.push(EventBody::CallParked { call, approval });
        }
        self.flush_soon();
        Ok(())
    }
}

/// What a memory says whose file for every prompt has no room.
fn full(outcome: &Outcome) -> Option<&str> {
    let Outcome::Ended { output } = outcome else { return None };
    output.structured.as_ref()?.get("full")?.as_str()
}

/// The same sink, and which calls it hears to have started: they do not wait for a human.
fn hearing_starts(live: LiveSink) -> (LiveSink, mpsc::UnboundedReceiver<CallId>) {
    let (tell, started) = mpsc::unbounded_channel();
    let sink: LiveSink = Arc::new(move |heard| {
        if let Live::CallStarted { call, .. } = &heard {
            // Nobody listens when the step is over.
            let _ = tell.send(call.clone());
        }
        live(heard);
    });
    (sink, started)
}
