//! `/remember`, `/forget` and `/memory`: an owner's own words about what is remembered. What
//! changes something is an order that the session runs, and what only looks is a call like every
//! other. Owns the words; must not know where notes lie.

use serde_json::{Value, json};

use super::own::{Looked, Own, shortened};
use super::{ChatCommands, ChatCommandsParts, Given, code, code_of, is_owner};
use crate::domain::{OwnServerName, SessionId, ToolOutput};
use crate::store::StoreError;

const MEMORY: Own = Own {
    builtin: OwnServerName::Memory,
    named: "memory server",
    looks: "look into the memory",
    readers: "`recall` and `read`",
    owners_only: "Only an owner may do that: what is remembered is the owner's.",
};
/// Notes of one page.
const PAGE_NOTES: u64 = 10;
const PAGES_MAX: u64 = 5;
/// Of the text of a note in a list, in characters.
const LINE_CHARS_MAX: usize = 120;
/// Of the text of one note that is asked for by its id.
const NOTE_CHARS_MAX: usize = 2_000;
/// Files that a page names because they have to be mended.
const FAULTY_NAMED_MAX: usize = 3;
/// Of what is wrong with a file, in characters.
const FAULT_CHARS_MAX: usize = 200;
/// The option for a line of every prompt; a phone makes one dash of two.
const ALWAYS: [&str; 3] = ["--always", "—always", "–always"];

impl ChatCommands {
    pub(super) async fn remember(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let text = given.words.trim();
        if is_nothing(text) {
            let usage = "`/remember TEXT` remembers it at once, in your words. What stands before \
                         a colon is what it is about: `/remember Anna's phone: 0664 1234`. \
                         `/remember --always TEXT` puts one line into `MEMORY.md`, which the \
                         model has before it in every message.";
            return given.to.say(&self.parts().store, usage.to_owned()).await;
        }
        if let Some(line) = for_every_prompt(text) {
            let summary = format!("Remember in every prompt: {}", shortened(line));
            let arguments = json!({ "text": line, "where": "always" });
            return self.give_order(given, MEMORY.order("remember", arguments, summary)).await;
        }
        let summary = format!("Remember: {}", shortened(text));
        let arguments = json!({ "text": text });
        self.give_order(given, MEMORY.order("remember", arguments, summary)).await
    }

    pub(super) async fn forget(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let id = given.words.trim();
        if id.is_empty() {
            let parts = self.parts();
            let usage = format!(
                "`/forget ID` puts a note into the trash, from which `{} memory restore` brings it \
                 back; `/memory` shows the ids.",
                parts.gate.calls().claw()
            );
            return given.to.say(&parts.store, usage).await;
        }
        let is_word = is_owner(given.visitor) && !looks_like_an_id(id);
        if is_word && !is_note(&self.parts(), given.session, &given.visitor.principal, id).await? {
            return self.offer_to_forget(given, id).await;
        }
        let summary = format!("Forget the note {}", shortened(id));
        self.give_order(given, MEMORY.order("forget", json!({ "id": id }), summary)).await
    }

