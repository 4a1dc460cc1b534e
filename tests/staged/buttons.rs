//! Buttons that need no question: only for tools that our policy calls safe, pressed once, and
//! gone.

use serde_json::json;

use crate::program::eventually;
use crate::staged::rig::{Rig, item, like, shop_proposes};

#[test]
fn a_press_runs_at_once_and_the_buttons_are_gone() {
    let buttons = json!([
        like("👍 Like", "good"),
        like("👎 Dislike", "bad"),
        like("✅ Confirm", "sly"),
        like("More", "more")
    ]);
    let rig = Rig::new(shop_proposes(buttons));
    let mallory = rig.telegram.user("Mallory");
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Group: song");
    let labels = [vec!["👍 Like", "👎 Dislike", "Confirm"], vec!["More"]];
    assert_eq!(
        asked.labels(),
        labels,
        "up to three in a row, and no mark of ours on a server's button"
    );
    assert!(
        asked.text.contains("👎 Dislike  shop/like {\"text\":\"bad\"}"),
        "what each runs: {}",
        asked.text
    );
    let data = asked.button("More").unwrap().data.clone().unwrap();
    let strange = mallory.forges_tap(rig.anna.private(), asked.id, &data);
    assert_eq!(rig.telegram.wait_answered(&strange).0, "Only the owner can answer this.");
    assert_eq!(rig.taps(&asked, "👎 Dislike"), "On its way.");
    rig.wait_edited(&asked, "Pressed “👎 Dislike” by you, ");
    rig.wait_edited(&asked, " · done");
    assert_eq!(rig.taps_again(&asked, "👍 Like"), "Already done.");
    rig.wait_ran("shop", &["like bad"]);
    assert_eq!(rig.asked_the_model(), 2);
    rig.stop(gateway);
    rig.wait_ran("shop", &["like bad"]);
}

#[test]
fn after_a_restart_the_old_buttons_stay_and_work_and_items_are_asked_again() {
    let rig = Rig::new(shop_proposes(json!([like("👍 Like", "good"), item("apples")])));
    let gateway = rig.started_with_a_turn();
    let (buttons, asked) = (rig.asked("Group: song"), rig.asked("Staged 1 item"));
    rig.kill(gateway);
    let gateway = rig.start();
    rig.wait_edited(&asked, "Asked again");
    let again = rig.asked("Staged 1 item");
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "Group: song"), 1, "they were not asked again");
    assert_eq!(rig.taps(&buttons, "👍 Like"), "On its way.");
    rig.wait_edited(&buttons, " · done");
    rig.taps(&again, "❌ Cancel");
    rig.wait_edited(&again, "Cancelled");
    rig.wait_ran("shop", &["like good"]);
    rig.stop(gateway);
}

#[test]
fn a_button_for_what_is_not_safe_is_refused_when_it_is_made() {
    let unsafe_one = json!([{"tool": "confirm", "arguments": {"text": "sly"}, "label": "Like"}]);
    let rig = Rig::new(shop_proposes(unsafe_one));
    let gateway = rig.started_with_a_turn();
    eventually("the turn has ended", || !rig.events(&rig.session(), "turn.ended").is_empty());
    assert_eq!(rig.number("SELECT count(*) FROM approvals"), 0);
    let results = rig.events(&rig.session(), "tool.result");
    assert_eq!(results[0]["outcome"]["output"]["is_error"], true, "{results:?}");
    rig.stop(gateway);
}
