//! What is said at length, bit by bit, or with a file. Must not know which doors there are.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::doors::rig::{
    Chat, DoorRig, EFFECT, Reply, Skill, all_is_delivered, asks, at, count, effects, lack, runs,
    shows, turns_end, wait_model_asked,
};
use crate::program::eventually;
use crate::wires::{Answer, Turn};

/// The frames up to the middle of a text: the one that opens the reply, and the first half.
const HALF: usize = 2;
const ALL: usize = 100;
const WHOLE: &str = "The first half, and **the second** half.";
const SHOWN: &str = "The first half, and the second half.";

fn gated(text: &str) -> (Answer, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    (Answer::Gated(Turn::text(text), gate.clone()), gate)
}

/// The turn is over, and the whole stands there once, with nothing of the draft beside it.
#[track_caller]
fn is_whole_and_once<R: DoorRig>(rig: &mut R) {
    shows(rig, Chat::First, SHOWN);
    turns_end(rig, 1);
    all_is_delivered(rig);
    eventually("the draft is gone", || count(rig, "The first half") == 1);
    assert_eq!(count(rig, SHOWN), 1, "{}", rig.shown(Chat::First));
    rig.kill();
    rig.home().house.is_whole();
}

pub fn a_streamed_answer_ends_whole_and_once<R: DoorRig>() {
    let (answer, gate) = gated(WHOLE);
    let mut rig: R = at([answer]);
    rig.says(Chat::First, "Go ahead");
    gate.add_permits(HALF);
    shows(&mut rig, Chat::First, "The first half");
    assert!(!rig.shown(Chat::First).contains("second half"), "{}", rig.shown(Chat::First));
    gate.add_permits(ALL);
    is_whole_and_once(&mut rig);
}

pub fn a_streamed_answer_that_a_kill_cuts_off_comes_whole_and_once<R: DoorRig>() {
    let (answer, gate) = gated(WHOLE);
    let mut rig: R = at([answer, Answer::text(WHOLE)]);
    rig.says(Chat::First, "Go ahead");
    gate.add_permits(HALF);
    shows(&mut rig, Chat::First, "The first half");
    rig.notes_what_it_shows();
    rig.kill();
    rig.start();
    is_whole_and_once(&mut rig);
}

/// The reply is committed while nothing can be shown, and its row may be marked only when it was.
pub fn what_was_not_shown_before_a_kill_is_shown_after_it<R: DoorRig>() {
    if lack::<R>(Skill::HoldBack).is_some() {
        return;
    }
    let (answer, gate) = gated(WHOLE);
    let mut rig: R = at([answer]);
    rig.says(Chat::First, "Go ahead");
    wait_model_asked(&rig, 1);
    rig.holds_back();
    gate.add_permits(ALL);
    turns_end(&rig, 1);
    rig.kill();
    rig.start();
    is_whole_and_once(&mut rig);
}

pub fn a_long_answer_is_complete_in_order_and_there_once<R: DoorRig>() {
    const LINES: usize = 160;
    let line = |number: usize| {
        format!("Line {number} of a long answer, with **bold** words and `code`.\n\n")
    };
    let text: String = (0..LINES).map(line).collect();
    let mut rig: R = at([Answer::text(&text)]);
    rig.says(Chat::First, "Go ahead");
    shows(&mut rig, Chat::First, &format!("Line {} of a long answer", LINES - 1));
    turns_end(&rig, 1);
    all_is_delivered(&mut rig);
    let shown = rig.shown(Chat::First);
    let places: Vec<usize> = (0..LINES)
        .map(|number| {
            let found: Vec<_> = shown.match_indices(&format!("Line {number} of a long")).collect();
            assert_eq!(found.len(), 1, "line {number}: {shown}");
            found[0].0
        })
        .collect();
    assert!(places.is_sorted(), "{shown}");
}

pub fn a_linked_file_is_handed_over<R: DoorRig>() {
    let mut rig: R = at([Answer::text("Here is [the report](report.txt).")]);
    std::fs::write(rig.home().house.workspace().join("report.txt"), "all is well").unwrap();
    rig.says(Chat::First, "Go ahead");
    shows(&mut rig, Chat::First, "Here is the report");
    if lack::<R>(Skill::Files).is_some() {
        // Then a person must at least read where it lies.
        return shows(&mut rig, Chat::First, "(report.txt)");
    }
    eventually("the file is there", || !rig.files().is_empty());
    all_is_delivered(&mut rig);
    assert_eq!(rig.files(), [("report.txt".to_owned(), b"all is well".to_vec())]);
}

/// What is offered under an answer undoes the files of its turn, once.
pub fn what_a_turn_has_changed_is_put_back<R: DoorRig>() {
    let mut rig: R = at([runs(EFFECT), Answer::text("The effect is there.")]);
    rig.says(Chat::First, "Go ahead");
    asks(&mut rig, EFFECT);
    rig.answers(EFFECT, Reply::Yes);
    shows(&mut rig, Chat::First, "The effect is there.");
    turns_end(&rig, 1);
    assert_eq!(effects(&rig), 1);
    rig.undoes_one_file();
    shows(&mut rig, Chat::First, "Undone: 1 path.");
    assert!(!rig.home().house.workspace().join("effects").exists());
    rig.kill();
    rig.home().house.is_whole();
}

pub fn a_turn_that_has_changed_nothing_offers_no_undo<R: DoorRig>() {
    let mut rig: R = at([Answer::text("Here it is.")]);
    rig.says(Chat::First, "Go ahead");
    shows(&mut rig, Chat::First, "Here it is.");
    turns_end(&rig, 1);
    all_is_delivered(&mut rig);
    // The workspace's path may hold any word.
    let workspace = rig.home().house.workspace().display().to_string();
    let shown = rig.shown(Chat::First).replace(&workspace, "").to_lowercase();
    assert!(!shown.contains("changed") && !shown.contains("undo"), "{shown}");
}
