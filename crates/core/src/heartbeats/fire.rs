//! One look at all heartbeats, and what becomes of one whose time has come: nothing, a word to the
//! owner, or a turn, each once. Must not know how a check is made, or how a turn goes.

use jiff::Timestamp;

use super::check::Checked;
use super::{HeartbeatCallbacks, HeartbeatPlace, Heartbeats, times, words};
use crate::config::{Heartbeat, HeartbeatBudget, end_of_day};
use crate::domain::{
    Address, Block, Inbound, InboundBody, Origin, Outbound, OutboundBody, SessionId, heartbeat_job,
    heartbeat_session, job_principal,
};
use crate::killpoint;
use crate::store::{FiringBecame, HeartbeatState, NewFiring, StoreError};

/// From here on a time was missed; it is not made up.
const LATE_MS: i64 = 300_000;
/// A clock that was so far ahead is not waited for.
const DAY_MS: i64 = 86_400_000;

/// A time that has come.
struct Due<'a> {
    heartbeat: &'a Heartbeat,
    session: SessionId,
    planned: Timestamp,
    state: HeartbeatState,
    now: Timestamp,
}

/// What is written in the transaction that says that a time is seen to.
#[derive(Default)]
struct Seen {
    check_digest: Option<String>,
    fault: Option<String>,
    stopped_until_ms: Option<i64>,
    say: Option<Outbound>,
    turn: Option<(NewFiring, Inbound)>,
}

impl Heartbeats {
    /// Sees to everything whose time has come.
    pub(super) async fn look(
        &self,
        all: &[Heartbeat],
        now: Timestamp,
        callbacks: &HeartbeatCallbacks,
    ) {
        for heartbeat in all {
            match self.see_to(heartbeat, now, callbacks).await {
                Ok(true) => (callbacks.written)(),
                Ok(false) => {}
                Err(error) => {
                    let name = &heartbeat.name;
                    tracing::error!(name, %error, "a heartbeat cannot be seen to");
                }
            }
        }
    }

    /// Whether something was put into inbox or outbox.
    async fn see_to(
        &self,
        heartbeat: &Heartbeat,
        now: Timestamp,
        callbacks: &HeartbeatCallbacks,
    ) -> Result<bool, StoreError> {
        let Some(due) = self.due(heartbeat, now).await? else { return Ok(false) };
        let is_busy = self
            .0
            .store
            .read(|tx| Ok(tx.turn_open(&due.session)? || tx.queued_messages(&due.session)? > 0))?;
        // What began before is not over, or waits for an answer.
        if is_busy {
            return self
                .seen(&due, Seen { fault: due.state.fault.clone(), ..Seen::default() })
                .await;
        }
        let at = match (callbacks.place_of)(heartbeat.chat) {
            HeartbeatPlace::Here(at) => at,
            HeartbeatPlace::Nowhere { why, tell } => {
                return self.faulty(&due, why, tell.as_ref()).await;
            }
        };
        let used = due.state.used_on(&self.day(now));
        if let Some(what) = heartbeat.budget.used_up(used) {
            return self.stop(&due, &what, at).await;
        }
        let Some(check) = &heartbeat.check else { return self.begin(&due, at, None).await };
        match self.check(heartbeat, check, due.state.check_digest.as_deref()).await {
            Checked::Nothing => self.seen(&due, Seen::default()).await,
            Checked::New { text, digest } => self.begin(&due, at, Some((text, digest))).await,
            Checked::Fault(why) => self.faulty(&due, why, Some(&at)).await,
            // It stays due, and is missed if that lasts.
            Checked::Stopped => Ok(false),
        }
    }

