//! Drives one session while its lock is held: absorb what came in, ask `next`, do the step, again.
//! Must not know how a step is done or who asked.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use super::active_time::between_ms;
use super::client::ClientSpent;
use super::heartbeat::Noted;
use super::pending_rows::PendingRows;
use super::watch::By;
use super::worker::{Ran, SessionError, TurnSettings, Worker};
use crate::domain::{
    Address, Block, CallId, Event, EventBody, LiveSink, Origin, OutboundBody, SessionId, TurnEnd,
    TurnId, text_of,
};
use crate::killpoint;
use crate::store::{SessionLock, StoreError, now_ms};
use crate::turn::run::{Around, Behalf};
use crate::turn::{Log, Step, Turn, next};

pub(super) struct Drive<'w> {
    pub(super) worker: &'w Worker,
    /// Held by whoever runs this.
    pub(super) lock: &'w SessionLock,
    pub(super) session: SessionId,
    /// Of the open turn from its beginning, or of the next one.
    pub(super) settings: Arc<TurnSettings>,
    pub(super) log: Log,
    /// Much of the window was read event by event, which whoever comes next is to be spared.
    keeps_window: bool,
    pub(super) pending: PendingRows,
    /// Inbox rows that were absorbed, perhaps not yet on the disk.
    pub(super) absorbed: HashSet<i64>,
    /// The inbox rows of confirmed actions that have no result yet. They are done with when the
    /// action is, so that a kill in between leaves something that waits.
    pub(super) acting: HashMap<CallId, i64>,
    /// What came of asking the memory last, if anything is to be told of it: a fault, or that there
    /// is none any more.
    pub(super) memory_fault: Option<Option<String>>,
    /// What is wrong with each file that the workspace has for agents, if anything is to be told.
    pub(super) project_faults: Vec<(String, Option<String>)>,
    pub(super) live: LiveSink,
    /// Something was queued for the disk and not waited for.
    unsynced: bool,
    /// A result is among it, with this number or a smaller one. The model is about to see it.
    result_unsynced: Option<u64>,
    /// When this run pushed its events, by a clock that nobody sets.
    pushed: HashMap<u64, std::time::Instant>,
    /// The open turn's, with its number, so that each line of the log says where it belongs.
    span: (u64, Span),
}

impl<'w> Drive<'w> {
    pub(super) fn open(
        worker: &'w Worker,
        lock: &'w SessionLock,
        session: &SessionId,
        live: LiveSink,
    ) -> Result<Self, SessionError> {
        let store = &worker.store;
        let (log, keeps_window) =
            match worker.recent.take(session, store.read(|tx| tx.last_seq(session))?) {
                Some(log) => (log, false),
                None => {
                    let (window, last_seq) =
                        store.read(|tx| Ok((tx.window(session)?, tx.last_seq(session)?)))?;
                    let keeps_window = window.is_worth_keeping();
                    (Log::new(session.clone(), window.events, last_seq), keeps_window)
                }
            };
        Ok(Self {
            worker,
            lock,
            session: session.clone(),
            settings: worker.settings(),
            log,
            keeps_window,
            pending: PendingRows::default(),
            absorbed: HashSet::new(),
            acting: HashMap::new(),
            memory_fault: None,
            project_faults: Vec::new(),
            live,
            unsynced: false,
            result_unsynced: None,
            pushed: HashMap::new(),
            span: (0, Span::none()),
        })
    }

    /// Absorbs what came in and does the next step. What the run has come to, if nothing is left.
    pub(super) async fn step(&mut self) -> Result<Option<Ran>, SessionError> {
        Box::pin(self.absorb()).await?;
        let step = next(&self.log, &self.settings.runner.bounds);
        if !matches!(step, Step::Deliver | Step::Stop(_)) {
            self.flush_soon();
        }
        let span = self.span();
        // On the heap, because everything that runs sessions carries this future.
        Box::pin(self.take(step)).instrument(span).await
    }

