//! The button below an answer that puts back the files of its turn, at Telegram: who may tap it,
//! and what comes of taps that come twice or late.

use crate::botapi::Message;
use crate::program;
use crate::program::{House, eventually};
use crate::telegram_rig::Rig;

/// What is tried here needs no questions.
const ALLOW: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"a test\"\n";

/// The answer of a turn that has made two files, with its button.
fn changed() -> (Rig, program::Running, Message) {
    let house = House::new();
    house.write("policy.toml", ALLOW);
    let rig = Rig::with(house);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "write `one` to a.txt and write `two` to b.txt");
    let answer = rig.telegram.wait_for_button(rig.anna.id, "Undo 2 files");
    (rig, gateway, answer)
}

impl Rig {
    /// The words that a tap of the owner is answered with.
    #[track_caller]
    fn taps(&self, message: &Message, label: &str) -> String {
        let tap = self.anna.taps_on(message.chat, message.id, label);
        self.telegram.wait_answered(&tap).0
    }

    fn has(&self, name: &str) -> bool {
        self.house.workspace().join(name).exists()
    }

    fn undos(&self) -> usize {
        self.house.audit().iter().filter(|row| row["kind"] == "undo.ended").count()
    }
}

#[test]
fn a_double_tap_undoes_once_and_the_answer_loses_its_button() {
    let (rig, gateway, answer) = changed();
    rig.taps(&answer, "Undo 2 files");
    let list = rig.telegram.wait_for_button(rig.anna.id, "Undo");
    assert!(list.text.contains("changes 2 paths"), "{}", list.text);
    assert!(list.text.contains("remove   a.txt") && rig.has("a.txt"), "{}", list.text);
    let first = rig.anna.taps_on(list.chat, list.id, "Undo");
    let data = first.data.clone();
    let second = rig.anna.forges_tap(list.chat, list.id, &data);
    assert!(rig.telegram.wait_answered(&first).0.contains("Undone: 2 paths."));
    let (said, _) = rig.telegram.wait_answered(&second);
    assert!(said.contains("undone already"), "{said}");
    assert_eq!((rig.has("a.txt"), rig.has("b.txt"), rig.undos()), (false, false, 1));
    for message in [&answer, &list] {
        rig.telegram.wait_for("the buttons are gone", |world| {
            world.message(message.chat, message.id)?.labels().is_empty().then_some(())
        });
    }
    // The answer's button, as an old copy of the screen has it.
    let old = answer.button("Undo 2 files").unwrap().data.clone().unwrap();
    let late = rig.anna.forges_tap(answer.chat, answer.id, &old);
    assert!(rig.telegram.wait_answered(&late).0.contains("Nothing to undo"));
    assert_eq!(rig.undos(), 1);
    rig.stop(gateway);
}

#[test]
fn only_an_owner_undoes_and_what_is_left_stays() {
    let (rig, gateway, answer) = changed();
    let mallory = rig.telegram.user("Mallory");
    let button = answer.button("Undo 2 files").unwrap().data.clone().unwrap();
    let yes = button.replacen("u:", "r:", 1) + &format!(":{}", answer.id);
    for data in [&button, &yes] {
        let tap = mallory.forges_tap(answer.chat, answer.id, data);
        assert!(rig.telegram.wait_answered(&tap).0.contains("Only the owner"));
    }
    rig.taps(&answer, "Undo 2 files");
    let list = rig.telegram.wait_for_button(rig.anna.id, "Leave as is");
    assert_eq!(rig.taps(&list, "Leave as is"), "The files stay as they are.");
    assert_eq!((rig.has("a.txt"), rig.undos()), (true, 0));
    eventually("its buttons are gone", || {
        rig.telegram.message(list.chat, list.id).labels().is_empty()
    });
    // What somebody changes between the list and the yes is left.
    rig.taps(&answer, "Undo 2 files");
    let list = rig.telegram.wait_for_button(rig.anna.id, "Undo");
    std::fs::write(rig.house.workspace().join("a.txt"), "mine").unwrap();
    rig.taps(&list, "Undo");
    rig.telegram.wait_for_text(rig.anna.id, "a.txt (changed since)");
    assert_eq!((rig.house.in_workspace("a.txt").as_str(), rig.has("b.txt")), ("mine", false));
    rig.stop(gateway);
}

#[test]
fn a_button_survives_a_kill() {
    let (rig, gateway, answer) = changed();
    rig.wait_handled();
    rig.kill(gateway);
    let gateway = rig.house.start(&["gateway"]);
    rig.taps(&answer, "Undo 2 files");
    let list = rig.telegram.wait_for_button(rig.anna.id, "Undo");
    rig.taps(&list, "Undo");
    eventually("the files are gone", || !rig.has("a.txt") && !rig.has("b.txt"));
    rig.stop(gateway);
}
