//! How SQLite finds the rows of every query of the store: what may walk through a table, and why.

use claw_test_kit::plans::Plans;

use super::*;

/// Tables that stay small, whatever happens, and why.
const LITTLE: &[(&str, &str)] = &[
    ("clients", "one row a program that calls claw"),
    ("guests", "one row a person whom the owner has let in"),
    ("launches", "one row a server"),
    ("pins", "one row a tool of a server"),
    ("running", "calls that run at this moment"),
    ("sqlite_master", "one row a table or an index"),
    ("sqlite_sequence", "one row a table"),
];

/// Indexes that hold only what is under way or in force.
const SMALL: &[&str] = &[
    "grants_live",
    "inbox_queued",
    "calls_started",
    "client_calls_open",
    "approvals_waiting",
    "posted_open",
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
    ("SELECT day, until_ms, boot, up_ms FROM daily_digests", "ends at the newest with a day"),
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

#[test]
fn no_query_walks_through_a_table_that_grows() {
    let rig = Rig::new();
    drop(rig.open());
    let conn = Connection::open(rig.path()).unwrap();
    let plans = Plans { little: LITTLE, small: SMALL, walks: WALKS, parts: PARTS };
    plans.hold(&conn, &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), 250);
}
