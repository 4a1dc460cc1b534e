//! How SQLite finds the rows of every query of the scheduler: what may walk through a table, and
//! why.

use std::path::Path;

use claw_test_kit::plans::Plans;

use crate::store;

/// Beginnings of the queries that walk through a table, and why they may.
const WALKS: &[(&str, &str)] = &[
    (
        "DELETE FROM history WHERE seq < (SELECT",
        "ends at the first young row; what is before it goes",
    ),
    (
        "DELETE FROM firings WHERE seq < (SELECT",
        "ends at the first young row; what is before it goes",
    ),
    ("SELECT coalesce(sum(count), 0) FROM history", "at most `--history-rows-max` rows"),
];

#[test]
fn no_query_walks_through_a_table_that_grows() {
    let folder = tempfile::tempdir().unwrap();
    let db = store::open(&folder.path().join("jobs.db")).unwrap();
    let plans = Plans {
        little: &[("jobs", "at most `--jobs-max` rows"), ("sqlite_sequence", "one row a table")],
        small: &["firings_due", "firings_due_job"],
        walks: WALKS,
        parts: &[("{COLUMNS}", &["*"])],
    };
    plans.hold(&db, &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store"), 25);
}
