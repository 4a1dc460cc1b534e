//! How many tools a model takes at once, and whether it searches for others by itself: what of that
//! its settings, its wire and its window say. Must not know the tools.

use super::windows;
use crate::config::model::{ModelSection, ToolSearch};
use crate::domain::ToolFinder;
use crate::model::genai::{Target, is_loopback};
use crate::model::wire_schema;

/// A model with a smaller window is not expected to search well.
const SMALL_WINDOW_TOKENS: u64 = 32_768;

/// What is known of one model, or of all that may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolsOfModel {
    pub finder: ToolFinder,
    /// From more tools on they are found on demand, where its settings say so.
    pub listed_max: Option<u64>,
    /// The most tools that a request on its wire may hold.
    pub wire_max: Option<usize>,
    /// The share of the window, where its settings say so.
    pub window_percent: Option<u64>,
}

impl ToolsOfModel {
    /// Of a model that the settings describe. `target` is `None` for the demo.
    pub(super) fn of(
        section: &ModelSection,
        target: Option<&Target>,
        window_tokens: Option<u64>,
    ) -> Self {
        let is_small = match (window_tokens, target) {
            (Some(tokens), _) => tokens < SMALL_WINDOW_TOKENS,
            (None, Some(target)) => {
                windows::known(&target.model).is_none() && is_on_this_machine(target)
            }
            (None, None) => false,
        };
        let finder = match section.tool_search {
            ToolSearch::Off => ToolFinder::Nobody,
            ToolSearch::Claw => ToolFinder::Claw,
            ToolSearch::Auto if is_small => ToolFinder::Claw,
            ToolSearch::Auto | ToolSearch::Model => ToolFinder::Model,
        };
        Self {
            finder,
            listed_max: section.listed_tools_max,
            wire_max: target.and_then(|target| wire_schema::tools_max(target.wire)),
            window_percent: section.listed_tools_percent,
        }
    }

    /// What fits this one and another one behind it.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            finder: self.finder,
            listed_max: self.listed_max.into_iter().chain(other.listed_max).min(),
            wire_max: self.wire_max.into_iter().chain(other.wire_max).min(),
            window_percent: self.window_percent.into_iter().chain(other.window_percent).min(),
        }
    }
}

fn is_on_this_machine(target: &Target) -> bool {
    let url = reqwest::Url::parse(&target.base_url).ok();
    url.and_then(|url| url.host_str().map(is_loopback)).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, window_tokens: Option<u64>) -> ToolsOfModel {
        ToolsOfModel::of(&toml::from_str(text).unwrap(), None, window_tokens)
    }

    #[test]
    fn a_small_window_has_claw_look_and_a_setting_says_otherwise() {
        assert_eq!(of("", Some(8_192)).finder, ToolFinder::Claw);
        assert_eq!(of("", Some(200_000)).finder, ToolFinder::Model);
        assert_eq!(of("tool_search = 'model'", Some(8_192)).finder, ToolFinder::Model);
        assert_eq!(of("tool_search = 'off'", None).finder, ToolFinder::Nobody);
    }

    #[test]
    fn what_all_models_of_a_chain_take_counts() {
        let (first, behind) =
            (of("listed_tools_max = 90", None), of("listed_tools_max = 40", None));
        assert_eq!(first.and(behind).listed_max, Some(40));
        assert_eq!(first.and(of("", None)).listed_max, Some(90));
    }
}
