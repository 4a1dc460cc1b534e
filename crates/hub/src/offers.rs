//! What a server has besides its tools: its prompts, its resources and their templates, page by
//! page and read leniently. Every text in it is a stranger's. Must not know who wants to see it.

use std::collections::BTreeSet;
use std::sync::Arc;

use claw_domain::{ToolOutput, escape};
use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    PaginatedRequestParams, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::timeout;

use super::catalog::PAGES_MAX;
use super::connection::Connection;
use super::error::HubError;
use super::files::{short, text_of};
use super::names::offered_name;
use super::output::is_for_user_alone;
use super::rpc::in_words;
use super::server::Server;

/// More is no list of prompts but an attack on memory.
const PROMPTS_MAX: usize = 200;
const ARGUMENTS_MAX: usize = 32;
/// Icons of one prompt, and the bytes of those of all prompts of a server.
const ICONS_MAX: usize = 4;
const ICONS_BYTES_MAX: usize = 256 * 1024;
/// The same of resources.
const RESOURCES_MAX: usize = 5000;
/// Of one list, in lines of a result.
const SHOWN_MAX: usize = 50;
/// Of a description in a list, in characters.
const DESCRIPTION_CHARS_MAX: usize = 120;
const REASON_BYTES_MAX: usize = 500;

/// What a server says in its first answer that it has, besides its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offers {
    pub resources: bool,
    pub prompts: bool,
}

impl Offers {
    pub(super) fn of(capabilities: &Value) -> Self {
        let has = |name: &str| capabilities.get(name).is_some_and(Value::is_object);
        Self { resources: has("resources"), prompts: has("prompts") }
    }
}

/// A prompt as its server lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptEntry {
    /// As the server wants to hear it. Nothing in it is invisible.
    pub name: String,
    /// For people; empty where the server gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// As its server gives them. Claw fetches none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Value>,
}

/// A prompt with the server that has it, by its name in `mcp.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPrompt {
    pub server: String,
    pub prompt: PromptEntry,
}

impl ServerPrompt {
    /// Made as the name of a tool is that a model is offered.
    pub fn offered_name(&self) -> String {
        offered_name(&self.server, &self.prompt.name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptArgument {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default)]
    pub required: bool,
}

impl Server {
    /// The prompts from the server itself, which is started if need be.
    pub(super) async fn prompts(self: &Arc<Self>) -> Result<Vec<PromptEntry>, HubError> {
        let connection = self.connection().await?;
        if !connection.offers.prompts {
            return Ok(Vec::new());
        }
        let (limit, changes) = (connection.list_timeout, connection.prompt_changes());
        let listed = timeout(limit, connection.prompts()).await;
        // A list that fails is not asked for again until somebody wants it, or it changes again.
        connection.note_prompts_listed(changes);
        let listed = listed
            .unwrap_or_else(|_| Err(format!("it did not answer within {} s", limit.as_secs_f32())));
        listed.map_err(|reason| HubError::Prompts { server: self.entry.name.clone(), reason })
    }

    /// Whether it is up and has said that its prompts are others than it listed last.
    pub(super) async fn has_changed_prompts(&self) -> bool {
        let up = self.slot.lock().await.up.clone();
        up.is_some_and(|connection| !connection.is_dead() && connection.has_changed_prompts())
    }
}

impl Connection {
    /// The prompts of this server. The caller bounds the time.
    pub(super) async fn prompts(&self) -> Result<Vec<PromptEntry>, String> {
        let pages = |cursor| {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(params))
        };
        let listed = self.pages("prompts", PROMPTS_MAX, pages).await?;
        let mut room = ICONS_BYTES_MAX;
        Ok(listed.iter().filter_map(|raw| read_prompt(raw, &mut room)).collect())
    }

