//! Questions, the stop switch, and what several chats owe each other. Must not know which doors
//! there are.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Semaphore;

use crate::doors::rig::{
    Chat, DoorRig, EFFECT, Reply, Skill, all_is_delivered, asks, at, at_home, closes, count,
    effects, events, home, lack, logged, number, results, runs, shows, turns_end, wait_model_asked,
};
use crate::program::{alive, eventually, pid_in, said};
use crate::wires::{Answer, Call, Turn};

/// A door at which the model asks for [`EFFECT`] and then says `It is done.`; the question is open.
fn asked<R: DoorRig>() -> R {
    let mut rig: R = at([runs(EFFECT), Answer::text("It is done.")]);
    rig.says(Chat::First, "Go ahead");
    asks(&mut rig, EFFECT);
    assert_eq!(effects(&rig), 0, "it ran before it was allowed");
    rig
}

/// The turn is over, and the home is whole.
#[track_caller]
fn ends_well<R: DoorRig>(rig: &mut R) {
    shows(rig, Chat::First, "It is done.");
    all_is_delivered(rig);
    assert_eq!(count(rig, "It is done."), 1, "{}", rig.shown(Chat::First));
    assert!(!rig.is_open(EFFECT), "{}", rig.shown(Chat::First));
    // The reply is shown while it is written, and its turn ends behind it.
    turns_end(rig, logged(rig, "turn.started"));
    rig.kill();
    rig.home().house.is_whole();
}

pub fn a_question_is_answered_with_yes<R: DoorRig>() {
    let mut rig: R = asked();
    rig.answers(EFFECT, Reply::Yes);
    closes(&mut rig, EFFECT);
    ends_well(&mut rig);
    assert_eq!((effects(&rig), events(&rig, "call.answered").len()), (1, 1));
}

pub fn a_question_is_answered_with_no<R: DoorRig>() {
    let mut rig: R = asked();
    rig.answers(EFFECT, Reply::No);
    closes(&mut rig, EFFECT);
    ends_well(&mut rig);
    assert!(results(&rig).contains("the owner said no"), "{}", results(&rig));
    assert_eq!(effects(&rig), 0);
}

pub fn a_reaction_answers_a_question<R: DoorRig>() {
    if lack::<R>(Skill::React).is_some() {
        return;
    }
    for (yes, ran) in [(true, 1), (false, 0)] {
        let mut rig: R = asked();
        rig.reacts(EFFECT, yes);
        closes(&mut rig, EFFECT);
        ends_well(&mut rig);
        assert_eq!((effects(&rig), events(&rig, "call.answered").len()), (ran, 1));
        assert_eq!(results(&rig).contains("the owner said no"), !yes, "{}", results(&rig));
    }
}

pub fn a_question_is_answered_with_no_and_a_word<R: DoorRig>() {
    let mut rig: R = asked();
    rig.answers(EFFECT, Reply::NoBecause("not in this folder"));
    closes(&mut rig, EFFECT);
    ends_well(&mut rig);
    assert!(results(&rig).contains("the owner said no: not in this folder"), "{}", results(&rig));
    assert_eq!(effects(&rig), 0);
}

pub fn a_second_answer_does_not_count<R: DoorRig>() {
    let mut rig: R = asked();
    let id = rig.home().house.waiting();
    rig.answers(EFFECT, Reply::Yes);
    rig.home().house.claw(&["deny", &id]).expect_mistake(&["already answered"]);
    if lack::<R>(Skill::AnswerAgain).is_none() {
        let told = rig.answers_again();
        assert!(told.contains("already") && told.contains("approved"), "{told}");
    }
    ends_well(&mut rig);
    assert_eq!((effects(&rig), events(&rig, "call.answered").len()), (1, 1));
}

pub fn a_question_that_expires_cannot_be_answered_any_more<R: DoorRig>() {
    let mut rig: R = asked();
    let id = rig.home().house.waiting();
    // Its hours go by.
    let expire = "UPDATE approvals SET expires_ms = 1700000000000";
    assert_eq!(rig.home().house.db().execute(expire, []).unwrap(), 1);
    closes(&mut rig, EFFECT);
    ends_well(&mut rig);
    rig.home().house.claw(&["approve", &id]).expect_mistake(&["expired"]);
    assert!(results(&rig).contains("nobody answered the question in time"), "{}", results(&rig));
    assert_eq!(effects(&rig), 0);
}

