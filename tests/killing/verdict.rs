//! What a run came to, as far as every rig judges it. Must not know how it is judged.

/// The four lists must be empty; the numbers are only counted.
#[derive(Debug, Default)]
pub struct Verdict {
    pub lost: Vec<String>,
    pub doubled: Vec<String>,
    pub malformed: Vec<String>,
    pub other: Vec<String>,
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

impl Verdict {
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

/// What all verdicts of a series come to.
#[derive(Debug, Default)]
pub struct Sums {
    pub lost: usize,
    pub doubled: usize,
    pub malformed: usize,
    pub other: usize,
    pub unknown: usize,
    pub effects: usize,
    pub requests: usize,
    pub staged: usize,
    pub staged_run: usize,
    pub kept: usize,
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

impl Sums {
    pub fn add(&mut self, verdict: &Verdict) {
        self.lost += verdict.lost.len();
        self.doubled += verdict.doubled.len();
        self.malformed += verdict.malformed.len();
        self.other += verdict.other.len();
        self.unknown += verdict.unknown;
        self.effects += verdict.effects;
        self.requests += verdict.requests;
        self.staged += verdict.staged;
        self.staged_run += verdict.staged_run;
        self.kept += verdict.kept;
        self.panics += verdict.panics;
        self.summaries += verdict.summaries;
        self.lists += verdict.lists;
        self.listed += verdict.listed;
        self.grants += verdict.grants;
        self.settled += verdict.settled;
        self.by_grant += verdict.by_grant;
    }
}
