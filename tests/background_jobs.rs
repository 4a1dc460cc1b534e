//! Jobs in the background through the whole program: they go on while a turn ends and another one
//! begins, looking at them asks nobody, and nothing of them outlives claw.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::{House, Running, alive, eventually, pid_in};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

const ALLOW: &str = "[[rule]]\nserver = \"bash\"\ntool = \"start\"\ndecision = \"allow\"\nwhy = \"this test starts jobs\"\n";

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
        calls(
            "start",
            json!({"command": "echo $$ > pid; mkfifo go; cat go; echo heard", "needs": "write"}),
        ),
        Answer::text("It runs."),
        calls("output", json!({"job": 1, "wait_s": 60})),
        Answer::text("It has heard."),
        calls("list", json!({})),
        Answer::text("That is all."),
    ];
    let (house, provider, mut chat, pid) = started(answers);
    eventually("the pipe is there", || house.workspace().join("go").exists());
    std::fs::write(house.workspace().join("go"), "word\n").unwrap();
    // A look takes what is there, which may be less than all while it runs.
    status_counts(&mut chat, 0);
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
fn a_stop_and_leaving_name_the_jobs_that_run() {
    let answers = [
        calls("start", json!({"command": "echo $$ > pid; mkfifo go; cat go", "needs": "write"})),
        Answer::text("It runs."),
    ];
    let (_house, _provider, mut chat, pid) = started(answers);
    status_counts(&mut chat, 1);
    chat.types(b"/stop\n");
    eventually("the stop says what goes on", || {
        let out = chat.out();
        out.contains("No turn is running; 1 background job goes on.") && out.contains("/stop jobs")
    });
    let left = chat.ends().expect(0);
    assert!(left.err.contains("1 background job ends with this chat."), "{left:?}");
    eventually("nothing is left", || !alive(pid));
}

/// Asks for the status until it counts so many jobs: the number is told beside the result of the
/// call.
fn status_counts(chat: &mut Running, jobs: u32) {
    eventually(&format!("{jobs} background jobs in the status"), || {
        let answers = |chat: &Running| chat.out().matches("servers: ").count();
        let before = answers(chat);
        chat.types(b"/status\n");
        // The line about servers stands behind the one about jobs.
        eventually("the status is answered", || answers(chat) > before);
        let out = chat.out();
        let (_, newest) = out.rsplit_once("background jobs: ").unwrap();
        newest.split_whitespace().next() == Some(&jobs.to_string())
    });
}

#[test]
fn the_status_counts_the_jobs_that_run() {
    let waits = |pipe: &str| json!({"command": format!("echo $$ > pid; mkfifo {pipe}; cat {pipe}"), "needs": "write"});
    let answers = [
        calls("start", waits("go")),
        Answer::text("It runs."),
        calls("start", waits("on")),
        Answer::text("Again."),
    ];
    let (house, _provider, mut chat, _) = started(answers);
    status_counts(&mut chat, 1);
    eventually("the pipe is there", || house.workspace().join("go").exists());
    std::fs::write(house.workspace().join("go"), "word\n").unwrap();
    status_counts(&mut chat, 0);
    chat.types(b"once more\n");
    eventually("another job runs", || chat.out().contains("Again."));
    status_counts(&mut chat, 1);
    // A server that dies takes its jobs along, and can tell nobody.
    let mut server = None;
    eventually("the status names the server's process", || {
        let out = chat.out();
        let behind =
            out.rsplit_once("`bash`: up (process ").and_then(|(_, behind)| behind.split_once(','));
        server = behind.and_then(|(pid, _)| pid.parse().ok());
        server.is_some()
    });
    let server = rustix::process::Pid::from_raw(server.unwrap()).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::KILL).unwrap();
    status_counts(&mut chat, 0);
    chat.ends().expect(0);
    house.is_whole();
}

#[test]
fn a_job_that_runs_is_ended_when_claw_is_killed() {
    let answers = [
        calls("start", json!({"command": "echo $$ > pid; mkfifo go; cat go", "needs": "write"})),
        Answer::text("It runs."),
    ];
    let (_house, _provider, chat, pid) = started(answers);
    assert!(alive(pid));
    chat.signal(rustix::process::Signal::KILL);
    eventually("nothing is left", || !alive(pid));
}
