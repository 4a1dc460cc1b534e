//! The button below an answer that puts back the files of its turn, and a gateway that is killed at
//! each named point on its way: afterwards the files are what they were before the turn, and what
//! the chat says of it is so. In the owner's chat and in a topic of a group.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program;
use std::collections::BTreeMap;
use std::fs;

use crate::botapi::{BotApi, Message, Place};
use crate::program::{House, alive, eventually};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

/// What is tried here needs no questions.
const ALLOW: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"a test\"\n";
/// Passed in this order. How often each is passed depends on what changes back.
const POINTS: &[&str] = &[
    "undo.files.begun",
    "undo-noted",
    "undo-step",
    "undo-done",
    "undo.files.done",
    "undo.files.told",
];
/// What a turn changes, with what was there before.
const BEFORE: &[(&str, &str)] = &[("a.txt", "old a"), ("b.txt", "old b")];
const WRITTEN: &[&str] = &["a.txt", "b.txt", "c.txt"];

/// A chat in which a turn has changed three files, and asks whether to undo that.
struct Asked {
    rig: Rig,
    _model: Threaded,
    /// The answer of the turn.
    answer: Message,
    /// What would change back, with its two buttons.
    list: Message,
}

fn files(rig: &Rig) -> BTreeMap<String, String> {
    let entries = fs::read_dir(rig.house.workspace()).unwrap().flatten();
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name.clone(), rig.house.in_workspace(&name))
        })
        .collect()
}

fn before() -> BTreeMap<String, String> {
    BEFORE.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// The newest message with this button in a conversation.
fn with_button(rig: &Rig, place: Place, label: &str) -> Message {
    rig.telegram.wait_for(label, |world| {
        let of_topic = |message: &&Message| message.topic == place.topic && !message.deleted;
        let found = world.messages(place.chat).filter(of_topic);
        found.filter(|message| message.button(label).is_some()).last().cloned()
    })
}

fn asked(in_topic: bool) -> Asked {
    let telegram = BotApi::start();
    let anna = telegram.user("Anna");
    anna.starts();
    let forum = telegram.forum("work", &[&anna]);
    let write = |path: &&str| {
        let arguments = json!({"path": path, "content": "new"}).to_string();
        Call::new(path, "filesystem__write_file", &arguments)
    };
    let calls: Vec<Call> = WRITTEN.iter().map(write).collect();
    let answers = [Answer::Turn(Turn::calls(&calls)), Answer::text("Written.")];
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", program::SERVER_WAIT);
    house.write("policy.toml", ALLOW);
    for (name, text) in BEFORE {
        house.write(&format!("workspace/{name}"), text);
    }
    let house = house.with_bot(&telegram.token(), telegram.url(), &format!("{},{forum}", anna.id));
    let rig = Rig { telegram, anna, house };
    let gateway = rig.start();
    let (place, greeting) = match in_topic {
        true => (rig.anna.opens_topic(forum, "Kitchen"), "@claw_test_bot "),
        false => (rig.anna.private().into(), ""),
    };
    rig.anna.says(place, &format!("{greeting}write them"));
    let answer = with_button(&rig, place, "Undo 3 files");
    let tap = rig.anna.taps_on(answer.chat, answer.id, "Undo 3 files");
    rig.telegram.wait_answered(&tap);
    let list = with_button(&rig, place, "Undo");
    rig.wait_handled();
    rig.stop(gateway);
    Asked { rig, _model: model, answer, list }
}

/// Says yes to a gateway that ends at this point, and starts it again. Whether it was killed.
fn undoes(point: &str, count: usize, in_topic: bool) -> bool {
    let what = format!("{point}:{count}, in a topic: {in_topic}");
    let Asked { rig, _model, answer, list } = asked(in_topic);
    let mut command = rig.house.command(&["gateway"]);
    command.env("CLAW_KILL_AT", format!("{point}:{count}"));
    let gateway = rig.house.begin(command);
    let tap = rig.anna.taps_on(list.chat, list.id, "Undo");
    let is_answered = || rig.telegram.look(|world| world.taps[&tap.query].answer.is_some());
    eventually("the tap has an end", || is_answered() || !alive(gateway.id()));
    let was_killed = !alive(gateway.id());
    if !was_killed {
        rig.stop(gateway);
        assert_eq!(files(&rig), before(), "{what}");
        return false;
    }
    drop(gateway);
    let gateway = rig.house.start(&["gateway"]);
    // The tap is handled once more, and what the list says then is what has become of it.
    let said = rig.telegram.wait_for("the list says what came of it", |world| {
        let now = world.message(list.chat, list.id)?;
        now.labels().is_empty().then(|| now.text.clone())
    });
    let is_true = said.contains("Undone: 3 paths.") || said.contains("undone already");
    assert!(is_true, "{what}: {said}");
    // What was begun has its end in the audit, and no end is there twice.
    let audited = rig.house.audit();
    let of = |kind: &str| audited.iter().filter(|row| row["kind"] == kind).count();
    assert_eq!(of("undo.started"), of("undo.ended"), "{what}: {audited:?}");
    assert_eq!(files(&rig), before(), "{what}: {said}");
    // The answer's button, as an old copy of the screen has it, undoes nothing more.
    let old = answer.button("Undo 3 files").unwrap().data.clone().unwrap();
    let late = rig.anna.forges_tap(answer.chat, answer.id, &old);
    let (told, _) = rig.telegram.wait_answered(&late);
    assert!(told.contains("Nothing to undo"), "{what}: {told}");
    assert_eq!(files(&rig), before(), "{what}");
    rig.stop(gateway);
    true
}

fn is_killed_at_each(in_topic: bool) {
    let mut killed = 0;
    for point in POINTS {
        let hits = (1..).take_while(|count| undoes(point, *count, in_topic)).count();
        assert!(hits > 0, "{point} was never passed");
        killed += hits;
    }
    assert!(killed >= 10, "only {killed} kills");
}

#[test]
fn the_files_of_a_chat_are_put_back_whole_wherever_it_is_killed() {
    is_killed_at_each(false);
}

#[test]
fn the_files_of_a_topic_are_put_back_whole_wherever_it_is_killed() {
    is_killed_at_each(true);
}
