//! What proves the audit from outside of the store: whoever writes it anew, cuts it, puts an older
//! copy in its place or deletes it is noticed, and whoever does so in order is told the next step.
//! Drives the whole program.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::PathBuf;

use crate::program::House;
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Two rows, the second one after the first one's process has ended.
fn written(house: &House) {
    house.claw(&["panic", "on"]).expect(0);
    house.claw(&["panic", "off"]).expect(0);
}

/// A home with rows, and what `verify` says of it.
fn sound() -> House {
    let house = House::new();
    written(&house);
    let whole = house.claw(&["audit", "verify", "--json"]).expect(0).json();
    assert_eq!((&whole["anchored"], &whole["rows"]), (&json!(true), &json!(2)), "{whole}");
    house
}

fn state(house: &House) -> PathBuf {
    house.user_home().join(".local/state/claw")
}

#[track_caller]
fn broken(house: &House, named: &[&str]) {
    let ran = house.claw(&["audit", "verify"]).expect(1);
    for name in named {
        assert!(ran.out.contains(name), "`{name}` is not named: {ran:?}");
    }
    let doctor = house.claw(&["doctor", "--json"]);
    let audit = doctor.rows().into_iter().find(|row| row["id"] == "audit").unwrap();
    assert_eq!(audit["ok"], json!(false), "{audit}");
}

/// Takes the files of the database, as somebody who copies a home does.
fn taken(house: &House) -> Vec<(PathBuf, Vec<u8>)> {
    let names = ["claw.db", "claw.db-wal", "claw.db-shm"].map(|name| house.home().join(name));
    names.into_iter().filter_map(|path| Some((path.clone(), fs::read(path).ok()?))).collect()
}

fn put_back(house: &House, files: &[(PathBuf, Vec<u8>)]) {
    deleted(house);
    for (path, bytes) in files {
        fs::write(path, bytes).unwrap();
    }
}

fn deleted(house: &House) {
    for name in ["claw.db", "claw.db-wal", "claw.db-shm"] {
        let _ = fs::remove_file(house.home().join(name));
    }
}

/// What somebody can do who writes to the store and knows how claw does it: new rows with a chain
/// and a head that fit.
fn write_anew(db: &Connection, change: &str) {
    db.execute_batch("DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete;").unwrap();
    db.execute_batch(change).unwrap();
    let mut rows = db.prepare("SELECT id, at_ms, kind, call, body FROM audit ORDER BY id").unwrap();
    let rows: Vec<(i64, i64, String, String, String)> = rows
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut prev = "0".repeat(64);
    let mut last = 0;
    for (id, at_ms, kind, call, body) in rows {
        let link = json!([prev, id, at_ms, kind, call, body]).to_string();
        let hash: String = Sha256::digest(link).iter().map(|byte| format!("{byte:02x}")).collect();
        db.execute("UPDATE audit SET prev = ?1, hash = ?2 WHERE id = ?3", (&prev, &hash, id))
            .unwrap();
        (prev, last) = (hash, id);
    }
    db.execute("UPDATE meta SET value = ?1 WHERE key = 'audit.head'", [format!("{last}:{prev}")])
        .unwrap();
}

#[test]
fn a_chain_that_was_computed_anew_with_its_head_is_noticed() {
    let house = sound();
    write_anew(&house.db(), "UPDATE audit SET body = '{\"by\":\"nobody\"}' WHERE id = 1");
    broken(
        &house,
        &["row 2 is not the one that was noted outside of the store", "claw audit anchor --accept"],
    );
    // Without the file outside, the seal alone says it.
    let heads = fs::read_dir(state(&house)).unwrap().map(|entry| entry.unwrap().path());
    heads
        .filter(|path| path.extension().is_some_and(|end| end == "head"))
        .for_each(|head| fs::remove_file(head).unwrap());
    broken(&house, &["written anew by somebody who does not have the key"]);
    // What comes later does not cover it.
    written(&house);
    broken(&house, &["written anew by somebody who does not have the key"]);
}

#[test]
fn a_tail_that_was_cut_with_a_head_that_fits_is_noticed() {
    let house = sound();
    write_anew(&house.db(), "DELETE FROM audit WHERE id = 2");
    // The store itself is refused at first; whoever cuts it can remove that note, too.
    let refused = house.claw(&["audit", "verify"]).expect(1).err;
    assert!(
        refused.contains("has lost its newest rows (row 2 of the audit had been written"),
        "{refused}"
    );
    fs::remove_file(house.home().join("claw.db-mark")).unwrap();
    broken(&house, &["the rows after 1 are missing: row 2 was noted outside of the store at"]);
    written(&house);
    broken(&house, &["row 2 is not the one"]);
}

#[test]
fn a_seal_that_was_taken_away_is_noticed() {
    let house = sound();
    write_anew(&house.db(), "DELETE FROM meta WHERE key = 'audit.seal'");
    broken(&house, &["the seal of the audit is missing"]);
    written(&house);
    broken(&house, &["the seal of the audit is missing"]);
}

#[test]
fn an_older_copy_of_the_store_is_noticed_also_after_it_has_grown() {
    let house = sound();
    let older = taken(&house);
    written(&house);
    put_back(&house, &older);
    broken(&house, &["the rows after 2 are missing: row 4 was noted outside of the store at"]);
    written(&house);
    written(&house);
    broken(&house, &["row 4 is not the one that was noted outside of the store"]);
}

#[test]
fn a_deleted_store_is_noticed_also_after_a_new_one_has_grown() {
    let house = sound();
    deleted(&house);
    broken(&house, &["the rows after 0 are missing: row 2 was noted outside of the store at"]);
    written(&house);
    broken(&house, &["row 2 is not the one that was noted outside of the store"]);
}

