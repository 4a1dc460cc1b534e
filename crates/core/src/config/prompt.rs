//! The `[prompt]` section of `claw.toml`: what a request holds beside the conversation, and how
//! many earlier versions of the persona are kept. Must not know how a prompt is packed.

use std::time::Duration;

use serde::Deserialize;

use super::range::within;

/// `[prompt]`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PromptSection {
    /// Whether the model is told what `AGENTS.md` and `CLAUDE.md` of the workspace say.
    pub project_files: bool,
    /// KiB of each of them that a model gets.
    pub project_file_kib_max: u64,
    /// Whether the model is told what has changed in a workspace that is a git repository.
    pub git_state: bool,
    /// Milliseconds that a message waits for it; without it the turn goes on.
    pub git_time_ms: u64,
    /// Earlier versions that are kept of each file of a persona.
    pub persona_versions_max: u64,
    /// KiB that the earlier versions of all files take together; the oldest go first.
    pub persona_versions_kib_max: u64,
}

impl Default for PromptSection {
    fn default() -> Self {
        Self {
            project_files: true,
            project_file_kib_max: 32,
            git_state: true,
            git_time_ms: 300,
            persona_versions_max: 50,
            persona_versions_kib_max: 4096,
        }
    }
}

impl PromptSection {
    /// Bytes of each file that the workspace has for agents; `None`: they are not read.
    pub fn project_bytes_max(&self) -> Option<u64> {
        self.project_files.then_some(self.project_file_kib_max * 1024)
    }

    /// How long a message waits for what git says; `None`: git is not asked.
    pub fn git_time(&self) -> Option<Duration> {
        self.git_state.then(|| Duration::from_millis(self.git_time_ms))
    }

    /// The first key outside of its range, and what is wrong with it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        within(
            "prompt",
            [
                ("project_file_kib_max", self.project_file_kib_max, 1, 256),
                ("git_time_ms", self.git_time_ms, 20, 60_000),
                ("persona_versions_max", self.persona_versions_max, 1, 10_000),
                ("persona_versions_kib_max", self.persona_versions_kib_max, 64, 1_048_576),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_switches_the_files_off_and_a_value_out_of_range_is_named() {
        let read = |text: &str| toml::from_str::<PromptSection>(text).unwrap();
        let off = PromptSection { project_files: false, ..Default::default() };
        assert_eq!(read("project_files = false"), off);
        assert_eq!(PromptSection::default().check(), Ok(()));
        let (key, message) = read("persona_versions_max = 0").check().unwrap_err();
        assert_eq!(key, "persona_versions_max");
        assert_eq!(message, "`prompt.persona_versions_max` is 0, and must be from 1 to 10000");
    }
}
