//! How SQLite finds the rows of every query of the memory: what may walk through a table, and why.
//! Tests alone.

use std::path::Path;

use claw_test_kit::plans::Plans;

use crate::copies::SHADOWED;
use crate::index::Index;
use crate::vectors::store::{Store, WITHOUT};

/// Beginnings of the queries that walk through a table, and why they may.
const WALKS: &[(&str, &str)] = &[
    ("SELECT row, 0.0 FROM notes WHERE ?1 IS NULL ORDER BY dated", "ends at its limit"),
    ("SELECT count(*) FROM notes;", "numbers alone, in the smallest index"),
    ("SELECT key FROM links", "once a change of the notes"),
    (
        "SELECT row, id, subject FROM notes WHERE row IN (SELECT row FROM links) ORDER",
        "all of the graph",
    ),
    ("SELECT path, fault FROM notes", "the report is about every note"),
    ("SELECT path, id FROM notes n WHERE", "the report is about every note"),
    ("SELECT path, superseded_by FROM notes n", "the report is about every note"),
    ("SELECT path FROM notes;", "the check compares every row"),
    ("SELECT (SELECT count(*) FROM tags", "the check compares every row"),
    ("SELECT row, path FROM notes;", "the comparison with all files"),
    ("SELECT n.digest, n.subject", "ends at its limit; what it passes has its vector"),
    ("SELECT count(*) FROM notes.notes", "where vectors are made"),
    ("SELECT count(*) {WITHOUT};", "where vectors are made"),
    ("DELETE FROM vectors WHERE digest NOT IN", "where vectors are made"),
    ("SELECT rowid, digest, vector FROM vectors NOT INDEXED", "each vector is compared"),
    ("SELECT row, digest, subject, body FROM notes.notes", "the trial, once in a while"),
];

#[test]
fn no_query_walks_through_all_notes() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path()).unwrap();
    let vectors = Store::open(folder.path(), &index.path).unwrap();
    let plans = Plans {
        little: &[],
        small: &[],
        walks: WALKS,
        parts: &[
            ("{COLUMNS}", &["*"]),
            ("{STARTS}", &["dated"]),
            ("{SHADOWED}", &[SHADOWED]),
            ("{WITHOUT}", &[WITHOUT]),
            ("{schema}", &["notes"]),
            ("{condition}", &["path = ?", "row = ?"]),
            ("{}", &[SHADOWED]),
        ],
    };
    plans.hold(&vectors.db, &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), 50);
}
