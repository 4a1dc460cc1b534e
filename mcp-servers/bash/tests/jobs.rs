//! Jobs in the background: they outlive the call that started them and nothing else; what they
//! write is there once; several calls side by side do not wait for each other.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use common::{FAMILY, House, Server, alive, eventually, family_of};
use serde_json::{Value, json};

fn call(server: &mut Server, tool: &str, arguments: Value) -> Value {
    server.request("tools/call", json!({"name": tool, "arguments": common::widest(arguments)}))["result"].take()
}

/// The facts of a call that went well.
#[track_caller]
fn facts(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let mut result = call(server, tool, arguments);
    assert_eq!(result["isError"], false, "{result:#}");
    result["structuredContent"].take()
}

#[track_caller]
fn refused(server: &mut Server, tool: &str, arguments: Value, why: &str) {
    let result = call(server, tool, arguments);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(result["isError"] == true && text.contains(why), "{result:#}");
}

#[test]
fn a_job_goes_on_while_other_commands_run_and_its_output_is_there_once() {
    let house = House::new();
    let mut server = house.server();
    let started = facts(
        &mut server,
        "start",
        json!({"command": "echo one; mkfifo go; cat go; echo two; exit 3"}),
    );
    assert_eq!((&started["job"], &started["running"]), (&json!(1), &json!(true)));
    let mut seen = started["output"].as_str().unwrap().to_owned();
    while !seen.contains("one\n") {
        seen.push_str(
            facts(&mut server, "output", json!({"job": 1, "wait_s": 60}))["output"]
                .as_str()
                .unwrap(),
        );
    }
    assert_eq!(
        facts(&mut server, "output", json!({"job": 1}))["output"],
        "",
        "it was looked at already"
    );
    // The pipe is opened by both ends at the same time, so this could not end while the job was
    // waited for.
    assert_eq!(server.output("until [ -p go ]; do :; done; echo three > go; echo free"), "free\n");
    let mut rest = String::new();
    let end = loop {
        let look = facts(&mut server, "output", json!({"job": 1, "wait_s": 60}));
        rest.push_str(look["output"].as_str().unwrap());
        if look["running"] == false {
            break look;
        }
    };
    assert_eq!((rest.as_str(), &end["exit_code"]), ("three\ntwo\n", &json!(3)));
    let file = std::fs::read_to_string(end["output_file"].as_str().unwrap()).unwrap();
    assert_eq!(file, "one\nthree\ntwo\n");
    let listed = facts(&mut server, "list", json!({}));
    assert_eq!(
        (listed["jobs"].as_array().unwrap().len(), &listed["jobs"][0]["exit_code"]),
        (1, &json!(3))
    );
}

/// The next number of running jobs that the server tells without being asked.
fn told(server: &mut Server) -> Value {
    loop {
        let kept = !server.notifications.is_empty();
        let mut message = if kept { server.notifications.remove(0) } else { server.next_message() };
        if message["method"] == "notifications/claw/background_jobs" {
            return message["params"].take();
        }
    }
}

#[test]
fn the_client_is_told_how_many_jobs_run_whenever_that_changes() {
    let house = House::new();
    let mut server = house.server();
    facts(&mut server, "start", json!({"command": "mkfifo go; cat go"}));
    assert_eq!(told(&mut server), json!({"running": 1}));
    facts(&mut server, "start", json!({"command": "exec sleep 300"}));
    assert_eq!(told(&mut server), json!({"running": 2}));
    facts(&mut server, "stop", json!({"job": 2}));
    assert_eq!(told(&mut server), json!({"running": 1}));
    assert_eq!(server.output("until [ -p go ]; do :; done; echo word > go; echo free"), "free\n");
    assert_eq!(
        told(&mut server),
        json!({"running": 0}),
        "nobody has asked for the end of this one"
    );
}

#[test]
fn a_look_that_waits_holds_up_no_other_call() {
    let house = House::new();
    let mut server = house.server();
    facts(&mut server, "start", json!({"command": "mkfifo go; cat go"}));
    let waits =
        server.post("tools/call", json!({"name": "output", "arguments": {"job": 1, "wait_s": 60}}));
    assert_eq!(server.output("echo free"), "free\n");
    assert_eq!(server.output("until [ -p go ]; do :; done; echo now > go"), "");
    let early = server.notifications.iter().position(|message| message["id"] == waits);
    let mut answer =
        early.map(|at| server.notifications.remove(at)).unwrap_or_else(|| server.answer(waits));
    let looked = answer["result"]["structuredContent"].take();
    assert_eq!(looked["output"], "now\n");
}

