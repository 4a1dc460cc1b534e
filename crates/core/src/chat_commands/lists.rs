//! The tools that a model is offered, and the calls that wait for an answer, as a chat lists them.
//! Must not know doors.

use super::code;
use crate::domain::{CallOwner, Staged, client_name_of, escape, first_sentence, tool_for_person};
use crate::gate::Gate;
use crate::hub::names::look;
use crate::store::{ApprovalRow, Store, StoreError};

pub(super) async fn tools(gate: &Gate) -> String {
    let offered = gate.catalog().offered().await;
    let mut text = String::new();
    for notice in offered.notices {
        text.push_str(&format!("{}\n\n", escape::visible(&notice)));
    }
    let mut listed = Vec::new();
    for spec in offered.specs.iter() {
        let first = first_sentence(&spec.description);
        listed.push((
            gate.catalog().resolve(&spec.name).await,
            tool_name(gate, &spec.name).await,
            first,
        ));
    }
    for (tool, name, first) in &listed {
        let others = listed.iter().filter_map(|(other, ..)| other.as_ref());
        let note = tool.as_ref().and_then(|tool| look_of(tool, others)).unwrap_or_default();
        text.push_str(&format!("- {}: {}{note}\n", code(name), escape::visible(first)));
    }
    if text.is_empty() {
        "No server offers a tool; `claw doctor` says why.".to_owned()
    } else {
        text
    }
}

/// What is odd about the look of a tool's name, or its server's, behind its line. A tool of the
/// same server that looks alike counts, too.
fn look_of<'a>(
    (server, tool): &(String, String),
    others: impl Iterator<Item = &'a (String, String)>,
) -> Option<String> {
    let others = others.filter(|(of, _)| of == server).map(|(_, other)| other.as_str());
    let twin = || {
        look::twin(tool, others)
            .map(|twin| format!("the name looks like `{twin}`, which is another tool"))
    };
    let note = look::note(server).or_else(|| look::note(tool)).or_else(twin)?;
    Some(format!(" **Take care:** {}.", escape::visible(&note).replace("\\\\", "\\")))
}

/// A tool as people read it everywhere, by the name under which models know it.
pub(super) async fn tool_name(gate: &Gate, offered: &str) -> String {
    match gate.catalog().resolve(offered).await {
        Some((server, tool)) => format!("{server}/{tool}"),
        None => tool_for_person(offered),
    }
}

pub(super) fn approvals(store: &Store) -> Result<String, StoreError> {
    let rows = store.read(|tx| tx.open_questions(None))?;
    if rows.is_empty() {
        return Ok("Nothing waits for an answer.".to_owned());
    }
    let mut text: String = rows.iter().map(approval).collect();
    text.push_str("\nAnswer where it was asked, or with `claw approve ID` or `claw deny ID`.");
    Ok(text)
}

fn approval(row: &ApprovalRow) -> String {
    let question = &row.question;
    // The arguments of a question are made visible already; what is too long for a list is whole in
    // the question.
    let shown = question
        .arguments
        .iter()
        .map(|(name, value)| format!(" · {}", code(&format!("{name}: {value}"))));
    let call = match &question.list {
        Some(list) => format!("{} things", list.items.len()),
        None => code(&format!("{}/{}", question.server, question.tool)),
    };
    let whose = match question.call.owner() {
        CallOwner::Session(session) => format!("in `{session}`"),
        CallOwner::Client(principal) => {
            let client = client_name_of(principal).unwrap_or(principal);
            format!("for the MCP client {}", code(client))
        }
        CallOwner::Claw => "for claw itself".to_owned(),
    };
    let staged =
        question.staged.as_ref().map(|staged| format!(" · {}", kind(staged))).unwrap_or_default();
    format!("- `{}` {}: {}{staged}{}\n", row.id, whose, call, shown.collect::<String>())
}

/// What sets it apart from a call that a turn waits for.
fn kind(staged: &Staged) -> String {
    match staged {
        Staged::Item { summary, number, of, .. } => {
            format!("staged, {number} of {of}: {}", code(&summary.replace('\n', " ")))
        }
        Staged::All { of } => format!("all {of} staged items"),
        Staged::Buttons { .. } => "buttons".to_owned(),
    }
}
