//! How many tools a model is offered at once: the numbers of `[tools]` in `claw.toml`. Must not
//! know models, or how tools are found.

use super::range::within;

/// The numbers of `[tools]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolsListed {
    /// From more tools on they are found on demand.
    pub listed_max: u64,
    /// The same, where their definitions take more than this share of the model's window.
    pub listed_window_percent: u64,
    /// Tools that one search finds.
    pub found_max: u64,
    /// Tools that claw looks up for a message, for models that do not search by themselves.
    pub suggested_max: u64,
    /// Tools that were used in the last days and stand in the first request.
    pub used_lately_max: u64,
    /// A definition of another's tool with more estimated tokens is shortened.
    pub definition_tokens_max: u64,
}

impl Default for ToolsListed {
    fn default() -> Self {
        Self {
            listed_max: 100,
            listed_window_percent: 10,
            found_max: 8,
            suggested_max: 5,
            used_lately_max: 10,
            definition_tokens_max: 2_000,
        }
    }
}

impl ToolsListed {
    /// The first key outside of its range, and what is wrong with it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        within(
            "tools",
            [
                ("listed_max", self.listed_max, 1, 10_000),
                ("listed_window_percent", self.listed_window_percent, 1, 100),
                ("found_max", self.found_max, 1, 20),
                ("suggested_max", self.suggested_max, 1, 20),
                ("used_lately_max", self.used_lately_max, 0, 50),
                ("definition_tokens_max", self.definition_tokens_max, 200, 100_000),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_its_range_is_named() {
        assert_eq!(ToolsListed::default().check(), Ok(()));
        let wrong = ToolsListed { found_max: 0, ..ToolsListed::default() };
        let (key, message) = wrong.check().unwrap_err();
        assert_eq!(key, "found_max");
        assert_eq!(message, "`tools.found_max` is 0, and must be from 1 to 20");
    }
}
