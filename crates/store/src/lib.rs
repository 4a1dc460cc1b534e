//! The store: the only SQL. One SQLite file (WAL, `synchronous=FULL`), one writer thread a process,
//! readers beside it, and the locks of sessions. Must not know policy, turns or chat: it keeps rows
//! and the invariants between them.

mod access_requests;
mod allowed_users;
mod anchor;
mod approval_id;
mod approvals;
mod artifacts;
mod audit;
mod audit_damage;
mod audit_rows;
mod audit_stand_in;
mod blocked;
mod boot;
mod call_lists;
mod calls;
mod changes;
mod clients;
mod daily_digests;
mod damaged;
mod damaged_rows;
mod damaged_tables;
mod delivered;
mod drafts;
mod error;
mod events;
mod firings;
pub mod flag;
mod grants;
mod heartbeats;
mod identity;
mod inbox;
mod kept_window;
mod mark;
mod meta;
mod migrate;
mod moved;
mod outbox;
mod overheard;
mod owner_questions;
mod pins;
mod posted;
mod put_aside;
mod put_aside_rows;
mod put_aside_tables;
mod queue;
mod rounds;
mod schema;
mod seal;
mod server_tasks;
mod session_lock;
mod sessions;
mod staged_actions;
mod trust;
mod tx;
mod updates;
mod upgrade;
mod usage;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

pub use access_requests::AccessRequested;
pub use allowed_users::AllowedUserRow;
pub use anchor::{Anchor, AnchorPlace, AuditHead};
pub use approval_id::new_approval_id;
pub use approvals::{ApprovalRow, DecideRefused};
pub use artifacts::{ArtifactRow, Artifacts};
pub use audit::{AuditEntry, Broken, HeadPutBack, Whole};
pub use audit_rows::AuditRow;
pub use audit_stand_in::AuditPutAside;
pub use calls::CallRow;
pub use changes::Changes;
use changes::WakeUp;
pub use clients::{ClientCallRow, ClientRow};
pub use daily_digests::LastDailyDigest;
pub use damaged::{DamagedRow, RowAt, RowFault};
pub use damaged_rows::KeyPart;
pub use error::StoreError;
pub use firings::{FiringBecame, JobName, NewFiring, SaidFiring};
pub use grants::{GrantRow, GrantSaid, NewGrant};
pub use heartbeats::HeartbeatState;
pub use inbox::InboxRow;
pub use kept_window::LogWindow;
pub use meta::DaySpent;
pub use outbox::OutboxRow;
pub use overheard::OverheardRow;
pub use pins::{PinRow, SeenTool};
use queue::WriteUrgency;
pub use rounds::RoundRow;
use schema::MIGRATIONS;
pub use seal::Anchored;
pub use session_lock::SessionLock;
pub use sessions::SessionRow;
pub use staged_actions::StagedRow;
pub use trust::TrustRow;
pub use tx::{Tx, now_ms, time_until};
pub use updates::KeptUpdate;
pub use upgrade::{KeptCopy, Migrated, kept_copies};
pub use usage::{ModelUsageRow, UsageRow};
use writer::{Writer, taken, work};

/// How long a process waits for another one's write transaction, in milliseconds.
const BUSY_TIMEOUT_MS: u64 = 10_000;
/// How soon the switch of a new database to WAL is tried again.
const WAL_RETRY: Duration = Duration::from_millis(5);

/// The handle to the store. Cheap to clone; the last clone commits what is left and joins the
/// writer.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    /// The one thread that writes. Ends with the last clone of the store.
    writer: Writer,
    /// For reads on their caller's thread; held for one query.
    reader: Mutex<Connection>,
    /// Where the database is. The same until the process ends.
    path: PathBuf,
    /// What opening it has changed, for the one command that tells it.
    migrated: Option<Migrated>,
    /// What seals the audit, or why nothing does.
    anchor: Result<Arc<Anchor>, String>,
    /// Signalled by the writer, and held by everybody who waits.
    wake_up: Arc<WakeUp>,
}

