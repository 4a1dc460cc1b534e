//! A whole `claw ask` as a process in sessions with 20, 10,000 and 20,000 events: what it costs
//! must not grow with them, apart from the request itself, which carries the whole window.

use claw_core::domain::SessionId;

use crate::ask::measure_in;
use crate::home::{Home, runtime};
use crate::wires::Answer;
use crate::{Row, median, turn};

const FEW: u64 = 20;
const MANY: u64 = 20_000;
/// Of short texts, enough that the window is full.
const HALF: u64 = MANY / 2;
/// Bytes of a message: some words, of which 10,000 fit into a window, and what messages usually
/// have.
const TEXTS: [(&str, usize); 2] = [("short texts", 20), ("texts of 1 KB", 1_000)];

pub fn rows() -> Vec<Row> {
    let row = |(texts, bytes, fewer)| {
        let (few, many) = (cpu_ms(fewer, bytes), cpu_ms(MANY, bytes));
        Row::new(
            format!("`claw ask`, {MANY} events, {texts}: CPU"),
            format!("{many:.1} ms"),
            format!("{:.2} times that of {fewer} events", many / few),
        )
    };
    let [short, long] = TEXTS;
    [(short.0, short.1, FEW), (short.0, short.1, HALF), (long.0, long.1, FEW)].map(row).into()
}

/// The median of three: a home is summarised and kept by its first runs, which count for nothing.
fn cpu_ms(events: u64, text_bytes: usize) -> f64 {
    let once = |_| {
        let home = Home::new();
        runtime().block_on(async {
            let app = home.app();
            turn::fill(&app, &SessionId::new("main").unwrap(), events, text_bytes).await;
            app.close().await;
        });
        // A summary takes an answer of its own.
        measure_in(&home, "hello", |model| (0..8).for_each(|_| model.push(Answer::text("Hello."))))
            .cpu_ms
    };
    median((0..3).map(once).collect())
}
