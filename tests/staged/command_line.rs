//! At the command line: `claw ask` prints the list behind the reply and is done; `claw approve` and
//! `claw deny` carry it out.

use serde_json::json;

use crate::staged::rig::{Rig, item, like, shop_proposes};

impl Rig {
    /// The ids of the items that are open, in their order.
    pub fn open_items(&self) -> Vec<String> {
        let mut rows = self.house.claw(&["approvals", "--json"]).expect(0).rows();
        rows.retain(|row| row["staged"]["kind"] == "item");
        rows.sort_by_key(|row| row["staged"]["number"].as_u64());
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    }

    pub fn open_list(&self, kind: &str) -> String {
        let rows = self.house.claw(&["approvals", "--json"]).expect(0).rows();
        rows.iter().find(|row| row["staged"]["kind"] == kind).unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

#[test]
fn ask_is_done_and_says_what_is_staged() {
    let rig = Rig::new(shop_proposes(json!([item("apples"), item("pears")])));
    let ran = rig.house.claw(&["ask", "go"]).expect(0);
    assert_eq!(ran.out, "Have a look.\n");
    let [first, second] = <[String; 2]>::try_from(rig.open_items()).unwrap();
    for text in [
        "Staged 2 items: nothing of it is done yet.",
        "“Add apples to the cart”",
        "shop/confirm",
        "text: pears",
    ] {
        assert!(ran.err.contains(text), "{text}: {}", ran.err);
    }
    assert!(
        ran.err.contains(&format!(
            "claw approve {first} (✅ Confirm)   or cancel with: claw deny {first} (❌ Cancel)"
        )),
        "{}",
        ran.err
    );
    assert_eq!(rig.ran("shop"), Vec::<String>::new());

    let approved = rig.house.claw(&["approve", &first]).expect(0);
    assert!(
        approved
            .err
            .contains("Confirmed: shop/confirm, staged item 1 of 2: “Add apples to the cart”"),
        "{approved:?}"
    );
    assert!(
        approved.err.contains("Done: Add apples to the cart.")
            && approved.err.contains("confirm: apples"),
        "{approved:?}"
    );
    assert_eq!(approved.err.matches("Done:").count(), 1, "{approved:?}");
    rig.wait_ran("shop", &["confirm apples"]);
    rig.house.claw(&["approve", &first]).expect_mistake(&["already answered"]);
    let denied = rig.house.claw(&["deny", &second]).expect(0);
    assert!(denied.err.contains("Cancelled: Add pears to the cart."), "{denied:?}");
    assert_eq!(rig.house.claw(&["approvals"]).expect(0).out, "");
    assert_eq!((rig.ran("shop").len(), rig.asked_the_model()), (1, 2));
    rig.house.is_whole();
}

#[test]
fn all_at_once_and_json() {
    let rig = Rig::new(shop_proposes(json!([item("apples"), item("pears")])));
    let ran = rig.house.claw(&["ask", "go", "--json"]).expect(0);
    let staged = ran.json()["staged"].as_array().unwrap().clone();
    assert_eq!(staged.len(), 3, "{staged:?}");
    assert_eq!(
        (&staged[0]["staged"]["summary"], &staged[2]["staged"]["kind"]),
        (&json!("Add apples to the cart"), &json!("all"))
    );
    let approved = rig.house.claw(&["approve", &rig.open_list("all"), "--json"]).expect(0);
    let calls = approved.json()["calls"].clone();
    assert_eq!(calls.as_array().unwrap().len(), 2, "{calls}");
    assert!(
        calls.as_array().unwrap().iter().all(|call| call["outcome"]["kind"] == "ended"),
        "{calls}"
    );
    rig.wait_ran("shop", &["confirm apples", "confirm pears"]);
    rig.house.is_whole();
}

#[test]
fn a_grant_or_a_word_is_not_offered() {
    let rig = Rig::new(shop_proposes(json!([
        item("apples"),
        like("👍 Like", "good"),
        like("👎 Dislike", "bad")
    ])));
    rig.house.claw(&["ask", "go"]).expect(0);
    let id = rig.open_items().remove(0);
    for wrong in [
        &["approve", &id, "--for", "always"][..],
        &["approve", &id, "--button", "1"],
        &["deny", &id, "--never"],
    ] {
        rig.house.claw(wrong).expect(2);
    }
    let buttons = rig.open_list("buttons");
    rig.house.claw(&["approve", &buttons]).expect(2);
    rig.house.claw(&["approve", &buttons, "--button", "3"]).expect(2);
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
    let pressed = rig.house.claw(&["approve", &buttons, "--button", "2"]).expect(0);
    assert!(pressed.err.contains("Done: 👎 Dislike."), "{pressed:?}");
    rig.wait_ran("shop", &["like bad"]);
    rig.house.is_whole();
}

#[test]
fn an_ask_that_waits_for_something_else_does_not_take_a_staged_item_for_it() {
    let rig = Rig::new(shop_proposes(json!([item("apples")])).into_iter().chain([
        crate::wires::Answer::Turn(crate::wires::Turn::calls(&[crate::wires::Call::new(
            "w",
            "shop__change",
            "{}",
        )])),
    ]));
    rig.house.claw(&["ask", "go"]).expect(0);
    let ran = rig.house.claw(&["ask", "change it"]).expect(3);
    assert!(ran.err.contains("shop/change") && !ran.err.contains("Add apples"), "{ran:?}");
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
}
