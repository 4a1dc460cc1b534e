//! What goes by `[retention]`, and what stays.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::keeping::{age, finding};
use crate::program::{House, eventually};

/// As if everything in this home had been written four days ago.
fn days_pass(house: &House) {
    let db = house.db();
    db.execute("UPDATE artifacts SET created_ms = created_ms - 4 * 86400000", []).unwrap();
    db.execute("DELETE FROM meta WHERE key = 'told.retention'", []).unwrap();
    for file in fs::read_dir(house.home().join("artifacts")).unwrap() {
        age(&file.unwrap().path());
    }
}

fn large_result(house: &House) -> PathBuf {
    house.write("workspace/large.txt", &"x".repeat(5000));
    house.claw(&["ask", "show large.txt"]).expect(0);
    fs::read_dir(house.home().join("artifacts")).unwrap().next().unwrap().unwrap().path()
}

/// Opens a door until it has looked for what is too old.
fn retention_runs(house: &House) {
    let chat = house.start(&["chat", "--session", "another"]);
    eventually("it was looked for", || {
        let sql = "SELECT count(*) FROM meta WHERE key = 'told.retention'";
        house.db().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
    chat.ends().expect(0);
}

#[test]
fn artifacts_go_when_they_are_old_and_no_conversation_shows_them() {
    let house = House::new();
    house.write(
        "claw.toml",
        "[limits]\ntool_result_bytes = 1024\n[retention]\nartifacts_days = 1\n",
    );
    let file = large_result(&house);
    let name = file.file_name().unwrap().to_str().unwrap();
    retention_runs(&house);
    assert!(file.exists(), "it is young");
    days_pass(&house);
    assert!(finding(&house.claw(&["doctor", "--json"]), "retention:needed").is_some());
    retention_runs(&house);
    assert!(file.exists(), "the model still sees what names it");
    house.claw_with_stdin(&["chat"], b"/new\n/quit\n").expect(0);
    days_pass(&house);
    let due = house.claw(&["doctor", "--json"]);
    assert!(
        finding(&due, "retention").unwrap()["text"]
            .as_str()
            .unwrap()
            .starts_with("1 artifact (5000 bytes)"),
        "{due:?}"
    );
    let chat = house.start(&["chat", "--session", "another"]);
    eventually("it goes", || !file.exists());
    chat.ends().expect(0);
    let shown = house.claw(&["sessions", "show", "main"]).expect(0).out;
    assert!(shown.contains(&format!("{name} (removed by retention on 2")), "{shown}");
    let said = house.claw(&["doctor", "--json"]);
    assert!(
        finding(&said, "artifacts:lost").is_none() && finding(&said, "retention").is_none(),
        "{said:?}"
    );
    assert!(
        house.audit().iter().any(|row| row["kind"] == "retention" && row["body"]["bytes"] == 5000)
    );
    house.is_whole();
    // The same result again is there again, and stays.
    let again = large_result(&house);
    assert_eq!(again, file);
    house.db().execute("DELETE FROM meta WHERE key = 'told.retention'", []).unwrap();
    retention_runs(&house);
    assert!(file.exists());
}

#[test]
fn the_oldest_artifacts_go_first_when_there_are_too_many() {
    let house = House::new();
    house.write("claw.toml", "[retention]\nartifacts_bytes_max = 1048576\n");
    house.claw(&["ask", "list"]).expect(0);
    let files: Vec<_> = ["a", "b", "c"]
        .iter()
        .map(|name| house.home().join("artifacts").join(name.repeat(64)))
        .collect();
    for (hours, file) in (1..).zip(files.iter().rev()) {
        fs::write(file, vec![b'x'; 600_000]).unwrap();
        let old = SystemTime::now() - Duration::from_secs(hours * 60 * 60);
        File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
    }
    let due = house.claw(&["doctor", "--json"]);
    let text = finding(&due, "retention").unwrap()["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("2 artifacts (1200000 bytes)"), "{text}");
    house.db().execute("DELETE FROM meta WHERE key = 'told.retention'", []).unwrap();
    retention_runs(&house);
    assert_eq!(files.iter().map(|file| file.exists()).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn a_retention_out_of_its_range_is_refused() {
    let house = House::new();
    house.write("claw.toml", "[retention]\naudit_days = 3\n");
    house.claw(&["ask", "list"]).expect_mistake(&[
        "claw.toml, line 2",
        "retention.audit_days",
        "from 31 to",
    ]);
}

#[test]
fn retention_runs_for_people_who_use_ask_alone() {
    let house = House::new();
    house.write("claw.toml", "[retention]\nartifacts_days = 1\n");
    house.claw(&["ask", "list"]).expect(0);
    let old = house.home().join("artifacts").join("a".repeat(64));
    fs::write(&old, "x").unwrap();
    age(&old);
    house.claw(&["ask", "list"]).expect(0);
    assert!(old.exists(), "once a day");
    house.db().execute("DELETE FROM meta WHERE key = 'told.retention'", []).unwrap();
    house.claw(&["ask", "list"]).expect(0);
    assert!(!old.exists());
}

#[test]
fn a_clock_that_has_leapt_ahead_removes_nothing_until_the_owner_says_that_it_is_right() {
    let house = House::new();
    house.write("claw.toml", "[retention]\nartifacts_days = 1\n");
    house.claw(&["ask", "list"]).expect(0);
    let old = house.home().join("artifacts").join("a".repeat(64));
    fs::write(&old, "x").unwrap();
    age(&old);
    // As if the last look had been 40 days ago by today's clock.
    let db = house.db();
    db.execute("DELETE FROM meta WHERE key = 'told.retention'", []).unwrap();
    let leap = "UPDATE meta SET value = CAST(value AS INTEGER) - 40 * 86400000 WHERE key = 'clock.believed'";
    assert_eq!(db.execute(leap, []).unwrap(), 1);
    drop(db);
    let said = house.claw(&["ask", "list"]).expect(0).err;
    assert!(
        said.contains("nothing was removed by [retention]")
            && said.contains("claw doctor --repair"),
        "{said}"
    );
    assert!(old.exists());
    let silent = house.claw(&["ask", "list"]).expect(0).err;
    assert!(!silent.contains("[retention]"), "told once a day: {silent}");
    let found = house.claw(&["doctor", "--json"]).expect(1);
    assert_eq!(finding(&found, "clock").unwrap()["repair"], true, "{found:?}");
    let repaired = house.claw(&["doctor", "--repair", "--yes", "--json"]);
    assert!(finding(&repaired, "clock").is_none(), "{repaired:?}");
    house.claw(&["ask", "list"]).expect(0);
    assert!(!old.exists());
}

#[test]
fn grants_whose_time_is_over_are_closed_unless_the_clock_is_doubted() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let db = house.db();
    let expired = "INSERT INTO grants(effect, principal, server, tool, shape, origin, says, created_ms, expires_ms, approval)
        VALUES ('allow', 'p', 's', 't', '{}', 'owner', 's/t', 1, 2, 'q')";
    db.execute(expired, []).unwrap();
    let ended = || {
        let sql = "SELECT revoked_ms FROM grants";
        db.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).unwrap()
    };
    let believed = |days: i64| {
        let sql = format!(
            "UPDATE meta SET value = CAST(value AS INTEGER) + {days} * 86400000 WHERE key = 'clock.believed';
             DELETE FROM meta WHERE key = 'told.retention'"
        );
        db.execute_batch(&sql).unwrap();
    };
    believed(-40);
    house.claw(&["ask", "list"]).expect(0);
    assert_eq!(ended(), None, "by today's clock 40 days have passed since the last look");
    believed(40);
    house.claw(&["ask", "list"]).expect(0);
    assert_eq!(ended(), Some(2));
}

#[test]
fn closed_rows_of_the_queues_go_after_their_days_and_what_is_open_stays() {
    let house = House::new();
    house.write("claw.toml", "[retention]\ndelivered_days = 3\n");
    house.claw(&["ask", "hello"]).expect(0);
    let question = house.ask_parks("write notes.txt: hello");
    let db = house.db();
    // A message and a reply that nobody has taken yet, as old as the rest.
    let open = "INSERT INTO inbox(session, kind, at_ms, body, state)
            SELECT 'elsewhere', kind, at_ms, body, 'queued' FROM inbox LIMIT 1;
        INSERT INTO outbox(session, door, address, at_ms, body, state)
            SELECT 'elsewhere', 'telegram', 'telegram/1/1', at_ms, body, 'queued' FROM outbox LIMIT 1;";
    db.execute_batch(open).unwrap();
    let rows = |which: &str| {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table} WHERE {which}");
            db.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        (count("inbox"), count("outbox"))
    };
    let (inbox, outbox) = rows("state IN ('absorbed', 'sent')");
    assert!(inbox >= 2 && outbox >= 2, "{inbox} and {outbox} closed rows");
    let events = house.events("main").len();

    let again = "DELETE FROM meta WHERE key = 'told.retention'";
    db.execute(again, []).unwrap();
    house.claw(&["ask", "--session", "another", "hello"]).expect(0);
    assert!(rows("session = 'main'") == (inbox, outbox), "they are young");
    let age = "UPDATE inbox SET at_ms = at_ms - 4 * 86400000; UPDATE outbox SET at_ms = at_ms - 4 * 86400000;";
    db.execute_batch(&format!("{age}{again}")).unwrap();
    house.claw(&["ask", "--session", "another", "hello"]).expect(0);
    assert_eq!(rows("session = 'main'"), (0, 0), "old and closed");
    assert_eq!(rows("session = 'elsewhere' AND state = 'queued'"), (1, 1), "old and open");
    assert_eq!(rows("session = 'another'"), (1, 1), "of today");

    db.execute_batch("DELETE FROM inbox WHERE session = 'elsewhere'; DELETE FROM outbox WHERE session = 'elsewhere';")
        .unwrap();
    assert_eq!(house.events("main").len(), events, "the log keeps what was said");
    house.claw(&["approve", &question]).expect(0);
    assert_eq!(house.in_workspace("notes.txt"), "hello", "a question is no closed row");
    house.is_whole();
}