    /// The newest time of a heartbeat, if it has come, is not too late, and is one at which it
    /// fires. An entry that is new, or another one, begins with its next time.
    async fn due<'a>(
        &self,
        heartbeat: &'a Heartbeat,
        now: Timestamp,
    ) -> Result<Option<Due<'a>>, StoreError> {
        let name = &heartbeat.name;
        let (state, stopped) = self.0.store.read(|tx| Ok((tx.heartbeat(name)?, tx.panic()?)))?;
        let now_ms = now.as_millisecond();
        if state.revision != heartbeat.revision || state.seen_ms > now_ms + DAY_MS {
            self.begin_anew(heartbeat, now_ms).await?;
            return Ok(None);
        }
        let Some(session) = heartbeat_session(name) else { return Ok(None) };
        let Some(planned) = times::newest(heartbeat, now) else { return Ok(None) };
        let at_ms = planned.as_millisecond();
        let is_due = at_ms > state.seen_ms
            && now_ms - at_ms <= LATE_MS
            && stopped.is_none()
            && times::fires(heartbeat, planned);
        Ok(is_due.then_some(Due { heartbeat, session, planned, state, now }))
    }

    /// What was granted to it while it was another one ends.
    async fn begin_anew(&self, heartbeat: &Heartbeat, now_ms: i64) -> Result<(), StoreError> {
        self.0.gate.calls().end_grants_of_earlier(&heartbeat.name, heartbeat.revision).await?;
        let (name, revision) = (heartbeat.name.clone(), heartbeat.revision);
        self.0
            .store
            .write(move |tx| {
                let before = tx.heartbeat(&name)?;
                // What was used today stays used, whatever was changed.
                let state = HeartbeatState {
                    revision,
                    seen_ms: now_ms,
                    day: before.day,
                    requests: before.requests,
                    tokens: before.tokens,
                    ..HeartbeatState::default()
                };
                tx.set_heartbeat(&name, &state)
            })
            .await
    }

    /// Says once that something keeps it from its work.
    async fn faulty(
        &self,
        due: &Due<'_>,
        why: String,
        tell: Option<&Address>,
    ) -> Result<bool, StoreError> {
        let why = self.0.gate.redactor().redact(&why).into_owned();
        let is_news = due.state.fault.as_ref() != Some(&why);
        if is_news {
            tracing::warn!(name = due.heartbeat.name, why, "a heartbeat cannot do its work");
        }
        let text = words::fault(due.heartbeat, &why);
        let say = tell.filter(|_| is_news).map(|at| notice(due, at.clone(), text));
        self.seen(due, Seen { fault: Some(why), say, ..Seen::default() }).await
    }

    /// Its budget is used up: that is said once a day.
    async fn stop(&self, due: &Due<'_>, what: &str, at: Address) -> Result<bool, StoreError> {
        let is_told = due.now.as_millisecond() < due.state.stopped_until_ms;
        let until_ms = end_of_day(due.now, &self.0.zone).as_millisecond();
        let text = HeartbeatBudget::stopped(&due.heartbeat.name, what);
        let say = (!is_told).then(|| notice(due, at, text));
        self.seen(due, Seen { stopped_until_ms: Some(until_ms), say, ..Seen::default() }).await
    }

    async fn begin(
        &self,
        due: &Due<'_>,
        at: Address,
        found: Option<(String, String)>,
    ) -> Result<bool, StoreError> {
        let Due { heartbeat, session, planned, .. } = due;
        let (text, digest) = found.unzip();
        let text = words::instruction(heartbeat, *planned, text.as_deref());
        let text = self.0.gate.redactor().redact(&text).into_owned();
        let job = heartbeat_job(&heartbeat.name);
        let inbound = Inbound {
            session: session.clone(),
            from: at,
            principal: job_principal(&job, heartbeat.revision),
            origin: Origin::Schedule,
            body: InboundBody::message(vec![Block::Text { text }]),
        };
        let firing = NewFiring {
            id: format!("{job}.{}", planned.as_millisecond()),
            job,
            revision: heartbeat.revision,
            session: Some(session.clone()),
            became: FiringBecame::Turn,
            title: heartbeat.name.clone(),
            schedule: words::schedule(heartbeat),
            said: None,
        };
        let turn = Some((firing, inbound));
        self.seen(due, Seen { check_digest: digest, turn, ..Seen::default() }).await
    }

    /// Writes down that a time is seen to, with all that comes of it, unless another process has.
    async fn seen(&self, due: &Due<'_>, seen: Seen) -> Result<bool, StoreError> {
        let (name, revision) = (due.heartbeat.name.clone(), due.heartbeat.revision);
        let (planned_ms, queued_max) = (due.planned.as_millisecond(), (self.0.queued_max)());
        let write = move |tx: &crate::store::Tx<'_>| {
            let mut state = tx.heartbeat(&name)?;
            if state.revision != revision || state.seen_ms >= planned_ms {
                return Ok(false);
            }
            state.seen_ms = planned_ms;
            state.fault = seen.fault;
            state.check_digest = seen.check_digest.or(state.check_digest);
            state.stopped_until_ms = seen.stopped_until_ms.unwrap_or(state.stopped_until_ms);
            tx.set_heartbeat(&name, &state)?;
            let has_written = seen.say.is_some() || seen.turn.is_some();
            if let Some(outbound) = &seen.say {
                tx.add_outbound(outbound)?;
            }
            if let Some((firing, inbound)) = &seen.turn
                && tx.add_firing(firing)?
            {
                tx.add_inbound(inbound, queued_max)?;
            }
            Ok(has_written)
        };
        killpoint::here("heartbeats.row.before");
        let written = self.0.store.write(write).await;
        killpoint::here("heartbeats.row.after");
        written
    }

    /// The owner's day.
    fn day(&self, now: Timestamp) -> String {
        now.to_zoned(self.0.zone.clone()).date().to_string()
    }
}

fn notice(due: &Due<'_>, to: Address, text: String) -> Outbound {
    Outbound { session: due.session.clone(), to, body: OutboundBody::Notice { text } }
}
