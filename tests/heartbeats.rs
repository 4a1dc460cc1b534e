//! Heartbeats over the whole program: the file while claw runs, a turn in a session of its own, a
//! question that names it, and a word to the owner.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::{Running, SERVER_WAIT, eventually};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use jiff::Timestamp;
use serde_json::json;

const TURNS_ENDED: &str = "SELECT count(*) FROM events
    WHERE session = 'heartbeat.inbox' AND type = 'turn.ended'";
const STATE: &str = "SELECT count(*) FROM meta WHERE key = 'heartbeat.inbox'";

/// An entry for this very minute.
fn entry() -> String {
    let now = Timestamp::now().strftime("%H:%M");
    format!("[inbox]\nat = [\"{now}\"]\nzone = \"UTC\"\nprompt = \"Look at the inbox.\"\n")
}

fn count(rig: &Rig, sql: &str) -> i64 {
    rig.house.db().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Its last time was before this minute.
fn comes_due(rig: &Rig) {
    let earlier = "UPDATE meta SET value = json_set(value, '$.seen_ms', 0)
        WHERE key = 'heartbeat.inbox'";
    assert_eq!(rig.house.db().execute(earlier, []).unwrap(), 1);
}

/// A gateway that knows of the heartbeat, and finds it due when it starts.
fn starts_due(rig: &Rig) -> Running {
    let gateway = rig.start();
    // To look for a store that is not there yet would make an empty one.
    rig.says("/status");
    rig.hears("stop switch: off");
    eventually("it is known", || count(rig, STATE) == 1);
    drop(gateway);
    comes_due(rig);
    rig.start()
}

/// The same a day later: its log and its budget are of the day before, and no firing is known.
fn starts_a_day_later(rig: &Rig, gateway: Running) -> Running {
    drop(gateway);
    let passes = "
        UPDATE events SET at_ms = at_ms - 86400000 WHERE session = 'heartbeat.inbox';
        UPDATE meta SET value = json_set(value, '$.day', '2000-01-01')
            WHERE key = 'heartbeat.inbox';
        DELETE FROM firings;";
    rig.house.db().execute_batch(passes).unwrap();
    comes_due(rig);
    rig.start()
}

#[test]
fn it_acts_in_a_session_of_its_own_asks_by_its_name_and_tells_the_owner() {
    let writes = json!({"path": "seen.txt", "content": "1"}).to_string();
    let rig = Rig::new([
        Answer::Turn(Turn::calls(&[Call::new("1", "filesystem__write_file", &writes)])),
        Answer::text("Two mails wait."),
    ]);
    rig.house.write("heartbeats.toml", &entry());
    let gateway = starts_due(&rig);
    rig.waits_for("Heartbeat inbox asks");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    assert_eq!(rig.house.in_workspace("seen.txt"), "", "nothing before a yes");
    rig.anna.taps(rig.anna.id, "Allow once");
    let told = rig.hears("Two mails wait.");
    assert!(told.text.contains("Heartbeat inbox"), "{}", told.text);
    drop(gateway);
    let began: Vec<_> = rig.house.events("heartbeat.inbox");
    let began: Vec<_> = began.iter().filter(|event| event["type"] == "turn.started").collect();
    assert_eq!(began.len(), 1);
    assert_eq!(began[0]["origin"], json!("schedule"));
    let doctor = rig.house.claw(&["doctor"]).out;
    assert!(doctor.contains("heartbeat:inbox"), "{doctor}");
    rig.house.is_whole();
}

/// Also not that it begins, nor what its model says before it looks.
#[test]
fn one_that_has_nothing_to_tell_tells_nothing_and_its_log_has_the_turn() {
    let mut looks = Turn::calls(&[Call::new("1", "filesystem__list_dir", "{}")]);
    looks.text = "Let me look.".to_owned();
    let rig = Rig::new([Answer::Turn(looks), Answer::text("**HEARTBEAT_OK**")]);
    rig.house.write("claw.toml", SERVER_WAIT);
    rig.house.write("heartbeats.toml", &entry());
    let gateway = starts_due(&rig);
    eventually("its turn is over", || count(&rig, TURNS_ENDED) == 1);
    // What a turn tells is written with its end.
    let told = "SELECT count(*) FROM outbox WHERE session = 'heartbeat.inbox'";
    assert_eq!(count(&rig, told), 0);
    rig.wait_delivered();
    for words in ["HEARTBEAT_OK", "Let me look.", "Heartbeat inbox"] {
        assert_eq!(rig.count(rig.anna.id, words), 0, "{words}");
    }
    drop(gateway);
    let events = rig.house.events("heartbeat.inbox");
    assert_eq!(events.iter().filter(|event| event["type"] == "turn.started").count(), 1);
    let log = json!(events).to_string();
    for kept in ["Let me look.", "**HEARTBEAT_OK**"] {
        assert!(log.contains(kept), "{kept}: {log}");
    }
    assert!(events.iter().any(|event| event["type"] == "exchange.dropped"), "it is seen again");
    rig.house.is_whole();
}

/// A summary of them would have taken all of its budget.
#[test]
fn after_a_day_it_sees_what_it_told_and_does_its_work() {
    let report = format!("{}That is the whole report.", "All is well there. ".repeat(400));
    let rig = Rig::new([Answer::text(&report), Answer::text("Nothing is new.")]);
    rig.house.write("heartbeats.toml", &format!("{}requests_day_max = 1\n", entry()));
    let gateway = starts_due(&rig);
    rig.hears("That is the whole report.");
    let gateway = starts_a_day_later(&rig, gateway);
    rig.hears("Nothing is new.");
    let asked = rig.model.recorded();
    assert_eq!(asked.len(), 2);
    let seen = asked[1].body.to_string();
    assert!(seen.contains("That is the whole report."), "{seen}");
    assert_eq!(rig.count(rig.anna.id, "has stopped for today"), 0);
    drop(gateway);
    rig.house.is_whole();
}

/// The result of its check stays the same meanwhile.
#[test]
fn what_its_check_found_is_told_when_the_model_can_be_reached_again() {
    let down = Answer::status(400, r#"{"error": {"message": "not today"}}"#);
    let rig = Rig::new([down, Answer::text("One mail waits.")]);
    rig.house.write("workspace/mail.txt", "a letter from Bob\n");
    let check =
        "check = { tool = \"filesystem/read_file\", arguments = { path = \"mail.txt\" } }\n";
    rig.house.write("heartbeats.toml", &format!("{}{check}", entry()));
    let gateway = starts_due(&rig);
    rig.hears("Heartbeat inbox");
    assert_eq!(rig.count(rig.anna.id, "One mail waits."), 0);
    let gateway = starts_a_day_later(&rig, gateway);
    rig.hears("One mail waits.");
    let seen = rig.model.recorded().last().unwrap().body.to_string();
    assert!(seen.contains("a letter from Bob"), "{seen}");
    drop(gateway);
    rig.house.is_whole();
}

/// The words name the time of day at which the model may be asked again.
#[test]
fn that_a_model_limits_its_requests_is_told_once() {
    let limited = || Answer::limited("retry-after", "3600");
    let rig = Rig::new([limited(), limited(), Answer::text("Two mails wait.")]);
    rig.house.write("heartbeats.toml", &entry());
    let gateway = starts_due(&rig);
    rig.hears("limits how often it may be asked. Try again at");
    let gateway = starts_a_day_later(&rig, gateway);
    eventually("its second turn is over", || count(&rig, TURNS_ENDED) == 2);
    let gateway = starts_a_day_later(&rig, gateway);
    rig.hears("Two mails wait.");
    assert_eq!(rig.count(rig.anna.id, "limits how often"), 1);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn that_the_day_is_used_up_is_told_once() {
    let rig = Rig::new([Answer::text("Two mails wait.")]);
    rig.house.write("claw.toml", "[limits]\ntokens_day_max = 1000\n");
    rig.house.write("heartbeats.toml", &entry());
    let gateway = starts_due(&rig);
    rig.hears("Two mails wait.");
    let spent = format!("{} 2002 0", Timestamp::now().strftime("%Y-%m-%d"));
    let spend = "UPDATE meta SET value = ?1 WHERE key = 'spent.day'";
    assert_eq!(rig.house.db().execute(spend, [spent]).unwrap(), 1);
    let gateway = starts_a_day_later(&rig, gateway);
    rig.hears("Today's budget is used up: 2002 of 1000 tokens");
    let gateway = starts_a_day_later(&rig, gateway);
    eventually("its third turn is over", || count(&rig, TURNS_ENDED) == 3);
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "Today's budget is used up"), 1);
    assert_eq!(rig.model.recorded().len(), 1);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn another_file_is_in_force_and_told_and_a_broken_one_changes_nothing() {
    let rig = Rig::new([]);
    let gateway = rig.start();
    rig.says("/status");
    rig.hears("stop switch: off");
    rig.house.write("heartbeats.toml", &entry());
    rig.hears("heartbeats.toml changed: 1 heartbeat, inbox; in force from now on.");
    eventually("it is in force", || count(&rig, STATE) == 1);
    rig.house.write("heartbeats.toml", "\n[inbox]\nat = [\"7:30\"]\nprompt = \"x\"\n");
    let told = rig.hears("heartbeats.toml changed and is refused");
    for words in ["heartbeats.toml:2", "`7:30` is no time of the day", "claw help heartbeats"] {
        let words = words.replace('`', "");
        assert!(told.text.replace(['`', '\''], "").contains(&words), "{words}: {}", told.text);
    }
    let until = "UPDATE meta SET value = json_set(value, '$.stopped_until_ms', 9e15)
        WHERE key = 'heartbeat.inbox'";
    rig.house.db().execute(&until.replace("9e15", "9000000000000"), []).unwrap();
    rig.says("/status");
    rig.hears("inbox has stopped for today");
    drop(gateway);
    rig.house.is_whole();
}

/// Killed just before and just after its row is written, it is one turn.
#[test]
fn one_that_a_kill_meets_is_begun_once() {
    let rig = Rig::new([Answer::text("Two mails wait."), Answer::text("Three mails wait.")]);
    rig.house.write("heartbeats.toml", &entry());
    let gateway = rig.start();
    rig.says("/status");
    rig.hears("stop switch: off");
    eventually("it is known", || count(&rig, STATE) == 1);
    drop(gateway);
    comes_due(&rig);
    for point in ["heartbeats.row.before", "heartbeats.row.after"] {
        let mut command = rig.house.command(&["gateway"]);
        command.env("CLAW_KILL_AT", format!("{point}:1"));
        let ran = rig.house.begin(command).ends();
        assert_eq!(ran.code, None, "it was not killed at {point}: {ran:?}");
    }
    let gateway = rig.start();
    rig.hears("Two mails wait.");
    drop(gateway);
    let began = rig.house.events("heartbeat.inbox");
    assert_eq!(began.iter().filter(|event| event["type"] == "turn.started").count(), 1);
    rig.house.is_whole();
}
