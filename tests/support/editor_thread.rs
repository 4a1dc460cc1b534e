//! What an editor at `claw acp` has of one conversation: what it shows, and which requests for
//! permission are open. Must not know how an editor is connected.

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, PromptResponse, RequestPermissionRequest,
    RequestPermissionResponse, SessionUpdate, ToolCall, ToolCallUpdateFields,
};

/// One thing that a conversation shows, from the top to the bottom.
#[derive(Clone, Debug)]
pub enum Item {
    Person(String),
    Words(String),
    Call(Box<ToolCall>),
}

/// A request that waits for the person.
pub struct Asked {
    pub request: RequestPermissionRequest,
    /// The agent has taken it back, and the editor has not said so yet.
    pub withdrawn: bool,
    pub responder: Responder<RequestPermissionResponse>,
}

/// What an editor has of one conversation.
#[derive(Default)]
pub struct Thread {
    pub items: Vec<Item>,
    pub asked: Vec<Asked>,
    pub ends: Vec<Result<PromptResponse, Error>>,
    pub commands: Vec<String>,
    pub modes: Vec<String>,
}

impl Thread {
    pub fn take(&mut self, update: SessionUpdate) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                let text = chunk_text(&chunk);
                match self.items.last_mut() {
                    Some(Item::Words(before)) => before.push_str(&text),
                    _ => self.items.push(Item::Words(text)),
                }
            }
            SessionUpdate::UserMessageChunk(chunk) => {
                self.items.push(Item::Person(chunk_text(&chunk)));
            }
            SessionUpdate::ToolCall(call) => self.items.push(Item::Call(Box::new(call))),
            SessionUpdate::ToolCallUpdate(update) => {
                let (id, fields) = (update.tool_call_id.to_string(), update.fields);
                self.show_call(&id, String::new(), &fields);
            }
            SessionUpdate::AvailableCommandsUpdate(update) => {
                self.commands = update.available_commands.into_iter().map(|it| it.name).collect();
            }
            SessionUpdate::CurrentModeUpdate(update) => {
                self.modes.push(update.current_mode_id.to_string());
            }
            other => panic!("an editor was not expected to see {other:?}"),
        }
    }

    pub fn show_call(&mut self, id: &str, title: String, fields: &ToolCallUpdateFields) {
        let known = self.items.iter_mut().find_map(|item| match item {
            Item::Call(call) if call.tool_call_id.to_string() == id => Some(call),
            _ => None,
        });
        match known {
            Some(call) => call.update(fields.clone()),
            None => {
                let mut call = ToolCall::new(id.to_owned(), title);
                call.update(fields.clone());
                self.items.push(Item::Call(Box::new(call)));
            }
        }
    }

    /// The call that the conversation has shown last.
    pub fn last_call(&self) -> Option<&ToolCall> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Call(call) => Some(&**call),
            _ => None,
        })
    }
}

fn chunk_text(chunk: &ContentChunk) -> String {
    match &chunk.content {
        ContentBlock::Text(text) => text.text.clone(),
        other => panic!("no text: {other:?}"),
    }
}
