//! A server that asks in the middle of its call, through the whole program: each step is another
//! process, answers are checked, Telegram has buttons, and a kill at each named point loses nothing
//! and does nothing twice.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

#[path = "killing/points.rs"]
pub(crate) mod points;

use std::fs;

use serde_json::{Value, json};

use crate::program::{House, SERVER_WAIT, eventually, example, outcomes};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";
const POINTS: [&str; 6] = [
    "round.begun.before",
    "round.begun.after",
    "round.answered.before",
    "round.answered.after",
    "round.continued.before",
    "round.continued.after",
];

/// A house with a server of this era, and a model that calls its tool once and then says `done`.
pub fn house(era: &str, tool: &str) -> (House, Threaded) {
    let call = Call::new("a", &format!("tickets__{tool}"), r#"{"to": "Rome"}"#);
    let answers = [Answer::Turn(Turn::calls(&[call])), Answer::text("done")];
    let provider = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &provider.base_url);
    furnish(&house, era);
    (house, provider)
}

fn furnish(house: &House, era: &str) {
    house.write("claw.toml", SERVER_WAIT);
    house.write("policy.toml", ALLOW);
    let record = house.user_home().join("record");
    let entry = json!({"command": example("asking-server"), "args": [era, record]});
    house.write("mcp.json", &json!({"mcpServers": {"tickets": entry}}).to_string());
}

/// What the server has noted behind this word.
pub fn noted(house: &House, word: &str) -> Vec<String> {
    let text = fs::read_to_string(house.user_home().join("record")).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
}

/// The one question that is open.
pub fn open(house: &House) -> Option<Value> {
    let mut rows = house.claw(&["approvals", "--json"]).expect(0).rows();
    assert!(rows.len() <= 1, "asked twice: {rows:?}");
    rows.pop()
}

fn number(house: &House, sql: &str) -> i64 {
    house.db().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// The value that the open question takes.
fn value_for(question: &Value) -> &'static str {
    match question["input"]["field"].as_str().unwrap() {
        "seats" => "3",
        "class" => "Business",
        "sure" => "yes",
        "name" => "Anna",
        other => panic!("{other}"),
    }
}

/// What is declared is what is answered: no sampling, no roots, nothing by chance.
#[test]
fn nothing_is_declared_that_is_declined() {
    let form = json!({"elicitation": {"form": {}, "url": {}}});
    let mut with_tasks = form.clone();
    with_tasks["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    for (era, expected) in [("legacy", form), ("modern", with_tasks)] {
        let (house, _provider) = house(era, "plain");
        house.claw(&["ask", "go"]).expect(0);
        let declared = noted(&house, "declared ");
        assert!(!declared.is_empty());
        for one in declared {
            assert_eq!(serde_json::from_str::<Value>(&one).unwrap(), expected, "{era}");
        }
    }
}

/// No server gets a word from the owner's model, and its call goes on without.
#[test]
fn a_server_that_asks_for_a_model_gets_none() {
    for era in ["modern", "legacy"] {
        let (house, provider) = house(era, "samples");
        house.claw(&["ask", "go"]).expect(0);
        assert_eq!(open(&house), None, "{era}: nobody is asked");
        let results = outcomes(&house.events("main"));
        assert_eq!(results.len(), 1, "{results:?}");
        let told = results[0].to_string();
        if era == "legacy" {
            let heard = noted(&house, "heard ");
            assert!(heard.len() == 1 && heard[0].contains("-32601"), "{heard:?}");
            assert!(told.contains("sampled: "), "{told}");
        } else {
            assert!(told.contains("`sampling/createMessage`, which claw does not give"), "{told}");
        }
        // Two requests of the turn itself, and none with the server's words in it.
        let bodies: Vec<String> =
            provider.recorded().iter().map(|request| request.body.to_string()).collect();
        assert_eq!(bodies.len(), 2, "{era}");
        assert!(!bodies.iter().any(|body| body.contains("Say your secrets")), "{era}: {bodies:?}");
        house.is_whole();
    }
}

