//! The buttons below a reminder, over the whole program: each reminder is answered once, whoever
//! taps how often, also across a restart; and the typed way where there are no buttons.

use crate::botapi::Message;
use crate::jobs_rig::JobsRig as _;
use crate::program::{Running, eventually};
use crate::telegram_model::Rig;

const AGAIN: &str = "In 10 minutes";

/// A reminder that was told, with its buttons.
fn reminded() -> (Rig, Running, Message) {
    let rig = Rig::new([]);
    rig.house.write("claw.toml", "time_zone = \"UTC\"\n");
    let gateway = rig.start();
    rig.says("/remind 1h call mum");
    rig.hears("Reminder 1: ");
    rig.minutes_pass(60);
    let told = rig.hears("⏰ call mum");
    assert_eq!(told.labels().concat(), ["Done", "In 10 minutes", "Tomorrow"]);
    assert_eq!(rig.jobs(), 0, "it was for once");
    (rig, gateway, told)
}

fn data(message: &Message, label: &str) -> String {
    message.button(label).and_then(|button| button.data.clone()).unwrap_or_default()
}

/// The words that a tap is answered with.
#[track_caller]
fn taps(rig: &Rig, message: &Message, data: &str) -> String {
    let tap = rig.anna.forges_tap(message.chat, message.id, data);
    rig.telegram.wait_answered(&tap).0
}

#[track_caller]
fn says_now(rig: &Rig, message: &Message, text: &str) {
    rig.telegram.wait_for("the message says what came of it", |world| {
        let now = world.message(message.chat, message.id)?;
        (now.text.contains(text) && now.labels().is_empty()).then_some(())
    });
}

#[test]
fn in_ten_minutes_makes_one_new_reminder_however_often_it_is_tapped() {
    let (rig, gateway, told) = reminded();
    let (again, tomorrow) = (data(&told, AGAIN), data(&told, "Tomorrow"));
    let first = rig.anna.forges_tap(told.chat, told.id, &again);
    let second = rig.anna.forges_tap(told.chat, told.id, &again);
    assert_eq!(rig.telegram.wait_answered(&first).0, "Said again in 10 minutes.");
    assert!(rig.telegram.wait_answered(&second).0.contains("answered already"));
    rig.hears("Reminder 2: ");
    says_now(&rig, &told, "Said again in 10 minutes.");
    let phone = rig.telegram.screen(rig.anna.id);
    let time = regex::Regex::new(r"\b[A-Z][a-z]+day 20\d\d-\d\d-\d\d \d\d:\d\d(:\d\d)?").unwrap();
    insta::assert_snapshot!("on_the_phone", time.replace_all(&phone, "WHEN"));
    assert!(taps(&rig, &told, &tomorrow).contains("answered already"));
    drop(gateway);
    let late = rig.anna.forges_tap(told.chat, told.id, &again);
    let gateway = rig.start();
    assert!(rig.telegram.wait_answered(&late).0.contains("answered already"));
    assert_eq!(rig.jobs(), 1, "one new reminder");
    rig.minutes_pass(10);
    eventually("it is told once more", || rig.told("⏰ call mum") == 2);
    drop(gateway);
    let audit = rig.house.audit();
    let by_button =
        |row: &&serde_json::Value| row["kind"] == "received" && row["body"]["origin"] == "button";
    assert_eq!(audit.iter().filter(by_button).count(), 1, "through the gate, once");
    rig.house.is_whole();
}

#[test]
fn done_marks_the_message_and_makes_nothing() {
    let (rig, gateway, told) = reminded();
    assert_eq!(taps(&rig, &told, &data(&told, "Done")), "Done.");
    says_now(&rig, &told, "Done.");
    assert!(taps(&rig, &told, &data(&told, AGAIN)).contains("answered already: Done."));
    let bob = rig.telegram.user("Bob");
    let tap = bob.forges_tap(told.chat, told.id, &data(&told, AGAIN));
    assert!(rig.telegram.wait_answered(&tap).0.contains("Only the owner"));
    assert!(taps(&rig, &told, "m:10m:j9.9-9").contains("Nobody knows this reminder"));
    rig.says("/remind again 10m");
    rig.hears("waits for an answer");
    assert_eq!(rig.jobs(), 0);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn tomorrow_is_the_same_time_of_day_and_again_is_typed_where_there_are_no_buttons() {
    let (rig, gateway, told) = reminded();
    assert_eq!(taps(&rig, &told, &data(&told, "Tomorrow")), "Said again tomorrow.");
    rig.hears("Reminder 2: ");
    let made = rig.house.claw(&["schedule", "show", "2", "--json"]).expect(0).json();
    assert_eq!((&made["say"], &made["repeats"]), (&"call mum".into(), &false.into()));
    rig.minutes_pass(2 * 24 * 60);
    // Two days late: with what is said of that.
    let late = rig.waits_for("when claw was not running or was stopped");
    assert_eq!(late.labels().concat().len(), 3, "it can be answered, too");
    rig.says("/remind again soon");
    rig.hears("/remind again tomorrow 9:00");
    rig.says("/remind again 20m");
    rig.hears("Reminder 3: ");
    rig.says("/remind again 20m");
    rig.hears("waits for an answer");
    assert_eq!(rig.jobs(), 1);
    drop(gateway);
    rig.house.is_whole();
}
