//! `/remember`, `/forget` and `/memory`: an owner's own words about what is remembered. What changes
//! something is an order that the session runs, and what only looks is a call like every other.
//! Owns the words; must not know where notes lie.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{ChatCommands, ChatCommandsParts, Given, code, code_of, is_owner};
use crate::calls::Order;
use crate::domain::{DeniedBy, Origin, Outcome, SessionId, ToolCall, ToolOutput, unseen};
use crate::gate::CallContext;
use crate::store::StoreError;

const MEMORY: &str = "memory";
const OWNERS_ONLY: &str = "Only an owner may do that: what is remembered is the owner's.";
/// Notes of one page.
const PAGE_NOTES: u64 = 10;
const PAGES_MAX: u64 = 5;
/// Of the text of a note in a list, in characters.
const LINE_CHARS_MAX: usize = 120;
/// Of the text of one note that is asked for by its id.
const NOTE_CHARS_MAX: usize = 2_000;
/// Of an order in the lines about it.
const SUMMARY_CHARS_MAX: usize = 200;
const LOOK_TIME_MAX: Duration = Duration::from_secs(20);

impl ChatCommands {
    pub(super) async fn remember(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let text = given.words.trim();
        if text.is_empty() {
            let usage = "`/remember TEXT` remembers it at once, in your words. What stands before \
                         a colon is what it is about: `/remember Anna's phone: 0664 1234`.";
            return given.to.say(&self.parts().store, usage.to_owned()).await;
        }
        let summary = format!("Remember: {}", shortened(text));
        self.give_order(given, "remember", json!({ "text": text }), summary).await
    }

    pub(super) async fn forget(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let id = given.words.trim();
        if id.is_empty() || id.split_whitespace().count() > 1 {
            let usage = "`/forget ID` puts a note into the trash, from which `claw memory restore` \
                         brings it back; `/memory` shows the ids.";
            return given.to.say(&self.parts().store, usage.to_owned()).await;
        }
        let summary = format!("Forget the note {}", shortened(id));
        self.give_order(given, "forget", json!({ "id": id }), summary).await
    }

    async fn give_order(
        &self,
        given: Given<'_>,
        tool: &'static str,
        arguments: Value,
        summary: String,
    ) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, to, .. } = given;
        let parts = self.parts();
        if !is_owner(visitor) {
            return to.say(&parts.store, OWNERS_ONLY.to_owned()).await;
        }
        let order = Order {
            session: session.clone(),
            builtin: MEMORY,
            tool,
            arguments,
            summary,
            by: visitor.principal.clone(),
            to: visitor.from.clone(),
        };
        // It runs where the conversation works.
        let calls = parts.gate.calls().at(&parts.granted_in(session)?);
        match calls.freeze_order(order).await? {
            Err(why) => to.say(&parts.store, why).await,
            Ok(frozen) => to.silently(&parts.store, move |tx| frozen.write(tx)).await,
        }
    }

    pub(super) async fn memory(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let parts = self.parts();
        if !is_owner(visitor) {
            return to.say(&parts.store, OWNERS_ONLY.to_owned()).await;
        }
        let words = words.trim();
        let looked = match words.parse::<u64>() {
            _ if words.is_empty() => page(&parts, session, &visitor.principal, 1).await?,
            Ok(number @ 1..=PAGES_MAX) => page(&parts, session, &visitor.principal, number).await?,
            _ => search(&parts, session, &visitor.principal, words).await?,
        };
        to.say(&parts.store, looked.unwrap_or_else(|why| why)).await
    }
}

/// What was found, in Markdown; or a sentence about why nothing could be looked for.
type Looked = Result<String, String>;

/// The newest notes.
async fn page(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
    number: u64,
) -> Result<Looked, StoreError> {
    let arguments = json!({ "limit": PAGE_NOTES * number + 1 });
    let output = match look(parts, session, by, "recall", arguments).await? {
        Ok(output) => output,
        Err(why) => return Ok(Err(why)),
    };
    let hits = hits(&output);
    let first = (PAGE_NOTES * (number - 1)) as usize;
    let shown: Vec<String> = hits.iter().skip(first).take(PAGE_NOTES as usize).map(line).collect();
    if shown.is_empty() {
        let nothing = if number == 1 { "Nothing is remembered yet." } else { "There are no more." };
        return Ok(Ok(format!("{nothing} `/remember TEXT` remembers something at once.")));
    }
    let more = hits.len() > first + PAGE_NOTES as usize;
    let next = match more {
        true if number < PAGES_MAX => format!("`/memory {}` for older ones, ", number + 1),
        true => "`claw memory list` has all, ".to_owned(),
        false => String::new(),
    };
    Ok(Ok(format!(
        "**Remembered, the newest first**\n\n{}\n\n{next}`/memory WORDS` searches, `/memory ID` shows \
         one, `/forget ID` forgets it.",
        shown.join("\n")
    )))
}

