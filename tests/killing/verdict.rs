//! What a run came to, as far as every rig judges it. Must not know how it is judged.

/// Everything but `unknown` and `effects` must be empty.
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
}

impl Verdict {
    pub fn wrong(&self) -> Vec<String> {
        let named = |what: &str, list: &[String]| list.iter().map(|one| format!("{what}: {one}")).collect::<Vec<_>>();
        let all = [
            named("LOST", &self.lost),
            named("DOUBLED", &self.doubled),
            named("MALFORMED", &self.malformed),
            named("WRONG", &self.other),
        ];
        all.concat()
    }
}
