//! What a person reads of the memory: the tap's question, what becomes of it, the commands in a
//! chat and at the command line. As text, so that each change of a word is seen.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::program::{House, eventually};
use crate::read_words::{self, on_a_console};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use claw_core::domain::{OutboundBody, Question};
use claw_terminal::question::question_lines;
use claw_terminal::style::Look;
use serde_json::{Value, json};

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The same words at every run: ids, days, ages and paths of this one.
fn steady(text: &str, house: &House) -> String {
    let of_this_run = [
        (r"\bm[0-9a-z]{10}\b", "mID"),
        (r"q[0-9a-z]{9}\b", "qID"),
        (r"\b((Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?20\d\d-\d\d-\d\d( \d\d:\d\d)?\b", "DAY"),
        (r"\b20\d{6}T\d+-[0-9a-f]{6}", "DAY"),
        (r"\b\d\d:\d\d\b", "HOUR"),
        (r"process \d+", "process N"),
        (r"\d+ (seconds?|minutes?) ago|just now|today", "AGO"),
    ];
    read_words::steady(text, house, &of_this_run)
}

/// Every body that went out to a chat, as a console of this width shows it.
fn outbox(house: &House, width: usize) -> String {
    let shown = |body: &OutboundBody| match body {
        OutboundBody::Question { question, .. } => at(question, width),
        body => on_a_console(body, width),
    };
    read_words::outbox(house, |body| body, shown)
}

fn at(question: &Question, width: usize) -> Vec<String> {
    let lines = question_lines(question, None, Look::new(width, false));
    assert!(lines.len() <= 12, "it is no glance: {lines:#?}");
    lines
}

/// The model proposes this for what Anna writes, and the question is there.
fn asks(rig: &Rig, number: u32, arguments: Value, writes: impl FnOnce()) {
    let call = Call::new("1", "memory__propose", &arguments.to_string());
    rig.model.push(Answer::Turn(Turn::calls(&[call])));
    let says = format!("Shall I remember number {number}?");
    rig.model.push(Answer::text(&says));
    writes();
    rig.hears(&says);
}

fn taps(rig: &Rig, label: &str, hears: &str) {
    rig.telegram.wait_for_button(rig.anna.id, label);
    rig.anna.taps(rig.anna.id, label);
    rig.hears(hears);
}

fn id_of(house: &House, text: &str) -> String {
    let rows = house.claw(&["memory", "list", "--json"]).expect(0).rows();
    let row = rows.iter().find(|row| row.to_string().contains(text)).unwrap();
    row["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_read_of_a_tap_is_understood_at_a_glance() {
    let rig = Rig::new([]);
    let bert = rig.telegram.user("Bert");
    let group = rig.telegram.supergroup("Family", &[&rig.anna, &bert]);
    let chats = format!("[telegram]\nallowed_chats = [{}, {group}]\nstream = false\n", rig.anna.id);
    rig.house.write("claw.toml", &chats);
    let gateway = rig.house.start_for_listed_chats();

    let said = |subject: &str, text: &str| json!({"subject": subject, "text": text});
    asks(&rig, 1, said("Anna", "Lives in Graz."), || rig.says("Anna lives in Graz"));
    taps(&rig, "✅ Remember", "Remembered: ");
    asks(&rig, 2, said("Anna", "Lives in Graz, near the park."), || rig.says("near the park"));
    taps(&rig, "✅ Remember", "Lives in Graz, near the park.");
    asks(&rig, 3, said("Anna", "Lives in Wien."), || rig.says("a contradiction"));
    taps(&rig, "❌ Skip", "Skipped: ");
    let mut linz = said("Anna", "Lives in Linz.");
    linz["replaces"] = id_of(&rig.house, "anna.md").into();
    asks(&rig, 4, linz, || rig.says("she has moved"));
    let file = rig.house.home().join("memory/anna.md");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("park", "river")).unwrap();
    taps(&rig, "✅ Remember", "was changed");
    let forwards = || {
        let writes = rig.anna.writes(rig.anna.private());
        writes.text("the code is 4711").forwarded_from("Bob").send();
    };
    asks(&rig, 5, said("Door", "The code is 4711.\nRing twice."), forwards);
    rig.telegram.wait_for_button(rig.anna.id, "✅ Remember");
    let over = "UPDATE approvals SET expires_ms = 1 WHERE state = 'waiting'";
    assert_eq!(rig.house.db().execute(over, []).unwrap(), 1);
    rig.model.push(Answer::text("Hello."));
    rig.says("hello");
    rig.hears("Expired: ");
    eventually("the memory knows that it is over", || {
        let open = rig.house.claw(&["memory", "list", "--proposals", "--json"]).expect(0);
        !open.out.contains("Door")
    });
    let call = Call::new("1", "memory__propose", &said("Anna", "Plays the cello.").to_string());
    rig.model.push(Answer::Turn(Turn::calls(&[call])));
    rig.model.push(Answer::text("I have put it before its owner."));
    bert.says(group, "@claw_test_bot Anna plays the cello");
    rig.telegram.wait_for_text(group, "I have put it before its owner.");
    rig.telegram.wait_for_button(group, "✅ Remember");
    let read = rig.telegram.screen(group);
    for noted in ["river", "park", "Wien"] {
        assert!(!read.contains(noted), "the group reads what is noted: {read}");
    }
    let phone = format!("{}\n==== group\n{read}", rig.telegram.screen(rig.anna.id));
    drop(gateway);
    insta::assert_snapshot!("on_the_phone", steady(&phone, &rig.house));
    for width in [40, 80] {
        let shown = steady(&outbox(&rig.house, width), &rig.house);
        insta::assert_snapshot!(format!("at_{width}_columns"), shown);
    }
    rig.house.is_whole();
}

