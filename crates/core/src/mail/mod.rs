//! Inbox and outbox: the only way between the doors and the rest of claw. Must not know what a
//! message means or how it is shown.

mod delivery;
mod drafts;
mod instance;
mod late;
mod notify;
mod owner_questions;
mod pairing;
mod process_lock;
mod questions;
mod rows;
mod sessions;
mod updates;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::tz::TimeZone;

use crate::domain::{Address, Inbound, SessionId, UnixMillis};
use crate::store::{Changes, OutboxRow, Store, StoreError, Tx, now_ms};

pub use crate::domain::{DraftMessage, PostedQuestion, RunningCall};
pub use instance::Instance;
pub use pairing::{ACCESS_REQUESTS_DAY_MAX, AllowedUser};
pub use rows::{
    AnsweredCall, AskedQuestion, CallSubject, MailError, OutboxMessage, Overheard, WaitingUpdate,
};
pub use updates::Accepted;

/// How far apart the rows of one commit may be, in milliseconds.
const COPIES_MS_MAX: u64 = 1_000;

/// How long to wait until then, by the clock of the rows; at least a millisecond.
pub fn time_until(at_ms: UnixMillis) -> Duration {
    crate::store::time_until(at_ms)
}

/// The one way between doors and the store. Cheap to clone. What takes time is boxed, so that it is
/// compiled here, and not once more in each door.
#[derive(Clone)]
pub struct Mail {
    /// A handle of the app's.
    store: Store,
    /// Shared by all clones, because it can change while claw runs.
    queued_messages_max: Arc<AtomicU32>,
    /// In which the owner reads times.
    zone: TimeZone,
}

impl Mail {
    pub fn new(store: Store, queued_messages_max: u32) -> Self {
        let queued_messages_max = Arc::new(queued_messages_max.into());
        Self { store, queued_messages_max, zone: TimeZone::UTC }
    }

    /// The same where the owner lives.
    pub fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    pub fn set_queued_messages_max(&self, limit: u32) {
        self.queued_messages_max.store(limit, Ordering::Relaxed);
    }

    fn queued_messages_max(&self) -> u32 {
        self.queued_messages_max.load(Ordering::Relaxed)
    }

    fn read<T>(&self, look: impl FnOnce(&Tx<'_>) -> Result<T, StoreError>) -> Result<T, MailError> {
        Ok(self.store.read(look)?)
    }

    async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, MailError> {
        Ok(self.store.write(job).await?)
    }

    async fn write_relaxed<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, MailError> {
        Ok(self.store.write_relaxed(job).await?)
    }

    /// Commits what came in. When this returns, nothing can lose it any more.
    ///
    /// # Errors
    /// `QueueFull` when too many messages wait already; otherwise the store's own.
    pub fn submit(&self, inbound: Inbound) -> BoxFuture<'_, Result<i64, MailError>> {
        Box::pin(async move {
            let limit = self.queued_messages_max();
            self.write(move |tx| tx.add_inbound(&inbound, limit)).await
        })
    }

    /// The same, unless it was committed before under this mark: the id that it got then.
    pub fn submit_once(
        &self,
        inbound: Inbound,
        mark: String,
    ) -> BoxFuture<'_, Result<i64, MailError>> {
        Box::pin(async move {
            let limit = self.queued_messages_max();
            self.write(move |tx| tx.add_inbound_once(&inbound, &mark, limit)).await
        })
    }

    /// The id of what was committed under this mark.
    pub fn submitted_as(&self, mark: &str) -> Result<Option<i64>, MailError> {
        self.read(|tx| tx.inbound_of_mark(mark))
    }

    /// The same, unless a turn is open in the session or something waits there already; `None`
    /// then.
    pub fn submit_alone(&self, inbound: Inbound) -> BoxFuture<'_, Result<Option<i64>, MailError>> {
        Box::pin(async move {
            let limit = self.queued_messages_max();
            let busy = |tx: &Tx<'_>, session: &SessionId| {
                Ok(tx.turn_open(session)? || !tx.queued_inbound(session)?.is_empty())
            };
            // Whoever waits for this asks again at each commit, so asking must be none.
            if self.read(|tx| busy(tx, &inbound.session))? {
                return Ok(None);
            }
            self.write(move |tx| {
                if busy(tx, &inbound.session)? {
                    return Ok(None);
                }
                tx.add_inbound(&inbound, limit).map(Some)
            })
            .await
        })
    }

    /// What waits to be shown at one address, oldest first.
    pub fn waiting(&self, me: &Address) -> Result<Vec<OutboxMessage>, MailError> {
        let rows = self.read(|tx| tx.queued_outbound(me))?;
        let now = now_ms();
        Ok(rows.into_iter().map(|row| OutboxMessage::of(row, now, &self.zone)).collect())
    }

    /// Marks a row after it was shown. A power loss may undo this, and the row is then shown twice,
    /// never not at all.
    pub fn shown(&self, id: i64) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            crate::killpoint::here("mail.shown.before");
            let marked = self.write_relaxed(move |tx| tx.mark_sent(id)).await;
            crate::killpoint::here("mail.shown.after");
            marked
        })
    }

    /// Takes over what instances of the same door that are gone have not shown in this session,
    /// unless another one that took part in the turn has shown it. What several of them would have
    /// shown is taken over once. The other rows wait until it is shown, because nobody would show
    /// it any more if this process ended before it did.
    pub fn adopt<'a>(
        &'a self,
        by: &'a Instance,
        session: &'a SessionId,
    ) -> BoxFuture<'a, Result<usize, MailError>> {
        Box::pin(
            async move { self.adopt_unless(by.address(), session, |to| by.knows_alive(to)).await },
        )
    }

    async fn adopt_unless(
        &self,
        me: &Address,
        session: &SessionId,
        alive: impl Fn(&Address) -> bool,
    ) -> Result<usize, MailError> {
        let rows = self.read(|tx| tx.queued_outbound_of(me.door(), session))?;
        let (mine, others): (Vec<OutboxRow>, _) =
            rows.into_iter().partition(|row| row.outbound.to == *me);
        let mut shown_here = mine;
        let mut orphans = Vec::new();
        for row in others.into_iter().filter(|row| !alive(&row.outbound.to)) {
            if !shown_here.iter().any(|other| is_copy(other, &row)) {
                orphans.push((row.id, row.outbound.to.clone()));
                shown_here.push(row);
            }
        }
        if orphans.is_empty() {
            return Ok(0);
        }
        let me = me.clone();
        self.write(move |tx| {
            let mut adopted = 0;
            for (id, from) in orphans {
                if !tx.mark_if_shown_elsewhere(id)? {
                    adopted += usize::from(tx.readdress(id, &from, &me)?);
                }
            }
            Ok(adopted)
        })
        .await
    }

    /// For whoever waits for what anybody commits: made first, then looked.
    pub fn changes(&self) -> Changes {
        self.store.changes()
    }

    /// The number that changes whenever somebody else has committed something.
    pub fn version(&self) -> Result<i64, MailError> {
        Ok(self.store.data_version()?)
    }
}

