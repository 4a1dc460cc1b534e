//! Two servers on one folder, a person with an editor, and kills in the middle: nothing is lost,
//! and the index equals a rebuild.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use support::{Room, Server};

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

const EDITS: u64 = 1_000;

#[test]
fn after_1000_edits_by_hand_the_index_is_what_the_files_are() {
    let room = Room::new();
    let mut server = room.start();
    let mut dice = Dice(0x5eed);
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for edit in 0..EDITS {
        let path =
            format!("{}n{}.md", ["", "a/", "a/b/", "c/"][dice.below(4) as usize], dice.below(30));
        let word = format!("word{edit}");
        let text = match dice.below(5) {
            0 => format!("{word}\n"),
            1 => format!(
                "---\nid: m{}\nsubject: S{edit}\ntags: [t{}]\n---\n{word} [[S1]]\n",
                dice.below(40),
                edit % 7
            ),
            2 => format!("---\nsubject: [broken {edit}\n---\n{word}\n"),
            3 => format!(
                "---\nsupersedes: m{}\ncreated: 2026-01-01\n---\n{word} 北京\n",
                dice.below(40)
            ),
            _ => String::new(),
        };
        match dice.below(4) {
            0 if files.contains_key(&path) => {
                room.remove(&path);
                files.remove(&path);
            }
            1 if files.contains_key(&path) => {
                let to = format!("moved{}.md", dice.below(10));
                std::fs::rename(room.notes.join(&path), room.notes.join(&to)).unwrap();
                let text = files.remove(&path).unwrap();
                files.insert(to, text);
            }
            // As an editor does it: under another name, then renamed.
            2 => {
                room.write(".tmp", &text);
                std::fs::create_dir_all(room.notes.join(&path).parent().unwrap()).unwrap();
                std::fs::rename(room.notes.join(".tmp"), room.notes.join(&path)).unwrap();
                files.insert(path, text);
            }
            _ => {
                room.write(&path, &text);
                files.insert(path, text);
            }
        }
        if dice.below(10) == 0 {
            let (output, _) = server.ok("recall", json!({"query": word, "superseded": true}));
            let hits = output["hits"].as_array().unwrap();
            let found: Vec<&str> = hits.iter().map(|hit| hit["path"].as_str().unwrap()).collect();
            assert_eq!(found, holding(&files, &word), "{output}");
        }
    }
    let (list, _) = server.ok("list", json!({"limit": 500}));
    assert_eq!(list["total"], files.len());
    for (path, text) in &files {
        assert_eq!(&room.read(path), text, "no tool has touched it");
        let (note, _) = server.ok("read", json!({"id": path}));
        let word = text.split_whitespace().find(|word| word.starts_with("word"));
        assert!(word.is_none_or(|word| note["text"].as_str().unwrap().contains(word)), "{note}");
    }
    let before = room.indexed();
    drop(server);
    std::fs::remove_file(room.temp.path().join("memory-state/index.db")).unwrap();
    let (is_equal, said) = room.check();
    assert!(is_equal, "{said}");
    assert_eq!(room.indexed(), before, "a rebuild is the same");
}

/// The files that hold a word, without those for which another file of the same id stands.
fn holding<'a>(files: &'a BTreeMap<String, String>, word: &str) -> Vec<&'a str> {
    let id_of = |path: &'a String, text: &'a String| {
        text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or(path)
    };
    let first_of = |id: &str| {
        let same = files.iter().filter(|(path, text)| id_of(path, text) == id);
        same.map(|(path, _)| (path.len(), path.as_str())).min().map(|(_, path)| path)
    };
    let is_held = |text: &str| text.split_whitespace().any(|one| one == word);
    let holding = files.iter().filter(|(_, text)| is_held(text));
    let standing = holding.filter(|(path, text)| first_of(id_of(path, text)) == Some(path));
    standing.map(|(path, _)| path.as_str()).collect()
}

/// A server that may be asked for more than a person could answer in a day.
fn busy(room: &Room) -> Server {
    let mut server = support::spawn(&room.notes, &["--proposals-per-day-max", "1000000"]);
    server.initialize("2025-11-25");
    server
}

fn remember(server: &mut Server, n: usize, who: usize) -> String {
    let (proposal, _) = server
        .ok("propose", json!({"subject": format!("S{n}"), "text": format!("fact {n} of {who}")}));
    let (note, _) =
        server.ok("promote", json!({"id": proposal["id"], "version": proposal["version"]}));
    note["id"].as_str().unwrap().to_owned()
}

