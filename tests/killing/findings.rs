//! What a run came to, as far as every rig judges it. Must not know how it is judged.

/// The four lists must be empty; the numbers are only counted.
#[derive(Debug, Default)]
pub struct Findings {
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
    pub fn add(&mut self, findings: &Findings) {
        self.lost += findings.lost.len();
        self.doubled += findings.doubled.len();
        self.malformed += findings.malformed.len();
        self.other += findings.other.len();
        self.unknown += findings.unknown;
        self.effects += findings.effects;
        self.requests += findings.requests;
        self.staged += findings.staged;
        self.staged_run += findings.staged_run;
        self.kept += findings.kept;
        self.panics += findings.panics;
        self.summaries += findings.summaries;
        self.lists += findings.lists;
        self.listed += findings.listed;
        self.grants += findings.grants;
        self.settled += findings.settled;
        self.by_grant += findings.by_grant;
    }
}
