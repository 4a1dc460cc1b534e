//! How SQLite finds the rows of every query: no look at a table that grows walks through all of it,
//! but for those that are named here with the reason. The statements are read from the sources of
//! the store, so that none can be forgotten.

use std::fs;

use super::*;

/// Tables that stay small, whatever happens.
const LITTLE: &[&str] = &[
    "blocked",
    "clients",
    "daily_digests",
    "drafts",
    "kept_windows",
    "guests",
    "launches",
    "meta",
    "pin_forms",
    "pins",
    "running",
    "session_models",
    "session_roles",
    "sqlite_master",
    "sqlite_sequence",
    "trust",
];

/// Indexes that hold only what is under way.
const SMALL: &[&str] = &[
    "grants_live",
    "inbox_queued",
    "outbox_waiting",
    "calls_open",
    "calls_started",
    "client_calls_open",
    "approvals_waiting",
    "posted_live",
    "posted_open",
    "updates_kept",
    "owner_questions_to_show",
];

/// Beginnings of the queries that walk through a table, and why they may.
const WALKS: &[(&str, &str)] = &[
    ("SELECT id, at_ms, kind, call, body, prev, hash FROM audit", "the proof is about every row"),
    ("SELECT id, at_ms, body FROM audit WHERE kind", "once, where the proof finds a stand-in"),
    ("SELECT id FROM audit WHERE hash", "a repair looks for the place of one row"),
    ("SELECT id FROM audit AS line", "ends at the oldest of the lines that are asked for"),
    ("SELECT id FROM audit WHERE at_ms", "ends at the first young row; what is before it goes"),
    ("DELETE FROM inbox WHERE id IN", "ends at the first young row; what is before it goes"),
    ("DELETE FROM outbox WHERE id IN", "ends at the first young row; what is before it goes"),
    ("DELETE FROM posted WHERE (address", "once a day, over what retention has left"),
    ("SELECT kept.digest, bytes, call", "once a day and in a list of all; each has a file"),
    ("SELECT session, seq, body FROM events", "the doctor reads every event"),
    ("SELECT * FROM inbox WHERE state <>", "the doctor reads every row that waits"),
    ("SELECT * FROM outbox ORDER BY", "the doctor reads every row"),
    ("SELECT * FROM approvals ORDER BY", "the doctor reads every question"),
    ("SELECT * FROM grants", "the doctor reads every row"),
    ("SELECT * FROM {table}", "the doctor reads every row of the tables that are not named here"),
    ("DELETE FROM {table} WHERE {which}", "the doctor takes one row out, by its key"),
    ("SELECT name FROM pragma_table_info", "the columns of one table"),
    ("SELECT DISTINCT session FROM events AS log", "the doctor reads every event"),
    ("SELECT CASE WHEN json_valid(body) THEN json_extract(body, '$.through')", "the doctor, once"),
    ("SELECT * FROM calls", "the doctor reads every call"),
    (
        "SELECT call, session FROM approvals WHERE state = 'waiting' AND expires_ms",
        "the doctor looks for their calls",
    ),
    (
        "SELECT id FROM calls WHERE state = 'waiting' AND id NOT IN",
        "the doctor looks for their questions",
    ),
    ("SELECT * FROM updates ORDER BY", "the doctor reads every row"),
    ("SELECT * FROM overheard ORDER BY", "the doctor reads every row"),
    ("SELECT body FROM put_aside", "the doctor looks for files that nothing names"),
    ("SELECT body FROM events", "the doctor looks for files that nothing names"),
    ("SELECT outcome FROM calls", "the doctor looks for files that nothing names"),
    ("SELECT body FROM outbox WHERE state <>", "the doctor looks for files that nothing names"),
    ("SELECT name, created_ms, last_ms", "the list of all sessions"),
    ("SELECT name FROM sessions", "one look a session, at the start after an unclean end"),
];

/// Of which calls rows are listed.
const BEGUN_AT: &str = "WHERE id >= ?1 AND NOT EXISTS (SELECT 1 FROM audit AS older
    WHERE older.call = audit.call AND older.call <> '' AND older.id < ?1) ORDER BY id";

