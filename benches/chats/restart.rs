//! From the start of the process to its first poll, in a home with two thousand chats of history.
//! Must not know what a start reads.

use crate::gateway::{Gateway, Home, On};
use crate::stand_ins::StandIns;
use crate::{Row, history, median};

const CHATS: i64 = 2_000;
const TURNS_EACH: u64 = 20;
const STARTS: usize = 11;

pub fn rows() -> Vec<Row> {
    let chats: Vec<i64> = (1..=CHATS).collect();
    let stand_ins = StandIns::start();
    let home = Home::new(On::Disk);
    history::write(&home, &chats, TURNS_EACH);
    let size = std::fs::metadata(home.path().join("claw.db")).map_or(0, |meta| meta.len());
    let (mut times, mut cpus, mut memory) = (Vec::new(), Vec::new(), 0.0);
    for start in 0..STARTS + 1 {
        let gateway = Gateway::start(&home, &stand_ins, &chats);
        let polled = stand_ins.first_poll();
        // The first start makes the rest of the home.
        if start > 0 {
            times.push(gateway.since_start(polled).as_secs_f64() * 1000.0);
            cpus.push(gateway.cpu_ms());
            memory = gateway.memory().rss;
        }
    }
    let note = format!(
        "{TURNS_EACH} turns each, {} MiB of database; {:.0} ms CPU; {memory:.1} MiB then",
        size / 1_048_576,
        median(cpus)
    );
    vec![Row::at_most(
        "restart with 2,000 chats to the first poll",
        median(times),
        100.0,
        "ms",
        note,
    )]
}