pub fn an_open_question_survives_a_kill_and_counts_once<R: DoorRig>() {
    let mut rig: R = asked();
    rig.kill();
    rig.start();
    asks(&mut rig, EFFECT);
    rig.answers(EFFECT, Reply::Yes);
    closes(&mut rig, EFFECT);
    ends_well(&mut rig);
    rig.home().model.push(Answer::text("All is well."));
    rig.start();
    rig.says(Chat::First, "And now?");
    shows(&mut rig, Chat::First, "All is well.");
    assert!(!rig.is_open(EFFECT), "asked again: {}", rig.shown(Chat::First));
    assert_eq!((effects(&rig), events(&rig, "call.answered").len()), (1, 1));
    assert_eq!(number(&rig, "SELECT count(*) FROM approvals"), 1);
}

/// The command line is another door.
pub fn a_question_that_is_answered_elsewhere_is_closed_here<R: DoorRig>() {
    let mut rig: R = asked();
    let id = rig.home().house.waiting();
    rig.home().house.claw(&["approve", &id]).expect(0);
    closes(&mut rig, EFFECT);
    ends_well(&mut rig);
    assert_eq!((effects(&rig), events(&rig, "call.answered").len()), (1, 1));
}

pub fn the_stop_switch_ends_what_runs_and_holds_until_it_is_off<R: DoorRig>() {
    let home = home([runs("echo $$ > pid; sleep 1000"), runs(EFFECT)]);
    home.house.write(
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this scene runs commands\"\n",
    );
    let mut rig: R = at_home(home);
    rig.says(Chat::First, "Go ahead");
    let mut pid = None;
    eventually("the command runs", || {
        pid = pid_in(&rig.home().house.workspace().join("pid"));
        pid.is_some()
    });
    rig.says(Chat::First, "/panic on");
    shows(&mut rig, Chat::First, "The stop switch is on");
    eventually("what ran is ended", || !alive(pid.unwrap()));
    turns_end(&rig, 1);
    rig.says(Chat::First, "Once more");
    turns_end(&rig, 2);
    assert!(results(&rig).contains("stop switch"), "{}", results(&rig));
    assert_eq!(effects(&rig), 0);
    rig.home().model.push(runs(EFFECT));
    rig.home().model.push(Answer::text("It is done."));
    rig.says(Chat::First, "/panic off");
    shows(&mut rig, Chat::First, "The stop switch is off.");
    rig.says(Chat::First, "Now");
    eventually("it runs again", || effects(&rig) == 1);
    ends_well(&mut rig);
}

pub fn background_jobs_are_ended_by_their_owners_word<R: DoorRig>() {
    let start = |name: &str| {
        let command = format!("echo $$ > {name}; mkfifo {name}.go; cat {name}.go");
        let arguments = json!({"command": command, "needs": "write"}).to_string();
        Call::new(name, "bash__start", &arguments)
    };
    let starts = Answer::Turn(Turn::calls(&[start("one"), start("two")]));
    let home = home([starts, Answer::text("They run.")]);
    home.house.write(
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this scene starts jobs\"\n",
    );
    let mut rig: R = at_home(home);
    rig.says(Chat::First, "Go ahead");
    shows(&mut rig, Chat::First, "They run.");
    let mut pids = Vec::new();
    eventually("the jobs run", || {
        let in_file = |name| pid_in(&rig.home().house.workspace().join(name));
        pids = ["one", "two"].into_iter().filter_map(in_file).collect();
        pids.len() == 2
    });
    rig.says(Chat::First, "/stop jobs");
    shows(&mut rig, Chat::First, "Ended 2 background jobs:");
    assert!(pids.iter().all(|pid| !alive(*pid)), "{pids:?}");
    let shown = rig.shown(Chat::First);
    assert!(shown.contains("1: echo") && shown.contains("2: echo"), "{shown}");
    rig.says(Chat::First, "/stop jobs");
    shows(&mut rig, Chat::First, "No background job runs in this folder.");
    all_is_delivered(&mut rig);
    rig.kill();
    let house = &rig.home().house;
    let received = house.audit().into_iter().filter(|row| row["kind"] == "received");
    let ordered: Vec<_> = received.filter(|row| row["body"]["ordered"] == true).collect();
    assert_eq!(ordered.len(), 2, "{ordered:?}");
    assert_eq!(ordered[0]["body"]["tool"], "stop_all");
    house.is_whole();
}

