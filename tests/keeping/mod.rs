//! What an owner does with what claw keeps: replay, export and import, explain, back up and
//! restore, retention, and what the doctor repairs; the whole program, in homes of its own.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a shell tries a completion script")]

mod backup_faults;
mod backups;
mod damaged;
mod damaged_audit;
mod damaged_everywhere;
mod damaged_tables;
mod doctor;
mod explains;
mod logs;
mod long_audit;
mod manual;
mod retention;
mod stores;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::program::{House, Ran};
use serde_json::Value;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A file of the user's, outside of claw's home.
fn beside(house: &House, name: &str) -> PathBuf {
    house.user_home().join(name)
}

fn write_called(house: &House, name: &str) -> String {
    house.claw(&["ask", &format!("write {name}: hello")]).expect(3);
    house.waiting()
}

fn replayed(house: &House) -> Vec<Value> {
    house.claw(&["sessions", "replay", "--json"]).expect(0).rows()
}

/// What the doctor says of one thing.
fn finding(ran: &Ran, id: &str) -> Option<Value> {
    ran.rows().into_iter().find(|row| row["id"] == id)
}

fn age(path: &Path) {
    let old = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
    File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
}
