//! Random queries at the index: none is an order to FTS5, none is an error. 20,000 by default;
//! `CLAW_MEMORY_RANDOM_QUERIES=1000000` asks for more.

use crate::args::Args;
use crate::index::words::Query;
use crate::memory::Memory;
use crate::recall::{Question, hits};

const QUERIES: u64 = 20_000;

/// What FTS5 would take for orders, words of the notes, and scripts of all kinds.
const PIECES: &[&str] = &[
    "\"",
    "\"\"",
    "'",
    "(",
    ")",
    "{",
    "}",
    ":",
    "*",
    "^",
    "+",
    "-",
    ",",
    "\0",
    "\\",
    ";",
    "--",
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "NEAR(",
    "NEAR/3",
    "body:",
    "subject",
    "rowid",
    "boiler",
    "blue",
    "北京",
    "大",
    "ラーメン",
    "กรุงเทพ",
    "दिल्ली",
    "\u{301}",
    "\u{200d}",
    "😀",
    "é",
    "ß",
    "İ",
    "\u{feff}",
    "\u{10ffff}",
    "\n",
    "\t",
    " ",
    " ",
    " ",
    "a",
    "1",
    "1e9",
    "the",
];

/// Repeatable, without a crate: xorshift.
fn dice(state: &mut u64, below: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % below
}

fn query(state: &mut u64) -> String {
    let mut text = String::new();
    for _ in 0..dice(state, 12) {
        match dice(state, 4) {
            0 => {
                let code = u32::try_from(dice(state, 0x11_0000)).unwrap_or_default();
                text.extend(char::from_u32(code));
            }
            _ => {
                let at = usize::try_from(dice(state, PIECES.len() as u64)).unwrap_or_default();
                text.push_str(PIECES[at]);
            }
        }
        if dice(state, 3) == 0 {
            text.push(' ');
        }
    }
    text
}

#[test]
fn no_text_is_an_error_of_the_index() {
    let temp = tempfile::tempdir().unwrap();
    let notes = temp.path().join("memory");
    std::fs::create_dir(&notes).unwrap();
    for (name, text) in [
        ("a.md", "The boiler is blue AND \"NEAR\" the wall."),
        ("b.md", "她住在北京大学旁边。 ラーメン กรุงเทพ दिल्ली"),
        ("c.md", "---\nsource_session: s\nsource_turn: 1\n---\nOR NOT 1e9 é ß"),
    ] {
        std::fs::write(notes.join(name), text).unwrap();
    }
    let count = std::env::var("CLAW_MEMORY_RANDOM_QUERIES").ok();
    let count: u64 = count.map_or(QUERIES, |count| count.parse().unwrap());
    let threads = std::thread::available_parallelism().unwrap().get() as u64;
    let found: u64 = std::thread::scope(|scope| {
        let parts: Vec<_> = (1..=threads)
            .map(|part| {
                let notes = notes.clone();
                scope.spawn(move || found(notes, 0x5eed * part, count.div_ceil(threads)))
            })
            .collect();
        parts.into_iter().map(|part| part.join().unwrap()).sum()
    });
    assert!(found > count / 4, "only {found} of {count} found something");
}

/// How many of these queries find something.
fn found(notes: std::path::PathBuf, mut state: u64, count: u64) -> u64 {
    let memory = Memory::open(&Args { notes: Some(notes), ..Args::default() }).unwrap();
    let mut found = 0;
    for n in 0..count {
        let text = query(&mut state);
        let question = Question { words: Query::of(&text), limit: 5, ..Question::default() };
        let hits = hits(&memory.index.db, &question);
        let hits = hits.unwrap_or_else(|error| panic!("query {n}, {text:?}: {error}"));
        found += u64::from(!hits.is_empty() && !question.words.words.is_empty());
    }
    found
}
