//! Each limit through the whole program: met, kept, and told by the name of its setting. (The day's
//! budget, questions that expire and the window of a conversation have tests of their own, with
//! clocks of their own.)

use crate::program;
use std::sync::Arc;

use crate::program::{House, eventually, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Then, Turn, Wire};
use serde_json::json;
use tokio::sync::Semaphore;

const ALLOW: &str =
    "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";

/// A house with these limits and a model that answers so.
fn limited(limits: &str, answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let provider = Threaded::start(Wire::Anthropic, answers);
    let house = House::at("claude", &provider.base_url);
    house.write("claw.toml", &format!("[limits]\n{limits}\n"));
    house.write("policy.toml", ALLOW);
    (house, provider)
}

fn reads(path: &str) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new(
        "1",
        "filesystem__read_file",
        &json!({"path": path}).to_string(),
    )]))
}

fn runs(commands: &[&str]) -> Answer {
    let call = |(number, command): (usize, &&str)| {
        Call::new(
            &format!("call-{number}"),
            "bash__run",
            &json!({"command": command, "needs": "write"}).to_string(),
        )
    };
    Answer::Turn(Turn::calls(&commands.iter().enumerate().map(call).collect::<Vec<_>>()))
}

/// One turn; what the person reads names the setting.
#[track_caller]
fn told(house: &House, setting: &str) {
    let ran = house.claw(&["ask", "go"]);
    assert!(format!("{}{}", ran.out, ran.err).contains(&format!("limits.{setting}")), "{ran:?}");
    house.is_whole();
}

#[test]
fn the_steps_of_a_turn() {
    let (house, provider) = limited("model_steps_max = 2", ["a", "b", "c"].map(reads));
    told(&house, "model_steps_max");
    assert_eq!(provider.recorded().len(), 2);
}

#[test]
fn identical_calls() {
    let (house, provider) = limited("identical_calls_max = 2", ["a", "a", "a"].map(reads));
    told(&house, "identical_calls_max");
    assert_eq!(provider.recorded().len(), 2);
}

#[test]
fn a_command_that_is_repeated_is_noticed_whatever_it_takes() {
    // Another file each time and another duration, with the same words for both: nothing comes of
    // it.
    let command = "date +%s%N >> seen; sleep 0.0$((RANDOM % 9)); exit 3";
    let (house, provider) = limited(
        "identical_calls_max = 3",
        [[command], [command], [command], [command]].map(|one| runs(&one)),
    );
    told(&house, "identical_calls_max");
    assert_eq!(provider.recorded().len(), 3);
    assert_eq!(house.in_workspace("seen").lines().count(), 3);
}

#[test]
fn identical_calls_side_by_side_are_no_loop() {
    // `stat` of the same file has no duration in its result; a reply with ten of them is one step.
    let reads = Answer::Turn(Turn::calls(
        &[0; 10].map(|_| Call::new("same", "filesystem__read_file", "{\"path\":\"a\"}")),
    ));
    let (house, provider) = limited("identical_calls_max = 2", [reads, Answer::text("done")]);
    assert!(house.claw(&["ask", "go"]).expect(0).out.contains("done"));
    assert_eq!(provider.recorded().len(), 2);
    house.is_whole();
}

#[test]
fn the_time_of_a_turn() {
    let (house, _provider) = limited(
        "turn_time_s = 1\ntool_timeout_s = 1",
        [Answer::raw("", Then::Silence), Answer::text("too late")],
    );
    told(&house, "turn_time_s");
}

#[test]
fn the_time_of_a_call() {
    // A busy machine may need that second to begin.
    eventually("it is cut when it has begun", || {
        let (house, provider) = limited(
            "tool_timeout_s = 1",
            [runs(&["echo begun > begun; mkfifo never; cat never"]), Answer::text("It was cut.")],
        );
        house.claw(&["ask", "go"]).expect(0);
        let outcome = outcomes(&house.events("main")).remove(0);
        assert_eq!(outcome["kind"], "unknown", "{outcome}");
        assert!(
            provider.recorded()[1].body.to_string().contains("limits.tool_timeout_s"),
            "the model is told, too"
        );
        house.is_whole();
        house.in_workspace("begun") == "begun\n"
    });
}

