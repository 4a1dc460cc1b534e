//! The modes and the chat commands as an editor lists them. Must not know what a mode lets through,
//! or what a command does.

use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, CurrentModeUpdate,
    SessionMode, SessionModeState, SessionUpdate, UnstructuredCommandInput,
};

use crate::domain::Mode;
use crate::doors::commands::{self, DoorKind};

pub fn state(now: Mode) -> SessionModeState {
    let modes = Mode::ALL
        .into_iter()
        .map(|mode| SessionMode::new(mode.as_str(), name(mode)).description(says(mode)));
    SessionModeState::new(now.as_str(), modes.collect())
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "Ask",
        Mode::Edits => "Edits",
        Mode::Work => "Work",
    }
}

/// The half sentence of a mode as a whole one.
fn says(mode: Mode) -> String {
    let mut letters = mode.says().chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

pub fn changed(now: Mode) -> SessionUpdate {
    SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(now.as_str()))
}

/// `prompts` of tool servers: command, what it is, and the words that it takes.
pub fn commands(prompts: &[(String, String, String)]) -> SessionUpdate {
    let all = commands::at(DoorKind::Editor).map(|known| {
        let input = (!known.words.is_empty()).then(|| {
            AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(known.words))
        });
        AvailableCommand::new(known.bare_name(), known.help).input(input)
    });
    let prompts = prompts.iter().map(|(command, about, words)| {
        let input = (!words.is_empty()).then(|| {
            AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(words.clone()))
        });
        AvailableCommand::new(command.trim_start_matches('/'), about.clone()).input(input)
    });
    SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(
        all.chain(prompts).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_offered_and_no_command_of_another_door() {
        let state = state(Mode::Edits);
        let ids: Vec<String> = state.available_modes.iter().map(|one| one.id.to_string()).collect();
        assert_eq!(ids, ["ask", "edits", "work"]);
        assert_eq!(state.current_mode_id.to_string(), "edits");
        let prompts = [("/docs:review", "Review", "topic=…")]
            .map(|(one, two, three)| (one.to_owned(), two.to_owned(), three.to_owned()));
        let SessionUpdate::AvailableCommandsUpdate(update) = commands(&prompts) else { panic!() };
        let names: Vec<&str> =
            update.available_commands.iter().map(|one| one.name.as_str()).collect();
        for own in ["status", "undo", "docs:review"] {
            assert!(names.contains(&own), "{own}: {names:?}");
        }
        for other in ["quit", "staged", "here", "/status"] {
            assert!(!names.contains(&other), "{other}");
        }
    }
}
