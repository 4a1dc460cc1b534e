//! What becomes of messages around a question when things go wrong in between: a reason that comes
//! too late, a question that went out and that claw was killed before it knew so.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs::File;

use crate::botapi;
use crate::botapi::{BotApi, Fault, User};
use crate::program;
use crate::program::House;
use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;

fn home_of_anna() -> (BotApi, User, House) {
    let telegram = BotApi::start();
    let anna = telegram.user("Anna");
    let house = House::new().with_bot(&telegram.token(), telegram.url(), &anna.id.to_string());
    (telegram, anna, house)
}

#[test]
fn a_reason_for_a_question_that_is_closed_by_now_is_no_message() {
    let (telegram, anna, house) = home_of_anna();
    let _gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "write notes.txt: hello");
    let asked = telegram.wait_for_button(anna.id, "Deny and say why");
    telegram.wait_answered(&anna.taps_on(anna.private(), asked.id, "Deny and say why"));
    let prompt = telegram.wait_for_text(anna.id, "replied to this message with the reason");
    telegram.wait_answered(&anna.taps_on(anna.private(), asked.id, "Deny"));
    telegram.wait_for("the question is over on the screen", |world| {
        world.message(anna.private(), asked.id)?.labels().is_empty().then_some(())
    });
    program::eventually("nothing is expected of the person any more", || {
        let open = "SELECT count(*) FROM posted WHERE state NOT LIKE '%closed'";
        house.db().query_row(open, [], |row| row.get::<_, i64>(0)).unwrap() == 0
    });
    anna.writes(anna.private()).text("too late").reply_to(prompt.id).send();
    telegram.wait_for_text(anna.id, "already answered");
    let session = format!("telegram.{}.{}", telegram.bot_id(), anna.id);
    assert_eq!(program::said(&house.events(&session)), ["write notes.txt: hello"]);
}