/// The same words of the same turn for two who took part in it: rows of one commit differ in their
/// address alone.
fn is_copy(one: &OutboxRow, other: &OutboxRow) -> bool {
    one.outbound.to != other.outbound.to
        && one.outbound.body == other.outbound.body
        && one.at_ms.abs_diff(other.at_ms) <= COPIES_MS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Outbound, OutboundBody};

    fn reply(session: &SessionId, to: &str) -> Outbound {
        let (text, to) = ("the answer".to_owned(), Address(to.to_owned()));
        Outbound { session: session.clone(), to, body: OutboundBody::Notice { text } }
    }

    #[tokio::test]
    async fn what_two_would_have_shown_is_shown_once_and_survives_who_takes_it_over() {
        let dir = tempfile::tempdir().unwrap();
        let mail = Mail::new(Store::open(&dir.path().join("claw.db")).unwrap(), 64);
        let session = SessionId::new("main").unwrap();
        let rows = ["console/a", "console/b"].map(|to| reply(&session, to));
        mail.store
            .write(move |tx| rows.iter().try_for_each(|row| tx.add_outbound(row).map(drop)))
            .await
            .unwrap();
        for _ in 0..2 {
            // Nobody else is alive: the one who takes it over ends before it has shown anything.
            for me in ["console/c", "console/d"].map(|to| Address(to.to_owned())) {
                mail.adopt_unless(&me, &session, |_| false).await.unwrap();
                assert_eq!(mail.waiting(&me).unwrap().len(), 1, "{me}");
            }
        }
        let me = Address("console/d".to_owned());
        mail.shown(mail.waiting(&me).unwrap()[0].id).await.unwrap();
        mail.adopt_unless(&me, &session, |_| false).await.unwrap();
        let left = mail.store.read(|tx| tx.queued_outbound_of("console", &session)).unwrap();
        assert!(left.is_empty(), "{left:?}");
    }

    #[tokio::test]
    async fn of_two_who_take_a_row_over_at_once_one_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let mail = Mail::new(Store::open(&dir.path().join("claw.db")).unwrap(), 64);
        let session = SessionId::new("main").unwrap();
        let row = reply(&session, "console/gone");
        mail.store.write(move |tx| tx.add_outbound(&row)).await.unwrap();
        // Both look before either has written.
        let (let_go, held) = std::sync::mpsc::channel::<()>();
        let holds = mail.store.write(move |_| {
            let _ended = held.recv();
            Ok(())
        });
        let [one, other] = ["console/a", "console/b"].map(|to| Address(to.to_owned()));
        let (_, first, second, ()) = tokio::join!(
            holds,
            mail.adopt_unless(&one, &session, |_| false),
            mail.adopt_unless(&other, &session, |_| false),
            async move { drop(let_go) },
        );
        assert_eq!((first.unwrap(), second.unwrap()), (1, 0));
        assert_eq!(
            (mail.waiting(&one).unwrap().len(), mail.waiting(&other).unwrap().len()),
            (1, 0)
        );
        // Whoever has it is alive.
        assert_eq!(mail.adopt_unless(&other, &session, |to| *to == one).await.unwrap(), 0);
        assert_eq!(mail.waiting(&one).unwrap().len(), 1);
    }
}
