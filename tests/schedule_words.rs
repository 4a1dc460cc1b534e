//! What a person reads of what is scheduled: the commands in a chat and at the command line. As
//! text, so that each change of a word is seen.

use crate::program::{House, SERVER_WAIT};
use crate::read_words::{self, on_a_console};
use crate::telegram_model::Rig;
use claw_core::domain::OutboundBody;
use serde_json::json;

/// The same words at every run: days, times and paths of this one.
fn steady(text: &str, house: &House) -> String {
    let of_this_run = [
        (r"\b[A-Z][a-z]+day 20\d\d-\d\d-\d\d \d\d:\d\d(:\d\d)?", "WHEN"),
        (r"\b20\d\d-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?\b", "DAY"),
        (r"telegram([./])\d+[./]\d+", "telegram${1}BOT${1}CHAT"),
        (r"chat \d{4,}", "chat NUMBER"),
        (r"\b(has|it has) \d+", "$1 NUMBER"),
    ];
    read_words::steady(text, house, &of_this_run)
}

fn scheduling() -> Rig {
    let rig = Rig::new([]);
    rig.house.write("claw.toml", "time_zone = \"UTC\"\n[telegram]\nstream = false\n");
    rig
}

/// Every body that went out to a chat, as a console of this width shows it.
fn outbox(house: &House, width: usize) -> String {
    // Before it is wrapped: a time with seconds is longer.
    let steadied = |body: String| steady(&body, house).replace("WHEN", "Monday 2026-11-30 09:00");
    read_words::outbox(house, steadied, |body| {
        let lines = on_a_console(body, width);
        assert!(lines.iter().all(|line| line.trim_end().chars().count() <= width), "{lines:#?}");
        lines
    })
}

#[test]
fn what_is_read_of_the_commands_in_a_chat() {
    let rig = scheduling();
    let gateway = rig.start();
    for (says, hears) in [
        ("/schedule", "Nothing is scheduled"),
        ("/remind", "When?"),
        ("/remind call mum", "is no time that I know"),
        ("/remind tomorrow call mum", "At what time?"),
        ("/remind 20m", "What shall I say"),
        ("/remind 20m call mum", "Reminder 1: "),
        ("/remind tomorrow 9am water the *plants*", "Reminder 2: "),
        ("/remind every monday 9:00 staff meeting", "Reminder 3: "),
        ("/remind today 00:00 sleep", "is past"),
        ("/schedule", "Scheduled"),
        ("/schedule pause 3", "Paused: "),
        ("/schedule list", "paused"),
        ("/schedule resume 3", "It goes on: "),
        ("/schedule cancel 1", "Cancelled: "),
        ("/schedule cancel j1", "there is no job"),
        ("/schedule cancel", "ends job 3"),
    ] {
        rig.says(says);
        rig.hears(hears);
    }
    let listed = rig.house.claw(&["schedule", "list"]).expect(0);
    assert_eq!(listed.err, "", "a gateway runs, so nothing is said about one");
    let rows = rig.house.claw(&["schedule", "list", "--json"]).expect(0).rows();
    let session = format!("telegram.{}.{}", rig.telegram.bot_id(), rig.anna.id);
    for row in &rows {
        assert_eq!(row["session"], session.as_str(), "it is for the chat it was made in");
    }
    let phone = rig.telegram.screen(rig.anna.id);
    drop(gateway);
    insta::assert_snapshot!("on_the_phone", steady(&phone, &rig.house));
    for width in [40, 80] {
        insta::assert_snapshot!(format!("at_{width}_columns"), outbox(&rig.house, width));
    }
    rig.house.is_whole();
}

