//! A file to try things in, and the real server on it. Must not know the tools.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![allow(dead_code, clippy::allow_attributes, reason = "each test program uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

pub use claw_test_kit::mcp::Server;

/// A file of jobs below a temporary directory.
pub struct Room {
    pub temp: tempfile::TempDir,
    pub database: PathBuf,
}

impl Room {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let database = temp.path().join("jobs.db");
        Self { temp, database }
    }

    pub fn start(&self) -> Server {
        let mut server = spawn(&self.database, &[]);
        server.initialize("2025-11-25");
        server
    }

    /// As if so many minutes had passed since the jobs were made. For jobs whose pattern
    /// recurs after that time.
    pub fn minutes_pass(&self, minutes: i64) {
        let db = rusqlite::Connection::open(&self.database).unwrap();
        db.busy_timeout(claw_test_kit::SOON).unwrap();
        let moved = "UPDATE jobs SET planned = planned - 60 * ?1, due_at = due_at - 60 * ?1";
        assert!(db.execute(moved, [minutes]).unwrap() > 0);
    }

    pub fn query<T: rusqlite::types::FromSql>(&self, sql: &str) -> Vec<T> {
        let db = rusqlite::Connection::open(&self.database).unwrap();
        let mut statement = db.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }
}

/// The server on a file, to which nothing was said yet.
pub fn spawn(database: &Path, arguments: &[&str]) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-scheduler"));
    command.args(["--zone", "Europe/Berlin", "--database"]).arg(database).args(arguments);
    Server::start(&mut command)
}
