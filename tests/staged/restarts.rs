//! SIGKILL in between: what was shown is asked again and never doubled, and what was confirmed runs
//! once.

use serde_json::json;

use crate::botapi::Fault;
use crate::program::eventually;
use crate::staged::rig::{Rig, item, shop_proposes};

#[test]
fn between_showing_and_the_tap() {
    let rig = Rig::new(shop_proposes(json!([item("apples"), item("pears")])));
    let gateway = rig.started_with_a_turn();
    let all = rig.asked("Staged 2 items");
    let old = [1, 2].map(|number| rig.asked(&format!("Staged item {number} of 2")));
    rig.kill(gateway);
    let gateway = rig.start();
    rig.wait_edited(&all, "Asked again");
    let fresh = [1, 2].map(|number| {
        rig.wait_edited(&old[number - 1], "Asked again");
        rig.asked(&format!("Staged item {number} of 2"))
    });
    let all = rig.asked("Staged 2 items");
    assert!(
        fresh[0].id > old[1].id && fresh[0].id < fresh[1].id && fresh[1].id < all.id,
        "in their order"
    );
    let live = rig
        .telegram
        .sent(rig.anna.id)
        .iter()
        .filter(|message| !message.labels().is_empty())
        // What claw asks about servers that are new stands beside it.
        .filter(|message| !message.text.starts_with("New server: "))
        .count();
    assert_eq!(live, 3, "each has its buttons once");
    assert_eq!(rig.taps_again(&old[0], "✅ Confirm"), "This button does nothing any more.");
    rig.taps(&fresh[0], "✅ Confirm");
    rig.wait_edited(&fresh[0], " · done");
    rig.wait_ran("shop", &["confirm apples"]);
    assert_eq!(rig.number("SELECT count(*) FROM approvals"), 3, "nothing was staged again");
    rig.stop(gateway);
}

#[test]
fn between_the_tap_and_the_run() {
    let rig = Rig::new(shop_proposes(json!([item("apples")])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    // While somebody else holds the session, a tap is decided and nothing can run.
    let held = rig.holds_the_session();
    assert_eq!(rig.taps(&asked, "✅ Confirm"), "Confirmed.");
    assert_eq!(rig.taps_again(&asked, "✅ Confirm"), "Already confirmed: it is on its way.");
    rig.wait_edited(&asked, "✅ Confirmed by you");
    rig.kill(gateway);
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
    drop(held);
    let gateway = rig.start();
    rig.wait_edited(&asked, " · done");
    rig.telegram.wait_for_text(rig.anna.id, "Done: Add apples to the cart.");
    rig.wait_ran("shop", &["confirm apples"]);
    rig.kill(gateway);
    let gateway = rig.start();
    rig.says("/usage");
    rig.telegram.wait_for_text(rig.anna.id, "Today, all sessions");
    rig.stop(gateway);
    rig.wait_ran("shop", &["confirm apples"]);
}

/// The gateway dies while the action runs, or just after: it may have happened, and is never tried
/// again.
#[test]
fn in_the_middle_of_the_run() {
    let rig = Rig::new(shop_proposes(json!([item("apples")])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    rig.taps(&asked, "✅ Confirm");
    eventually("it has run at the server", || rig.ran("shop").len() == 1);
    rig.kill(gateway);
    let gateway = rig.start();
    eventually("it has an end", || rig.events(&rig.session(), "action.result").len() == 1);
    rig.wait_edited(&asked, " · ");
    rig.says("/usage");
    rig.telegram.wait_for_text(rig.anna.id, "Today, all sessions");
    rig.stop(gateway);
    assert_eq!(rig.ran("shop"), ["confirm apples"]);
}

/// `/new` came first, so it is obeyed first: the end of what was confirmed behind it is in the log
/// before it, and nowhere else.
#[test]
fn a_new_conversation_after_the_kill_tells_of_the_end_once() {
    let rig = Rig::new(shop_proposes(json!([item("apples")])));
    let gateway = rig.started_with_a_turn();
    let asked = rig.asked("Staged 1 item");
    let held = rig.holds_the_session();
    rig.says("/new");
    eventually("the order waits", || {
        rig.number("SELECT count(*) FROM inbox WHERE state = 'queued'") == 1
    });
    assert_eq!(rig.taps(&asked, "✅ Confirm"), "Confirmed.");
    rig.kill(gateway);
    // What the log is like when the turn that `/new` has stopped was still open, and the yes came
    // meanwhile.
    let proposed = rig.number("SELECT seq FROM events WHERE type = 'tool.result'");
    let answered = json!({
        "type": "action.answered",
        "call": format!("{}:{proposed}:action.0", rig.session()),
        "approval": asked.button("✅ Confirm").unwrap().data.as_ref().unwrap().split(':').nth(1),
        "action": {"server": "shop", "tool": "confirm", "arguments": {"text": "apples"}, "summary": "Add apples"},
        "answer": {"kind": "allow", "term": "once", "scope": {"kind": "exact"}},
        "by": "telegram",
    });
    let known = answered["call"].as_str().unwrap();
    assert_eq!(
        rig.number(&format!("SELECT count(*) FROM staged WHERE call = '{known}'")),
        1,
        "{known}"
    );
    let insert = "INSERT INTO events(session, seq, at_ms, type, body)
                  SELECT session, max(seq) + 1, max(at_ms), 'action.answered', ?1 FROM events";
    rig.house.db().execute(insert, [answered.to_string()]).unwrap();
    drop(held);
    let gateway = rig.start();
    rig.telegram.wait_for_text(rig.anna.id, "A new conversation.");
    rig.wait_edited(&asked, "not run");
    eventually("nothing waits", || {
        rig.number("SELECT count(*) FROM inbox WHERE state = 'queued'") == 0
    });
    rig.wait_delivered();
    for kind in ["action.answered", "action.result"] {
        assert_eq!(rig.events(&rig.session(), kind).len(), 1, "{kind}");
    }
    assert_eq!(rig.count(rig.anna.id, "Not run: Add apples"), 1);
    assert_eq!(rig.ran("shop"), Vec::<String>::new());
    rig.stop(gateway);
}

#[test]
fn before_anything_was_shown() {
    let rig = Rig::new(shop_proposes(json!([item("apples"), item("pears")])));
    // The reply gets out, the list does not.
    rig.telegram.fault(Fault::TooMany(3_600)).on("sendMessage").always();
    let gateway = rig.start();
    rig.says("go");
    eventually("the turn has ended", || {
        rig.house.home().join("claw.db").exists()
            && rig
                .house
                .db()
                .query_row("SELECT count(*) FROM approvals WHERE state = 'waiting'", [], |row| {
                    row.get::<_, i64>(0)
                })
                .unwrap_or(0)
                == 3
    });
    rig.kill(gateway);
    rig.telegram.heal();
    let gateway = rig.start();
    let all = rig.asked("Staged 2 items");
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "Staged item 1 of 2"), 1);
    rig.taps(&all, "✅ Confirm all 2");
    rig.wait_ran("shop", &["confirm apples", "confirm pears"]);
    rig.wait_edited(&all, "Confirmed all 2");
    rig.stop(gateway);
}
