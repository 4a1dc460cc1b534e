//! What `/role` says, and how a role is chosen for one conversation. Must not know what a role
//! does.

use super::{ChatCommands, ChatCommandsParts, Given, code, is_owner};
use crate::domain::SessionId;
use crate::store::{StoreError, Tx};
use crate::turn::Log;

/// Chooses what everybody has.
const DEFAULT: &str = "default";
const USAGE: &str =
    "`/role` lists the roles, `/role select NAME` chooses one for this conversation.";

/// The roles that there are, as a person is told.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    /// Names, each with its description, which may be empty.
    pub known: Vec<(String, String)>,
    /// The role of every conversation that has not chosen another one.
    pub default: Option<String>,
}

impl Roles {
    fn has(&self, name: &str) -> bool {
        self.known.iter().any(|(known, _)| known == name)
    }

    fn names(&self) -> String {
        self.known.iter().map(|(name, _)| code(name)).collect::<Vec<_>>().join(", ")
    }
}

impl ChatCommands {
    pub(super) async fn role(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let parts = self.parts();
        let (store, roles) = (&parts.store, &parts.roles);
        let words: Vec<&str> = words.split_whitespace().collect();
        let name = match words[..] {
            [] | ["list"] => return to.say(store, markdown(&parts, session)?).await,
            ["select", name] => name.to_owned(),
            _ => return to.say(store, USAGE.to_owned()).await,
        };
        if !is_owner(visitor) {
            return to.say(store, "Only the owner may choose the role.".to_owned()).await;
        }
        if let Some(refused) = refusal(roles, &name) {
            return to.say(store, refused).await;
        }
        let (usual, by, session) =
            (roles.default.clone(), visitor.principal.clone(), session.clone());
        to.once(store, move |tx| choose_in(tx, &session, &name, usual.as_deref(), &by)).await
    }
}

fn markdown(parts: &ChatCommandsParts, session: &SessionId) -> Result<String, StoreError> {
    let roles = &parts.roles;
    let (chosen, log) = parts.store.read(|tx| {
        let log = Log::new(session.clone(), tx.window(session)?.events, tx.last_seq(session)?);
        Ok((tx.session_role(session)?, log))
    })?;
    if roles.known.is_empty() && chosen.is_none() {
        return Ok(
            "There are no roles; a section `[roles.NAME]` in `claw.toml` makes one.".to_owned()
        );
    }
    let in_force = in_force(roles, chosen.as_deref());
    let mark = |name: Option<&str>| if name == in_force { " **(in force)**" } else { "" };
    let mut text = String::new();
    if roles.default.is_none() {
        text.push_str(&format!("- {}{}: no role\n", code(DEFAULT), mark(None)));
    }
    for (name, description) in &roles.known {
        let usual = if roles.default.as_ref() == Some(name) { " (the default)" } else { "" };
        let colon = if description.is_empty() { "" } else { ": " };
        text.push_str(&format!(
            "- {}{usual}{}{colon}{description}\n",
            code(name),
            mark(Some(name))
        ));
    }
    if let Some(how) = in_hand(&log, in_force) {
        text.push_str(&format!("\nThe turn that is under way goes on {how}.\n"));
    }
    if let Some(gone) = chosen.as_deref().filter(|chosen| !roles.has(chosen)) {
        text.push_str(&format!(
            "\nThe role {}, which was chosen here, is not in `claw.toml` any more.\n",
            code(gone)
        ));
    }
    text.push_str(
        "\n`/role select NAME` chooses one for this conversation, from its next turn on; `/role \
         select default` goes back to what all others have.",
    );
    Ok(text)
}

/// How an open turn goes on that has begun with another role.
fn in_hand(log: &Log, in_force: Option<&str>) -> Option<String> {
    let role = log.open_turn()?.role;
    let words = |role| format!("as {}", code(role));
    (role != in_force).then(|| role.map_or_else(|| "without a role".to_owned(), words))
}

/// The line of `/status`; empty where there are no roles.
pub(super) fn status_line(roles: &Roles, chosen: Option<&str>, log: &Log) -> String {
    if roles.known.is_empty() && chosen.is_none() {
        return String::new();
    }
    let in_force = in_force(roles, chosen);
    let shown = in_force.map_or_else(|| "none".to_owned(), code);
    let in_hand =
        in_hand(log, in_force).map(|how| format!("; the turn that is under way goes on {how}"));
    format!("- role: {shown}{}\n", in_hand.unwrap_or_default())
}

/// The role that the next turn gets.
fn in_force<'a>(roles: &'a Roles, chosen: Option<&'a str>) -> Option<&'a str> {
    chosen.filter(|name| roles.has(name)).or(roles.default.as_deref())
}

/// Why this name is none that can be chosen.
fn refusal(roles: &Roles, name: &str) -> Option<String> {
    if name == DEFAULT || roles.has(name) {
        return None;
    }
    Some(match roles.known.is_empty() {
        true => "There are no roles; a section `[roles.NAME]` in `claw.toml` makes one.".to_owned(),
        false => format!("There is no role {}; there are: {}.", code(name), roles.names()),
    })
}

fn choose_in(
    tx: &Tx<'_>,
    session: &SessionId,
    name: &str,
    usual: Option<&str>,
    by: &str,
) -> Result<String, StoreError> {
    let chosen = (name != DEFAULT).then_some(name);
    tx.set_session_role(session, chosen, by)?;
    let becomes = match (chosen, usual) {
        (Some(name), _) => format!("has the role {}; `/role select default` goes back", code(name)),
        (None, Some(usual)) => format!("has the role that all others have, {}", code(usual)),
        (None, None) => "has no role".to_owned(),
    };
    Ok(match tx.turn_open(session)? {
        true => {
            format!(
                "The turn that is under way goes on as it began. From the next one on this \
                 conversation {becomes}."
            )
        }
        false => format!("From its next turn on this conversation {becomes}."),
    })
}
