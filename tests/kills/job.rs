//! Which run is made: a script and the kills in it. A job has a textual form, so that a failing one
//! can be repeated. Must not know how it is carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::killing::house::Kill;
use crate::killing::random::Random;
use crate::killing::strike::Strike;

/// What is done in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Script {
    /// Two messages; every question is approved.
    Standard,
    /// Nobody answers the first message's questions in time.
    Expire,
    /// Messages one by one or two at once; approved, denied, raced for, or answered twice.
    Random,
}

/// The command of a script, counted from 0, that is ended at a named point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Aim {
    pub script: Script,
    pub command: usize,
    /// The first command from that one on which passes the point. How many commands it takes until
    /// a script has settled varies.
    pub or_later: bool,
    pub point: String,
    pub count: u32,
}

impl Aim {
    fn is_at(&self, command: usize) -> bool {
        self.command == command || self.or_later && command > self.command
    }
}

#[derive(Clone, Debug)]
pub enum Job {
    Aimed(Aim),
    /// One to three kills of claw at random moments or points, and up to two of what it has
    /// started.
    Random(u64),
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(seed) => write!(f, "random/{seed}"),
            Self::Aimed(Aim { script, command, or_later, point, count }) => {
                let script = if *script == Script::Expire { "expire" } else { "standard" };
                let later = if *or_later { "+" } else { "" };
                write!(f, "{script}/{command}{later}/{point}/{count}")
            }
        }
    }
}

impl FromStr for Job {
    type Err = anyhow::Error;
    fn from_str(text: &str) -> anyhow::Result<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        Ok(match parts.as_slice() {
            ["random", seed] => Self::Random(seed.parse()?),
            [script @ ("standard" | "expire"), command, point, count] => Self::Aimed(Aim {
                script: if *script == "standard" { Script::Standard } else { Script::Expire },
                command: command.trim_end_matches('+').parse()?,
                or_later: command.ends_with('+'),
                point: (*point).to_owned(),
                count: count.parse()?,
            }),
            _ => {
                anyhow::bail!(
                    "`{text}` is no job: write random/SEED, SCRIPT/COMMAND/POINT/COUNT, or COMMAND+ for one from that on"
                )
            }
        })
    }
}

/// Hands out the kills of one run, command by command.
pub struct Killer {
    job: Option<Job>,
    pub random: Random,
    command: usize,
    has_hit: bool,
    left: u64,
    /// How many servers or supervisors are still to be killed.
    strikes_left: u64,
    points: Vec<String>,
}

impl Killer {
    /// Without a job nothing is killed.
    pub fn new(job: Option<Job>, points: &[String]) -> Self {
        let mut random = Random(if let Some(Job::Random(seed)) = &job { *seed } else { 0 });
        let (left, strikes_left) = match job {
            Some(Job::Random(_)) => (1 + random.below(3), random.below(3)),
            _ => (0, 0),
        };
        Self {
            job,
            random,
            command: 0,
            has_hit: false,
            left,
            strikes_left,
            points: points.to_vec(),
        }
    }

    pub fn script(&self) -> Script {
        match &self.job {
            Some(Job::Aimed(aim)) => aim.script,
            _ => Script::Random,
        }
    }

    /// The number of the next command and how it is to end.
    pub fn next(&mut self) -> (usize, Kill) {
        let command = self.command;
        self.command += 1;
        let kill = match &self.job {
            Some(Job::Aimed(aim)) if aim.is_at(command) && !self.has_hit => {
                Kill::At(aim.point.clone(), aim.count)
            }
            Some(Job::Random(_)) if self.left > 0 && self.random.chance(55) => self.any_kill(),
            _ => Kill::Not,
        };
        (command, kill)
    }

    /// Whether somebody whom this command has started is to be killed. Where claw itself is, it
    /// could not end what a supervisor leaves.
    pub fn strike(&mut self, kill: &Kill) -> Option<Strike> {
        let strikes = matches!(kill, Kill::Not) && self.strikes_left > 0 && self.random.chance(60);
        strikes.then(|| Strike(self.random.another()))
    }

    /// Somebody was killed whom claw had started.
    pub fn has_struck(&mut self) {
        self.strikes_left = self.strikes_left.saturating_sub(1);
    }

    /// A kill has hit.
    pub fn hit(&mut self) {
        self.has_hit = true;
        self.left = self.left.saturating_sub(1);
    }

    fn any_kill(&mut self) -> Kill {
        if self.random.chance(75) {
            return Kill::After(Duration::from_micros(5_000 + self.random.below(150_000)));
        }
        let point = self.points[self.random.below(self.points.len() as u64) as usize].clone();
        Kill::At(point, 1 + self.random.below(4) as u32)
    }
}

/// How often each command of a script passes each point.
pub type Passed = BTreeMap<(Script, usize, String), u32>;

/// Every ordinal of every point of every command: each point once first, the others in random
/// order.
pub fn aims(passed: &Passed, random: &mut Random) -> Vec<Aim> {
    let mut all: Vec<Aim> = passed
        .iter()
        .flat_map(|((script, command, point), times)| {
            let aim = |count| Aim {
                script: *script,
                command: *command,
                or_later: false,
                point: point.clone(),
                count,
            };
            (1..=*times).map(aim).collect::<Vec<_>>()
        })
        .collect();
    random.shuffle(&mut all);
    let mut seen = BTreeSet::new();
    let (mut first, rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|aim| seen.insert(aim.point.clone()));
    first.extend(rest);
    first
}
