//! `claw memory list`: the notes, the proposals or the trash, or what holds some words.

use std::collections::BTreeSet;
use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::{Value, json};

use super::{row, said, tool};
use crate::{fail, out};

#[derive(Default)]
pub struct Wanted {
    /// Nothing, or words to look for.
    pub words: String,
    pub kind: Option<String>,
    pub tag: Option<String>,
    pub proposals: bool,
    pub trash: bool,
}

/// Notes of one page, and hits of one search.
const PAGE: u64 = 100;
const HITS: u64 = 50;

/// What came of a list, for the sentence below it.
#[derive(Default)]
struct Listed {
    shown: u64,
    /// In all, whatever the filters are.
    total: u64,
    /// Proposals in the trash that nothing brings back.
    closed_proposals: u64,
}

pub async fn run(
    claw: &str,
    notes: &Notes,
    wanted: Wanted,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let is_search = !wanted.words.trim().is_empty();
    let listed = match is_search {
        true => searched(notes, &wanted, as_json).await?,
        false => pages(notes, &wanted, as_json).await?,
    };
    if !as_json {
        told(claw, &wanted, &listed).iter().for_each(|line| out::err_line(&out::clean(line)));
    }
    Ok(ExitCode::from(fail::DONE))
}

async fn searched(notes: &Notes, wanted: &Wanted, as_json: bool) -> anyhow::Result<Listed> {
    let arguments = json!({
        "query": wanted.words, "kind": wanted.kind, "tag": wanted.tag, "limit": HITS,
    });
    let found = tool(notes, "recall", arguments).await?.structured;
    let mut listed = Listed::default();
    for hit in found["hits"].as_array().into_iter().flatten() {
        listed.shown += u64::from(hit.get("why").is_none());
        print(hit, said(hit, "id"), wanted, as_json)?;
    }
    let words_left_out = found["words_left_out"].as_u64().unwrap_or_default();
    if words_left_out > 0 {
        let were = if words_left_out == 1 { "was" } else { "were" };
        out::err_line(&format!("{words_left_out} of the words {were} too many to look for."));
    }
    if !said(&found, "remark").is_empty() {
        out::err_line(&out::clean(said(&found, "remark")));
    }
    Ok(listed)
}

async fn pages(notes: &Notes, wanted: &Wanted, as_json: bool) -> anyhow::Result<Listed> {
    let what = match (wanted.proposals, wanted.trash) {
        (true, _) => "proposals",
        (_, true) => "trash",
        _ => "notes",
    };
    let (mut listed, mut seen) = (Listed::default(), BTreeSet::new());
    let mut after = Value::Null;
    loop {
        let arguments = json!({
            "what": what, "kind": wanted.kind, "tag": wanted.tag, "after": after, "limit": PAGE,
        });
        let page = tool(notes, "list", arguments).await?.structured;
        for note in page["notes"].as_array().into_iter().flatten() {
            listed.shown += 1;
            let (id, path) = (said(note, "id"), said(note, "path"));
            // An id brings back the newest of what a note was; a path any other.
            let is_by_path = path.contains("-left-over/") || !seen.insert(id.to_owned());
            // The id of a conflict copy may be the path of its original.
            let is_original = !id.ends_with(".md") || id == path;
            let is_by_path = if wanted.trash { is_by_path } else { !is_original };
            print(note, if is_by_path { path } else { id }, wanted, as_json)?;
        }
        for passed in page["passed_over"].as_array().into_iter().flatten() {
            let (path, why) = (said(passed, "path"), said(passed, "why"));
            out::err_line(&out::clean(&format!("{path} is no note: {why}")));
        }
        listed.total = page["total"].as_u64().unwrap_or_default();
        listed.closed_proposals = page["closed_proposals"].as_u64().unwrap_or_default();
        after = page["next"].clone();
        if after.is_null() {
            return Ok(listed);
        }
    }
}

fn print(note: &Value, id: &str, wanted: &Wanted, as_json: bool) -> Result<(), out::Unwritten> {
    if as_json {
        return out::line(&note.to_string());
    }
    let lines = row::lines(note, id, &wanted.words, out::columns());
    lines.iter().try_for_each(|line| out::line(line))
}

/// What to do with what is there, or why nothing is.
fn told(claw: &str, wanted: &Wanted, listed: &Listed) -> Vec<String> {
    let is_search = !wanted.words.trim().is_empty();
    let mut lines = Vec::new();
    match listed.shown {
        0 if is_search => lines.push(format!("No note{} holds one of these words.", of(wanted))),
        0 if listed.total > 0 => lines.push(none_fits(claw, wanted, listed.total)),
        0 if wanted.proposals => lines.push("Nothing waits for your yes.".to_owned()),
        0 if wanted.trash => lines.push("Nothing in the trash can be brought back.".to_owned()),
        0 => lines.push(format!(
            "Nothing is remembered yet. `{claw} memory add TEXT` remembers something."
        )),
        HITS if is_search => {
            lines.push(format!("These are the best {HITS}; other words find others."));
        }
        _ if wanted.proposals => {
            lines.push(format!("`{claw} approvals` has the questions about them."));
        }
        _ if wanted.trash => lines.push(format!("`{claw} memory restore ID` brings one back.")),
        _ => {}
    }
    match listed.closed_proposals {
        0 => {}
        1 => lines.push("1 closed proposal lies there, too; nothing brings it back.".to_owned()),
        count => lines
            .push(format!("{count} closed proposals lie there, too; nothing brings them back.")),
    }
    lines
}

/// `No note has the tag family; …`
fn none_fits(claw: &str, wanted: &Wanted, total: u64) -> String {
    let (what, option) = match (wanted.proposals, wanted.trash) {
        (true, _) => ("proposal", " --proposals"),
        (_, true) => ("note in the trash", " --trash"),
        _ => ("note", ""),
    };
    let fits = match (&wanted.kind, &wanted.tag) {
        (Some(kind), None) => format!("is of the kind {kind}"),
        (None, Some(tag)) => format!("has the tag {}", bare(tag)),
        _ => "fits all that".to_owned(),
    };
    format!("No {what} {fits}; `{claw} memory list{option}` shows all {total}.")
}

/// ` of the kind person with the tag family`
fn of(wanted: &Wanted) -> String {
    let kind = wanted.kind.as_ref().map(|kind| format!(" of the kind {kind}"));
    let tag = wanted.tag.as_ref().map(|tag| format!(" with the tag {}", bare(tag)));
    kind.into_iter().chain(tag).collect()
}

fn bare(tag: &str) -> &str {
    tag.trim_start_matches('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_leaves_nothing_is_named() {
        let tag = |words: &str| Wanted {
            words: words.into(),
            tag: Some("#family".into()),
            ..Wanted::default()
        };
        let two = Listed { total: 2, ..Listed::default() };
        assert_eq!(
            told("claw", &tag(""), &two),
            ["No note has the tag family; `claw memory list` shows all 2."]
        );
        assert_eq!(
            told("claw", &tag("park"), &Listed::default()),
            ["No note with the tag family holds one of these words."]
        );
        assert!(
            told("claw", &tag(""), &Listed::default())[0].starts_with("Nothing is remembered yet.")
        );
    }
}
