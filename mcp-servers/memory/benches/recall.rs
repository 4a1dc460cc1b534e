//! What 1,000, 10,000 and 50,000 notes cost: making the index, `recall` over stdio, and memory; then the same
//! with links in each tenth note and a thesaurus, asked with a name; then with vectors of 384 numbers
//! from a stand-in, whose own time is taken off. Aims at 10,000 notes: 2 s, p95 of 5 ms, with vectors
//! 15 ms, 12 MiB. `cargo bench -p claw-mcp-memory --bench recall`.
//!
//! claw starts its memory server with MALLOC_ARENA_MAX=1; so started it takes a mebibyte less.
//! With CLAW_BENCH_SERVER="/path/to/claw server memory" that program is measured.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::print_stdout, reason = "it prints a table")]

#[path = "../tests/support/endpoint.rs"]
mod endpoint;
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use endpoint::{Answer, Endpoint, MODEL};
use serde_json::json;
use support::{Room, Server, spawn_of};

const WORDS: u64 = 5_000;
const WORDS_OF_NOTE: u64 = 40;
const RECALLS: usize = 1_000;
/// Numbers of a vector, as small models have them.
const DIMENSION: usize = 384;

/// What the notes have besides words.
#[derive(Clone, Copy, PartialEq)]
enum With {
    Nothing,
    Links,
    Vectors,
}

impl With {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "words",
            Self::Links => "links",
            Self::Vectors => "vectors",
        }
    }
}

/// Words as a language has them: a few are frequent, most are rare.
fn word(dice: &mut u64) -> u64 {
    *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let share = ((*dice >> 33) as f64) / ((1_u64 << 31) as f64);
    ((WORDS as f64).powf(share)) as u64
}

fn sentence(dice: &mut u64, words: u64) -> String {
    (0..words).map(|_| format!("wort{} ", word(dice))).collect()
}

fn main() {
    println!("notes      with  rebuild  recall p50     p95    resident");
    for (notes, with) in [
        (1_000, With::Nothing),
        (10_000, With::Nothing),
        (10_000, With::Links),
        (10_000, With::Vectors),
        (50_000, With::Nothing),
        (50_000, With::Vectors),
    ] {
        row(notes, with);
    }
}

fn row(notes: u64, with: With) {
    let room = Room::new();
    let mut dice = 1;
    write_notes(&room, notes, with, &mut dice);
    let endpoint = (with == With::Vectors).then(|| Endpoint::start(Answer::Scattered(DIMENSION)));
    let options: Vec<String> = endpoint.iter().flat_map(options).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    if endpoint.is_some() {
        // It makes vectors for two minutes at most, and goes on where it was.
        while !room.check_with(&options).1.contains("by words and by vectors") {}
        std::fs::remove_file(room.temp.path().join("memory-state/index.db")).unwrap();
    }
    let began = Instant::now();
    let mut server = start(&room, &options);
    server.ok("list", json!({"limit": 1}));
    let rebuild = began.elapsed();
    let busy = || endpoint.as_ref().map(Endpoint::busy).unwrap_or_default();
    let mut times: Vec<Duration> = (0..RECALLS)
        .map(|_| {
            let mut query = sentence(&mut dice, 6);
            if with == With::Links {
                query.push_str(&format!("person {} and firm7", word(&mut dice) % notes));
            }
            let (began, busy_before) = (Instant::now(), busy());
            server.ok("recall", json!({"query": query}));
            began.elapsed().saturating_sub(busy().saturating_sub(busy_before))
        })
        .collect();
    times.sort();
    let resident = server.resident_kib().unwrap_or_default() as f64 / 1024.0;
    println!(
        "{notes:>6} {:>8} {rebuild:>8.0?} {:>11.1?} {:>7.1?} {resident:>7.1} MiB",
        with.name(),
        times[RECALLS / 2],
        times[RECALLS * 95 / 100]
    );
}

fn start(room: &Room, options: &[&str]) -> Server {
    let given = std::env::var("CLAW_BENCH_SERVER").ok();
    let program: Vec<&str> = match &given {
        Some(given) => given.split_whitespace().collect(),
        None => vec![env!("CARGO_BIN_EXE_claw-mcp-memory")],
    };
    let mut server = spawn_of(&program, &room.notes, options);
    server.initialize("2025-11-25");
    server
}

fn options(endpoint: &Endpoint) -> Vec<String> {
    let base = endpoint.base();
    let options = ["--embeddings-url", &base, "--embeddings-model", MODEL];
    let always = ["--embeddings-use", "always", "--embeddings-query-time-ms", "60000"];
    options.iter().chain(&always).map(|option| (*option).to_owned()).collect()
}

fn write_notes(room: &Room, notes: u64, with: With, dice: &mut u64) {
    for n in 0..notes {
        let mut text = sentence(dice, WORDS_OF_NOTE);
        if with == With::Links && n % 10 == 0 {
            let (one, other) = (word(dice) % notes, word(dice) % notes);
            text.push_str(&format!("\n- knows: [[Person {one}]]\n- near: [[Person {other}]]"));
        }
        let subject = if with == With::Links { "Person " } else { "S" };
        let front = format!(
            "---\nid: n{n}\nkind: fact\nsubject: {subject}{n}\ncreated: 2026-01-01\nsource_session: s{}\nsource_turn: {}\n---\n",
            n / 20,
            n % 20
        );
        room.write(&format!("n{n}.md"), format!("{front}{text}\n"));
    }
    if with == With::Links {
        let lines: String = (0..1_000).map(|n| format!("firm{n} → Person {n}\n")).collect();
        room.write("thesaurus.md", lines);
    }
}
