//! How long a question about the memory holds: a skip rests for seven days, and so long a question
//! is open. Over the whole program; the server's own tests go through the cases.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;

use crate::program::House;
use serde_json::Value;

const NOT_AGAIN: &str = "is not asked about this a second time";
const DAY_S: i64 = 86_400;

fn asks(house: &House) -> String {
    house.claw(&["ask", "remember that Anna lives in Graz"]).expect(0).out
}

/// Moves everything that was asked into the past.
fn days_pass(house: &House, days: i64) {
    let path = house.home().join("memory-state/asked.jsonl");
    let rows: Vec<String> = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .map(|line| {
            let mut asked: Value = serde_json::from_str(line).unwrap();
            for key in ["at", "closed_at"] {
                if let Some(at) = asked[key].as_i64() {
                    asked[key] = (at - days * DAY_S).into();
                }
            }
            asked.to_string()
        })
        .collect();
    fs::write(&path, rows.join("\n") + "\n").unwrap();
}

#[test]
fn a_skip_rests_for_seven_days_and_no_longer() {
    let house = House::new();
    asks(&house);
    house.claw(&["deny", &house.waiting()]).expect(0);
    days_pass(&house, 6);
    assert!(asks(&house).contains(NOT_AGAIN));
    assert_eq!(house.claw(&["approvals"]).expect(0).out, "");
    days_pass(&house, 2);
    asks(&house);
    house.claw(&["approve", &house.waiting()]).expect(0);
    assert_eq!(house.claw(&["memory", "list", "--json"]).expect(0).rows().len(), 1);
    house.is_whole();
}

#[test]
fn a_question_is_open_for_a_week_and_a_late_yes_remembers_nothing() {
    let house = House::new();
    asks(&house);
    let id = house.waiting();
    let open = "SELECT expires_ms - asked_ms FROM approvals WHERE id = ?1";
    let open: i64 = house.db().query_row(open, [&id], |row| row.get(0)).unwrap();
    // The clock is read once for each.
    assert_eq!((open + 500) / 1_000, 7 * DAY_S);
    let over = "UPDATE approvals SET expires_ms = 1 WHERE id = ?1 AND state = 'waiting'";
    assert_eq!(house.db().execute(over, [&id]).unwrap(), 1);
    let late = house.claw(&["approve", &id]);
    assert!(late.code != Some(0) || !late.err.contains("Remembered"), "{late:?}");
    assert_eq!(house.claw(&["memory", "list", "--json"]).expect(0).out, "");
    assert!(asks(&house).contains(NOT_AGAIN), "nobody answered, so it rests, too");
    house.is_whole();
}
