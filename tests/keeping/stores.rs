//! A file that is no whole store of claw is said and left as it is: an empty one, a foreign one,
//! one without its log.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;

use crate::keeping::finding;
use crate::program::{House, Ran, eventually};

fn db(house: &House, end: &str) -> PathBuf {
    house.home().join(format!("claw.db{end}"))
}

/// One sentence that says all of `named`, and the code of a broken environment; the doctor says the
/// same.
#[track_caller]
fn refused(house: &House, named: &[&str]) -> Ran {
    let said = house.claw(&["ask", "list"]).expect(1);
    let sentence = said.err.lines().find(|line| line.starts_with("claw: ")).unwrap_or_default();
    for name in named.iter().chain(&["claw.db"]) {
        assert!(sentence.contains(name), "`{name}` is not named: {said:?}");
    }
    let doctor = house.claw(&["doctor", "--json"]).expect(1);
    let start = finding(&doctor, "start").unwrap_or_default();
    assert!(
        start["ok"] == false && start["text"].as_str().unwrap().contains(named[0]),
        "{doctor:?}"
    );
    said
}

#[test]
fn an_empty_database_file_is_said_and_not_adopted() {
    let house = House::new();
    house.write("claw.db", "");
    refused(&house, &["is empty", "restore a backup", "move the file away"]);
    assert_eq!(db(&house, "").metadata().unwrap().len(), 0);
    fs::remove_file(db(&house, "")).unwrap();
    house.claw(&["ask", "list"]).expect(0);
}

#[test]
fn many_processes_that_start_at_once_make_one_store() {
    let house = House::new();
    let asked: Vec<_> =
        (0..8).map(|_| house.start(&["ask", "--session", "main", "list"])).collect();
    for ask in asked {
        ask.ends().expect(0);
    }
    let asked: i64 =
        house.db().query_row("SELECT count(*) FROM inbox", [], |row| row.get(0)).unwrap();
    assert_eq!(asked, 8);
    let left = fs::read_dir(house.home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(
        left.filter(|name| name.contains(".part")).collect::<Vec<_>>(),
        Vec::<String>::new()
    );
    house.is_whole();
}

#[test]
fn a_database_of_another_program_is_left_byte_for_byte() {
    for (setup, what) in [
        (
            "CREATE TABLE moz_places(id); CREATE TABLE moz_hosts(id)",
            "other tables, such as moz_hosts, moz_places",
        ),
        (
            "PRAGMA application_id = 252006674; CREATE TABLE audit(id)",
            "the application id 0x0f055112",
        ),
        ("PRAGMA journal_mode = WAL; CREATE TABLE notes(id)", "other tables, such as notes"),
        ("CREATE TABLE meta(x); DROP TABLE meta", "it has no tables"),
    ] {
        let house = House::new();
        house.write("policy.toml", "");
        let foreign = Connection::open(db(&house, "")).unwrap();
        foreign.execute_batch(setup).unwrap();
        drop(foreign);
        let before = fs::read(db(&house, "")).unwrap();
        refused(&house, &["is no store of claw", what, "CLAW_HOME"]);
        assert!(fs::read(db(&house, "")).unwrap() == before, "{what}: it was changed");
    }
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    let house = House::new();
    let text = "a diary, and no database\n".repeat(400);
    house.write("claw.db", &text);
    refused(&house, &["is no store of claw", "not an SQLite database"]);
    assert_eq!(fs::read_to_string(db(&house, "")).unwrap(), text);
}

/// The messages in the store without its log.
fn messages_without_the_log(house: &House) -> i64 {
    let alone = house.user_home().join("alone.db");
    if fs::copy(db(house, ""), &alone).is_err() {
        return 0;
    }
    let opened = Connection::open(&alone).unwrap();
    // The first run may not have moved its tables into the store yet.
    opened.query_row("SELECT count(*) FROM inbox", [], |row| row.get(0)).unwrap_or_default()
}

/// Asks until the newest message stands in the log alone: a run that has written much moves the log
/// into the store by itself.
fn asks_into_the_log(house: &House) {
    eventually("the newest message stands in the log alone", || {
        let before = messages_without_the_log(house);
        house.claw(&["ask", "list"]).expect(0);
        messages_without_the_log(house) == before
    });
}

#[test]
fn a_store_without_its_write_ahead_log_is_said_and_goes_on_when_the_log_is_back() {
    let house = House::new();
    asks_into_the_log(&house);
    let log = fs::read(db(&house, "-wal")).unwrap();
    let lose = || {
        fs::remove_file(db(&house, "-wal")).unwrap();
        let _ = fs::remove_file(db(&house, "-shm"));
    };
    lose();
    for _ in 0..2 {
        refused(
            &house,
            &[
                "has lost its newest rows",
                "of the inbox had been written",
                "claw.db-wal",
                "claw.db-mark",
            ],
        );
    }
    fs::write(db(&house, "-wal"), &log).unwrap();
    // The first of the two may be what moves the log into the store.
    house.claw(&["ask", "list"]).expect(0);
    house.claw(&["ask", "list"]).expect(0);
    house.is_whole();
    asks_into_the_log(&house);
    lose();
    refused(&house, &["has lost its newest rows"]);
    // The way on with what is left.
    fs::remove_file(db(&house, "-mark")).unwrap();
    house.claw(&["ask", "list"]).expect(0);
}

#[test]
fn a_log_that_another_program_has_put_into_the_store_is_no_loss() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    // The last one to close a database moves its log into it, and removes the log.
    let events: i64 =
        house.db().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    assert!(events > 0);
    assert!(!db(&house, "-wal").exists());
    house.claw(&["ask", "list"]).expect(0);
    house.is_whole();
}

#[test]
fn a_log_without_its_store_is_not_made_a_part_of_a_new_one() {
    let house = House::new();
    asks_into_the_log(&house);
    fs::remove_file(db(&house, "")).unwrap();
    let log = fs::read(db(&house, "-wal")).unwrap();
    refused(&house, &["is not there, only its write-ahead log", "restore a backup"]);
    assert!(!db(&house, "").exists() && fs::read(db(&house, "-wal")).unwrap() == log);
    fs::remove_file(db(&house, "-wal")).unwrap();
    house.claw(&["ask", "list"]).expect(0);
    assert_eq!(house.claw(&["sessions", "--json"]).expect(0).rows().len(), 1);
}
