//! What a chat shows while a turn runs: an answer that is being written, a call with its button to
//! stop it, and the end of the gateway in the middle of either.

use crate::botapi;
use std::sync::Arc;

use crate::botapi::{Fault, Outcome};
use crate::program::eventually;
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use rustix::process::Signal;
use serde_json::json;
use tokio::sync::Semaphore;

/// The frames up to the middle of a text: the one that opens the reply, and the first half.
const HALF: usize = 2;
const ALL: usize = 100;
const ALLOW: &str =
    "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";
/// Leaves an effect, and stays until somebody writes into the pipe.
const STAYS: &str = "echo x >> effects; mkfifo go; cat go";

impl Rig {
    /// What the bot's messages show now, apart from what it says of a crash and of a call that took
    /// longer than a second, as any can on a busy machine.
    fn shown(&self) -> Vec<String> {
        let sent = self
            .telegram
            .sent(self.anna.id)
            .into_iter()
            .filter(|one| !one.deleted)
            .map(|one| one.text);
        let aside = ["claw is back", "⏳ running: ", "✓ bash/run"];
        sent.filter(|text| !aside.iter().any(|start| text.starts_with(start))).collect()
    }

    /// Whether so many messages are on record as the beginning of an answer.
    fn has_drafts(&self, number: i64) -> bool {
        let rows = "SELECT count(*) FROM drafts";
        self.house.db().query_row(rows, [], |row| row.get(0)) == Ok(number)
    }
}

fn long_text() -> String {
    let line = |number: usize| {
        format!("Line {number} of a long answer, with **bold** words and `code`.\n\n")
    };
    (0..160).map(line).collect()
}

/// Commands run without a question.
fn commanding(answers: impl IntoIterator<Item = Answer>) -> Rig {
    let rig = Rig::new(answers);
    rig.house.write("policy.toml", ALLOW);
    rig
}

fn gated(text: &str) -> (Answer, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    (Answer::Gated(Turn::text(text), gate.clone()), gate)
}

fn runs(command: &str) -> Answer {
    let arguments = json!({"command": command, "needs": "write"}).to_string();
    Answer::Turn(Turn::calls(&[Call::new("1", "bash__run", &arguments)]))
}

