//! Questions by button through the whole program: who may answer which message, what was asked at
//! the console, what a restart, the end of a question's time and a refused formatting make of them.

use crate::botapi::{Fault, Message};
use crate::program::{eventually, outcomes};
use crate::telegram_rig::Rig;

impl Rig {
    /// Anna asks for a file; the question.
    fn asks_for(&self, file: &str) -> Message {
        self.anna.says(self.anna.private(), &format!("write {file}: 1"));
        self.telegram.wait_for(&format!("a question about {file}"), |world| {
            let mut asked = world
                .messages(self.anna.private())
                .filter(|message| message.button("Allow once").is_some());
            asked.find(|message| message.text.contains(file)).cloned()
        })
    }

    #[expect(clippy::unwrap_used, reason = "a button that is not there fails the test")]
    fn data(message: &Message, label: &str) -> String {
        message.button(label).unwrap().data.clone().unwrap()
    }

    fn events_of(&self, kind: &str) -> usize {
        let events = self.house.events(&self.session(&self.anna));
        events.iter().filter(|event| event["type"] == kind).count()
    }
}

#[test]
fn forged_foreign_and_replayed_taps_do_nothing_but_say_so() {
    let rig = Rig::new();
    let mallory = rig.telegram.user("Mallory");
    let gateway = rig.start();
    mallory.starts();
    let home = rig.anna.private();
    // Too long for a list, so each is asked about by itself.
    let long = "1".repeat(600);
    rig.anna.says(home, &format!("write a.txt: {long} and write b.txt: {long}"));
    let about = |file: &str| {
        rig.telegram.wait_for("a question about each", |world| {
            let mut asked =
                world.messages(home).filter(|message| message.button("Allow once").is_some());
            asked.find(|message| message.text.contains(file)).cloned()
        })
    };
    let (asked, other) = (about("a.txt"), about("b.txt"));
    eventually("both are on record", || rig.number("SELECT count(*) FROM posted") == 2);
    let (once, always) = (Rig::data(&asked, "Allow once"), Rig::data(&asked, "Always…"));
    let id = once.split(':').nth(1).unwrap().to_owned();
    let welcome = rig.telegram.wait_for_text(rig.anna.id, "I am claw");
    for (tap, words) in [
        (mallory.forges_tap(home, asked.id, &once), "Only the owner"),
        (mallory.forges_tap(mallory.private(), 1, &once), "Only the owner"),
        (rig.anna.forges_tap(home, welcome.id, &once), "does nothing"),
        (rig.anna.forges_tap(home, 9_999, &once), "does nothing"),
        (rig.anna.forges_tap(home, other.id, &once), "does nothing"),
        (rig.anna.forges_tap(home, asked.id, &Rig::data(&other, "Allow once")), "does nothing"),
        (rig.anna.forges_tap(home, asked.id, "q:0000000000:=y"), "does nothing"),
        (rig.anna.forges_tap(home, asked.id, &format!("q:{id}:=root")), "not offered"),
        (rig.anna.forges_tap(home, asked.id, &format!("q:{id}:x")), "does nothing"),
        (rig.anna.forges_tap(home, asked.id, &format!("s:{id}")), "has ended already"),
        (rig.anna.forges_tap(home, asked.id, ""), "does nothing"),
    ] {
        assert!(rig.telegram.wait_answered(&tap).0.contains(words), "{tap:?}");
    }
    assert_eq!(
        (rig.house.in_workspace("a.txt"), rig.events_of("call.answered")),
        (String::new(), 0)
    );
    assert_eq!(rig.house.in_workspace("b.txt"), "");

    // Two at once: one counts.
    let taps =
        [rig.anna.forges_tap(home, asked.id, &once), rig.anna.forges_tap(home, asked.id, &once)];
    let said = taps.map(|tap| rig.telegram.wait_answered(&tap).0);
    assert!(said[0] == "Allowed." && said[1].contains("already approved by telegram:"), "{said:?}");
    rig.wait_edited(&asked, "ran: ok");
    let shown = rig.telegram.message(rig.anna.id, asked.id).text;
    for late in [once, always, format!("q:{id}:=never"), format!("q:{id}:w")] {
        let tap = rig.anna.forges_tap(home, asked.id, &late);
        assert!(
            rig.telegram.wait_answered(&tap).0.contains("already approved by telegram:"),
            "{late}"
        );
    }
    assert_eq!(
        rig.telegram.message(rig.anna.id, asked.id).text,
        shown,
        "what was answered stays as it is"
    );
    assert_eq!((rig.events_of("call.answered"), rig.number("SELECT count(*) FROM grants")), (1, 0));
    rig.stop(gateway);
}