    /// Does a step. What the run has come to, if it was the last one.
    async fn take(&mut self, step: Step) -> Result<Option<Ran>, SessionError> {
        match step {
            Step::Done => return Ok(Some(Ran::Idle)),
            Step::Park => return Ok(Some(Ran::Parked)),
            // What is left goes on from its log when claw is started again.
            Step::AskModel
            | Step::Call(_)
            | Step::Act(_)
            | Step::CutResults { .. }
            | Step::Compact { .. }
            | Step::Drop { .. }
                if self.worker.ending().has_begun() =>
            {
                return Ok(Some(Ran::Interrupted));
            }
            Step::AskModel | Step::Call(_) | Step::Compact { .. }
                if self.is_poisoned(&step).await? => {}
            Step::AskModel => self.ask_model().await?,
            Step::Call(uses) => self.calls(uses).await?,
            Step::Act(actions) => self.act(actions).await?,
            Step::CutResults { calls } => self.cut_results(calls).await,
            Step::Compact { through_seq } => self.compact(through_seq).await?,
            Step::Drop { through_seq } => self.drop_oldest(through_seq).await,
            Step::Deliver => self.end(TurnEnd::Answered).await?,
            Step::Stop(end) => self.end(end).await?,
        }
        Ok(None)
    }

    /// One for each turn. At the level of errors, because these are what is logged by default.
    fn span(&mut self) -> Span {
        let turn = self.turn_seq();
        if self.span.0 != turn || self.span.1.is_none() {
            // An action that was confirmed runs after its turn, too.
            let number = (turn > 0).then_some(turn);
            self.span =
                (turn, tracing::error_span!("turn", session = %self.session, turn = number));
        }
        self.span.1.clone()
    }

    /// Numbers an event, keeps it in the window, and stages it for the disk.
    pub(super) fn push(&mut self, body: EventBody) -> u64 {
        let budget = &self.settings.budget;
        if let Some(spent) = budget.spent(&body) {
            let day = budget.today();
            if let Some(name) = self.heartbeat() {
                let noted = Noted::Request { day: day.clone(), tokens: spent.tokens };
                self.note_heartbeat(name, noted);
            }
            if let Some(client) = self.client() {
                let (day, tokens) = (day.clone(), spent.tokens);
                self.pending.clients.push(ClientSpent { client, day, tokens });
            }
            self.pending.day_spent.push((day, spent));
        }
        let is_result =
            matches!(body, EventBody::ToolResult { .. } | EventBody::ActionResult { .. });
        let event = self.log.push(now_ms(), body);
        let seq = event.seq;
        self.pushed.insert(seq, std::time::Instant::now());
        if is_result {
            self.result_unsynced = Some(seq);
        }
        self.pending.events.push(event);
        seq
    }

    /// Tells everybody who takes part in the open turn.
    pub(super) fn tell(&mut self, body: &OutboundBody) {
        self.tell_all(&self.addresses(), body);
    }

    /// Hands what is pending to the disk, without waiting for it.
    pub(super) fn flush_soon(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let (pending, session) = (std::mem::take(&mut self.pending), self.session.clone());
        self.unsynced = true;
        self.worker.store.write_soon(move |tx| pending.write(&session, tx));
    }

    /// Writes what is pending, and everything before it, and waits for the disk.
    pub(super) async fn flush_now(&mut self) -> Result<(), SessionError> {
        let (pending, session) = (std::mem::take(&mut self.pending), self.session.clone());
        self.worker.store.write(move |tx| pending.write(&session, tx)).await?;
        self.unsynced = false;
        self.result_unsynced = None;
        Ok(())
    }

    /// The next holder of the lock must see everything, so nothing may still be queued when it is
    /// let go.
    pub(super) async fn let_go(mut self) -> Result<(), SessionError> {
        if self.unsynced || !self.pending.is_empty() {
            self.flush_now().await?;
        }
        if self.keeps_window {
            let session = self.session.clone();
            // Behind everything that was waited for: nobody is told later because of it, and
            // without it nothing is lost.
            self.worker.store.write_soon(move |tx| tx.keep_window(&session));
        }
        self.worker.recent.keep(self.log);
        Ok(())
    }

    async fn ask_model(&mut self) -> Result<(), SessionError> {
        if self.heartbeat_stops().await?
            || self.client_stops().await?
            || self.budget_stops().await?
        {
            return Ok(());
        }
        let persona = self.persona().await?;
        let around = self.around(self.worker.ending().no_new_step());
        let model = self.worker.store.read(|tx| tx.session_model(&self.session))?;
        let kept = self.results_kept();
        let asked = self.settings.runner.ask_model(&self.log, &persona, model, &around);
        killpoint::here("turn.model.before");
        let asked = self.worker.interruptible(&self.session, &around.cancel, By::Stop, asked);
        // What the model sees is on the disk before its answer counts. The disk is waited for
        // beside the model.
        let (kept, bodies) = tokio::join!(kept, asked);
        kept?;
        self.result_unsynced = None;
        killpoint::here("turn.model.after");
        for body in bodies {
            self.say(&body);
            self.push(body);
        }
        Ok(())
    }

