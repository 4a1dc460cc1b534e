//! One look at what is due. Owns the order: words that are in time, then what was missed, told in
//! one message a conversation, then turns, as many as a minute may have. Must not know how a firing
//! is written down or taken.

use std::time::Duration;

use super::behind::{BeforeTask, BehindTurns};
use super::due::{Firing, KnownJobs, Page};
use super::kept::{self, WriteOutcome};
use super::{AFTER_FAULT, DUE, JOBS, JobCallbacks, JobPlace, Jobs, Spot, words};
use crate::domain::{Outbound, OutboundBody, SessionId};
use crate::store::{FiringBecame, NewFiring, StoreError, now_ms};

/// Missed reminders of one conversation that come each by itself.
const ALONE_MAX: usize = 5;
/// Pages of one look; the next one goes on.
const PAGES_MAX: usize = 64;
/// From here on a firing was missed, as the scheduler counts it.
const LATE_MS: i64 = 300_000;
/// How long another door's own process has for what is due in its session.
const OTHERS_FIRST_MS: i64 = 10_000;

/// What a look leaves.
pub(super) struct Looked {
    /// When there is a reason to look again, apart from news.
    pub(super) again: Option<Duration>,
    /// What has gone wrong, for the log.
    pub(super) failed: Option<String>,
}

/// A firing with its place.
struct PlacedFiring {
    firing: Firing,
    spot: Spot,
    /// How late it is, if it was missed.
    late_ms: Option<i64>,
    /// It is told here in place of where it was asked for.
    instead: bool,
}

/// What a look gathers on its way.
struct Course<'b> {
    behind: &'b mut BehindTurns,
    again: Option<Duration>,
    failed: Option<String>,
    has_written: bool,
}

impl<'b> Course<'b> {
    fn new(behind: &'b mut BehindTurns) -> Self {
        Self { behind, again: None, failed: None, has_written: false }
    }

    fn again_in(&mut self, ms: i64) {
        let pause = Duration::from_millis(ms.max(1).unsigned_abs());
        self.again = Some(self.again.map_or(pause, |before| before.min(pause)));
    }

    fn fail(&mut self, why: impl std::fmt::Display) {
        self.failed.get_or_insert_with(|| why.to_string());
    }
}

impl Jobs {
    pub(super) async fn look(
        &self,
        server: &str,
        callbacks: &JobCallbacks,
        behind: &mut BehindTurns,
    ) -> Looked {
        behind.look_anew(now_ms());
        let mut course = Course::new(behind);
        match self.0.store.read(|tx| tx.panic()) {
            // What is due stays due until somebody turns the switch off.
            Ok(Some(_)) => return Looked { again: Some(AFTER_FAULT), failed: None },
            Ok(None) => {}
            Err(error) => return Looked { again: None, failed: Some(error.to_string()) },
        }
        if let Err(why) = self.end_grants(server).await {
            course.fail(why);
        }
        match self.due(server).await {
            Ok(due) => self.see_to(server, due, callbacks, &mut course).await,
            Err(why) => course.fail(why),
        }
        if course.has_written {
            (callbacks.written)();
        }
        Looked { again: course.again, failed: course.failed }
    }

    /// All that is due. To read is no call of a tool, so a look leaves nothing in the audit.
    async fn due(&self, server: &str) -> Result<Vec<Firing>, String> {
        let (mut due, mut uri) = (Vec::new(), DUE.to_owned());
        for _ in 0..PAGES_MAX {
            let text = self.0.gate.hub().read_resource(server, &uri).await;
            let text = text.map_err(|error| error.to_string())?;
            let page: Page = serde_json::from_str(&text)
                .map_err(|error| format!("what is due cannot be read: {error}"))?;
            due.extend(page.due);
            if !page.more {
                self.note_missed(page.missed).await.map_err(|error| error.to_string())?;
                break;
            }
            uri = format!("{DUE}?after={}", page.cursor);
        }
        Ok(due)
    }

