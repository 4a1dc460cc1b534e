//! Who may tap: the owner alone, whoever else reads the chat.

use serde_json::json;

use crate::program::{SERVER_WAIT, eventually};
use crate::staged::rig::{Rig, item, shop_proposes};

#[test]
fn taps_of_unknown_users_and_forged_taps_run_nothing() {
    let rig = Rig::new(shop_proposes(json!([item("apples"), item("pears")])));
    let mallory = rig.telegram.user("Mallory");
    let gateway = rig.started_with_a_turn();
    let all = rig.asked("Staged 2 items");
    let [first, second] = [1, 2].map(|number| rig.asked(&format!("Staged item {number} of 2")));
    let home = rig.anna.private();
    let data = |message: &crate::botapi::Message, label: &str| {
        message.button(label).unwrap().data.clone().unwrap()
    };
    let yes = data(&first, "✅ Confirm");
    let id = yes.split(':').nth(1).unwrap().to_owned();
    for (tap, words) in [
        (mallory.forges_tap(home, first.id, &yes), "Only the owner"),
        (mallory.forges_tap(home, all.id, &data(&all, "✅ Confirm all 2")), "Only the owner"),
        (rig.anna.forges_tap(home, second.id, &yes), "does nothing"),
        (rig.anna.forges_tap(home, first.id, &format!("q:{id}:=s")), "not offered"),
        (rig.anna.forges_tap(home, first.id, &format!("q:{id}:=1")), "not offered"),
        (rig.anna.forges_tap(home, first.id, &format!("q:{id}:a")), "not offered"),
        (rig.anna.forges_tap(home, first.id, &format!("q:{id}:n")), "not offered"),
        (rig.anna.forges_tap(home, first.id, &format!("q:{id}:w")), "not offered"),
    ] {
        assert!(rig.telegram.wait_answered(&tap).0.contains(words), "{tap:?}");
    }
    assert_eq!(
        (rig.ran("shop"), rig.number("SELECT count(*) FROM approvals WHERE state <> 'waiting'")),
        (vec![], 0)
    );
    assert_eq!(
        rig.telegram.message(home, first.id).labels(),
        [["✅ Confirm", "❌ Cancel"]],
        "its buttons are as before"
    );
    rig.taps(&first, "✅ Confirm");
    rig.wait_edited(&first, " · done");
    rig.wait_ran("shop", &["confirm apples"]);
    rig.stop(gateway);
}

#[test]
fn a_member_of_a_group_reads_it_and_the_owner_decides() {
    let rig = Rig::new(shop_proposes(json!([item("apples")])));
    let bert = rig.telegram.user("Bert");
    let group = rig.telegram.group("Family", &[&rig.anna, &bert]);
    let chats = format!("[telegram]\nallowed_chats = [{}, {group}]\n", rig.anna.id);
    rig.house.write("claw.toml", &format!("{SERVER_WAIT}{chats}"));
    let gateway = rig.house.start_for_listed_chats();
    bert.says(group, "@claw_test_bot go");
    rig.telegram.wait_for_text(group, "Have a look.");
    let asked = rig.asked_in(group, "Staged 1 item");
    let tap = bert.taps_on(group, asked.id, "✅ Confirm");
    assert_eq!(rig.telegram.wait_answered(&tap).0, "Only the owner can answer this.");
    let tap = bert.taps_on(group, asked.id, "❌ Cancel");
    assert_eq!(rig.telegram.wait_answered(&tap).0, "Only the owner can answer this.");
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
    assert_eq!(rig.taps(&asked, "✅ Confirm"), "Confirmed.");
    let shown = rig.wait_edited(&asked, " · done");
    assert!(
        shown.text.starts_with(&format!("✅ Confirmed by telegram:{}, ", rig.anna.id)),
        "{}",
        shown.text
    );
    rig.wait_ran("shop", &["confirm apples"]);
    rig.stop(gateway);
}

#[test]
fn what_an_allowed_user_stages_is_put_to_the_owner() {
    let rig = Rig::new(shop_proposes(json!([item("apples"), item("pears")])));
    let bob = rig.telegram.user("Bob");
    let gateway = rig.start();
    rig.anna.starts();
    rig.telegram.wait_for_text(rig.anna.id, "I am claw");
    bob.starts();
    let told = rig.telegram.wait_for_button(rig.anna.id, "Let them in");
    rig.telegram.wait_answered(&rig.anna.taps_on(rig.anna.private(), told.id, "Let them in"));
    bob.says(bob.private(), "go");
    rig.telegram.wait_for_text(bob.id, "Have a look.");
    let all = rig.asked("Staged 2 items");
    let [first, second] = [1, 2].map(|number| rig.asked(&format!("Staged item {number} of 2")));
    assert!(first.id < second.id && second.id < all.id, "in their order");
    assert!(first.text.contains("in the session"), "{}", first.text);
    eventually("the allowed user is told of each", || {
        rig.count(bob.id, "This needs the owner's yes") == 2
    });
    assert!(
        rig.telegram.sent(bob.id).iter().all(|message| message.labels().is_empty()),
        "and has no button"
    );
    rig.taps(&all, "✅ Confirm all 2");
    rig.wait_edited(&all, "✅ Confirmed all 2");
    rig.wait_edited(&second, " · done");
    rig.telegram.wait_for_text(bob.id, "Done: Add pears to the cart.");
    rig.wait_ran("shop", &["confirm apples", "confirm pears"]);
    rig.stop(gateway);
}