#[test]
fn two_servers_that_write_at_once_lose_nothing() {
    const EACH: usize = 40;
    let room = Room::new();
    std::thread::scope(|scope| {
        for who in 0..2 {
            let room = &room;
            scope.spawn(move || {
                let mut server = busy(room);
                for n in 0..EACH {
                    // The same subjects on both sides want the same names of files.
                    let id = remember(&mut server, n, who);
                    let (note, _) = server.ok("read", json!({"id": id}));
                    assert_eq!(note["text"], format!("fact {n} of {who}"));
                }
            });
        }
    });
    let mut server = busy(&room);
    let (list, _) = server.ok("list", json!({"limit": 500}));
    assert_eq!(list["total"], 2 * EACH);
    // Both change one note, each on what it has read: every change that was said to be
    // done is there.
    let id = remember(&mut server, 999, 0);
    let done: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|who| {
                let (room, id) = (&room, &id);
                scope.spawn(move || {
                    let mut server = busy(room);
                    let mut done = 0;
                    while done < 20 {
                        let (note, _) = server.ok("read", json!({"id": id}));
                        let text =
                            format!("{}\nline {done} of {who}", note["text"].as_str().unwrap());
                        let result = server.call(
                            "update",
                            json!({"id": id, "version": note["version"], "text": text}),
                        );
                        done += usize::from(result["isError"] == false);
                    }
                    done
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let (note, _) = server.ok("read", json!({"id": id}));
    let lines =
        note["text"].as_str().unwrap().lines().filter(|line| line.starts_with("line")).count();
    assert_eq!(lines, done);
    drop(server);
    let (is_equal, said) = room.check();
    assert!(is_equal, "{said}");
}

/// Both replace the same note: one of them is told what the other has put in its place, and may
/// replace that.
#[test]
fn of_two_writers_that_supersede_one_note_the_second_reads_the_first() {
    let room = Room::new();
    let mut server = room.start();
    let old = remember(&mut server, 0, 0);
    let (note, _) = server.ok("read", json!({"id": old}));
    let version = note["version"].clone();
    // Both have read the same version, and both are asked before either is promoted.
    let mut writers: Vec<(Server, Value)> = (1..3)
        .map(|who| {
            let mut server = busy(&room);
            let arguments = json!({
                "subject": "S0", "text": format!("otherwise, says writer {who}"), "replaces": old,
            });
            let (proposal, _) = server.ok("propose", arguments);
            (server, json!({"id": proposal["id"], "version": proposal["version"]}))
        })
        .collect();
    let results: Vec<Value> = std::thread::scope(|scope| {
        let both: Vec<_> = writers
            .iter_mut()
            .map(|(server, tap)| scope.spawn(|| server.call("promote", tap.clone())))
            .collect();
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let is_done = |result: &&Value| result["isError"] == false;
    assert_eq!(results.iter().filter(is_done).count(), 1, "{results:?}");
    let won = results.iter().position(|result| is_done(&result)).unwrap();
    let new = results[won]["structuredContent"]["id"].as_str().unwrap().to_owned();
    let refused = claw_test_kit::mcp::text_of(&results[1 - won]);
    let said = format!(
        "was superseded by `{new}` already, which says: otherwise, says writer {}",
        won + 1
    );
    assert!(refused.contains(&said), "{refused}");
    // The version that was read is no way around it.
    let direct = server.err("supersede", json!({"id": old, "version": version, "text": "third"}));
    assert!(direct.contains("has changed since version"), "{direct}");
    // Nothing is lost: the first note, the one in its place, and the proposal, which the refusal
    // has put into the trash.
    let (hits, _) = server.ok("recall", json!({"query": "fact otherwise", "superseded": true}));
    assert_eq!(hits["hits"].as_array().unwrap().len(), 2, "{hits}");
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 0);
    let (trash, _) = server.ok("list", json!({"what": "trash"}));
    assert_eq!(trash["closed_proposals"], 3, "two are notes by now: {trash}");
    // And it can be asked again, in place of the note that came first.
    let loser = &mut writers[1 - won].0;
    let text = format!("otherwise, says writer {}", 2 - won);
    let (again, _) = loser.ok("propose", json!({"subject": "S0", "text": text, "replaces": new}));
    assert_eq!(again["is_proposed"], true, "{again}");
    loser.ok("promote", json!({"id": again["id"], "version": again["version"]}));
    let (hits, _) = server.ok("recall", json!({"query": "otherwise"}));
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1, "{hits}");
    assert_eq!(hits["hits"][0]["text"], text);
    assert!(room.check().0);
}
