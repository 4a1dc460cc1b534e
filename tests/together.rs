//! Calls of one reply that are asked about together, through the whole program: how a list looks at
//! 40 and at 80 columns, what an answer to it does, and that each call keeps its own life.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]

use std::fs;

use crate::program::{House, eventually, outcomes};
use crate::pty::Pty;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
use claw_core::domain::Question;
use claw_terminal::question::question_lines;
use claw_terminal::style::Look;
use serde_json::{Value, json};

/// With the row of answers.
const ROWS_MAX: usize = 12;

fn house(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    for folder in ["old", "photos"] {
        fs::create_dir_all(house.workspace().join(folder)).unwrap();
    }
    for n in 1..=30 {
        fs::write(house.workspace().join(format!("note-{n}.txt")), "milk\n").unwrap();
    }
    fs::write(house.workspace().join("photos/1.jpg"), [0xff, 0x00]).unwrap();
    (house, model)
}

fn moves(n: usize) -> (&'static str, Value) {
    let name = format!("note-{n}.txt");
    ("filesystem__move", json!({"source": name, "destination": format!("old/{name}")}))
}

fn delete(path: &str) -> (&'static str, Value) {
    ("filesystem__delete", json!({"path": path, "recursive": true}))
}

fn letter() -> (&'static str, Value) {
    let content: String = (1..=30).map(|n| format!("line {n} of the letter\n")).collect();
    ("filesystem__write_file", json!({"path": "letter.txt", "content": content}))
}

/// A home in which these calls wait for an answer.
fn asked(calls: &[(&str, Value)]) -> (House, Threaded) {
    let (house, model) = house([Answer::calls(calls), Answer::text("It is done.")]);
    house.claw(&["ask", "tidy up"]).expect(3);
    (house, model)
}

fn open(house: &House) -> Vec<Value> {
    let mut rows = house.claw(&["approvals", "--json"]).expect(0).rows();
    rows.sort_by_key(|row| row["list"].is_null());
    rows
}

/// The ids of the calls of an open list, in its order.
fn members(row: &Value) -> Vec<String> {
    let items = row["list"]["items"].as_array().unwrap().iter();
    items.map(|item| item["approval"].as_str().unwrap().to_owned()).collect()
}

fn moved(house: &House) -> usize {
    fs::read_dir(house.workspace().join("old")).unwrap().count()
}

/// Every call was started once, by its own answer, or never.
fn each_started_once(house: &House, calls: usize, started: usize) {
    let audit = house.audit();
    let of = |kind: &str| -> Vec<String> {
        let rows = audit.iter().filter(|row| row["kind"] == kind);
        let calls = rows.map(|row| row["call"].as_str().unwrap().to_owned());
        calls.filter(|call| !call.ends_with(":together")).collect()
    };
    let mut once = of("started");
    once.sort();
    once.dedup();
    assert_eq!((of("started").len(), once.len()), (started, started), "{audit:#?}");
    assert_eq!(of("answered").len(), calls, "each answer has a row of its own");
    let told = house.claw(&["audit", "--limit", "10000"]).expect(0).out;
    assert!(!told.contains("older rows") && !told.contains("not started"), "{told}");
    house.is_whole();
}

#[test]
fn lists_of_two_to_thirty_calls_are_read_at_a_glance() {
    for count in [2, 5, 12, 30] {
        let mut calls: Vec<_> = (1..=count).map(moves).collect();
        if count == 5 {
            calls[3] = delete("photos");
        }
        let (house, _model) = asked(&calls);
        let rows = open(&house);
        assert_eq!(rows.len(), 1, "{rows:#?}");
        let db = house.db();
        let text: String = db
            .query_row("SELECT question FROM approvals WHERE list IS NULL", [], |row| row.get(0))
            .unwrap();
        let question: Question = serde_json::from_str(&text).unwrap();
        for columns in [40, 80] {
            let rows = question_lines(&question, None, Look::new(columns, false));
            assert!(rows.len() <= ROWS_MAX, "{count} at {columns}: {rows:#?}");
            insta::assert_snapshot!(format!("{count}_calls_at_{columns}_columns"), rows.join("\n"));
        }
        // Nothing is hidden from whoever wants to see it.
        let whole = house.claw(&["approvals", rows[0]["id"].as_str().unwrap()]).expect(0).out;
        assert!(whole.contains(&format!("Move note-{}.txt to old/", 1)), "{whole}");
        assert!(whole.contains(&format!("Move note-{count}.txt to old/")), "{whole}");
    }
}