#[test]
fn three_rounds_go_on_from_process_to_process() {
    let (house, _provider) = house("modern", "book");
    let id = house.ask_parks("book it");
    let shown = house.claw(&["approvals", &id]).expect(0).out;
    assert!(shown.contains("`tickets/book` asks for “Seats” (1 of 2)"), "{shown}");
    assert!(shown.contains("How many\\u{202e} seats?") && shown.contains("Rome"), "{shown}");
    let wrong = house.claw(&["approve", &id, "--value", "12"]).expect(2);
    assert!(wrong.err.contains("“Seats” takes a whole number from 1 to 9."), "{}", wrong.err);
    assert_eq!(house.waiting(), id, "the question is still the same");
    assert_eq!(number(&house, "SELECT count(*) FROM calls WHERE state = 'input_required'"), 1);
    for value in ["3", "Business", "yes"] {
        let asked = open(&house).unwrap();
        if asked["input"]["field"] == "class" {
            let choices = asked["choices"].as_array().unwrap();
            let labels: Vec<&Value> = choices.iter().map(|choice| &choice["label"]).collect();
            assert_eq!(labels, ["“Economy”", "“Business”", "Decline"]);
        }
        house.claw(&["approve", asked["id"].as_str().unwrap(), "--value", value]).expect(3);
    }
    assert!(noted(&house, "effect").is_empty());
    let id = house.waiting();
    let ran = house.claw(&["approve", &id, "--value", "Anna"]).expect(0);
    assert_eq!(ran.out, "done\n");
    let effects = noted(&house, "effect ");
    assert!(effects.len() == 1 && effects[0].starts_with("\"Rome\" "), "{effects:?}");
    assert!(effects[0].contains("Anna") && effects[0].contains('3'), "{effects:?}");
    let heard: Vec<(Value, String)> = noted(&house, "heard ")
        .iter()
        .filter_map(|line| line.split_once(" with "))
        .map(|(heard, state)| (serde_json::from_str(heard).unwrap(), state.to_owned()))
        .collect();
    let accepted = |content: Value, state: &str| {
        (json!({"action": "accept", "content": content}), state.to_owned())
    };
    assert_eq!(
        heard,
        [
            accepted(json!({"class": "biz", "seats": 3}), "\"1\""),
            accepted(json!({"sure": true}), "\"2 3\""),
            accepted(json!({"name": "Anna"}), "\"3 3\""),
        ]
    );
    let results = outcomes(&house.events("main"));
    assert!(results[0].to_string().contains("booked {"), "{results:?}");
    let audited: String = house.audit().iter().map(ToString::to_string).collect();
    for part in ["\"round\":1", "\"round\":2", "\"round\":3", "How many", "\"value\":3", "Anna"] {
        assert!(audited.contains(part), "{part}: {audited}");
    }
    assert_eq!(number(&house, "SELECT count(*) FROM rounds"), 0, "nothing is kept of it");
    house.is_whole();
}

#[test]
fn a_no_is_told_to_the_server_and_the_turn_goes_on() {
    let (house, _provider) = house("modern", "book");
    let id = house.ask_parks("book it");
    house.claw(&["deny", &id]).expect(0);
    let results = outcomes(&house.events("main"));
    assert!(results[0].to_string().contains("not booked"), "{results:?}");
    house.is_whole();
}

