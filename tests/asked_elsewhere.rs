//! A question that one process has put to a person, and another one has answered: at an open
//! console, by a command, in Telegram.

use rustix::process::Signal;
use serde_json::json;

use crate::program::{House, eventually};
use crate::pty::Pty;
use crate::telegram_model::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const EFFECT: &str = "echo once >> effects";

#[test]
fn what_another_process_asks_in_this_session_is_asked_and_answered_at_the_console() {
    let arguments = json!({"command": EFFECT, "needs": "write"}).to_string();
    let call = Call::new("call-1", "bash__run", &arguments);
    let answers = [Answer::Turn(Turn::calls(&[call])), Answer::text("It is done.")];
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    let mut console = Pty::start(&house, &["chat"]);
    console.shows("lists the commands").shows("> ");
    // It waits at its own prompt.
    let mut asking = Pty::start(&house, &["ask", "--session", "main", "Go ahead"]);
    asking.shows(EFFECT);
    console.shows(EFFECT).shows(" yes");
    // What comes faster than anybody reads is no answer.
    eventually("it is answered", || {
        console.types("y");
        house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
    });
    eventually("it has run", || house.in_workspace("effects") == "once\n");
    // Its prompt has closed by itself, and says why.
    asking.shows("claw: the question about bash/run was allowed once, from another terminal.");
    asking.shows("It is done.");
    assert_eq!(house.in_workspace("effects"), "once\n");
    house.is_whole();
}

fn effect() -> Answer {
    let arguments = json!({"command": EFFECT, "needs": "write"}).to_string();
    Answer::Turn(Turn::calls(&[Call::new("call-1", "bash__run", &arguments)]))
}

#[test]
fn a_prompt_closes_by_itself_when_a_command_answers_and_what_was_being_typed_is_for_nobody() {
    let model = Threaded::start(Wire::OpenAi, [effect(), effect(), Answer::text("Then not.")]);
    let house = House::at("openai-compatible", &model.base_url);
    let mut asking = Pty::start(&house, &["ask", "Go ahead"]);
    asking.shows(EFFECT).shows("> ");
    asking.keys("y");
    let denied = house.claw(&["deny", &house.waiting(), "use", "b"]);
    assert!(matches!(denied.code, Some(0 | 3)), "{denied:?}");
    asking.shows("claw: the question about bash/run was denied (“use b”), from another terminal.");
    // What was begun for it is no answer to the next one.
    asking.shows(EFFECT).shows("> ");
    asking.types("");
    asking.shows("Please answer with one of the letters above");
    asking.types("n");
    asking.shows("Then not.");
    asking.ends(0);
    assert_eq!(house.in_workspace("effects"), "");
    house.is_whole();
}

#[test]
fn a_command_that_answers_shows_the_reply_also_behind_a_second_question() {
    let model = Threaded::start(Wire::OpenAi, [effect(), effect(), Answer::text("It is done.")]);
    let house = House::at("openai-compatible", &model.base_url);
    // Whoever asks is gone when it is answered.
    let id = house.ask_parks("Go ahead");
    let mut approving = Pty::start(&house, &["approve", &id]);
    approving.shows(EFFECT).shows("> ");
    approving.types("y");
    approving.shows("It is done.");
    approving.ends(0);
    assert_eq!(house.in_workspace("effects"), "once\nonce\n");
    // It was shown, so nothing is left for the next command.
    model.push(Answer::text("Hello."));
    let next = house.claw(&["ask", "Hi"]).expect(0);
    assert!(!next.err.contains("It is done."), "{next:?}");
    house.is_whole();
}

#[test]
fn ctrl_c_at_a_question_of_a_command_ends_the_turn() {
    let model = Threaded::start(Wire::OpenAi, [effect(), Answer::text("Never said.")]);
    let house = House::at("openai-compatible", &model.base_url);
    let mut asking = Pty::start(&house, &["ask", "Go ahead"]);
    asking.shows(EFFECT).shows("> ");
    asking.signals(Signal::INT);
    asking.shows("Stopping…").shows("bash/run was closed: the turn is stopped.").shows("Stopped.");
    asking.ends(130);
    assert!(house.claw(&["approvals", "--json"]).expect(0).rows().is_empty());
    assert_eq!(house.in_workspace("effects"), "");
    house.is_whole();
}

#[test]
fn a_prompt_closes_by_itself_when_telegram_answers() {
    let rig = Rig::new([Answer::text("Hello."), effect(), Answer::text("It is done.")]);
    let (telegram, anna, house) = (&rig.telegram, &rig.anna, &rig.house);
    let _gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "Hi");
    telegram.wait_for_text(anna.id, "Hello.");
    let sessions = house.claw(&["sessions", "--json"]).expect(0).rows();
    let session = sessions[0]["id"].as_str().unwrap();
    let mut asking = Pty::start(house, &["ask", "--session", session, "Go ahead"]);
    asking.shows(EFFECT).shows("> ");
    anna.says(anna.private(), "/approvals");
    telegram.wait_for_button(anna.id, "Allow once");
    anna.taps(anna.private(), "Allow once");
    let by = format!("was allowed once by the Telegram user {}.", anna.id);
    asking.shows("claw: the question about bash/run").shows(&by);
    eventually("it has run", || house.in_workspace("effects") == "once\n");
    asking.ends(0);
}
