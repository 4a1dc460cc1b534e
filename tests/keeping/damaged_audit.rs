//! Rows of the audit that cannot be read: the proof names them, the doctor puts a note in their
//! place, and from then on the proof tells of it forever. Nobody else can.

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::keeping::damaged::{aside, names, number, repairs};
use crate::keeping::finding;
use crate::program::House;

const HIGH: i64 = i64::MAX;

/// A home whose audit has six rows.
fn told() -> House {
    let house = House::new();
    for how in ["on", "off", "on", "off", "on", "off"] {
        house.claw(&["panic", how]).expect(0);
    }
    assert_eq!(number(&house, "SELECT count(*) FROM audit"), 6);
    house
}

fn triggers(db: &Connection) -> Vec<String> {
    let texts = "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name";
    let mut query = db.prepare(texts).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// What a bad disk or an editor does, past the triggers, which are there again then.
pub fn spoil(house: &House, change: &str) {
    let db = house.db();
    let texts = triggers(&db);
    assert_eq!(texts.len(), 2, "{texts:?}");
    db.execute_batch("DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete;").unwrap();
    db.execute_batch(change).unwrap();
    texts.iter().for_each(|text| db.execute_batch(text).unwrap());
}

fn verified(house: &House) -> Value {
    house.claw(&["audit", "verify", "--json"]).expect(0).json()
}

/// The proof names the row, in the words `what`; the doctor does so, too.
#[track_caller]
fn broken(house: &House, row: i64, what: &str) -> Value {
    let said = house.claw(&["audit", "verify", "--json"]).expect(1).json();
    let told = said["what"].as_str().unwrap_or_default();
    assert!(said["row"] == json!(row) && told.contains(what), "{what}: {said}");
    let doctor = house.claw(&["doctor", "--json"]).expect(1);
    assert_eq!(finding(&doctor, "audit").unwrap()["ok"], json!(false), "{doctor:?}");
    said["next"].clone()
}

/// The rows that the proof calls put aside.
fn put_aside(house: &House) -> Vec<i64> {
    let whole = verified(house);
    assert_eq!(whole["anchored"], json!(true), "{whole}");
    whole["put_aside"].as_array().unwrap().iter().map(|row| row["row"].as_i64().unwrap()).collect()
}

#[test]
fn a_row_that_cannot_be_read_or_is_missing_is_named_and_a_note_keeps_its_place() {
    let not_utf8 = "CAST(substr({}, 1, 2) || x'ff' || substr({}, 3) AS TEXT)";
    let column = |column: &str, id: i64| {
        let how = not_utf8.replace("{}", column);
        format!("UPDATE audit SET {column} = {how} WHERE id = {id}")
    };
    for (id, change, what) in [
        (3, "UPDATE audit SET body = substr(body, 1, 5) WHERE id = 3".to_owned(), "cannot be read"),
        (1, column("body", 1), "its body is not UTF-8"),
        (4, column("kind", 4), "its kind is not UTF-8"),
        (2, column("hash", 2), "its hash is not UTF-8"),
        // The newest one, which the seal and the head outside are about.
        (6, column("body", 6), "its body is not UTF-8"),
        (5, column("prev", 5), "its prev is not UTF-8"),
        (1, "DELETE FROM audit WHERE id = 1".to_owned(), "is missing"),
        (3, "DELETE FROM audit WHERE id = 3".to_owned(), "is missing"),
        (6, "DELETE FROM audit WHERE id = 6".to_owned(), "missing"),
    ] {
        let house = told();
        let was = "SELECT CAST(body AS BLOB), hash FROM audit WHERE id = ?1";
        spoil(&house, &change);
        let was: Option<Vec<u8>> =
            house.db().query_row(was, [id], |row| row.get(0)).map(Some).unwrap_or_default();
        let next = broken(&house, id, what);
        assert!(next.as_str().unwrap().contains("claw doctor --repair"), "{next}");
        // The list does not read what a row is bound to.
        if was.is_some() && !what.contains("prev") {
            names(&house.claw(&["audit", "--rows"]).expect(1), &format!("row {id} of the audit"));
        }
        // Work goes on meanwhile.
        house.claw(&["panic", "on"]).expect(0);
        house.claw(&["panic", "off"]).expect(0);
        repairs(&house, &format!("audit:{id}"));
        let kept: Vec<_> =
            was.map(|was| ("audit".to_owned(), id.to_string(), was)).into_iter().collect();
        assert_eq!(aside(&house), kept, "{change}");
        assert_eq!(put_aside(&house), [id], "{change}");
        let said = house.claw(&["audit", "verify"]).expect(0).out;
        assert!(said.contains(&format!("Row {id} was put aside by the doctor at ")), "{said}");
        let listed = house.claw(&["audit", "--rows", "--json"]).expect(0).rows();
        assert!(
            listed.iter().any(|row| row["id"] == id && row["kind"] == "put_aside"),
            "{listed:?}"
        );
        let story = house.claw(&["audit", "explain", &id.to_string()]).expect(0).out;
        assert!(
            story.contains(&format!("had the doctor put row {id} of the audit aside")),
            "{story}"
        );
        assert_eq!(triggers(&house.db()).len(), 2, "{change}");
        // What comes later changes nothing about it, and a changed note is found.
        house.claw(&["panic", "on"]).expect(0);
        assert_eq!(put_aside(&house), [id], "{change}");
        spoil(&house, &format!("UPDATE audit SET body = '{{\"by\":\"nobody\"}}' WHERE id = {id}"));
        broken(&house, id, "was changed");
    }
}

#[test]
fn rows_that_are_missing_side_by_side_get_a_note_each() {
    let house = told();
    spoil(&house, "DELETE FROM audit WHERE id BETWEEN 3 AND 5");
    broken(&house, 3, "row 3 is missing");
    house.claw(&["doctor", "--repair", "--yes"]);
    house.claw(&["doctor"]).expect(0);
    assert_eq!(put_aside(&house), [3, 4, 5]);
}

#[test]
fn a_row_with_the_highest_number_goes_back_to_the_place_that_its_hash_names() {
    for id in [1, 3, 6] {
        let house = told();
        let row = "SELECT at_ms || kind || call || body || prev || hash FROM audit WHERE id = ";
        let text = || -> String {
            house.db().query_row(&format!("{row}{id}"), [], |row| row.get(0)).unwrap()
        };
        let was = text();
        spoil(&house, &format!("UPDATE audit SET id = {HIGH} WHERE id = {id}"));
        broken(&house, id, "missing");
        house.claw(&["panic", "on"]).expect(0);
        house.claw(&["panic", "off"]).expect(0);
        repairs(&house, &format!("audit:{HIGH}"));
        assert_eq!(text(), was, "{id}");
        assert!(put_aside(&house).is_empty(), "{id}: its hash proves it whole");
        house.claw(&["doctor"]).expect(0);
    }
}

#[test]
fn a_row_with_the_highest_number_that_fits_no_place_is_put_aside() {
    let house = told();
    spoil(
        &house,
        &format!(
            "INSERT INTO audit SELECT {HIGH}, at_ms, kind, call, body, prev, hash FROM audit WHERE id = 5"
        ),
    );
    broken(&house, HIGH, "no part of the chain");
    repairs(&house, &format!("audit:{HIGH}"));
    assert_eq!(aside(&house)[0].1, HIGH.to_string());
    assert_eq!(number(&house, &format!("SELECT count(*) FROM audit WHERE id = {HIGH}")), 0);
    assert!(put_aside(&house).is_empty());
}

/// The hash of a row behind one with the hash `prev`, as claw computes it.
fn link(prev: &str, id: i64, at_ms: i64, kind: &str, body: &str) -> String {
    let text = json!([prev, id, at_ms, kind, "", body]).to_string();
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What somebody does who writes to the store, knows how claw does it, and has no key: row 3 says
/// something else, and a further row of a chain that fits tells of it.
fn forge(house: &House, told: bool) {
    let db = house.db();
    let (at_ms, prev, hash): (i64, String, String) = db
        .query_row("SELECT at_ms, prev, hash FROM audit WHERE id = 3", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    let body = json!({"by": "owner", "row": "row 3 of the audit", "session": null, "what": "x"});
    let linked = link(&prev, 3, at_ms, "put_aside", &body.to_string());
    spoil(house, &format!("UPDATE audit SET kind = 'put_aside', body = '{body}' WHERE id = 3"));
    if !told {
        return;
    }
    let head: String = db
        .query_row("SELECT value FROM meta WHERE key = 'audit.head'", [], |row| row.get(0))
        .unwrap();
    let (last, prev) = head.split_once(':').unwrap();
    let id = last.parse::<i64>().unwrap() + 1;
    let mut telling = body;
    telling["number"] = json!(3);
    telling["hash"] = json!(hash);
    telling["stand_in"] = json!(linked);
    let telling = telling.to_string();
    let hash = link(prev, id, at_ms, "put_aside", &telling);
    db.execute(
        "INSERT INTO audit(id, at_ms, kind, call, body, prev, hash) VALUES (?1, ?2, 'put_aside', '', ?3, ?4, ?5)",
        (id, at_ms, telling, prev, &hash),
    )
    .unwrap();
    db.execute("UPDATE meta SET value = ?1 WHERE key = 'audit.head'", [format!("{id}:{hash}")])
        .unwrap();
}

#[test]
fn a_forged_stand_in_is_called_broken_and_the_doctor_leaves_it() {
    let house = told();
    forge(&house, false);
    broken(&house, 3, "row 3 was changed");
    let house = told();
    forge(&house, true);
    let said =
        "row 3 was replaced, and no row that was written with the key says that it was put aside";
    broken(&house, 3, said);
    // Also after a process with the key has gone on from there.
    house.claw(&["panic", "on"]).expect(0);
    house.claw(&["panic", "off"]).expect(0);
    broken(&house, 3, said);
    house.claw(&["doctor", "--repair", "--yes"]).expect(1);
    broken(&house, 3, said);
    assert!(aside(&house).is_empty());
}

#[test]
fn what_told_of_one_stand_in_does_not_tell_of_another_one() {
    let house = told();
    spoil(&house, "UPDATE audit SET body = 'x' WHERE id = 3");
    repairs(&house, "audit:3");
    assert_eq!(put_aside(&house), [3]);
    forge(&house, true);
    broken(&house, 3, "row 3 was replaced");
}

#[test]
fn a_sealed_audit_is_repaired_with_its_key_alone() {
    let house = told();
    spoil(&house, "UPDATE audit SET body = 'x' WHERE id = 3");
    let state = house.user_home().join(".local/state");
    let away = house.user_home().join("away");
    fs::rename(&state, &away).unwrap();
    fs::write(&state, "a file is in the way").unwrap();
    let said = house.claw(&["doctor", "--repair", "--yes"]).expect(1);
    assert!(said.err.contains("the key is not here; nothing was changed"), "{said:?}");
    assert!(aside(&house).is_empty());
    fs::remove_file(&state).unwrap();
    fs::rename(&away, &state).unwrap();
    repairs(&house, "audit:3");
    assert_eq!(put_aside(&house), [3]);
}