impl Store {
    /// Opens or creates the database and brings its schema up to date, a database with something in
    /// it after a copy of it was made. Rows of its audit get no seal.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, MIGRATIONS, |_| Err("no place for a key was given".to_owned()))
    }

    /// The same with an audit that is sealed with the key at `place`, and whose newest row is noted
    /// there. Without a key, and without a place, it opens all the same: `anchor` says why.
    pub fn open_anchored(path: &Path, place: Option<&AnchorPlace>) -> Result<Self, StoreError> {
        Self::open_with(path, MIGRATIONS, |path| match place {
            Some(place) => Anchor::open(place, path),
            None => {
                Err("neither XDG_STATE_HOME nor HOME is set, so there is no place for a key"
                    .to_owned())
            }
        })
    }

    fn open_with(
        path: &Path,
        migrations: &[&str],
        anchor: impl FnOnce(&Path) -> Result<Anchor, String>,
    ) -> Result<Self, StoreError> {
        identity::create_if_missing(path, migrations)?;
        // The connection that reads looks first. A connection of its own for that look would read
        // schema and write-ahead log once more at every start.
        let reader = identity::open(path)?;
        migrate::look(&reader, migrations)?;
        let mut conn = connect(path)?;
        let copy = |from, to| upgrade::copy(path, from, to);
        let migrated = migrate::migrate(&mut conn, migrations, copy)?;
        conn.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS))?;
        configure(&reader)?;
        let anchor = anchor(path).map(Arc::new);
        let wake_up = WakeUp::of(path);
        let writer = Writer::start(conn, anchor.clone().ok(), wake_up.clone())?;
        let reader = Mutex::new(reader);
        Ok(Self {
            inner: Arc::new(Inner {
                writer,
                reader,
                path: path.to_owned(),
                migrated,
                anchor,
                wake_up,
            }),
        })
    }

    /// What seals the audit, or why nothing does.
    pub fn anchor(&self) -> Result<&Anchor, &str> {
        self.inner.anchor.as_deref().map_err(String::as_str)
    }

    /// Notes the newest row of the audit outside of the store, now. It is done by itself once a
    /// minute while rows are added, and when the store is closed.
    pub fn note_audit_head(&self) -> Result<(), StoreError> {
        self.read(|tx| tx.note_audit_head())
    }

    /// Takes the audit as it is, whatever was noted of it. A row of it says so in the name of `by`,
    /// a principal.
    ///
    /// # Errors
    /// No key, and everything that hinders a write.
    pub async fn accept_audit(&self, by: &str) -> Result<AuditHead, StoreError> {
        let by = by.to_owned();
        let head = self.write(move |tx| tx.accept_audit(&by)).await?;
        if let Ok(anchor) = self.anchor() {
            let file = anchor.head_file().display();
            anchor
                .note(&head, |_| true)
                .map_err(|error| StoreError::Commit(format!("{file}: {error}")))?;
        }
        Ok(head)
    }

    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// What opening it has changed. To be told to the person once.
    pub fn migrated(&self) -> Option<&Migrated> {
        self.inner.migrated.as_ref()
    }

    /// Runs `job` in a write transaction and returns after it is on the disk. Jobs of one process
    /// are done in order.
    pub async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        taken(self.inner.writer.submit(WriteUrgency::Now, work(job)).await)
    }

    /// Queues `job` ahead of every later write and does not wait: it is on the disk no later than
    /// they are. An error is logged, so this is for rows whose loss a later write would show. What
    /// the job returns is dropped after the commit.
    pub fn write_soon<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) {
        self.inner.writer.submit_soon(work(job));
    }

    /// Like `write`, for rows that may be done twice: a kill cannot undo it, a power loss may.
    pub async fn write_relaxed<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        taken(self.inner.writer.submit(WriteUrgency::Relaxed, work(job)).await)
    }

    /// Reads what is committed. Queries are small and indexed, so they run on the caller's thread.
    pub fn read<T>(
        &self,
        query: impl FnOnce(&Tx<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let conn = self.inner.reader.lock().unwrap_or_else(PoisonError::into_inner);
        query(&Tx::sealing(&conn, self.anchor().ok()))
    }

    /// How many commits this process has made, and how many microseconds they took in all.
    pub fn commits_spent(&self) -> (u64, u64) {
        self.inner.writer.spent()
    }

    /// For whoever waits for what others commit: made first, then the store is looked at, then it
    /// waits. Needs a Tokio runtime.
    pub fn changes(&self) -> Changes {
        self.inner.wake_up.changes()
    }

    /// How often the store is looked at for commits of which the system has told nothing: those of
    /// programs that are not claw.
    pub fn set_look_anyhow(&self, every: Duration) {
        self.inner.wake_up.set_look_anyhow(every);
    }

    /// Has everybody look, in whichever process, who waits for changes: something has changed that
    /// is no commit.
    pub(crate) fn tell_others(&self) {
        self.inner.wake_up.signal();
    }

    /// A number that changes whenever another connection has committed (`PRAGMA data_version`).
    pub fn data_version(&self) -> Result<i64, StoreError> {
        // Prepared once: this is asked several times a second for as long as claw runs.
        self.read(|tx| {
            Ok(tx.conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
        })
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags)?;
        conn.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS))?;
        to_wal(&conn)?;
        configure(&conn)?;
        Ok(conn)
    };
    open().map_err(|source| StoreError::Open { path: path.display().to_string(), source })
}

/// What holds for every connection to a store.
fn configure(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // A savepoint's journal in small pieces of memory: the default asks for 64 KiB at each commit,
    // which the allocator gives back to the system and faults in again the next time.
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    // A checkpoint at every close would cost a short command a sync of its own.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // A plan holds for every value, so that a cached statement is not planned again at each new
    // one.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Switches a new database to WAL, once in its life. SQLite answers "locked" at once, without the
/// busy timeout, when two processes do this at the same moment; the other one is done a moment
/// later.
fn to_wal(conn: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + Duration::from_millis(BUSY_TIMEOUT_MS);
    loop {
        match conn.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(WAL_RETRY);
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests;
