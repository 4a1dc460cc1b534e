//! What ran without a question, by a mode that is given as an answer, too, and taking back what let
//! it. Must not know which doors there are.

use serde_json::json;

use crate::doors::rig::{Chat, DoorRig, Reply, asks, at, closes, number, shows, turns_end};
use crate::wires::{Answer, Call, Turn};

fn writes(path: &str) -> Answer {
    let arguments = json!({"path": path, "content": "one\n"}).to_string();
    Answer::Turn(Turn::calls(&[Call::new(path, "filesystem__write_file", &arguments)]))
}

pub fn what_ran_by_a_grant_is_told_and_the_grant_is_taken_back<R: DoorRig>() {
    let mut rig: R = at([writes("a.txt"), Answer::text("It is done."), writes("b.txt")]);
    rig.says(Chat::First, "/mode edits");
    shows(&mut rig, Chat::First, "edits");
    rig.says(Chat::First, "Go ahead");
    turns_end(&rig, 1);
    let granted = "SELECT count(*) FROM calls WHERE rule = 'grant.1'";
    assert_eq!(number(&rig, granted), 1);
    rig.says(Chat::First, "/digest");
    shows(&mut rig, Chat::First, "1 call by grant 1");
    rig.takes_back(1);
    let in_force = "SELECT count(*) FROM grants WHERE revoked_ms IS NULL";
    assert_eq!(number(&rig, in_force), 0);
    rig.says(Chat::First, "And again");
    asks(&mut rig, "b.txt");
    assert!(!rig.home().house.workspace().join("b.txt").exists(), "its grant was taken back");
    rig.kill();
}

pub fn a_mode_as_an_answer_lets_the_next_edit_run_and_ends_with_new<R: DoorRig>() {
    let done = || Answer::text("It is done.");
    let mut rig: R = at([writes("a.txt"), done(), writes("b.txt"), done(), writes("c.txt")]);
    let is_there = |rig: &R, name: &str| rig.home().house.workspace().join(name).exists();
    rig.says(Chat::First, "Go ahead");
    asks(&mut rig, "a.txt");
    rig.answers("a.txt", Reply::Edits);
    closes(&mut rig, "a.txt");
    turns_end(&rig, 1);
    rig.says(Chat::First, "Go on");
    turns_end(&rig, 2);
    assert!(is_there(&rig, "a.txt") && is_there(&rig, "b.txt"));
    let by_mode = "SELECT count(*) FROM calls WHERE rule = 'grant.1'";
    assert_eq!(number(&rig, by_mode), 1, "the first was allowed by the answer itself");
    rig.says(Chat::First, "/new");
    shows(&mut rig, Chat::First, "new conversation");
    rig.says(Chat::First, "Once more");
    asks(&mut rig, "c.txt");
    assert!(!is_there(&rig, "c.txt"), "the mode has ended with the conversation");
    rig.kill();
    rig.home().house.is_whole();
}
