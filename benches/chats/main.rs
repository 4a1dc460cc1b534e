//! Prints the benchmark table of the Telegram door: `cargo bench --bench chats`; with `-- load`,
//! `-- turns`, `-- words`, `-- restart` or `-- agents` a part of it.
//!
//! What is measured is the released program, `claw gateway`, as a process of its own: its memory
//! and processor time are read from `/proc`, so that nothing of the stand-ins is counted as claw's.
//! They share the machine with it, though, so times are an upper bound. Must not assert anything:
//! an aim that is missed is a cell that says so.
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should say where")]

mod agents;
mod bot;
mod gateway;
mod history;
mod load;
mod model;
mod restart;
mod stand_ins;
mod turns;
mod words;

#[path = "../../tests/wires/mod.rs"]
mod wires;

fn main() {
    // `cargo bench` and `cargo test` pass arguments of their own; a test run only proves that this
    // compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    if !cfg!(target_os = "linux") {
        println!(
            "Memory and processor time of another process are read from /proc, so this needs Linux."
        );
        return;
    }
    let parts: [Part; 5] = [
        ("load", load::rows),
        ("turns", turns::rows),
        ("words", words::rows),
        ("restart", restart::rows),
        ("agents", agents::rows),
    ];
    let named = |part: &str| std::env::args().any(|argument| argument == part);
    let all = !parts.iter().any(|(part, _)| named(part));
    println!("| what | measured | aim | best peer | note |");
    println!("|---|---|---|---|---|");
    for (_, rows) in parts.into_iter().filter(|(part, _)| all || named(part)) {
        for row in rows() {
            println!(
                "| {} | {} | {} | {} | {} |",
                row.what, row.measured, row.aim, row.peer, row.note
            );
        }
    }
}

/// A part of the table: its name, and what measures it.
type Part = (&'static str, fn() -> Vec<Row>);

/// One line of the table.
struct Row {
    what: String,
    measured: String,
    aim: String,
    peer: String,
    note: String,
}

impl Row {
    fn new(what: impl Into<String>, measured: impl Into<String>, note: impl Into<String>) -> Self {
        let (what, measured, note) = (what.into(), measured.into(), note.into());
        Self { what, measured, aim: String::new(), peer: String::new(), note }
    }

    /// A figure that should be at most `most`.
    fn at_most(what: &str, value: f64, most: f64, unit: &str, note: impl Into<String>) -> Self {
        let verdict = if value <= most { "met" } else { "missed" };
        let aim = format!("{most} {unit}: {verdict}, {:.2} times", value / most);
        Self { aim, ..Self::new(what, format!("{value:.1} {unit}"), note) }
    }

    /// A figure that should be at least `least`.
    fn at_least(what: &str, value: f64, least: f64, unit: &str, note: impl Into<String>) -> Self {
        let verdict = if value >= least { "met" } else { "missed" };
        let aim = format!("{least} {unit}: {verdict}, {:.2} times", value / least);
        Self { aim, ..Self::new(what, format!("{value:.0} {unit}"), note) }
    }

    /// The same figure of the best known peer, on a machine of this size.
    fn peer(mut self, text: &str) -> Self {
        self.peer = text.to_owned();
        self
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
