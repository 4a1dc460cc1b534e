//! Who may talk: unknown users, allowed users, and what the owner hears of them, through the whole
//! program.

use crate::botapi::User;
use crate::program;
use crate::telegram_rig::Rig;

impl Rig {
    fn hears_nothing(&self, unknown: &User) -> bool {
        self.telegram.sent(unknown.id).is_empty()
    }
}

#[test]
fn the_owner_is_told_of_an_unknown_user_once_also_after_a_restart() {
    let rig = Rig::new();
    let mallory = rig.telegram.user("Mal\u{202e}lory");
    let gateway = rig.start();
    mallory.starts();
    let told = rig.telegram.wait_for_button(rig.anna.id, "Let them in");
    for shown in [
        "Mal\\u{202e}lory",
        &format!("User id: {}", mallory.id),
        "(unproven)",
        &format!("Chat id: {}", mallory.id),
    ] {
        assert!(told.text.contains(shown), "{shown} is not in {}", told.text);
    }
    mallory.says(mallory.private(), "hello?");
    mallory.says(mallory.private(), "let me in");
    rig.wait_handled();
    let on_record = || {
        rig.number("SELECT count(*) FROM owner_questions WHERE kind = 'access' AND state = 'told'")
            == 1
    };
    program::eventually("the message is on record", on_record);
    rig.kill(gateway);
    let gateway = rig.house.start(&["gateway"]);
    mallory.says(mallory.private(), "still here");
    rig.anna.says(rig.anna.private(), "/usage");
    rig.telegram.wait_for_text(rig.anna.id, "Today, all sessions");
    rig.wait_handled();
    assert_eq!(rig.count(rig.anna.id, "An unknown user wrote"), 1);
    assert!(rig.hears_nothing(&mallory), "an unknown user hears nothing");
    let user = mallory.id.to_string();
    let shown = rig.telegram.message(rig.anna.id, told.id);
    insta::assert_snapshot!(
        shown.text.replace(&user, "USER").replace(&mallory.username, "USERNAME")
    );
    rig.stop(gateway);
}

/// Neither where an allowed user's conversation works nor what it may do is theirs to set.
fn sets_nothing(rig: &Rig, bob: &User) {
    for (number, words) in ["/here /tmp", "/here mode work", "/here"].into_iter().enumerate() {
        bob.says(bob.private(), words);
        let refused = || rig.count(bob.id, "Only an owner may see or set this.");
        program::eventually("it is refused", || refused() == number + 1);
    }
    bob.says(bob.private(), "/mode work");
    rig.telegram.wait_for_text(bob.id, "Only the owner may set the mode.");
    let set =
        "SELECT (SELECT count(*) FROM audit WHERE kind = 'here') + (SELECT count(*) FROM grants)";
    assert_eq!(rig.number(set), 0);
}

