//! The `[memory]` section of `claw.toml`: what of the memory a message is given, whose notes it
//! holds, and when the owner is told what waits. Must not know how the memory is asked.

use serde::Deserialize;

use super::audit::Daily;
use super::embeddings::EmbeddingsSection;
use super::range::within;

/// `[memory]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemorySection {
    /// Whether claw looks into the memory for each message of the owner's.
    pub recall: bool,
    /// Estimated tokens of the notes that are given with one message.
    pub recall_tokens_max: u64,
    /// Notes that are looked for with one message.
    pub recall_hits_max: u32,
    /// Milliseconds that a message waits for its notes; without them the turn goes on.
    pub recall_time_ms: u64,
    /// Whether a summary of a conversation is asked for durable facts, which are proposed.
    pub proposals_from_summaries: bool,
    /// When the owner is told each day what waits for a tap, in their zone.
    pub proposals_at: Daily,
    /// Whether this agent's notes lie in the one folder of all agents that share theirs.
    pub shared: bool,
    pub embeddings: EmbeddingsSection,
    /// The agents of the file that share their notes, whichever agent reads it.
    #[serde(skip)]
    pub shared_by: Vec<String>,
}

/// In the evening, when somebody has a minute.
const PROPOSALS_AT: jiff::civil::Time = jiff::civil::Time::constant(18, 0, 0, 0);

impl Default for MemorySection {
    fn default() -> Self {
        Self {
            recall: true,
            recall_tokens_max: 800,
            recall_hits_max: 6,
            recall_time_ms: 2000,
            proposals_from_summaries: true,
            proposals_at: Daily(Some(PROPOSALS_AT)),
            shared: false,
            embeddings: EmbeddingsSection::default(),
            shared_by: Vec::new(),
        }
    }
}

impl MemorySection {
    /// The first key outside of its range, and what is wrong with it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        within(
            "memory",
            [
                ("recall_tokens_max", self.recall_tokens_max, 100, 16_000),
                ("recall_hits_max", u64::from(self.recall_hits_max), 1, 20),
                ("recall_time_ms", self.recall_time_ms, 50, 60_000),
            ],
        )?;
        self.embeddings.check()
    }

    /// Whether the memory server is started in the same way.
    pub(crate) fn is_served_like(&self, other: &Self) -> bool {
        (self.shared, &self.shared_by, &self.embeddings)
            == (other.shared, &other.shared_by, &other.embeddings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_switches_it_off_and_a_value_out_of_range_is_named() {
        let read = |text: &str| toml::from_str::<MemorySection>(text).unwrap();
        assert_eq!(read("recall = false"), MemorySection { recall: false, ..Default::default() });
        assert_eq!(MemorySection::default().check(), Ok(()));
        let (key, message) = read("recall_time_ms = 10").check().unwrap_err();
        assert_eq!(key, "recall_time_ms");
        assert_eq!(message, "`memory.recall_time_ms` is 10, and must be from 50 to 60000");
        assert!(toml::from_str::<MemorySection>("recal = false").is_err());
    }
}
