//! Whether what ran without a yes of its own ran by a grant that was given, had not ended, and was
//! asked for; and whether a grant answers the open questions that it covers together with its being
//! given. Must not know who gave it, or by which door.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::effects::asks;
use super::findings::Findings;
use super::log::Use;
use super::look::{Audited, Look};

/// A grant of the store.
struct Grant {
    id: i64,
    tool: String,
    /// The question whose answer gave it; empty for one that was given by a command.
    approval: String,
    revoked_ms: Option<i64>,
}

fn grants(look: &Look) -> rusqlite::Result<Vec<Grant>> {
    look.all("SELECT id, tool, coalesce(approval, ''), revoked_ms FROM grants ORDER BY id", |row| {
        Ok(Grant {
            id: row.get(0)?,
            tool: row.get(1)?,
            approval: row.get(2)?,
            revoked_ms: row.get(3)?,
        })
    })
}

/// What may not be so at any moment, also not right after a kill: a question that waits though the
/// mode of its session lets its call through.
pub fn torn(look: &Look) -> rusqlite::Result<Vec<String>> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_millis());
    let sql = format!(
        "SELECT a.id, g.id FROM grants AS g
         JOIN approvals AS a ON a.session = g.session AND a.state = 'waiting' AND a.expires_ms > {now}
         JOIN calls AS c ON c.id = a.call AND c.principal = g.principal AND c.cwd <> ''
         WHERE g.tool = 'mode' AND g.server = 'claw' AND g.revoked_ms IS NULL
           AND c.server = 'filesystem' AND c.tool = 'move' AND c.state = 'waiting'"
    );
    let rows: Vec<(String, i64)> = look.all(&sql, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows
        .into_iter()
        .map(|(id, grant)| {
            format!("the question {id} waits, and the mode of grant {grant} covers it")
        })
        .collect())
}

/// `said_yes`: whether somebody has given a standing yes by this question, or by a command if it is
/// empty, as they remember it themselves.
pub fn judge(
    look: &Look,
    uses: &[Use],
    said_yes: impl Fn(&str) -> bool,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let (grants, audit) = (grants(look)?, look.audit()?);
    findings.seen.grants += grants.len();
    findings.other.extend(torn(look)?);
    let mut given: BTreeMap<i64, usize> = BTreeMap::new();
    for (at, row) in audit.iter().enumerate() {
        let id = match row.kind.as_str() {
            "answered" => row.body["grant"]["id"].as_i64(),
            "mode" => row.body["grant"].as_i64(),
            _ => None,
        };
        if let Some(earlier) = id.and_then(|id| given.insert(id, at)) {
            findings.doubled.push(format!("the grant of audit row {earlier} was given twice"));
        }
    }
    for grant in &grants {
        if !given.contains_key(&grant.id) {
            findings.lost.push(format!("the audit does not know grant {}", grant.id));
        }
        if !said_yes(&grant.approval) {
            let text =
                format!("there is grant {} ({}), and nobody has given it", grant.id, grant.tool);
            findings.other.push(text);
        }
    }
    let approvals = look.approvals()?;
    let lists: BTreeSet<&str> =
        approvals.iter().filter(|one| one.is_list()).map(|one| one.id.as_str()).collect();
    answers_come_with_their_grant(&audit, &given, &lists, findings);
    for one in uses.iter().filter(|one| asks(&one.id)) {
        let Some(started) =
            audit.iter().position(|row| row.kind == "started" && row.call == one.call)
        else {
            continue;
        };
        let rule = |row: &&Audited| row.kind == "verdict" && row.call == one.call;
        let rule = audit[..started].iter().rev().find(rule).map(|row| row.body["rule"].clone());
        let rule = rule.as_ref().and_then(Value::as_str).unwrap_or_default();
        let Some(id) = rule.strip_prefix("grant.").and_then(|id| id.parse::<i64>().ok()) else {
            let yes = audit[..started].iter().any(|row| {
                row.kind == "answered"
                    && row.call == one.call
                    && row.body["answer"]["kind"] == "allow"
            });
            if !yes {
                findings.other.push(format!("{} ran by {rule:?}, and nobody has said yes", one.id));
            }
            continue;
        };
        findings.seen.by_grant += 1;
        let holds = given.get(&id).is_some_and(|at| *at < started)
            && grants.iter().any(|grant| {
                grant.id == id && grant.revoked_ms.is_none_or(|at| audit[started].at_ms <= at)
            });
        if !holds {
            findings.other.push(format!("{} ran by grant {id}, which did not hold then", one.id));
        }
    }
    Ok(())
}

/// What a grant has answered stands right behind the row that gave it: they are one transaction.
fn answers_come_with_their_grant(
    audit: &[Audited],
    given: &BTreeMap<i64, usize>,
    lists: &BTreeSet<&str>,
    findings: &mut Findings,
) {
    // The last call of a list closes it, which has a row of its own.
    let closes_list = |row: &Audited| {
        row.kind == "answered" && row.body["approval"].as_str().is_some_and(|id| lists.contains(id))
    };
    let by =
        |row: &Audited| row.body["covered_by"]["id"].as_i64().filter(|_| row.kind == "answered");
    for (at, row) in audit.iter().enumerate() {
        let Some(id) = by(row) else { continue };
        findings.seen.settled += 1;
        let together = given.get(&id).is_some_and(|given| {
            *given < at
                && audit[given + 1..at].iter().all(|one| by(one) == Some(id) || closes_list(one))
        });
        if !together {
            findings.other.push(format!(
                "{} was answered by grant {id} at another moment than that was given",
                row.body["approval"]
            ));
        }
    }
}
