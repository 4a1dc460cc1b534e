//! What a series of rounds came to, as a table. Must not know how a round is made or judged.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use crate::killing::findings::{Findings, Sums};
use crate::killing::strike::Victim;
use crate::oracle::Counts;
use crate::round::Seen;

/// After so many failing rounds the series ends: more of them say nothing new.
pub const FAILURES_MAX: usize = 3;
/// So many faults of a round are listed.
const FAULTS_MAX: usize = 12;

pub struct Table {
    seed: u64,
    began: Instant,
    rounds: usize,
    pub kills: usize,
    servers_killed: usize,
    supervisors_killed: usize,
    pub hits: BTreeMap<String, usize>,
    sums: Counts,
    findings: Sums,
    pub failures: usize,
}

impl Table {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            began: Instant::now(),
            rounds: 0,
            kills: 0,
            servers_killed: 0,
            supervisors_killed: 0,
            hits: BTreeMap::new(),
            sums: Counts::default(),
            findings: Sums::default(),
            failures: 0,
        }
    }

    pub fn add(
        &mut self,
        seed: u64,
        seen: &Seen,
        findings: &Findings,
        counts: &Counts,
        folder: Option<String>,
    ) {
        self.rounds += 1;
        self.kills += seen.left.len();
        let killed =
            |victim| seen.watched.struck.iter().filter(|struck| struck.victim == victim).count();
        self.servers_killed += killed(Victim::Server);
        self.supervisors_killed += killed(Victim::Supervisor);
        self.sums.add(counts);
        self.findings.add(findings);
        let wrong = findings.wrong();
        if !wrong.is_empty() {
            self.failures += 1;
            let more = wrong.len().saturating_sub(FAULTS_MAX);
            let listed = wrong.iter().take(FAULTS_MAX).cloned().collect::<Vec<_>>().join("\n    ");
            let more = if more > 0 { format!("\n    … and {more} more") } else { String::new() };
            // At once, because what comes after it may take long.
            println!(
                "FAILED CLAW_KILL_ONLY={seed}   (kept in {})\n    {listed}{more}",
                folder.unwrap_or_default()
            );
        }
    }

    fn never_hit(&self) -> Vec<&str> {
        self.hits.iter().filter(|(_, hits)| **hits == 0).map(|(point, _)| point.as_str()).collect()
    }

    /// Whether every promise held, and, over a whole series, whether every named point was hit and
    /// questions were asked again: in one round claw may be killed each time before it has caught
    /// up, if the machine is busy.
    pub fn holds(&self, whole: bool) -> bool {
        let asked_again = self.sums.found_open == 0 || self.sums.asked_again > 0;
        self.failures == 0 && (!whole || (self.never_hit().is_empty() && asked_again))
    }
}

impl Table {
    /// What the standing answers did.
    fn what_they_did(&self) -> String {
        let (settled, by_them) = (self.findings.seen.settled, self.findings.seen.by_grant);
        format!("{settled} questions answered, {by_them} calls by them")
    }

    /// What was counted: its name, its number, and what belongs to it.
    fn counted(&self) -> Vec<(&'static str, usize, String)> {
        let at_points: usize =
            self.hits.iter().filter(|(point, _)| *point != "random").map(|(_, hits)| hits).sum();
        let sums = &self.sums;
        let rate = 100.0 * sums.duplicates as f64 / sums.sent.max(1) as f64;
        vec![
            ("rounds", self.rounds, String::new()),
            (
                "kills",
                self.kills,
                format!(
                    "{at_points} at named points, {} at random moments",
                    self.kills - at_points
                ),
            ),
            ("servers killed", self.servers_killed, String::new()),
            ("supervisors killed", self.supervisors_killed, String::new()),
            ("updates", sums.updates, format!("{} messages, {} taps", sums.messages, sums.taps)),
            ("messages of the bot", sums.sent, String::new()),
            ("calls", self.sums.calls, format!("{} effects", self.findings.seen.effects)),
            (
                "questions",
                sums.questions,
                format!(
                    "{} times asked again after a restart, of {} times open then",
                    sums.asked_again, sums.found_open
                ),
            ),
            (
                "staged actions",
                self.findings.seen.staged,
                format!("{} of them ran", self.findings.seen.staged_run),
            ),
            ("files kept, sent, given", self.findings.seen.kept, String::new()),
            ("stop switch turned on", self.findings.seen.panics, String::new()),
            ("summaries", self.findings.seen.summaries, String::new()),
            (
                "lists of calls",
                self.findings.seen.lists,
                format!("{} calls in them", self.findings.seen.listed),
            ),
            ("standing answers", self.findings.seen.grants, self.what_they_did()),
            ("requests to the model", self.findings.seen.requests, String::new()),
            (
                "duplicates in the window",
                sums.duplicates,
                format!("{rate:.2} % of the messages of the bot"),
            ),
            (
                "beginnings left standing",
                sums.begun,
                "in that window; the whole answer is there as well".to_owned(),
            ),
            (
                "questions left standing",
                sums.orphans,
                "in that window, without effect when tapped".to_owned(),
            ),
            ("commands answered twice", sums.repeated, String::new()),
            ("taps that Telegram forgot", sums.forgotten_taps, String::new()),
            ("calls reported as unknown", self.findings.seen.unknown, String::new()),
            ("lost", self.findings.lost, String::new()),
            ("doubled", self.findings.doubled, String::new()),
            ("malformed histories", self.findings.malformed, String::new()),
            ("otherwise wrong", self.findings.other, String::new()),
        ]
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nkills of the gateway by point")?;
        for (point, hits) in &self.hits {
            writeln!(f, "  {point:<28}{hits:>6}")?;
        }
        writeln!(f)?;
        for (what, number, more) in self.counted() {
            writeln!(f, "{}", format!("{what:<28}{number:>8}   {more}").trim_end())?;
        }
        writeln!(f, "time                        {:>7.0} s", self.began.elapsed().as_secs_f64())?;
        if self.failures > 0 {
            writeln!(f, "failing rounds              {:>8}   (above)", self.failures)?;
        }
        if !self.never_hit().is_empty() {
            writeln!(f, "\nnever hit: {}", self.never_hit().join(", "))?;
        }
        write!(f, "\nrepeat the series with CLAW_KILL_SEED={}", self.seed)
    }
}