    /// What was granted to jobs that have ended, or are others now, ends.
    async fn end_grants(&self, server: &str) -> Result<(), String> {
        let calls = self.0.gate.calls();
        if !calls.has_grants_of_jobs().map_err(|error| error.to_string())? {
            return Ok(());
        }
        let text = self.0.gate.hub().read_resource(server, JOBS).await;
        let known: KnownJobs = serde_json::from_str(&text.map_err(|error| error.to_string())?)
            .map_err(|error| format!("the jobs cannot be read: {error}"))?;
        let known = known.jobs.into_iter().map(|job| (job.id, job.revision)).collect();
        calls.end_grants_of_other_jobs(known).await.map_err(|error| error.to_string())
    }

    async fn note_missed(&self, missed: u64) -> Result<(), StoreError> {
        if self.0.store.read(|tx| tx.jobs_missed())? == missed {
            return Ok(());
        }
        self.0.store.write(move |tx| tx.set_jobs_missed(missed)).await
    }

    async fn see_to(
        &self,
        server: &str,
        due: Vec<Firing>,
        callbacks: &JobCallbacks,
        course: &mut Course<'_>,
    ) {
        course.behind.keep_due(&due);
        let (mut now, mut late, mut turns) = (Vec::new(), Vec::new(), Vec::new());
        for firing in due {
            let Some(placed) = self.placed(server, firing, callbacks, course).await else {
                continue;
            };
            match (placed.firing.say.is_some(), placed.late_ms) {
                (true, None) => now.push(placed),
                (true, Some(_)) => late.push(placed),
                (false, _) => turns.push(placed),
            }
        }
        for placed in &now {
            let written = self.say(placed).await;
            self.taken(server, written.map(|()| WriteOutcome::Yes), &placed.firing, course).await;
        }
        // What waits behind a turn does not begin now.
        turns.retain(|placed| !self.is_behind(placed, course));
        self.tell_missed(server, &late, &turns, course).await;
        for placed in &turns {
            let written = self.begin_turn(placed, course).await;
            if matches!(written, Ok(WriteOutcome::BehindTurn)) {
                let session = placed.spot.session.clone();
                course.behind.waits(&placed.firing, session, placed.late_ms);
            }
            self.taken(server, written, &placed.firing, course).await;
        }
    }

    /// Whether a turn stands before a task. Where that cannot be seen, its own write says why.
    fn is_behind(&self, placed: &PlacedFiring, course: &mut Course<'_>) -> bool {
        let session = &placed.spot.session;
        let is_behind =
            self.before_a_task(session).is_ok_and(|before| before == BeforeTask::UnderWay);
        if is_behind {
            course.behind.waits(&placed.firing, session.clone(), placed.late_ms);
        }
        is_behind
    }

    /// Where it is told. What is known already is taken here, and what cannot be told is.
    async fn placed(
        &self,
        server: &str,
        firing: Firing,
        callbacks: &JobCallbacks,
        course: &mut Course<'_>,
    ) -> Option<PlacedFiring> {
        let now = now_ms();
        let late = firing.planned.ago_ms(now);
        let late_ms = (late > LATE_MS).then_some(late);
        let late_ms = course.behind.first_late_ms(&firing, late_ms);
        let place = (callbacks.place_of)(firing.session().as_ref());
        if place == JobPlace::NotMine {
            return None;
        }
        // Somebody has written it down and was killed before it was taken.
        match self.0.store.read(|tx| tx.knows_firing(&firing.id)) {
            Ok(false) => {}
            known => {
                self.taken(server, known.map(|_| WriteOutcome::Yes), &firing, course).await;
                return None;
            }
        }
        match place {
            JobPlace::Here(spot) => Some(PlacedFiring { firing, spot, late_ms, instead: false }),
            JobPlace::OfAnotherDoor { instead } => {
                let session = firing.session().unwrap_or(instead.session);
                let since_ms = self.others_since_ms(&firing, &session, late_ms, course)?;
                let left = OTHERS_FIRST_MS - (now - since_ms).max(0);
                if left > 0 {
                    course.again_in(left);
                    return None;
                }
                let spot = Spot { session, at: instead.at };
                Some(PlacedFiring { firing, spot, late_ms, instead: true })
            }
            JobPlace::Gone { why, tell } => {
                let text = self.redacted(&words::gone(self.0.gate.calls().claw(), &firing, &why));
                let row = kept::row(&firing, FiringBecame::Told, self.title(&firing));
                let body = OutboundBody::Notice { text };
                let outbound = Outbound { session: tell.session, to: tell.at, body };
                let written = self.keep_words(vec![row], move |_| Some(outbound)).await;
                self.taken(server, written.map(|()| WriteOutcome::Yes), &firing, course).await;
                None
            }
            JobPlace::NotMine => None,
        }
    }

