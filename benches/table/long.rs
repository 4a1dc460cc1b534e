//! A whole `claw ask` as a process in sessions of 20 to 40,000 events: what it costs must not grow
//! with them, apart from the request itself, which carries the whole window.

use claw_core::domain::SessionId;

use crate::ask::measure_in;
use crate::home::{Home, runtime};
use crate::wires::Answer;
use crate::{Row, median, turn};

const FEW: u64 = 20;
/// Bytes of a message: some words, and what messages usually have.
const TEXTS: [(&str, usize, &[u64]); 2] =
    [("short texts", 20, &[10_000, 20_000, 40_000]), ("texts of 1 KB", 1_000, &[20_000])];

pub fn rows() -> Vec<Row> {
    TEXTS.into_iter().flat_map(|(texts, bytes, sizes)| rows_of(texts, bytes, sizes)).collect()
}

fn rows_of(texts: &str, bytes: usize, sizes: &[u64]) -> Vec<Row> {
    let few = cpu_ms(FEW, bytes);
    let row = |events: &u64| {
        let many = cpu_ms(*events, bytes);
        Row::new(
            format!("`claw ask`, {events} events, {texts}: CPU"),
            format!("{many:.1} ms"),
            format!("{:.2} times that of {FEW} events", many / few),
        )
    };
    sizes.iter().map(row).collect()
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