#[test]
fn one_yes_allows_all_of_a_list_and_each_call_starts_once() {
    let (house, model) = asked(&(1..=12).map(moves).collect::<Vec<_>>());
    let list = house.waiting();
    let done = house.claw(&["approve", &list]).expect(0);
    assert!(done.err.contains("Allowed all 12") && done.out.contains("It is done."), "{done:?}");
    assert_eq!((moved(&house), model.recorded().len()), (12, 2));
    house.claw(&["approve", &list]).expect_mistake(&["already answered"]);
    each_started_once(&house, 12, 12);
}

#[test]
fn one_no_denies_all_that_is_left_with_its_word() {
    let (house, _model) = asked(&(1..=3).map(moves).collect::<Vec<_>>());
    let list = house.waiting();
    let first = members(&open(&house)[0])[0].clone();
    house.claw(&["approve", &first]).expect(3);
    eventually("the first one is moved", || moved(&house) == 1);
    let rows = open(&house);
    assert_eq!(rows[0]["id"], json!(list), "the list stays: {rows:#?}");
    assert_eq!(rows[0]["list"]["items"][0]["state"], "approved", "{rows:#?}");
    house.claw(&["deny", &first]).expect_mistake(&["already answered"]);
    house.claw(&["deny", &list, "not", "these"]).expect(0);
    assert_eq!(moved(&house), 1);
    let outcomes = outcomes(&house.events("main"));
    let denied = outcomes.iter().filter(|one| one.to_string().contains("not these")).count();
    assert_eq!(denied, 2, "{outcomes:#?}");
    each_started_once(&house, 3, 1);
}

#[test]
fn a_list_is_over_with_the_last_of_its_calls() {
    let (house, _model) = asked(&[moves(1), moves(2)]);
    let list = house.waiting();
    let members = members(&open(&house)[0]);
    house.claw(&["approve", &members[1]]).expect(3);
    house.claw(&["deny", &members[0]]).expect(0);
    assert_eq!(open(&house), [Value::Null; 0]);
    house.claw(&["approve", &list]).expect_mistake(&["already answered"]);
    assert_eq!(moved(&house), 1);
    each_started_once(&house, 2, 1);
}

