//! A look into claw's store from outside, in plain SQL: what is kept of updates, what waits to be
//! sent, which message shows which question. Must not know what any of it should be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::killing::look::{Look, json};

/// What a kill left behind: the oracle explains with it what came twice.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// Rows of the outbox with a part on its way: it may have gone out or not.
    pub sending: Vec<i64>,
    /// Updates that were kept and not handled to their end.
    pub kept: BTreeSet<i64>,
    /// Calls that were started and have no end.
    pub started: BTreeSet<String>,
    /// For each open question, how many messages on record show it.
    pub posted: BTreeMap<String, usize>,
    /// Questions whose first message is not on record yet.
    pub unasked: BTreeSet<String>,
    /// How many calls Telegram had seen by then.
    pub calls: usize,
}

pub struct OutboxRow {
    pub id: i64,
    pub session: String,
    /// When it was written, in milliseconds since 1970.
    pub at_ms: i64,
    pub body: Value,
}

pub struct InboxRow {
    pub id: i64,
    pub session: String,
    pub kind: String,
    pub text: String,
}

pub struct Question {
    pub id: String,
    pub call: String,
    pub session: String,
    pub state: String,
    pub answer: Value,
    pub by: String,
    /// The question about all of its list, if there is one: of a staged action, or of a call that
    /// was asked about together with others.
    pub list: Option<String>,
    /// Its number in such a list of calls, from one on.
    pub number: Option<usize>,
    /// It asks about several calls.
    pub is_list: bool,
}

pub fn left(look: &Look, calls: usize) -> rusqlite::Result<Left> {
    let sending = look.all("SELECT id FROM outbox WHERE state = 'sending'", |row| row.get(0))?;
    let kept = look.all("SELECT id FROM updates WHERE state = 'kept'", |row| row.get(0))?;
    let started = look.all("SELECT id FROM calls WHERE state = 'started'", |row| row.get(0))?;
    let posted: Vec<String> = look.all(
        "SELECT p.approval FROM posted AS p JOIN approvals AS a ON a.id = p.approval
         WHERE p.state = 'open' AND a.state = 'waiting'",
        |row| row.get(0),
    )?;
    let unasked = look.all(
        "SELECT json_extract(body, '$.body.question.approval') FROM outbox
         WHERE state <> 'sent' AND json_extract(body, '$.body.type') = 'question'",
        |row| row.get(0),
    )?;
    let mut counted = BTreeMap::new();
    posted.into_iter().for_each(|approval| *counted.entry(approval).or_default() += 1);
    Ok(Left {
        sending,
        kept: kept.into_iter().collect(),
        started: started.into_iter().collect(),
        posted: counted,
        unasked: unasked.into_iter().collect(),
        calls,
    })
}

pub fn outbox(look: &Look) -> rusqlite::Result<Vec<OutboxRow>> {
    look.all("SELECT id, session, at_ms, body FROM outbox ORDER BY id", |row| {
        let body = json(row, 3)?["body"].clone();
        Ok(OutboxRow { id: row.get(0)?, session: row.get(1)?, at_ms: row.get(2)?, body })
    })
}

pub fn inbox(look: &Look) -> rusqlite::Result<Vec<InboxRow>> {
    look.all("SELECT id, session, kind, body FROM inbox ORDER BY id", |row| {
        let text =
            json(row, 3)?["body"]["blocks"][0]["text"].as_str().unwrap_or_default().to_owned();
        Ok(InboxRow { id: row.get(0)?, session: row.get(1)?, kind: row.get(2)?, text })
    })
}

/// The updates by their number at Telegram, with what became of each.
pub fn updates(look: &Look) -> rusqlite::Result<BTreeMap<i64, String>> {
    Ok(look
        .all("SELECT id, state FROM updates", |row| Ok((row.get(0)?, row.get(1)?)))?
        .into_iter()
        .collect())
}

pub fn questions(look: &Look) -> rusqlite::Result<Vec<Question>> {
    let sql = "SELECT a.id, a.call, a.session, a.state, coalesce(a.answer, 'null'), coalesce(a.decided_by, ''), l.id,
                      a.list, (SELECT i.key + 1 FROM approvals AS t, json_each(t.question, '$.list.items') AS i
                               WHERE t.id = a.list AND json_extract(i.value, '$.approval') = a.id),
                      json_extract(a.question, '$.list') IS NOT NULL
               FROM approvals AS a LEFT JOIN staged AS s ON s.call = a.call
               LEFT JOIN approvals AS l ON l.call = s.list AND l.call <> a.call ORDER BY a.asked_ms, a.id";
    look.all(sql, |row| {
        Ok(Question {
            id: row.get(0)?,
            call: row.get(1)?,
            session: row.get(2)?,
            state: row.get(3)?,
            answer: json(row, 4)?,
            by: row.get(5)?,
            list: row.get::<_, Option<String>>(7)?.or(row.get(6)?),
            number: row.get::<_, Option<i64>>(8)?.and_then(|number| usize::try_from(number).ok()),
            is_list: row.get(9)?,
        })
    })
}

/// What is not at rest at the door, beside what is not in the sessions.
pub fn unrest(look: &Look) -> rusqlite::Result<Vec<String>> {
    let mut unrest = look.unrest()?;
    for (what, sql) in [
        ("updates that are not handled", "SELECT count(*) FROM updates WHERE state = 'kept'"),
        ("outbox rows on their way", "SELECT count(*) FROM outbox WHERE state = 'sending'"),
        (
            "messages on record that still show a question",
            "SELECT count(*) FROM posted WHERE state NOT IN ('closed', 'why closed')",
        ),
    ] {
        let count = look.count(sql)?;
        if count != 0 {
            unrest.push(format!("{count} {what}"));
        }
    }
    Ok(unrest)
}
