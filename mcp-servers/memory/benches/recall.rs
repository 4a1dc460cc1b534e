//! What 1,000, 10,000 and 50,000 notes cost: making the index, `recall` over stdio, and memory;
//! then with links in each tenth note and a thesaurus, asked with a name; with vectors of 384
//! numbers from a stand-in, whose own time is taken off; and with both. Aims at 10,000 notes: 2 s,
//! p95 of 5 ms, with vectors 15 ms, 12 MiB. `cargo bench -p claw-mcp-memory --bench recall`; with
//! words behind `--` only the rows that have one of them (`10000`, `vectors`).
//!
//! Times are those of a clock, so that they hold on a quiet machine alone; what the server itself
//! computed stands beside them, and holds on every machine.
//!
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
    Both,
}

impl With {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "words",
            Self::Links => "links",
            Self::Vectors => "vectors",
            Self::Both => "links+vectors",
        }
    }

    fn links(self) -> bool {
        matches!(self, Self::Links | Self::Both)
    }

    fn vectors(self) -> bool {
        matches!(self, Self::Vectors | Self::Both)
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
    let wanted: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    println!(
        " notes          with  rebuild  of it CPU  recall p50      p95  CPU each  resident  at most"
    );
    for (notes, with) in [
        (1_000, With::Nothing),
        (10_000, With::Nothing),
        (10_000, With::Links),
        (10_000, With::Vectors),
        (10_000, With::Both),
        (50_000, With::Nothing),
        (50_000, With::Vectors),
    ] {
        let is_named = |word: &String| *word == notes.to_string() || word == with.name();
        if wanted.is_empty() || wanted.iter().any(is_named) {
            row(notes, with);
        }
    }
}

fn row(notes: u64, with: With) {
    let room = Room::new();
    let mut dice = 1;
    write_notes(&room, notes, with, &mut dice);
    let endpoint = with.vectors().then(|| Endpoint::start(Answer::Scattered(DIMENSION)));
    let options: Vec<String> = endpoint.iter().flat_map(options).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    if endpoint.is_some() {
        // It makes vectors for two minutes at most, and goes on where it was.
        while !room.check_with(&options).1.contains("by words and by vectors") {}
        for ending in ["", "-wal", "-shm"] {
            let file = room.temp.path().join(format!("memory-state/index.db{ending}"));
            let _ = std::fs::remove_file(file);
        }
    }
    let began = Instant::now();
    let mut server = start(&room, &options);
    server.ok("list", json!({"limit": 1}));
    let (rebuild, rebuild_cpu) = (began.elapsed(), server.cpu().unwrap_or_default());
    let busy = || endpoint.as_ref().map(Endpoint::busy).unwrap_or_default();
    let mut times: Vec<Duration> = (0..RECALLS)
        .map(|_| {
            let mut query = sentence(&mut dice, 6);
            if with.links() {
                query.push_str(&format!("person {} and firm7", word(&mut dice) % notes));
            }
            let (began, busy_before) = (Instant::now(), busy());
            server.ok("recall", json!({"query": query}));
            began.elapsed().saturating_sub(busy().saturating_sub(busy_before))
        })
        .collect();
    times.sort();
    let cpu = server.cpu().unwrap_or_default().saturating_sub(rebuild_cpu) / RECALLS as u32;
    let mib = |kib: Option<u64>| kib.unwrap_or_default() as f64 / 1024.0;
    println!(
        "{notes:>6} {:>13} {rebuild:>8.1?} {rebuild_cpu:>10.1?} {:>11.1?} {:>8.1?} {cpu:>9.1?} {:>5.1} MiB {:>4.1} MiB",
        with.name(),
        times[RECALLS / 2],
        times[RECALLS * 95 / 100],
        mib(server.resident_kib()),
        mib(server.resident_most_kib()),
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
        if with.links() && n % 10 == 0 {
            let (one, other) = (word(dice) % notes, word(dice) % notes);
            text.push_str(&format!("\n- knows: [[Person {one}]]\n- near: [[Person {other}]]"));
        }
        let subject = if with.links() { "Person " } else { "S" };
        let front = format!(
            "---\nid: n{n}\nkind: fact\nsubject: {subject}{n}\ncreated: 2026-01-01\nsource_session: s{}\nsource_turn: {}\n---\n",
            n / 20,
            n % 20
        );
        room.write(&format!("n{n}.md"), format!("{front}{text}\n"));
    }
    if with.links() {
        let lines: String = (0..1_000).map(|n| format!("firm{n} → Person {n}\n")).collect();
        room.write("thesaurus.md", lines);
    }
}
