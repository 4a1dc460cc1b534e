//! What the screen shows of a turn, and what it does not show twice.

use std::time::Duration;

use super::*;
use crate::domain::SessionId;

fn screen() -> Screen {
    Screen::new(Look::new(40, false), true)
}

fn text(step: u32, text: &str) -> Live {
    Live::Text { turn_seq: 7, step, text: text.into() }
}

fn reply(text: &str) -> OutboundBody {
    OutboundBody::Reply { turn_seq: 7, step: 1, text: text.into() }
}

fn call(block: u32) -> CallId {
    CallId::Reply { session: SessionId::new("main").unwrap(), reply_seq: 8, block }
}

fn lines(screen: &mut Screen) -> Vec<String> {
    screen.take().map(|frame| frame.lines).unwrap_or_default()
}

#[test]
fn a_streamed_reply_is_not_printed_again() {
    let mut screen = screen();
    let now = Instant::now();
    screen.live(Live::StepStarted { turn_seq: 7, step: 0 }, now);
    screen.live(text(0, "Hello *you*.\n\nBye"), now);
    screen.out(&reply("Hello *you*.\n\nBye"));
    screen.out(&reply("Hello *you*.\n\nBye"));
    screen.live(text(0, "Bye"), now);
    screen.idle();
    assert_eq!(lines(&mut screen), ["Hello you.", "", "Bye"]);
}

#[test]
fn a_reply_that_comes_after_the_next_turn_has_begun_is_not_printed_again() {
    let now = Instant::now();
    let (of, reply) = (
        |turn_seq, text: &str| Live::Text { turn_seq, step: 0, text: text.into() },
        |turn_seq, text: &str| OutboundBody::Reply { turn_seq, step: 0, text: text.into() },
    );
    let mut screen = screen();
    screen.live(of(7, "Hello."), now);
    screen.live(Live::StepStarted { turn_seq: 9, step: 0 }, now);
    screen.live(of(9, "Notes:\n\nnone "), now);
    screen.out(&reply(7, "Hello."));
    screen.live(of(9, "yet"), now);
    screen.out(&reply(9, "Notes:\n\nnone yet"));
    screen.idle();
    assert_eq!(lines(&mut screen), ["Hello.", "", "Notes:", "", "none yet"]);
}

#[test]
fn a_late_reply_that_was_not_streamed_is_printed_and_does_not_double_the_next() {
    let now = Instant::now();
    let mut screen = screen();
    screen.live(Live::Text { turn_seq: 9, step: 0, text: "One.\n\nTw".into() }, now);
    screen.out(&reply("Late."));
    screen.live(Live::Text { turn_seq: 9, step: 0, text: "o.".into() }, now);
    let text = "One.\n\nTwo.".into();
    screen.out(&OutboundBody::Reply { turn_seq: 9, step: 0, text });
    assert_eq!(lines(&mut screen), ["One.", "", "Late.", "", "Two."]);
}

#[test]
fn a_reply_that_overtakes_the_stream_is_complete() {
    let mut screen = screen();
    screen.live(text(0, "One.\n\nTw"), Instant::now());
    screen.out(&reply("One.\n\nTwo.\n\nThree."));
    assert_eq!(lines(&mut screen), ["One.", "", "Two.", "", "Three."]);
}

#[test]
fn a_reply_that_was_not_streamed_is_printed() {
    let mut screen = screen();
    screen.live(text(0, "Let me look."), Instant::now());
    screen.live(Live::CallStarted { call: call(0), title: "bash/run ls".into() }, Instant::now());
    screen.out(&reply("Done."));
    assert_eq!(lines(&mut screen), ["Let me look.", "", "Done."]);
}