#[test]
fn an_unknown_user_is_let_in_by_the_owner_alone_talks_and_decides_nothing() {
    let rig = Rig::new();
    let (bob, mallory) = (rig.telegram.user("Bob"), rig.telegram.user("Mallory"));
    let gateway = rig.start();
    bob.starts();
    let told = rig.telegram.wait_for_button(rig.anna.id, "Let them in");
    let data = told.button("Let them in").unwrap().data.clone().unwrap();
    // By an unknown user, by whom it is about, under another message, for somebody who has not
    // written.
    let other = rig.telegram.wait_for_text(rig.anna.id, "I am claw");
    for (tap, words) in [
        (mallory.forges_tap(rig.anna.private(), told.id, &data), "Only the owner"),
        (bob.forges_tap(bob.private(), told.id, &data), "Only the owner"),
        (rig.anna.forges_tap(rig.anna.private(), other.id, &data), "does nothing"),
        (
            rig.anna.forges_tap(rig.anna.private(), told.id, &format!("p:{}", mallory.id)),
            "does nothing",
        ),
    ] {
        let (said, _) = rig.telegram.wait_answered(&tap);
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(rig.number("SELECT count(*) FROM guests"), 0);

    let tap = rig.anna.taps_on(rig.anna.private(), told.id, "Let them in");
    assert_eq!(rig.telegram.wait_answered(&tap).0, "Let in.");
    rig.wait_edited(&told, "Let in by you");
    rig.telegram.wait_for_text(bob.id, "You may talk to claw now");
    let again = rig.anna.forges_tap(rig.anna.private(), told.id, &data);
    assert!(rig.telegram.wait_answered(&again).0.contains("already"), "a second tap does nothing");

    // He may talk, and what he asks for is decided by the owner, whom his chat's question reaches.
    bob.says(bob.private(), "write b.txt: from bob");
    rig.telegram.wait_for_text(bob.id, "needs the owner's yes");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    assert!(
        asked.text.contains(&rig.session(&bob)) && asked.text.contains("from bob"),
        "{}",
        asked.text
    );
    let data = asked.button("Allow once").unwrap().data.clone().unwrap();
    let own = bob.forges_tap(bob.private(), asked.id, &data);
    assert!(rig.telegram.wait_answered(&own).0.contains("Only the owner"));
    bob.says(bob.private(), "/panic");
    rig.telegram.wait_for_text(bob.id, "Only the owner may use the stop switch");
    bob.says(bob.private(), "/approvals");
    rig.telegram.wait_for_text(bob.id, "Only the owner may see this");
    sets_nothing(&rig, &bob);
    assert_eq!(rig.house.in_workspace("b.txt"), "");
    rig.anna.taps_on(rig.anna.private(), asked.id, "Allow once");
    rig.wait_edited(&asked, "ran: ok");
    assert_eq!(rig.house.in_workspace("b.txt"), "from bob");
    let origin: String = rig
        .house
        .db()
        .query_row("SELECT origin FROM calls WHERE tool = 'write_file'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(origin, "forwarded", "an allowed user is trusted no more than a member of a group");

    rig.anna.says(rig.anna.private(), "/guests");
    rig.telegram.wait_for_text(rig.anna.id, "/guests remove ID");
    rig.anna.says(rig.anna.private(), &format!("/guests remove {}", bob.id));
    rig.telegram.wait_for_text(rig.anna.id, "may not talk any more");
    // What his turn still had to say is said.
    program::eventually("his turn has ended", || {
        rig.number("SELECT count(*) FROM events WHERE type = 'turn.ended'") == 1
    });
    rig.wait_delivered();
    let before = rig.telegram.sent(bob.id).len();
    bob.says(bob.private(), "/help");
    rig.wait_handled();
    rig.wait_delivered();
    assert_eq!(rig.telegram.sent(bob.id).len(), before, "silence again");
    rig.telegram.wait_for_button(rig.anna.id, "Let them in");
    assert_eq!(rig.count(rig.anna.id, "An unknown user wrote"), 1, "it is as the first time");
    rig.stop(gateway);
}

#[test]
fn whoever_is_sent_away_hears_no_more_and_may_be_let_in_again() {
    let rig = Rig::new();
    let bob = rig.telegram.user("Bob");
    let gateway = rig.start();
    let let_in = || {
        let told = rig.telegram.wait_for_button(rig.anna.id, "Let them in");
        rig.anna.taps_on(rig.anna.private(), told.id, "Let them in");
        rig.wait_edited(&told, "Let in by you");
    };
    let number = |sql: &str, wanted: i64| {
        program::eventually(sql, || rig.number(sql) == wanted);
    };
    bob.starts();
    let_in();
    let owner = "CLAW_ALLOWED_CHATS would make them an owner";
    program::eventually("the log says so", || gateway.err().contains(owner));
    rig.telegram.wait_for_text(bob.id, "You may talk to claw now");
    bob.says(bob.private(), "run sleep 600");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.anna.taps_on(rig.anna.private(), asked.id, "Allow once");
    number("SELECT count(*) FROM calls WHERE state = 'started'", 1);
    bob.says(bob.private(), "list");
    number("SELECT count(*) FROM inbox WHERE state = 'queued' AND kind = 'message'", 1);
    rig.anna.says(rig.anna.private(), &format!("/guests remove {}", bob.id));
    let told = rig.telegram.wait_for_text(rig.anna.id, "may not talk any more");
    assert!(!told.text.contains("CLAW_ALLOWED_CHATS"), "{}", told.text);
    number("SELECT count(*) FROM events WHERE type = 'turn.ended'", 1);
    number("SELECT count(*) FROM inbox WHERE state = 'queued'", 0);
    rig.wait_delivered();
    let own = format!("SELECT count(*) FROM events WHERE session = '{}'", rig.session(&bob));
    let said = format!("{own} AND type = 'user.message'");
    assert_eq!(rig.number(&said), 1, "what waited is not taken in");
    for text in ["Stopped", "Listing", "Nothing is running"] {
        assert_eq!(rig.count(bob.id, text), 0, "{:?}", rig.telegram.sent(bob.id));
    }
    bob.says(bob.private(), "hello?");
    let_in();
    program::eventually("he is welcome again", || {
        rig.count(bob.id, "You may talk to claw now") == 2
    });
    rig.stop(gateway);
}

#[test]
fn a_group_is_announced_when_the_bot_is_added_and_ignored_permanently() {
    let rig = Rig::new();
    let mallory = rig.telegram.user("Mallory");
    let gateway = rig.start();
    let group = rig.telegram.supergroup("Rent", &[&mallory]);
    rig.telegram.kick(group, &mallory);
    rig.telegram.readmit(group, &mallory);
    let told = rig.telegram.wait_for_button(rig.anna.id, "Let this group in");
    assert!(
        told.text.contains("added claw to a group") && told.text.contains(&group.to_string()),
        "{}",
        told.text
    );
    let tap = rig.anna.taps_on(rig.anna.private(), told.id, "Ignore");
    rig.telegram.wait_answered(&tap);
    rig.wait_edited(&told, "Ignored by");
    mallory.says(group, "@claw_test_bot hello");
    rig.anna.says(group, "/status@claw_test_bot");
    rig.wait_handled();
    rig.wait_delivered();
    assert!(rig.telegram.sent(group).is_empty(), "the owner has said no to this group");
    assert_eq!(rig.number("SELECT count(*) FROM owner_questions WHERE kind = 'access'"), 1);
    rig.anna.says(rig.anna.private(), "/guests");
    rig.telegram.wait_for_text(rig.anna.id, &format!("You have ignored {group}. After"));
    rig.anna.says(rig.anna.private(), &format!("/guests ask {group}"));
    rig.telegram.wait_for_text(rig.anna.id, "when it writes again");
    mallory.says(group, "@claw_test_bot hello again");
    rig.telegram.wait_for_button(rig.anna.id, "Let this group in");
    rig.stop(gateway);
}

#[test]
fn with_pairing_off_nobody_is_told() {
    let rig = Rig::configured("[telegram]\npairing = \"off\"\n");
    let mallory = rig.telegram.user("Mallory");
    let gateway = rig.start();
    mallory.starts();
    rig.wait_handled();
    assert_eq!(rig.number("SELECT count(*) FROM owner_questions WHERE kind = 'access'"), 0);
    assert!(rig.hears_nothing(&mallory));
    program::eventually("the log says so", || gateway.err().contains("unknown user"));
    rig.stop(gateway);
}

#[test]
fn a_crowd_of_unknown_users_is_summed_up() {
    let rig = Rig::configured("[telegram]\npace = \"off\"\n");
    let gateway = rig.start();
    let crowd: Vec<User> =
        (0..25).map(|number| rig.telegram.user(&format!("Stranger{number}"))).collect();
    for unknown in &crowd {
        unknown.starts();
    }
    rig.telegram.wait_for_text(rig.anna.id, "More than 20 unknown users");
    rig.wait_handled();
    rig.wait_delivered();
    program::eventually("all are shown", || {
        rig.number("SELECT count(*) FROM owner_questions WHERE kind = 'access' AND state = 'new'")
            == 0
    });
    assert_eq!(rig.count(rig.anna.id, "An unknown user wrote"), 20);
    assert_eq!(rig.count(rig.anna.id, "More than 20 unknown users"), 1);
    assert!(crowd.iter().all(|unknown| rig.hears_nothing(unknown)));
    rig.stop(gateway);
}
