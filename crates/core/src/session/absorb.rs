//! Takes what waits in the inbox into the log, at the places where it may come in. Must not know
//! who wrote it or by which door.

use std::collections::{BTreeMap, BTreeSet};

use super::actions::Taken;
use super::drive::Drive;
use super::worker::SessionError;
use crate::calls::rounds::UnderWay;
use crate::domain::{
    Answer, ApprovalId, ApprovalState, CallId, EventBody, InboundBody, Origin, Outbound,
    OutboundBody, PauseCause, heartbeat_of, job_of,
};
use crate::store::InboxRow;
use crate::turn::{Step, estimate, next, shells};

impl Drive<'_> {
    /// Absorbs every row that may come in now. A message waits until the results in hand are in the
    /// log, so that a tool use and its result are never parted.
    pub(super) async fn absorb(&mut self) -> Result<(), SessionError> {
        // A turn keeps what it has begun with.
        if self.log.open_turn().is_none() {
            self.settings = self.worker.settings();
        }
        self.worker.gate.calls().expire_staged(&self.session).await?;
        self.expire().await?;
        self.mirror_closed()?;
        let rows = self.worker.store.read(|tx| tx.queued_inbound(&self.session))?;
        self.find_acting(&rows)?;
        // A message that has waited for a stop begins as soon as that is done with.
        while self.absorb_rows(&rows).await? && self.log.open_turn().is_none() {}
        Ok(())
    }

    /// Whether an order that ends turns is done with, and a message has waited for one.
    async fn absorb_rows(&mut self, rows: &[InboxRow]) -> Result<bool, SessionError> {
        let (mut unread, mut waits, mut settled) = (0, false, false);
        for row in rows {
            if self.absorbed.contains(&row.id) {
                continue;
            }
            let ends_turns = matches!(row.inbound.body, InboundBody::Stop | InboundBody::Clear);
            if ends_turns {
                self.tell_unread(row, std::mem::take(&mut unread));
            }
            let done = match self.absorb_action(row).await? {
                Taken::InHand => continue,
                Taken::Done => true,
                Taken::NoAction if self.waits_for_stop(row, rows) => {
                    waits = true;
                    false
                }
                Taken::NoAction => self.absorb_row(row, rows).await?,
            };
            unread += u32::from(done && self.has_taken_in(row));
            // What was said behind `/new` is for the conversation that it begins, and what was said
            // behind a stop is not what it ends.
            if !done && ends_turns {
                break;
            }
            if done {
                self.absorbed.insert(row.id);
                self.pending.absorbed.push(row.id);
                // A stop that is done with must not stop what comes after it, and grants that have
                // ended must not be seen any more: both are read from the disk.
                if ends_turns && self.log.open_turn().is_none() {
                    self.flush_now().await?;
                }
                settled |= ends_turns;
            }
        }
        Ok(waits && settled)
    }

    /// Whether the row is done with; false leaves it for later.
    async fn absorb_row(
        &mut self,
        row: &InboxRow,
        rows: &[InboxRow],
    ) -> Result<bool, SessionError> {
        match &row.inbound.body {
            InboundBody::Message { .. } => self.absorb_message(row, rows).await,
            InboundBody::Answered { approval, answer, by } => {
                // One that comes while its turn is being ended is in the store and in the audit,
                // and has no place in the log.
                if let Some(call) = self
                    .worker
                    .gate
                    .calls()
                    .call_of(approval)?
                    .filter(|call| self.is_of_open_turn(call))
                {
                    if let (Some(Answer::Allow { .. }), CallId::Pause { cause, .. }) =
                        (answer, &call)
                    {
                        let today = self.settings.budget.today();
                        let day = (*cause == PauseCause::Budget).then_some(today.as_str());
                        self.worker.gate.calls().goes_on(&call, by, day).await?;
                    }
                    let (approval, answer, by) = (approval.clone(), answer.clone(), by.clone());
                    self.push(EventBody::CallAnswered { call, approval, answer, by });
                }
                Ok(true)
            }
            InboundBody::Stop => {
                let acts = self.stop_actions().await?;
                Ok(self.stop(row, rows, acts))
            }
            InboundBody::Compact => {
                if self.log.has_ended_turn() {
                    let from = Some(row.inbound.from.clone());
                    self.push(EventBody::CompactRequested { from });
                    self.reply_to(row, self.when_compacted());
                } else {
                    self.reply_to(row, "There is nothing to summarise yet.");
                }
                Ok(true)
            }
            InboundBody::Clear => {
                self.stop_actions().await?;
                Ok(self.clear(row))
            }
            InboundBody::Undo => Ok(self.undo(row)),
        }
    }

    async fn absorb_message(
        &mut self,
        row: &InboxRow,
        rows: &[InboxRow],
    ) -> Result<bool, SessionError> {
        let InboundBody::Message { blocks, .. } = &row.inbound.body else { return Ok(true) };
        match next(&self.log, &self.settings.runner.bounds) {
            // What was streamed is delivered as it is; the message starts the next turn. Results in
            // hand come first. A message is no answer: what waits for one stays open, and the
            // message is read behind it.
            Step::Call(_) | Step::Act(_) | Step::Stop(_) | Step::Deliver | Step::Park => {
                return Ok(false);
            }
            _ => {}
        }
        if !self.may_join(row) || self.is_too_much(row, rows) {
            return Ok(false);
        }
        let fetched = self.fetched(row).await;
        fetched.said.iter().for_each(|said| self.reply_to(row, said));
        if fetched.is_over {
            return Ok(true);
        }
        // What a prompt asks for is the words of its server.
        let origin = if fetched.is_prompt { Origin::Forwarded } else { row.inbound.origin };
        if self.log.open_turn().is_none() {
            let role = self.role_now()?;
            self.begin_anew_if_idle(row);
            self.tell_job(row)?;
            self.push(EventBody::TurnStarted {
                origin,
                principal: row.inbound.principal.clone(),
                role,
            });
            let catalog = self.worker.gate.catalog();
            let keeps = (catalog.keeps_shell_folder(), catalog.keeps_shell_variables());
            for part in shells::unwanted(&self.log, keeps) {
                self.push(EventBody::ShellForgotten { part });
            }
        }
        if origin == Origin::Owner {
            let until_ms = self.worker.gate.calls().mode_until();
            self.pending.mode_used = Some((row.inbound.principal.clone(), until_ms));
        }
        // The demo reads commands, and takes every word for one.
        let reads = self.settings.runner.zone.is_some();
        if reads {
            let git = self.git_state(row).await;
            let (calls, by) = (self.worker.gate.calls(), (row.inbound.principal.as_str(), origin));
            let (shell, is_news) = shells::told(&self.log).unzip();
            let before = self.log.context().filter(|_| is_news != Some(true));
            if let Some(text) = calls.context(&self.session, by, git, shell.as_deref(), before)? {
                self.push(EventBody::TurnContext { text });
            }
        }
        if reads && let Some(project) = self.project(row).await {
            self.push(project);
        }
        if reads
            && !fetched.is_prompt
            && let Some(recalled) = self.recalled(row, blocks).await?
        {
            self.push(recalled);
        }
        for event in self.changed().await.into_iter().chain(fetched.events) {
            self.push(event);
        }
        let (blocks, from) = (blocks.clone(), row.inbound.from.clone());
        self.push(EventBody::UserMessage { blocks, inbox_id: row.id, from, origin });
        Ok(true)
    }

    /// A turn that a job has begun is the job's alone, and no job speaks in somebody else's turn:
    /// it would act for the less trusted of both.
    fn may_join(&self, row: &InboxRow) -> bool {
        let turn = self.turn();
        self.log.open_turn().is_none()
            || (job_of(&row.inbound.principal).is_none()
                && job_of(turn.principal).is_none()
                && self.client_may_join(row))
    }

    /// With this message, and with those before it that wait for the same cause, the turn would be
    /// asked with more than is sent to a model, and no summary of earlier turns could help. It
    /// begins the next turn, which is refused only where the message alone is too long.
    fn is_too_much(&self, row: &InboxRow, rows: &[InboxRow]) -> bool {
        if self.log.open_turn().is_none() {
            return false;
        }
        let earlier = rows.iter().take_while(|one| one.id != row.id);
        let waiting = earlier.filter(|one| !self.absorbed.contains(&one.id) && self.may_join(one));
        let tokens: u64 = waiting.chain([row]).map(|one| written_tokens(&one.inbound.body)).sum();
        self.turn().written_tokens() + tokens > self.settings.runner.bounds.window_tokens
    }

    /// The one line that says which job begins to work.
    fn tell_job(&mut self, row: &InboxRow) -> Result<(), SessionError> {
        // A heartbeat that has nothing to tell tells nothing, also not that it begins.
        if heartbeat_of(&row.inbound.principal).is_some() {
            self.forget_old_exchanges();
            return Ok(());
        }
        let Some((job, revision)) = job_of(&row.inbound.principal) else { return Ok(()) };
        let name = self.worker.store.read(|tx| tx.job_name(job, revision))?;
        let title = name.map(|name| name.title).unwrap_or_default();
        self.reply_to(row, &format!("⏰ Job {}: {title}", job.trim_start_matches('j')));
        Ok(())
    }

    /// Closes the questions whose time is over.
    async fn expire(&mut self) -> Result<(), SessionError> {
        let calls = self.worker.gate.calls();
        for (call, approval) in self.waiting() {
            // What a server asks of a running call is asked by a step, and no step runs now: the
            // process that ran it is gone, and the connection with it.
            if let Some(under_way) = calls.under_way(&call)? {
                Box::pin(calls.close_dead_round(&call)).await?;
                let text = match under_way {
                    UnderWay::Call => {
                        "claw was ended while a server waited for an answer in the middle of its \
                         call: the question is closed, and the call may or may not have run."
                    }
                    UnderWay::Task => {
                        "claw was ended while a server waited for an answer in the middle of its \
                         task: the question is closed, and claw looks at the task again."
                    }
                };
                self.tell(&OutboundBody::Notice { text: text.to_owned() });
                let by = ApprovalState::Superseded.to_string();
                self.push(EventBody::CallAnswered { call, approval, answer: None, by });
                continue;
            }
            calls.expire(&call).await?;
        }
        Ok(())
    }

    /// Brings into the log what the store says of questions that were closed without an answer. The
    /// store says it first, so this also heals a log whose holder was killed in between. An answer
    /// comes by the inbox instead.
    fn mirror_closed(&mut self) -> Result<(), SessionError> {
        let mut told = BTreeSet::new();
        for (call, approval) in self.waiting() {
            let Some(how) = self.worker.gate.calls().closed(&approval)? else { continue };
            let list = self.worker.gate.calls().list_asking(&approval)?;
            let asked_by = list.as_ref().map_or(&approval, |list| &list.id);
            // Of a list it is said once.
            if how == ApprovalState::Expired && told.insert(asked_by.clone()) {
                // The turn itself may wait for an answer, and not one of its calls.
                let input = self.worker.gate.calls().is_about_input(&approval)?;
                let what = match (&call, &list) {
                    _ if input => "its server was told that nobody is there",
                    (CallId::Pause { .. }, _) => "the turn does not go on",
                    (_, None) => "the call was not run",
                    (_, Some(_)) => "what was still open of it was not run",
                };
                let text = format!(
                    "Nobody answered the question {asked_by} in time (limits.question_time_s); \
                     {what}."
                );
                self.tell(&OutboundBody::Notice { text });
            }
            self.push(EventBody::CallAnswered {
                call,
                approval,
                answer: None,
                by: how.to_string(),
            });
        }
        Ok(())
    }

    fn is_of_open_turn(&self, call: &CallId) -> bool {
        self.log.open_turn().is_some_and(|turn| call.seq() >= Some(turn.seq))
    }

    fn waiting(&self) -> BTreeMap<CallId, ApprovalId> {
        self.turn().waiting
    }

    /// `/new`. A running turn is stopped first; the row is done with when nothing runs.
    fn clear(&mut self, row: &InboxRow) -> bool {
        if let Some(turn) = self.log.open_turn() {
            if !turn.stop_requested {
                self.push(EventBody::StopRequested { by: row.inbound.principal.clone() });
            }
            return false;
        }
        self.push(EventBody::SessionCleared {});
        self.pending.end_session_grants = true;
        self.reply_to(
            row,
            "A new conversation. The log keeps the old one; what was allowed for this session has \
             ended.",
        );
        true
    }

    pub(super) fn reply_to(&mut self, row: &InboxRow, text: &str) {
        let body = OutboundBody::Notice { text: text.to_owned() };
        let to = row.inbound.from.clone();
        self.pending.outbound.push(Outbound { session: self.session.clone(), to, body });
    }
}

fn written_tokens(body: &InboundBody) -> u64 {
    match body {
        InboundBody::Message { blocks, .. } => estimate::of_blocks(blocks),
        _ => 0,
    }
}
