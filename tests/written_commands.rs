//! Every command that README and manual show. Each is read by the parser of the program itself.
//! Those of the README and of the first hour are run, one after the other, in a new home with the
//! demo; who runs the few others is named here. Must not know what a page says about a command.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::BTreeSet;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use claw_cli::args::Cli;
use claw_test_kit::page;

use crate::pages::{blocks, pages_for_users, spans};
use crate::program::House;
use crate::pty::Pty;

/// What stands for a value in a synopsis, and a value.
const PLACEHOLDERS: [(&str, &str); 13] = [
    ("ADDRESS:PORT", "127.0.0.1:8484"),
    ("CLIENT", "zed"),
    ("FOLDER", "./folder"),
    ("NUMBER:DIGEST", "64:0123456789abcdef"),
    ("MODE", "edits"),
    ("N", "1"),
    ("NAME=VALUE", "A=b"),
    ("NUMBER", "1"),
    ("PORT", "8484"),
    ("COMMAND", "ask"),
    ("TURN", "main:12"),
    ("WHEN", "--in=20m"),
    ("K", "fact"),
];

/// Names that are placeholders behind some words alone, and stand for others there.
const NAMES: [(&str, &str); 4] = [
    ("claw clients add ", "laptop"),
    ("claw clients revoke ", "laptop"),
    ("claw close ", "docker"),
    ("claw open ", "docker"),
];

/// Sentences that begin with the program's name in code, and are no commands.
const SENTENCES: [&str; 1] = ["claw is not published anywhere yet"];

/// Commands in blocks of the README and of the first hour that this test does not run, and the file
/// that does, with words that stand there.
const RUN_ELSEWHERE: [(&str, &str, &str); 8] = [
    ("cargo run --release -- chat", ".ci/fresh-home.sh", "cargo run -q --release -- chat"),
    ("cargo test --workspace", ".ci/run", "cargo test --workspace"),
    // The same build with the program's place as the only difference.
    ("cargo install --path .", ".ci/fresh-home.sh", "target/release/claw"),
    ("claw init", "tests/living/rig.rs", "\"init\""),
    ("claw service install", "tests/service.rs", "\"install\""),
    ("claw chat", "tests/shown.rs", "\"chat\""),
    // An answer needs its id, which the test reads from the list.
    ("claw approve ID", "tests/written_commands.rs", "\"approve\""),
    ("claw undo", "tests/written_commands.rs", "\"undo\""),
];

/// A line of a shell as its words, without a comment.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The n-th of some alternatives, from the start again behind the last.
fn nth<'a>(parts: &[&'a str], n: usize) -> &'a str {
    parts[n % parts.len()]
}

/// A synopsis with the n-th of all alternatives, with and without what is optional.
fn variants(synopsis: &str) -> BTreeSet<String> {
    let innermost = regex::Regex::new(r"\[([^\[\]]*)\]").unwrap();
    let choice = regex::Regex::new(r"[^ |]+(?:\|[^ |]+)+").unwrap();
    let expanded = |with: bool, n: usize| {
        let mut text = synopsis.to_owned();
        while innermost.is_match(&text) {
            let option = |found: &regex::Captures<'_>| {
                // Options that exclude each other, each with its value.
                let options = found[1].replace("|--", "\n--");
                let all: Vec<&str> = options.lines().collect();
                if with { nth(&all, n).to_owned() } else { String::new() }
            };
            text = innermost.replace_all(&text, option).into_owned();
        }
        let word = |found: &regex::Captures<'_>| {
            nth(&found[0].split('|').collect::<Vec<_>>(), n).to_owned()
        };
        choice.replace_all(&text, word).into_owned()
    };
    let count = synopsis.matches('|').count() + 1;
    (0..count).flat_map(|n| [expanded(false, n), expanded(true, n)]).collect()
}

/// What the program's own parser says of it.
fn refused(command: &str) -> Option<String> {
    let name = NAMES.iter().find(|(words, _)| command.starts_with(words));
    let filled = words(command).into_iter().filter(|word| word != "…").map(|word| {
        let word = word.trim_end_matches('…').to_owned();
        if let (Some((_, name)), "NAME") = (name, word.as_str()) {
            return (*name).to_owned();
        }
        PLACEHOLDERS
            .iter()
            .find(|(name, _)| *name == word)
            .map_or(word, |(_, value)| (*value).to_owned())
    });
    let error = Cli::try_parse_from(filled).err()?;
    // A command that is only named needs more than its name.
    let is_name = [
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayVersion,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
    ];
    (!is_name.contains(&error.kind())).then(|| format!("{command}\n{error}"))
}

