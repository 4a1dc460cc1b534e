//! The one quiet line under an answer: which calls of its turn ran by a grant without a question,
//! and which a rule or the stop switch has denied. Owns its words; must not know how an answer is
//! shown.

use crate::domain::{Outcome, SessionId, escape};
use crate::store::{Store, StoreError};
use crate::turn::Turn;
use crate::turn::state::Ended;

/// How many tools of each kind are named.
const NAMED_MAX: usize = 4;
/// By what the names of rules begin; a limit or a stop is none.
const RULES: &[&str] = &["policy.toml", "builtin.", "class.", "grant.", "agents"];
/// Names of what has failed, and of what the model got wrong: no rule of anybody.
const FAILURES: &[&str] =
    &["builtin.store", "builtin.bug", "builtin.shutdown", "builtin.tool", "builtin.schema"];
const STOP_SWITCH: &str = "builtin.panic";

/// The line of one turn in Markdown, where there is something to say. It depends on rows alone that
/// do not change any more, so that a later process says the same.
pub fn of_turn(
    store: &Store,
    session: &SessionId,
    turn_seq: u64,
) -> Result<Option<String>, StoreError> {
    let (mut granted, mut denied, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
    let events = store.read(|tx| tx.events_from(session, turn_seq))?;
    for Ended { call, outcome, .. } in Turn::of(session, &events).results {
        let Some(row) = store.read(|tx| tx.call(call))? else { continue };
        let tool = escape::visible(&format!("{}/{}", row.server, row.tool)).replace('`', "'");
        match outcome {
            Outcome::Denied { reason } if rule_of(reason) == Some(STOP_SWITCH) => {
                stopped.push(tool)
            }
            Outcome::Denied { reason } if rule_of(reason).is_some() => denied.push(tool),
            Outcome::Ended { .. } | Outcome::Unknown { .. } if row.rule.starts_with("grant.") => {
                granted.push(tool)
            }
            _ => {}
        }
    }
    Ok(line(&granted, &denied, &stopped))
}

/// A denial of the gate ends with the name of its rule.
fn rule_of(reason: &str) -> Option<&str> {
    let (_, name) = reason.strip_suffix(')')?.rsplit_once('(')?;
    (RULES.iter().any(|start| name.starts_with(start)) && !FAILURES.contains(&name)).then_some(name)
}

fn line(granted: &[String], denied: &[String], stopped: &[String]) -> Option<String> {
    let kinds = [
        ("Without a question, by a grant", granted),
        ("Denied by a rule", denied),
        ("Denied by the stop switch", stopped),
    ];
    let said: Vec<String> = kinds
        .iter()
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
        assert_eq!(line(&[], &[], &[]), None);
        let said = line(
            &tools(&["bash run", "files write", "bash run"]),
            &tools(&["git push"]),
            &tools(&["a"]),
        )
        .unwrap();
        assert_eq!(
            said,
            "*Without a question, by a grant: `bash run` ×2, `files write`. Denied by a rule: `git push`. \
             Denied by the stop switch: `a`.*"
        );
        let many = line(&tools(&["a", "b", "c", "d", "e", "f"]), &[], &[]).unwrap();
        assert!(many.ends_with("`d`, and 2 more.*"), "{many}");
    }

    #[test]
    fn a_rule_denies_by_its_name_and_a_limit_does_not() {
        assert_eq!(rule_of("no pushing (policy.toml, rule 2)"), Some("policy.toml, rule 2"));
        assert_eq!(rule_of("it wipes the disk; instead, ask (builtin.wipe)"), Some("builtin.wipe"));
        assert_eq!(rule_of("`path` is missing (builtin.schema)"), None);
        for other in [
            "the owner said no: (later)",
            "the turn's time was up before it ran (limits.turn_time_s)",
            "no",
        ] {
            assert_eq!(rule_of(other), None, "{other}");
        }
    }
}
