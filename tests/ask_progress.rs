//! `claw ask` at a terminal shows what moves in a call, in one row that goes again; in a pipe
//! it shows none of it.

use std::num::NonZero;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::Semaphore;

use crate::program::{House, SERVER_WAIT, eventually, example};
use crate::pty::Pty;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const ALLOW: &str =
    "[[rule]]\nserver = \"legacy\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";

fn house() -> (House, Threaded) {
    let call = Call::new("a", "legacy__progress", "{}");
    let answers = [Answer::Turn(Turn::calls(&[call])), Answer::text("All is done.")];
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", SERVER_WAIT);
    house.write("policy.toml", ALLOW);
    let record = house.user_home().join("effects");
    let legacy = json!({"command": example("hub-stranger"), "args": ["legacy", record]});
    house.write("mcp.json", &json!({"mcpServers": {"legacy": legacy}}).to_string());
    house.claw(&["tools"]).expect(0);
    (house, model)
}

#[test]
fn a_terminal_has_a_row_of_progress_that_is_gone_behind_the_call() {
    for columns in [40, 80] {
        let (house, model) = house();
        let shown = Pty::sized(&house, &["ask", "go"], 24, columns).ends(0);
        let row = format!("\r\u{1b}[K{}", "legacy/progress · one");
        assert!(shown.contains(&row), "{shown:?}");
        let mut screen =
            vt100::Parser::new(NonZero::new(24).unwrap(), NonZero::new(columns).unwrap(), 0);
        screen.process(shown.as_bytes());
        let left = screen.screen().contents();
        assert!(!left.contains("· one"), "{left}");
        assert!(left.contains("running: ") && left.ends_with("All is done."), "{left}");
        assert_eq!(model.faults(), [""; 0]);
    }
}

/// A model that answers when the gate lets it.
fn slow() -> (House, Threaded, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let answer = Answer::Gated(Turn::text("All is done."), gate.clone());
    let model = Threaded::start(Wire::OpenAi, [answer]);
    let house = House::at("openai-compatible", &model.base_url);
    (house, model, gate)
}

#[test]
fn a_terminal_sees_that_the_model_works_until_something_is_printed() {
    for columns in [40, 80] {
        let (house, model, gate) = slow();
        let mut pty = Pty::sized(&house, &["ask", "go"], 24, columns);
        // A busy machine may leave out a second.
        let seconds = |text: &str| {
            let counts = text.split("thinking … ").skip(1);
            let counts = counts.filter_map(|rest| rest.split_once(" s · Ctrl-C stops it"));
            counts.filter_map(|(count, _)| count.parse::<u64>().ok()).collect::<Vec<_>>()
        };
        eventually("the seconds go on", || {
            let seen = seconds(&pty.text());
            seen.first().is_some_and(|first| seen.iter().any(|later| later > first))
        });
        gate.add_permits(100);
        let shown = pty.ends(0);
        let mut screen =
            vt100::Parser::new(NonZero::new(24).unwrap(), NonZero::new(columns).unwrap(), 0);
        screen.process(shown.as_bytes());
        let left = screen.screen().contents();
        assert!(!left.contains("thinking") && left.ends_with("All is done."), "{left}");
        assert_eq!(model.faults(), [""; 0]);
    }
}

#[test]
fn a_pipe_gets_nothing_of_it() {
    let (house, model) = house();
    let ran = house.claw(&["ask", "go"]).expect(0);
    assert_eq!(ran.out, "All is done.\n");
    assert!(ran.err.contains("running: "), "{ran:?}");
    assert!(!ran.err.contains("one") && !ran.err.contains('\u{1b}'), "{ran:?}");
    assert_eq!(model.faults(), [""; 0]);
}
