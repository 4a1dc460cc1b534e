//! Several agents in one process, each with a bot of its own, while nobody writes: what one more
//! takes. Must not know what an agent does.

use std::time::Duration;

use crate::Row;
use crate::gateway::{Gateway, Home, Memory, On, complaints};
use crate::stand_ins::StandIns;

/// How many agents beside the first.
const MORE: [u32; 3] = [1, 10, 50];
/// Until all have asked who they are, and poll.
const SETTLE: Duration = Duration::from_secs(4);
/// How long nothing happens while idleness is measured.
const IDLE: Duration = Duration::from_secs(10);

pub fn rows() -> Vec<Row> {
    let stand_ins = StandIns::start();
    let (alone, _, _) = idle(&stand_ins, 0);
    let mut rows = Vec::new();
    for more in MORE {
        let (memory, cpu_ms, complaint) = idle(&stand_ins, more);
        let each = |of: fn(&Memory) -> f64| (of(&memory) - of(&alone)) / f64::from(more);
        rows.push(Row::new(
            format!("one more idle agent with its bot, of {more}"),
            format!("{:.2} MiB", each(|memory| memory.rss)),
            format!(
                "RSS; {:.2} MiB of it anonymous; {:.1} MiB in all with one, {:.1} MiB with {}; CPU of all {:.1} ms/s",
                each(|memory| memory.anonymous),
                alone.rss,
                memory.rss,
                more + 1,
                cpu_ms / IDLE.as_secs_f64(),
            ),
        ));
        rows.extend(complaint.map(|text| Row::new("complaints", "", text)));
    }
    rows
}

fn idle(stand_ins: &StandIns, more: u32) -> (Memory, f64, Option<String>) {
    let home = Home::new(On::Disk);
    let section = |number: u32| {
        format!(
            "[agents.agent-{number}]\nallowed_chats = [1]\n[agents.agent-{number}.telegram]\ntoken = \"{number}:AAH-one-of-many\"\n"
        )
    };
    home.configure(&(1..=more).map(section).collect::<String>());
    // The first start makes homes and stores.
    for _ in 0..2 {
        let gateway = Gateway::start(&home, stand_ins, &[1]);
        stand_ins.first_poll();
        std::thread::sleep(SETTLE);
        gateway.ends();
    }
    let gateway = Gateway::start(&home, stand_ins, &[1]);
    stand_ins.first_poll();
    std::thread::sleep(SETTLE);
    let cpu = gateway.cpu_ms();
    std::thread::sleep(IDLE);
    let cpu = gateway.cpu_ms() - cpu;
    let memory = gateway.memory();
    gateway.ends();
    (memory, cpu, complaints(&home))
}
