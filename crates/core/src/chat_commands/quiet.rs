//! The one quiet line under an answer: which calls of its turn ran by a grant without a question,
//! which a rule or the stop switch has denied, and that its files cannot be put back. Owns its
//! words; must not know how an answer is shown.

use std::collections::BTreeMap;

use crate::calls::modes;
use crate::domain::{BELIEVED, DeniedBy, Outcome, SessionId, TurnId, escape};
use crate::store::{Store, StoreError};
use crate::turn::Turn;
use crate::turn::state::Ended;
use crate::undo::{Left, TurnSnapshots};

/// How many tools of each kind are named.
const NAMED_MAX: usize = 4;

/// The line of one turn in Markdown, where there is something to say. It depends on rows alone that
/// do not change any more, so that a later process says the same.
pub fn of_turn(
    store: &Store,
    snapshots: &TurnSnapshots,
    session: &SessionId,
    turn_seq: u64,
) -> Result<Option<String>, StoreError> {
    let (mut granted, mut denied, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
    let mut believed = Vec::new();
    let mut by_mode: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let events = store.read(|tx| tx.events_from(session, turn_seq))?;
    for Ended { call, outcome, .. } in Turn::of(session, &events).results {
        let Some(row) = store.read(|tx| tx.call(call))? else { continue };
        let tool = escape::visible(&format!("{}/{}", row.server, row.tool)).replace('`', "'");
        match outcome {
            Outcome::Denied { by: Some(DeniedBy::StopSwitch), .. } => stopped.push(tool),
            Outcome::Denied { by: Some(by), .. } if by.is_rule() => denied.push(tool),
            Outcome::Ended { .. } | Outcome::Unknown { .. } if row.rule == BELIEVED => {
                believed.push(tool);
            }
            Outcome::Ended { .. } | Outcome::Unknown { .. } => {
                let Some(number) = row.rule.strip_prefix("grant.") else { continue };
                match mode_of(store, number)? {
                    Some(mode) => by_mode.entry(mode).or_default().push(tool),
                    None => granted.push(tool),
                }
            }
            _ => {}
        }
    }
    let said = line(&by_mode, &granted, &believed, &denied, &stopped);
    let no_way_back = match snapshots.left(&TurnId { session: session.clone(), seq: turn_seq }) {
        Some(Left::CannotBeUndone(why)) => Some(format!(
            "*This turn's changes cannot be undone: {}.*",
            escape::visible(&why).replace(['*', '`'], "'")
        )),
        Some(Left::Changed { .. }) | None => None,
    };
    Ok(match (said, no_way_back) {
        (Some(said), Some(no_way_back)) => Some(format!("{said} {no_way_back}")),
        (said, no_way_back) => said.or(no_way_back),
    })
}

/// `mode edits`, where the grant with this number is a mode.
fn mode_of(store: &Store, number: &str) -> Result<Option<String>, StoreError> {
    let Ok(id) = number.parse() else { return Ok(None) };
    let said = store.read(|tx| tx.grant_said(id))?;
    Ok(said.and_then(|said| modes::name_of(&said).map(str::to_owned)))
}

fn line(
    by_mode: &BTreeMap<String, Vec<String>>,
    granted: &[String],
    believed: &[String],
    denied: &[String],
    stopped: &[String],
) -> Option<String> {
    let by_mode = by_mode
        .iter()
        .map(|(mode, tools)| (format!("Without a question, by {mode}"), tools.as_slice()));
    let kinds = [
        ("Without a question, by a grant", granted),
        ("Without a question, by its server's hint", believed),
        ("Denied by a rule", denied),
        ("Denied by the stop switch", stopped),
    ];
    let said: Vec<String> = by_mode
        .chain(kinds.map(|(head, tools)| (head.to_owned(), tools)))
        .filter(|(_, tools)| !tools.is_empty())
        .map(|(head, tools)| format!("{head}: {}.", named(tools)))
        .collect();
    (!said.is_empty()).then(|| format!("*{}*", said.join(" ")))
}

fn named(tools: &[String]) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for tool in tools {
        match counted.iter_mut().find(|(known, _)| known == tool) {
            Some((_, count)) => *count += 1,
            None => counted.push((tool, 1)),
        }
    }
    let shown = counted.iter().take(NAMED_MAX).map(|(tool, count)| match count {
        1 => format!("`{tool}`"),
        more => format!("`{tool}` ×{more}"),
    });
    let mut shown: Vec<String> = shown.collect();
    if counted.len() > NAMED_MAX {
        shown.push(format!("and {} more", counted.len() - NAMED_MAX));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_names_what_ran_by_a_grant_and_what_a_rule_denied() {
        let tools = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let no_mode = BTreeMap::new();
        assert_eq!(line(&no_mode, &[], &[], &[], &[]), None);
        let said = line(
            &no_mode,
            &tools(&["bash run", "files write", "bash run"]),
            &tools(&["docs get"]),
            &tools(&["git push"]),
            &tools(&["a"]),
        )
        .unwrap();
        assert_eq!(
            said,
            "*Without a question, by a grant: `bash run` ×2, `files write`. Without a \
             question, by its server's hint: `docs get`. Denied by a rule: \
             `git push`. Denied by the stop switch: `a`.*"
        );
        let many = line(&no_mode, &tools(&["a", "b", "c", "d", "e", "f"]), &[], &[], &[]).unwrap();
        assert!(many.ends_with("`d`, and 2 more.*"), "{many}");
        let by_mode = BTreeMap::from([("mode work".to_owned(), tools(&["bash run"]))]);
        let said = line(&by_mode, &tools(&["a"]), &[], &[], &[]).unwrap();
        assert_eq!(
            said,
            "*Without a question, by mode work: `bash run`. Without a question, by a grant: `a`.*"
        );
    }
}
