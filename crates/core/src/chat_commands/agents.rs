//! The agents of this claw, as a chat lists them. Must not know who runs them.

use std::sync::Arc;

use super::code;
use crate::domain::{AgentCard, escape};

/// How it is with an agent's bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentState {
    AtWork {
        /// Without the `@`.
        username: String,
    },
    /// It is tried; why it does not work yet.
    Trying(String),
    /// It is not tried any more in this run.
    Down(String),
    /// It has none, or nobody here knows.
    NoBot,
}

/// Asked whenever a chat wants to know.
pub type Agents = Arc<dyn Fn() -> Vec<(AgentCard, AgentState)> + Send + Sync>;

pub(super) fn markdown(agents: &[(AgentCard, AgentState)], here: &str) -> String {
    let mut text = String::new();
    for (card, state) in agents {
        text.push_str(&format!("- **{}**", card.name));
        if card.name == here {
            text.push_str(" (this one)");
        }
        if !card.description.is_empty() {
            text.push_str(&format!(": {}", escape::visible(&card.description)));
        }
        if !card.capabilities.is_empty() {
            text.push_str(&format!(" · {}", escape::visible(&card.capabilities.join(", "))));
        }
        text.push_str(&match state {
            AgentState::AtWork { username } => {
                format!(" · @{} is at work", escape::visible(username))
            }
            AgentState::Trying(why) => format!(" · its bot is not at work yet: {}", code(why)),
            AgentState::Down(why) => format!(" · its bot is not at work: {}", code(why)),
            AgentState::NoBot => String::new(),
        });
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_a_line_and_what_is_wrong_with_it_is_said() {
        let card = |name: &str, description: &str, capabilities: &[&str]| AgentCard {
            name: name.to_owned(),
            description: description.to_owned(),
            capabilities: capabilities.iter().map(|one| (*one).to_owned()).collect(),
        };
        let agents = [
            (card("main", "", &[]), AgentState::NoBot),
            (
                card("work", "for\u{202e} work", &["mail", "code"]),
                AgentState::AtWork { username: "w_bot".into() },
            ),
            (card("home", "at home", &[]), AgentState::Down("its `token` is refused".into())),
        ];
        let text = markdown(&agents, "work");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "- **main**");
        assert!(
            lines[1].starts_with("- **work** (this one): for") && !lines[1].contains('\u{202e}'),
            "{text}"
        );
        assert!(lines[1].ends_with(" · mail, code · @w_bot is at work"), "{text}");
        assert_eq!(
            lines[2],
            "- **home**: at home · its bot is not at work: `` its `token` is refused ``"
        );
    }
}
