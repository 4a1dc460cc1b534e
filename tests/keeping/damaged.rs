//! One row that cannot be read never locks a session forever: what is said, and what the doctor
//! does about it.

use serde_json::{Value, json};

use crate::keeping::{finding, write_called};
use crate::program::{House, Ran};

/// What an editor, a bad disk or an earlier fault may leave of a text.
const SPOILED: [(&str, &str); 3] = [
    ("cut", "substr({}, 1, 40)"),
    ("another form", r#"'{"type":"from.tomorrow"}'"#),
    ("not UTF-8", "CAST(substr({}, 1, 20) || x'ff' || substr({}, 21) AS TEXT)"),
];

pub fn sql(house: &House, sql: &str) {
    assert_eq!(house.db().execute(sql, []).unwrap(), 1, "{sql}");
}

pub fn number(house: &House, sql: &str) -> i64 {
    house.db().query_row(sql, [], |row| row.get(0)).unwrap()
}

fn talked() -> House {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    house
}

/// What was kept: of which table, its id, and its body byte for byte.
pub fn aside(house: &House) -> Vec<(String, String, Vec<u8>)> {
    let db = house.db();
    let mut query =
        db.prepare("SELECT of_table, id, CAST(body AS BLOB) FROM put_aside ORDER BY nr").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// The doctor finds `id`, repairs it, and finds nothing of the kind any more.
#[track_caller]
pub fn repairs(house: &House, id: &str) {
    let said = house.claw(&["doctor", "--json"]).expect(1);
    assert_eq!(
        finding(&said, id).map(|found| found["repair"].clone()),
        Some(json!(true)),
        "{id}: {said:?}"
    );
    let repaired = house.claw(&["doctor", "--repair", "--yes", "--json"]);
    let broken: Vec<Value> = repaired
        .rows()
        .into_iter()
        .filter(|row| row["repair"] == true && row["ok"] == false)
        .collect();
    let done = ["Put ", " counts on from "].iter().any(|done| repaired.err.contains(done));
    assert!(broken.is_empty() && done, "{id}: {repaired:?}");
    house.claw(&["audit", "verify"]).expect(0);
}

/// What is said names the row and the way out.
#[track_caller]
pub fn names(said: &Ran, row: &str) {
    assert!(said.err.contains(row) && said.err.contains("claw doctor --repair"), "{row}: {said:?}");
}

#[test]
fn an_inbox_row_that_cannot_be_read_is_put_aside_and_its_session_is_told() {
    for (name, spoiled) in SPOILED {
        let house = talked();
        let body = spoiled.replace("{}", "body");
        sql(
            &house,
            &format!(
                "INSERT INTO inbox(session, kind, at_ms, body) SELECT session, kind, at_ms, {body} FROM inbox LIMIT 1"
            ),
        );
        let id = number(&house, "SELECT max(id) FROM inbox");
        let kept: Vec<u8> = house
            .db()
            .query_row("SELECT CAST(body AS BLOB) FROM inbox WHERE id = ?1", [id], |row| row.get(0))
            .unwrap();
        names(&house.claw(&["ask", "list"]).expect(1), &format!("row {id} of the inbox"));
        repairs(&house, &format!("inbox:{id}"));
        assert_eq!(aside(&house), [("inbox".to_owned(), id.to_string(), kept)], "{name}");
        assert_eq!(
            number(&house, "SELECT count(*) FROM outbox WHERE body LIKE '%has put it aside%'"),
            1,
            "{name}"
        );
        house.claw(&["ask", "list"]).expect(0);
        assert_eq!(
            number(&house, "SELECT count(*) FROM inbox WHERE state = 'queued'"),
            0,
            "{name}"
        );
        house.is_whole();
    }
}

#[test]
fn a_missing_inbox_row_holds_nobody_up() {
    let house = talked();
    sql(&house, "DELETE FROM inbox");
    house.claw(&["ask", "list"]).expect(0);
    house.claw(&["doctor"]).expect(0);
    house.is_whole();
}

#[test]
fn rows_with_the_highest_number_get_the_next_one_and_others_can_follow() {
    for table in ["inbox", "outbox"] {
        let house = talked();
        sql(
            &house,
            &format!(
                "UPDATE {table} SET id = {} WHERE id = (SELECT max(id) FROM {table})",
                i64::MAX
            ),
        );
        sql(
            &house,
            &format!("UPDATE sqlite_sequence SET seq = {} WHERE name = '{table}'", i64::MAX),
        );
        let said = house.claw(&["ask", "list"]).expect(1);
        names(&said, &format!("row {} of the {table}", i64::MAX));
        assert!(!said.err.contains("disk is full"), "{said:?}");
        repairs(&house, &format!("{table}:{}", i64::MAX));
        assert_eq!(aside(&house).len(), 1, "{table}");
        house.claw(&["ask", "list"]).expect(0);
        assert!(number(&house, &format!("SELECT max(id) FROM {table}")) < 100, "{table}");
        house.is_whole();
    }
}

#[test]
fn an_outbox_row_that_cannot_be_read_becomes_a_notice_at_its_address() {
    for (name, spoiled) in SPOILED {
        let house = talked();
        let body = spoiled.replace("{}", "body");
        sql(
            &house,
            &format!(
                "UPDATE outbox SET state = 'sending', body = {body} WHERE id = (SELECT max(id) FROM outbox)"
            ),
        );
        let id = number(&house, "SELECT max(id) FROM outbox");
        let before = number(
            &house,
            "SELECT length(CAST(body AS BLOB)) FROM outbox ORDER BY id DESC LIMIT 1",
        );
        repairs(&house, &format!("outbox:{id}"));
        let kept = aside(&house);
        assert_eq!(
            (kept.len(), kept[0].0.as_str(), kept[0].2.len() as i64),
            (1, "outbox", before),
            "{name}"
        );
        let (body, state): (String, String) = house
            .db()
            .query_row("SELECT body, state FROM outbox WHERE id = ?1", [id], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert!(body.contains("has put it aside") && state == "queued", "{name}: {state} {body}");
        house.claw(&["ask", "list"]).expect(0);
    }
}

#[test]
fn a_missing_outbox_row_holds_nobody_up() {
    let house = talked();
    house.db().execute("DELETE FROM outbox", []).unwrap();
    house.claw(&["ask", "list"]).expect(0);
    house.claw(&["doctor"]).expect(0);
}

#[test]
fn an_event_that_is_not_utf8_is_named_and_put_aside_as_it_was() {
    let house = talked();
    let last = house.events("main").len();
    let spoiled = SPOILED[2].1.replace("{}", "body");
    sql(&house, &format!("UPDATE events SET body = {spoiled} WHERE seq = {last}"));
    names(&house.claw(&["ask", "list"]).expect(1), &format!("event {last} of `main`"));
    repairs(&house, &format!("log:main:{last}"));
    let kept = aside(&house);
    assert!(
        kept.len() == 1 && kept[0].1 == format!("main:{last}") && kept[0].2[20] == 0xff,
        "{kept:?}"
    );
    house.claw(&["ask", "list"]).expect(0);
}

#[test]
fn an_event_whose_number_is_far_from_the_last_one_gets_a_note_where_the_log_ends() {
    for far in [i64::MAX, 1 << 40, 0, -5] {
        let house = talked();
        let last = house.events("main").len();
        sql(&house, &format!("UPDATE events SET seq = {far} WHERE seq = {last}"));
        if far > 0 {
            names(&house.claw(&["ask", "list"]).expect(1), &format!("event {far} of `main`"));
        }
        repairs(&house, &format!("log:main:{far}"));
        assert_eq!(aside(&house).len(), 1, "{far}");
        let events = house.events("main");
        assert!(
            events.len() >= last && events[last - 1]["type"] == "limit.reached",
            "{far}: {events:#?}"
        );
        house.claw(&["ask", "list"]).expect(0);
    }
}

#[test]
fn a_question_that_cannot_be_read_expires_and_its_call_never_runs() {
    for (name, spoiled) in SPOILED {
        let house = House::new();
        let id = write_called(&house, "a.txt");
        let body = spoiled.replace("{}", "question");
        sql(&house, &format!("UPDATE approvals SET question = {body}"));
        names(&house.claw(&["approvals"]).expect(1), &format!("the question `{id}`"));
        repairs(&house, &format!("approval:{id}"));
        assert_eq!(aside(&house)[0].0, "approvals", "{name}");
        house.claw(&["approve", &id, "y"]);
        house.claw(&["ask", "list"]).expect(0);
        assert_eq!(
            number(&house, "SELECT count(*) FROM approvals WHERE state = 'waiting'"),
            0,
            "{name}"
        );
        assert!(!house.workspace().join("a.txt").exists(), "{name}");
        house.is_whole();
    }
}

#[test]
fn a_question_that_is_missing_is_found_and_its_turn_goes_on_without_the_call() {
    let house = House::new();
    let gone = write_called(&house, "a.txt");
    sql(&house, "DELETE FROM approvals");
    let said = house.claw(&["doctor", "--json"]).expect(1);
    let found = finding(&said, &format!("approval:{gone}")).unwrap_or_default();
    assert!(
        found["repair"] == true && found["text"].as_str().unwrap().ends_with("is missing"),
        "{said:?}"
    );
    house.claw(&["doctor", "--repair", "--yes"]).expect(0);
    assert_eq!(house.claw(&["approve", &gone]).code, Some(2), "it has expired");
    // The conversation goes on: what is said next is answered.
    let next = house.claw(&["ask", "list"]).expect(0);
    assert!(next.out.contains("Listing"), "{next:?}");
    assert!(!house.workspace().join("a.txt").exists());
    assert_eq!(number(&house, "SELECT count(*) FROM calls WHERE state = 'denied'"), 1);
    house.is_whole();
}
