//! What 1,000 and 10,000 notes cost: making the index, `recall` over stdio, and memory; then the same
//! with links in each tenth note and a thesaurus, asked with a name. Aims at 10,000 notes: 2 s, p95 of
//! 5 ms, 12 MiB. `cargo bench -p claw-mcp-memory --bench recall`.
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
    println!("notes   links  rebuild  recall p50     p95    resident");
    for (notes, has_links) in [(1_000, false), (10_000, false), (10_000, true)] {
        let room = Room::new();
        let mut dice = 1;
        write_notes(&room, notes, has_links, &mut dice);
        let began = Instant::now();
        let mut server = room.start();
        server.ok("list", json!({"limit": 1}));
        let rebuild = began.elapsed();
        let mut times: Vec<Duration> = (0..RECALLS)
            .map(|_| {
                let mut query = sentence(&mut dice, 6);
                if has_links {
                    query.push_str(&format!("person {} and firm7", word(&mut dice) % notes));
                }
                let began = Instant::now();
                server.ok("recall", json!({"query": query}));
                began.elapsed()
            })
            .collect();
        times.sort();
        let resident = server.resident_kib().unwrap_or_default() as f64 / 1024.0;
        println!(
            "{notes:>6} {has_links:>6} {rebuild:>8.0?} {:>11.1?} {:>7.1?} {resident:>7.1} MiB",
            times[RECALLS / 2],
            times[RECALLS * 95 / 100]
        );
    }
}

fn write_notes(room: &Room, notes: u64, has_links: bool, dice: &mut u64) {
    for n in 0..notes {
        let mut text = sentence(dice, WORDS_OF_NOTE);
        if has_links && n % 10 == 0 {
            let (one, other) = (word(dice) % notes, word(dice) % notes);
            text.push_str(&format!("\n- knows: [[Person {one}]]\n- near: [[Person {other}]]"));
        }
        let subject = if has_links { "Person " } else { "S" };
        let front = format!(
            "---\nid: n{n}\nkind: fact\nsubject: {subject}{n}\ncreated: 2026-01-01\nsource_session: s{}\nsource_turn: {}\n---\n",
            n / 20,
            n % 20
        );
        room.write(&format!("n{n}.md"), format!("{front}{text}\n"));
    }
    if has_links {
        let lines: String = (0..1_000).map(|n| format!("firm{n} → Person {n}\n")).collect();
        room.write("thesaurus.md", lines);
    }
}