    /// Words name no note: those that hold them are listed, and nothing is forgotten.
    async fn offer_to_forget(
        &self,
        given: Given<'_>,
        words: &str,
    ) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, to, .. } = given;
        let parts = self.parts();
        if !is_owner(visitor) {
            return to.say(&parts.store, MEMORY.owners_only.to_owned()).await;
        }
        let found = by_words(&parts, session, &visitor.principal, words).await?;
        let found = found.unwrap_or_else(|why| why);
        let told = format!("{found}\n\nNothing was forgotten. `/forget ID` forgets one note.");
        to.say(&parts.store, told).await
    }

    pub(super) async fn memory(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let parts = self.parts();
        if !is_owner(visitor) {
            return to.say(&parts.store, MEMORY.owners_only.to_owned()).await;
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

/// The newest notes.
async fn page(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
    number: u64,
) -> Result<Looked, StoreError> {
    let arguments = json!({ "limit": PAGE_NOTES * number + 1 });
    let output = match MEMORY.look(parts, session, by, "recall", arguments).await? {
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
    let to_mend = match number {
        1 => to_mend(parts, session, by).await?,
        _ => String::new(),
    };
    let next = match more {
        true if number < PAGES_MAX => format!("`/memory {}` for older ones, ", number + 1),
        true => format!("`{} memory list` has all, ", parts.gate.calls().claw()),
        false => String::new(),
    };
    Ok(Ok(format!(
        "**Remembered, the newest first**\n\n{}{to_mend}\n\n{next}`/memory WORDS` searches, `/memory ID` \
         shows one, `/forget ID` forgets it.",
        shown.join("\n")
    )))
}

/// Files that only their owner can bring in order. A look that fails says nothing: the
/// page is there.
async fn to_mend(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
) -> Result<String, StoreError> {
    let arguments = json!({ "what": "faulty", "limit": FAULTY_NAMED_MAX + 1 });
    let Ok(output) = MEMORY.look(parts, session, by, "list", arguments).await? else {
        return Ok(String::new());
    };
    let listed = output.structured.as_ref().and_then(|structured| structured.get("notes"));
    let faulty = listed.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut text = String::new();
    for note in faulty.iter().take(FAULTY_NAMED_MAX) {
        text.push_str(&format!("\n- ⚠ {}: {}", code(said(note, "path")), fault(note)));
    }
    if faulty.len() > FAULTY_NAMED_MAX {
        let claw = parts.gate.calls().claw();
        text.push_str(&format!("\n- ⚠ and more: `{claw} memory check` names them all."));
    }
    Ok(if text.is_empty() { text } else { format!("\n\n**To be mended by hand**\n{text}") })
}

fn fault(note: &Value) -> String {
    match said(note, "fault") {
        "" => "a conflict copy, which is not searched".to_owned(),
        fault => code_of(fault, FAULT_CHARS_MAX),
    }
}

/// One note by its id, else the notes that hold these words.
async fn search(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
    words: &str,
) -> Result<Looked, StoreError> {
    if !words.contains(char::is_whitespace)
        && let Ok(output) = MEMORY.look(parts, session, by, "read", json!({ "id": words })).await?
    {
        return Ok(Ok(namesakes(&output, words).unwrap_or_else(|| whole(&output))));
    }
    by_words(parts, session, by, words).await
}

/// The notes that hold these words, each with its id.
async fn by_words(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
    words: &str,
) -> Result<Looked, StoreError> {
    let arguments = json!({ "query": words, "limit": PAGE_NOTES });
    let output = match MEMORY.look(parts, session, by, "recall", arguments).await? {
        Ok(output) => output,
        Err(why) => return Ok(Err(why)),
    };
    let lines: Vec<String> = hits(&output).iter().map(line).collect();
    let remark = output.structured.as_ref().map(|structured| said(structured, "remark"));
    let remark = match remark.unwrap_or_default() {
        "" => String::new(),
        remark => format!("\n\n{}", code_of(remark, FAULT_CHARS_MAX)),
    };
    Ok(Ok(match lines.is_empty() {
        true => format!("Nothing is remembered about {}.{remark}", code(words)),
        false => format!("{}{remark}", lines.join("\n")),
    }))
}

/// Whether it is written as claw writes the ids of notes and proposals.
fn looks_like_an_id(word: &str) -> bool {
    word.starts_with('m')
        && word.chars().all(|c| c.is_ascii_alphanumeric())
        && word.contains(|c: char| c.is_ascii_digit())
}

/// Whether it is the id or the file of a note. A name is neither: other notes may hold it.
async fn is_note(
    parts: &ChatCommandsParts,
    session: &SessionId,
    by: &str,
    word: &str,
) -> Result<bool, StoreError> {
    if word.contains(char::is_whitespace) {
        return Ok(false);
    }
    let read = MEMORY.look(parts, session, by, "read", json!({ "id": word })).await?;
    let note = read.ok().and_then(|output| output.structured);
    Ok(note.is_some_and(|note| [said(&note, "id"), said(&note, "path")].contains(&word)))
}

/// Several notes have the name that was given: a short list to choose from.
fn namesakes(output: &ToolOutput, name: &str) -> Option<String> {
    let newest = output.structured.as_ref()?;
    let others = newest.get("same_name").and_then(Value::as_array).filter(|all| !all.is_empty())?;
    let text = said(newest, "text").split_whitespace().collect::<Vec<_>>().join(" ");
    let first = (text.as_str(), said(newest, "age"), said(newest, "id"));
    let others = others.iter().map(|one| (said(one, "begins"), said(one, "age"), said(one, "id")));
    let all: Vec<String> = std::iter::once(first)
        .chain(others)
        .map(|(text, age, id)| {
            format!("- {} · {age} · {}", code_of(text, LINE_CHARS_MAX), code(id))
        })
        .collect();
    Some(format!(
        "**{} notes are named {}**\n\n{}\n\n`/memory ID` shows one.",
        all.len(),
        code(name),
        all.join("\n")
    ))
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
    let to_mend = if said(note, "fault").is_empty() { "" } else { " · ⚠ to be mended by hand" };
    // A hit that does not hold the words says why it came.
    let why = match said(note, "why") {
        "" => String::new(),
        why => format!(" · {}", code_of(why, LINE_CHARS_MAX)),
    };
    format!(
        "- {about}{} · {}{}{why}{to_mend} · {}",
        code_of(&text, LINE_CHARS_MAX),
        said(note, "age"),
        of_agent(note),
        code(said(note, "id"))
    )
}

/// `, from agent work`, where it is another agent's.
fn of_agent(note: &Value) -> String {
    match said(note, "of") {
        "" => String::new(),
        agent => format!(", from agent {}", code(agent)),
    }
}

fn whole(output: &ToolOutput) -> String {
    let note = output.structured.clone().unwrap_or_default();
    let source = note.get("source").map(|source| said(source, "who")).unwrap_or_default();
    let from = if source.is_empty() { String::new() } else { format!(", from {source}") };
    let by = said(&note, "superseded_by");
    let mut gone =
        if by.is_empty() { String::new() } else { format!("\n\nNo longer so: see {}.", code(by)) };
    if !said(&note, "fault").is_empty() {
        gone.push_str(&format!("\n\n⚠ To be mended by hand: {}", fault(&note)));
    }
    let shown: Vec<String> = said(&note, "text")
        .chars()
        .take(NOTE_CHARS_MAX)
        .collect::<String>()
        .lines()
        .map(|line| format!("> {}", code_of(line, NOTE_CHARS_MAX)))
        .collect();
    format!(
        "**{}** ({}{from}{}, in {})\n\n{}{gone}",
        code(said(&note, "subject")),
        said(&note, "date"),
        of_agent(&note),
        code(said(&note, "path")),
        shown.join("\n>\n")
    )
}

/// What stands behind `--always`.
fn for_every_prompt(text: &str) -> Option<&str> {
    let (option, line) = text.split_once(char::is_whitespace)?;
    ALWAYS.contains(&option).then(|| line.trim())
}

/// An option without its line, or punctuation without a word.
fn is_nothing(text: &str) -> bool {
    ALWAYS.contains(&text) || !text.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_alone_and_punctuation_are_nothing_to_remember() {
        for text in ["", "--always", "—always", ":", " - "] {
            assert!(is_nothing(text), "{text}");
        }
        for text in ["--always Likes cake.", "Anna: Graz", "42", "蛋糕"] {
            assert!(!is_nothing(text), "{text}");
        }
    }
}
