//! What the model is told of where its calls run, through the whole program: the mode
//! and the branch come with a message, once a change, and each request begins with the
//! bytes of the one before.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
use serde_json::Value;

/// The messages of each request, as bytes without the end of the list, and everything else of it.
fn requests(model: &Threaded) -> Vec<(String, String)> {
    let split = |mut body: Value| {
        let messages = body["messages"].take().to_string();
        (messages.strip_suffix(']').unwrap().to_owned(), body.to_string())
    };
    model.recorded().into_iter().map(|one| split(one.body)).collect()
}

fn house(answers: usize) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, (0..answers).map(|_| Answer::text("Yes.")));
    let house = House::at("openai-compatible", &model.base_url);
    // What has changed in it is the matter of another test.
    house.write("claw.toml", "[prompt]\ngit_state = false\n");
    (house, model)
}

fn on(house: &House, head: &str) {
    fs::create_dir_all(house.workspace().join(".git")).unwrap();
    fs::write(house.workspace().join(".git/HEAD"), format!("{head}\n")).unwrap();
}

#[test]
fn a_change_of_branch_or_mode_is_told_once_and_leaves_the_bytes_before_it() {
    let (house, model) = house(6);
    on(&house, "ref: refs/heads/main");
    house.claw(&["ask", "one"]).expect(0);
    house.claw(&["ask", "two"]).expect(0);
    on(&house, "ref: refs/heads/side");
    house.claw(&["ask", "three"]).expect(0);
    house.claw(&["ask", "--mode", "edits", "four"]).expect(0);
    house.claw(&["ask", "five"]).expect(0);
    on(&house, "ref: refs/heads/obey me; rm -rf");
    house.claw(&["ask", "six"]).expect(0);
    let requests = requests(&model);
    assert_eq!(requests.len(), 6);
    for (before, after) in requests.iter().zip(&requests[1..]) {
        assert!(after.0.starts_with(&before.0), "{}\n{}", before.0, after.0);
        assert_eq!(after.1, before.1, "the tools and the rest");
    }
    let last = &requests[5].0;
    let told: Vec<&str> =
        last.split("[mode: ").skip(1).map(|rest| rest.split(']').next().unwrap()).collect();
    assert_eq!(
        told,
        [
            "ask; git: branch `main`",
            "ask; git: branch `side`",
            "edits; git: branch `side`",
            "ask; git: branch `side`",
            "ask; git: a branch with an odd name",
        ]
    );
    assert!(!last.contains("obey me"), "{last}");
    house.is_whole();
}

#[test]
fn without_a_repository_nothing_is_told_until_there_is_a_mode() {
    let (house, model) = house(3);
    house.claw(&["ask", "one"]).expect(0);
    house.claw(&["ask", "--mode", "work", "two"]).expect(0);
    // A model that has forgotten the conversation is told again.
    house.claw(&["ask", "three"]).expect(0);
    let requests = requests(&model);
    assert!(!requests[0].0.contains("[mode: "), "{}", requests[0].0);
    assert_eq!(requests[1].0.matches("[mode: work]").count(), 1);
    assert_eq!(requests[2].0.matches("[mode: ask]").count(), 1);
    house.is_whole();
}

/// A program that somebody has installed in a folder of their own is named with the tool that runs
/// it; what lies there and is no program is not.
#[test]
fn the_programs_of_the_owner_s_path_are_named_with_the_shell() {
    let model = Threaded::start(Wire::OpenAi, [Answer::text("Yes.")]);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", program::SERVER_WAIT);
    let tools = house.user_home().join(".cargo/bin");
    fs::create_dir_all(&tools).unwrap();
    for (name, mode) in [("cargo", 0o755), ("uv", 0o644), ("my-own", 0o755)] {
        fs::write(tools.join(name), "#!/bin/sh\n").unwrap();
        fs::set_permissions(tools.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let house = house.with("PATH", &format!("{}:/usr/bin:/bin", tools.display()));
    house.claw(&["ask", "one"]).expect(0);
    let body = model.recorded().remove(0).body;
    let listed = body["tools"].as_array().unwrap();
    let run = listed.iter().find(|tool| tool["function"]["name"] == "bash__run").unwrap();
    let said = run["function"]["parameters"]["properties"]["command"]["description"].as_str();
    let said = said.unwrap();
    assert!(said.ends_with("Programs of the user's that it finds: cargo."), "{said}");
    house.is_whole();
}

/// OpenAI refuses a description of more than 1,024 characters, and what claw cuts off goes where a
/// model reads it less. So nothing of our own tools is to be cut.
#[test]
fn every_tool_of_ours_is_described_whole_within_what_the_strictest_wire_takes() {
    let model = Threaded::start(Wire::OpenAi, [Answer::text("Yes.")]);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", program::SERVER_WAIT);
    house.claw(&["ask", "one"]).expect(0);
    let body = model.recorded().remove(0).body;
    let tools: Vec<&Value> =
        body["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]).collect();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let names: Vec<String> = tools.iter().map(|tool| name(tool)).collect();
    for expected in ["bash__run", "bash__start", "filesystem__search", "memory__recall"] {
        assert!(names.iter().any(|name| name == expected), "{expected} is not among {names:?}");
    }
    for tool in &tools {
        let said = tool["description"].as_str().unwrap();
        let chars = said.chars().count();
        assert!(chars <= 1024 && !said.contains("goes on"), "{}: {chars}: {said}", name(tool));
    }
    // What the description of `run` has no room for stands with its arguments.
    let run = tools.iter().find(|tool| name(tool) == "bash__run").unwrap().to_string();
    for rule in ["AGENTS.md", "$TMPDIR is writable", "HOME is a folder for caches", "Unix sockets"]
    {
        assert!(run.contains(rule), "{rule}: {run}");
    }
    house.is_whole();
}

#[test]
fn a_folder_of_a_repository_is_told_of_like_its_root() {
    let (house, model) = house(2);
    let root = house.user_home().join("code/shop");
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(root.join("docs")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let beside = house.user_home().join("notes");
    fs::create_dir(&beside).unwrap();
    // As a gateway's configured folder; `-C` goes to the root of a repository by itself.
    let mut house = house;
    for (folder, session) in [(root.join("docs"), "one"), (beside, "two")] {
        house = house.with("CLAW_WORKSPACE", &folder.display().to_string());
        house.claw(&["ask", "--session", session, "hello"]).expect(0);
    }
    let requests = requests(&model);
    let is_told = |(messages, _): &(String, String)| {
        (messages.contains("git repository"), messages.contains("git: branch `main`"))
    };
    let told: Vec<_> = requests.iter().map(is_told).collect();
    assert_eq!(told, [(true, true), (false, false)], "{requests:?}");
    house.is_whole();
}
