//! A question that another process has put into the session of an open console.

use serde_json::json;

use crate::program::{House, eventually};
use crate::pty::Pty;
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
    // Its prompt waits for a line, and what is typed there changes nothing any more.
    asking.types("n\n");
    asking.shows("It is done.");
    assert_eq!(house.in_workspace("effects"), "once\n");
    house.is_whole();
}