#[test]
fn an_answer_grows_in_one_message() {
    let (answer, gate) = gated("The first half, and **the second** half.");
    let rig = commanding([answer]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    let draft = rig.waits_for("The first half");
    assert!(!draft.text.contains("second half"), "{}", draft.text);
    gate.add_permits(ALL);
    let whole = rig.waits_for("The first half, and the second half.");
    assert_eq!(whole.id, draft.id);
    assert_eq!(rig.shown(), ["The first half, and the second half."]);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn one_that_is_long_goes_on_in_the_next_message_and_is_complete() {
    let (answer, gate) = gated(&long_text());
    let rig = commanding([answer]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    rig.waits_for("Line 0 of");
    rig.waits_for("Line 78 of");
    gate.add_permits(ALL);
    rig.waits_for("Line 159 of");
    eventually("the outbox is empty", || {
        let rows = "SELECT count(*) FROM outbox WHERE state <> 'sent'";
        rig.house.db().query_row(rows, [], |row| row.get::<_, i64>(0)).unwrap() == 0
    });
    let all = rig.shown().join("\n\n");
    for number in 0..160 {
        assert_eq!(all.matches(&format!("Line {number} of")).count(), 1, "line {number}\n{all}");
    }
    assert!(rig.shown().len() >= 2);
    let refused =
        |call: &&botapi::Call| call.refusal().is_some_and(|why| why.contains("not modified"));
    let edits = rig.telegram.calls_of("editMessageText");
    assert_eq!(edits.iter().filter(refused).count(), 0, "what is so already is not sent");
    drop(gateway);
}

#[test]
fn without_streaming_it_comes_whole() {
    let (answer, gate) = gated("The whole answer.");
    let rig = commanding([runs("true"), answer]);
    rig.house.write("claw.toml", "[telegram]\nstream = false\n");
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    eventually("the model is speaking", || rig.model.recorded().len() == 2);
    gate.add_permits(ALL);
    let whole = rig.hears("The whole answer.");
    assert_eq!(whole.versions, ["The whole answer."], "it was not edited");
    assert_eq!(rig.shown().len(), 1, "{:?}", rig.shown());
    drop(gateway);
}

#[test]
fn a_kill_in_the_middle_of_an_answer_leaves_one_message_that_is_finished_later() {
    let (cut, gate) = gated("This was the first attempt.");
    let (second, second_gate) = gated("The second attempt, whole.");
    let rig = commanding([cut, second]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    let draft = rig.waits_for("This was");
    // Before this row is written a kill would leave the draft as it is, which is the window that is
    // stated.
    eventually("the draft is on record", || rig.has_drafts(1));
    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = rig.start();
    second_gate.add_permits(HALF);
    assert_eq!(rig.waits_for("The second").id, draft.id, "it goes on in the message that is there");
    second_gate.add_permits(ALL);
    let whole = rig.waits_for("The second attempt, whole.");
    assert_eq!(whole.id, draft.id);
    assert_eq!(rig.shown().len(), 1, "{:?}", rig.shown());
    drop(gateway);
    rig.house.is_whole();
}

/// The same step, repeated, does something instead of saying it.
#[test]
fn the_beginning_of_words_that_were_never_said_is_taken_away() {
    let (cut, gate) = gated("I shall write a poem about it.");
    let rig = commanding([cut, runs("echo done"), Answer::Turn(Turn::text("It is done."))]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    rig.waits_for("I shall");
    eventually("the draft is on record", || rig.has_drafts(1));
    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = rig.start();
    rig.waits_for("It is done.");
    eventually("the draft is gone", || rig.shown() == ["It is done."]);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn told_to_end_it_sends_what_was_said_so_far_and_goes_on_at_the_next_start() {
    let (cut, gate) = gated("I began to say something.");
    let rig = commanding([cut, Answer::text("And this is the rest.")]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    rig.waits_for("I began");
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    let shown = rig.shown();
    assert!(
        shown.len() == 1 && shown[0].starts_with("I began") && shown[0].ends_with("[interrupted]"),
        "{shown:?}"
    );
    assert_eq!(rig.model.recorded().len(), 1, "no step is begun by a process that ends");
    let gateway = rig.start();
    rig.waits_for("And this is the rest.");
    let asked = rig.model.recorded().pop().unwrap().body.to_string();
    assert!(asked.contains("I began") && asked.contains("You were interrupted here"), "{asked}");
    assert_eq!(rig.model.faults(), [""; 0]);
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    rig.house.is_whole();
}

#[test]
fn told_to_end_it_lets_the_call_in_hand_end_and_asks_no_model() {
    let rig = commanding([runs(STAYS), Answer::text("Done after the restart.")]);
    let gateway = rig.start();
    rig.says("go");
    rig.waits_for("running: bash/run");
    gateway.signal(Signal::TERM);
    // Before it has heard of the end it would ask the model as usual.
    eventually("the gateway takes nothing new", || {
        rig.telegram
            .calls_of("getUpdates")
            .last()
            .is_some_and(|call| matches!(call.outcome, Outcome::Abandoned))
    });
    std::fs::write(rig.house.workspace().join("go"), "now\n").unwrap();
    gateway.ends().expect(0);
    assert_eq!(rig.model.recorded().len(), 1);
    let gateway = rig.start();
    rig.waits_for("Done after the restart.");
    let body = rig.model.recorded().pop().unwrap().body;
    let result = body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(result.contains("now") && !result.contains("Interrupted:"), "{result}");
    assert_eq!(rig.house.in_workspace("effects"), "x\n");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_call_that_runs_has_a_button_and_an_owners_tap_stops_it() {
    let rig = commanding([runs(STAYS)]);
    let bob = rig.telegram.user("Bob");
    let gateway = rig.start();
    rig.says("go");
    let running = rig.telegram.wait_for_button(rig.anna.id, "Stop");
    assert!(running.text.starts_with("⏳ running: bash/run"), "{}", running.text);
    let data = running.button("Stop").unwrap().data.clone().unwrap();
    let (said, _) =
        rig.telegram.wait_answered(&bob.forges_tap(rig.anna.private(), running.id, &data));
    assert!(said.contains("Only the owner"), "{said}");
    let (said, _) = rig.telegram.wait_answered(&rig.anna.forges_tap(rig.anna.private(), 1, &data));
    assert!(said.contains("ended"), "{said}");
    let (said, _) = rig.telegram.wait_answered(&rig.anna.taps(rig.anna.private(), "Stop"));
    assert_eq!(said, "Stopping.");
    rig.waits_for("Stopped.");
    rig.telegram.wait_for("the call is shown as ended", |world| {
        let now = world.message(rig.anna.private(), running.id)?;
        (now.labels().is_empty() && now.text.starts_with("✗ bash/run")).then_some(())
    });
    let (said, _) =
        rig.telegram.wait_answered(&rig.anna.forges_tap(rig.anna.private(), running.id, &data));
    assert!(said.contains("ended already"), "{said}");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_call_that_a_kill_ended_is_not_shown_as_running() {
    let rig = commanding([runs(STAYS), Answer::text("I see that it was interrupted.")]);
    let gateway = rig.start();
    rig.says("go");
    let running = rig.telegram.wait_for_button(rig.anna.id, "Stop");
    eventually("its message is on record, and it has had its effect", || {
        let shown = rig
            .house
            .db()
            .query_row("SELECT count(*) FROM running", [], |row| row.get::<_, i64>(0))
            .unwrap();
        shown == 1 && rig.house.in_workspace("effects") == "x\n"
    });
    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = rig.start();
    rig.telegram.wait_for("the call is shown as ended", |world| {
        let now = world.message(rig.anna.private(), running.id)?;
        (now.labels().is_empty() && now.text.contains("claw was ended while it ran")).then_some(())
    });
    rig.waits_for("may or may not have run");
    rig.waits_for("I see that it was interrupted.");
    assert_eq!(rig.house.in_workspace("effects"), "x\n", "it was run again");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn an_answer_arrives_whatever_happens_to_its_draft() {
    let (answer, gate) = gated("The first half, and the second half.");
    let rig = commanding([answer, Answer::text("Next.")]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    let draft = rig.waits_for("The first half");
    rig.telegram.fault(Fault::TooMany(1)).on("editMessageText").times(2);
    gate.add_permits(ALL);
    let whole = rig.waits_for("and the second half.");
    assert_eq!((whole.id, rig.shown().len()), (draft.id, 1));
    drop(gateway);
}

/// A reader waits for the end. Who comes after a kill does not know what the messages show, so it
/// changes all of them.
#[test]
fn the_end_of_a_long_answer_is_edited_before_its_beginning() {
    let (cut, gate) = gated(&long_text());
    let rig = commanding([cut, Answer::text(&long_text().replace("Line", "Part"))]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    rig.waits_for("Line 78 of");
    eventually("both messages are on record", || rig.has_drafts(2));
    gateway.signal(Signal::KILL);
    drop(gateway);
    rig.house.write("claw.toml", "[telegram]\nstream = false\n");
    let before = rig.telegram.calls_of("editMessageText").len();
    let gateway = rig.start();
    rig.waits_for("Part 0 of");
    let edits = rig.telegram.calls_of("editMessageText");
    let edited: Vec<_> =
        edits[before..].iter().map(|call| call.params["message_id"].as_i64()).collect();
    assert!(edited.len() >= 2 && edited[0] > edited[1], "{edited:?}");
    drop(gateway);
}

/// Somebody has deleted the message meanwhile.
#[test]
fn an_answer_whose_draft_is_gone_comes_whole_in_a_new_message() {
    let (answer, gate) = gated("The first half, and the second half.");
    let rig = commanding([answer]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    let draft = rig.waits_for("The first half");
    let description = "Bad Request: message to edit not found".to_owned();
    rig.telegram.fault(Fault::Refuse { code: 400, description }).on("editMessageText").always();
    gate.add_permits(ALL);
    let whole = rig.hears("and the second half.");
    assert!(whole.id > draft.id && whole.text.starts_with("The first half"), "{whole:?}");
    drop(gateway);
}

#[test]
fn what_a_shorter_answer_leaves_over_of_a_longer_one_is_taken_away() {
    let (cut, gate) = gated(&long_text());
    let rig = commanding([cut, Answer::text("In short.")]);
    let gateway = rig.start();
    rig.says("go");
    gate.add_permits(HALF);
    rig.waits_for("Line 78 of");
    eventually("both messages are on record", || rig.has_drafts(2));
    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = rig.start();
    rig.hears("In short.");
    assert_eq!(rig.shown(), ["In short."]);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn words_before_an_act_stay_above_the_answer_where_answers_are_streamed() {
    for (stream, shown) in
        [(true, &["First I look.", "All is well."][..]), (false, &["All is well."])]
    {
        let mut looks = Turn::calls(&[Call::new("1", "bash__run", r#"{"command": "true"}"#)]);
        looks.text = "First I look.".into();
        let rig = commanding([Answer::Turn(looks), Answer::text("All is well.")]);
        rig.house.write("claw.toml", &format!("[telegram]\nstream = {stream}\n"));
        let gateway = rig.start();
        rig.says("go");
        rig.hears("All is well.");
        assert_eq!(rig.shown(), shown, "streamed: {stream}");
        drop(gateway);
    }
}
