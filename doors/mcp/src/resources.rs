//! A client's sessions and what the audit says of its calls, as resources that can be read, where
//! that is configured. Must not know what a log is.

use rmcp::model::{
    CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::caller::Caller;

const SESSIONS: &str = "claw://sessions";
/// Before the client's own name of a session.
const SESSION: &str = "claw://sessions/";
const AUDIT: &str = "claw://audit";
/// What stands for the session that has no name.
const USUAL: &str = "_";
const JSON: &str = "application/json";
/// Rows of one session; `session_read` gives the rest.
const ROWS_MAX: usize = 200;

/// Whether there are any.
pub fn are_offered(caller: &Caller) -> bool {
    caller.clients().settings().resources
}

/// All of them, the lists first.
///
/// # Errors
/// The store cannot be read.
pub fn list(caller: &Caller) -> Result<ListResourcesResult, ErrorData> {
    let mut resources = Vec::new();
    if are_offered(caller) {
        let of = |uri: String, name: &str, words: &str| {
            Resource::new(uri, name).with_description(words).with_mime_type(JSON)
        };
        resources.push(of(SESSIONS.into(), "sessions", "Your conversations with the agent."));
        resources.push(of(AUDIT.into(), "audit", "What the audit says of your calls, the newest."));
        let mut names: Vec<String> = caller
            .clients()
            .sessions(&caller.client)
            .map_err(broken)?
            .into_iter()
            .map(|row| row.session.unwrap_or_else(|| USUAL.to_owned()))
            .collect();
        names.sort();
        resources.extend(names.into_iter().map(|name| {
            of(format!("{SESSION}{name}"), &format!("session {name}"), "One of your sessions.")
        }));
    }
    Ok(ListResourcesResult::with_all_items(resources)
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private))
}

/// How the address of a session is made.
pub fn templates(caller: &Caller) -> ListResourceTemplatesResult {
    let session = ResourceTemplate::new(format!("{SESSION}{{name}}"), "session")
        .with_description("One of your sessions; `_` is your usual one.")
        .with_mime_type(JSON);
    let templates = if are_offered(caller) { vec![session] } else { Vec::new() };
    ListResourceTemplatesResult::with_all_items(templates)
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private)
}

/// Reads one.
///
/// # Errors
/// There is none at this address, or it is another client's.
pub fn read(caller: &Caller, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let none = || {
        let text = format!("there is no resource `{}` here", crate::domain::escape::visible(uri));
        ErrorData::resource_not_found(text, Some(json!({ "uri": uri })))
    };
    if !are_offered(caller) {
        return Err(none());
    }
    let (clients, client) = (caller.clients(), &caller.client);
    let text = match (uri, uri.strip_prefix(SESSION)) {
        (SESSIONS, _) => json!(clients.sessions(client).map_err(broken)?).to_string(),
        (AUDIT, _) => json!(clients.audit(client).map_err(broken)?).to_string(),
        (_, Some(own)) => {
            let own = Some(own).filter(|own| *own != USUAL);
            let session = caller.session(own).map_err(|_| none())?;
            let part = clients.read_session(client, &session, 0, ROWS_MAX).map_err(|_| none())?;
            json!(part).to_string()
        }
        _ => return Err(none()),
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

fn broken(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
