//! The promises of the store: commits, order, one chain of audit rows, one winner of a decision.

pub(super) mod audit;
mod call_ids;
mod changes;
mod commits;
mod damage;
mod decisions;
mod delivered;
mod firings;
mod kept_windows;
mod owner_questions;
mod plans;
mod upgrades;

use tempfile::TempDir;

use super::*;
use claw_domain::{ApprovalId, CallId, Question, SessionId};

/// A database in a folder of its own. `open` again is what another process does.
struct Rig {
    dir: TempDir,
}

impl Rig {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("claw.db")
    }

    fn open(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    /// Past the store, as somebody with an editor would.
    fn user_version(&self) -> u32 {
        Connection::open(self.path())
            .unwrap()
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap()
    }

    fn tamper(&self, sql: &str) {
        Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }
}

fn session() -> SessionId {
    SessionId::new("main").unwrap()
}

fn question(id: &str, expires_at_ms: i64) -> Question {
    Question {
        approval: ApprovalId(id.into()),
        call: CallId::Reply { session: session(), reply_seq: 3, block: 0 },
        session: Some(session()),
        server: "s".into(),
        tool: "t".into(),
        arguments: Vec::new(),
        why: "w".into(),
        effect: None,
        expires_at_ms,
        choices: Vec::new(),
        staged: None,
        list: None,
        input: None,
    }
}