#[test]
fn a_question_that_claw_does_not_know_it_has_sent_is_put_right_by_a_tap() {
    let (telegram, anna, house) = home_of_anna();
    // Otherwise the message that is cut off is that of the words before the question, where the
    // model has been slow.
    house.write("claw.toml", "[telegram]\nstream = false\n");
    telegram.fault(Fault::HangAfter).on("sendMessage").times(1);
    let gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "write notes.txt: hello");
    let lost = telegram.wait_for_button(anna.id, "Allow once");
    gateway.signal(Signal::KILL);
    drop(gateway);

    let _gateway = house.start(&["gateway"]);
    let new = telegram.wait_for("the question once more", |world| {
        world
            .messages(anna.private())
            .find(|m| m.id > lost.id && m.button("Allow once").is_some())
            .cloned()
    });
    program::eventually("the new message is on record", || {
        let known = "SELECT count(*) FROM posted WHERE message = ?1";
        house.db().query_row(known, [new.id], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
    let (said, _) = telegram.wait_answered(&anna.taps_on(anna.private(), lost.id, "Allow once"));
    assert!(said.contains("does nothing"), "{said}");
    let put_right = telegram.message(anna.id, lost.id);
    assert!(
        put_right.labels().is_empty() && put_right.text.starts_with("Asked again"),
        "{}",
        put_right.text
    );
    assert_eq!(
        house.in_workspace("notes.txt"),
        "",
        "a message that is on nobody's record decides nothing"
    );

    telegram.wait_answered(&anna.taps_on(anna.private(), new.id, "Allow once"));
    telegram.wait_for("the call has run", |_| {
        (house.in_workspace("notes.txt") == "hello").then_some(())
    });
}

/// The connection is cut when Telegram has the question, and claw is killed before it could try
/// again.
#[test]
fn a_tap_adopts_the_question_whose_delivery_was_cut() {
    let (telegram, anna, house) = home_of_anna();
    let asked = answered_while_on_its_way(&telegram, &anna, &house);
    let gateway = house.start(&["gateway"]);
    telegram.wait_for("the question says so", |world| {
        world.message(anna.private(), asked).filter(|now| now.text.contains("ran: ok")).map(|_| ())
    });
    assert_not_asked_again(&telegram, &anna, asked);
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
}

/// Whether the next start brings the message in step first, or looks at what waits to be sent.
#[test]
fn a_question_that_a_tap_adopted_and_that_is_in_step_is_not_sent_again() {
    let (telegram, anna, house) = home_of_anna();
    let asked = answered_while_on_its_way(&telegram, &anna, &house);
    house.db().execute("UPDATE posted SET state = 'closed'", []).unwrap();
    let gateway = house.start(&["gateway"]);
    assert_not_asked_again(&telegram, &anna, asked);
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
}

/// A call that was allowed in a message that claw does not know it has sent, and has ended; then
/// claw is killed. Gives back that message.
fn answered_while_on_its_way(telegram: &BotApi, anna: &User, house: &House) -> i32 {
    house.write("claw.toml", "[telegram]\nstream = false\n");
    telegram.fault(Fault::HangAfter).on("sendMessage").times(1);
    let gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "write notes.txt: hello");
    let asked = telegram.wait_for_button(anna.id, "Allow once");
    // A question names the file, and that is how a second one would be found.
    assert!(asked.text.contains("Create notes.txt"), "{}", asked.text);
    program::eventually("it is not on record", || {
        house.db().query_row("SELECT count(*) FROM posted", [], |row| row.get::<_, i64>(0)).unwrap()
            == 0
    });
    telegram.wait_answered(&anna.taps_on(anna.private(), asked.id, "Allow once"));
    // Behind its end, because a call that a kill cuts off is unknown.
    program::eventually("the call has ended", || {
        let sql = "SELECT count(*) FROM calls WHERE state = 'ended'";
        house.db().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
    assert_eq!(house.in_workspace("notes.txt"), "hello");
    gateway.signal(Signal::KILL);
    asked.id
}

/// The answer may come twice, because the kill may have met it on its way; the question does not.
fn assert_not_asked_again(telegram: &BotApi, anna: &User, asked: i32) {
    anna.says(anna.private(), "/status");
    telegram.wait_for_text(anna.id, "session: ");
    let again: Vec<_> = telegram.sent(anna.id).into_iter().filter(|one| one.id > asked).collect();
    assert!(
        !again.iter().any(|one| one.text.contains("Create notes.txt")),
        "it is asked again: {again:?}"
    );
}

#[test]
fn a_tap_that_came_while_claw_was_away_counts() {
    let (telegram, anna, house) = home_of_anna();
    let gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "write notes.txt: hello");
    let asked = telegram.wait_for_button(anna.id, "Allow once");
    program::eventually("it is on record", || {
        house.db().query_row("SELECT count(*) FROM posted", [], |row| row.get::<_, i64>(0)).unwrap()
            == 1
    });
    gateway.signal(Signal::KILL);
    drop(gateway);
    telegram.wait_disconnected();
    let tap = anna.taps_on(anna.private(), asked.id, "Allow once");
    let gateway = house.start(&["gateway"]);
    assert_eq!(telegram.wait_answered(&tap).0, "Allowed.");
    telegram.wait_for("the question says so", |world| {
        world
            .message(anna.private(), asked.id)
            .filter(|now| now.text.contains("ran: ok"))
            .map(|_| ())
    });
    assert_eq!(house.in_workspace("notes.txt"), "hello");
    let again = |one: &botapi::Message| one.id > asked.id && one.button("Allow once").is_some();
    let asked_twice =
        telegram.sent(anna.id).iter().any(|one| one.text.starts_with("Asked again") || again(one));
    assert!(!asked_twice, "{}", telegram.screen(anna.id));
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
}

/// The message above it is on record and the newer one is not, because Telegram's answer to it
/// hangs.
#[test]
fn a_tap_on_a_question_that_is_asked_again_counts_before_its_number_is_noted() {
    let (telegram, anna, house) = home_of_anna();
    let number = |sql: &str| house.db().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "write notes.txt: hello");
    let old = telegram.wait_for_button(anna.id, "Allow once");
    program::eventually("it is on record", || number("SELECT count(*) FROM posted") == 1);
    gateway.signal(Signal::KILL);
    drop(gateway);
    telegram.fault(Fault::HangAfter).on("sendMessage").times(1);
    let gateway = house.start(&["gateway"]);
    let new = telegram.wait_for("the question once more", |world| {
        let mut messages = world.messages(anna.private());
        messages.find(|one| one.id > old.id && one.button("Allow once").is_some()).cloned()
    });
    assert_eq!(number("SELECT count(*) FROM posted"), 1, "its number is noted");
    let tap = anna.taps_on(anna.private(), new.id, "Allow once");
    assert_eq!(telegram.wait_answered(&tap).0, "Allowed.");
    program::eventually("the call has ended", || {
        number("SELECT count(*) FROM calls WHERE state = 'ended'") == 1
    });
    assert_eq!(house.in_workspace("notes.txt"), "hello");
    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = house.start(&["gateway"]);
    for asked in [old.id, new.id] {
        telegram.wait_for("the question says so", |world| {
            let now = world.message(anna.private(), asked)?;
            (now.labels().is_empty() && now.text.contains("ran: ok")).then_some(())
        });
    }
    assert_not_asked_again(&telegram, &anna, new.id);
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    house.is_whole();
}

#[test]
fn approvals_shows_open_questions_again_with_their_buttons() {
    let (telegram, anna, house) = home_of_anna();
    let gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "write notes.txt: hello");
    let old = telegram.wait_for_button(anna.id, "Allow once");
    program::eventually("it is on record", || {
        house.db().query_row("SELECT count(*) FROM posted", [], |row| row.get::<_, i64>(0)).unwrap()
            == 1
    });
    anna.says(anna.private(), "/approvals");
    let new = telegram.wait_for("the question once more", |world| {
        world
            .messages(anna.private())
            .find(|one| one.id > old.id && one.button("Allow once").is_some())
            .cloned()
    });
    telegram.wait_for_text(anna.id, "Those of this chat follow, with their buttons.");
    telegram.wait_for("the old message points on", |world| {
        world
            .message(anna.private(), old.id)
            .filter(|now| now.text.starts_with("Asked again"))
            .map(|_| ())
    });
    assert_eq!(
        telegram.wait_answered(&anna.taps_on(anna.private(), new.id, "Allow once")).0,
        "Allowed."
    );
    telegram.wait_for("the call has run", |_| {
        (house.in_workspace("notes.txt") == "hello").then_some(())
    });
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
}

