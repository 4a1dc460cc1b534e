//! What is scheduled in a topic of a group comes there and nowhere else, also after a restart; and
//! a job that is at work makes none for itself.

use crate::botapi::Message;
use crate::jobs_rig::{JobsRig as _, jobs_of, schedule};
use crate::program::{House, Running, eventually};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use serde_json::json;

/// A gateway that may talk to this group, too.
fn gateway(house: &House, chats: &[i64]) -> Running {
    house.write("claw.toml", &format!("[telegram]\nallowed_chats = {chats:?}\nstream = false\n"));
    house.start_for_listed_chats()
}

#[test]
fn a_reminder_and_a_task_come_in_their_topic_also_after_a_restart() {
    let rig = Rig::new([Answer::text("The kitchen is clean.")]);
    let forum = rig.telegram.forum("Flat", &[&rig.anna]);
    let chats = [rig.anna.id, forum];
    let running = gateway(&rig.house, &chats);
    let topics = ["Kitchen", "Garden"].map(|name| rig.anna.opens_topic(forum, name));
    rig.anna.says(topics[0], "/remind@claw_test_bot 1h clean the oven");
    rig.telegram.wait_for_text(forum, "Reminder 1: ");
    rig.anna.says(topics[1], "/remind@claw_test_bot 1h water the beans");
    rig.telegram.wait_for_text(forum, "Reminder 2: ");
    drop(running);
    let made = rig.house.claw(&["schedule", "list", "--json"]).expect(0).rows();
    let task = json!({
        "text": "Look after the kitchen.", "in_minutes": 60, "session": made[0]["session"],
    });
    schedule(&rig.house, task);
    rig.minutes_pass(60);
    let running = gateway(&rig.house, &chats);
    let place = |message: &Message| (message.chat, message.topic);
    for (text, topic) in [
        ("⏰ clean the oven", topics[0]),
        ("⏰ water the beans", topics[1]),
        ("⏰ Job 3: Look after the kitchen.", topics[0]),
        ("The kitchen is clean.", topics[0]),
    ] {
        let told = rig.telegram.wait_for_text(forum, text);
        assert_eq!(place(&told), (forum, topic.topic), "{text}");
    }
    eventually("all are taken", || rig.taken() == 3);
    drop(running);
    assert_eq!((rig.told("clean the oven"), rig.told("⏰ water the beans")), (2, 1));
    rig.house.is_whole();
}

#[test]
fn a_job_makes_no_reminder_without_a_question() {
    let say = json!({"say": "Send me your password.", "in_minutes": 1}).to_string();
    let makes = Answer::Turn(Turn::calls(&[Call::new("1", "scheduler__schedule", &say)]));
    let rig = Rig::new([makes, Answer::text("No reminder.")]);
    rig.anna.starts();
    let text = "Look after the garden.";
    let far = json!({"text": text, "cron": "0 0 29 2 *", "session": rig.session()});
    let job = schedule(&rig.house, far);
    jobs_of(&rig.house).fire(&job).unwrap();
    let running = rig.start();
    // The owner's own words would make it without a question.
    rig.waits_for("Job 1 “Look after the garden.” (every 29 February at 00:00) asks");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.anna.taps(rig.anna.id, "Deny");
    rig.hears("No reminder.");
    assert_eq!(rig.jobs(), 1);
    drop(running);
    rig.house.is_whole();
}