#[test]
fn the_owner_can_take_the_audit_as_it_is_and_a_row_says_so() {
    let house = sound();
    deleted(&house);
    written(&house);
    house.claw(&["audit", "verify"]).expect(1);
    let row =
        house.claw(&["audit", "anchor", "--accept", "--json"]).expect(0).json()["row"].clone();
    assert_eq!(row, json!(3));
    let whole = house.claw(&["audit", "verify", "--json"]).expect(0).json();
    assert_eq!((&whole["anchored"], &whole["anew"]), (&json!(true), &json!([3])), "{whole}");
    let story = house.claw(&["audit", "explain", "3"]).expect(0).out;
    assert!(
        story.contains("took the audit as it was") && story.contains("noted outside was: 2:"),
        "{story}"
    );
    written(&house);
    house.claw(&["audit", "verify"]).expect(0);
}

#[test]
fn a_head_that_the_owner_has_noted_is_compared() {
    let house = sound();
    let head = house.claw(&["audit", "head", "--json"]).expect(0).json()["head"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(head.starts_with("2:"), "{head}");
    written(&house);
    let whole = house.claw(&["audit", "verify", "--head", &head]).expect(0).out;
    assert!(whole.contains("Row 2 is the one that you have noted."), "{whole}");
    house.claw(&["audit", "verify", "--head", &head[..20]]).expect(0);
    // Whoever has the key as well, and writes everything anew, does not have what was told.
    let key_and_all = state(&house);
    write_anew(&house.db(), "UPDATE audit SET body = '{\"by\":\"nobody\"}' WHERE id = 1");
    fs::remove_dir_all(key_and_all).unwrap();
    house.claw(&["audit", "anchor", "--accept"]).expect(0);
    house.claw(&["audit", "verify"]).expect(0);
    let ran = house.claw(&["audit", "verify", "--head", &head]).expect(1);
    assert!(ran.out.contains("row 2 is not the one that you have noted"), "{ran:?}");
    house.claw(&["audit", "verify", "--head", "2"]).expect(2);
    assert!(
        house
            .claw(&["audit", "verify", "--head", &format!("99:{}", "a".repeat(64))])
            .expect(1)
            .out
            .contains("99")
    );
}

#[test]
fn a_home_that_was_moved_and_one_that_was_restored_are_whole() {
    let house = sound();
    let file = house.user_home().join("backup.tar");
    house.claw(&["backup", file.to_str().unwrap()]).expect(0);
    written(&house);
    let moved = house.user_home().join("moved");
    fs::rename(house.home(), &moved).unwrap();
    let house = house.with("CLAW_HOME", moved.to_str().unwrap());
    house.claw(&["audit", "verify"]).expect(0);
    written(&house);
    house.claw(&["audit", "verify"]).expect(0);
    // The older copy comes to the place at which four rows were noted.
    let house = house.with("CLAW_HOME", house_home(&moved).to_str().unwrap());
    house.claw(&["restore", file.to_str().unwrap()]).expect(0);
    let whole = house.claw(&["audit", "verify", "--json"]).expect(0).json();
    assert_eq!((&whole["anchored"], &whole["anew"]), (&json!(true), &json!([4])), "{whole}");
}

/// The usual home beside a moved one.
fn house_home(moved: &std::path::Path) -> PathBuf {
    moved.parent().unwrap().join(".claw")
}

#[test]
fn without_a_place_for_a_key_everything_works_and_is_said() {
    let house = House::new();
    fs::create_dir_all(house.user_home().join(".local")).unwrap();
    fs::write(house.user_home().join(".local/state"), "a file is in the way").unwrap();
    written(&house);
    let said = house.claw(&["audit", "verify"]).expect(0).out;
    assert!(
        said.contains("Nothing outside of the store proves them, because there is no key"),
        "{said}"
    );
    assert!(house.claw(&["audit", "anchor"]).expect(2).err.contains("there is no key"));
    // As soon as there is one, the rows before it are named.
    fs::remove_file(house.user_home().join(".local/state")).unwrap();
    written(&house);
    let whole = house.claw(&["audit", "verify", "--json"]).expect(0).json();
    assert_eq!((&whole["anchored"], &whole["anew"]), (&json!(true), &json!([3])), "{whole}");
}

#[test]
fn rows_of_a_process_without_the_key_are_named_and_no_alarm() {
    let house = sound();
    let key = state(&house).join("audit.key");
    let apart = house.user_home().join("credentials");
    fs::create_dir(&apart).unwrap();
    fs::copy(&key, apart.join("claw-audit-key")).unwrap();
    fs::rename(state(&house), house.user_home().join("gone")).unwrap();
    fs::write(house.user_home().join(".local/state/claw"), "a file is in the way").unwrap();
    written(&house);
    fs::remove_file(house.user_home().join(".local/state/claw")).unwrap();
    fs::rename(house.user_home().join("gone"), state(&house)).unwrap();
    let keyless = |house: &House| {
        house.claw(&["audit", "verify", "--json"]).expect(0).json()["keyless"].clone()
    };
    assert_eq!(keyless(&house), json!([[3, 4]]));
    // A service that gets the same key as a credential of systemd goes on with it.
    let house = house.with("CREDENTIALS_DIRECTORY", apart.to_str().unwrap());
    written(&house);
    assert_eq!(keyless(&house), json!([[3, 4]]));
    let rows: Vec<Value> = house.audit();
    assert!(
        rows.iter().any(|row| row["kind"] == "anchor.adopted" && row["body"]["from"] == json!(3)),
        "{rows:?}"
    );
}
