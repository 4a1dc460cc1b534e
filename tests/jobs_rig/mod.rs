//! The scheduler's own file behind a rig: time passes by moving its jobs into the past, because the
//! clock of a real process cannot be held. Must not know what is tested.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use claw_mcp_scheduler::{Args, Jobs};
use serde_json::Value;

use crate::program::House;
use crate::telegram_model::Rig;

pub trait JobsRig {
    fn session(&self) -> String;
    /// All jobs come so much earlier.
    fn minutes_pass(&self, minutes: i64);
    fn jobs(&self) -> i64;
    /// Firings that were taken.
    fn taken(&self) -> i64;
    /// Rows of the outbox that hold this text, sent or not.
    fn told(&self, text: &str) -> i64;
}

pub fn schedule_of(house: &House) -> rusqlite::Connection {
    let db = rusqlite::Connection::open(house.home().join("schedule/jobs.db")).unwrap();
    db.busy_timeout(claw_test_kit::SOON).unwrap();
    db
}

/// A single time stands in the plan, too.
const EARLIER: &str = "UPDATE jobs SET planned = planned - 60 * ?1, due_at = due_at - 60 * ?1,
    plan = CASE WHEN json_extract(plan, '$.rule.kind') = 'once'
        THEN json_set(plan, '$.rule.at', json_extract(plan, '$.rule.at') - 60 * ?1)
        ELSE plan END
    WHERE planned IS NOT NULL";

pub fn minutes_pass(house: &House, minutes: i64) {
    assert!(schedule_of(house).execute(EARLIER, [minutes]).unwrap() > 0, "there are no jobs");
}

/// The jobs of a house, by the scheduler's own hands.
pub fn jobs_of(house: &House) -> Jobs {
    let database = Some(house.home().join("schedule/jobs.db"));
    let zone = Some("Europe/Berlin".to_owned());
    Jobs::open(&Args { database, zone, ..Args::default() }).unwrap()
}

/// Makes a job without claw.
pub fn schedule(house: &House, fields: Value) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let said = runtime.block_on(jobs_of(house).run("schedule", fields)).unwrap();
    said.structured["id"].as_str().unwrap().to_owned()
}

pub fn taken(house: &House) -> i64 {
    count(&schedule_of(house), "SELECT count(*) FROM firings WHERE state = 'taken'")
}

fn count(db: &rusqlite::Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

impl JobsRig for Rig {
    fn session(&self) -> String {
        format!("telegram.{}.{}", self.telegram.bot_id(), self.anna.id)
    }

    fn minutes_pass(&self, minutes: i64) {
        minutes_pass(&self.house, minutes);
    }

    fn jobs(&self) -> i64 {
        if !self.house.home().join("schedule/jobs.db").exists() {
            return 0;
        }
        count(&schedule_of(&self.house), "SELECT count(*) FROM jobs")
    }

    fn taken(&self) -> i64 {
        taken(&self.house)
    }

    fn told(&self, text: &str) -> i64 {
        let like = format!("%{text}%");
        let sql = "SELECT count(*) FROM outbox WHERE body LIKE ?1";
        self.house.db().query_row(sql, [like], |row| row.get(0)).unwrap()
    }
}
