//! What 1,000 and 10,000 notes cost: making the index, `recall` over stdio, and memory.
//! `cargo bench -p claw-mcp-memory --bench recall`.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::print_stdout, reason = "it prints a table")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::Room;

const WORDS: u64 = 5_000;
const WORDS_OF_NOTE: u64 = 40;
const RECALLS: usize = 1_000;

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
    println!("notes   rebuild   recall p50   p95   resident");
    for notes in [1_000_u64, 10_000] {
        let room = Room::new();
        let mut dice = 1;
        for n in 0..notes {
            let text = sentence(&mut dice, WORDS_OF_NOTE);
            let front = format!(
                "---\nid: n{n}\nkind: fact\nsubject: S{n}\ncreated: 2026-01-01\nsource_session: s{}\nsource_turn: {}\n---\n",
                n / 20,
                n % 20
            );
            room.write(&format!("n{n}.md"), format!("{front}{text}\n"));
        }
        let began = Instant::now();
        let mut server = room.start();
        server.ok("list", json!({"limit": 1}));
        let rebuild = began.elapsed();
        let mut times: Vec<Duration> = (0..RECALLS)
            .map(|_| {
                let query = sentence(&mut dice, 6);
                let began = Instant::now();
                server.ok("recall", json!({"query": query}));
                began.elapsed()
            })
            .collect();
        times.sort();
        let resident = server.resident_kib().unwrap_or_default() / 1024;
        println!(
            "{notes:>6}  {rebuild:>7.0?}  {:>9.1?}  {:>7.1?}  {resident} MiB",
            times[RECALLS / 2],
            times[RECALLS * 95 / 100]
        );
    }
}
