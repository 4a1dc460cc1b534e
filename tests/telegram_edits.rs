//! Edits that Telegram sends and that say nothing new: no turn begins, and nothing is answered.

use serde_json::json;

use crate::telegram_model::Rig;
use crate::wires::Answer;

fn handled(rig: &Rig, how: &str) -> i64 {
    rig.wait_handled();
    rig.number(&format!("SELECT count(*) FROM updates WHERE state = '{how}'"))
}

#[test]
fn a_live_location_is_one_turn() {
    let rig = Rig::new(["Berlin.", "And you."].map(Answer::text));
    let gateway = rig.start();
    let at = json!({"latitude": 52.5, "longitude": 13.4, "live_period": 900});
    let said = rig.anna.writes(rig.anna.private()).holding("location", at).send();
    rig.hears("Berlin.");
    for _ in 0..5 {
        rig.anna.edits(&said, "");
    }
    assert_eq!(handled(&rig, "live location"), 5);
    rig.says("hello");
    rig.hears("And you.");
    assert_eq!(rig.model.recorded().len(), 2);
    rig.stop(gateway);
}

#[test]
fn an_edit_that_changes_nothing_is_no_message() {
    let rig = Rig::new(["One.", "Two.", "Three."].map(Answer::text));
    let gateway = rig.start();
    let said = rig.anna.says(rig.anna.private(), "list the files");
    rig.hears("One.");
    for _ in 0..3 {
        rig.anna.edits(&said, "list the files");
    }
    assert_eq!(handled(&rig, "unchanged"), 3);
    rig.anna.edits(&said, "list the folders");
    rig.hears("Two.");
    rig.anna.edits(&said, "list the folders");
    assert_eq!(handled(&rig, "unchanged"), 4);
    // Back to what it was is a change, too.
    rig.anna.edits(&said, "list the files");
    rig.hears("Three.");
    assert_eq!(rig.model.recorded().len(), 3);
    rig.stop(gateway);
}