    /// Since when another door's process can have seen to it; `None` while a turn stands before it
    /// there.
    fn others_since_ms(
        &self,
        firing: &Firing,
        session: &SessionId,
        late_ms: Option<i64>,
        course: &mut Course<'_>,
    ) -> Option<i64> {
        let since_ms = firing.since.utc.as_millisecond();
        if firing.say.is_some() {
            return Some(since_ms);
        }
        match self.before_a_task(session) {
            Ok(BeforeTask::UnderWay) => {
                course.behind.waits(firing, session.clone(), late_ms);
                None
            }
            Ok(BeforeTask::Nothing | BeforeTask::Left { .. }) => {
                Some(course.behind.free_ms(firing).map_or(since_ms, |free| free.max(since_ms)))
            }
            Err(error) => {
                course.fail(error);
                None
            }
        }
    }

    fn title(&self, firing: &Firing) -> String {
        self.redacted(&words::title(firing))
    }

    async fn say(&self, placed: &PlacedFiring) -> Result<(), StoreError> {
        let PlacedFiring { firing, spot, late_ms, instead } = placed;
        let mut text = words::reminder(firing.say.as_deref().unwrap_or_default(), firing, *late_ms);
        if *instead {
            text = words::elsewhere(&text, spot.session.as_str());
        }
        let text = self.redacted(&text);
        let words = firing.say.as_deref().map(|words| self.redacted(words));
        let mut row = kept::row(firing, FiringBecame::Words, self.title(firing));
        row.session = Some(spot.session.clone());
        row.said = words;
        let (firing, job) = (firing.id.clone(), firing.job.clone());
        let body = OutboundBody::Reminder { firing, job, text };
        let outbound = Outbound { session: spot.session.clone(), to: spot.at.clone(), body };
        self.keep_words(vec![row], move |_| Some(outbound)).await
    }

    /// A few reminders that were missed come each by itself, with its buttons; more of them, and
    /// tasks, in one message for each conversation.
    async fn tell_missed(
        &self,
        server: &str,
        late: &[PlacedFiring],
        turns: &[PlacedFiring],
        course: &mut Course<'_>,
    ) {
        let mut spots: Vec<&Spot> = Vec::new();
        let late_turns: Vec<&PlacedFiring> =
            turns.iter().filter(|placed| placed.late_ms.is_some()).collect();
        for placed in late.iter().chain(late_turns.iter().copied()) {
            if !spots.contains(&&placed.spot) {
                spots.push(&placed.spot);
            }
        }
        for spot in spots {
            let words: Vec<&PlacedFiring> =
                late.iter().filter(|placed| placed.spot == *spot).collect();
            let turns: Vec<&PlacedFiring> =
                late_turns.iter().copied().filter(|placed| placed.spot == *spot).collect();
            let (alone, together) = match words.len() {
                0..=ALONE_MAX => (words, Vec::new()),
                _ => (Vec::new(), words),
            };
            for placed in alone {
                let written = self.say(placed).await.map(|()| WriteOutcome::Yes);
                self.taken(server, written, &placed.firing, course).await;
            }
            // A task that comes alone says itself that it is late.
            if together.is_empty() && turns.len() < 2 {
                continue;
            }
            let written = self.tell_at(spot, &together, &turns).await;
            let written = written.map_err(|error| error.to_string());
            for placed in together {
                let written = written.clone().map(|()| WriteOutcome::Yes);
                self.taken(server, written, &placed.firing, course).await;
            }
            if let Err(why) = written {
                course.fail(why);
            }
        }
    }