/// What stands for the placeholders of texts that are put together.
const PARTS: &[(&str, &[&str])] = &[
    ("{COLUMNS}", &["*"]),
    ("{CLIENT}", &["*"]),
    ("{CALL}", &["*"]),
    ("{of_client}", &["", "WHERE name = ?1 OR (name >= ?2 AND name < ?3)"]),
    ("{UNASKED}", &["(rule GLOB 'grant.*' OR NOT EXISTS
        (SELECT 1 FROM approvals WHERE approvals.call = calls.id AND approvals.state = 'approved'))"]),
    (
        "{which}",
        &[
            "WHERE id > ?1 ORDER BY id LIMIT ?2",
            "WHERE call = ?1 AND call <> '' ORDER BY id",
            BEGUN_AT,
        ],
    ),
    (
        "WHERE {which} AND",
        &["WHERE door = ?1 AND address = ?2 AND", "WHERE door = ?1 AND session = ?2 AND"],
    ),
    (
        "{THROUGH}",
        &[
            "WHERE address = ?1 AND session = ?2 AND (turn_seq < ?3 OR turn_seq = ?3 AND step <= ?4)",
        ],
    ),
];

/// Every text in the sources that is a statement about rows.
fn statements() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".rs") || name == "schema.rs" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for literal in literals(code) {
            let literal = literal.split_whitespace().collect::<Vec<_>>().join(" ");
            let verb = literal.split(' ').next().unwrap_or_default();
            if ["SELECT", "UPDATE", "DELETE", "INSERT"].contains(&verb) && literal.contains(' ') {
                found.push((name.clone(), literal));
            }
        }
    }
    found
}

/// The texts in quotes, outside of comments.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    rest = rest.replace("'\"'", "' '");
    let mut chars = rest.chars();
    while chars.by_ref().any(|c| c == '"') {
        let mut text = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => text.extend(chars.next().filter(|next| *next != '\n')),
                other => text.push(other),
            }
        }
        found.push(text);
    }
    found
}

/// The same with every part that can stand in it.
fn put_together(statement: &str) -> Vec<String> {
    let mut all = vec![statement.to_owned()];
    for (part, texts) in PARTS.iter().rev() {
        all = all
            .into_iter()
            .flat_map(|sql| {
                if sql.contains(part) {
                    texts.iter().map(|text| sql.replace(part, text)).collect()
                } else {
                    vec![sql]
                }
            })
            .collect();
    }
    all
}

/// The steps of a plan that walk through a growing table.
fn walks(conn: &Connection, sql: &str) -> Vec<String> {
    let explained = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}"));
    let mut query = explained.unwrap_or_else(|error| panic!("{error}: {sql}"));
    let steps = query
        .raw_query()
        .mapped(|row| row.get::<_, String>(3))
        .map(Result::unwrap)
        .collect::<Vec<_>>();
    steps
        .into_iter()
        .filter(|step| {
            let Some(walked) = step.strip_prefix("SCAN ") else { return false };
            let table = walked.split(' ').next().unwrap_or_default();
            // What a statement itself has put together, or has no table for.
            let passing = walked.starts_with('(') || table == "CONSTANT";
            let small = SMALL.iter().any(|index| step.ends_with(&format!("INDEX {index}")));
            !passing && !small && !LITTLE.contains(&table)
        })
        .collect()
}

#[test]
fn no_query_walks_through_a_table_that_grows() {
    let rig = Rig::new();
    drop(rig.open());
    let conn = Connection::open(rig.path()).unwrap();
    let statements = statements();
    assert!(
        statements.len() > 100,
        "the sources of the store hold more statements: {}",
        statements.len()
    );
    let mut wrong = Vec::new();
    for (file, statement) in &statements {
        if WALKS.iter().any(|(begins, _)| statement.starts_with(begins)) {
            continue;
        }
        for sql in put_together(statement) {
            let found = walks(&conn, &sql);
            if !found.is_empty() {
                wrong.push(format!("{file}: {sql}\n    {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "these read a whole table:\n{}", wrong.join("\n"));
    for (begins, why) in WALKS {
        assert!(
            statements.iter().any(|(_, sql)| sql.starts_with(begins)),
            "nothing begins with `{begins}` any more ({why})"
        );
    }
}

#[test]
fn a_query_without_an_index_is_named() {
    let rig = Rig::new();
    drop(rig.open());
    let conn = Connection::open(rig.path()).unwrap();
    assert_eq!(walks(&conn, "SELECT id FROM outbox WHERE at_ms = ?1").len(), 1);
    assert_eq!(walks(&conn, "SELECT id FROM audit WHERE id = ?1").len(), 0);
    assert_eq!(literals("a(\"SELECT \\\n    1\", '\"') // \"no\"")[0], "SELECT     1");
}
