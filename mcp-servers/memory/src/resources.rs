//! Single notes as MCP resources: `memory://notes/ID`. Owns the address of a note, pages, and what
//! a resource says of itself. Must not know the tools.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{
    CacheScope, ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use rusqlite::params;

use crate::copies;
use crate::error::ToolError;
use crate::find;
use crate::memory::Memory;
use crate::note::Kind;
use crate::writer::read as read_file;

/// The address of a note is this and its id, or its path where it has none of its own.
const BEFORE: &str = "memory://notes/";

/// What is not plain in a URI (RFC 3986), but for `/`.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

const MIME: &str = "text/markdown";

/// Notes of one page.
const PAGE: usize = 100;

/// A page says by this that it was ours, before the path behind which the next one begins.
const CURSOR: &str = "after:";

/// Notes change at any time, and are their owner's alone.
const TTL_MS: u64 = 0;
const SCOPE: CacheScope = CacheScope::Private;

/// The notes by their paths, without conflict copies.
///
/// # Errors
/// The cursor is none of ours, or the index cannot be read.
pub fn list(memory: &Memory, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let after = match cursor {
        None => "",
        Some(cursor) => cursor.strip_prefix(CURSOR).ok_or_else(|| {
            ErrorData::invalid_params("the cursor is none that this server has given", None)
        })?,
    };
    let mut pages = page(memory, after).map_err(|error| failed(&error.into()))?;
    let has_more = pages.len() > PAGE;
    pages.truncate(PAGE);
    let next = pages.last().filter(|_| has_more).map(|(path, _)| format!("{CURSOR}{path}"));
    let resources = pages.into_iter().map(|(_, resource)| resource).collect();
    let mut listed =
        ListResourcesResult::with_all_items(resources).with_ttl_ms(TTL_MS).with_cache_scope(SCOPE);
    listed.next_cursor = next;
    Ok(listed)
}

fn page(memory: &Memory, after: &str) -> rusqlite::Result<Vec<(String, Resource)>> {
    memory
        .index
        .db
        .prepare_cached(&format!(
            "SELECT path, id, kind, subject FROM notes n WHERE path > ?1 AND NOT {}
             ORDER BY path LIMIT ?2",
            copies::SHADOWED
        ))?
        .query_map(params![after, PAGE as i64 + 1], |row| {
            let (path, id): (String, String) = (row.get(0)?, row.get(1)?);
            let (kind, subject): (String, String) = (row.get(2)?, row.get(3)?);
            let kind = Kind::of(&kind).unwrap_or_default().as_str();
            let resource = Resource::new(uri(&id), path.clone())
                .with_title(subject)
                .with_description(format!("A note: {kind}"))
                .with_mime_type(MIME);
            Ok((path, resource))
        })?
        .collect()
}

/// How an address is made of an id.
pub fn templates() -> ListResourceTemplatesResult {
    let note = ResourceTemplate::new(format!("{BEFORE}{{id}}"), "note")
        .with_title("A note")
        .with_description("One note as its Markdown file, by the id that recall and list show.")
        .with_mime_type(MIME);
    ListResourceTemplatesResult::with_all_items(vec![note])
        .with_ttl_ms(claw_server_kit::tools::LIST_TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

/// The file of a note, front matter included.
///
/// # Errors
/// There is no such note (the protocol's own error), or it cannot be read.
pub fn read(memory: &Memory, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || {
        let data = serde_json::json!({ "uri": uri });
        ErrorData::resource_not_found(format!("there is no note `{uri}`"), Some(data))
    };
    let id = uri.strip_prefix(BEFORE).and_then(decoded).ok_or_else(unknown)?;
    let entry = match find::note(&memory.index.db, &id) {
        Err(ToolError::NoNote { .. }) => return Err(unknown()),
        found => found.map_err(|error| failed(&error))?,
    };
    let found = read_file(&memory.notes, &entry.path, memory.limits.note_bytes_max);
    let (entry, text) = found.map_err(|error| failed(&error))?.ok_or_else(unknown)?;
    // Of a file that is no text the index has what can be read, and says what is wrong.
    let text = match (text.is_empty(), &entry.note.fault) {
        (true, Some(fault)) => format!("{}\n[{fault}]", entry.note.body),
        _ => text,
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(MIME);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(TTL_MS).with_cache_scope(SCOPE))
}

fn failed(error: &ToolError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// The address of a note.
pub fn uri(id: &str) -> String {
    format!("{BEFORE}{}", utf8_percent_encode(id, ESCAPED))
}

/// `None` if the bytes are no text.
fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_an_address_that_leads_back() {
        for id in ["m7k2", "a/b c.md", "北京/é%2F.md", "?#[]", "%"] {
            let uri = uri(id);
            assert!(uri.is_ascii() && !uri.contains([' ', '?', '#']), "{uri}");
            assert_eq!(decoded(uri.strip_prefix(BEFORE).unwrap()).as_deref(), Some(id));
        }
        // A template of RFC 6570 escapes `/` as well.
        assert_eq!(decoded("a%2Fb.md").as_deref(), Some("a/b.md"));
        assert_eq!(decoded("%ff"), None);
        for no_escape in ["%", "%2", "%zz", "%+1"] {
            assert_eq!(decoded(no_escape).as_deref(), Some(no_escape));
        }
    }
}
