//! The head of the audit in the owner's chat, where nobody at the machine can change it: once a
//! day, and not after each restart.
#![expect(clippy::expect_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::{House, eventually};
use crate::telegram_rig::Rig;

/// The head that the chat was told, as `claw audit verify --head` takes it.
fn heads(rig: &Rig) -> Vec<String> {
    let sent = rig.telegram.sent(rig.anna.id);
    let told = sent
        .iter()
        .filter_map(|one| one.text.split_once("Its head: ").map(|(_, rest)| rest.to_owned()));
    told.map(|rest| rest.split_once(". ").map(|(head, _)| head.to_owned()).expect("a sentence"))
        .collect()
}

#[test]
fn the_head_of_the_audit_is_told_once_a_day_and_verifies() {
    let rig = Rig::configured("[audit]\ntell_head = true\n");
    rig.house.claw(&["panic", "on"]).expect(0);
    rig.house.claw(&["panic", "off"]).expect(0);
    let gateway = rig.start();
    rig.telegram.wait_for_text(rig.anna.id, "Its head: ");
    rig.stop(gateway);
    let [head] = <[String; 1]>::try_from(heads(&rig)).expect("one head");
    let whole = rig.house.claw(&["audit", "verify", "--head", &head]).expect(0).out;
    assert!(whole.contains("is the one that you have noted."), "{whole}");
    // The same day: a restart tells nothing new. A day later by the store's own record, it does.
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "/status");
    rig.telegram.wait_for_text(rig.anna.id, "session: ");
    rig.stop(gateway);
    assert_eq!(heads(&rig).len(), 1);
    let yesterday =
        "UPDATE meta SET value = CAST(value AS INTEGER) - 86400000 WHERE key = 'told.audit.head'";
    assert_eq!(rig.house.db().execute(yesterday, []).expect("an UPDATE"), 1);
    let gateway = rig.start();
    eventually("it is told again", || heads(&rig).len() == 2);
    rig.stop(gateway);
}

#[test]
fn the_audit_says_in_words_what_decided_and_its_rows_name_the_rule() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    house.ask_parks("write a: b");
    let told = house.claw(&["audit"]).expect(0).out;
    for (call, words) in [
        ("filesystem/list_dir", "(claw's default for safe tools)"),
        ("filesystem/write_file", "(claw's default for changes)"),
    ] {
        let line = told.lines().find(|line| line.contains(call)).unwrap();
        assert!(line.ends_with(words), "{line}");
        let id = line.split_whitespace().nth(2).unwrap();
        let explained = house.claw(&["audit", "explain", id]).expect(0).out;
        assert!(
            explained.contains(words.trim_matches(['(', ')'])) && !explained.contains("class."),
            "{explained}"
        );
    }
    assert!(!told.contains("class."), "{told}");
    let rows = house.claw(&["audit", "--rows"]).expect(0).out;
    assert!(rows.contains("class.safe") && rows.contains("class.mutating"), "{rows}");
}
