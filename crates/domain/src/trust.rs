//! What an owner lets a server of others do, and what such a server says of its tools. Must not
//! know how any of it is shown or stored.

use serde_json::Value;

/// The rule by which a call runs whose server says that it only reads, where the owner
/// believes that.
pub const BELIEVED: &str = "trust.hints";

/// What an owner lets a server of others do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Nothing of it is offered, and no call of it runs.
    Nothing,
    /// Every call asks, unless a rule, a class or a grant of the owner's says otherwise.
    #[default]
    Ask,
    /// The same, but a tool that says that it only reads runs without a question.
    Hints,
}

impl Trust {
    pub const ALL: [Self; 3] = [Self::Nothing, Self::Ask, Self::Hints];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Ask => "ask",
            Self::Hints => "hints",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trust| trust.as_str() == text)
    }

    /// What comes of it, as a sentence for the owner.
    pub fn says(self) -> &'static str {
        match self {
            Self::Nothing => "Nothing of it is offered, and no call of it runs.",
            Self::Ask => "Every call of it asks.",
            Self::Hints => "What says that it only reads runs unasked; the rest asks.",
        }
    }
}

/// What a server says of one of its tools (MCP, tool annotations). Each may be a lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
    /// `openWorldHint`
    pub open_world: Option<bool>,
}

impl ToolHints {
    /// Of a tool as its server lists it.
    pub fn of(raw: &Value) -> Self {
        let hint = |name: &str| raw.get("annotations")?.get(name)?.as_bool();
        Self {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            open_world: hint("openWorldHint"),
        }
    }

    /// It says that it only reads, and nothing that contradicts it.
    pub fn says_reads(self) -> bool {
        self.read_only == Some(true) && self.destructive != Some(true)
    }

    pub fn says_destroys(self) -> bool {
        self.destructive == Some(true)
    }

    /// Whether an owner who believes hints need not be asked. What reaches out into the world can
    /// carry words there, so it asks.
    pub fn needs_no_question(self) -> bool {
        self.says_reads() && self.open_world != Some(true)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_says_that_it_reads_and_nothing_else_needs_no_question() {
        let needs_none = |hints: Value| {
            ToolHints::of(&json!({"name": "x", "annotations": hints})).needs_no_question()
        };
        assert!(needs_none(json!({"readOnlyHint": true})));
        assert!(needs_none(json!({"readOnlyHint": true, "openWorldHint": false})));
        for asks in [
            json!({}),
            json!({"readOnlyHint": false}),
            json!({"readOnlyHint": "true"}),
            json!({"readOnlyHint": true, "destructiveHint": true}),
            json!({"readOnlyHint": true, "openWorldHint": true}),
            json!({"destructiveHint": false}),
        ] {
            assert!(!needs_none(asks.clone()), "{asks}");
        }
        assert!(!ToolHints::of(&json!({"readOnlyHint": true})).needs_no_question());
    }

    #[test]
    fn each_word_reads_back() {
        for trust in Trust::ALL {
            assert_eq!(Trust::parse(trust.as_str()), Some(trust));
        }
        assert_eq!(Trust::parse("all"), None);
    }
}
