//! Shown means shown: what could not be printed is a failure with an exit code, never a panic, and
//! a reply that did not leave comes again. Whose turn a question joined is said.

#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use crate::outputs::{closed, full, into, no_panic};
use crate::program::{House, eventually};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const COMES_AGAIN: &str = "(an earlier turn ended while nobody was here)";

#[test]
#[cfg(target_os = "linux")]
fn a_reply_that_did_not_leave_comes_again() {
    let house = House::new();
    house.claw(&["ask", "hello"]).expect(0);
    for (door, code) in [("ask", 1), ("chat", 1), ("ask", 141), ("chat", 141)] {
        let (args, input): (&[&str], &[u8]) =
            if door == "ask" { (&["ask", "hello"], b"") } else { (&["chat"], b"hello\n") };
        // A console that cannot even show its greeting may end before it has taken the line in,
        // which is no message then: it is typed again.
        let messages = || {
            let sql = "SELECT count(*) FROM inbox";
            house.db().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap_or(0)
        };
        let before = messages();
        eventually("the line is taken in", || {
            let out = if code == 1 { full() } else { closed() };
            no_panic(&into(&house, args, out, input).expect(code));
            messages() > before
        });
        let next = house.claw(&["ask", "hello"]).expect(0);
        assert!(
            next.err.contains(COMES_AGAIN),
            "{door} into a stream that ends with {code}: {next:?}"
        );
        assert!(!house.claw(&["ask", "hello"]).expect(0).err.contains(COMES_AGAIN), "and once");
    }
    house.is_whole();
}

#[test]
fn a_reply_that_left_does_not_come_again() {
    let house = House::new();
    for _ in 0..3 {
        let said = house.claw_with_stdin(&["chat"], b"hello\n").expect(0);
        assert!(said.out.contains("built-in demo"), "{said:?}");
        assert!(!house.claw(&["ask", "hello"]).expect(0).err.contains(COMES_AGAIN));
    }
}

#[test]
fn own_turn_waits_until_no_turn_is_open_and_a_message_that_joins_one_is_told() {
    let write = r#"{"path":"a","content":"x"}"#;
    let parks = Answer::Turn(Turn::calls(&[Call::new("w", "filesystem__write_file", write)]));
    let provider =
        Threaded::start(Wire::Anthropic, [parks, Answer::text("to both"), Answer::text("alone")]);
    let house = House::at("claude", &provider.base_url);
    let id = house.ask_parks("one");
    let joins = house.claw(&["ask", "two"]).expect(3);
    assert!(
        joins.err.contains("goes in when this is answered") && joins.err.contains("--own-turn"),
        "{joins:?}"
    );

    let mut command = house.command(&["ask", "three", "--json", "--own-turn"]);
    command.stdin(Stdio::null());
    let waiting = house.begin(command);
    eventually("it says that it waits", || waiting.err().contains("waits for its end"));
    house.claw(&["deny", &id]).expect(0);
    let own = waiting.ends().expect(0);
    assert_eq!(
        (own.json()["reply"].as_str(), own.json()["joined"].as_bool()),
        (Some("alone"), Some(false))
    );
    let asked = provider.recorded();
    let told = |at: usize| asked[at].body["messages"].to_string();
    assert!(
        told(1).contains("two") && !told(1).contains("three") && told(2).contains("three"),
        "{} {}",
        told(1),
        told(2)
    );
    house.is_whole();
}

/// What the model was told last.
fn told(provider: &Threaded) -> String {
    provider.recorded().last().unwrap().body["messages"].to_string()
}

#[test]
fn what_is_piped_in_beside_a_text_is_not_dropped() {
    let provider = Threaded::start(Wire::Anthropic, ["1", "2", "3"].map(Answer::text));
    let house = House::at("claude", &provider.base_url);
    house.claw_with_stdin(&["ask", "sum", "it"], b"41\n1\n").expect(0);
    assert!(
        told(&provider).contains("sum it")
            && told(&provider).contains("as data:\\n```\\n41\\n1\\n```"),
        "{}",
        told(&provider)
    );
    house.claw(&["ask", "nothing beside it"]).expect(0);
    assert!(!told(&provider).contains("nothing beside it\\n"), "{}", told(&provider));
    let long = house.claw_with_stdin(&["ask", "sum it"], &b"x".repeat(256 * 1024 + 1));
    long.expect_mistake(&["262144 bytes", "file of the workspace"]);
    // Somebody holds the pipe open and never writes.
    let mut silent = house.start(&["ask", "go"]);
    eventually("it goes on without it", || silent.out().contains('3'));
    let why = "nothing came on standard input";
    eventually("it says so", || silent.err().contains(why));
    silent.types(b"too late");
    silent.ends().expect(0);
}

#[test]
fn no_escape_sequence_of_a_model_gets_into_a_pipe() {
    let hostile = "red \u{1b}[31m\u{9b}2J\u{7}\tkept\nline";
    let provider = Threaded::start(Wire::Anthropic, [Answer::text(hostile)]);
    let house = House::at("claude", &provider.base_url);
    let said = house.claw(&["ask", "go"]).expect(0).out;
    assert_eq!(said, "red ␛[31m<U+009B>2J␇\tkept\nline\n");
}

