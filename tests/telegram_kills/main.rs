//! The kill rig of the Telegram door: twenty people and two topics of a group talk, approve and run
//! tools, while the gateway is ended by SIGKILL at named points and at random moments and started
//! again. An oracle outside of claw judges what is on the screens and on the disk. `cargo test
//! --features kill-rigs --test telegram_kills` prints a table.
//!
//! - `CLAW_KILL_RUNS` (500): how many kills there are in all.
//! - `CLAW_KILL_SEED`: the seed of the series; the last line of the table names it.
//! - `CLAW_KILL_ONLY`: one round with this seed. People and moments are the same again, what meets
//!   what is not.
//! - `CLAW_KILL_POINT`: every kill is aimed at points whose names begin so.
//! - `CLAW_KILL_WORKERS` (2): how many rounds are played side by side, each in a home of its own.
//! - `CLAW_KILL_PROGRAM`: another build of claw, for example one with a bug in it.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a test's main prints its table and fails loudly"
)]

mod acts;
#[path = "../botapi/mod.rs"]
mod botapi;
mod crowd;
mod intent;
#[path = "../killing/mod.rs"]
mod killing;
mod oracle;
mod plan;
mod round;
mod seat;
mod store;
mod table;
#[path = "../wires/mod.rs"]
mod wires;

use std::cell::RefCell;
use std::process::ExitCode;

use killing::points::{Rig, points_of};
use killing::random::Random;
use killing::{number, seed_of_the_clock};
use plan::Plan;
use round::{Round, Seen};
use table::Table;

const KILLS: u64 = 500;
const KILLS_OF_A_ROUND: usize = 25;
/// So many kills may be added where a point was not met in the series.
const KILLS_EXTRA_MAX: usize = 75;

fn main() -> ExitCode {
    killing::program::main("telegram_kills", rig())
}

/// What the workers share.
struct Series {
    random: Random,
    /// Kills that no worker has taken on yet.
    left: usize,
    extra: usize,
    table: Table,
}

async fn rig() -> anyhow::Result<ExitCode> {
    let seed = number("CLAW_KILL_SEED", seed_of_the_clock());
    let only = std::env::var("CLAW_KILL_ONLY").ok().map(|text| text.parse::<u64>()).transpose()?;
    let mut points = points_of(Rig::Telegram)?;
    let point = std::env::var("CLAW_KILL_POINT").ok();
    if let Some(start) = &point {
        points.retain(|point| point.starts_with(start));
        anyhow::ensure!(!points.is_empty(), "no point begins with `{start}`");
    }
    let plan = RefCell::new(Plan::new(&points, only.unwrap_or(seed), point.is_some()));
    let wanted = number("CLAW_KILL_RUNS", KILLS) as usize;
    let wanted = if only.is_some() { wanted.min(KILLS_OF_A_ROUND) } else { wanted };
    let extra = if only.is_some() { 0 } else { KILLS_EXTRA_MAX };
    let series =
        RefCell::new(Series { random: Random(seed), left: wanted, extra, table: Table::new(seed) });
    let workers = if only.is_some() { 1 } else { number("CLAW_KILL_WORKERS", 2) };
    let workers = (0..workers).map(|_| worker(&series, &plan, only));
    futures::future::try_join_all(workers).await?;
    let mut table = series.into_inner().table;
    table.hits = plan.into_inner().hits;
    println!("{table}");
    Ok(ExitCode::from(u8::from(!table.holds(only.is_none()))))
}

async fn worker(
    series: &RefCell<Series>,
    plan: &RefCell<Plan>,
    only: Option<u64>,
) -> anyhow::Result<()> {
    loop {
        let next = next_round(&mut series.borrow_mut(), &mut plan.borrow_mut());
        let Some((seed, kills)) = next else { return Ok(()) };
        let seed = only.unwrap_or(seed);
        let mut round = Round::new(seed).await?;
        let seen = round.play(kills, plan).await?;
        let (findings, counts) = oracle::judge(&round, &seen).await?;
        let folder = (!findings.wrong().is_empty()).then(|| keep(round, &seen));
        series.borrow_mut().table.add(seed, &seen, &findings, &counts, folder);
    }
}

/// The seed and the number of kills of the next round. Points that were never met get some more.
fn next_round(series: &mut Series, plan: &mut Plan) -> Option<(u64, usize)> {
    if series.table.failures >= table::FAILURES_MAX {
        return None;
    }
    if series.left == 0 && !plan.never_hit().is_empty() {
        plan.aim_at_the_missing();
        series.left = series.extra.min(KILLS_OF_A_ROUND);
        series.extra -= series.left;
    }
    let kills = series.left.min(KILLS_OF_A_ROUND);
    series.left -= kills;
    (kills > 0).then(|| (series.random.below(u64::from(u32::MAX)), kills))
}

/// Keeps the home of a round that failed, with what claw printed and what everybody saw.
fn keep(round: Round, seen: &Seen) -> String {
    let look = botapi::Look { ids: true, edits: true, without_deleted: false };
    let screens = seen.people.seats.iter().map(|seat| {
        let screen = round.telegram.screen_with(seat.place.chat, look);
        format!("== {} ==\n{screen}\n{:#?}\n\n", seat.session, seat.acts)
    });
    let calls = round.telegram.calls().into_iter().enumerate().map(|(index, call)| {
        format!(
            "{index} {:?} {} {:?} {} -> {:?}\n",
            call.at, call.method, call.chat, call.params, call.outcome
        )
    });
    let folder = round.house.keep();
    // Only for the person who looks at the failure; the table says what it is.
    for (name, text) in [
        ("printed", seen.watched.printed.clone()),
        ("screens", screens.collect()),
        ("calls", calls.collect()),
        ("left", format!("{:#?}", seen.left)),
    ] {
        let _ = std::fs::write(folder.join(name), text);
    }
    folder.display().to_string()
}
