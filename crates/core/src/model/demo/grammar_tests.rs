//! Tests of the grammar: sentences a new user types.

use super::{Command, ToolBatch, code, parse};
use crate::domain::Level;

fn list(dir: &str) -> Command {
    Command::List { dir: dir.into() }
}

fn show(file: &str) -> Command {
    Command::Show { file: file.into() }
}

fn write(file: &str, text: &str) -> Command {
    Command::Write { file: file.into(), text: text.into() }
}

fn search(pattern: &str, dir: &str) -> Command {
    Command::Search { pattern: pattern.into(), dir: dir.into() }
}

fn run(command: &str) -> Command {
    Command::Run { command: command.into(), needs: Level::Write, hosts: Vec::new() }
}

#[test]
fn what_is_to_be_remembered_and_what_is_known() {
    let remember = |text: &str| Command::Remember { text: text.into() };
    let recall = |about: &str| Command::Recall { about: about.into() };
    for said in ["remember that Anna lives in Graz", "please remember Anna lives in Graz"] {
        assert_eq!(one(said), remember("Anna lives in Graz"));
    }
    assert_eq!(one("What do you know about Anna?"), recall("Anna"));
    assert_eq!(one("recall Anna"), recall("Anna"));
}

#[test]
fn a_reminder_is_understood_as_behind_the_command() {
    for said in
        ["remind me in 10 seconds to drink water", "please remind me in 10 seconds to drink water"]
    {
        let Command::Remind(reminder) = one(said) else { panic!("{said}") };
        assert_eq!(reminder.text, "drink water");
        let call = Command::Remind(reminder).call().unwrap();
        let wanted = serde_json::json!({"in_seconds": 10, "say": "drink water"});
        assert_eq!(call, ("scheduler__schedule", wanted));
    }
    for said in ["what is scheduled", "What's scheduled?"] {
        assert_eq!(one(said), Command::Scheduled);
    }
    assert!(parse("remind me of Anna").is_err());
}

fn one(said: &str) -> Command {
    let mut steps = parse(said).unwrap_or_else(|part| panic!("{said}: {part}"));
    assert_eq!((steps.len(), steps[0].len()), (1, 1), "{said}: {steps:?}");
    steps.remove(0).remove(0)
}

#[test]
fn every_verb() {
    for (said, command) in [
        ("list", list(".")),
        ("List.", list(".")),
        ("ls src", list("src")),
        ("list files", list(".")),
        ("list the files in src", list("src")),
        ("please list here", list(".")),
        ("can you list \"my dir\"", list("my dir")),
        ("show notes.txt", show("notes.txt")),
        ("show me the file a b.txt", show("a b.txt")),
        ("cat `a.txt`", show("a.txt")),
        ("write notes.txt: hello world", write("notes.txt", "hello world")),
        ("write notes.txt:\nline one\nline two", write("notes.txt", "line one\nline two")),
        ("write \"my notes.txt\": \"hi\"", write("my notes.txt", "hi")),
        ("write hello world to notes.txt", write("notes.txt", "hello world")),
        ("write \"a to b\" to \"x y.txt\"", write("x y.txt", "a to b")),
        ("write http://x.example to urls.txt", write("urls.txt", "http://x.example")),
        ("write to a.txt: b", write("a.txt", "b")),
        ("save x to y", write("y", "x")),
        ("search TODO", search("TODO", ".")),
        ("search for fn main in src", search("fn main", "src")),
        ("grep `a in b` in src", search("a in b", "src")),
        ("run cargo test", run("cargo test")),
        ("run: echo hi", run("echo hi")),
        ("run `ls -l | wc`", run("ls -l | wc")),
        (
            "run `ls -l` to look",
            Command::Run { command: "ls -l".into(), needs: Level::Read, hosts: Vec::new() },
        ),
        (
            "run cargo fetch with the network",
            Command::Run {
                command: "cargo fetch".into(),
                needs: Level::Network,
                hosts: Vec::new(),
            },
        ),
        (
            "run cargo fetch with the network to crates.io, *.crates.io",
            Command::Run {
                command: "cargo fetch".into(),
                needs: Level::Network,
                hosts: vec!["crates.io".into(), "*.crates.io".into()],
            },
        ),
        ("help", Command::Help),
        ("Hello!", Command::Help),
        ("hi there", Command::Help),
        ("", Command::Help),
    ] {
        assert_eq!(one(said), command, "{said}");
    }
}

#[test]
fn a_trailing_newline_of_a_text_stays_out_of_the_file_name() {
    assert_eq!(one("write a.txt: x\n"), write("a.txt", "x"));
}

#[test]
fn several_commands() {
    let steps = |said: &str| -> Vec<ToolBatch> { parse(said).unwrap() };
    assert_eq!(steps("list and show a.txt"), [vec![list("."), show("a.txt")]]);
    assert_eq!(steps("list and then show a.txt"), [vec![list(".")], vec![show("a.txt")]]);
    assert_eq!(
        steps("write a: x and write b: y and then run make then list"),
        [vec![write("a", "x"), write("b", "y")], vec![run("make")], vec![list(".")]]
    );
    assert_eq!(steps("list, then show a"), [vec![list(".")], vec![show("a")]]);
    assert_eq!(steps("list and help"), [vec![list(".")]]);
    assert_eq!(steps("help and then help"), [vec![Command::Help]]);
}

#[test]
fn and_inside_a_text_or_a_command_joins_nothing() {
    assert_eq!(one("write a.txt: bread and butter"), write("a.txt", "bread and butter"));
    assert_eq!(one("run echo a and b and then c"), run("echo a and b and then c"));
    assert_eq!(
        one("write a.txt: \"wash and then run home\""),
        write("a.txt", "wash and then run home")
    );
    assert_eq!(one("run `echo x and list y`"), run("echo x and list y"));
}

#[test]
fn what_is_not_in_the_grammar_is_returned() {
    for said in [
        "what is the weather?",
        "show",
        "run",
        "search",
        "write",
        "write hello",
        "write a b c to d e f",
    ] {
        assert!(parse(said).is_err(), "{said}: {:?}", parse(said));
    }
    assert_eq!(parse("list and then show"), Err("show".to_owned()));
    for odd in ["🙂", "listé", "\"", "`list and show", "write ä: ö", " and list", "\u{0}"] {
        let _ = parse(odd);
    }
}

#[test]
fn code_holds_backticks() {
    assert_eq!(code("a"), "`a`");
    assert_eq!(code("a`b"), "``a`b``");
    assert_eq!(code("`a`"), "`` `a` ``");
    assert_eq!(code("a\nb"), "`a b`");
}