/// Whether no process works at the session.
fn is_free(house: &House, session: &str) -> bool {
    let lock = house.home().join("locks").join(format!("session-{session}.lock"));
    flock(File::open(lock).unwrap(), FlockOperation::NonBlockingLockShared).is_ok()
}

/// So long a door leaves to others what has come in.
const LEFT_TO_OTHERS_MS: i64 = 3_000;

/// The gateway stands still meanwhile, so that it is the terminal that ends the turn.
#[test]
fn a_message_behind_an_answer_in_a_terminal_is_read_at_once() {
    let (telegram, anna, house) = home_of_anna();
    let session = format!("telegram.{}.{}", telegram.bot_id(), anna.id);
    let number = |sql: &str| house.db().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "write notes.txt: hello");
    telegram.wait_for_button(anna.id, "Allow once");
    program::eventually("it is on record", || number("SELECT count(*) FROM posted") == 1);
    let asked = house.waiting();
    program::eventually("its turn is parked", || is_free(&house, &session));
    gateway.signal(Signal::STOP);
    let ran = house.claw(&["approve", &asked]);
    let ended = number("SELECT count(*) FROM events WHERE type = 'turn.ended'");
    assert_eq!((ended, house.in_workspace("notes.txt").as_str()), (1, "hello"), "{ran:?}");
    gateway.signal(Signal::CONT);
    // On a busy machine one may take long by itself; each of them would.
    let mut waits = Vec::new();
    while waits.len() < 3 && waits.last().is_none_or(|waited_ms| *waited_ms >= LEFT_TO_OTHERS_MS) {
        let turns = waits.len() as i64 + 2;
        anna.says(anna.private(), "list");
        program::eventually("it is answered", || {
            number("SELECT count(*) FROM events WHERE type = 'turn.ended'") == turns
        });
        waits.push(number(
            "SELECT (SELECT max(at_ms) FROM events WHERE type = 'user.message')
                  - (SELECT max(at_ms) FROM inbox WHERE kind = 'message')",
        ));
    }
    assert!(waits.iter().any(|waited_ms| *waited_ms < LEFT_TO_OTHERS_MS), "{waits:?}");
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    house.is_whole();
}