#[test]
fn help_is_a_command() {
    let house = House::new();
    assert_eq!(house.claw(&["help"]).expect(0).out, house.claw(&["--help"]).expect(0).out);
    assert!(house.claw(&["help", "ask"]).expect(0).out.contains("--own-turn"));
}

#[test]
fn the_audit_is_one_line_a_call_and_rows_are_asked_for() {
    let house = House::new();
    house.claw(&["ask", "list ."]).expect(0);
    house.ask_parks("write a: b");
    let calls = house.claw(&["audit"]).expect(0).out;
    let of_calls: Vec<&str> = calls.lines().filter(|line| line.contains("filesystem/")).collect();
    assert_eq!(of_calls.len(), 2, "{calls}");
    assert!(
        of_calls[0].contains("filesystem/list_dir") && of_calls[0].contains("✓ ran in"),
        "{calls}"
    );
    assert!(
        of_calls[1].contains("filesystem/write_file")
            && of_calls[1].contains("waits for an answer"),
        "{calls}"
    );
    let rows = house.claw(&["audit", "--rows"]).expect(0).out;
    assert!(
        rows.lines().count() > calls.lines().count() + 2 && rows.contains("  received "),
        "{rows}"
    );
}

#[test]
fn a_word_that_is_no_text_is_told_in_a_sentence() {
    let house = House::new();
    for words in [&["ask"][..], &["server"], &["--model"]] {
        let mut command = house.command(words);
        command.arg(std::ffi::OsStr::from_bytes(b"\xff")).stdin(Stdio::null());
        let ended = command.output().unwrap();
        let err = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{err}");
        assert!(err.contains("not UTF-8") && err.lines().count() == 1, "{words:?}: {err}");
    }
}

#[test]
fn an_answer_that_holds_for_longer_says_what_it_has_made() {
    let house = House::new();
    let id = house.ask_parks("write notes/a.txt: 1");
    let shown = house.claw(&["approvals", &id]).expect(0).out;
    let command = format!("claw approve {id} --for always --edits-below notes");
    let mode = format!("claw approve {id} --mode edits");
    for offered in [command.as_str(), mode.as_str(), "--never"] {
        assert!(shown.contains(offered), "{offered}: {shown}");
    }
    assert!(!shown.contains("10m"), "ten minutes are not on offer where files change: {shown}");
    let refused = house.claw(&["approve", &id, "--for", "10m"]);
    refused.expect_mistake(&["not offered", &format!("claw approvals {id}")]);
    assert!(house.claw(&["grants", "--json"]).rows().is_empty());
    house.claw(&["approve", &id, "--mode", "ask"]).expect(2);
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    let given = house.claw(&args).expect(0).err;
    assert!(
        given.contains(
            "Allowed, until you revoke it: writing, editing and moving files at or below notes \
             (grant 1; `claw grants revoke 1` takes it back)."
        ),
        "{given}"
    );
    let story = house.claw(&["sessions", "show", "main"]).expect(0).out;
    let told = "the person at this machine allowed it until that is revoked";
    assert!(story.contains(told) && !story.contains(r#""kind""#), "{story}");
}

#[test]
fn what_was_denied_is_not_undecided_in_the_audit() {
    let house = House::new();
    let id = house.ask_parks("write a.txt: 1");
    house.claw(&["deny", &id, "use", "b.txt"]).expect(0);
    let lines = house.claw(&["audit"]).expect(0).out;
    let told = "✗ not run: the person at this machine denied it, with the word “use b.txt”";
    assert!(lines.contains(told) && !lines.contains("not decided"), "{lines}");
}

#[test]
fn a_pipe_that_ends_with_an_open_question_says_so() {
    let house = House::new();
    let left = house.claw_with_stdin(&["chat"], b"write a.txt: 1\n").expect(3).out;
    let words = left.split_whitespace().collect::<Vec<_>>().join(" ");
    let id = house.waiting();
    assert!(words.contains("1 question stays open until "), "{words}");
    assert!(words.contains(&format!("`claw approve {id}` allows it")), "{words}");
    assert!(words.contains("`claw chat --session main` asks again."), "{words}");
}

#[test]
fn each_of_two_messages_in_a_row_is_answered_once() {
    let house = House::new();
    let said = house.claw_with_stdin(&["chat"], b"help\nlist notes\n").expect(0).out;
    assert_eq!(said.matches("Hello. I am the built-in demo").count(), 1, "{said}");
    assert_eq!(said.matches("Listing `notes`").count() + said.matches("Listing notes").count(), 1);
}

#[test]
fn a_tool_whose_server_is_gone_from_mcp_json_is_not_there() {
    let house = House::new();
    house.claw(&["tools"]).expect(0);
    house.write("mcp.json", r#"{"mcpServers": {}}"#);
    let rows = house.claw(&["tools", "--json"]).expect(0).rows();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["there"] == false), "{rows:?}");
    let listed = house.claw(&["tools"]).expect(0).out;
    assert!(
        !listed.is_empty() && listed.lines().all(|line| line.contains("; not in mcp.json; ")),
        "{listed}"
    );
}
