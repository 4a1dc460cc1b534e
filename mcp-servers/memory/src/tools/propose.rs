//! `propose`: what should be remembered, put beside the notes until somebody says yes.

mod always;

use claw_kit::killpoint;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::shown::About as Shown;
use super::{About, Answer, Effect, KeptIn, Reply, SharedMemory, ToolDef, in_file};
use crate::always::Fullness;
use crate::asked::{self, AskedProposal, May, OPEN_S};
use crate::caller::Caller;
use crate::error::{Result, ToolError};
use crate::find;
use crate::index::Entry;
use crate::index::words::Query;
use crate::memory::Memory;
use crate::note::write::{changes_of, new_file};
use crate::note::{Kind, Note, Source, one_line, time};
use crate::proposal::{self, Wanted, excerpt};
use crate::recall::{self, Question};
use crate::same::{Relation, is_same, relation};
use crate::writer::Writer;

/// Notes of the same words that are shown beside a proposal.
const SIMILAR_MAX: usize = 3;
/// Other notes of the same subject that its owner reads beside it.
const BESIDE_MAX: usize = 2;
/// Characters of one of them.
const BESIDE_CHARS_MAX: usize = 160;

/// Characters of the question that a host shows; it takes 500.
const SUMMARY_CHARS_MAX: usize = 480;

