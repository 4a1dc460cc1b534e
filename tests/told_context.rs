//! What the model is told of where its calls run, through the whole program: the mode and the branch
//! come with a message, once a change, and each request begins with the bytes of the one before.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod program;
mod wires;

use std::fs;

use program::House;
use serde_json::Value;
use wires::threaded::Threaded;
use wires::{Answer, Wire};

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
    (House::at("openai-compatible", &model.base_url), model)
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
