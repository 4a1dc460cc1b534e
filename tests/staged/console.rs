//! At the console: one list at the end of the turn, answered with numbers. Through a pipe, where
//! nobody needs time to read.

use serde_json::json;

use crate::program::{Running, SOON, eventually, example};
use crate::staged::rig::{Rig, item, like, proposes, shop_proposes};
use crate::wires::Answer;

#[track_caller]
fn shows(chat: &Running, text: &str) {
    let deadline = std::time::Instant::now() + SOON;
    while !chat.out().contains(text) {
        assert!(
            std::time::Instant::now() < deadline,
            "the console does not show `{text}`: {}\n{}",
            chat.out(),
            chat.err()
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn chat(rig: &Rig) -> Running {
    let mut chat = rig.house.start(&["chat"]);
    chat.types(b"go\n");
    shows(&chat, "and this stays");
    chat
}

#[track_caller]
fn leaves(rig: &Rig, mut chat: Running) -> String {
    chat.types(b"/quit\n");
    let ran = chat.ends().expect(0);
    rig.house.is_whole();
    ran.out
}

#[test]
fn a_list_is_answered_with_numbers() {
    let shop = json!([item("apples"), item("pears")]);
    let rig = Rig::new(proposes(&[("shop", shop), ("bakery", json!([item("bread")]))]));
    let mut chat = chat(&rig);
    let shown = chat.out();
    assert_eq!(shown.matches("Staged 3 items").count(), 1, "one list: {shown}");
    for row in [
        "1 “Add apples to the cart”",
        "shop/confirm",
        "text  │ pears",
        "3 “Add bread to the cart”",
        "bakery/confirm",
        "-2  ❌ Cancel",
    ] {
        assert!(shown.contains(row), "{row}: {shown}");
    }
    assert!(!shown.contains("staged_all"), "all at once is a word that is typed: {shown}");
    let place = |text: &str| shown.find(text).unwrap();
    assert!(place("Have a look.") < place("Staged 3 items"), "behind the reply");
    chat.types(b"1 -2\n");
    shows(&chat, "Confirmed: 1 “Add apples to the cart”");
    shows(&chat, "• Done: Add apples to the cart.");
    shows(&chat, "• Cancelled: Add pears to the cart.");
    shows(&chat, "Still staged: 3.");
    chat.types(b"1\n");
    shows(&chat, "Nothing is staged under 1; open: 3.");
    chat.types(b"3\n");
    shows(&chat, "Done: Add bread to the cart.");
    assert_eq!(rig.asked_the_model(), 3);
    let out = leaves(&rig, chat);
    assert!(!out.contains("\\n```") && !out.contains("```"), "a notice is drawn: {out}");
    rig.wait_ran("shop", &["confirm apples"]);
    rig.wait_ran("bakery", &["confirm bread"]);
}

#[test]
fn all_none_and_a_message_in_between() {
    let answers =
        shop_proposes(json!([item("a"), item("b")])).into_iter().chain([Answer::text("Fine.")]);
    let rig = Rig::new(answers.chain(shop_proposes(json!([item("c"), item("d")]))));
    let mut chat = chat(&rig);
    chat.types(b"yes, and what else?\n");
    shows(&chat, "Fine.");
    chat.types(b"/staged\n");
    eventually("the list once more", || chat.out().matches("Staged 2 items").count() == 2);
    chat.types(b"all\n");
    shows(&chat, "Done: Add b to the cart.");
    rig.wait_ran("shop", &["confirm a", "confirm b"]);
    chat.types(b"go\n");
    shows(&chat, "1 “Add c to the cart”");
    chat.types(b"none\n");
    shows(&chat, "Cancelled: Add d to the cart.");
    chat.types(b"/staged\n");
    shows(&chat, "Nothing is staged here.");
    leaves(&rig, chat);
    rig.wait_ran("shop", &["confirm a", "confirm b"]);
}

#[test]
fn yes_and_no_answer_the_only_item() {
    let answers = shop_proposes(json!([item("a")])).into_iter();
    let rig = Rig::new(answers.chain(shop_proposes(json!([item("b")]))));
    let mut chat = chat(&rig);
    chat.types(b"yes\n");
    shows(&chat, "Done: Add a to the cart.");
    chat.types(b"go\n");
    shows(&chat, "1 “Add b to the cart”");
    chat.types(b"no\n");
    shows(&chat, "Cancelled: Add b to the cart.");
    leaves(&rig, chat);
    rig.wait_ran("shop", &["confirm a"]);
}

#[test]
fn buttons_have_numbers_too() {
    let rig = Rig::new(shop_proposes(json!([
        item("apples"),
        like("👍 Like", "good"),
        like("👎 Dislike", "bad")
    ])));
    let mut chat = chat(&rig);
    shows(&chat, "3  │ 👎 Dislike  shop/like {\"text\":\"bad\"}");
    chat.types(b"3\n");
    shows(&chat, "Done: 👎 Dislike.");
    chat.types(b"2\n");
    shows(&chat, "Nothing is staged under 2; open: 1.");
    leaves(&rig, chat);
    rig.wait_ran("shop", &["like bad"]);
}

#[test]
fn after_a_kill_the_list_is_shown_again() {
    let rig = Rig::new(shop_proposes(json!([item("a"), item("b"), item("c")])));
    let first = chat(&rig);
    rig.kill(first);
    let mut second = rig.house.start(&["chat"]);
    shows(&second, "Staged 3 items");
    let shown = second.out();
    let place = |text: &str| shown.find(text).unwrap();
    assert!(
        place("1 “Add a") < place("2 “Add b") && place("2 “Add b") < place("3 “Add c"),
        "{shown}"
    );
    second.types(b"2 3\n");
    shows(&second, "Done: Add c to the cart.");
    leaves(&rig, second);
    rig.wait_ran("shop", &["confirm b", "confirm c"]);
    assert_eq!(rig.number("SELECT count(*) FROM approvals"), 4);
}

#[test]
fn what_expires_or_is_answered_elsewhere_leaves_the_list() {
    let rig = Rig::new(shop_proposes(json!([item("a"), item("b")])));
    let mut chat = chat(&rig);
    let first = rig.open_items().remove(0);
    rig.house.claw(&["deny", &first]).expect(0);
    shows(&chat, "What was staged as 1 “Add a to the cart” was cancelled, from another");
    rig.time_goes_by();
    // Whatever is written next makes the console look.
    shows_after_a_nudge(&rig, &chat, "What was staged as 2 “Add b to the cart” has expired");
    shows(&chat, "Expired: Add b to the cart.");
    chat.types(b"/staged\n");
    shows(&chat, "Nothing is staged here.");
    leaves(&rig, chat);
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
}

#[track_caller]
fn shows_after_a_nudge(rig: &Rig, chat: &Running, text: &str) {
    let _listed = rig.house.claw(&["approvals"]);
    shows(chat, text);
}

/// `examples/staged_server.rs`, as its documentation says: with a policy of the reader's own and
/// nothing else.
#[test]
fn the_example_that_the_documentation_shows() {
    let add = |count: u32, item: &str| {
        let arguments = json!({"item": item, "count": count}).to_string();
        crate::wires::Call::new(item, "shop__add_to_cart", &arguments)
    };
    let calls = crate::wires::Turn::calls(&[add(2, "apples"), add(1, "pears")]);
    let rig = Rig::new([Answer::Turn(calls), Answer::text("Have a look.")]);
    rig.house.write(
        "mcp.json",
        &json!({"mcpServers": {"shop": {"command": example("staged_server")}}}).to_string(),
    );
    rig.house.write("policy.toml", "[classes]\n\"shop/add_to_cart\" = \"safe\"\n");
    let mut chat = chat(&rig);
    for row in [
        "2 “Add 1 × pears to the cart”",
        "shop/confirm_add · group cart",
        "1   ✅ Confirm (its server calls it “Add”)",
        "-1  ❌ Cancel (its server calls it “Leave it”)",
    ] {
        shows(&chat, row);
    }
    chat.types(b"1 -2\n");
    shows(&chat, "In the cart: 2 × apples");
    shows(&chat, "Cancelled: Add 1 × pears to the cart.");
    leaves(&rig, chat);
}
