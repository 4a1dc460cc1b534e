//! What `claw ask` says of words that mean something in a chat, and nothing to a model. Must not
//! know how a turn goes.

use serde::Deserialize as _;

use super::fail::UserError;
use super::out;
use crate::app::App;
use crate::domain::{Named, Outcome, OwnServerName};
use crate::doors::commands::{self, DoorKind, Parsed};
use crate::whose::claw;

/// # Errors
/// The text is what [`of_a_chat`] knows.
pub fn refuse_command(app: &App, text: &str) -> anyhow::Result<()> {
    match of_a_chat(&claw(app), text) {
        Some(why) => Err(UserError::because(out::clean(&why))),
        None => Ok(()),
    }
}

/// What to do instead where the text is written like a command of a chat, which no model carries
/// out, or like the prompt of a server that there is not.
fn of_a_chat(claw: &str, text: &str) -> Option<String> {
    let word = text.split_whitespace().next().unwrap_or_default();
    match commands::parse(text, DoorKind::Console) {
        Parsed::Command(..) | Parsed::Unknown(_) => {
            let instead = instead_of(&word.to_ascii_lowercase())
                .map(|command| command.replacen("claw", claw, 1))
                .map(|command| format!(", and here `{command}` does it"))
                .unwrap_or_default();
            Some(format!(
                "{word} is a command of `{claw} chat`{instead}. To send it as a message, put a space \
                 in front of it"
            ))
        }
        Parsed::Foreign(_) if word.contains(':') => Some(format!(
            "no server has the prompt {word}; `/prompts` in `{claw} chat` lists those that there are"
        )),
        Parsed::Foreign(_) | Parsed::Message | Parsed::NotForUs => None,
    }
}

/// The command of the command line that does what this one does in a chat.
fn instead_of(chat_command: &str) -> Option<&'static str> {
    Some(match chat_command {
        "/stop" => "Ctrl-C",
        "/status" => "claw doctor",
        "/model" => "claw --model NAME ask",
        "/tools" => "claw tools",
        "/login" => "claw mcp login NAME",
        "/approvals" | "/staged" => "claw approvals",
        "/grants" => "claw grants",
        "/digest" => "claw digest",
        "/mode" => "claw ask --mode MODE",
        "/remember" => "claw memory add",
        "/memory" => "claw memory list",
        "/remind" => "claw schedule add",
        "/schedule" => "claw schedule list",
        "/undo" => "claw undo",
        "/panic" => "claw panic on",
        "/help" | "/?" => "claw help",
        _ => return None,
    })
}

/// Says what is written like a resource of a server that there is not. It stays plain text, because
/// people write `@bob:` to each other, too.
pub fn say_unknown_servers(app: &App, named: &[Named]) {
    let servers = app.gate.hub().servers();
    for one in named {
        let Named::Resource { server, uri } = one else { continue };
        if !servers.iter().any(|known| known.name == *server) {
            out::err_line(&out::clean(&format!(
                "claw: no server is named `{server}`, so `@{server}:{uri}` is plain text."
            )));
        }
    }
}

/// Whether this call of a turn has made a job.
pub fn is_new_job(app: &App, call: &serde_json::Value) -> bool {
    let tool = call["tool"].as_str().and_then(|tool| tool.split_once('/'));
    let outcome = Outcome::deserialize(&call["outcome"]);
    tool.is_some_and(|(server, tool)| {
        tool == "schedule" && app.gate.hub().builtin(server) == Some(OwnServerName::Scheduler)
    }) && matches!(outcome, Ok(Outcome::Ended { output }) if !output.is_error)
}

#[cfg(test)]
mod tests {
    use super::of_a_chat;

    #[test]
    fn a_command_of_a_chat_names_the_command_that_does_it() {
        let status = of_a_chat("claw", "/status").unwrap();
        assert!(status.starts_with("/status is a command of `claw chat`, and here `claw doctor`"));
        assert!(of_a_chat("claw", "/help").unwrap().contains("`claw help`"));
        assert!(
            of_a_chat("claw", "/nosuch:prompt a=b").unwrap().contains("no server has the prompt")
        );
        for text in ["/etc/hosts is wrong", " /status", "/tmp", "what is /status", "/new\nmore"] {
            assert_eq!(of_a_chat("claw", text), None, "{text}");
        }
    }
}
