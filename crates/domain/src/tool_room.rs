//! How many tools a model is offered at once, and who finds the others. Must not know where the
//! settings stand, or which tools there are.

/// Bytes of a definition that are about one token.
const BYTES_PER_TOKEN: u64 = 4;

/// Estimated tokens of a definition of so many bytes.
pub fn definition_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// The bytes of a definition of about so many tokens.
pub fn definition_bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX)
}

/// What one model is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolRoom {
    pub finder: ToolFinder,
    /// From more tools than these on they are found on demand.
    pub tools_max: usize,
    /// The same for estimated tokens of their definitions.
    pub tokens_max: u64,
    /// Tools that claw looks up for one message.
    pub suggested_max: usize,
    /// Tools that were used lately and stand in the first request.
    pub used_lately_max: usize,
}

impl ToolRoom {
    /// All tools are offered at once.
    pub const ENDLESS: Self = Self {
        finder: ToolFinder::Nobody,
        tools_max: usize::MAX,
        tokens_max: u64::MAX,
        suggested_max: 0,
        used_lately_max: 0,
    };
}

/// Who finds the tools that are not offered at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolFinder {
    /// The model, by calling a tool.
    Model,
    /// Claw, by the words of each message: for models that do not search well.
    Claw,
    /// Nobody: all tools are offered at once.
    Nobody,
}

/// The tools beside claw's own that stand in the requests of a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedTools {
    /// What the list began with.
    pub begin: Vec<String>,
    /// All of them, in the order of the requests.
    pub all: Vec<String>,
    /// What came last.
    pub newest: Vec<String>,
}

impl LoadedTools {
    pub fn add(&mut self, tools: &[String]) {
        for tool in tools {
            if !self.all.contains(tool) {
                self.all.push(tool.clone());
            }
        }
        self.newest = tools.to_vec();
    }
}
