//! The Telegram door through the whole program: `claw gateway` as a process, and a strict stand-in
//! for the Bot API.

use crate::botapi;
use crate::botapi::{BotApi, Fault, User};
use crate::program;
use crate::program::{House, Running};
use rustix::process::Signal;

/// A bot, its owner, and a home that lets the owner in.
struct Rig {
    telegram: BotApi,
    anna: User,
    house: House,
}

impl Rig {
    fn new() -> Self {
        let telegram = BotApi::start();
        let anna = telegram.user("Anna");
        anna.starts();
        let house = House::new().with_bot(&telegram.token(), telegram.url(), &anna.id.to_string());
        Self { telegram, anna, house }
    }

    fn start(&self) -> Running {
        self.house.start(&["gateway"])
    }

    fn count(&self, text: &str) -> usize {
        self.telegram
            .sent(self.anna.id)
            .iter()
            .filter(|message| message.by_bot && message.text.contains(text))
            .count()
    }
}

#[test]
fn a_message_is_answered_and_a_tap_runs_exactly_what_was_shown() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.telegram.wait_for_text(rig.anna.id, "I am claw");
    rig.anna.says(rig.anna.private(), "write notes.txt: hello");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    assert!(
        asked.text.contains("Create notes.txt (1 line)") && asked.text.contains("hello"),
        "{}",
        asked.text
    );
    assert_eq!(rig.house.in_workspace("notes.txt"), "", "nothing runs before the tap");

    let tap = rig.anna.taps(rig.anna.private(), "Allow once");
    rig.telegram.wait_answered(&tap);
    rig.telegram.wait_for("the question shows how it ended", |world| {
        let message = world.message(rig.anna.private(), asked.id)?;
        (message.labels().is_empty() && message.text.contains("ran")).then_some(())
    });
    assert_eq!(rig.house.in_workspace("notes.txt"), "hello");
    let again = rig.anna.forges_tap(
        rig.anna.private(),
        asked.id,
        asked.button("Allow once").unwrap().data.as_deref().unwrap(),
    );
    let (said, _) = rig.telegram.wait_answered(&again);
    assert!(said.contains("does nothing") || said.contains("already"), "{said}");

    // An end before it would leave the model's last step for the next start.
    program::eventually("the turn has ended", || {
        let ended = "SELECT count(*) FROM events WHERE type = 'turn.ended'";
        rig.house.db().query_row(ended, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
    rig.telegram.wait_for_text(rig.anna.id, "This was the built-in demo");
    rig.telegram.wait_all_confirmed();
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    rig.house.is_whole();
    let user = rig.anna.id.to_string();
    let time = regex::Regex::new(r"at \d\d:\d\d").unwrap();
    let screen = rig.telegram.screen(rig.anna.id).replace(&user, "USER");
    // A call that takes longer than a second, as any can on a busy machine, is shown meanwhile.
    let slow = regex::Regex::new("(?m)^claw: (⏳ running: |✓ )filesystem/write_file.*\n").unwrap();
    let screen = slow.replace_all(&screen, "");
    insta::assert_snapshot!(time.replace_all(&screen, "at HH:MM"));
}

#[test]
fn an_unknown_user_gets_silence_and_his_taps_do_nothing() {
    let rig = Rig::new();
    let mallory = rig.telegram.user("Mallory");
    let gateway = rig.start();
    mallory.starts();
    mallory.says(mallory.private(), "write a.txt: x");
    rig.anna.says(rig.anna.private(), "write b.txt: y");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    let data = asked.button("Allow once").unwrap().data.clone().unwrap();
    let forged = mallory.forges_tap(rig.anna.private(), asked.id, &data);
    let (said, _) = rig.telegram.wait_answered(&forged);
    assert!(said.contains("Only the owner"), "{said}");
    assert!(
        rig.telegram.sent(mallory.id).iter().all(|message| !message.by_bot),
        "an unknown user hears nothing"
    );
    assert_eq!(rig.house.in_workspace("b.txt"), "");
    program::eventually("the log says so", || gateway.err().contains("unknown user"));
}

#[test]
fn a_question_survives_sigkill_and_is_asked_again_with_fresh_buttons() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "write kept.txt: 1");
    let old = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    // Before this row is written the kill would be in the one uncertain window, and the question be
    // sent once more.
    let posted = || {
        rig.house
            .db()
            .query_row("SELECT count(*) FROM posted", [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    program::eventually("the message is on record", || posted() == 1);
    gateway.signal(Signal::KILL);
    drop(gateway);

    rig.anna.says(rig.anna.private(), "/status");
    let gateway = rig.start();
    let new = rig.telegram.wait_for("fresh buttons", |world| {
        world
            .messages(rig.anna.private())
            .find(|m| m.id > old.id && m.button("Allow once").is_some())
            .cloned()
    });
    rig.telegram.wait_for("the old message says so", |world| {
        world.message(rig.anna.private(), old.id)?.labels().is_empty().then_some(())
    });
    rig.telegram.wait_for_text(rig.anna.id, "session");
    let tap = rig.anna.taps_on(rig.anna.private(), new.id, "Allow once");
    rig.telegram.wait_answered(&tap);
    rig.telegram.wait_for("the file is written", |_| {
        (rig.house.in_workspace("kept.txt") == "1").then_some(())
    });
    rig.telegram.wait_all_confirmed();
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    rig.house.is_whole();
}

#[test]
fn what_waited_while_claw_was_down_is_answered_once_and_in_order() {
    let rig = Rig::new();
    for number in 1..=3 {
        rig.anna.says(rig.anna.private(), &format!("hello {number}"));
    }
    rig.telegram.push_unknown_update();
    rig.telegram.push_malformed_update();
    rig.telegram.fault(Fault::CutAfter).on("getUpdates").times(1);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "/help");
    rig.telegram.wait_for_text(rig.anna.id, "/compact");
    program::eventually("three messages are in the log", || {
        let said = "SELECT count(*) FROM events WHERE type = 'user.message'";
        rig.house.db().query_row(said, [], |row| row.get::<_, i64>(0)).unwrap() == 3
    });
    drop(gateway);
}

#[test]
fn a_second_gateway_and_a_missing_setting_are_refused_with_a_sentence() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.telegram.wait_for_calls("getUpdates", 1);
    rig.house.claw(&["gateway"]).expect_mistake(&["another gateway"]);
    drop(gateway);
    House::new().claw(&["gateway"]).expect_mistake(&["TELEGRAM_BOT_TOKEN", "CLAW_ALLOWED_CHATS"]);
    let nobody = House::new().with("TELEGRAM_BOT_TOKEN", "1:a");
    nobody.claw(&["gateway"]).expect_mistake(&["nobody may talk"]);
    let wrong = House::new()
        .with("TELEGRAM_BOT_TOKEN", "1:wrong")
        .with("CLAW_ALLOWED_CHATS", "5")
        .with("CLAW_TELEGRAM_API", rig.telegram.url());
    wrong.claw(&["gateway"]).expect_mistake(&["TELEGRAM_BOT_TOKEN"]);
}

#[test]
fn one_bad_gateway_costs_half_a_second() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.telegram.wait_for_text(rig.anna.id, "I am claw");
    let gap = || {
        let before = rig.telegram.calls_of("sendMessage").len();
        rig.telegram.fault(Fault::Status(502)).on("sendMessage").times(1);
        rig.anna.says(rig.anna.private(), "/usage");
        rig.telegram.wait_for_calls("sendMessage", before + 2);
        let calls = rig.telegram.calls_of("sendMessage");
        let [failed, again] = &calls[before..] else { panic!("{:?}", &calls[before..]) };
        again.at - failed.at
    };
    // The shortest of three: on a busy machine one can take any time.
    let gaps = [gap(), gap(), gap()];
    let gap = gaps.iter().min().unwrap();
    assert!(*gap >= std::time::Duration::from_millis(500), "{gaps:?}");
    assert!(*gap < std::time::Duration::from_secs(5), "{gaps:?}");
    drop(gateway);
}

#[test]
fn an_answer_arrives_through_a_storm_of_faults() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.telegram.wait_for_text(rig.anna.id, "I am claw");
    rig.telegram.fault(Fault::TooMany(1)).on("sendMessage").times(2);
    rig.anna.says(rig.anna.private(), "/help");
    rig.telegram.wait_for("the help comes twice: with the welcome, and as asked for", |world| {
        let said = |message: &&botapi::Message| message.by_bot && message.text.contains("/compact");
        (world.messages(rig.anna.private()).filter(said).count() == 2).then_some(())
    });
    assert_eq!(rig.count("/compact"), 2, "a refused message has no effect, so nothing comes twice");
    drop(gateway);
}
