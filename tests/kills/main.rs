//! The kill rig: hundreds of runs of the real binary, each ended by SIGKILL at a named point or at
//! a random moment, recovered, and judged from outside. `cargo test --features kill-rigs --test
//! kills` prints a table.
//!
//! - `CLAW_KILL_RUNS` (200): how many runs must have been killed at least once.
//! - `CLAW_KILL_SEED`: repeats a whole series; the last line of the table names it.
//! - `CLAW_KILL_ONLY`: repeats one run, for example `standard/1/gate.forward.before/1` or
//!   `random/42`.
//! - `CLAW_KILL_AIMED_PERCENT` (66): how many of them at most are aimed at points; with 0 all are
//!   random, and it does not matter which points were hit.
//! - `CLAW_KILL_WORKERS` (3): how many runs are made side by side, each in a home of its own.
//! - `CLAW_KILL_PROGRAM`: another build of claw, for example one with a bug in it.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a test's main prints its table and fails loudly"
)]

mod answers;
mod job;
#[path = "../killing/mod.rs"]
mod killing;
mod oracle;
mod play;
mod table;
#[path = "../wires/mod.rs"]
mod wires;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::process::ExitCode;
use std::time::Instant;

use job::{Aim, Job, Killer, Passed, Script};
use killing::findings::Findings;
use killing::house::House;
use killing::model::StandIn;
use killing::points::{Rig, points_of};
use killing::random::Random;
use killing::{number, seed_of_the_clock};
use play::{Play, Seen};
use table::Table;

fn main() -> ExitCode {
    killing::program::main("kills", rig())
}

/// What the workers share.
struct Series {
    points: Vec<String>,
    jobs: VecDeque<Job>,
    /// Every aim there is, in the order in which they are tried.
    aims: VecDeque<Aim>,
    /// How often a point that was never hit is aimed at once more.
    again: usize,
    random: Random,
    wanted: usize,
    table: Table,
}

/// Which process passes a point of a script is a matter of who comes first, so a run may miss the
/// point that it is aimed at.
const AGAIN_MAX: usize = 24;

impl Series {
    /// One more run at a point that no run has hit, while there are tries.
    fn missed(&mut self) -> Option<Job> {
        self.again = self.again.checked_sub(1)?;
        let missed = self.table.never_hit();
        let place = self.aims.iter().position(|aim| missed.contains(&aim.point.as_str()))?;
        let aim = self.aims.remove(place)?;
        self.aims.push_back(aim.clone());
        // The command may come sooner than it came without a kill, or later.
        Some(Job::Aimed(Aim { command: 0, or_later: true, count: 1, ..aim }))
    }
}

async fn rig() -> anyhow::Result<ExitCode> {
    let seed = number("CLAW_KILL_SEED", seed_of_the_clock());
    let points = points_of(Rig::Console)?;
    let only = std::env::var("CLAW_KILL_ONLY").ok().map(|text| text.parse::<Job>()).transpose()?;
    let mut table = Table::new(seed, &points);
    let mut random = Random(seed);
    let wanted = if only.is_some() { 1 } else { number("CLAW_KILL_RUNS", 200) as usize };
    let aimed = number("CLAW_KILL_AIMED_PERCENT", 66) as usize;
    let (mut aims, mut again) = (VecDeque::new(), 0);
    let jobs = match only.clone() {
        Some(job) => VecDeque::from([job]),
        None => {
            aims = job::aims(&passed(&mut table).await?, &mut random).into();
            table.aims_known = aims.len();
            again = if aimed > 0 { AGAIN_MAX } else { 0 };
            // The rest of the series is for moments that nobody chose.
            aims.iter().take(wanted * aimed / 100).cloned().map(Job::Aimed).collect()
        }
    };
    let series = RefCell::new(Series { points, jobs, aims, again, random, wanted, table });
    let workers = (0..if only.is_some() { 1 } else { number("CLAW_KILL_WORKERS", 3) })
        .map(|_| worker(&series, only.is_some()));
    futures::future::try_join_all(workers).await?;
    let table = series.into_inner().table;
    println!("{table}");
    Ok(ExitCode::from(u8::from(!table.holds(only.is_none() && aimed > 0))))
}

async fn worker(series: &RefCell<Series>, single: bool) -> anyhow::Result<()> {
    loop {
        let (job, points) = {
            let mut series = series.borrow_mut();
            let job = series.jobs.pop_front();
            let done = series.table.killed_runs >= series.wanted;
            let job = match job {
                None if single => return Ok(()),
                _ if series.table.failures.len() >= table::FAILURES_MAX => return Ok(()),
                _ if done => match series.missed() {
                    Some(job) => job,
                    None => return Ok(()),
                },
                None => Job::Random(series.random.below(u64::MAX)),
                Some(job) => job,
            };
            (job, series.points.clone())
        };
        let house = House::new()?;
        let began = Instant::now();
        let (seen, findings) = one(&house, Killer::new(Some(job.clone()), &points), None).await?;
        let folder = (!findings.wrong().is_empty()).then(|| keep(house, &seen));
        series.borrow_mut().table.add(&job, &seen, &findings, began.elapsed(), folder);
    }
}

async fn one(
    house: &House,
    killer: Killer,
    traced: Option<Script>,
) -> anyhow::Result<(Seen, Findings)> {
    let stand_in = StandIn::start(house.db()).await?;
    house.furnish(&stand_in.base_url)?;
    let mut play = match traced {
        None => Play::new(house, killer),
        Some(script) => Play::with_trace(house, killer, script),
    };
    play.run().await?;
    let findings = oracle::judge(house, &stand_in, &play.seen).await?;
    Ok((play.seen, findings))
}

fn keep(house: House, seen: &Seen) -> String {
    let folder = house.keep();
    // Only for the person who looks at the failure; the table says what it is.
    let _ = std::fs::write(folder.join("printed"), &seen.printed);
    folder.display().to_string()
}

/// Plays the scripts without a kill: they must hold as they are, and say which points each command
/// passes.
async fn passed(table: &mut Table) -> anyhow::Result<Passed> {
    let mut passed = Passed::new();
    for script in [Script::Standard, Script::Expire] {
        let house = House::new()?;
        let (seen, findings) = one(&house, Killer::new(None, &[]), Some(script)).await?;
        for command in 0.. {
            let Ok(trace) = std::fs::read_to_string(house.path(&format!("trace-{command}"))) else {
                break;
            };
            for point in trace.lines() {
                *passed.entry((script, command, point.to_owned())).or_default() += 1;
            }
        }
        let folder = (!findings.wrong().is_empty()).then(|| keep(house, &seen));
        table.add_unharmed(&format!("{script:?} without a kill"), &findings, folder);
    }
    Ok(passed)
}
