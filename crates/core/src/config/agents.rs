//! `[agents.NAME]` in `claw.toml`: each agent is the file's own settings with its section laid over
//! them. Owns what is inherited and what is not, and the names that agents may have. Must not know
//! what any setting means to a room.

use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::doors::DoorSections;
use super::error::ConfigError;
use super::toml_fault::line_of;
use crate::domain::AgentCard;

/// The agent that the settings outside of `[agents]` describe.
pub use crate::domain::MAIN_AGENT as MAIN;
/// The longest name of an agent, in bytes: it becomes the name of a folder.
pub const AGENT_NAME_BYTES_MAX: usize = 32;
/// The most agents of one home.
const AGENTS_MAX: usize = 64;
/// Where clients reach an agent and which of them may answer for its owner is never inherited.
const OWN_SERVE_KEYS: [&str; 2] = ["http", "approve_in_client"];
/// What describes one agent and no other.
const OWN_KEYS: [&str; 7] =
    ["description", "capabilities", "servers", "workspace", "persona", "roles", "default_role"];
/// Sections that are replaced as a whole, because a key in them belongs to the address beside it.
const WHOLE: [&str; 2] = ["model", "transcription"];

/// The names of all agents that a file describes beside the main one, in order.
///
/// # Errors
/// `[agents]` that is no table of tables, and a name that cannot be a folder's.
pub(super) fn names(
    table: &DeTable<'_>,
    place: &str,
    text: &str,
) -> Result<Vec<String>, ConfigError> {
    let Some(agents) = table.get("agents") else {
        return Ok(Vec::new());
    };
    let wrong = |at: usize, message: String| {
        let place = format!("{place}, line {}", line_of(text, at));
        ConfigError::new(place, message, "Write a section `[agents.NAME]` for each agent")
    };
    let Some(agents_table) = agents.get_ref().as_table() else {
        return Err(wrong(agents.span().start, "`agents` is no table".to_owned()));
    };
    let mut names = BTreeSet::new();
    for (key, value) in agents_table {
        let (name, at) = (key.get_ref().to_string(), key.span().start);
        if !is_agent_name(&name) {
            let message = format!(
                "`{name}` is no name for an agent: 1 to {AGENT_NAME_BYTES_MAX} small letters, \
                 digits, `-` and `_`, beginning with a letter"
            );
            return Err(wrong(at, message));
        }
        if name == MAIN {
            let message =
                format!("`{MAIN}` is the agent that the settings outside of `[agents]` describe");
            return Err(wrong(at, message));
        }
        if !value.get_ref().is_table() {
            return Err(wrong(at, format!("`agents.{name}` is no table")));
        }
        names.insert(name);
    }
    if names.len() > AGENTS_MAX {
        let message = format!("there are {} agents, and {AGENTS_MAX} are the most", names.len());
        return Err(wrong(agents.span().start, message));
    }
    Ok(names.into_iter().collect())
}

/// Whether an agent may have this name, and its folder.
pub fn is_agent_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= AGENT_NAME_BYTES_MAX
        && name.chars().all(plain)
}

/// The settings that are in force for one agent. Some sections are replaced as a whole; in all
/// others each key is laid over the file's own.
pub(super) fn layered<'t>(
    mut table: DeTable<'t>,
    agent: &str,
    doors: &DoorSections,
) -> DeTable<'t> {
    let agents = table.remove("agents");
    if agent == MAIN {
        return table;
    }
    for key in OWN_KEYS {
        table.remove(key);
    }
    let of_doors = doors.iter().map(|door| (door.name, door.own_keys));
    for (name, keys) in of_doors.chain([("serve", &OWN_SERVE_KEYS[..])]) {
        if let Some(section) = section(&mut table, name) {
            keys.iter().for_each(|key| drop(section.remove(*key)));
        }
    }
    let own = agents.and_then(|agents| match agents.into_inner() {
        DeValue::Table(mut agents) => agents.remove(agent),
        _ => None,
    });
    let Some(DeValue::Table(mut own)) = own.map(Spanned::into_inner) else { return table };
    spell_out(&mut own, doors);
    for (key, value) in own {
        let is_whole = WHOLE.contains(&key.get_ref().as_ref());
        match (section(&mut table, key.get_ref()), value) {
            (Some(base), value) if !is_whole && value.get_ref().is_table() => {
                if let DeValue::Table(inner) = value.into_inner() {
                    inner.into_iter().for_each(|(key, value)| lay(base, key, value));
                }
            }
            (_, value) => lay(&mut table, key, value),
        }
    }
    table
}

