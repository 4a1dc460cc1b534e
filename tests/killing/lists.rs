//! Whether a question about several calls keeps what it promises: an answer to all of it answers
//! each call that was open, with it and once; it is over with the last of its calls, and not
//! before. Must not know who answered, or by which door.

use super::findings::Findings;
use super::look::{Approval, Audited, Look};

/// What may not be so at any moment, also not right after a kill: a list that is over while one of
/// its calls waits, or that waits while none of them does.
pub fn torn(look: &Look) -> rusqlite::Result<Vec<String>> {
    let approvals = look.approvals()?;
    let waits = |id: &&String| approvals.iter().any(|one| one.id == **id && one.state == "waiting");
    let torn = approvals.iter().filter(|one| one.is_list()).filter_map(|list| {
        let open = list.members.iter().filter(waits).count();
        let half = match list.state.as_str() {
            "waiting" => open == 0,
            _ => open > 0,
        };
        half.then(|| {
            format!("the list {} is {}, and {open} of its calls wait", list.id, list.state)
        })
    });
    Ok(torn.collect())
}

pub fn judge(look: &Look, findings: &mut Findings) -> rusqlite::Result<()> {
    let (approvals, audit) = (look.approvals()?, look.audit()?);
    findings.other.extend(torn(look)?);
    let is_answer = |row: &Audited| row.kind == "answered";
    for list in approvals.iter().filter(|one| one.is_list()) {
        findings.seen.lists += 1;
        let members: Vec<&Approval> = list
            .members
            .iter()
            .filter_map(|id| approvals.iter().find(|one| one.id == *id))
            .collect();
        if members.len() != list.members.len() {
            findings.lost.push(format!("questions that the list {} asks", list.id));
        }
        let of = |id: &str| {
            let answers = audit.iter().enumerate().filter(|(_, row)| is_answer(row));
            answers.filter(|(_, row)| row.body["approval"] == *id).collect::<Vec<_>>()
        };
        let (at, answered) = match of(&list.id).as_slice() {
            [(at, row)] => (*at, *row),
            [] => {
                findings.lost.push(format!("the audit does not know what closed {}", list.id));
                continue;
            }
            more => {
                let times = more.len();
                findings.doubled.push(format!("the list {} was answered {times} times", list.id));
                continue;
            }
        };
        let with_it: Vec<&str> = answered.body["calls"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|call| call.as_str())
            .collect();
        for member in members {
            let answers = of(&member.id);
            // The last of its calls closes a list that nobody answers as a whole, and is told right
            // behind it.
            let last = if answered.body["calls"].is_array() { at } else { at + 1 };
            if answers.iter().any(|(place, _)| *place > last) {
                findings.other.push(format!(
                    "the question {} was answered after its list {} was over",
                    member.id, list.id
                ));
            }
            if answers.len() > 1 {
                let (id, times) = (&member.id, answers.len());
                findings.doubled.push(format!("the question {id} was answered {times} times"));
            }
            let as_list = member.state == list.state && member.by == list.by;
            if with_it.contains(&member.call.as_str()) && !as_list {
                findings.other.push(format!(
                    "the list {} was {} by {}, and its question {} is {} by {}",
                    list.id, list.state, list.by, member.id, member.state, member.by
                ));
            }
            findings.seen.listed += 1;
        }
    }
    Ok(())
}