pub fn tool() -> ToolDef {
    About {
        name: "propose",
        title: "Propose a note",
        description: "Proposes to remember something. Nothing is remembered yet: the proposal lies beside the notes, is not found by \
                      recall, and becomes a note when its owner says yes (promote). Only what will matter in weeks, and few: one \
                      proposal for each fact, short, in words that can be understood without the conversation. Look with recall \
                      first; if a note says something else about the same, name it in `replaces`. What is known already or was \
                      asked before is not asked again; the result says so. `where` \"always\" is for the few lines that every prompt \
                      has to hold; that file is small.",
        effect: Effect::Adds,
    }
    .tool(|shared: &SharedMemory, input| shared.with(|memory| run(memory, input)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What it is about, in a few words: a name or a topic.
    subject: String,
    /// What is to be remembered, as Markdown. `[[Name]]` links to the note of that subject.
    text: String,
    /// `note` (the default), or `always`: one line of the file that every prompt holds.
    #[serde(default, rename = "where")]
    place: KeptIn,
    /// With `always`: the line of that file that goes, as it stands there. With an empty text it is
    /// only taken out.
    #[serde(default)]
    replaces_line: Option<String>,
    /// Default: fact.
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    #[schemars(description = "Words under which notes are filed.")]
    tags: Vec<String>,
    /// Other names of the subject.
    #[serde(default)]
    aliases: Vec<String>,
    /// Who said it, and where. A host that knows better overrides it.
    #[serde(default)]
    source: Source,
    /// From when on it is so, such as 2026-11-23, if it is not simply so now.
    #[serde(default)]
    valid_from: Option<String>,
    /// The id of the note that would not be so any more.
    #[serde(default)]
    replaces: Option<String>,
}

#[derive(Default, Serialize, JsonSchema)]
struct Output {
    /// Whether its owner is asked now.
    is_proposed: bool,
    /// For promote, which remembers it, and forget, which drops it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// What exactly would be remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The file as it would be stored, or the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// How full the file that every prompt holds would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    always: Option<Fullness>,
    /// That file has no room: what to do, for its owner. Nothing is proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    full: Option<String>,
    /// The note that says so already. Nothing is proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Beside>,
    /// The day on which the same was asked in this conversation. Nothing is proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_on: Option<String>,
    /// The note that it would replace, or add to.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<Beside>,
    /// Whether it says all that the note says, and more: that note gets the new words.
    #[serde(skip_serializing_if = "super::is_false")]
    adds_to_it: bool,
    /// Notes of the same subject that say something else and would stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beside: Vec<Beside>,
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

impl Beside {
    fn new(memory: &Memory, entry: &Entry) -> Self {
        Self { about: Shown::new(&memory.whose, entry, None, false), text: entry.note.body.clone() }
    }
}

fn run(memory: &mut Memory, input: Input) -> Answer<Output> {
    if input.place == KeptIn::Always {
        return always::run(memory, input);
    }
    if input.replaces_line.is_some() {
        return Err(ToolError::BadArguments(
            "`replaces_line` is for `where` \"always\"; a note is named by its id in `replaces`."
                .into(),
        ));
    }
    note(memory, input)
}

fn note(memory: &mut Memory, input: Input) -> Answer<Output> {
    let wanted = Wanted {
        subject: input.subject,
        text: input.text,
        kind: input.kind,
        tags: input.tags,
        aliases: input.aliases,
        source: proposal::source(memory, input.source),
        valid_from: super::time_of("valid_from", input.valid_from.as_deref())?,
    };
    let mut note = wanted.into_note(&memory.limits)?;
    let is_heard = memory.is_heard_by_others();
    let (named, same) = noted(memory, input.replaces.as_deref(), &note.subject)?;
    if is_heard && is_noted_word_for_word(memory, &note)? {
        return Ok(is_known_to_the_owner().with_meta(JsonObject::new()));
    }
    let is = |old: &Entry, what| relation(&old.note.body, &note.body) == what;
    let known = named.iter().chain(&same).find(|old| is(old, Relation::Known));
    let is_of_others = is_heard || memory.caller.as_ref().is_some_and(Caller::is_somebody_else);
    if let Some(known) = known {
        let told = if is_of_others { is_known_to_the_owner() } else { is_known(memory, known) };
        return Ok(told.with_meta(JsonObject::new()));
    }
    let replaced = named.or_else(|| same.iter().find(|old| is(old, Relation::Adds)).cloned());
    let adds = replaced.as_ref().is_some_and(|old| is(old, Relation::Adds));
    note.supersedes = replaced.as_ref().map(|entry| entry.id.clone());
    let kept = kept(memory, &mut note, false, |writer, note| {
        proposal::keep(writer, note, replaced.as_ref())
    })?;
    let entry = match kept {
        Ok(entry) => entry,
        Err(asked) => {
            let is_theirs = asked.is_from_where(&note);
            return Ok(was_asked(&asked, is_theirs).with_meta(JsonObject::new()));
        }
    };
    let beside = |entry: &Entry| Beside::new(memory, entry);
    let stays = |old: &&Entry| note.supersedes.as_deref() != Some(old.id.as_str());
    let mut output = Output {
        is_proposed: true,
        id: Some(entry.id.clone()),
        version: Some(entry.version()),
        text: Some(new_file(&changes_of(&entry.note), &entry.note.body)),
        beside: same.iter().filter(stays).take(BESIDE_MAX).map(&beside).collect(),
        similar: if is_heard { Vec::new() } else { similar(memory, &entry.note, &same)? },
        replaces: replaced.as_ref().map(&beside),
        adds_to_it: adds,
        ..Output::default()
    };
    let meta = actions(&output, &entry);
    if is_of_others {
        // The question shows the owner what is noted; the result goes to who asks.
        (output.beside, output.similar, output.replaces) = (Vec::new(), Vec::new(), None);
        output.adds_to_it = false;
    }
    Ok(Reply { text: text_of(&output, &entry), structured: output }.with_meta(meta))
}

/// Keeps a proposal by `keep`, and notes down that it is asked about; the one of this very call if
/// it is there already, and the error is what was asked before. Under one lock, so that of two
/// servers that are asked at once one asks.
fn kept(
    memory: &mut Memory,
    note: &mut Note,
    is_always: bool,
    keep: impl FnOnce(&Writer<'_>, &mut Note) -> Result<Entry>,
) -> Result<std::result::Result<Entry, AskedProposal>> {
    memory.write(|writer| {
        Ok(match asked::may_ask(writer.memory, note, is_always)? {
            May::AskedAlready(asked) => Err(asked),
            May::Again(open) => Ok(*open),
            May::Ask => {
                let entry = keep(writer, note)?;
                killpoint::here("memory-proposed");
                asked::note_down(writer.memory, note)?;
                Ok(entry)
            }
        })
    })
}

fn is_known(memory: &Memory, known: &Entry) -> Reply<Output> {
    let text = format!(
        "Nothing to ask: it is remembered already, {}.\n{}",
        in_file(known),
        known.note.body
    );
    let structured = Output { known: Some(Beside::new(memory, known)), ..Output::default() };
    Reply { text, structured }
}

/// The note that is to be replaced, and those of the subject. What stands beside a question is read
/// by everybody in its chat, so nothing does where others read along.
fn noted(
    memory: &Memory,
    replaces: Option<&str>,
    subject: &str,
) -> Result<(Option<Entry>, Vec<Entry>)> {
    if memory.is_heard_by_others() {
        return Ok((None, Vec::new()));
    }
    let named = replaces.map(|id| find::note(&memory.index.db, id)).transpose()?;
    if let Some(old) = &named {
        proposal::is_current(memory, old, None)?;
    }
    Ok((named, proposal::same_subject(memory, subject)?))
}

/// Whether a note of this subject has these very words. Whoever hears a yes to less could find out
/// word by word what is noted.
fn is_noted_word_for_word(memory: &Memory, note: &Note) -> Result<bool> {
    let same = proposal::same_subject(memory, &note.subject)?;
    Ok(same.iter().any(|old| is_same(&old.note.body, &note.body)))
}

/// What is noted is the owner's to know, and somebody else asks.
fn is_known_to_the_owner() -> Reply<Output> {
    let text = "Nothing to ask: it is remembered already.".to_owned();
    Reply { text, structured: Output::default() }
}

/// What it said is told to those alone who have read it: the same conversation, the same origin.
fn was_asked(asked: &AskedProposal, is_theirs: bool) -> Reply<Output> {
    let day = time::day(asked.at);
    let answer = match asked.closed_at {
        Some(_) => "its owner has not said yes to it",
        None => "it waits for its owner's answer",
    };
    let mut text = format!(
        "Its owner is not asked about this a second time: the same was proposed before, and \
         {answer}. {} days after that it can be proposed anew. To keep it now, its owner types \
         /remember and the words in claw.",
        OPEN_S / 86_400,
    );
    if is_theirs {
        text.push_str(&format!(" It was on {day}, and said:\n{}", asked.text));
    }
    let structured = Output { asked_on: is_theirs.then_some(day), ..Output::default() };
    Reply { text, structured }
}

fn similar(memory: &Memory, note: &Note, same: &[Entry]) -> Result<Vec<Beside>> {
    let words = Query::of(&format!("{} {}", note.subject, note.body));
    let question = Question { words, limit: SIMILAR_MAX, ..Question::default() };
    let hits = recall::hits(&memory.index.db, &question)?;
    let is_shown = |id: &str| {
        note.supersedes.as_deref() == Some(id) || same.iter().any(|entry| entry.id == id)
    };
    let others = hits.into_iter().filter(|hit| !is_shown(&hit.entry.id));
    Ok(others
        .map(|hit| Beside {
            about: Shown::new(&memory.whose, &hit.entry, None, hit.is_to_come),
            text: hit.entry.note.body,
        })
        .collect())
}

/// What a host that stages actions asks its owner (docs/servers.md of claw). Others ignore it. The
/// arguments hold the words that will be stored, so that what is frozen is what is shown.
fn actions(output: &Output, entry: &Entry) -> JsonObject {
    let note = &entry.note;
    let mut arguments = json!({
        "id": entry.id, "version": entry.version(), "subject": note.subject, "text": note.body,
    });
    let mut summary = format!("Remember “{}”: {}", note.subject, one_line(&note.body));
    if let Some(replaced) = &output.replaces {
        arguments["instead_of"] = Value::from(excerpt(&replaced.text));
        let how = if output.adds_to_it { "adds to" } else { "instead of" };
        summary.push_str(&format!(" ({how} “{}”)", one_line(&replaced.text)));
    }
    if !output.beside.is_empty() {
        let beside: Vec<String> = output.beside.iter().map(beside_line).collect();
        arguments["beside"] = Value::from(beside);
    }
    question(&arguments, summary, ("Remember", "Skip"))
}

/// The question itself; `labels` are those of yes and no.
fn question(arguments: &Value, mut summary: String, labels: (&str, &str)) -> JsonObject {
    if summary.chars().count() > SUMMARY_CHARS_MAX {
        summary = summary.chars().take(SUMMARY_CHARS_MAX).chain(['…']).collect();
    }
    let action = json!([{
        "tool": "promote",
        "arguments": arguments,
        "summary": summary,
        "label": labels.0,
        "cancel_label": labels.1,
        "ttl_s": OPEN_S,
        "group": "memory",
    }]);
    JsonObject::from_iter([("claw/actions".to_owned(), action)])
}

/// `Likes tea. (2026-03-01)`, and whose it is if it is another agent's.
fn beside_line(beside: &Beside) -> String {
    let text = one_line(&beside.text);
    let mut shown: String = text.chars().take(BESIDE_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    let of = beside.about.of.as_ref().map(|of| format!(", from agent {of}")).unwrap_or_default();
    format!("{shown} ({}{of})", beside.about.date)
}

fn text_of(output: &Output, entry: &Entry) -> String {
    let mut text = format!(
        "Not remembered yet: proposal [{}] waits for its owner's yes (promote with version {}). It says:\n{}\n",
        entry.id,
        entry.version(),
        entry.note.body
    );
    if let Some(replaced) = &output.replaces {
        let how = if output.adds_to_it { "It would add to" } else { "It would replace" };
        text.push_str(&format!("{how} {}\n  {}\n", replaced.about.line(), replaced.text));
    }
    for one in &output.beside {
        text.push_str(&format!(
            "Another note of that name says otherwise or something else, and would stay: {}\n  {}\n",
            one.about.line(),
            one.text
        ));
    }
    if !output.beside.is_empty() {
        text.push_str("If one of them is not so any more, propose with `replaces`.\n");
    }
    for one in &output.similar {
        text.push_str(&format!("Similar: {}\n", one.about.line()));
    }
    text
}