#[test]
fn a_broken_stream_that_repeats_itself_is_shown_once() {
    let mut screen = screen();
    let now = Instant::now();
    screen.live(text(1, "One.\n\nTwo."), now);
    screen.live(Live::StepRestarted { turn_seq: 7, step: 1, why: "It broke.".into() }, now);
    assert_eq!(screen.take().unwrap().draft, ["It broke."]);
    screen.live(text(1, "One.\n\n"), now);
    screen.live(text(1, "Two and three."), now);
    screen.out(&reply("One.\n\nTwo and three."));
    assert_eq!(lines(&mut screen), ["", "Two and three."]);
}

#[test]
fn a_note_does_not_tear_a_paragraph() {
    let mut screen = screen();
    let now = Instant::now();
    screen.live(text(0, "One.\n\nTwo **and"), now);
    screen.live(Live::Notice { text: "A server failed.".into() }, now);
    let frame = screen.take().unwrap();
    assert_eq!(frame.lines, ["One.", "", "• A server failed."]);
    assert_eq!(frame.draft, ["", "Two **and"]);
    screen.live(text(0, " three**."), now);
    screen.out(&reply("One.\n\nTwo **and three**."));
    assert_eq!(lines(&mut screen), ["", "Two and three."]);
}

#[test]
fn running_calls_are_drafts_and_their_ends_stay() {
    let mut screen = screen();
    let now = Instant::now();
    for block in 0..2 {
        screen.live(
            Live::CallStarted {
                call: call(block),
                title: format!("bash/run job {block}\u{1b}[2J"),
            },
            now,
        );
    }
    screen.live(Live::CallProgress { call: call(1), text: "10 %\n20 %\n".into() }, now);
    let frame = screen.take().unwrap();
    assert_eq!(frame.draft, ["running: bash/run job 0␛[2J", "running: bash/run job 1␛[2J · 20 %"]);
    let ended = |block, ok| Live::CallEnded {
        call: call(block),
        ok,
        title: "job".into(),
        summary: "exit 1\n0.2 s".into(),
        diff: String::new(),
        output: "first\nsecond\u{1b}[2J".into(),
    };
    screen.live(ended(0, true), now);
    screen.live(ended(1, false), now);
    let frame = screen.take().unwrap();
    assert_eq!(
        frame.lines,
        [
            "✓ job · exit 1",
            "  0.2 s",
            "  first",
            "  second␛[2J",
            "✗ job · exit 1",
            "  0.2 s",
            "  first",
            "  second␛[2J",
        ]
    );
    assert!(frame.draft.is_empty());
}

#[test]
fn without_a_terminal_progress_is_lines_but_few() {
    let mut screen = Screen::new(Look::new(40, false), false);
    let now = Instant::now();
    screen.live(Live::CallStarted { call: call(0), title: "bash/run".into() }, now);
    for second in [0, 1, 2, 3] {
        let text = format!("at {second} s");
        screen.live(Live::CallProgress { call: call(0), text }, now + Duration::from_secs(second));
    }
    assert_eq!(lines(&mut screen), ["· running: bash/run", "  at 0 s", "  at 2 s"]);
}

#[test]
fn progress_has_a_row_of_its_own_where_the_title_needs_one_and_a_total_makes_it_a_bar() {
    let mut screen = screen();
    let now = Instant::now();
    screen.live(
        Live::CallStarted { call: call(0), title: "bash/run a command of some length".into() },
        now,
    );
    screen.live(Live::CallProgress { call: call(0), text: "compiling crate 3 of 10".into() }, now);
    let rows = ["running: bash/run a command of some length", "  compiling crate 3 of 10"];
    assert_eq!(screen.take().unwrap().draft, rows.map(|row| super::head(row, 39)));
    screen.live(Live::CallProgress { call: call(0), text: "5/10".into() }, now);
    assert_eq!(screen.take().unwrap().draft[1], "  ████░░░░░ 5/10");
    for (odd, shown) in
        [("1/0", None), ("a/b", None), ("-1/4", None), ("9/4", Some("████ 9/4")), ("NaN/4", None)]
    {
        assert_eq!(crate::terminal::bar::bar(odd, 4).as_deref(), shown, "{odd}");
    }
}
