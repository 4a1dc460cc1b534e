//! What a tap does not unlock: deny rules and the stop switch; and a proposal of a tool that is not
//! there. The owner hears why nothing ran.

use serde_json::json;

use crate::staged::rig::{Rig, item, shop_proposes};

const DENY: &str = "[classes]\n\"shop/propose\" = \"safe\"\n\n[[rule]]\nserver = \"shop\"\ntool = \"confirm\"\ndecision = \"deny\"\n\
                    why = \"the cart is closed\"\n";

#[test]
fn a_deny_rule_that_was_written_after_the_proposal_holds() {
    let rig = Rig::new(shop_proposes(json!([item("apples")])));
    let gateway = rig.started_with_a_turn();
    let old = rig.asked("Staged 1 item");
    rig.stop(gateway);
    rig.house.write("policy.toml", DENY);
    let gateway = rig.start();
    rig.wait_edited(&old, "Asked again");
    let asked = rig.asked("Staged 1 item");
    assert_eq!(rig.taps(&asked, "✅ Confirm"), "Confirmed.");
    rig.wait_edited(&asked, " · not run");
    let told = rig.telegram.wait_for_text(rig.anna.id, "Not run: Add apples to the cart.");
    assert!(
        told.text.contains("The cart is closed (") && told.text.contains("policy.toml"),
        "{}",
        told.text
    );
    assert_eq!(rig.taps_again(&asked, "✅ Confirm"), "Already confirmed, and not run.");
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
    rig.stop(gateway);
}

#[test]
fn the_stop_switch_holds_and_nothing_is_left_over_when_it_is_released() {
    let rig = Rig::new(shop_proposes(json!([item("apples")])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    rig.house.claw(&["panic", "on"]).expect(0);
    rig.taps(&asked, "✅ Confirm");
    rig.wait_edited(&asked, " · not run");
    rig.telegram.wait_for_text(rig.anna.id, "Not run: Add apples to the cart.");
    rig.house.claw(&["panic", "off"]).expect(0);
    rig.stop(gateway);
    let gateway = rig.start();
    rig.says("/usage");
    rig.telegram.wait_for_text(rig.anna.id, "Today, all sessions");
    rig.stop(gateway);
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
}

/// All of a result's proposals are staged, or none.
#[test]
fn a_proposal_of_a_tool_that_is_not_there_is_an_error_when_it_is_made() {
    let rig = Rig::new(shop_proposes(
        json!([item("apples"), {"tool": "nothing_like_it", "summary": "Do it"}]),
    ));
    let gateway = rig.started_with_a_turn();
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "Staged"), 0);
    let told = rig.model.recorded().pop().unwrap().body.to_string();
    assert!(told.contains("nothing_like_it"), "the model hears of it: {told}");
    rig.stop(gateway);
}
