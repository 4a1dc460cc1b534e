//! Tasks that wait behind a turn of their session. Each stays due until that is over, so that it
//! can be cancelled. Owns what stands before a task, and which tasks this process has seen wait.
//! Must not know how a firing is written down.

use std::collections::BTreeMap;

use super::Jobs;
use super::due::Firing;
use crate::domain::SessionId;
use crate::store::{StoreError, now_ms};

/// How long a turn has to lie there before it counts as left: whoever starts, or stops, has let it
/// go for a moment alone.
const LEFT_FOR_MS: i64 = 10_000;

/// What stands before a task in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BeforeTask {
    Nothing,
    /// A turn that somebody runs or that waits for an answer, or something that is to be taken in.
    UnderWay,
    /// A turn that a kill or a fault has left. Nobody may come to end it but who takes in what
    /// comes next, so a task that waited for that could wait forever.
    Left {
        turn: u64,
    },
}

/// The tasks that wait, by their firings. Lives as long as somebody sees to the jobs.
#[derive(Debug, Default)]
pub(super) struct BehindTurns(BTreeMap<String, Waiting>);

#[derive(Debug)]
struct Waiting {
    session: SessionId,
    /// How late it was when it was seen first. What it waits from then on is no absence of claw.
    late_ms: Option<i64>,
    /// When it was seen that nothing stands before it any more.
    free_ms: Option<i64>,
    /// The turn that was seen without anybody who goes on with it, and since when.
    left: Option<(u64, i64)>,
}

impl BeforeTask {
    /// Where nothing waits to be taken in and nobody has come to the open turn.
    pub(super) fn now(open_turn: Option<u64>) -> Self {
        open_turn.map_or(Self::Nothing, |turn| Self::Left { turn })
    }
}

impl BehindTurns {
    /// A look begins: whoever still waits is said by it.
    pub(super) fn look_anew(&mut self, now_ms: i64) {
        for waiting in self.0.values_mut() {
            waiting.free_ms.get_or_insert(now_ms);
        }
    }

    /// What is due no more waits no more.
    pub(super) fn keep_due(&mut self, due: &[Firing]) {
        self.0.retain(|id, _| due.iter().any(|firing| firing.id == *id));
    }

    pub(super) fn waits(&mut self, firing: &Firing, session: SessionId, late_ms: Option<i64>) {
        self.0.insert(firing.id.clone(), Waiting { session, late_ms, free_ms: None, left: None });
    }

    /// For how long `turn` has been seen to lie before it.
    fn left_for_ms(
        &mut self,
        firing: &Firing,
        session: &SessionId,
        late_ms: Option<i64>,
        (turn, now_ms): (u64, i64),
    ) -> i64 {
        let waiting = self.0.entry(firing.id.clone()).or_insert_with(|| {
            let session = session.clone();
            Waiting { session, late_ms, free_ms: Some(now_ms), left: None }
        });
        match waiting.left {
            Some((known, since_ms)) if known == turn => (now_ms - since_ms).max(0),
            _ => {
                waiting.left = Some((turn, now_ms));
                0
            }
        }
    }

    /// How late it was when it was seen first: `late_ms` for one that has not waited.
    pub(super) fn first_late_ms(&self, firing: &Firing, late_ms: Option<i64>) -> Option<i64> {
        self.0.get(&firing.id).map_or(late_ms, |waiting| waiting.late_ms)
    }

    /// Since when nothing stands before it, where something did.
    pub(super) fn free_ms(&self, firing: &Firing) -> Option<i64> {
        self.0.get(&firing.id)?.free_ms
    }

    /// Where a turn has to end before a task can begin.
    fn sessions(&self) -> Vec<SessionId> {
        let waiting = self.0.values().filter(|waiting| waiting.free_ms.is_none());
        waiting.map(|waiting| waiting.session.clone()).collect()
    }
}

impl Jobs {
    pub(super) fn before_a_task(&self, session: &SessionId) -> Result<BeforeTask, StoreError> {
        // Looked at first: a turn that waits has asked by the time it is let go.
        let is_held = self.0.store.session_is_held(session)?;
        let now = now_ms();
        self.0.store.read(|tx| {
            if !tx.queued_inbound(session)?.is_empty() {
                return Ok(BeforeTask::UnderWay);
            }
            let open = tx.open_turn(session)?;
            // No turn waits for what is staged, and none for an answer whose time is over.
            let asked = tx.open_approvals(Some(session))?;
            let waits =
                asked.iter().any(|row| row.question.staged.is_none() && !row.is_overdue(now));
            let goes_on = open.is_some() && (is_held || waits);
            Ok(if goes_on { BeforeTask::UnderWay } else { BeforeTask::now(open) })
        })
    }

    /// How long a task waits yet for somebody to come to the turn that lies before it; none where
    /// none does, or for long enough.
    pub(super) fn comes_back_in_ms(
        &self,
        firing: &Firing,
        session: &SessionId,
        late_ms: Option<i64>,
        behind: &mut BehindTurns,
    ) -> Result<Option<i64>, StoreError> {
        let BeforeTask::Left { turn } = self.before_a_task(session)? else { return Ok(None) };
        let left_for_ms = behind.left_for_ms(firing, session, late_ms, (turn, now_ms()));
        Ok(Some(LEFT_FOR_MS - left_for_ms).filter(|ms| *ms > 0))
    }

    /// Until a turn is over behind which a task waits; forever where none does.
    pub(super) async fn turn_is_over(&self, behind: &BehindTurns) {
        let sessions = behind.sessions();
        if sessions.is_empty() {
            return std::future::pending().await;
        }
        let is_over = |session: &SessionId| {
            self.before_a_task(session).is_ok_and(|before| before != BeforeTask::UnderWay)
        };
        let mut changes = self.0.store.changes();
        while !sessions.iter().any(is_over) {
            changes.wait().await;
        }
    }
}