#[test]
fn the_parser_of_the_program_takes_every_command_that_the_pages_show() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, text) in pages_for_users() {
        let lines = blocks(&text, "sh").into_iter().filter(|line| line.starts_with("claw "));
        let named = spans(&text).into_iter().filter(|span| span.starts_with("claw "));
        for shown in lines.chain(named) {
            if SENTENCES.contains(&shown.as_str()) {
                continue;
            }
            let shown = shown.split(" | ").next().unwrap();
            for command in variants(shown) {
                seen += 1;
                wrong.extend(refused(&command).map(|why| format!("{path}: {why}")));
            }
        }
    }
    assert!(seen > 250, "only {seen} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_of_the_program_is_in_the_list_of_all() {
    let list = page("docs/commands.md");
    let command = Cli::command();
    let names = command.get_subcommands().map(|one| format!("claw {}", one.get_name()));
    let missing: Vec<String> = names.filter(|name| !list.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The commands of the blocks of a page, without comments.
fn typed(name: &str) -> Vec<String> {
    let line = |line: &String| line.split("  #").next().unwrap().trim().to_owned();
    blocks(&page(name), "sh").iter().map(line).filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_commands_of_the_readme_and_the_first_hour_are_run() {
    let house = House::new();
    let mut ran = BTreeSet::new();
    let commands = [typed("README.md"), typed("docs/guide.md")].concat();
    for command in &commands {
        if let Some((_, file, words)) = RUN_ELSEWHERE.iter().find(|(named, ..)| named == command) {
            assert!(page(file).contains(words), "{command}: {file} does not run it");
        } else {
            let words = words(command);
            assert_eq!(words[0], "claw", "{command}: nobody runs it");
            let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            // The one that writes waits for a yes.
            let code = if words.contains(&"write notes/today.md: bread and milk") { 3 } else { 0 };
            let done = house.claw(&words);
            // The doctor names what is odd about the machine that it runs on.
            let is_odd = words == ["doctor"] && done.code == Some(1);
            assert!(done.code == Some(code) || is_odd, "{command}: {done:?}");
        }
        if command == "claw approve ID" {
            let file = house.workspace().join("notes/today.md");
            assert!(!file.exists());
            house.claw(&["approve", &house.waiting()]).expect(0);
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "bread and milk");
        }
        if command == "claw undo" && ran.insert("undo") {
            let mut undo = Pty::sized(&house, &["undo"], 40, 80);
            undo.shows("Do it?").types("y\n");
            undo.ends(0);
            assert!(!house.workspace().join("notes/today.md").exists(), "it is put back");
        }
    }
    for (command, ..) in RUN_ELSEWHERE {
        assert!(commands.iter().any(|typed| typed == command), "{command} stands nowhere");
    }
}

/// Beginnings of paths that look like a chat command.
const PATHS: [&str; 10] =
    ["/usr", "/lib", "/tmp", "/root", "/var", "/run", "/etc", "/dev", "/opt", "/home"];

#[test]
fn every_chat_command_that_the_pages_show_is_one() {
    let house = House::new();
    let help = house.claw_with_stdin(&["chat"], b"/help\n/quit\n").out;
    let name = regex::Regex::new(r"`(/[a-z]+)").unwrap();
    let mut known: BTreeSet<&str> =
        name.captures_iter(&help).map(|found| found.get(1).unwrap().as_str()).collect();
    assert!(known.len() > 20, "{help}");
    // In Telegram alone; `tests/telegram_here.rs` types it.
    known.insert("/here");
    let at_start = regex::Regex::new(r"^/[a-z]+(?: |$)").unwrap();
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, text) in pages_for_users() {
        for span in spans(&text) {
            let Some(found) = at_start.find(&span) else { continue };
            let command = found.as_str().trim();
            if !PATHS.contains(&command) {
                seen += 1;
                if !known.contains(command) {
                    wrong.push(format!("{path}: {span}"));
                }
            }
        }
    }
    assert!(seen > 60, "only {seen} were found");
    assert!(wrong.is_empty(), "{}\nknown: {known:?}", wrong.join("\n"));
}
