//! What a conversation has said so far, as an editor shows it that opens it again. Pure. Must not
//! know where it was kept.

use std::path::Path;

use agent_client_protocol::v1::schema::{SessionUpdate, ToolCall, ToolCallStatus};

use super::blocks::{content, fenced, persons_words, words};
use super::call_view::{kind, locations};
use crate::chat_commands::{ConversationCall, ConversationEntry};
use crate::domain::{Outcome, escape};

/// The longest result that is shown again, in characters. The whole is for `claw sessions show`.
const RESULT_CHARS_MAX: usize = 4_000;
/// The longest argument in a title, in characters.
const TITLE_CHARS_MAX: usize = 100;

/// `claw` are the first words of a command.
pub fn updates(
    entries: &[ConversationEntry],
    (claw, session): (&str, &str),
    workspace: &Path,
) -> Vec<SessionUpdate> {
    entries.iter().map(|one| update(one, (claw, session), workspace)).collect()
}

fn update(
    entry: &ConversationEntry,
    (claw, session): (&str, &str),
    workspace: &Path,
) -> SessionUpdate {
    match entry {
        ConversationEntry::Cut => words(&format!(
            "*What was said before is left out; `{claw} sessions show {session}` has all of \
             it.*\n\n"
        )),
        ConversationEntry::Person { text } => persons_words(text),
        // Words of a model and of claw that follow each other stay apart.
        ConversationEntry::Model { text } | ConversationEntry::Claw { text } => {
            words(&format!("{}\n\n", text.trim_end()))
        }
        ConversationEntry::Call(call) => SessionUpdate::ToolCall(tool_call(call, workspace)),
    }
}

fn tool_call(replayed: &ConversationCall, workspace: &Path) -> ToolCall {
    let (status, text) = match &replayed.outcome {
        None | Some(Outcome::Parked { .. } | Outcome::Left) => {
            (ToolCallStatus::Pending, String::new())
        }
        Some(Outcome::Ended { output }) if output.is_error => {
            (ToolCallStatus::Failed, fenced(&cut(&output.text)))
        }
        Some(Outcome::Ended { output }) => (ToolCallStatus::Completed, fenced(&cut(&output.text))),
        Some(Outcome::Denied { reason, .. }) => {
            (ToolCallStatus::Failed, format!("Not run: {}", escape::visible(reason)))
        }
        Some(Outcome::Unknown { reason }) => (
            ToolCallStatus::Failed,
            format!("May or may not have run: {}", escape::visible(reason)),
        ),
    };
    let call = ToolCall::new(replayed.call.to_string(), title(replayed))
        .kind(kind(&replayed.server, &replayed.tool))
        .status(status)
        .locations(locations(&replayed.server, &replayed.arguments, workspace));
    if text.is_empty() { call } else { call.content(vec![content(&text)]) }
}

/// Server, tool, and the beginning of the most telling argument.
fn title(replayed: &ConversationCall) -> String {
    let telling = ["command", "path", "query", "pattern", "url", "name"];
    let argument = telling.iter().find_map(|name| replayed.arguments.get(name)?.as_str());
    let whole = match argument {
        Some(text) => format!("{}/{}  {}", replayed.server, replayed.tool, escape::visible(text)),
        None => format!("{}/{}", replayed.server, replayed.tool),
    };
    shortened(&whole, TITLE_CHARS_MAX)
}

fn cut(text: &str) -> String {
    shortened(text, RESULT_CHARS_MAX)
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{CallId, SessionId, ToolOutput};

    fn shown(outcome: Option<Outcome>) -> ToolCall {
        let session = SessionId::new("acp.a").unwrap();
        let call = ConversationCall {
            call: CallId::Reply { session, reply_seq: 3, block: 0 },
            server: "filesystem".to_owned(),
            tool: "write_file".to_owned(),
            arguments: json!({"path": "a.txt"}),
            outcome,
        };
        tool_call(&call, Path::new("/w"))
    }

    #[test]
    fn what_is_left_out_is_shown_by_a_command_of_that_agent() {
        let at = ("claw --agent work", "acp.a");
        let shown = format!("{:?}", updates(&[ConversationEntry::Cut], at, Path::new("/w")));
        assert!(shown.contains("`claw --agent work sessions show acp.a`"), "{shown}");
    }

    #[test]
    fn a_call_is_shown_again_with_what_became_of_it() {
        let waits = shown(None);
        assert_eq!(
            (waits.status, &*waits.title),
            (ToolCallStatus::Pending, "filesystem/write_file  a.txt")
        );
        let output = ToolOutput { text: "x".repeat(9_000), ..ToolOutput::default() };
        let ended = shown(Some(Outcome::Ended { output }));
        assert_eq!(ended.status, ToolCallStatus::Completed);
        assert!(format!("{:?}", ended.content).len() < 5_000);
        let lost = shown(Some(Outcome::Unknown { reason: "claw was ended".into() }));
        assert_eq!(lost.status, ToolCallStatus::Failed);
    }
}
