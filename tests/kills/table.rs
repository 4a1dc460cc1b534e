//! What a series of runs came to, as a table. Must not know how a run is made or judged.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::job::Job;
use crate::killing::findings::{Findings, Sums};
use crate::killing::strike::Victim;
use crate::play::Seen;

/// After so many failing runs the series ends: more of them say nothing new.
pub const FAILURES_MAX: usize = 5;

pub struct Table {
    seed: u64,
    began: Instant,
    runs: usize,
    pub killed_runs: usize,
    kills: BTreeMap<String, usize>,
    pub aims_known: usize,
    aims_hit: usize,
    servers_killed: usize,
    supervisors_killed: usize,
    findings: Sums,
    slowest_run: Duration,
    slowest_command: Duration,
    pub failures: Vec<String>,
}

impl Table {
    pub fn new(seed: u64, points: &[String]) -> Self {
        Self {
            seed,
            began: Instant::now(),
            runs: 0,
            killed_runs: 0,
            kills: points.iter().map(|point| (point.clone(), 0)).collect(),
            aims_known: 0,
            aims_hit: 0,
            servers_killed: 0,
            supervisors_killed: 0,
            findings: Sums::default(),
            slowest_run: Duration::ZERO,
            slowest_command: Duration::ZERO,
            failures: Vec::new(),
        }
    }

    pub fn add(
        &mut self,
        job: &Job,
        seen: &Seen,
        findings: &Findings,
        took: Duration,
        folder: Option<String>,
    ) {
        self.runs += 1;
        self.killed_runs += usize::from(!seen.kills.is_empty());
        let killed = |victim| seen.struck.iter().filter(|struck| struck.victim == victim).count();
        self.servers_killed += killed(Victim::Server);
        self.supervisors_killed += killed(Victim::Supervisor);
        self.aims_hit += usize::from(matches!(job, Job::Aimed(_)) && !seen.kills.is_empty());
        for kill in &seen.kills {
            *self.kills.entry(kill.clone()).or_default() += 1;
        }
        self.slowest_run = self.slowest_run.max(took);
        self.slowest_command = self.slowest_command.max(seen.longest);
        self.add_unharmed(&format!("CLAW_KILL_ONLY={job}"), findings, folder);
    }

    pub fn add_unharmed(&mut self, name: &str, findings: &Findings, folder: Option<String>) {
        self.findings.add(findings);
        let wrong = findings.wrong();
        if !wrong.is_empty() {
            let folder = folder.unwrap_or_default();
            let failure = format!("{name}   (kept in {folder})\n    {}", wrong.join("\n    "));
            // At once, because what comes after it may take long.
            println!("FAILED {failure}");
            self.failures.push(failure);
        }
    }

    /// Whether every promise held, and, over a whole series, whether every named point was hit.
    pub fn holds(&self, whole: bool) -> bool {
        self.failures.is_empty() && (!whole || self.never_hit().is_empty())
    }

    pub fn never_hit(&self) -> Vec<&str> {
        self.kills.iter().filter(|(_, hits)| **hits == 0).map(|(point, _)| point.as_str()).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nkills by point")?;
        for (point, hits) in &self.kills {
            writeln!(f, "  {point:<28}{hits:>6}")?;
        }
        let kills: usize = self.kills.values().sum();
        writeln!(
            f,
            "\nruns                          {:>6}   ended by SIGKILL at least once: {}",
            self.runs, self.killed_runs
        )?;
        writeln!(f, "kills                         {kills:>6}")?;
        writeln!(f, "servers killed                {:>6}", self.servers_killed)?;
        writeln!(f, "supervisors killed            {:>6}", self.supervisors_killed)?;
        writeln!(
            f,
            "places of the scripts         {:>6}   of {} (point × ordinal × command)",
            self.aims_hit, self.aims_known
        )?;
        writeln!(f, "effects                       {:>6}", self.findings.seen.effects)?;
        writeln!(f, "requests to the model         {:>6}", self.findings.seen.requests)?;
        writeln!(
            f,
            "staged actions                {:>6}   {} of them ran",
            self.findings.seen.staged, self.findings.seen.staged_run
        )?;
        writeln!(f, "files kept                    {:>6}", self.findings.seen.kept)?;
        writeln!(
            f,
            "stop switch, summaries        {:>6}, {}",
            self.findings.seen.panics, self.findings.seen.summaries
        )?;
        writeln!(
            f,
            "lists of calls                {:>6}   {} calls in them",
            self.findings.seen.lists, self.findings.seen.listed
        )?;
        writeln!(
            f,
            "standing answers              {:>6}   {} questions answered, {} calls by them",
            self.findings.seen.grants, self.findings.seen.settled, self.findings.seen.by_grant
        )?;
        writeln!(f, "reported as unknown           {:>6}", self.findings.seen.unknown)?;
        writeln!(f, "lost                          {:>6}", self.findings.lost)?;
        writeln!(f, "doubled                       {:>6}", self.findings.doubled)?;
        writeln!(f, "malformed histories           {:>6}", self.findings.malformed)?;
        writeln!(f, "otherwise wrong               {:>6}", self.findings.other)?;
        writeln!(
            f,
            "slowest run, slowest command  {:>5.1} s, {:.1} s",
            self.slowest_run.as_secs_f64(),
            self.slowest_command.as_secs_f64()
        )?;
        writeln!(f, "time                          {:>5.0} s", self.began.elapsed().as_secs_f64())?;
        if !self.failures.is_empty() {
            writeln!(f, "failing runs                  {:>6}   (above)", self.failures.len())?;
        }
        if !self.never_hit().is_empty() {
            writeln!(f, "\nnever hit: {}", self.never_hit().join(", "))?;
        }
        write!(f, "\nrepeat the series with CLAW_KILL_SEED={}", self.seed)
    }
}