    /// Waits until the results that were queued are on the disk. An error if they were lost on the
    /// way to it.
    fn results_kept(&self) -> impl Future<Output = Result<(), StoreError>> + use<> {
        let (store, session, result) =
            (self.worker.store.clone(), self.session.clone(), self.result_unsynced);
        async move {
            match result {
                None => Ok(()),
                Some(seq) => store.write(move |tx| tx.must_hold_event(&session, seq)).await,
            }
        }
    }

    /// Words of the model that are not its answer go out, too: why it wants to act, and how far it
    /// came.
    fn say(&mut self, body: &EventBody) {
        if let EventBody::ModelReply { notice: Some(notice), .. } = body {
            self.tell(&OutboundBody::Notice { text: notice.clone() });
        }
        // It may have nothing to tell in the end; its log has these words.
        if self.heartbeat().is_some() {
            return;
        }
        let (text, partial) = match body {
            EventBody::ModelReply { blocks, .. }
                if blocks.iter().any(|block| matches!(block, Block::ToolUse(_))) =>
            {
                (text_of(blocks), false)
            }
            EventBody::ModelPartial { text } => (text.clone(), true),
            _ => return,
        };
        if !text.trim().is_empty() {
            let (turn_seq, step) = (self.turn_seq(), self.steps() + 1);
            self.tell(&OutboundBody::Said { turn_seq, step, text, partial });
        }
    }

    /// How many replies of the model the open turn holds.
    pub(super) fn steps(&self) -> u32 {
        self.turn().steps()
    }

    /// `end` cancels the step from outside, apart from what its owner wants.
    pub(super) fn around(&self, end: CancellationToken) -> Around {
        let left_ms = (self.settings.turn_time_s as i64 * 1000 - self.active_ms()).max(0);
        self.around_for(end, left_ms, self.turn_seq())
    }

    /// For a step that may take `left_ms`, and whose changes are undone with those of `turn`.
    pub(super) fn around_for(&self, end: CancellationToken, left_ms: i64, turn: u64) -> Around {
        let limit_s = self.settings.turn_time_s;
        Around {
            live: self.live.clone(),
            cancel: end,
            leaves: self.worker.ending().no_new_step(),
            deadline: Instant::now() + Duration::from_millis(left_ms as u64),
            deadline_text: format!(
                "This turn was stopped after {limit_s} s (limits.turn_time_s). Write again to go \
                 on."
            ),
            turn: self.turn_id(turn),
            heard_by_others: !self.is_owner_alone(),
            asks: Arc::new(|_| {}),
        }
    }

    /// How long the open turn has been at work, waiting for a human not counted. A clock that is
    /// set changes nothing: of this run's own events the time between is measured, and no gap is
    /// negative.
    fn active_ms(&self) -> i64 {
        let events = self.log.newest_turn_events().unwrap_or_default();
        let turn = Turn::measured(&self.session, events, |one, next| self.gap_ms(one, next));
        if turn.end.is_some() { 0 } else { turn.working_ms }
    }

    fn gap_ms(&self, before: &Event, after: &Event) -> i64 {
        between_ms(
            (before.at_ms, self.pushed.get(&before.seq)),
            (after.at_ms, self.pushed.get(&after.seq)),
        )
    }

    /// The turn acts for the least trusted of those who have spoken in it.
    pub(super) fn behalf(&self) -> Behalf {
        let turn = self.turn();
        Behalf {
            origin: turn.origin.unwrap_or(Origin::Forwarded),
            principal: turn.principal.to_owned(),
        }
    }

    /// The open turn as far as it is; an empty one if none is open.
    pub(super) fn turn(&self) -> Turn<'_> {
        self.log.open_turn().unwrap_or_else(|| Turn::new(&self.session))
    }

    pub(super) fn turn_id(&self, seq: u64) -> TurnId {
        TurnId { session: self.session.clone(), seq }
    }

    pub(super) fn turn_seq(&self) -> u64 {
        self.turn().seq
    }

    /// Everybody who has written in the open turn, once each.
    pub(super) fn addresses(&self) -> Vec<Address> {
        let mut found: Vec<Address> = Vec::new();
        for message in self.turn().messages {
            if !found.contains(message.from) {
                found.push(message.from.clone());
            }
        }
        found
    }
}
