//! Calls of one reply that are one question: all, none, single ones. Must not know which doors
//! there are.

use std::fs;

use serde_json::json;

use crate::doors::rig::{
    Chat, DoorRig, Reply, all_is_delivered, asks, at_home, closes, count, events, home, number,
    results, shows, turns_end,
};
use crate::program::eventually;
use crate::wires::{Answer, Call, Turn};

const NAMES: [&str; 3] = ["apple.txt", "bread.txt", "cheese.txt"];
const ASKED: &str = "Move apple.txt to old/";

/// A door at which the model moves three files and then says `It is done.`; the list is open.
fn asked<R: DoorRig>() -> R {
    let moves = NAMES.map(|name| {
        let to = format!("old/{name}");
        Call::new(name, "filesystem__move", &json!({"source": name, "destination": to}).to_string())
    });
    let home = home([Answer::Turn(Turn::calls(&moves)), Answer::text("It is done.")]);
    fs::create_dir_all(home.house.workspace().join("old")).unwrap();
    for name in NAMES {
        fs::write(home.house.workspace().join(name), "one\n").unwrap();
    }
    let mut rig: R = at_home(home);
    rig.says(Chat::First, "Tidy up");
    asks(&mut rig, ASKED);
    assert_eq!(number(&rig, "SELECT count(*) FROM approvals WHERE list IS NULL"), 1);
    rig
}

fn is_moved<R: DoorRig>(rig: &R, name: &str) -> bool {
    rig.home().house.workspace().join("old").join(name).exists()
}

pub fn several_calls_are_one_question_of_which_single_ones_can_be_answered<R: DoorRig>() {
    let mut rig: R = asked();
    rig.picks(ASKED, 2);
    eventually("the second file is moved", || is_moved(&rig, NAMES[1]));
    assert!(!is_moved(&rig, NAMES[0]) && !is_moved(&rig, NAMES[2]), "the others were not allowed");
    rig.kill();
    rig.start();
    asks(&mut rig, ASKED);
    rig.answers(ASKED, Reply::Yes);
    closes(&mut rig, ASKED);
    shows(&mut rig, Chat::First, "It is done.");
    all_is_delivered(&mut rig);
    assert_eq!(count(&mut rig, "It is done."), 1, "{}", rig.shown(Chat::First));
    assert!(NAMES.iter().all(|name| is_moved(&rig, name)));
    assert_eq!(events(&rig, "call.answered").len(), NAMES.len(), "each by itself");
    let started = "SELECT count(*) FROM audit WHERE kind = 'started'";
    assert_eq!(number(&rig, started), NAMES.len() as i64, "each once");
    rig.kill();
    rig.home().house.is_whole();
}

pub fn one_no_denies_all_that_a_list_asks<R: DoorRig>() {
    let mut rig: R = asked();
    rig.answers(ASKED, Reply::NoBecause("they stay here"));
    closes(&mut rig, ASKED);
    turns_end(&rig, 1);
    assert_eq!(results(&rig).matches("the owner said no: they stay here").count(), NAMES.len());
    assert!(!NAMES.iter().any(|name| is_moved(&rig, name)));
    rig.kill();
    rig.home().house.is_whole();
}