    async fn tell_at(
        &self,
        spot: &Spot,
        late: &[&PlacedFiring],
        turns: &[&PlacedFiring],
    ) -> Result<(), StoreError> {
        let mut rows: Vec<NewFiring> = late
            .iter()
            .map(|placed| {
                kept::row(&placed.firing, FiringBecame::Words, self.title(&placed.firing))
            })
            .collect();
        // The turns are told of once, however many looks it takes until the last of them begins.
        let newest = turns.last().map(|placed| format!("away {}", placed.firing.id));
        if let (Some(last), Some(id)) = (turns.last(), &newest) {
            let row = kept::row(&last.firing, FiringBecame::Told, self.title(&last.firing));
            rows.push(NewFiring { id: id.clone(), ..row });
        }
        let late: Vec<Firing> = late.iter().map(|placed| placed.firing.clone()).collect();
        let turns: Vec<Firing> = turns.iter().map(|placed| placed.firing.clone()).collect();
        let (spot, redactor) = (spot.clone(), self.0.gate.redactor().clone());
        let most = (self.0.limits)().turns_minute_max;
        let say = move |new: &[NewFiring]| {
            let is_new = |id: &str| new.iter().any(|row| row.id == id);
            let turns: Vec<&Firing> = if newest.as_deref().is_some_and(is_new) {
                turns.iter().collect()
            } else {
                Vec::new()
            };
            let said: Vec<(&Firing, String)> = late
                .iter()
                .filter(|firing| is_new(&firing.id))
                .map(|firing| (firing, firing.say.clone().unwrap_or_default()))
                .collect();
            let now = now_ms();
            let all = said.iter().map(|(firing, _)| *firing).chain(turns.iter().copied());
            let oldest = all.map(|firing| firing.planned.ago_ms(now)).max()?;
            let text = words::while_away(&said, &turns, oldest, most);
            let text = redactor.redact(&text).into_owned();
            let body = OutboundBody::Notice { text };
            Some(Outbound { session: spot.session, to: spot.at, body })
        };
        self.keep_words(rows, say).await
    }

    async fn begin_turn(
        &self,
        placed: &PlacedFiring,
        course: &mut Course<'_>,
    ) -> Result<WriteOutcome, StoreError> {
        let PlacedFiring { firing, spot, late_ms, instead } = placed;
        let back_in_ms = self.comes_back_in_ms(firing, &spot.session, *late_ms, course.behind)?;
        // In the place of another door it has waited for that door already.
        if let Some(ms) = back_in_ms.filter(|_| !*instead) {
            return Ok(WriteOutcome::NotBefore(ms));
        }
        let text = firing.text.as_deref().unwrap_or_default();
        let body = self.message(firing, text, *late_ms);
        let row = kept::row(firing, FiringBecame::Turn, self.title(firing));
        let inbound = kept::inbound(firing, spot.clone(), body);
        self.keep_turn(row, inbound, (self.0.limits)()).await
    }

    /// Takes what was written down. What was not stays due, and is tried again.
    async fn taken<E: std::fmt::Display>(
        &self,
        server: &str,
        written: Result<WriteOutcome, E>,
        firing: &Firing,
        course: &mut Course<'_>,
    ) {
        match written {
            Ok(WriteOutcome::Yes) => {
                course.has_written = true;
                if let Err(why) = self.take(server, firing).await {
                    course.fail(format!("the firing {} could not be taken: {why}", firing.id));
                }
            }
            Ok(WriteOutcome::NotBefore(ms)) => course.again_in(ms),
            // The end of the turn is waited for.
            Ok(WriteOutcome::BehindTurn) => {}
            Err(error) => {
                course.fail(format!("the firing {} could not be kept: {error}", firing.id));
            }
        }
    }
}