#[test]
fn an_owner_denies_and_says_why() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks_for("a.txt");
    let tap = rig.anna.taps_on(rig.anna.private(), asked.id, "Deny and say why");
    rig.telegram.wait_answered(&tap);
    let why = rig.telegram.wait_for_text(rig.anna.id, "Denied once you have replied");
    eventually("it is on record", || {
        rig.number("SELECT count(*) FROM posted WHERE state = 'why'") == 1
    });
    rig.anna.writes(rig.anna.private()).reply_to(why.id).text("not in this folder").send();
    rig.wait_edited(&asked, "not in this folder");
    rig.wait_handled();
    rig.wait_delivered();
    assert_eq!(
        rig.telegram.sent(rig.anna.id).iter().filter(|message| message.text == "Denied.").count(),
        1
    );
    let results = || outcomes(&rig.house.events(&rig.session(&rig.anna)));
    eventually("the log has it", || !results().is_empty());
    let results = results();
    assert!(
        results[0].to_string().contains("the owner said no: not in this folder"),
        "{results:?}"
    );
    rig.stop(gateway);
}

#[test]
fn a_command_is_one_also_where_it_replies_to_the_wish_for_a_reason() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks_for("a.txt");
    let tap = rig.anna.taps_on(rig.anna.private(), asked.id, "Deny and say why");
    rig.telegram.wait_answered(&tap);
    let why = rig.telegram.wait_for_text(rig.anna.id, "Denied once you have replied");
    eventually("it is on record", || {
        rig.number("SELECT count(*) FROM posted WHERE state = 'why'") == 1
    });
    let replies = |text: &str| {
        rig.anna.writes(rig.anna.private()).reply_to(why.id).text(text).send();
        rig.wait_handled();
    };
    let is_on = || rig.house.claw(&["panic", "status", "--json"]).expect(0).json()["on"] == true;
    replies("/panic on");
    assert!(is_on());
    replies("/panci off");
    rig.telegram.wait_for_text(rig.anna.id, "Did you mean /panic?");
    replies("/panic off");
    assert!(!is_on());
    let waits = "SELECT count(*) FROM approvals WHERE state = 'waiting'";
    assert_eq!((rig.number(waits), rig.count(rig.anna.id, "Denied.")), (1, 0));
    replies("not in this folder");
    rig.wait_edited(&asked, "not in this folder");
    eventually("the turn goes on to its end", || rig.events_of("turn.ended") == 1);
    // The question is over, and the message stays.
    replies("/stop");
    rig.telegram.wait_for_text(rig.anna.id, "Nothing is running.");
    rig.stop(gateway);
}

#[test]
fn a_question_that_nobody_answers_expires_and_its_turn_goes_on() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks_for("a.txt");
    let late = Rig::data(&asked, "Allow once");
    eventually("it is on record", || rig.number("SELECT count(*) FROM posted") == 1);
    // Its hours go by.
    assert_eq!(
        rig.house
            .db()
            .execute("UPDATE approvals SET expires_ms = ?1", [1_700_000_000_000_i64])
            .unwrap(),
        1
    );
    rig.wait_edited(&asked, "nobody answered, and it did not run");
    let told = rig.telegram.wait_for_text(rig.anna.id, "Nobody answered the question");
    assert!(told.text.contains("limits.question_time_s"), "{}", told.text);
    let tap = rig.anna.forges_tap(rig.anna.private(), asked.id, &late);
    assert!(rig.telegram.wait_answered(&tap).0.contains("expired"));
    eventually("the turn goes on to its end", || rig.events_of("turn.ended") == 1);
    let results = outcomes(&rig.house.events(&rig.session(&rig.anna)));
    assert!(results[0].to_string().contains("nobody answered the question in time"), "{results:?}");
    assert_eq!(rig.house.in_workspace("a.txt"), "");
    rig.stop(gateway);
}

