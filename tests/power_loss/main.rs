//! The rig of power losses: records what claw writes and syncs (strace), makes of it the states in
//! which a disk could be left, and starts claw on each. `cargo test --features kill-rigs --test
//! power_loss` prints a table.
//!
//! - `CLAW_POWER_STATES` (1000): how many different states are tried.
//! - `CLAW_POWER_SEED`: repeats a series, as far as the recording is the same; the table names it.
//! - `CLAW_POWER_PROGRAM`: another build of claw, for example one with a bug in it.
//! - `CLAW_POWER_WORKERS` (4): how many are tried side by side, each in a home of its own.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a test's main prints its table and fails loudly"
)]

mod disk;
mod oracle;
mod play;
#[path = "../killing/random.rs"]
#[expect(dead_code, reason = "the kill rigs use the rest of it")]
mod random;
mod record;
mod trace;

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use disk::{Disk, Files, LOSSES, Loss};
use oracle::Findings;
use play::Fact;
use random::{Random, number, seed_of_the_clock};
use record::{Recorder, Seat};

/// More are not worth reading.
const FAILURES_MAX: usize = 20;
/// A recording has only so many states.
const TRIES_A_STATE: usize = 20;

fn main() -> ExitCode {
    if std::env::args().any(|arg| arg == "--list") {
        println!("power_loss: test");
        return ExitCode::SUCCESS;
    }
    rig().expect("the rig itself works")
}

#[derive(Default)]
struct Series {
    tried: BTreeMap<Loss, usize>,
    seen: HashSet<u64>,
    made: usize,
    promises: usize,
    lost: usize,
    other: usize,
    failures: Vec<String>,
}

fn rig() -> anyhow::Result<ExitCode> {
    let seed = number("CLAW_POWER_SEED", seed_of_the_clock());
    let wanted = number("CLAW_POWER_STATES", 1000) as usize;
    let began = Instant::now();
    let mut recorder = Recorder::new()?;
    let facts = play::play(&mut recorder)?;
    let disk = &recorder.disk;
    recorder.verify(&disk.left(disk.len(), Loss::None, &mut Random(seed)))?;
    println!("recorded {} steps in {:.1} s", disk.len(), began.elapsed().as_secs_f32());
    let (series, random) = (Mutex::new(Series::default()), Mutex::new(Random(seed)));
    let workers = number("CLAW_POWER_WORKERS", 4);
    let failed: Vec<anyhow::Error> = std::thread::scope(|scope| {
        let work =
            || (0..workers).map(|_| scope.spawn(|| worker(disk, &facts, wanted, &series, &random)));
        let threads: Vec<_> = work().collect();
        threads.into_iter().filter_map(|thread| thread.join().expect("a worker").err()).collect()
    });
    if let Some(error) = failed.into_iter().next() {
        return Err(error);
    }
    let series = series.into_inner().expect("no worker has panicked");
    let tried: usize = series.tried.values().sum();
    for failure in &series.failures {
        println!("{failure}");
    }
    println!("\npower losses, seed {seed}, {:.0} s", began.elapsed().as_secs_f32());
    for (loss, count) in &series.tried {
        println!("{count:>6}  lost of what was not synced: {loss:?}");
    }
    println!("{tried:>6}  states, {} promises looked at", series.promises);
    println!("{:>6}  acknowledged and lost", series.lost);
    println!("{:>6}  other faults", series.other);
    let good = series.lost == 0 && series.other == 0 && tried >= wanted;
    Ok(ExitCode::from(u8::from(!good)))
}

fn worker(
    disk: &Disk,
    facts: &[Fact],
    wanted: usize,
    series: &Mutex<Series>,
    random: &Mutex<Random>,
) -> anyhow::Result<()> {
    loop {
        let state = {
            let mut series = series.lock().expect("no worker panics with it");
            let mut random = random.lock().expect("no worker panics with it");
            next(disk, wanted, &mut series, &mut random)
        };
        let Some((moment, loss, files)) = state else { return Ok(()) };
        let seat = Seat::new()?;
        seat.load(&files)?;
        let findings = oracle::judge(&seat, &files, &disk.seen_before(moment), facts)?;
        series.lock().expect("no worker panics with it").add(moment, loss, &findings, seat);
    }
}

/// A state that was not tried yet.
fn next(
    disk: &Disk,
    wanted: usize,
    series: &mut Series,
    random: &mut Random,
) -> Option<(usize, Loss, Files)> {
    for _ in 0..TRIES_A_STATE {
        if series.made >= wanted || series.failures.len() >= FAILURES_MAX {
            return None;
        }
        let loss = random.pick(&LOSSES)?;
        let moment = disk.moment(random);
        let files = disk.left(moment, loss, random);
        if series.seen.insert(digest(&files, disk.seen_before(moment).len())) {
            series.made += 1;
            return Some((moment, loss, files));
        }
    }
    None
}

/// The same files are another state when more was promised.
fn digest(files: &Files, seen: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (files, seen).hash(&mut hasher);
    hasher.finish()
}

impl Series {
    fn add(&mut self, moment: usize, loss: Loss, findings: &Findings, seat: Seat) {
        *self.tried.entry(loss).or_default() += 1;
        self.promises += findings.promises;
        self.lost += findings.lost.len();
        self.other += findings.other.len();
        if !findings.lost.is_empty() || !findings.other.is_empty() {
            let folder = seat.keep();
            let said = findings
                .lost
                .iter()
                .chain(&findings.other)
                .fold(String::new(), |all, one| format!("{all}\n  {one}"));
            self.failures
                .push(format!("step {moment}, {loss:?} lost, see {}:{said}", folder.display()));
        }
    }
}
