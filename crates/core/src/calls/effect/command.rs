//! What a command of our bash server does, in words: where it begins, what its level lets it
//! change, and what of the network it reaches. Pure. Must not know what the command says.

use super::{Effect, Facts, inline, text, variables};
use crate::domain::{Level, Opening, STOP_ALL_JOBS, escape};
use crate::policy::{level, mode, openings};

/// Said where a mode would spare the question, but for the variables.
const NO_MODE: &str = "It can change files in the workspace; no network. No mode covers these \
    variables: `unset` or `/new` ends them";

pub(super) fn of_command(facts: &Facts<'_>) -> Option<Effect> {
    let job = || facts.arguments.get("job").map(|job| escape::visible(&job.to_string()));
    let mut told = Vec::new();
    let verb = match facts.tool {
        "run" => "Run",
        "start" => "Start",
        "stop" => {
            let says = format!("Stop the background job {}", job()?);
            return Some(Effect { says, told: vec!["job".to_owned()], ..Effect::default() });
        }
        STOP_ALL_JOBS => {
            return Some(Effect {
                says: "Stop all background jobs".to_owned(),
                ..Effect::default()
            });
        }
        _ => return None,
    };
    let command = text(facts, "command")?;
    let mut says = match inline(command) {
        Some(command) => {
            told.push("command".to_owned());
            format!("{verb} `{command}`")
        }
        None => format!("{verb} this command"),
    };
    says.push_str(&begins_in(facts, &mut told));
    if facts.tool == "start" {
        says.push_str(" in the background");
    }
    let level = level::of(facts);
    // The level is told by the words; one that is not known stands among the arguments.
    if level.is_some() {
        told.push("needs".to_owned());
    }
    let (danger, note) = match level {
        _ if !facts.held.files => (true, "No box holds it: it can do what you can"),
        _ if !facts.held.levels => (true, "The box holds no level here: it may use the network"),
        Some(Level::Read) => (false, "It can change nothing; no network"),
        Some(Level::Write) if mode::is_kept_by_variables(facts) => (false, NO_MODE),
        Some(Level::Write) => (false, "It can change files in the workspace; no network"),
        Some(Level::Network) => (true, "It can change files in the workspace"),
        None => (true, "Its level is not known"),
    };
    let mut notes = variables::notes(facts, &mut told);
    notes.push(note.to_owned());
    if level == Some(Level::Network) {
        says.push_str(&reaches(facts, &mut told));
        let opens = openings::named(facts).unwrap_or_default();
        if !opens.is_empty() {
            told.push("opens".to_owned());
            let deeds: Vec<&str> = opens.iter().map(|opening| opening.deed()).collect();
            says.push_str(&format!("; it {}", deeds.join(" and ")));
            notes.splice(..0, opens.iter().map(|opening| opening.warning().to_owned()));
        }
    }
    Some(Effect { says, danger, notes, told, ..Effect::default() })
}

/// In which folder a command begins, where it names one. One that could be read otherwise stands
/// among the arguments.
fn begins_in(facts: &Facts<'_>, told: &mut Vec<String>) -> String {
    let Some(folder) = text(facts, "cwd").and_then(inline) else { return String::new() };
    told.push("cwd".to_owned());
    match folder {
        "." => " in the workspace".to_owned(),
        folder => format!(" in `{folder}`"),
    }
}

/// What of the network a command reaches. Hosts that do not fit stand among the arguments.
fn reaches(facts: &Facts<'_>, told: &mut Vec<String>) -> String {
    let hosts = level::hosts(facts);
    let named = hosts.iter().flatten().map(|hosts| hosts.join(", ")).next();
    match (hosts, named.as_deref().map(inline)) {
        (Some(Some(_)), Some(Some(hosts))) => {
            told.push("hosts".to_owned());
            format!(" with the network: {hosts}")
        }
        (Some(Some(_)), _) => " with these hosts of the network".to_owned(),
        // It gets a network of its own, because Docker is on it.
        (Some(None), _) if openings::named(facts).is_ok_and(|o| o.contains(&Opening::Docker)) => {
            String::new()
        }
        (Some(None), _) => " with all of the network".to_owned(),
        (None, _) => " with the network".to_owned(),
    }
}