/// Lays a value over another one, and its key too, which says at which line it stands.
fn lay<'t>(table: &mut DeTable<'t>, key: Spanned<DeString<'t>>, value: Spanned<DeValue<'t>>) {
    let name: &str = key.get_ref();
    table.remove(name);
    table.insert(key, value);
}

/// Whether the settings of an agent say that it shares its notes.
pub(super) fn shares_notes(table: DeTable<'_>, agent: &str, doors: &DoorSections) -> bool {
    let table = layered(table, agent, doors);
    let memory = match table.get("memory").map(Spanned::get_ref) {
        Some(DeValue::Table(memory)) => memory.get("shared"),
        _ => None,
    };
    matches!(memory.map(Spanned::get_ref), Some(DeValue::Boolean(true)))
}

/// What the settings of an agent say of it; what is no text is told where they are read.
pub(super) fn card(table: DeTable<'_>, name: String) -> AgentCard {
    let text = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    let capabilities = match table.get("capabilities").map(Spanned::get_ref) {
        Some(DeValue::Array(items)) => items.iter().filter_map(text).collect(),
        _ => Vec::new(),
    };
    AgentCard {
        name,
        description: table.get("description").and_then(text).unwrap_or_default(),
        capabilities,
    }
}

/// The variables that doors take secrets from, by the names that the file lists.
pub(super) fn secret_variables(table: &DeTable<'_>, doors: &DoorSections) -> Vec<String> {
    let text = |name: &Spanned<DeValue<'_>>| match name.get_ref() {
        DeValue::String(name) => Some(name.to_string()),
        _ => None,
    };
    let mut variables = Vec::new();
    for door in doors.iter() {
        let Some(DeValue::Table(section)) = table.get(door.name).map(Spanned::get_ref) else {
            continue;
        };
        for key in door.secret_variables {
            if let Some(DeValue::Array(names)) = section.get(*key).map(Spanned::get_ref) {
                variables.extend(names.iter().filter_map(text));
            }
        }
    }
    variables
}

/// Whether an agent's own section holds this key.
pub(super) fn has_own(table: &DeTable<'_>, agent: &str, key: &str) -> bool {
    let inner = |value: &Spanned<DeValue<'_>>, key: &str| match value.get_ref() {
        DeValue::Table(table) => table.contains_key(key),
        _ => false,
    };
    match table.get("agents").map(Spanned::get_ref) {
        Some(DeValue::Table(agents)) => agents.get(agent).is_some_and(|own| inner(own, key)),
        _ => false,
    }
}

/// `[agents.NAME]` may say itself what belongs to a door that allows it.
fn spell_out(own: &mut DeTable<'_>, doors: &DoorSections) {
    for door in doors.iter().filter(|door| door.in_agent) {
        for key in door.own_keys {
            let Some((key, value)) = own.remove_entry(*key) else { continue };
            if !own.contains_key(door.name) {
                let at = key.span();
                own.insert(
                    Spanned::new(at.clone(), door.name.into()),
                    Spanned::new(at, DeValue::Table(DeTable::new())),
                );
            }
            if let Some(section) = section(own, door.name) {
                section.insert(key, value);
            }
        }
    }
}

fn section<'a, 't>(table: &'a mut DeTable<'t>, name: &str) -> Option<&'a mut DeTable<'t>> {
    match table.get_mut(name)?.get_mut() {
        DeValue::Table(section) => Some(section),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
