//! `propose`: what should be remembered, put beside the notes until somebody says yes.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::shown::About as Shown;
use super::{About, Answer, Effect, Reply, Shared, ToolDef};
use crate::error::Result;
use crate::find;
use crate::index::words::Query;
use crate::memory::Memory;
use crate::note::write::{changes_of, new_file};
use crate::note::{Kind, Source};
use crate::proposal::{self, Wanted};
use crate::recall::{self, Question};

/// Notes of the same words that are shown beside a proposal.
const SIMILAR_MAX: usize = 3;

/// Characters of the question that a host shows; it takes 500.
const SUMMARY_CHARS_MAX: usize = 480;

pub fn tool() -> ToolDef {
    About {
        name: "propose",
        title: "Propose a note",
        description: "Proposes to remember something. Nothing is remembered yet: the proposal lies beside the notes, is not found by \
                      recall, and becomes a note when its owner says yes (promote). One proposal for each fact, short, in words \
                      that can be understood without the conversation. Look with recall first; if a note says something else \
                      about the same, name it in `replaces`.",
        effect: Effect::Adds,
    }
    .tool(|shared: &Shared, input| shared.with(|memory| run(memory, input)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What it is about, in a few words: a name or a topic.
    subject: String,
    /// What is to be remembered, as Markdown. `[[Name]]` links to the note of that subject.
    text: String,
    /// Default: fact.
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    #[schemars(description = "Words under which notes are filed.")]
    tags: Vec<String>,
    /// Other names of the subject.
    #[serde(default)]
    aliases: Vec<String>,
    /// Who said it, and where.
    #[serde(default)]
    source: Source,
    /// From when on it is so, such as 2026-11-23, if it is not simply so now.
    #[serde(default)]
    valid_from: Option<String>,
    /// The id of the note that would not be so any more.
    #[serde(default)]
    replaces: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// For promote, which remembers it, and forget, which drops it.
    id: String,
    /// What exactly would be remembered.
    version: String,
    /// The file as it would be stored.
    text: String,
    /// The note that it would replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<Beside>,
    /// Notes that hold many of the same words: it may be known, or be said otherwise there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    similar: Vec<Beside>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Beside {
    #[serde(flatten)]
    about: Shown,
    text: String,
}

fn run(memory: &mut Memory, input: Input) -> Answer<Output> {
    let wanted = Wanted {
        subject: input.subject,
        text: input.text,
        kind: input.kind,
        tags: input.tags,
        aliases: input.aliases,
        source: input.source,
        valid_from: super::time_of("valid_from", input.valid_from.as_deref())?,
    };
    let mut note = wanted.into_note(&memory.limits)?;
    let replaced = input.replaces.map(|id| find::note(&memory.index.db, &id)).transpose()?;
    note.supersedes = replaced.as_ref().map(|entry| entry.id.clone());
    let similar = similar(memory, &note.subject, &note.body, note.supersedes.as_deref())?;
    let entry = proposal::keep(memory, &mut note)?;
    let beside = |entry: &crate::index::Entry| Beside {
        about: Shown::new(entry, None, false),
        text: entry.note.body.clone(),
    };
    let output = Output {
        id: entry.id.clone(),
        version: entry.version(),
        text: new_file(&changes_of(&note), &note.body),
        replaces: replaced.as_ref().map(beside),
        similar,
    };
    let meta = actions(&output, &note.subject, &note.body);
    Ok(Reply { text: text_of(&output, &note.body), structured: output }.with_meta(meta))
}

fn similar(
    memory: &Memory,
    subject: &str,
    text: &str,
    replaces: Option<&str>,
) -> Result<Vec<Beside>> {
    let words = Query::of(&format!("{subject} {text}"));
    let question = Question { words, limit: SIMILAR_MAX, ..Question::default() };
    let hits = recall::hits(&memory.index.db, &question)?;
    Ok(hits
        .into_iter()
        .filter(|hit| replaces != Some(hit.entry.id.as_str()))
        .map(|hit| Beside {
            about: Shown::new(&hit.entry, None, hit.is_to_come),
            text: hit.entry.note.body,
        })
        .collect())
}

/// What a host that stages actions asks its owner (docs/servers.md of claw). Others ignore it.
fn actions(output: &Output, subject: &str, body: &str) -> JsonObject {
    let mut summary = format!("Remember “{subject}”: {}", crate::note::one_line(body));
    if let Some(replaced) = &output.replaces {
        summary.push_str(&format!(
            " (instead of [{}] “{}”)",
            replaced.about.id, replaced.about.subject
        ));
    }
    if summary.chars().count() > SUMMARY_CHARS_MAX {
        summary = summary.chars().take(SUMMARY_CHARS_MAX).chain(['…']).collect();
    }
    let action = json!([{
        "tool": "promote",
        "arguments": {"id": output.id, "version": output.version},
        "summary": summary,
        "label": "Remember",
        "cancel_label": "Skip",
        "group": "memory",
    }]);
    JsonObject::from_iter([("claw/actions".to_owned(), action)])
}

fn text_of(output: &Output, body: &str) -> String {
    let mut text = format!(
        "Not remembered yet: proposal [{}] waits for its owner's yes (promote with version {}). It says:\n{body}\n",
        output.id, output.version
    );
    if let Some(replaced) = &output.replaces {
        text.push_str(&format!(
            "It would replace {}\n  {}\n",
            replaced.about.line(),
            replaced.text
        ));
    }
    for one in &output.similar {
        text.push_str(&format!("Similar: {}\n", one.about.line()));
    }
    text
}
