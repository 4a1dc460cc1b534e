//! `read_artifact`: a part of a text that the host has put aside, or the places in it where words
//! stand. Owns how an artifact is named and searched; must not know what the host keeps.

use std::collections::BTreeSet;
use std::io::Read as _;

use cap_std::fs::Dir;
use claw_kit::counted::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{About, Effect, Reply, ToolDef, Workspace, on_workspace};
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::text;

/// The text of one reply, which has to fit into what a host lets through.
const REPLY_BYTES_MAX: usize = 12 * 1024;
/// The largest artifact that is read.
const ARTIFACT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The beginning of a digest is enough, but not so little that it could be guessed.
const NAME_DIGITS_MIN: usize = 16;
const NAME_DIGITS: usize = 64;
const HITS_MAX: usize = 20;
const HIT_BYTES_MAX: usize = 500;
/// Of these so many before the first word.
const BEFORE_BYTES: usize = 80;
/// Places of words that are compared in a long line.
const PLACES_MAX: usize = 100;
/// Earlier parts of one conversation that a search goes back.
const PARTS_MAX: usize = 200;
/// How the first line of a part names the one before it.
const EARLIER: &str = "The part before it is artifact ";

pub fn tool() -> ToolDef {
    About {
        name: "read_artifact",
        title: "Read what was put aside",
        description: "Reads a text that is not shown any more: the rest of a long result, or an earlier part of this conversation. \
                      `artifact` is the name that stands in its place. With `search` it gives the lines that hold most of these \
                      words, of an earlier part of the conversation and of all parts before it, with their offsets.",
        effect: Effect::ReadOnly,
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The name of the artifact: 16 to 64 hexadecimal digits, also with what it came with in front
    /// (`bash-run-0123456789abcdef`), as its owner names it.
    artifact: String,
    /// Words to look for, instead of reading; case does not count.
    #[serde(default)]
    search: Option<String>,
    /// Where to begin to read, in bytes. Default: 0.
    #[serde(default)]
    offset: u64,
}

#[derive(Default, Serialize, JsonSchema)]
struct Output {
    /// The whole name.
    artifact: String,
    size_bytes: u64,
    /// What was read; empty for a search.
    content: String,
    /// Where to go on reading, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// The lines with most of the words first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hits: Vec<Hit>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Hit {
    artifact: String,
    /// Where the text begins, in bytes.
    offset: u64,
    /// The line; of a long one the 500 bytes around most of the words, with `…` where it is cut.
    text: String,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    let Some(dir) = workspace.artifacts() else {
        return Err(ToolError::Refused("This server has no artifacts.".into()));
    };
    let (name, whole) = open(dir, &input.artifact)?;
    match input.search.as_deref().map(str::trim) {
        Some("") => Err(ToolError::BadArguments("search has no word in it.".into())),
        Some(words) => search(dir, name, whole, words, cancel),
        None => read(name, &whole, input.offset),
    }
}

/// The whole name of an artifact, and its text.
fn open(dir: &Dir, named: &str) -> Result<(String, String)> {
    let named = named.trim().to_ascii_lowercase();
    let named = named.rsplit('-').next().unwrap_or_default();
    let fits = (NAME_DIGITS_MIN..=NAME_DIGITS).contains(&named.len());
    if !fits || !named.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(ToolError::BadArguments(format!(
            "`{named}` names no artifact: it is {NAME_DIGITS_MIN} to {NAME_DIGITS} hexadecimal digits, as they stand in the place \
             of what is not shown."
        )));
    }
    let fail = |error: std::io::Error| ToolError::io("read", named, &error);
    let mut found = None;
    for entry in dir.entries().map_err(fail)? {
        let name = entry.map_err(fail)?.file_name();
        if let Some(name) = name.to_str().filter(|name| name.starts_with(named)) {
            found = Some(name.to_owned());
            break;
        }
    }
    let Some(name) = found else {
        return Err(ToolError::Refused(format!(
            "There is no artifact `{named}` any more: it was removed by its owner, or because it was too old. Do without it, or \
             get what it held anew."
        )));
    };
    let mut bytes = Vec::new();
    let file = dir.open(&name).map_err(fail)?;
    file.take(ARTIFACT_BYTES_MAX).read_to_end(&mut bytes).map_err(fail)?;
    let size_bytes = bytes.len() as u64;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let guess = text::guess(error.as_bytes()).to_owned();
            Err(ToolError::NotText { path: name, guess, size_bytes })
        }
    }
}

