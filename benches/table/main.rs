//! Prints the first table of `docs/benchmarks.md`: `cargo bench --bench table`; with `-- ask`,
//! `-- call`, `-- long`, `-- turn`, `-- pack`, `-- rows` or `-- level` a part of it.
//!
//! Ratios are taken within one run on one machine; absolute times are medians. Must not assert
//! anything: no test may fail because a machine is slow.
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should say where")]

mod ask;
mod call;
mod home;
mod level;
mod long;
mod pack;
mod rows;
mod turn;

#[path = "../../tests/wires/mod.rs"]
mod wires;

fn main() {
    let arguments: Vec<_> = std::env::args_os().collect();
    // Claw in this process starts servers of others behind a supervisor, which is the same
    // program.
    let server = claw_cli::server::run_if_asked(&arguments);
    if server.or_else(|| claw_cli::supervise::run_if_asked(&arguments)).is_some() {
        return;
    }
    // `cargo bench` and `cargo test` pass arguments of their own; a test run only proves that this
    // compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let parts: [Part; 7] = [
        ("ask", ask::rows),
        ("call", call::rows),
        ("long", long::rows),
        ("turn", turn::rows),
        ("pack", pack::rows),
        ("rows", rows::rows),
        ("level", level::rows),
    ];
    let named = |part: &str| std::env::args().any(|argument| argument == part);
    let all = !parts.iter().any(|(part, _)| named(part));
    println!("| what | median | note |");
    println!("|---|---|---|");
    for (_, rows) in parts.into_iter().filter(|(part, _)| all || named(part)) {
        for row in rows() {
            println!("| {} | {} | {} |", row.what, row.median, row.note);
        }
    }
}

/// A part of the table: its name, and what measures it.
type Part = (&'static str, fn() -> Vec<Row>);

/// One line of the table.
struct Row {
    what: String,
    median: String,
    note: String,
}

impl Row {
    fn new(what: impl Into<String>, median: impl Into<String>, note: impl Into<String>) -> Self {
        Self { what: what.into(), median: median.into(), note: note.into() }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
