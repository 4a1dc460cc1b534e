//! On Telegram: what is shown, and one item, several, all, none, too late, twice.

use serde_json::json;

use crate::staged::rig::{Rig, item, proposes, shop_proposes};

#[test]
fn a_tap_runs_exactly_what_was_shown_without_the_model() {
    let mut apples = item("2 apples");
    apples["label"] = json!("Add to cart");
    apples["cancel_label"] = json!("Leave it");
    apples["group"] = json!("cart");
    let rig = Rig::new(shop_proposes(json!([apples])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    assert!(
        asked.text.contains(
            "Group: cart\nshop says:\nAdd 2 apples to the cart\n\nshop/confirm\n\ntext\n2 apples"
        ),
        "{}",
        asked.text
    );
    assert_eq!(asked.labels(), [["✅ Confirm", "❌ Cancel"]], "no menus, nothing for longer");
    for quoted in [
        "✅ Confirm – runs exactly this call, once (its server calls the button “Add to cart”)",
        "❌ Cancel – it is not run (its server calls the button “Leave it”)",
    ] {
        assert!(asked.text.contains(quoted), "{}", asked.text);
    }
    assert_eq!(rig.ran("shop"), Vec::<String>::new(), "nothing runs before");
    assert_eq!(rig.taps(&asked, "✅ Confirm"), "Confirmed.");
    rig.wait_edited(&asked, "✅ Confirmed by you, ");
    let done = rig.wait_edited(&asked, " · done");
    assert!(done.text.contains("shop/confirm\n\ntext\n2 apples"), "{}", done.text);
    rig.telegram.wait_for_text(rig.anna.id, "Done: Add 2 apples to the cart.");
    rig.wait_ran("shop", &["confirm 2 apples"]);
    assert_eq!(rig.taps_again(&asked, "✅ Confirm"), "Already done.");
    assert_eq!(rig.taps_again(&asked, "❌ Cancel"), "Already done.");
    assert_eq!(rig.asked_the_model(), 2, "no model is asked for it");
    assert_eq!(rig.number("SELECT count(*) FROM grants"), 0);
    rig.stop(gateway);
    rig.wait_ran("shop", &["confirm 2 apples"]);
}

#[test]
fn two_taps_at_once_run_it_once() {
    let rig = Rig::new(shop_proposes(json!([item("bread")])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    let data = asked.button("✅ Confirm").unwrap().data.clone().unwrap();
    let tap = || rig.anna.forges_tap(rig.anna.private(), asked.id, &data);
    let said = [tap(), tap(), tap()].map(|tap| rig.telegram.wait_answered(&tap).0);
    assert_eq!(said.iter().filter(|words| *words == "Confirmed.").count(), 1, "{said:?}");
    assert!(
        said.iter().all(|words| words == "Confirmed." || words.starts_with("Already ")),
        "{said:?}"
    );
    rig.wait_edited(&asked, " · done");
    rig.wait_ran("shop", &["confirm bread"]);
    rig.stop(gateway);
    rig.wait_ran("shop", &["confirm bread"]);
}

#[test]
fn a_thumb_confirms_nothing_that_was_staged_and_is_told() {
    let rig = Rig::new(shop_proposes(json!([item("bread")])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    rig.anna.reacts(asked.chat, asked.id, &["👍"]).unwrap();
    rig.telegram.wait_for_text(rig.anna.id, "A reaction answers no list of actions: tap a button.");
    rig.anna.reacts(asked.chat, asked.id, &["👎"]).unwrap();
    rig.telegram.wait_all_confirmed();
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
    assert_eq!(rig.taps(&asked, "✅ Confirm"), "Confirmed.");
    rig.wait_ran("shop", &["confirm bread"]);
    rig.stop(gateway);
}

#[test]
fn a_batch_over_two_servers_is_confirmed_at_once() {
    let shop = json!([item("apples"), item("pears")]);
    let rig = Rig::new(proposes(&[("shop", shop), ("bakery", json!([item("bread")]))]));
    let gateway = rig.started_with_a_turn();
    let all = rig.asked("Staged 3 items");
    assert_eq!(all.labels(), [["✅ Confirm all 3", "❌ Cancel all"]]);
    for listed in ["Add apples to the cart", "Add pears to the cart", "Add bread to the cart"] {
        assert!(all.text.contains(listed), "{}", all.text);
    }
    let items = [1, 2, 3].map(|number| rig.asked(&format!("Staged item {number} of 3")));
    assert!(items.iter().all(|item| item.id < all.id), "all at once stands below them");
    // One is left out before.
    assert_eq!(rig.taps(&items[1], "❌ Cancel"), "Cancelled.");
    rig.wait_edited(&items[1], "❌ Cancelled by you, ");
    assert_eq!(rig.taps(&all, "✅ Confirm all 3"), "Confirmed.");
    rig.wait_edited(&all, "✅ Confirmed all 3 by you, ");
    rig.wait_edited(&items[0], " · done");
    rig.wait_edited(&items[2], " · done");
    assert_eq!(rig.taps_again(&items[0], "✅ Confirm"), "Already done.");
    assert_eq!(rig.taps_again(&items[1], "✅ Confirm"), "Already cancelled.");
    assert_eq!(rig.taps_again(&all, "❌ Cancel all"), "Already confirmed.");
    rig.wait_ran("shop", &["confirm apples"]);
    rig.wait_ran("bakery", &["confirm bread"]);
    assert_eq!(
        rig.telegram.wait_for_text(rig.anna.id, "Cancelled: Add pears to the cart.").labels().len(),
        0
    );
    rig.stop(gateway);
    rig.wait_ran("shop", &["confirm apples"]);
}

#[test]
fn all_is_cancelled_and_each_answered_by_itself_closes_it() {
    let answers = [
        shop_proposes(json!([item("a"), item("b")])),
        shop_proposes(json!([item("c"), item("d")])),
    ];
    let rig = Rig::new(answers.into_iter().flatten());
    let gateway = rig.started_with_a_turn();
    let all = rig.asked("Staged 2 items");
    let items = [1, 2].map(|number| rig.asked(&format!("Staged item {number} of 2")));
    assert_eq!(rig.taps(&all, "❌ Cancel all"), "Cancelled.");
    rig.wait_edited(&all, "❌ Cancelled all 2");
    items.iter().for_each(|item| drop(rig.wait_edited(item, "❌ Cancelled by you")));
    assert_eq!(rig.taps_again(&items[0], "✅ Confirm"), "Already cancelled.");

    rig.says("again");
    let all = rig.telegram.wait_for("the next list", |world| {
        world
            .messages(rig.anna.private())
            .find(|message| message.id > all.id && message.text.contains("Staged 2 items"))
            .cloned()
    });
    let [c, d] = [1, 2].map(|number| rig.asked(&format!("Staged item {number} of 2")));
    assert_eq!(
        (rig.taps(&c, "✅ Confirm"), rig.taps(&d, "❌ Cancel")),
        ("Confirmed.".into(), "Cancelled.".into())
    );
    rig.wait_edited(&all, "nothing of it waits any more");
    rig.wait_edited(&c, " · done");
    rig.wait_ran("shop", &["confirm c"]);
    rig.stop(gateway);
}

#[test]
fn what_expires_is_told_and_never_runs() {
    let rig = Rig::new(shop_proposes(json!([item("milk"), item("eggs")])));
    let gateway = rig.started_with_a_turn();
    let all = rig.asked("Staged 2 items");
    let milk = rig.asked("Staged item 1 of 2");
    rig.time_goes_by();
    rig.wait_edited(&milk, "nobody answered, and it was not run");
    rig.wait_edited(&all, "Expired");
    rig.telegram.wait_for_text(rig.anna.id, "Expired: Add milk to the cart.");
    rig.telegram.wait_for_text(rig.anna.id, "Expired: Add eggs to the cart.");
    assert_eq!(rig.taps_again(&milk, "✅ Confirm"), "This has expired, and was not run.");
    assert_eq!(rig.taps_again(&all, "✅ Confirm all 2"), "This has expired, and was not run.");
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
    rig.stop(gateway);
}

#[test]
fn a_message_leaves_it_open_and_the_model_hears_what_became_of_it() {
    let answers = shop_proposes(json!([item("tea")]))
        .into_iter()
        .chain(["Fine.", "So it is."].map(crate::wires::Answer::text));
    let rig = Rig::new(answers);
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    rig.says("and what else?");
    rig.telegram.wait_for_text(rig.anna.id, "Fine.");
    assert_eq!(rig.taps(&asked, "✅ Confirm"), "Confirmed.", "a message does not supersede it");
    rig.wait_edited(&asked, " · done");
    rig.telegram.wait_for_text(rig.anna.id, "Done: Add tea");
    rig.says("well?");
    rig.telegram.wait_for_text(rig.anna.id, "So it is.");
    let last = rig.model.recorded().pop().unwrap().body.to_string();
    assert!(
        last.contains("the owner confirmed a staged action, and it ran")
            && last.contains("confirm: tea"),
        "{last}"
    );
    rig.stop(gateway);
}

#[test]
fn an_action_that_proposes_again_is_asked_about_again() {
    let mut first = item("one");
    first["arguments"]["then"] = json!([item("two")]);
    let rig = Rig::new(shop_proposes(json!([first])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Add one to the cart");
    rig.taps(&asked, "✅ Confirm");
    rig.wait_edited(&asked, " · done");
    let again = rig.asked("Add two to the cart");
    assert!(again.id > asked.id);
    rig.taps(&again, "✅ Confirm");
    rig.wait_edited(&again, " · done");
    rig.wait_ran("shop", &["confirm one", "confirm two"]);
    assert_eq!(rig.asked_the_model(), 2);
    rig.stop(gateway);
}

/// Too long for a message, so it is asked by a file; what cannot be seen is spelled out, and what
/// runs is what was shown.
#[test]
fn a_long_call_is_whole_in_a_file() {
    let text = format!("{}\u{202e}the end", "a line of text\n".repeat(400));
    let mut long = item("x");
    long["arguments"]["text"] = json!(text);
    let rig = Rig::new(shop_proposes(json!([long])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    let file = asked.media.clone().unwrap();
    let whole = String::from_utf8(rig.telegram.file(&file.file_id)).unwrap();
    assert!(whole.starts_with("Staged 1 item\nshop says:\n│ Add x to the cart\n"), "{whole}");
    assert!(
        whole.matches("│ a line of text\n").count() == 400 && whole.contains("│ \\u{202e}the end"),
        "{whole}"
    );
    rig.taps(&asked, "✅ Confirm");
    rig.wait_edited(&asked, " · done");
    assert_eq!(rig.ran("shop").len(), 1);
    let record = std::fs::read_to_string(rig.house.user_home().join("shop")).unwrap();
    assert!(record.contains(&text), "exactly that ran");
    rig.stop(gateway);
}