#[test]
fn a_reminder_comes_when_all_of_its_words_say() {
    let rig = scheduling();
    let gateway = rig.start();
    for (says, hears) in [
        ("/remind in 1 hour 30 minutes take the pills", "“take the pills”"),
        ("/remind 9:00 sun cream", "“sun cream”"),
        ("/remind every day 9:00 and 21:00 pills", "A reminder has one time, and here are two."),
        ("/remind 2 hours and 30 minutes call mum", "Reminder 3: "),
    ] {
        rig.says(says);
        rig.hears(hears);
    }
    let rows = rig.house.claw(&["schedule", "list", "--json"]).expect(0).rows();
    assert_eq!(rows.len(), 3, "{rows:#?}");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn what_is_read_at_the_command_line() {
    let rig = scheduling();
    let house = &rig.house;
    let mut dump = String::new();
    for words in [
        &["list"][..],
        &["add", "--in", "20m", "--say", "call", "mum"],
        &["add", "--at", "09:00", "--weekday", "monday", "--say", "staff meeting"],
        &["add", "--cron", "0 9 * * 1-5", "--text", "write the report", "--until", "2090-01-01"],
        &["add", "--every", "2h", "--session", "main", "--say", "drink", "--if-missed", "skip"],
        &["list"],
        &["show", "2"],
        &["show", "3"],
        &["pause", "3"],
        &["run", "3"],
        &["resume", "j3"],
        &["cancel", "1"],
        &["cancel", "1"],
        &["show", "1"],
        &["history"],
        &["history", "1", "--limit", "1"],
        &["add", "--say", "hello"],
        &["add", "--in", "2d", "--say", "hello"],
        &["add", "--at", "09:00", "--date", "2020-01-01", "--say", "hello"],
        &["add", "--every", "10s", "--say", "hello"],
        &["add", "--every", "1d", "--say", "hello"],
        &["add", "--in", "5m", "--chat", "12", "--say", "hello"],
    ] {
        let ran = house.claw(&[&["schedule"], words].concat());
        let words = words.join(" ");
        dump.push_str(&format!("$ claw schedule {words}\n{}{}\n", ran.out, ran.err));
    }
    insta::assert_snapshot!("at_the_command_line", steady(&dump, house));
}

#[test]
fn what_is_read_of_a_reminder_at_the_console() {
    let body = OutboundBody::Reminder {
        firing: "j3.1-1795455023".into(),
        job: "j3".into(),
        text: "⏰ call mum and ask her about the *plants* in the cellar".into(),
    };
    let mut shown = String::new();
    for width in [40, 80] {
        let lines = on_a_console(&body, width);
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        shown.push_str(&format!("{}\n----\n", lines.join("\n")));
    }
    insta::assert_snapshot!("a_reminder_at_the_console", shown);
}

#[test]
fn the_demo_model_makes_a_reminder_without_a_question_and_lists_it() {
    let house = House::new();
    house.write("claw.toml", &format!("time_zone = \"UTC\"\n{SERVER_WAIT}"));
    let made = house.claw(&["ask", "remind me in 10 seconds to drink water"]).expect(0);
    assert!(made.out.contains("Reminding of `drink water`"), "{made:?}");
    house.claw(&["ask", "remind me tomorrow 9:00 to water the plants"]).expect(0);
    let listed = house.claw(&["ask", "what is scheduled"]).expect(0);
    assert!(listed.out.contains("water the plants"), "{listed:?}");
    assert!(house.claw(&["schedule", "history", "1"]).expect(0).out.contains("made: drink water"));
}

#[test]
fn every_list_is_json_a_line_with_an_id() {
    let rig = scheduling();
    let claw = |words: &[&str]| {
        let ran = rig.house.claw(&[&["schedule", "--json"], words].concat()).expect(0);
        ran.rows()
    };
    let made = claw(&["add", "--in", "90s", "--say", "call mum"]);
    assert_eq!((&made[0]["id"], &made[0]["say"]), (&json!("j1"), &json!("call mum")));
    assert_eq!(claw(&[])[0]["id"], "j1");
    assert_eq!(claw(&["show", "j1"])[0]["next"].as_array().unwrap().len(), 1);
    assert_eq!(claw(&["pause", "1"])[0]["is_paused"], true);
    assert_eq!(claw(&["resume", "1"])[0]["is_paused"], false);
    let fired = claw(&["run", "1"]);
    assert!(fired[0]["firing"].as_str().unwrap().starts_with("j1.1-run"), "{fired:?}");
    assert_eq!(claw(&["history", "1"])[0]["id"], fired[0]["firing"], "the newest is first");
    assert_eq!(claw(&["cancel", "1"])[0]["withdrawn"], 1, "what was due of it is taken back");
    assert_eq!(claw(&[]).len(), 0);
}

#[test]
fn without_a_scheduler_it_is_said_how_to_get_one() {
    let house = House::new();
    house.write("mcp.json", "{\"mcpServers\": {}}");
    house.claw(&["schedule"]).expect_mistake(&["mcp.json", "\"server\", \"scheduler\""]);
}

#[test]
fn a_zone_without_a_name_is_told_because_the_scheduler_counts_in_utc_then() {
    let zone_of = |zone: &str| {
        let rows = House::new().with("TZ", zone).claw(&["doctor", "--json"]).rows();
        rows.into_iter().find(|row| row["id"] == "time zone").unwrap()
    };
    // POSIX, "Other Environment Variables": a rule is no name.
    let unnamed = zone_of("CET-1CEST,M3.5.0,M10.5.0/3");
    assert!(unnamed["text"].as_str().unwrap().contains("are in UTC; set"), "{unnamed}");
    assert_eq!(zone_of("GMT0")["text"], "UTC");
    assert_eq!(zone_of("UTC")["text"], "UTC");
}
