//! When the copy from before a migration may go.

use super::*;

#[test]
fn the_copy_goes_only_where_nothing_can_have_changed() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy");
    std::fs::write(&copy, "before").unwrap();
    let migrated = Migrated { from: FIRST, to: FIRST + 1, copy: copy.clone() };
    let path = dir.path().join("claw.db");
    build_new(&path, &[]).unwrap();
    let mut conn = crate::connect(&path).unwrap();
    let checked = "PRAGMA foreign_keys = ON; CREATE TABLE parents(id INTEGER PRIMARY KEY);
        CREATE TABLE children(parent INTEGER REFERENCES parents(id) DEFERRABLE INITIALLY DEFERRED)";
    conn.execute_batch(checked).unwrap();
    // A commit that fails: what was put off is looked at then.
    let tx = conn.transaction().unwrap();
    tx.execute("INSERT INTO children VALUES (1)", []).unwrap();
    assert!(finish(tx, Ok(()), &migrated).is_err() && copy.exists());
    let tx = conn.transaction().unwrap();
    let broken = tx.execute_batch("nonsense").map_err(StoreError::from);
    assert!(finish(tx, broken, &migrated).is_err() && !copy.exists());
}
