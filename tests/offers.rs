//! The grant that a question offers after the third equal yes: which one, to whom, where, and for
//! what it is never offered. Through the whole program.

use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::{Value, json};

/// The key that the one open question offers.
fn offer(house: &House) -> Value {
    house.claw(&["approvals", "--json"]).expect(0).rows().remove(0)["effect"]["offer"].clone()
}

#[test]
fn after_the_third_equal_yes_a_question_offers_the_narrowest_grant() {
    let house = House::new();
    for n in 1..=3 {
        let id = house.ask_parks(&format!("write notes/{n}.txt: {n}"));
        assert!(offer(&house).is_null(), "{n}");
        house.claw(&["approve", &id]).expect(0);
    }
    let id = house.ask_parks("write notes/deep/4.txt: 4");
    assert!(offer(&house).is_null(), "no width of this question covers the three");
    house.claw(&["approve", &id]).expect(0);
    let id = house.ask_parks("write notes/4.txt: 4");
    assert_eq!(offer(&house), "ab");
    let shown = house.claw(&["approvals"]).expect(0).out.replace('\n', " ");
    for said in ["You have said yes 3 times", &format!("{id} --for always --edits-below 'notes'")] {
        assert!(shown.contains(said), "{shown}");
    }
    house.claw(&["approve", &id, "--for", "always", "--edits-below", "notes"]).expect(0);
    house.claw(&["ask", "write notes/deep/5.txt: 5"]).expect(0);
    // What other programs obey is not covered, whichever link leads there.
    std::fs::create_dir_all(house.workspace().join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink("../.git/hooks", house.workspace().join("notes/link")).unwrap();
    house.claw(&["ask", "write notes/link/pre-commit: x"]).expect(0);
    assert!(!house.workspace().join(".git/hooks/pre-commit").exists());
    let outside = ["write c.txt: 3", "write notes/CLAUDE.md: x", "write notes2/a: 1"];
    for (session, asks) in ["one", "two", "three"].into_iter().zip(outside) {
        house.claw(&["ask", "--session", session, asks]).expect(3);
    }
    house.is_whole();
}

#[test]
fn no_grant_is_offered_after_a_no_nor_again_after_it_was_passed_over() {
    let house = House::new();
    let mut n = 0;
    let mut next = |yes: bool| {
        n += 1;
        let id = house.ask_parks(&format!("write notes/{n}.txt: {n}"));
        let offered = offer(&house);
        house.claw(&[if yes { "approve" } else { "deny" }, &id]).expect(0);
        offered
    };
    for (turn, yes) in [true, true, false, true, true, true].into_iter().enumerate() {
        assert!(next(yes).is_null(), "{turn}");
    }
    assert_eq!(next(true), "ab");
    for turn in 0..4 {
        assert!(next(true).is_null(), "it was passed over: {turn}");
    }
    let days = "UPDATE approvals SET decided_ms = decided_ms - 8 * 86400000";
    house.db().execute(days, []).unwrap();
    for turn in 0..3 {
        assert!(next(true).is_null(), "what was answered a week ago does not count: {turn}");
    }
    house.write("claw.toml", "[limits]\ngrant_offer_days = 0\n");
    assert!(next(true).is_null(), "no grant is offered");
    house.write("claw.toml", "");
    assert_eq!(next(true), "ab");
    house.is_whole();
}

#[test]
fn a_yes_in_another_folder_or_by_somebody_else_does_not_count_for_an_offer() {
    let house = House::new();
    let two = |house: &House| {
        for n in 1..=2 {
            let id = house.ask_parks(&format!("write notes/{n}.txt: {n}"));
            house.claw(&["approve", &id]).expect(0);
        }
    };
    two(&house);
    std::fs::create_dir_all(house.user_home().join("papers")).unwrap();
    let papers = house.user_home().join("papers").display().to_string();
    house.claw(&["ask", "-C", &papers, "write notes/3.txt: 3"]).expect(3);
    house.claw(&["approve", &house.waiting()]).expect(0);
    let id = house.ask_parks("write notes/4.txt: 4");
    assert!(offer(&house).is_null(), "one of the three was in another folder");
    house.claw(&["deny", &id]).expect(0);

    let house = House::new();
    two(&house);
    let id = house.ask_parks("write notes/3.txt: 3");
    house.claw(&["approve", &id]).expect(0);
    let others = "UPDATE approvals SET decided_by = 'telegram:666' WHERE id = ?1";
    house.db().execute(others, [&id]).unwrap();
    house.ask_parks("write notes/4.txt: 4");
    assert!(offer(&house).is_null(), "one of the three is somebody else's yes");
    // What was asked for in another name is another matter, too.
    let house = House::new();
    two(&house);
    let id = house.ask_parks("write notes/3.txt: 3");
    house.claw(&["approve", &id]).expect(0);
    let others = "UPDATE calls SET principal = 'telegram:666' WHERE id =
                  (SELECT call FROM approvals WHERE id = ?1)";
    house.db().execute(others, [&id]).unwrap();
    house.ask_parks("write notes/4.txt: 4");
    assert!(offer(&house).is_null(), "one of the three was another person's call");
}

#[test]
fn what_a_rule_asks_about_and_what_deletes_is_never_offered() {
    let house = House::new();
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"filesystem\"\ntool = \"write_file\"\ndecision = \"ask\"\n\
         why = \"the owner wants to see each\"\n",
    );
    for n in 1..=4 {
        let id = house.ask_parks(&format!("write notes/{n}.txt: {n}"));
        assert!(offer(&house).is_null(), "{n}");
        house.claw(&["approve", &id]).expect(0);
    }
    house.is_whole();

    let delete = || {
        let arguments = json!({"path": "a.txt"}).to_string();
        Answer::Turn(Turn::calls(&[Call::new("call-1", "filesystem__delete", &arguments)]))
    };
    let answers = (0..4).flat_map(|_| [delete(), Answer::text("It is gone.")]);
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    std::fs::create_dir_all(house.workspace()).unwrap();
    for n in 1..=4 {
        std::fs::write(house.workspace().join("a.txt"), "the same\n").unwrap();
        let id = house.ask_parks("delete it");
        assert!(offer(&house).is_null(), "{n}");
        house.claw(&["approve", &id]).expect(0);
        assert!(!house.workspace().join("a.txt").exists(), "{n}");
    }
    house.is_whole();
}