    /// The lines of the resources and templates that hold all of these words. The caller bounds the
    /// time.
    pub(super) async fn resources(&self, search: &str) -> Result<ToolOutput, String> {
        let resources = |cursor| {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(params))
        };
        let templates = |cursor| {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(
                params,
            ))
        };
        let resources = self.pages("resources", RESOURCES_MAX, resources).await?;
        // Many servers have none, and refuse the question.
        let templates = self.pages("resourceTemplates", RESOURCES_MAX, templates).await;
        let text = found(&self.server, search, &resources, &templates.unwrap_or_default());
        Ok(ToolOutput { text, ..ToolOutput::default() })
    }

    /// All entries of a list. `request` makes the request for a page from its cursor.
    async fn pages(
        &self,
        key: &str,
        entries_max: usize,
        request: impl Fn(Option<String>) -> ClientRequest,
    ) -> Result<Vec<Value>, String> {
        let (mut all, mut cursor, mut cursors) = (Vec::new(), None, BTreeSet::new());
        for _ in 0..PAGES_MAX {
            let mut page = self.page_of(request(cursor.take())).await?;
            let Some(Value::Array(entries)) = page.get_mut(key).map(Value::take) else {
                return Err(format!("its answer holds no `{key}`"));
            };
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            let is_again = cursor.as_ref().is_some_and(|next| !cursors.insert(next.clone()));
            let is_known = || entries.iter().all(|entry| all.contains(entry));
            // It leads back to a page that was read before.
            if is_again && entries.len() <= all.len() && is_known() {
                return Ok(all);
            }
            all.extend(entries);
            if all.len() > entries_max {
                return Err(format!("it lists more than {entries_max} `{key}`"));
            }
            if cursor.is_none() {
                return Ok(all);
            }
        }
        Err(format!("its list has more than {PAGES_MAX} pages"))
    }

    #[expect(clippy::disallowed_methods, reason = "to list is no action; only the hub lists")]
    async fn page_of(&self, request: ClientRequest) -> Result<Value, String> {
        let options = PeerRequestOptions::no_options();
        let answer = match self.peer.send_request_with_option(request, options).await {
            Ok(handle) => handle.await_response().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(ServerResult::CustomResult(result)) => Ok(result.0),
            Ok(_) => Err("its answer has an unknown shape".to_owned()),
            Err(ServiceError::McpError(error)) => Err(in_words(&error, REASON_BYTES_MAX)),
            Err(_) => Err(self.wait_for_end_reason().await),
        }
    }
}

/// A name is typed and printed, so one that holds what cannot be seen is left out. Icons are kept
/// as far as there is room.
fn read_prompt(raw: &Value, room: &mut usize) -> Option<PromptEntry> {
    let name = name_of(raw)?;
    let arguments = raw.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let argument = |raw: &Value| {
        Some(PromptArgument {
            name: name_of(raw)?,
            title: line(raw, "title"),
            description: line(raw, "description"),
            required: raw.get("required").and_then(Value::as_bool).unwrap_or(false),
        })
    };
    Some(PromptEntry {
        name,
        title: line(raw, "title"),
        description: line(raw, "description"),
        arguments: arguments.filter_map(argument).take(ARGUMENTS_MAX).collect(),
        icons: icons(raw, room),
    })
}

fn icons(raw: &Value, room: &mut usize) -> Vec<Value> {
    let listed = raw.get("icons").and_then(Value::as_array).into_iter().flatten();
    let fits = |icon: &&Value| {
        let left = room.checked_sub(icon.to_string().len());
        left.inspect(|left| *room = *left).is_some()
    };
    listed.filter(|icon| icon.is_object()).take(ICONS_MAX).filter(fits).cloned().collect()
}

fn name_of(raw: &Value) -> Option<String> {
    let name = text_of(raw, "name")?;
    let plain = !name.is_empty() && name.chars().count() <= 200 && escape::visible(name) == name;
    plain.then(|| name.to_owned())
}

fn line(raw: &Value, key: &str) -> String {
    short(text_of(raw, key).unwrap_or_default()).trim().to_owned()
}

