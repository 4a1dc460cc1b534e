//! What the owner lets a session do without a question. Must not know who gave it, or how a call is
//! compared with it.

use serde::{Deserialize, Serialize};

use crate::text_forms::text_forms;

/// A mode of one session. Each lets through what the one before it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Each change asks.
    #[default]
    Ask,
    /// Writing, editing and moving files of the workspace runs. Deleting asks.
    Edits,
    /// The same, and commands that may change the workspace and have no network.
    Work,
}

text_forms!(Mode {
    Ask = "ask",
    Edits = "edits",
    Work = "work",
});

impl Mode {
    /// Half a sentence about what runs without a question.
    pub fn says(self) -> &'static str {
        match self {
            Self::Ask => "each change asks",
            Self::Edits => "writing, editing and moving files of the workspace runs; deleting asks",
            Self::Work => {
                "writing, editing and moving files of the workspace runs, and so do commands that \
                 change it without the network"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text forms stand in stores that are in use.
    #[test]
    fn the_text_forms_lead_back() {
        for mode in Mode::ALL {
            assert_eq!(Mode::parse(mode.as_str()), Some(mode));
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
        }
        assert_eq!((Mode::parse("Edits"), Mode::parse("")), (None, None));
        assert!(Mode::Ask < Mode::Edits && Mode::Edits < Mode::Work);
    }
}