fn read(artifact: String, whole: &str, offset: u64) -> Result<Reply<Output>> {
    let size = whole.len();
    let from = usize::try_from(offset).unwrap_or(usize::MAX);
    if from > size || (from == size && size > 0) {
        return Err(ToolError::BadArguments(format!(
            "`{artifact}` has {size} bytes, so there is nothing at {offset}."
        )));
    }
    let from = whole.ceil_char_boundary(from);
    let to = whole.floor_char_boundary(size.min(from + REPLY_BYTES_MAX));
    let content = whole.get(from..to).unwrap_or_default().to_owned();
    let next_offset = (to < size).then_some(to as u64);
    let more = next_offset.map(|next| format!("; there is more: ask with offset {next}"));
    let note =
        format!("[bytes {from} to {to} of {size} of the artifact{}]", more.unwrap_or_default());
    let text = vec![content.clone(), note];
    let size_bytes = size as u64;
    Ok(Reply::of_text(
        text,
        Output { artifact, size_bytes, content, next_offset, hits: Vec::new() },
    ))
}

fn search(
    dir: &Dir,
    artifact: String,
    whole: String,
    words: &str,
    cancel: &Cancel,
) -> Result<Reply<Output>> {
    let words: Vec<String> = words.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let size_bytes = whole.len() as u64;
    let mut found: Vec<(usize, Hit)> = Vec::new();
    let (mut name, mut part, mut parts) = (artifact.clone(), whole, 0);
    loop {
        parts += 1;
        look(&name, &part, &words, &mut found);
        // The newest part came first, and stays first among equals.
        found.sort_by_key(|(fitting, _)| std::cmp::Reverse(*fitting));
        found.truncate(HITS_MAX);
        cancel.check()?;
        let Some(earlier) = earlier(&part).filter(|_| parts < PARTS_MAX) else { break };
        // One that was removed ends the search: those before it are named nowhere else.
        let Ok(opened) = open(dir, earlier) else { break };
        (name, part) = opened;
    }
    let hits: Vec<Hit> = found.into_iter().map(|(_, hit)| hit).collect();
    let mut lines: Vec<String> = Vec::new();
    let mut bytes = 0;
    for hit in &hits {
        let short = hit.artifact.get(..NAME_DIGITS_MIN).unwrap_or_default();
        let line = format!("{short} at {}: {}", hit.offset, hit.text);
        bytes += line.len();
        if bytes <= REPLY_BYTES_MAX {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        let parts = counted(parts, "part");
        lines.push(format!("[no line holds one of these words, in {parts}]"));
    }
    let output = Output { artifact, size_bytes, hits, ..Output::default() };
    Ok(Reply::of_text(vec![lines.join("\n")], output))
}

/// The part before this one, as its first line names it.
fn earlier(part: &str) -> Option<&str> {
    let (_, named) = part.lines().next()?.split_once(EARLIER)?;
    let end = named.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(named.len());
    named.get(..end).filter(|name| name.len() == NAME_DIGITS)
}

fn look(name: &str, part: &str, words: &[String], found: &mut Vec<(usize, Hit)>) {
    let mut offset = 0;
    for line in part.split_inclusive('\n') {
        let lower = line.to_lowercase();
        let fitting = words.iter().filter(|word| lower.contains(word.as_str())).count();
        if fitting > 0 {
            let (from, text) = around(line.trim_end(), words);
            let offset = (offset + from) as u64;
            found.push((fitting, Hit { artifact: name.to_owned(), offset, text }));
        }
        offset += line.len();
    }
}

/// What of a line is shown, and where in the line it begins: all of it, or where most of the words
/// stand close together.
fn around(line: &str, words: &[String]) -> (usize, String) {
    if line.len() <= HIT_BYTES_MAX {
        return (0, line.to_owned());
    }
    // Small letters may have another length, so each place in them is taken back to the line's own.
    let (mut lower, mut places) = (String::new(), Vec::new());
    for (at, letter) in line.char_indices() {
        lower.extend(letter.to_lowercase());
        places.resize(lower.len(), at);
    }
    let place = |at: usize| places.get(at).copied().unwrap_or_default();
    let mut stands: Vec<(usize, usize)> = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let each = lower.match_indices(word.as_str()).take(PLACES_MAX);
        stands.extend(each.map(|(at, _)| (place(at), nth)));
    }
    stands.sort_unstable();
    stands.truncate(PLACES_MAX);
    let close = |from: usize| {
        let near = stands.iter().filter(|(at, _)| (from..from + HIT_BYTES_MAX / 2).contains(at));
        near.map(|(_, nth)| nth).collect::<BTreeSet<_>>().len()
    };
    // The first of those that are as good.
    let best = stands.iter().map(|(at, _)| *at).rev().max_by_key(|at| close(*at));
    let from =
        best.unwrap_or_default().saturating_sub(BEFORE_BYTES).min(line.len() - HIT_BYTES_MAX);
    let from = line.ceil_char_boundary(from);
    let to = line.floor_char_boundary(from + HIT_BYTES_MAX);
    let cut = |is: bool| if is { "…" } else { "" };
    let text = line.get(from..to).unwrap_or_default();
    (from, format!("{}{text}{}", cut(from > 0), cut(to < line.len())))
}