#[test]
fn silence_of_a_model() {
    // One more for each time that a busy machine is silent for as long by itself.
    let answers = [vec![Answer::raw("", Then::Silence)], vec![Answer::text("after all"); 3]];
    let (house, provider) = limited("model_timeout_s = 1", answers.concat());
    assert!(house.claw(&["ask", "go"]).expect(0).out.contains("after all"));
    assert!(provider.recorded().len() >= 2);
    house.is_whole();
}

#[test]
fn a_result_for_the_model() {
    let (house, provider) =
        limited("tool_result_bytes = 1024", [reads("long.txt"), Answer::text("It is long.")]);
    house.write("workspace/long.txt", &"word ".repeat(2_000));
    house.claw(&["ask", "go"]).expect(0);
    let told = provider.recorded()[1].body.to_string();
    assert!(
        told.contains("limits.tool_result_bytes = 1024") && told.matches("word ").count() < 300,
        "{told}"
    );
    house.is_whole();
}

#[test]
fn the_kept_output_of_commands() {
    let flood = |name: &str| runs(&[&format!("stat -c '{name}%50000n' .")]);
    let calls = ["a", "b", "c"].map(flood);
    let answers = calls.into_iter().chain([Answer::text("It is long.")]);
    let (house, provider) = limited("command_output_kept_bytes_max = 100000", answers);
    house.claw(&["ask", "go"]).expect(0);
    let told = provider.recorded()[3].body.to_string();
    assert!(
        told.contains(
            "oldest kept output was removed: all kept output together may take 100000 bytes"
        ),
        "{told}"
    );
    let dir = house.home().join("command-output").canonicalize().unwrap();
    assert!(told.contains(&format!("sed -n '1,80p' {}/run-", dir.display())), "{told}");
    let kept: Vec<u64> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|one| one.unwrap().metadata().unwrap().len())
        .collect();
    assert!(!kept.is_empty() && kept.iter().sum::<u64>() <= 100_000, "{kept:?}");
    assert!(!house.workspace().join(".claw").exists());
    house.is_whole();
}

#[test]
fn calls_side_by_side() {
    // Whoever finds the folder there has met somebody.
    let command = "mkdir mine || exit 9; for i in {1..2000}; do :; done; rmdir mine";
    let (house, provider) =
        limited("tool_calls_parallel_max = 1", [runs(&[command; 6]), Answer::text("done")]);
    house.claw(&["ask", "go"]).expect(0);
    let told = provider.recorded()[1].body.to_string();
    assert_eq!(
        (told.matches("exit code 0").count(), told.contains("exit code 9")),
        (6, false),
        "{told}"
    );
    house.is_whole();
}

#[test]
fn messages_that_wait() {
    let gate = Arc::new(Semaphore::new(0));
    let first = Answer::Gated(Turn::text("the first"), gate.clone());
    let (house, provider) = limited("queued_messages_max = 1", [first, Answer::text("the second")]);
    let mut chat = house.start(&["chat"]);
    chat.types(b"one\n");
    eventually("the model is asked", || provider.recorded().len() == 1);
    chat.types(b"two\n");
    eventually("it waits", || {
        let waiting = "SELECT count(*) FROM inbox WHERE state = 'queued'";
        house.db().query_row(waiting, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
    chat.types(b"three\n");
    eventually("it is refused", || {
        format!("{}{}", chat.out(), chat.err()).contains("limits.queued_messages_max")
    });
    gate.add_permits(100);
    eventually("the one that waited is answered", || chat.out().contains("the second"));
    chat.ends();
    assert_eq!(program::said(&house.events("main")), ["one", "two"]);
    house.is_whole();
}

#[test]
fn the_money_of_a_day() {
    let (house, provider) = limited(
        "usd_cents_day_max = 5\n[prices.\"model-x\"]\ninput_usd_per_million = 1000.0\noutput_usd_per_million = 0.0",
        [Answer::text("dear"), Answer::text("never")],
    );
    house.claw(&["ask", "go"]).expect(0);
    told(&house, "usd_cents_day_max");
    assert_eq!(provider.recorded().len(), 1);
}