/// The model holds back the answer to the first chat, which goes on writing. What the second one
/// says is answered before anything is let go.
pub fn one_chat_that_floods_holds_up_no_other<R: DoorRig>() {
    const FLOOD: usize = 30;
    /// More than the frames of an answer.
    const ALL: usize = 100;
    let gate = Arc::new(Semaphore::new(0));
    let held = Answer::Gated(Turn::text("The first answer."), gate.clone());
    let rest = std::iter::repeat_n(Answer::text("It is read."), FLOOD);
    let answers = [held, Answer::text("The answer to the second chat.")].into_iter().chain(rest);
    let mut rig: R = at(answers);
    rig.says(Chat::First, "message 0");
    wait_model_asked(&rig, 1);
    for number in 1..=FLOOD {
        rig.says(Chat::First, &format!("message {number}"));
    }
    rig.says(Chat::Second, "And I?");
    shows(&mut rig, Chat::Second, "The answer to the second chat.");
    assert!(!rig.shown(Chat::First).contains("The first answer."), "nothing was let go yet");
    gate.add_permits(ALL);
    shows(&mut rig, Chat::First, "The first answer.");
    eventually("all of the flood is in the log", || logged(&rig, "user.message") > FLOOD);
    let heard = said(&rig.home().house.events(&rig.session(Chat::First)));
    // One that has waited for long carries its time in a line before.
    let last_lines = heard.iter().filter_map(|text| text.lines().last());
    let numbers: Vec<String> = last_lines.map(|line| line.replace("message ", "")).collect();
    let wanted: Vec<String> = (0..=FLOOD).map(|number| number.to_string()).collect();
    assert_eq!(numbers, wanted, "each once and in order");
}

pub fn a_bug_in_one_message_ends_with_that_message<R: DoorRig>() {
    if lack::<R>(Skill::SurviveABug).is_some() {
        return;
    }
    let mut home = home([Answer::text("It is done.")]);
    home.house = home.house.with("CLAW_BUG_IN_HANDLER", "stumble");
    let mut rig: R = at_home(home);
    rig.says(Chat::First, "stumble over this");
    shows(&mut rig, Chat::First, "was passed over");
    rig.says(Chat::First, "Go ahead");
    ends_well(&mut rig);
    let session = rig.session(Chat::First);
    assert_eq!(said(&rig.home().house.events(&session)), ["Go ahead"]);
}

pub fn a_message_that_finds_the_queue_full_is_told_and_not_taken_in<R: DoorRig>() {
    /// More than the frames of an answer.
    const ALL: usize = 100;
    let gate = Arc::new(Semaphore::new(0));
    let held = Answer::Gated(Turn::text("The first answer."), gate.clone());
    let home = home([held, Answer::text("The second answer.")]);
    home.house.write("claw.toml", "[limits]\nqueued_messages_max = 1\n");
    let mut rig: R = at_home(home);
    rig.says(Chat::First, "one");
    wait_model_asked(&rig, 1);
    rig.says(Chat::First, "two");
    let waiting = "SELECT count(*) FROM inbox WHERE kind = 'message' AND state = 'queued'";
    eventually("the second waits", || number(&rig, waiting) == 1);
    rig.says(Chat::First, "three");
    let why = "(limits.queued_messages_max), so this one was not taken in";
    shows(&mut rig, Chat::First, why);
    gate.add_permits(ALL);
    shows(&mut rig, Chat::First, "The second answer.");
    // An answer may be shown while it is written, and the log has what it answers a moment later.
    eventually("both are in the log", || logged(&rig, "user.message") == 2);
    let heard = said(&rig.home().house.events(&rig.session(Chat::First)));
    let last_lines: Vec<&str> = heard.iter().filter_map(|text| text.lines().last()).collect();
    assert_eq!(last_lines, ["one", "two"], "what was refused went nowhere");
}
