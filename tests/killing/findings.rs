//! What a run came to, as far as every rig judges it. Must not know how it is judged.

/// The four lists must be empty; the numbers are only counted.
#[derive(Debug, Default)]
pub struct Findings {
    pub lost: Vec<String>,
    pub doubled: Vec<String>,
    pub malformed: Vec<String>,
    pub other: Vec<String>,
    pub seen: Tally,
}

/// How much was seen. None of it is wrong by itself.
#[derive(Debug, Default)]
pub struct Tally {
    /// Calls that were reported as "may or may not have run".
    pub unknown: usize,
    pub effects: usize,
    pub requests: usize,
    /// Actions that were staged, and those of them that have run.
    pub staged: usize,
    pub staged_run: usize,
    /// Files that results left with claw, or that went through a chat in either direction.
    pub kept: usize,
    /// How often the stop switch was turned on, and a conversation summarised.
    pub panics: usize,
    pub summaries: usize,
    /// Questions about several calls, and the calls that they asked about.
    pub lists: usize,
    pub listed: usize,
    /// Standing answers, the open questions that they answered, and the calls that ran by them.
    pub grants: usize,
    pub settled: usize,
    pub by_grant: usize,
}

impl Findings {
    pub fn wrong(&self) -> Vec<String> {
        let named = |what: &str, list: &[String]| {
            list.iter().map(|one| format!("{what}: {one}")).collect::<Vec<_>>()
        };
        let all = [
            named("LOST", &self.lost),
            named("DOUBLED", &self.doubled),
            named("MALFORMED", &self.malformed),
            named("WRONG", &self.other),
        ];
        all.concat()
    }
}

/// What all findings of a series come to.
#[derive(Debug, Default)]
pub struct Sums {
    pub lost: usize,
    pub doubled: usize,
    pub malformed: usize,
    pub other: usize,
    pub seen: Tally,
}

impl Sums {
    pub fn add(&mut self, findings: &Findings) {
        self.lost += findings.lost.len();
        self.doubled += findings.doubled.len();
        self.malformed += findings.malformed.len();
        self.other += findings.other.len();
        self.seen.add(&findings.seen);
    }
}

impl Tally {
    fn add(&mut self, more: &Self) {
        self.unknown += more.unknown;
        self.effects += more.effects;
        self.requests += more.requests;
        self.staged += more.staged;
        self.staged_run += more.staged_run;
        self.kept += more.kept;
        self.panics += more.panics;
        self.summaries += more.summaries;
        self.lists += more.lists;
        self.listed += more.listed;
        self.grants += more.grants;
        self.settled += more.settled;
        self.by_grant += more.by_grant;
    }
}