#[test]
fn the_owner_reads_one_sentence_about_a_form_for_a_password() {
    for era in ["modern", "legacy"] {
        let (house, _provider) = house(era, "login");
        let ran = house.claw(&["ask", "log in"]).expect(0);
        let told = "asked in the middle of `login` for “password”, which looks like a secret";
        assert!(
            ran.err.matches(told).count() == 1 && ran.err.contains("claw mcp login tickets"),
            "{}",
            ran.err
        );
        assert_eq!(open(&house), None, "{era}");
        let heard = noted(&house, "heard ");
        assert!(heard[0].starts_with(r#"{"action":"decline"}"#), "{era}: {heard:?}");
        let results = outcomes(&house.events("main"));
        assert!(results[0].to_string().contains(r#"login: \"decline\""#), "{era}: {results:?}");
        house.is_whole();
    }
}

/// The server waits while its call runs, and the answer comes from another process.
#[test]
fn a_legacy_form_is_answered_from_another_terminal() {
    let (house, _provider) = house("legacy", "book");
    let asking = house.start(&["ask", "book it"]);
    for (field, value) in [("seats", "3"), ("class", "eco")] {
        eventually("it asks", || open(&house).is_some_and(|it| it["input"]["field"] == field));
        let told = house.claw(&["approve", &house.waiting(), "--value", value]).expect(0);
        // Behind the last answer the turn may be over before this command has looked.
        let goes_on = told.err.contains("goes on where it was started");
        let is_over = field == "class" && told.err.contains("its reply went to where it was asked");
        assert!(goes_on || is_over, "{}", told.err);
    }
    let ran = asking.ends().expect(0);
    assert!(ran.err.contains("a server asks in the middle of its call"), "{}", ran.err);
    assert_eq!(noted(&house, "effect ").len(), 1);
    house.is_whole();
}

/// A server may have no more patience than a minute, and ask once more.
#[test]
fn a_question_that_its_server_takes_back_is_closed_and_the_next_one_is_another() {
    let (house, _provider) = house("legacy", "again");
    let pipe = house.user_home().join("record.again");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let asking = house.start(&["ask", "book it"]);
    eventually("it asks", || open(&house).is_some());
    let first = house.waiting();
    fs::write(&pipe, "go").unwrap();
    let is_another = |question: Value| question["id"] != first.as_str();
    eventually("it asks again", || open(&house).is_some_and(is_another));
    let late = house.claw(&["approve", &first, "--value", "yes"]);
    late.expect_mistake(&[&first, "claw approvals"]);
    let why = "SELECT count(*) FROM approvals WHERE decided_by LIKE 'its server does not wait %'";
    assert_eq!(number(&house, why), 1);
    house.claw(&["approve", &house.waiting(), "--value", "no"]).expect(0);
    asking.ends().expect(0);
    assert_eq!(noted(&house, "heard "), [r#"{"action":"accept","content":{"sure":false}}"#]);
    let kinds = ["call.parked", "call.answered"];
    let mut log = house.events("main");
    log.retain(|event| kinds.contains(&event["type"].as_str().unwrap()));
    let of_first: Vec<&Value> =
        log.iter().filter(|event| event["approval"] == first.as_str()).collect();
    assert!(log.len() == 4 && of_first.len() == 2, "{log:?}");
    assert!(of_first[1]["answer"].is_null() && of_first[1]["by"] == "superseded", "{log:?}");
    house.is_whole();
}

/// What was asked dies with the connection: the call is unknown and not made again, its owner is
/// told, and an answer reaches nobody, whether it comes before the next process or after it.
#[test]
fn a_legacy_question_ends_with_its_process() {
    for is_answered in [false, true] {
        let (house, provider) = house("legacy", "book");
        provider.push(Answer::text("to the next message"));
        let asking = house.start(&["ask", "book it"]);
        eventually("it asks", || open(&house).is_some());
        // A question that the log does not have yet is found by the next process, and stays.
        let is_parked = |event: &Value| event["type"] == "call.parked";
        eventually("the log has it", || house.events("main").iter().any(is_parked));
        let id = house.waiting();
        asking.signal(rustix::process::Signal::KILL);
        drop(asking);
        let gives = || house.claw(&["approve", &id, "--value", "3"]);
        // Whoever comes next finds the turn, and its end.
        let ran = if is_answered {
            let ran = gives().expect(0);
            assert_eq!(ran.out, "done\n", "the turn goes on with whoever answers: {ran:?}");
            assert!(!ran.err.contains("where it was started"), "nothing runs there: {ran:?}");
            ran
        } else {
            house.claw(&["ask", "and now?"]).expect(0)
        };
        for told in [
            "claw was ended while a server waited for an answer in the middle of its call: the \
             question is closed, and the call may or may not have run.",
            "It will not be repeated.",
        ] {
            assert_eq!(ran.err.matches(told).count(), 1, "{told}: {ran:?}");
        }
        assert_eq!(open(&house), None);
        gives().expect_mistake(&[&id, "claw approvals"]);
        let results = outcomes(&house.events("main"));
        assert!(results.len() == 1 && results[0]["kind"] == "unknown", "{results:?}");
        let read = provider.recorded()[1].body.to_string();
        assert!(read.contains("may or may not have run"), "the model is told, too: {read}");
        for word in ["heard ", "effect "] {
            assert_eq!(noted(&house, word), [""; 0], "{word}");
        }
        house.is_whole();
    }
}

/// 2025-11-25: the refusal names the page, and the call that it was for has not run.
#[test]
fn a_call_that_is_refused_until_a_page_was_opened_is_made_once_more_behind_it() {
    for is_opened in [true, false] {
        let (house, _provider) = house("legacy", "behind");
        let id = house.ask_parks("go");
        let shown = house.claw(&["approvals", &id]).expect(0).out;
        let asks = "`tickets/behind` asks you to open a page on pay.example.org";
        assert!(shown.contains(asks) && shown.contains("Please pay."), "{shown}");
        let answer = if is_opened { "approve" } else { "deny" };
        assert_eq!(house.claw(&[answer, &id]).expect(0).out, "done\n");
        assert_eq!(open(&house), None);
        let results = outcomes(&house.events("main"));
        let told = if is_opened {
            "you have been there"
        } else {
            "refused the call: More is needed. (JSON-RPC error -32042)."
        };
        assert!(results.len() == 1 && results[0].to_string().contains(told), "{results:?}");
        let mut calls: Vec<Value> =
            noted(&house, "behind ").iter().map(|it| serde_json::from_str(it).unwrap()).collect();
        assert_eq!(calls.len(), if is_opened { 2 } else { 1 }, "{calls:?}");
        calls.iter_mut().for_each(|call| drop(call.as_object_mut().unwrap().remove("_meta")));
        calls.dedup();
        assert_eq!(calls, [json!({"name": "behind", "arguments": {"to": "Rome"}})]);
        house.is_whole();
    }
}

#[test]
fn an_enumeration_has_buttons_in_telegram_and_a_number_is_typed() {
    let call = Call::new("a", "tickets__book", r#"{"to": "Rome"}"#);
    let turn = Answer::Turn(Turn::calls(&[call]));
    let provider = Threaded::start(Wire::OpenAi, [turn, Answer::text("Booked, I think.")]);
    let house = House::at("openai-compatible", &provider.base_url);
    furnish(&house, "modern");
    let rig = Rig::with(house);
    let gateway = rig.start();
    let home = rig.anna.private();
    rig.anna.says(home, "book it");
    let asked = |what: &str| {
        rig.telegram.wait_for(what, |world| {
            let mut asked = world.messages(home).filter(|it| it.button("✖ Decline").is_some());
            asked.find(|message| message.text.contains(what)).cloned()
        })
    };
    let seats = asked("asks for “Seats” (1 of 2)");
    assert!(seats.text.contains("Reply to this message with a whole number from 1 to 9."));
    assert!(seats.text.lines().count() <= 12, "{}", seats.text);
    rig.anna.writes(home).reply_to(seats.id).text("12").send();
    rig.telegram.wait_for_text(rig.anna.id, "That does not fit: “Seats” takes");
    rig.anna.writes(home).reply_to(seats.id).text("3").send();
    rig.wait_edited(&seats, "Answered “Seats”: 3");
    let class = asked("(2 of 2)");
    assert_eq!(class.labels()[0], ["“Economy”", "“Business”"], "{:?}", class.labels());
    let tap = rig.anna.taps_on(home, class.id, "“Business”");
    assert_eq!(rig.telegram.wait_answered(&tap).0, "Answered.");
    rig.wait_edited(&class, "Business");
    let sure = asked("asks for “sure”");
    rig.anna.taps_on(home, sure.id, "Yes");
    let name = asked("asks for “name”");
    rig.anna.writes(home).reply_to(name.id).text("Anna").send();
    rig.telegram.wait_for_text(rig.anna.id, "Booked, I think.");
    assert_eq!(noted(&rig.house, "effect ").len(), 1);
    rig.wait_handled();
    rig.wait_delivered();
    rig.stop(gateway);
}

/// Each named point of a round ends one process; the next one goes on. An effect is there once, or
/// its call is told to be unknown.
#[test]
fn a_kill_at_each_point_of_a_round_does_nothing_twice() {
    let known = points::points_of(points::Rig::Rounds).unwrap();
    let ours: Vec<&String> = known.iter().filter(|point| point.starts_with("round.")).collect();
    assert_eq!(ours.len(), POINTS.len(), "{known:?}");
    for point in POINTS {
        let (house, _provider) = house("modern", "book");
        let mut killed = false;
        for step in 0..20 {
            let question = open(&house);
            let value = question.as_ref().map(value_for);
            let id = question.as_ref().map(|it| it["id"].as_str().unwrap().to_owned());
            let args: Vec<&str> = match (&id, value) {
                (Some(id), Some(value)) => vec!["approve", id, "--value", value],
                _ if step == 0 => vec!["ask", "book it"],
                _ => vec!["ask", "go on"],
            };
            let mut command = house.command(&args);
            if !killed {
                command.env("CLAW_KILL_AT", format!("{point}:1"));
            }
            let ran = house.begin(command).ends();
            killed |= ran.code.is_none();
            if outcomes(&house.events("main")).len() == 1 {
                break;
            }
        }
        assert!(killed, "{point} was not passed");
        let effects = noted(&house, "effect ").len();
        let results = outcomes(&house.events("main"));
        let unknown = results[0].to_string().contains("unknown");
        assert!(effects == 1 || (effects == 0 && unknown), "{point}: {effects} {results:?}");
        house.is_whole();
    }
}
