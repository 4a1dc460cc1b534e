//! What ran without a question, and taking back the grant that let it. Must not know which doors
//! there are.

use serde_json::json;

use crate::rig::{Chat, DoorRig, asks, at, number, shows, turns_end};
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