fn found(server: &str, search: &str, resources: &[Value], templates: &[Value]) -> String {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let matches = |raw: &&Value| {
        let keys = ["uri", "uriTemplate", "name", "title", "description", "mimeType"];
        let texts: Vec<_> = keys.iter().filter_map(|key| text_of(raw, key)).collect();
        let all = texts.join("\n").to_lowercase();
        words.iter().all(|word| all.contains(word.as_str()))
    };
    let lines =
        |entries: &[Value]| -> Vec<String> { entries.iter().filter(matches).map(told).collect() };
    let (resources, templates) = (lines(resources), lines(templates));
    let of = match words.is_empty() {
        true => String::new(),
        false => " with these words".to_owned(),
    };
    let count = |number: usize, what: &str| {
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    };
    let mut text =
        format!("{} of the server `{server}`{of}:\n", count(resources.len(), "resource"));
    push_lines(&mut text, &resources);
    if !templates.is_empty() {
        let templates_count = count(templates.len(), "template");
        text.push_str(&format!("{templates_count}, each a URI to be filled in:\n"));
        push_lines(&mut text, &templates);
    }
    text.trim_end().to_owned()
}

fn push_lines(text: &mut String, lines: &[String]) {
    for line in lines.iter().take(SHOWN_MAX) {
        text.push_str(&format!("- {line}\n"));
    }
    if let Some(more) = lines.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("… and {more} more; search with more words\n"));
    }
}

fn told(raw: &Value) -> String {
    let uri = text_of(raw, "uri").or_else(|| text_of(raw, "uriTemplate")).unwrap_or_default();
    let mut told = short(uri);
    let name = line(raw, "name");
    let title = line(raw, "title");
    match (name.is_empty(), title.is_empty() || title == name) {
        (false, true) => told.push_str(&format!(" ({name})")),
        (false, false) => told.push_str(&format!(" ({name}, “{title}”)")),
        (true, false) => told.push_str(&format!(" (“{title}”)")),
        (true, true) => {}
    }
    if let Some(mime) = text_of(raw, "mimeType") {
        told.push_str(&format!(", {}", short(mime)));
    }
    if let Some(bytes) = raw.get("size").and_then(Value::as_u64) {
        told.push_str(&format!(", {bytes} bytes"));
    }
    if is_for_user_alone(raw) {
        told.push_str(", for people");
    }
    let description = line(raw, "description");
    if !description.is_empty() {
        let cut: String = description.chars().take(DESCRIPTION_CHARS_MAX).collect();
        let more = if cut.len() < description.len() { "…" } else { "" };
        told.push_str(&format!(": {cut}{more}"));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_prompt_is_read_leniently_and_what_cannot_be_seen_has_no_name() {
        let raw = json!({"name": "review", "title": "Code review", "arguments": [
            {"name": "topic", "required": true, "description": "What\nit is about"},
            {"title": "no name"},
        ]});
        let read_prompt = |raw: &Value| read_prompt(raw, &mut ICONS_BYTES_MAX.clone());
        let prompt = read_prompt(&raw).unwrap();
        assert_eq!((prompt.name.as_str(), prompt.arguments.len()), ("review", 1));
        assert_eq!(prompt.arguments[0].description, "What it is about");
        assert_eq!(read_prompt(&json!({"name": "re\u{202e}view"})), None);
        assert_eq!(read_prompt(&json!({"name": "a\nb"})), None);
    }

    #[test]
    fn a_search_finds_what_holds_all_words_and_a_long_list_says_what_is_left() {
        let resources: Vec<Value> = (0..60)
            .map(|n| json!({"uri": format!("d://{n}"), "name": format!("Page {n}"), "size": n}))
            .collect();
        let templates = [json!({"uriTemplate": "d://{page}", "name": "a page", "title": "Any"})];
        let all = found("docs", "", &resources, &templates);
        assert!(all.starts_with("60 resources of the server `docs`:\n- d://0 (Page 0), 0 bytes\n"));
        assert!(all.contains("… and 10 more; search with more words\n1 template, each"), "{all}");
        assert!(all.ends_with("- d://{page} (a page, “Any”)"), "{all}");
        let some = found("docs", "PAGE 59", &resources, &templates);
        assert!(some.starts_with("1 resource of the server `docs` with these words:\n- d://59"));
    }
}