/// The last byte of what the job has written begins a character, so no look gives it.
#[test]
fn a_look_waits_for_the_rest_of_a_character() {
    let house = House::new();
    let mut server = house.server();
    let waits = "printf 'x\\303'; mkfifo go; cat go";
    let started = facts(&mut server, "start", json!({ "command": waits }));
    let mut seen = started["output"].as_str().unwrap().to_owned();
    while seen.is_empty() {
        let look = facts(&mut server, "output", json!({"job": 1, "wait_s": 60}));
        seen = look["output"].as_str().unwrap().to_owned();
    }
    assert_eq!(seen, "x");
    let waits =
        server.post("tools/call", json!({"name": "output", "arguments": {"job": 1, "wait_s": 60}}));
    // Whoever does not wait has answered before that.
    assert_eq!(server.output("until [ -p go ]; do :; done; echo free"), "free\n");
    assert!(!server.notifications.iter().any(|message| message["id"] == waits), "it has waited");
    assert_eq!(server.output("printf '\\251\\n' > go"), "");
    let early = server.notifications.iter().position(|message| message["id"] == waits);
    let mut answer =
        early.map(|at| server.notifications.remove(at)).unwrap_or_else(|| server.answer(waits));
    let looked = answer["result"]["structuredContent"].take();
    assert_eq!(looked["output"], "\u{e9}\n");
}

#[test]
fn a_stop_kills_the_whole_family_and_says_so() {
    let house = House::new();
    let mut server = house.server();
    facts(&mut server, "start", json!({"command": format!("{FAMILY} wait")}));
    let pids = family_of(&house);
    let ended = facts(&mut server, "stop", json!({"job": 1}));
    assert_eq!((&ended["running"], &ended["signal"]), (&json!(false), &json!("SIGKILL")));
    assert!(!pids.iter().any(|pid| alive(*pid)), "{pids:?}");
    facts(&mut server, "stop", json!({"job": 1}));
}

#[test]
fn a_job_ends_with_its_server_however_that_ends() {
    for kill in [false, true] {
        let house = House::new();
        let mut server = house.server();
        facts(&mut server, "start", json!({"command": format!("{FAMILY} wait")}));
        let pids = family_of(&house);
        if kill {
            server.child.kill().unwrap();
        } else {
            server.close_stdin();
            assert_eq!(server.exit_code(), Some(0));
        }
        eventually("the job is gone", || !pids.iter().any(|pid| alive(*pid)));
    }
}

#[test]
fn what_cannot_be_is_said_so_that_a_model_can_act() {
    let house = House::new();
    let mut server = house.server_with(&["--background-max", "1"]);
    refused(&mut server, "start", json!({"command": " "}), "The command is empty");
    // A folder that is none is found out by the job itself.
    let (ended, _) = server.ended_job(common::widest(json!({"command": "pwd", "cwd": "../.."})));
    let text = ended["content"][0]["text"].as_str().unwrap();
    assert!(ended["isError"] == true && text.contains("cwd"), "{ended:#}");
    refused(&mut server, "output", json!({"job": 7}), "there is no job 7");
    refused(
        &mut server,
        "output",
        json!({"job": 1, "wait_s": 61}),
        "wait_s must be between 0 and 60",
    );
    refused(&mut server, "stop", json!({}), "missing field `job`");
    refused(&mut server, "list", json!({"all": true}), "unknown field");
    facts(&mut server, "start", json!({"command": "mkfifo go; cat go"}));
    refused(
        &mut server,
        "start",
        json!({"command": "echo too many"}),
        "1 job is running already; stop it first",
    );
    let unknown = server.request("tools/call", json!({"name": "restart", "arguments": {}}));
    assert!(
        unknown["error"]["message"]
            .as_str()
            .unwrap()
            .contains("only run, start, output, stop, list"),
        "{unknown}"
    );
}

#[test]
fn of_too_much_output_the_newest_is_shown_and_the_file_has_all() {
    let house = House::new();
    let mut server = house.server();
    facts(&mut server, "start", json!({"command": "mkfifo go; cat go; seq 1 20000; cat go"}));
    server.output("until [ -p go ]; do :; done; echo > go");
    eventually("all is written", || {
        facts(&mut server, "list", json!({}))["jobs"][0]["output_bytes"] == 108_895
    });
    let look = facts(&mut server, "output", json!({"job": 1}));
    assert!(look["output"].as_str().unwrap().ends_with("\n19999\n20000\n"), "{look:#}");
    assert!(
        look["left_out_bytes"].as_u64().unwrap() > 50_000
            && look["output"].as_str().unwrap().len() <= 8 * 1024
    );
    let file = look["output_file"].as_str().unwrap();
    assert_eq!(std::fs::metadata(file).unwrap().len(), 108_895);
}
