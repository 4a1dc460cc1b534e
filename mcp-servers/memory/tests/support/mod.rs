//! A folder to try things in, and the real server on it. Must not know the tools.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![allow(dead_code, clippy::allow_attributes, reason = "each test program uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

pub use claw_test_kit::mcp::Server;

/// A folder of notes below a temporary directory.
pub struct Room {
    pub temp: tempfile::TempDir,
    pub notes: PathBuf,
}

impl Room {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let notes = temp.path().canonicalize().unwrap().join("memory");
        std::fs::create_dir(&notes).unwrap();
        Self { temp, notes }
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.notes.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.notes.join(path)).unwrap()
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.notes.join(path)).unwrap();
    }

    pub fn start(&self) -> Server {
        let mut server = spawn(&self.notes, &[]);
        server.initialize("2025-11-25");
        server
    }

    /// What `--check` says, and whether it found the index equal to the files.
    pub fn check(&self) -> (bool, String) {
        self.check_with(&[])
    }

    /// Everything that is in the index, as text.
    pub fn indexed(&self) -> String {
        let path = self.temp.path().join("memory-state/index.db");
        let db = rusqlite::Connection::open(path).unwrap();
        let mut text = String::new();
        for sql in [
            "SELECT path, digest, id, copy, own_id, kind, subject, body, names, grams, aliases, who, session, turn, file,
                created, updated, dated, valid_from, superseded_by, supersedes, fault FROM notes ORDER BY path",
            "SELECT path, tag FROM tags JOIN notes USING (row) ORDER BY path, tag",
            "SELECT path, relation, target, key FROM links JOIN notes USING (row) ORDER BY path, links.rowid",
            "SELECT path, name FROM known_names JOIN notes USING (row) ORDER BY path, name",
        ] {
            let mut statement = db.prepare(sql).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                for column in 0..columns {
                    text.push_str(&format!("{:?} ", row.get_ref(column).unwrap()));
                }
                text.push('\n');
            }
        }
        text
    }

    pub fn check_with(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"))
            .arg("--notes")
            .arg(&self.notes)
            .arg("--check")
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.stdout.is_empty());
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    }
}

/// The server on a folder, to which nothing was said yet.
pub fn spawn(notes: &Path, arguments: &[&str]) -> Server {
    spawn_of(&[env!("CARGO_BIN_EXE_claw-mcp-memory")], notes, arguments)
}

/// The same of another program, with its first arguments.
pub fn spawn_of(program: &[&str], notes: &Path, arguments: &[&str]) -> Server {
    let (program, first) = program.split_first().unwrap();
    let mut command = Command::new(program);
    Server::start(command.args(first).arg("--notes").arg(notes).args(arguments))
}
