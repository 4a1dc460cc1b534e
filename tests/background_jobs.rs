//! Jobs in the background through the whole program: they go on while a turn ends and another one begins, looking at them asks
//! nobody, and nothing of them outlives claw.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod program;
mod wires;

use program::{House, Running, alive, eventually, pid_in};
use serde_json::json;
use wires::threaded::Threaded;
use wires::{Answer, Call, Turn, Wire};

const ALLOW: &str =
    "[[rule]]\nserver = \"bash\"\ntool = \"start\"\ndecision = \"allow\"\nwhy = \"this test starts jobs\"\n";

fn calls(tool: &str, arguments: serde_json::Value) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("1", &format!("bash__{tool}"), &arguments.to_string())]))
}

/// A chat in which a job was started that has written its number to `pid`.
fn started(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded, Running, u32) {
    let provider = Threaded::start(Wire::Anthropic, answers);
    let house = House::at("claude", &provider.base_url);
    house.write("policy.toml", ALLOW);
    let mut chat = house.start(&["chat"]);
    chat.types(b"start it\n");
    let mut pid = None;
    eventually("the job runs", || {
        pid = pid_in(&house.workspace().join("pid"));
        chat.out().contains("It runs.") && pid.is_some()
    });
    (house, provider, chat, pid.unwrap())
}

#[test]
fn a_job_goes_on_between_turns_and_ends_with_claw() {
    let answers = [
        calls("start", json!({"command": "echo $$ > pid; mkfifo go; cat go; echo heard"})),
        Answer::text("It runs."),
        calls("output", json!({"job": 1, "wait_s": 60})),
        Answer::text("It has heard."),
        calls("list", json!({})),
        Answer::text("That is all."),
    ];
    let (house, provider, mut chat, pid) = started(answers);
    eventually("the pipe is there", || house.workspace().join("go").exists());
    std::fs::write(house.workspace().join("go"), "word\n").unwrap();
    chat.types(b"look\n");
    eventually("the output is seen", || chat.out().contains("It has heard."));
    let told = provider.recorded()[3].body.to_string();
    assert!(told.contains("word\\nheard") || told.contains("word\\\\nheard"), "{told}");
    chat.types(b"list\n");
    eventually("the list is seen", || chat.out().contains("That is all."));
    assert!(provider.recorded()[5].body.to_string().contains("exit code 0"));
    chat.ends().expect(0);
    eventually("nothing is left", || !alive(pid));
    house.is_whole();
}

#[test]
fn a_job_that_runs_is_ended_when_claw_is_killed() {
    let answers = [calls("start", json!({"command": "echo $$ > pid; mkfifo go; cat go"})), Answer::text("It runs.")];
    let (_house, _provider, chat, pid) = started(answers);
    assert!(alive(pid));
    chat.signal(rustix::process::Signal::KILL);
    eventually("nothing is left", || !alive(pid));
}