#[test]
fn what_is_read_of_a_line_that_every_prompt_holds() {
    let rig = Rig::new([]);
    let gateway = rig.start();
    let said = |text: &str, line: Option<&str>| {
        let mut arguments = json!({"subject": "tea", "text": text, "where": "always"});
        arguments["replaces_line"] = line.into();
        arguments.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        arguments
    };
    asks(&rig, 1, said("Likes green tea.", None), || rig.says("I like green tea"));
    taps(&rig, "✅ Remember", "Remembered for every prompt");
    asks(&rig, 2, said("Likes black tea.", Some("Likes green tea.")), || rig.says("no, black"));
    taps(&rig, "❌ Skip", "Skipped: ");
    asks(&rig, 3, said("", Some("Likes green tea.")), || rig.says("no tea at all"));
    taps(&rig, "❌ Keep it", "Skipped: Take out");
    let long = "x".repeat(4090);
    fs::write(rig.house.home().join("persona/MEMORY.md"), format!("- {long}\n")).unwrap();
    asks(&rig, 4, said("Likes cake.", None), || rig.says("I like cake"));
    rig.hears("MEMORY.md is full");
    rig.says("/remember --always Likes cake.");
    rig.hears("Not done: ");
    let phone = rig.telegram.screen(rig.anna.id);
    drop(gateway);
    insta::assert_snapshot!("always_on_the_phone", steady(&phone, &rig.house));
    for width in [40, 80] {
        let shown = steady(&outbox(&rig.house, width), &rig.house);
        insta::assert_snapshot!(format!("always_at_{width}_columns"), shown);
    }
    rig.house.is_whole();
}

#[test]
fn what_is_read_of_the_commands() {
    let rig = Rig::new([]);
    let gateway = rig.start();
    for (says, hears) in [
        ("/memory", "Nothing is remembered yet"),
        ("/remember", "remembers it at once"),
        ("/remember Anna's phone: 0664 1234", "Remembered: "),
        ("/remember Anna's phone: 0664 1234", "already"),
        ("/remember the boiler is in the cellar", "boiler"),
        ("/memory", "newest first"),
        ("/memory phone", "0664"),
        ("/memory nothing such", "Nothing is remembered about"),
        ("/forget m404", "m404"),
        ("/forget", "puts a note"),
    ] {
        if says.contains("boiler") {
            // Notes are dated to the second; the newest is to be known.
            let before = unix_s();
            eventually("it is another second", || unix_s() > before);
        }
        rig.says(says);
        rig.hears(hears);
    }
    let id = id_of(&rig.house, "phone");
    rig.says(&format!("/memory {id}"));
    rig.hears("from owner");
    rig.says(&format!("/forget {id}"));
    rig.hears("Forgotten: ");
    let phone = rig.telegram.screen(rig.anna.id);
    drop(gateway);
    insta::assert_snapshot!("commands_on_the_phone", steady(&phone, &rig.house));
    let house = &rig.house;
    house.claw(&["memory", "add", "Anna's home: Graz, near the park"]).expect(0);
    let file = house.user_home().join("AGENTS.md");
    fs::write(&file, "# Build\n\n- run cargo test\n- never push\n").unwrap();
    let file = file.display().to_string();
    house.write("memory/torn.md", "---\nid: [\n---\nwords\n");
    let home = id_of(house, "home");
    let mut dump = String::new();
    for words in [
        &["list"][..],
        &["list", "park"],
        &["list", "nothing", "such"],
        &["list", "--tag", "nobody"],
        &["list", "--proposals"],
        &["list", "--trash"],
        &["show", &home],
        &["show", "m404"],
        &["forget", "Anna's home"],
        &["restore", "m404"],
        &["add", ""],
        &["check"],
        &["import", &file],
        &["import", &file, "--yes"],
        &["import", &file, "--yes"],
    ] {
        let ran = house.claw(&[&["memory"], words].concat());
        let words = words.join(" ");
        dump.push_str(&format!("$ claw memory {words}\n{}{}\n", ran.out, ran.err));
    }
    insta::assert_snapshot!("at_the_command_line", steady(&dump, house));
}

#[test]
fn words_behind_forget_list_what_holds_them_and_forget_nothing() {
    let rig = Rig::new([]);
    let _gateway = rig.start();
    rig.says("/remember Anna's phone: 0664 1234");
    rig.hears("Remembered: ");
    rig.says("/forget the phone of Anna");
    rig.hears("Nothing was forgotten");
    rig.hears(&id_of(&rig.house, "phone"));
    // One word is no id, either, also where a note is called so.
    rig.says("/remember Graz: Anna lives there");
    rig.hears("Remembered: Graz");
    let listed = rig.telegram.screen(rig.anna.id).matches("Nothing was forgotten").count();
    rig.says("/forget Graz");
    eventually("the note is listed", || {
        rig.telegram.screen(rig.anna.id).matches("Nothing was forgotten").count() > listed
    });
    rig.hears(&id_of(&rig.house, "Graz"));
    let notes = rig.house.claw(&["memory", "list"]).expect(0).out;
    assert!(notes.contains("0664 1234") && notes.contains("Graz"), "{notes}");
}
