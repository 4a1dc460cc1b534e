//! Optional arguments of a command that a model fills with null, through the whole program: they
//! are left out to all who read them. Must not know how a verdict is reached.
#![cfg(target_os = "linux")]

use serde_json::json;

use crate::shell_folder::{done, house, printed, runs, whole};

#[test]
fn a_command_whose_optional_arguments_are_null_only_looks_and_asks_nobody() {
    let nulls = json!({"command": "echo seen", "needs": null, "cwd": null, "hosts": null,
        "opens": null, "variables": null, "timeout_s": null});
    let (house, model) = house("", [runs(&[nulls]), done()]);
    if !house.is_boxed() {
        return;
    }
    house.claw(&["ask", "look"]).expect(0);
    assert_eq!(printed(&house, "main"), ["seen"]);
    whole(&house, &model);
}

#[test]
fn a_grant_for_a_program_covers_a_command_that_opens_nothing_in_so_many_words() {
    let test = json!({"command": "cargo test", "needs": "write"});
    let opening = |what: serde_json::Value| {
        let mut call = test.clone();
        call["opens"] = what;
        runs(&[call])
    };
    let answers = [
        runs(std::slice::from_ref(&test)),
        done(),
        opening(json!([])),
        opening(json!(null)),
        done(),
    ];
    let (house, model) = house("", answers);
    if !house.is_boxed() {
        return;
    }
    let id = house.ask_parks("test it");
    let granted = ["approve", &id, "--for", "always", "--command", "cargo test"];
    house.claw(&granted).expect(0);
    house.claw(&["ask", "and again"]).expect(0);
    assert_eq!(printed(&house, "main").len(), 3);
    whole(&house, &model);
}
