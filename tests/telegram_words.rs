//! Written answers at the Telegram door: when a word answers a question, whose word does, and that
//! everything else leaves the question open.

use std::time::Duration;

use crate::botapi::{Fault, Message, Place};
use crate::program::{eventually, outcomes, said};
use crate::telegram_rig::Rig;

/// Somebody reads a question before he answers it; dates of messages are whole seconds.
const READING: Duration = Duration::from_secs(2);

impl Rig {
    fn events(&self) -> Vec<serde_json::Value> {
        self.house.events(&self.session(&self.anna))
    }

    /// A question about a file, on the screen and on record, and read.
    fn question_about(&self, place: impl Into<Place>, file: &str, number: i64) -> Message {
        let chat = place.into().chat;
        let asked = self.telegram.wait_for(&format!("a question about {file}"), |world| {
            let mut asked =
                world.messages(chat).filter(|message| message.button("Allow once").is_some());
            asked.find(|message| message.text.contains(file)).cloned()
        });
        eventually("it is on record", || self.number("SELECT count(*) FROM posted") == number);
        self.telegram.let_pass(READING);
        asked
    }

    fn asks_and_is_read(&self, file: &str) -> Message {
        self.anna.says(self.anna.private(), &format!("write {file}: 1"));
        self.question_about(self.anna.private(), file, 1)
    }

    fn still_asks(&self, message: &Message) -> bool {
        self.telegram.message(message.chat, message.id).button("Allow once").is_some()
    }
}

#[test]
fn a_yes_allows_the_one_open_question_once() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks_and_is_read("a.txt");
    rig.anna.says(rig.anna.private(), "Ok!");
    rig.wait_edited(&asked, "Allowed once");
    rig.wait_edited(&asked, "ran: ok");
    rig.telegram.wait_for_text(rig.anna.id, "Allowed. ");
    assert_eq!(rig.house.in_workspace("a.txt"), "1");
    rig.wait_handled();
    assert_eq!(said(&rig.events()), ["write a.txt: 1"], "an answer is no message");
    assert_eq!(rig.number("SELECT count(*) FROM grants"), 0, "no word grants anything");
    // Without a question it is a message.
    rig.anna.says(rig.anna.private(), "ok");
    eventually("it comes in", || said(&rig.events()) == ["write a.txt: 1", "ok"]);
    rig.stop(gateway);
}

#[test]
fn what_runs_by_a_grant_is_one_quiet_line_under_the_answer() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks_and_is_read("a.txt");
    rig.telegram.wait_answered(&rig.anna.taps_on(rig.anna.private(), asked.id, "This session"));
    rig.wait_edited(&asked, "ran: ok");
    rig.wait_handled();
    assert_eq!(rig.count(rig.anna.id, "by a grant"), 0, "what was asked about is no news");
    rig.anna.says(rig.anna.private(), "write a.txt: 1");
    rig.telegram
        .wait_for_text(rig.anna.id, "Without a question, by a grant: filesystem/write_file.");
    rig.stop(gateway);
}

#[test]
fn a_no_denies_with_the_words_behind_it() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks_and_is_read("a.txt");
    rig.anna.says(rig.anna.private(), "no, use plan.md");
    rig.wait_edited(&asked, "use plan.md");
    eventually("the turn ends", || rig.events().iter().any(|event| event["type"] == "turn.ended"));
    let results = outcomes(&rig.events());
    assert!(results[0].to_string().contains("the owner said no: use plan.md"), "{results:?}");
    assert_eq!(rig.house.in_workspace("a.txt"), "");
    rig.stop(gateway);
}

#[test]
fn a_remark_leaves_the_question_open_and_is_read_behind_the_answer() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks_and_is_read("a.txt");
    rig.anna.says(rig.anna.private(), "yes, but tell me why");
    rig.telegram.wait_for_text(rig.anna.id, "It is still open: tap a button, or write yes or no.");
    rig.anna.says(rig.anna.private(), "and be quick");
    rig.wait_handled();
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "It is still open"), 1, "said once");
    assert!(rig.still_asks(&asked));
    assert_eq!(said(&rig.events()), ["write a.txt: 1"]);
    rig.telegram.wait_answered(&rig.anna.taps_on(rig.anna.private(), asked.id, "Allow once"));
    rig.wait_edited(&asked, "ran: ok");
    eventually("both are in", || {
        said(&rig.events()) == ["write a.txt: 1", "yes, but tell me why", "and be quick"]
    });
    let kinds: Vec<_> = rig.events().iter().map(|event| event["type"].clone()).collect();
    let at = |kind: &str| kinds.iter().rposition(|one| one == kind);
    assert!(at("tool.result") < at("user.message"), "{kinds:?}");
    rig.stop(gateway);
}

#[test]
fn of_several_questions_a_bare_yes_answers_none_and_a_reply_names_one() {
    let rig = Rig::new();
    let gateway = rig.start();
    let home = rig.anna.private();
    // Too long for a list, so each is asked about by itself.
    let long = "2".repeat(600);
    rig.anna.says(home, &format!("write a.txt: {long} and write b.txt: {long}"));
    let [a, b] = ["a.txt", "b.txt"].map(|file| rig.question_about(home, file, 2));
    rig.anna.says(home, "yes");
    rig.telegram
        .wait_for_text(rig.anna.id, "2 questions are open here, so this answers none of them");
    assert!(rig.still_asks(&a) && rig.still_asks(&b));
    rig.anna.writes(home).reply_to(b.id).text("yes").send();
    rig.wait_edited(&b, "Allowed once");
    assert!(rig.still_asks(&a));
    rig.anna.says(home, "nein");
    rig.wait_edited(&a, "Denied");
    eventually("b is written", || rig.house.in_workspace("b.txt") == long);
    assert_eq!(rig.house.in_workspace("a.txt"), "");
    rig.wait_handled();
    assert_eq!(said(&rig.events()).len(), 1, "none of them is a message");
    rig.stop(gateway);
}

#[test]
fn a_yes_that_was_written_before_the_question_was_seen_answers_nothing() {
    let rig = Rig::new();
    rig.house.write("claw.toml", "[telegram]\nstream = false\n");
    let gateway = rig.start();
    let home = rig.anna.private();
    rig.telegram.fault(Fault::Status(502)).on("sendMessage").always();
    rig.anna.says(home, "write a.txt: 1");
    eventually("it waits", || {
        rig.number("SELECT count(*) FROM approvals WHERE state = 'waiting'") == 1
    });
    rig.anna.says(home, "yes");
    rig.wait_handled();
    rig.telegram.heal();
    let asked = rig.question_about(home, "a.txt", 1);
    rig.telegram.wait_for_text(rig.anna.id, "What you wrote came before the question");
    assert!(rig.still_asks(&asked));
    // In the same second nobody has read it, either.
    rig.house.db().execute("UPDATE posted SET sent_s = sent_s + 1000", []).unwrap();
    rig.anna.says(home, "yes");
    rig.wait_handled();
    assert!(rig.still_asks(&asked));
    assert_eq!(rig.house.in_workspace("a.txt"), "");
    rig.house.db().execute("UPDATE posted SET sent_s = sent_s - 1000", []).unwrap();
    rig.anna.says(home, "yes");
    rig.wait_edited(&asked, "ran: ok");
    rig.stop(gateway);
}
