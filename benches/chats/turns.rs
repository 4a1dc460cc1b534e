//! What a turn costs in a process that has been running for a while: alone, with a history, and
//! with eight in flight. The model answers at once, so all of the time is claw's, and the
//! stand-ins'. Must not know how a turn goes.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::gateway::{Gateway, Home, On, complaints};
use crate::stand_ins::StandIns;
use crate::{Row, history, median};

const WARM_UP: u64 = 50;
const TURNS: u64 = 200;
/// Who take turns in it, one at a time, so that a history does not grow much meanwhile.
const MANY: i64 = 25;
/// The same, and their windows are still at hand when they go on.
const FEW: i64 = 4;
const EARLIER_TURNS: u64 = 200;
const IN_FLIGHT: u64 = 8;
/// Who take turns in it.
const CHATS_AT_EIGHT: i64 = 400;
const TURNS_AT_EIGHT: u64 = 3_000;

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (on, place) in [(On::Memory, "apart from the disk"), (On::Disk, "on this disk")] {
        let fresh = alone(on, MANY, 0);
        let old = alone(on, FEW, EARLIER_TURNS);
        let cold = alone(on, MANY, EARLIER_TURNS);
        let what = format!("a turn, model apart, {place}");
        let note = |figures: &Alone| {
            format!("{:.2} ms CPU; the request has {} bytes", figures.cpu_ms, figures.request)
        };
        let what_old = format!("the same with {EARLIER_TURNS} earlier turns");
        let what_cold = format!("the same, {MANY} such chats in turn, so none is at hand");
        if on == On::Memory {
            rows.push(Row::at_most(&what, fresh.ms, 4.0, "ms", note(&fresh)).peer("8.6 ms"));
            rows.push(Row::at_most(&what_old, old.ms, 4.0, "ms", note(&old)).peer("56 ms"));
            rows.push(Row::at_most(&what_cold, cold.ms, 4.0, "ms", note(&cold)));
        } else {
            rows.push(Row::new(what, format!("{:.1} ms", fresh.ms), note(&fresh)));
            rows.push(Row::new(what_old, format!("{:.1} ms", old.ms), note(&old)));
            rows.push(Row::new(what_cold, format!("{:.1} ms", cold.ms), note(&cold)));
        }
        let eight = eight(on);
        let what = format!("8 in flight, {place}");
        let note = format!("{:.2} ms CPU a turn, the stand-ins' not counted", eight.cpu_ms);
        rows.push(Row::at_least(&what, eight.per_s, 500.0, "turns/s", note).peer("125 turns/s"));
    }
    rows
}

struct Alone {
    /// From the update to its answer, the median.
    ms: f64,
    cpu_ms: f64,
    request: u64,
}

fn alone(on: On, chats: i64, earlier: u64) -> Alone {
    let chats: Vec<i64> = (1..=chats).collect();
    let stand_ins = StandIns::start();
    let home = Home::new(on);
    history::write(&home, &chats, earlier);
    let gateway = Gateway::start(&home, &stand_ins, &chats);
    stand_ins.first_poll();
    let mut times = Vec::new();
    let (mut cpu, mut request) = (0.0, 0);
    for (number, chat) in (0..WARM_UP + TURNS).zip(chats.iter().cycle().copied()) {
        if number == WARM_UP {
            (cpu, request) = (gateway.cpu_ms(), stand_ins.model.request_bytes());
        }
        let began = Instant::now();
        stand_ins.bot.say([chat], &format!("number {number}"));
        let (_, at) = stand_ins.said(|_| format!(" {number}"));
        if number >= WARM_UP {
            times.push(at.duration_since(began).as_secs_f64() * 1000.0);
        }
        // What is still to be done after the answer is not to be counted for the next turn.
        std::thread::sleep(Duration::from_millis(5));
    }
    let cpu_ms = (gateway.cpu_ms() - cpu) / TURNS as f64;
    complain(&home);
    gateway.ends();
    Alone { ms: median(times), cpu_ms, request }
}

struct Eight {
    per_s: f64,
    cpu_ms: f64,
}

/// Eight conversations at any time; when one is answered, the next person writes. Each of them has
/// a few turns at the end, so that what is measured does not depend on how long this goes on.
fn eight(on: On) -> Eight {
    let chats: Vec<i64> = (1..=CHATS_AT_EIGHT).collect();
    let stand_ins = StandIns::start();
    let home = Home::new(on);
    let gateway = Gateway::start(&home, &stand_ins, &chats);
    stand_ins.first_poll();
    let mut people = (0_u64..).zip(chats.iter().cycle());
    let mut asked: HashMap<i64, u64> = HashMap::new();
    let mut next = |asked: &mut HashMap<i64, u64>| {
        let Some((number, chat)) = people.next() else { return };
        stand_ins.bot.say([*chat], &format!("number {number}"));
        asked.insert(*chat, number);
    };
    (0..IN_FLIGHT).for_each(|_| next(&mut asked));
    let (mut began, mut cpu) = (Instant::now(), 0.0);
    for turn in 0..WARM_UP + TURNS_AT_EIGHT {
        if turn == WARM_UP {
            (began, cpu) = (Instant::now(), gateway.cpu_ms());
        }
        let (chat, _) =
            stand_ins.said(|chat| format!(" {}", asked.get(&chat).copied().unwrap_or(u64::MAX)));
        asked.remove(&chat);
        next(&mut asked);
    }
    let took = began.elapsed().as_secs_f64();
    let cpu_ms = (gateway.cpu_ms() - cpu) / TURNS_AT_EIGHT as f64;
    complain(&home);
    Eight { per_s: TURNS_AT_EIGHT as f64 / took, cpu_ms }
}

fn complain(home: &Home) {
    if let Some(text) = complaints(home) {
        println!("| complaints | | | | {text} |");
    }
}