/// One note by its id, else the notes that hold these words.
async fn search(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
    words: &str,
) -> Result<Looked, StoreError> {
    if !words.contains(char::is_whitespace)
        && let Ok(output) = look(parts, session, by, "read", json!({ "id": words })).await?
    {
        return Ok(Ok(whole(&output)));
    }
    let arguments = json!({ "query": words, "limit": PAGE_NOTES });
    let output = match look(parts, session, by, "recall", arguments).await? {
        Ok(output) => output,
        Err(why) => return Ok(Err(why)),
    };
    let lines: Vec<String> = hits(&output).iter().map(line).collect();
    Ok(Ok(match lines.is_empty() {
        true => format!("Nothing is remembered about {}.", code(words)),
        false => lines.join("\n"),
    }))
}

/// A call through the gate that only looks, in the owner's name.
async fn look(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
    tool: &str,
    arguments: Value,
) -> Result<Result<ToolOutput, String>, StoreError> {
    let calls = parts.gate.calls();
    let Some(server) = calls.own_server(MEMORY) else {
        return Ok(Err("There is no memory server in `mcp.json`.".to_owned()));
    };
    let call = ToolCall {
        id: calls.look_id(session)?,
        server,
        tool: tool.to_owned(),
        arguments,
        origin: Origin::Owner,
        principal: by.to_owned(),
    };
    let context = CallContext {
        live: unseen(),
        cancel: CancellationToken::new(),
        deadline: Instant::now() + LOOK_TIME_MAX,
        turn: None,
        heard_by_others: false,
    };
    Ok(match parts.gate.call(call, context).await {
        Outcome::Ended { output } if output.is_error => Err(code(&output.text)),
        Outcome::Ended { output } => Ok(output),
        Outcome::Denied { by: Some(DeniedBy::Unasked { rule }), .. } => Err(format!(
            "{} asks about every look into the memory; allow `recall` and `read` in `policy.toml`.",
            code(&rule)
        )),
        Outcome::Denied { reason, .. } | Outcome::Unknown { reason } => Err(code(&reason)),
        Outcome::Parked { approval } => Err(format!("It waits for an answer to {approval}.")),
    })
}

fn hits(output: &ToolOutput) -> Vec<Value> {
    let hits = output.structured.as_ref().and_then(|structured| structured.get("hits"));
    hits.and_then(Value::as_array).cloned().unwrap_or_default()
}

fn said<'a>(note: &'a Value, key: &str) -> &'a str {
    note.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// `- Anna: lives in Graz (3 days ago, m7k2)`, none of it Markdown of the note's.
fn line(note: &Value) -> String {
    let text = said(note, "text").split_whitespace().collect::<Vec<_>>().join(" ");
    let subject = said(note, "subject");
    // An order without a colon is its own subject.
    let about = match text.starts_with(subject) {
        true => String::new(),
        false => format!("{} ", code_of(subject, LINE_CHARS_MAX)),
    };
    format!(
        "- {about}{} · {} · {}",
        code_of(&text, LINE_CHARS_MAX),
        said(note, "age"),
        code(said(note, "id"))
    )
}

fn whole(output: &ToolOutput) -> String {
    let note = output.structured.clone().unwrap_or_default();
    let source = note.get("source").map(|source| said(source, "who")).unwrap_or_default();
    let from = if source.is_empty() { String::new() } else { format!(", from {source}") };
    let by = said(&note, "superseded_by");
    let gone =
        if by.is_empty() { String::new() } else { format!("\n\nNo longer so: see {}.", code(by)) };
    let shown: Vec<String> = said(&note, "text")
        .chars()
        .take(NOTE_CHARS_MAX)
        .collect::<String>()
        .lines()
        .map(|line| format!("> {}", code_of(line, NOTE_CHARS_MAX)))
        .collect();
    format!(
        "**{}** ({}{from}, in {})\n\n{}{gone}",
        code(said(&note, "subject")),
        said(&note, "date"),
        code(said(&note, "path")),
        shown.join("\n>\n")
    )
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SUMMARY_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
