//! A server that is killed at each of its points: what it had said to have done is done, every text
//! that was ever written is in the notes or in the trash, and the next start brings the index to
//! the files.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "it starts real processes, to be killed")]

mod support;

use std::path::Path;
use std::process::Command;

use claw_test_kit::mortal::Mortal;
use serde_json::{Value, json};
use support::Room;

/// At any moment, in the middle of any call.
const RANDOM_KILLS: u64 = 200;
/// Kills of one folder. A check reads all of its files each time.
const KILLS_OF_A_ROOM: u64 = 20;
/// The longest time after a request was sent in which a kill comes, in microseconds: an order takes
/// less.
const MOMENT_US_MAX: u64 = 12_000;

const POINTS: [&str; 8] = [
    "durable-written",
    "durable-swapped",
    "durable-moved",
    "memory-written",
    "memory-indexed",
    "memory-proposed",
    "memory-promoted",
    "memory-superseding",
];

/// A server on these notes, which dies at this point, or at none.
fn started(room: &Room, kill_at: &str) -> Mortal {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"));
    Mortal::start(command.arg("--notes").arg(&room.notes).env("CLAW_KILL_AT", kill_at))
}

/// Does one of each, and notes what was said to be done. Ends when the server is killed.
fn day(room: &Room, kill_at: &str) -> (bool, Vec<(&'static str, Value)>) {
    let mut server = started(room, kill_at);
    let mut done = Vec::new();
    let mut work = || -> Option<()> {
        let mut call = |tool: &'static str, arguments: Value| {
            let output = server.call(tool, arguments)?;
            done.push((tool, output.clone()));
            Some(output)
        };
        let proposal = call("propose", json!({"subject": "Boiler", "text": "TEXT-ONE"}))?;
        let note = call("promote", tap(&proposal))?;
        let note = call(
            "update",
            json!({"id": note["id"], "version": note["version"], "text": "TEXT-TWO"}),
        )?;
        call(
            "supersede",
            json!({"id": note["id"], "version": note["version"], "text": "TEXT-THREE"}),
        )?;
        call("forget", json!({"id": "byhand.md"}))?;
        call("restore", json!({"id": "byhand.md"}))?;
        // A tap that adds to a note, and one that puts another in its place.
        let more = json!({"subject": "Boiler", "text": "TEXT-THREE, and more"});
        let proposal = call("propose", more)?;
        let note = call("promote", tap(&proposal))?;
        let four = json!({"subject": "Boiler", "text": "TEXT-FOUR", "replaces": note["id"]});
        let proposal = call("propose", four)?;
        call("promote", tap(&proposal))?;
        Some(())
    };
    let survived = work().is_some();
    server.end();
    (!survived, done)
}

/// What a yes to a proposal calls.
fn tap(proposal: &Value) -> Value {
    json!({"id": proposal["id"], "version": proposal["version"]})
}

/// Files of notes that hold a text.
fn holding(room: &Room, text: &str) -> usize {
    let files = std::fs::read_dir(&room.notes).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| std::fs::read_to_string(path).is_ok_and(|all| all.contains(text))).count()
}

fn texts(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.to_str().unwrap().contains(".md") {
            found.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn a_server_that_is_killed_anywhere_has_lost_nothing() {
    let mut kills = 0;
    for point in POINTS {
        for count in 1.. {
            let at = format!("{point}:{count}");
            let room = Room::new();
            room.write("byhand.md", "TEXT-BY-HAND\n");
            let (was_killed, done) = day(&room, &at);
            let mut server = room.start();
            let mut all = String::new();
            texts(room.temp.path(), &mut all);
            assert!(all.contains("TEXT-BY-HAND"), "{at}");
            for (tool, text) in
                [("propose", "TEXT-ONE"), ("update", "TEXT-TWO"), ("supersede", "TEXT-THREE")]
            {
                let was_said = done.iter().any(|(done, _)| *done == tool);
                assert!(!was_said || all.contains(text), "{at}: {text} is lost");
            }
            for (tool, output) in &done {
                if matches!(*tool, "promote" | "update" | "supersede") {
                    server.ok("read", json!({"id": output["id"]}));
                }
            }
            // The tap that was cut off is made once more: the note is there, once.
            let open = server.ok("list", json!({"what": "proposals"})).0;
            for proposal in open["notes"].as_array().unwrap() {
                server.ok("promote", tap(proposal));
            }
            for text in ["TEXT-ONE", "TEXT-TWO", "TEXT-THREE", "TEXT-FOUR"] {
                assert!(holding(&room, text) <= 1, "{at}: {text} is there twice");
            }
            drop(server);
            let (is_equal, said) = room.check();
            assert!(is_equal, "{at}: {said}");
            let left: Vec<_> = std::fs::read_dir(&room.notes)
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert!(
                left.iter().all(|name| !name.to_str().unwrap().starts_with('.')),
                "{at}: {left:?}"
            );
            if !was_killed {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 20, "only {kills} kills");
}

/// Repeatable, without a crate: xorshift.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A server that is killed a moment after one of its next calls was sent. `done` gets the text of
/// each note that was said to be kept, with its id. Gives whether it died before it had answered.
fn strike(room: &Room, dice: &mut Dice, number: u64, done: &mut Vec<(String, String)>) -> bool {
    let mut server = started(room, "");
    let last = dice.below(6);
    for at in 0..=last {
        let text = format!("TEXT-{number}-{at}.");
        // New notes, and each third order says more of the one before, so that a file is replaced.
        let (subject, text) = match at % 3 {
            2 => (at - 1, format!("TEXT-{number}-{}. {text}", at - 1)),
            _ => (at, text),
        };
        let arguments = json!({"subject": format!("S{number} {subject}"), "text": text});
        server.send("tools/call", &json!({"name": "remember", "arguments": arguments}));
        if at == last {
            std::thread::sleep(std::time::Duration::from_micros(dice.below(MOMENT_US_MAX)));
            server.kill();
        }
        let Some(result) = server.result() else { break };
        done.push((result["structuredContent"]["id"].as_str().unwrap().to_owned(), text));
        if at == last {
            server.end();
            return false;
        }
    }
    server.end();
    true
}

#[test]
fn after_200_kills_at_any_moment_nothing_is_lost_and_the_index_is_what_a_rebuild_is() {
    let (mut dice, mut in_the_middle) = (Dice(0x5eed_1e55), 0);
    for of_room in 0..RANDOM_KILLS / KILLS_OF_A_ROOM {
        let (room, mut done) = (Room::new(), Vec::new());
        for kill in 0..KILLS_OF_A_ROOM {
            let number = of_room * KILLS_OF_A_ROOM + kill;
            in_the_middle += u64::from(strike(&room, &mut dice, number, &mut done));
            let (is_equal, said) = room.check();
            assert!(is_equal, "kill {number}: {said}");
            let after = room.indexed();
            for ending in ["", "-wal", "-shm"] {
                let index = room.temp.path().join(format!("memory-state/index.db{ending}"));
                let _ = std::fs::remove_file(index);
            }
            assert!(room.check().0);
            assert_eq!(room.indexed(), after, "kill {number}: a rebuild is another");
        }
        let mut all = String::new();
        texts(&room.notes, &mut all);
        for (id, text) in &done {
            assert!(all.contains(text) && all.contains(id.as_str()), "{id}: {text} is lost");
        }
    }
    assert!(in_the_middle > RANDOM_KILLS / 10, "only {in_the_middle} kills hit a call");
}
