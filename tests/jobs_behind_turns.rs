//! Tasks that come due while their conversation is in a turn, over the whole program with the real
//! scheduler: each waits until that is over, can be cancelled until then, and begins once.

use crate::jobs_rig::{JobsRig as _, jobs_of, minutes_pass, schedule};
use crate::program::{House, SERVER_WAIT, eventually};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use rustix::process::Signal;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;

const WORDS: &str = "Drink tea.";
/// A day that is far away.
const FAR: &str = "0 0 29 2 *";

/// The model asks to write a file, and then answers so.
fn rig(answers: &[&str]) -> Rig {
    let file = json!({"path": "a.txt", "content": "1"}).to_string();
    let writes = Turn::calls(&[Call::new("1", "filesystem__write_file", &file)]);
    let answers = answers.iter().map(|text| Answer::text(text));
    let rig = Rig::new([Answer::Turn(writes)].into_iter().chain(answers));
    rig.house.write("claw.toml", SERVER_WAIT);
    rig.anna.starts();
    rig
}

/// A task of this chat, and words by which it is seen that claw has looked.
fn task_and_words(rig: &Rig) -> [String; 2] {
    let session = rig.session();
    let task = json!({"text": "Look after the plants.", "cron": FAR, "session": session});
    let words = json!({"say": WORDS, "cron": FAR, "session": session});
    [task, words].map(|fields| schedule(&rig.house, fields))
}

fn fires(rig: &Rig, job: &str) {
    assert!(jobs_of(&rig.house).fire(job).is_ok(), "{job}");
}

/// Until claw has seen to all that is due by now: the second look begins when the first has ended.
fn looks(rig: &Rig, words: &str) {
    for _ in 0..2 {
        let told = rig.told(WORDS);
        fires(rig, words);
        eventually("the words are told", || rig.told(WORDS) > told);
    }
}

/// Turns of the task that have begun or wait to.
fn begun(rig: &Rig) -> i64 {
    rig.number("SELECT count(*) FROM inbox WHERE body LIKE '%Look after the plants%'")
}

fn turn_waits_for_an_answer(rig: &Rig) {
    rig.says("write a file");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
}

#[test]
fn a_task_that_waits_behind_a_turn_is_cancelled_and_does_not_run() {
    let rig = rig(&["No file then."]);
    let [task, words] = task_and_words(&rig);
    let gateway = rig.start();
    turn_waits_for_an_answer(&rig);
    fires(&rig, &task);
    looks(&rig, &words);
    eventually("the words are taken", || rig.taken() == 2);
    assert_eq!(begun(&rig), 0, "it is still due");
    let listed = rig.house.claw(&["schedule"]).expect(0).out;
    assert!(listed.contains("waits for the end of the turn in the session"), "{listed}");
    let number = task.trim_start_matches('j');
    let said = rig.house.claw(&["schedule", "cancel", number]).expect(0).out;
    assert!(said.starts_with("Cancelled: "), "{said}");
    rig.anna.taps(rig.anna.id, "Deny");
    rig.hears("No file then.");
    looks(&rig, &words);
    eventually("the words are taken", || rig.taken() == 4);
    drop(gateway);
    assert_eq!((begun(&rig), rig.model.recorded().len()), (0, 2));
    let history = rig.house.claw(&["schedule", "history"]).expect(0).out;
    assert_eq!(history.matches("was taken back").count(), 1, "{history}");
    rig.house.is_whole();
}

#[test]
fn a_task_that_waits_behind_a_turn_is_cancelled_also_after_the_gateway_was_stopped() {
    let gate = Arc::new(Semaphore::new(0));
    let rig = Rig::new([Answer::Gated(Turn::text("Never said."), gate)]);
    rig.house.write("claw.toml", SERVER_WAIT);
    rig.anna.starts();
    let [task, words] = task_and_words(&rig);
    let gateway = rig.start();
    rig.says("think");
    eventually("the model is asked", || rig.model.recorded().len() == 1);
    fires(&rig, &task);
    looks(&rig, &words);
    gateway.signal(Signal::TERM);
    gateway.ends();
    assert_eq!(begun(&rig), 0, "it is still due");
    let number = task.trim_start_matches('j');
    let said = rig.house.claw(&["schedule", "cancel", number]).expect(0).out;
    assert!(said.starts_with("Cancelled: "), "{said}");
    rig.house.is_whole();
}

#[test]
fn a_job_that_has_ended_with_its_only_time_is_cancelled_while_that_waits() {
    let house = House::new();
    let once = schedule(&house, json!({"text": "Look after the plants.", "in_minutes": 60}));
    minutes_pass(&house, 60);
    let cancel = ["schedule", "cancel", once.trim_start_matches('j')];
    let said = house.claw(&cancel).expect(0).out;
    assert!(said.starts_with("Cancelled: "), "{said}");
    let history = house.claw(&["schedule", "history"]).expect(0).out;
    assert!(history.contains("was taken back"), "{history}");
    house.claw(&cancel).expect_mistake(&["no job"]);
    house.is_whole();
}

#[test]
fn a_task_waits_behind_a_turn_and_begins_once_when_that_is_over_also_after_a_kill() {
    let rig = rig(&["It is written.", "They are green."]);
    let [task, words] = task_and_words(&rig);
    let gateway = rig.start();
    turn_waits_for_an_answer(&rig);
    fires(&rig, &task);
    looks(&rig, &words);
    assert_eq!(begun(&rig), 0, "it is still due");
    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = rig.start();
    looks(&rig, &words);
    assert_eq!(begun(&rig), 0, "it is due as before");
    rig.anna.taps(rig.anna.id, "Allow once");
    rig.waits_for("It is written.");
    rig.hears("They are green.");
    eventually("all are taken", || rig.taken() == 5);
    looks(&rig, &words);
    drop(gateway);
    assert_eq!((begun(&rig), rig.model.recorded().len()), (1, 3));
    rig.house.is_whole();
}
