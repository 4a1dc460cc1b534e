//! One bad byte in any table: another session is answered or told what to do, the doctor names it
//! and puts it aside, and everything goes on.

use serde_json::Value;

use crate::keeping::damaged::number;
use crate::keeping::{finding, write_called};
use crate::program::House;

/// A row of every table that has one.
const SEEDS: &str = include_str!("../../crates/store/src/tests/one_row_each.sql");

fn seeded() -> House {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    house.db().execute_batch(SEEDS).unwrap();
    // Nothing waits for a yes.
    house.db().execute_batch("UPDATE pins SET new_pin = NULL, new_raw = NULL").unwrap();
    house.claw(&["doctor"]).expect(0);
    house
}

/// Spoils what one column holds, of one row.
fn spoil(house: &House, table: &str, column: &str, which: &str) {
    let sql = format!("UPDATE {table} SET {column} = CAST({column} || x'ff' AS TEXT) {which}");
    house.db().execute_batch(&sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
}

/// Another session is answered, or told what to do.
#[track_caller]
fn goes_on_or_says(house: &House, what: &str) {
    let said = house.claw(&["ask", "--session", "other", "list"]);
    let well = said.code == Some(0) || said.err.contains("claw doctor --repair");
    assert!(well && !said.err.contains("panicked"), "{what}: {said:?}");
}

/// The doctor names the row, puts it aside, and all is well.
#[track_caller]
fn is_mended(house: &House, id: &str) {
    let said = house.claw(&["doctor", "--json"]).expect(1);
    let found = finding(&said, id).unwrap_or_else(|| panic!("{id}: {said:?}"));
    assert_eq!(found["repair"], true, "{found}");
    let repaired = house.claw(&["doctor", "--repair", "--yes"]);
    assert!(repaired.err.contains("Put "), "{id}: {repaired:?}");
    // A question that went leaves its call, which is found next.
    house.claw(&["doctor", "--repair", "--yes"]).expect(0);
    for session in ["other", "main", "seeded"] {
        house.claw(&["ask", "--session", session, "list"]).expect(0);
    }
}

#[test]
fn one_bad_byte_in_each_table_is_named_and_put_aside() {
    let house = seeded();
    let rows = [
        ("launches", "server", "launches:bash\u{fffd}"),
        ("launches", "era", "launches:bash"),
        ("pins", "pin", "pins:"),
        ("session_models", "model", "session_models:seeded"),
        ("session_roles", "role", "session_roles:seeded"),
        ("artifacts", "mime", "artifacts:aaaa"),
        ("clients", "day", "clients:laptop"),
        ("trust", "launch", "trust:s"),
        ("staged", "told", "staged:seeded:3:action.1"),
        ("usage", "model", "usage:seeded:3"),
        ("guests", "name", "guests:1:2"),
        ("owner_questions", "shown", "owner_questions:owner.1"),
    ];
    for (table, column, id) in rows {
        let which = match table {
            "launches" => "WHERE server = 'bash'",
            "pins" => "WHERE server = 'filesystem'",
            _ => "",
        };
        spoil(&house, table, column, which);
        goes_on_or_says(&house, id);
        let said = house.claw(&["doctor", "--json"]).expect(1);
        let named = said.rows().into_iter().find(|row| {
            row["repair"] == true && row["id"].as_str().is_some_and(|named| named.starts_with(id))
        });
        let named = named.unwrap_or_else(|| panic!("{id}: {said:?}"));
        is_mended(&house, named["id"].as_str().unwrap());
    }
    let aside = "SELECT count(DISTINCT of_table) FROM put_aside";
    assert_eq!(number(&house, aside), 11);
    house.is_whole();
}

#[test]
fn what_was_spent_and_cannot_be_read_is_counted_anew_and_asked_about() {
    let house = seeded();
    let damage = "INSERT OR REPLACE INTO meta VALUES ('spent.day', CAST('x' || x'ff' AS TEXT))";
    house.db().execute_batch(damage).unwrap();
    let said = house.claw(&["ask", "list"]).expect(1);
    let told = "what models have taken today cannot be read";
    assert!(said.err.contains(told) && said.err.contains("claw doctor --repair"), "{said:?}");
    let doctor = house.claw(&["doctor", "--json"]).expect(1);
    assert!(finding(&doctor, "meta:spent.day").is_some(), "{doctor:?}");
    house.claw(&["doctor", "--repair", "--yes"]).expect(0);
    let parked = house.claw(&["ask", "list"]).expect(3);
    let question = house.claw(&["approvals"]).expect(0).out;
    assert!(question.contains("could not be read"), "{parked:?} {question}");
    house.claw(&["approve", &house.waiting()]).expect(0);
    house.claw(&["ask", "list"]).expect(0);
}

#[test]
fn a_refusal_that_cannot_be_read_holds_for_every_call_of_its_tool() {
    let house = House::new();
    let id = write_called(&house, "a.txt");
    house.claw(&["deny", &id, "--never"]).expect(0);
    spoil(&house, "grants", "shape", "");
    house.claw(&["doctor", "--repair", "--yes"]).expect(0);
    let listed = house.claw(&["grants"]).expect(0).out;
    assert!(listed.contains("every call of filesystem/write_file"), "{listed}");
    house.claw(&["ask", "write b.txt: hello"]).expect(0);
    assert!(!house.workspace().join("b.txt").exists());
    assert!(house.claw(&["approvals", "--json"]).expect(0).rows().is_empty());
    house.claw(&["grants", "revoke", "1"]).expect(0);
    write_called(&house, "b.txt");
}

#[test]
fn a_damaged_head_of_the_audit_is_told_as_that_and_put_back_for_all_to_see() {
    for damage in [
        "UPDATE meta SET value = CAST(substr(value, 1, 3) || x'ff' AS TEXT) WHERE key = 'audit.head'",
        "UPDATE meta SET value = 'x' WHERE key = 'audit.head'",
        "DELETE FROM meta WHERE key = 'audit.head'",
    ] {
        let house = seeded();
        house.db().execute_batch(damage).unwrap();
        let said = house.claw(&["ask", "list"]);
        assert!(said.err.contains("the head of the audit cannot be read"), "{damage}: {said:?}");
        assert!(!said.err.contains("write-ahead"), "{damage}: {said:?}");
        let verified = house.claw(&["audit", "verify"]).expect(1).out;
        assert!(verified.contains("the head of the audit cannot be read"), "{verified}");
        is_mended(&house, "meta:audit.head");
        let verified = house.claw(&["audit", "verify"]).expect(0).out;
        assert!(verified.contains("was put back behind row"), "{damage}: {verified}");
        let whole: Value = house.claw(&["audit", "verify", "--json"]).expect(0).json();
        assert_eq!(whole["heads"][0]["sealed"], true, "{whole}");
        house.is_whole();
    }
}

#[test]
fn a_damaged_seal_proves_nothing_until_its_owner_takes_the_audit_as_it_is() {
    let house = seeded();
    spoil(&house, "meta", "value", "WHERE key = 'audit.seal'");
    let cut = "UPDATE meta SET value = CAST(x'ff' AS TEXT) WHERE key = 'audit.seal'";
    house.db().execute_batch(cut).unwrap();
    goes_on_or_says(&house, "the seal");
    let verified = house.claw(&["audit", "verify"]).expect(1).out;
    assert!(verified.contains("the seal of the audit cannot be read"), "{verified}");
    house.claw(&["doctor", "--repair", "--yes"]).expect(1);
    let verified = house.claw(&["audit", "verify"]).expect(1).out;
    assert!(verified.contains("the seal of the audit is missing"), "{verified}");
    assert!(verified.contains("claw audit anchor --accept"), "{verified}");
    house.claw(&["ask", "list"]).expect(0);
    house.claw(&["audit", "anchor", "--accept"]).expect(0);
    house.claw(&["doctor"]).expect(0);
}
