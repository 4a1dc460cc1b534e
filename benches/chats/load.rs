//! A thousand chats in one process: what it takes when nobody writes, and when everybody does. Must
//! not know how a turn goes.

use std::time::{Duration, Instant};

use crate::Row;
use crate::gateway::{Gateway, Home, Memory, On, complaints};
use crate::model::Takes;
use crate::stand_ins::StandIns;

const CHATS: i64 = 1_000;
/// How long nothing happens while idleness is measured.
const IDLE: Duration = Duration::from_secs(10);

/// The memory while every chat waits for the model.
fn while_all_wait(gateway: &Gateway, stand_ins: &StandIns, chats: &[i64]) -> Memory {
    stand_ins.model.takes(Takes::UntilAll(chats.len()));
    let model = &stand_ins.model;
    std::thread::scope(|scope| {
        let said = scope.spawn(|| {
            while model.in_flight() < chats.len() {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(Duration::from_millis(500));
            gateway.memory()
        });
        say(stand_ins, chats, 1);
        said.join().unwrap()
    })
}

pub fn rows() -> Vec<Row> {
    let chats: Vec<i64> = (1..=CHATS).collect();
    let stand_ins = StandIns::start();
    let home = Home::new(On::Disk);
    // The first turn of a home makes its files and pins its tools.
    let gateway = Gateway::start(&home, &stand_ins, &chats);
    say(&stand_ins, &chats[..1], 0);
    gateway.ends();

    let gateway = Gateway::start(&home, &stand_ins, &chats);
    stand_ins.first_poll();
    std::thread::sleep(Duration::from_secs(2));
    let cpu = gateway.cpu_ms();
    std::thread::sleep(IDLE);
    let idle_cpu = gateway.cpu_ms() - cpu;
    let idle = gateway.memory();

    let held = while_all_wait(&gateway, &stand_ins, &chats);
    stand_ins.model.takes(Takes::OneSecond);
    let (cpu, typed) = (gateway.cpu_ms(), stand_ins.bot.actions());
    let all_s = say(&stand_ins, &chats, 2);
    let (cpu, typed) = (gateway.cpu_ms() - cpu, stand_ins.bot.actions() - typed);
    let most = stand_ins.model.most_in_flight();
    std::thread::sleep(Duration::from_secs(5));
    let after = gateway.memory();
    let mut rows = vec![
        Row::at_most(
            "idle: memory",
            idle.rss,
            15.0,
            "MiB",
            format!("RSS; {:.1} MiB of it anonymous", idle.anonymous),
        )
        .peer("36 MiB"),
        Row::new("idle: CPU", format!("{:.1} ms/s", idle_cpu / IDLE.as_secs_f64()), "of one core"),
        Row::at_most(
            "1,000 turns in flight: memory",
            held.rss,
            100.0,
            "MiB",
            format!("RSS, all waiting for the model; {:.1} MiB of it anonymous", held.anonymous),
        )
        .peer("249 MiB with 128"),
        Row::new(
            "the highest in all of this",
            format!("{:.1} MiB", after.peak),
            "RSS, twice 1,000 turns",
        ),
        Row::new(
            "five seconds later",
            format!("{:.1} MiB", after.rss),
            format!("{:.1} MiB of it anonymous", after.anonymous),
        ),
        Row::new(
            "1,000 messages at once, model 1 s: all answered",
            format!("{all_s:.2} s"),
            format!("at most {most} at the model at once; \"typing…\" {typed} times"),
        ),
        Row::new(
            "the same: CPU",
            format!("{:.2} ms a turn", cpu / CHATS as f64),
            "user + system, all threads",
        ),
    ];
    rows.extend(complaints(&home).map(|text| Row::new("complaints", "", text)));
    rows
}

/// Everybody writes at the same moment; how many seconds until everybody has an answer.
fn say(stand_ins: &StandIns, chats: &[i64], number: u64) -> f64 {
    let began = Instant::now();
    stand_ins.bot.say(chats.iter().copied(), &format!("number {number}"));
    let last = chats.iter().map(|_| stand_ins.said(|_| format!(" {number}")).1).max();
    last.unwrap_or(began).duration_since(began).as_secs_f64()
}