#[test]
fn where_telegram_refuses_the_formatting_a_question_comes_whole_as_a_file() {
    let rig = Rig::new();
    // The first message is then the question.
    rig.house.write("claw.toml", "[telegram]\nstream = false\n");
    let gateway = rig.start();
    let refused =
        Fault::Refuse { code: 400, description: "Bad Request: can't parse entities: no".into() };
    rig.telegram.fault(refused.clone()).on("sendMessage").times(1);
    rig.telegram.fault(refused).on("editMessageCaption").times(1);
    rig.anna.says(rig.anna.private(), "write a.txt: whole");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    let file = asked.media.clone().unwrap();
    assert!(asked.entities.is_empty() && asked.text.contains(&file.name), "{}", asked.text);
    let whole = String::from_utf8(rig.telegram.file(&file.file_id)).unwrap();
    assert!(
        whole.contains("│ whole") && whole.contains("│ a.txt") && whole.contains("Allow once –"),
        "{whole}"
    );
    rig.anna.taps_on(rig.anna.private(), asked.id, "Allow once");
    rig.wait_edited(&asked, "ran: ok");
    assert_eq!(rig.house.in_workspace("a.txt"), "whole");
    rig.stop(gateway);
}

#[test]
fn a_question_of_the_console_can_be_answered_here_and_the_other_way_round() {
    let rig = Rig::configured("[telegram]\nconsole_questions = true\n");
    let gateway = rig.start();
    let mut console = rig.house.start(&["chat"]);
    console.types(b"write c.txt: 1\n");
    eventually("the console asks", || console.out().contains("Create c.txt"));
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    assert!(asked.text.contains("In the session"), "{}", asked.text);
    rig.anna.taps_on(rig.anna.private(), asked.id, "Allow once");
    let by = format!("was allowed once by the Telegram user {}", rig.anna.id);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    eventually("the console sees by whom", || words(&console.out()).contains(&by));
    rig.wait_edited(&asked, "ran: ok");
    assert_eq!(rig.house.in_workspace("c.txt"), "1");

    console.types(b"write d.txt: 2\n");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    eventually("the console asks again", || console.out().contains("d.txt"));
    console.types(b"y\n");
    rig.wait_edited(&asked, "by you, at the console");
    eventually("it is written", || rig.house.in_workspace("d.txt") == "2");
    console.types(b"/quit\n");
    console.ends().expect(0);

    // And a question of Telegram is answered at the command line.
    let asked = rig.asks_for("e.txt");
    let id = rig.house.waiting();
    rig.house.claw(&["approve", &id]).expect(0);
    rig.wait_edited(&asked, "by you, at the console");
    eventually("it is written", || rig.house.in_workspace("e.txt") == "1");
    rig.house.claw(&["approve", &id]).expect_mistake(&["already answered"]);
    rig.stop(gateway);
}

#[test]
fn a_question_of_the_console_stays_there_unless_it_is_configured() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.house.ask_parks("write c.txt: 1");
    let asked = rig.asks_for("a.txt");
    rig.anna.taps_on(rig.anna.private(), asked.id, "Deny");
    rig.wait_edited(&asked, "Denied");
    assert_eq!(rig.count(rig.anna.id, "c.txt"), 0);
    rig.stop(gateway);
}

#[test]
fn one_limited_chat_does_not_hold_up_the_questions_of_others_after_a_restart() {
    let rig = Rig::new();
    let bob = rig.telegram.user("Bob");
    rig.house.write(
        "claw.toml",
        &format!("[telegram]\nallowed_chats = [{}, {}]\n", rig.anna.id, bob.id),
    );
    let house = &rig.house;
    let start = || house.start_for_listed_chats();
    bob.starts();
    let gateway = start();
    let first = rig.asks_for("a.txt");
    bob.says(bob.private(), "write b.txt: 1");
    let second = rig.telegram.wait_for_button(bob.id, "Allow once");
    eventually("both are on record", || rig.number("SELECT count(*) FROM posted") == 2);
    rig.kill(gateway);
    rig.telegram.fault(Fault::TooMany(3_600)).in_chat(rig.anna.id).always();
    let gateway = start();
    rig.wait_edited(&second, "Asked again");
    let fresh = rig.telegram.wait_for_button(bob.id, "Allow once");
    assert!(fresh.id > second.id);
    bob.taps_on(bob.private(), fresh.id, "Allow once");
    rig.wait_edited(&fresh, "ran: ok");
    assert!(
        rig.telegram.message(rig.anna.id, first.id).button("Allow once").is_some(),
        "hers still waits for Telegram"
    );
    drop(gateway);
}
