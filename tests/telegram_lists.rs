//! Calls of one reply as one message in Telegram: its buttons, written numbers, taps that come
//! twice or too late, and that the message shows what was decided.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::time::Duration;

use crate::botapi::Message;
use crate::program::eventually;
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use serde_json::json;

/// Somebody reads a question before he answers it; dates of messages are whole seconds.
const READING: Duration = Duration::from_secs(2);

fn rig(count: usize) -> Rig {
    let moves: Vec<Call> = (1..=count)
        .map(|n| {
            let name = format!("note-{n}.txt");
            let arguments = json!({"source": name, "destination": format!("old/{name}")});
            Call::new(&n.to_string(), "filesystem__move", &arguments.to_string())
        })
        .collect();
    let rig = Rig::new([Answer::Turn(Turn::calls(&moves)), Answer::text("It is done.")]);
    fs::create_dir_all(rig.house.workspace().join("old")).unwrap();
    for n in 1..=count {
        fs::write(rig.house.workspace().join(format!("note-{n}.txt")), "milk\n").unwrap();
    }
    rig
}

impl Rig {
    fn moved(&self) -> usize {
        fs::read_dir(self.house.workspace().join("old")).unwrap().count()
    }

    fn count(&self, sql: &str) -> i64 {
        self.house.db().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// The one message with the list, on record, and read.
    fn list(&self) -> Message {
        self.anna.says(self.anna.private(), "tidy up");
        let asked = self.telegram.wait_for_button(self.anna.private(), "Choose…");
        eventually("it is on record", || self.count("SELECT count(*) FROM posted") == 1);
        self.telegram.let_pass(READING);
        asked
    }

    /// Waits until the message of the list has this text.
    fn shows(&self, asked: &Message, text: &str) -> Message {
        self.telegram.wait_for(&format!("the list shows `{text}`"), |world| {
            world.message(asked.chat, asked.id).filter(|now| now.text.contains(text)).cloned()
        })
    }

    fn taps(&self, asked: &Message, label: &str) -> String {
        let tap = self.anna.taps_on(asked.chat, asked.id, label);
        self.telegram.wait_answered(&tap).0
    }
}

#[test]
fn buttons_and_numbers_answer_a_list_each_call_once() {
    let rig = rig(12);
    let gateway = rig.start();
    let asked = rig.list();
    assert!(asked.text.starts_with("claw wants to do 12 things\n1. Move note-1.txt to old/"));
    assert!(asked.text.contains("… and 3 more of this kind"), "{}", asked.text);
    let first = [
        &["Allow all 12", "Choose…"][..],
        &["All, and mode edits this session"],
        &["None", "Deny and say why", "Show all"],
    ];
    assert_eq!(asked.labels(), first);
    assert!(rig.taps(&asked, "Show all").contains("message below"));
    rig.telegram.wait_for_text(rig.anna.id, "12. Move note-12.txt to old/");

    rig.taps(&asked, "Choose…");
    let numbers = rig.telegram.wait_for("the numbers", |world| {
        world.message(asked.chat, asked.id).filter(|now| now.button("✓ 12").is_some()).cloned()
    });
    let two = [(); 2].map(|()| {
        let data = numbers.button("✓ 3").unwrap().data.clone().unwrap();
        rig.anna.forges_tap(asked.chat, asked.id, &data)
    });
    let mut said = two.map(|tap| rig.telegram.wait_answered(&tap).0);
    said.sort();
    assert!(said[0].starts_with("Allowed 3. Still open: 1-2, 4-12"), "{said:?}");
    assert!(said[1].contains("already answered"), "{said:?}");
    let now = rig.shows(&asked, "✅ 3. Move note-3.txt");
    assert!(now.button("✓ 3").is_none() && now.button("✓ 4").is_some(), "{:?}", now.labels());
    eventually("it is moved", || rig.moved() == 1);

    rig.anna.says(rig.anna.private(), "1, 5-6 -2");
    rig.telegram.wait_for_text(rig.anna.id, "Allowed 1, 5-6. Denied 2. Still open: 4, 7-12.");
    rig.shows(&asked, "❌ 2. Move note-2.txt");
    rig.anna.says(rig.anna.private(), "5");
    rig.telegram.wait_for_text(rig.anna.id, "5 is answered already; open: 4, 7-12.");
    eventually("three more are moved", || rig.moved() == 4);

    let now = rig.telegram.message(asked.chat, asked.id);
    let all = now.button("Allow the other 7").unwrap().data.clone().unwrap();
    assert_eq!(rig.taps(&asked, "None of the others"), "Denied all 7.");
    rig.telegram.wait_for_text(rig.anna.id, "It is done.");
    let over = rig.shows(&asked, "Denied");
    assert!(over.labels().is_empty(), "{:?}", over.labels());
    let late = rig.anna.forges_tap(asked.chat, asked.id, &all);
    assert!(rig.telegram.wait_answered(&late).0.contains("already denied by telegram:"));
    assert_eq!(rig.moved(), 4);
    let audit = |kind: &str| {
        rig.count(&format!(
            "SELECT count(*) FROM audit WHERE kind = '{kind}' AND call NOT LIKE '%:together'"
        ))
    };
    assert_eq!((audit("started"), audit("answered")), (4, 12));
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_list_takes_yes_for_all_of_it_and_a_mode() {
    let rig = rig(2);
    let gateway = rig.start();
    let asked = rig.list();
    rig.anna.says(rig.anna.private(), "Ok!");
    rig.shows(&asked, "✅ 2. Move note-2.txt");
    rig.telegram.wait_for_text(rig.anna.id, "Allowed all 2.");
    rig.telegram.wait_for_text(rig.anna.id, "It is done.");
    assert_eq!((rig.moved(), rig.count("SELECT count(*) FROM grants")), (2, 0));
    drop(gateway);

    let rig = self::rig(3);
    let gateway = rig.start();
    let asked = rig.list();
    let told = rig.taps(&asked, "All, and mode edits this session");
    assert_eq!(told, "Allowed all 3, and mode edits for this session.");
    rig.telegram.wait_for_text(rig.anna.id, "It is done.");
    assert_eq!((rig.moved(), rig.count("SELECT count(*) FROM grants")), (3, 1));
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_thumb_answers_all_of_a_list() {
    for (thumb, told, moved) in
        [("👍", "✅ 2. Move note-2.txt", 2), ("👎", "❌ 2. Move note-2.txt", 0)]
    {
        let rig = rig(2);
        let gateway = rig.start();
        let asked = rig.list();
        rig.anna.reacts(asked.chat, asked.id, &[thumb]).unwrap();
        let over = rig.shows(&asked, told);
        assert!(over.labels().is_empty(), "{:?}", over.labels());
        rig.telegram.wait_for_text(rig.anna.id, "It is done.");
        assert_eq!((rig.moved(), rig.count("SELECT count(*) FROM grants")), (moved, 0));
        drop(gateway);
        rig.house.is_whole();
    }
}