/// What should be looked at is not joined, and a single question is what it was.
#[test]
fn long_content_and_what_there_is_no_room_for_are_asked_by_themselves() {
    let (house, _model) = asked(&[moves(1), letter(), moves(2)]);
    let rows = open(&house);
    let lists: Vec<bool> = rows.iter().map(|row| row["list"].is_object()).collect();
    assert_eq!(lists, [true, false], "{rows:#?}");
    assert_eq!(members(&rows[0]).len(), 2);
    house.claw(&["deny", rows[1]["id"].as_str().unwrap()]).expect(3);
    house.claw(&["approve", rows[0]["id"].as_str().unwrap()]).expect(0);
    assert_eq!(moved(&house), 2);
    let (one, _model) = asked(&[moves(1), letter()]);
    assert!(open(&one).iter().all(|row| row["list"].is_null()), "one line is no list");
    // Twelve deletes: the list has as many as can be seen, the others stand alone.
    let calls: Vec<_> = (1..=12).map(|n| delete(&format!("note-{n}.txt"))).collect();
    let (many, _model) = asked(&calls);
    let rows = open(&many);
    let joined = members(&rows[0]).len();
    assert!(joined > 2 && joined + rows.len() - 1 == 12, "{rows:#?}");
    let items = rows[0]["list"]["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["danger"] == true && item["always_shown"] == true));
}

#[test]
fn a_call_whose_file_has_changed_is_asked_again_alone() {
    let overwrite = json!({"source": "note-1.txt", "destination": "note-3.txt", "overwrite": true});
    let (house, _model) = asked(&[("filesystem__move", overwrite), moves(2)]);
    let list = house.waiting();
    fs::remove_file(house.workspace().join("note-3.txt")).unwrap();
    let again = house.claw(&["approve", &list]).expect(3);
    assert!(again.err.contains("Asked again"), "{again:?}");
    assert!(house.workspace().join("note-1.txt").exists(), "it ran all the same");
    eventually("the other one is moved", || moved(&house) == 1);
    let rows = open(&house);
    assert!(rows.len() == 1 && rows[0]["list"].is_null(), "{rows:#?}");
    house.claw(&["approve", rows[0]["id"].as_str().unwrap()]).expect(0);
    assert!(!house.workspace().join("note-1.txt").exists());
    each_started_once(&house, 3, 2);
}

/// Nobody can put other words into the store for what a person says yes to.
#[test]
fn a_list_whose_lines_were_changed_in_the_store_takes_no_yes() {
    let (house, _model) = asked(&[delete("photos"), moves(2)]);
    let list = house.waiting();
    let other = "UPDATE approvals SET question = json_set(question, '$.list.items[0].says', 'Look at photos/')
        WHERE list IS NULL";
    assert_eq!(house.db().execute(other, []).unwrap(), 1);
    house.claw(&["approve", &list]).expect_mistake(&["not what was shown"]);
    assert!(house.workspace().join("photos/1.jpg").exists());
}

#[test]
fn a_mode_as_answer_allows_the_list_and_holds_for_the_session() {
    let (house, model) = asked(&(1..=3).map(moves).collect::<Vec<_>>());
    let list = house.waiting();
    house.claw(&["approve", &list, "--mode", "edits"]).expect(0);
    assert_eq!(moved(&house), 3);
    model.push(Answer::calls(&[moves(4), moves(5)]));
    model.push(Answer::text("More is done."));
    house.claw(&["ask", "go on"]).expect(0);
    assert_eq!(moved(&house), 5);
    let grants = house.claw(&["grants", "--json"]).expect(0).rows();
    assert_eq!(grants.len(), 1, "given once: {grants:#?}");
}

#[test]
fn a_list_expires_as_one_and_is_told_once() {
    let (house, _model) = asked(&(1..=4).map(moves).collect::<Vec<_>>());
    let list = house.waiting();
    let expire = "UPDATE approvals SET expires_ms = 1700000000000";
    assert_eq!(house.db().execute(expire, []).unwrap(), 5);
    house.claw(&["approve", &list]).expect_mistake(&["expired"]);
    let said = house.claw(&["ask", "and now?"]);
    let told = said.err.matches("Nobody answered the question").count();
    assert_eq!((told, moved(&house)), (1, 0), "{said:?}");
    assert!(said.err.contains(&list), "{said:?}");
    assert_eq!(open(&house), [Value::Null; 0]);
}

#[test]
fn a_stop_closes_a_list_with_its_turn() {
    let (house, _model) = asked(&(1..=4).map(moves).collect::<Vec<_>>());
    let list = house.waiting();
    let mut chat = Pty::start(&house, &["chat"]);
    chat.shows("claw wants to do 4 things").types("/stop").shows("Stopped.");
    drop(chat);
    assert_eq!(open(&house), [Value::Null; 0]);
    house.claw(&["approve", &list]).expect_mistake(&["already answered"]);
    assert_eq!(moved(&house), 0);
    each_started_once(&house, 0, 0);
}

#[test]
fn numbers_at_the_console_pick_and_what_is_left_takes_one_word() {
    let (house, model) = house([Answer::calls(&(1..=5).map(moves).collect::<Vec<_>>())]);
    model.push(Answer::text("It is done."));
    let mut chat = Pty::start(&house, &["chat"]);
    chat.shows("> ").types("tidy up").shows("claw wants to do 5 things").shows(" none · ");
    let answers = |chat: &mut Pty, line: &str, told: &str| {
        // An answer that comes faster than anybody reads does not count, and is given again.
        eventually(&format!("`{line}` is taken"), || {
            let soon = chat.text().matches("has only just come up").count();
            chat.types(line);
            let mut taken = false;
            eventually("it is told", || {
                taken = chat.text().contains(told);
                taken || chat.text().matches("has only just come up").count() > soon
            });
            taken
        });
    };
    answers(&mut chat, "1 3-4 -2", "Allowed 1, 3-4. Denied 2. Still open: 5");
    eventually("three are moved", || moved(&house) == 3);
    chat.types("1").shows("1 is answered already; open: 5.");
    chat.types("9").shows("The numbers of this list go from 1 to 5.");
    chat.types("y").shows("Allowed all 1").shows("It is done.");
    chat.types("/quit").ends(0);
    assert_eq!(moved(&house), 4);
    each_started_once(&house, 5, 4);
}

/// Two people at once, and a third who comes too late: the message shows what was decided.
#[test]
fn what_another_process_answers_of_a_list_is_told_here() {
    let (house, model) = house([Answer::calls(&(1..=3).map(moves).collect::<Vec<_>>())]);
    model.push(Answer::text("It is done."));
    let mut chat = Pty::start(&house, &["chat"]);
    chat.shows("> ").types("tidy up").shows("claw wants to do 3 things").shows(" none · ");
    let row = open(&house).remove(0);
    let ran = house.claw(&["approve", &members(&row)[1]]);
    assert!(ran.code == Some(3) || ran.code == Some(0), "{ran:?}");
    chat.shows("Of the list, 2 was answered elsewhere. Still open: 1, 3.");
    house.claw(&["deny", row["id"].as_str().unwrap()]).expect(0);
    chat.shows("The question about 3 things was denied, from another terminal.");
    eventually("the turn is over", || {
        house.events("main").iter().any(|event| event["type"] == "turn.ended")
    });
    drop(chat);
    assert_eq!(moved(&house), 1);
    each_started_once(&house, 3, 1);
}

fn small(path: &str, content: &str) -> (&'static str, Value) {
    ("filesystem__write_file", json!({"path": path, "content": content}))
}

fn list_of(house: &House) -> Question {
    let list = "SELECT question FROM approvals WHERE json_extract(question, '$.list') IS NOT NULL";
    let text: String = house.db().query_row(list, [], |row| row.get(0)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Small writes are one question: their text below the line, or behind the key that shows all.
#[test]
fn small_writes_are_asked_about_together_and_nothing_of_them_is_out_of_reach() {
    let few = vec![
        small("todo.txt", "milk\nbread\n"),
        small("note-1.txt", "milk\nhoney\n"),
        (
            "filesystem__edit_file",
            json!({"path": "note-2.txt", "edits": [{"old_text": "milk", "new_text": "tea"}]}),
        ),
    ];
    let many: Vec<_> = (1..=6)
        .map(|n| {
            small(&format!("new-{n}.txt"), &format!("first of {n}\nsecond of {n}\nthird of {n}\n"))
        })
        .collect();
    for (name, calls) in [("few", few), ("many", many)] {
        let (house, _model) = asked(&calls);
        let rows = open(&house);
        assert_eq!(rows.len(), 1, "one question: {rows:#?}");
        let question = list_of(&house);
        for columns in [40, 80] {
            let rows = question_lines(&question, None, Look::new(columns, false));
            assert!(rows.len() <= ROWS_MAX, "{name} at {columns}: {rows:#?}");
            insta::assert_snapshot!(
                format!("{name}_small_writes_at_{columns}_columns"),
                rows.join("\n")
            );
        }
        let list = rows[0]["id"].as_str().unwrap();
        let whole = house.claw(&["approvals", list]).expect(0).out;
        for (_, arguments) in &calls {
            let text = arguments["content"].as_str().unwrap_or("tea");
            for line in text.lines() {
                assert!(whole.contains(line), "{line} is nowhere: {whole}");
            }
        }
        house.claw(&["approve", list]).expect(0);
        for (_, arguments) in &calls {
            let path = house.workspace().join(arguments["path"].as_str().unwrap());
            let text = arguments["content"].as_str().unwrap_or("tea\n");
            assert_eq!(fs::read_to_string(path).unwrap(), text);
        }
        each_started_once(&house, calls.len(), calls.len());
    }
}

/// What a small write would replace is looked at again before it runs, in a list as alone.
#[test]
fn a_file_that_has_changed_since_is_asked_about_again_by_itself() {
    let (house, _model) = asked(&[small("note-1.txt", "tea\n"), small("new.txt", "one\n")]);
    let list = house.waiting();
    fs::write(house.workspace().join("note-1.txt"), "somebody else's\n").unwrap();
    house.claw(&["approve", &list]).expect(3);
    assert_eq!(house.in_workspace("note-1.txt"), "somebody else's\n", "it ran unseen");
    assert_eq!(house.in_workspace("new.txt"), "one\n");
    let again = house.waiting();
    assert_ne!(again, list);
    house.claw(&["deny", &again]).expect(0);
    house.is_whole();
}

/// Nobody can put another text below a line than the one that runs.
#[test]
fn another_text_in_a_list_does_not_count_as_what_was_shown() {
    let (house, _model) = asked(&[small("a.txt", "one\n"), small("b.txt", "two\n")]);
    let list = house.waiting();
    let other =
        "UPDATE approvals SET question = json_set(question, '$.list.items[0].content', 'harmless')
                 WHERE json_extract(question, '$.list') IS NOT NULL";
    assert_eq!(house.db().execute(other, []).unwrap(), 1);
    house.claw(&["approve", &list]).expect_mistake(&["not what was shown"]);
    assert!(!house.workspace().join("a.txt").exists());
}
