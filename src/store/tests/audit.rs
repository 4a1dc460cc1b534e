//! The chain of the audit: one for all processes, and every way to tamper with it is found.

use serde_json::json;

use super::*;

fn entry(n: i64) -> AuditEntry {
    AuditEntry { kind: "received", call: "main:3:0".into(), body: json!({"n": n}) }
}

async fn written(rig: &Rig, rows: i64) {
    let store = rig.open();
    for n in 1..=rows {
        store.write(move |tx| tx.audit(&entry(n))).await.unwrap();
    }
}

fn verify(rig: &Rig) -> Result<u64, Broken> {
    rig.open().read(|tx| tx.verify_audit()).unwrap()
}

#[tokio::test]
async fn two_processes_keep_one_chain() {
    let rig = Rig::new();
    let (one, two) = (rig.open(), rig.open());
    for n in 0..20 {
        let (a, b) =
            tokio::join!(one.write(move |tx| tx.audit(&entry(n))), two.write(move |tx| tx.audit(&entry(100 + n))));
        a.unwrap();
        b.unwrap();
    }
    assert_eq!(verify(&rig), Ok(40));
}

#[tokio::test]
async fn the_chain_can_be_read_in_parts() {
    let rig = Rig::new();
    written(&rig, 5).await;
    let store = rig.open();
    let ids = |rows: Vec<AuditRow>| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(store.read(|tx| tx.audit_newest(2)).unwrap()), [4, 5]);
    assert_eq!(ids(store.read(|tx| tx.audit_after(3, 10)).unwrap()), [4, 5]);
}

#[tokio::test]
async fn rows_can_be_neither_changed_nor_deleted_by_accident() {
    let rig = Rig::new();
    written(&rig, 2).await;
    let conn = Connection::open(rig.path()).unwrap();
    for sql in ["UPDATE audit SET body = '{}' WHERE id = 1", "DELETE FROM audit WHERE id = 1"] {
        assert!(conn.execute_batch(sql).unwrap_err().to_string().contains("append-only"), "{sql}");
    }
}

#[tokio::test]
async fn every_way_to_tamper_is_found_and_the_row_is_named() {
    let copied = "INSERT INTO audit SELECT 6, at_ms, kind, call, body, prev, hash FROM audit WHERE id = 5";
    let renumbered = "UPDATE audit SET id = 9 WHERE id = 5";
    for (sql, row) in [
        ("UPDATE audit SET body = '{\"n\":7}' WHERE id = 3", 3),
        ("UPDATE audit SET kind = 'started' WHERE id = 2", 2),
        ("UPDATE audit SET call = 'main:9:9' WHERE id = 2", 2),
        ("UPDATE audit SET at_ms = 1 WHERE id = 4", 4),
        ("UPDATE audit SET hash = prev WHERE id = 1", 1),
        ("DELETE FROM audit WHERE id = 3", 3),
        ("DELETE FROM audit WHERE id = 1", 1),
        ("DELETE FROM audit WHERE id = 5", 5),
        ("DELETE FROM audit WHERE id > 2", 3),
        ("DELETE FROM audit", 1),
        (copied, 6),
        (renumbered, 5),
    ] {
        let rig = Rig::new();
        written(&rig, 5).await;
        assert_eq!(verify(&rig), Ok(5));
        rig.tamper(&format!("DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete; {sql}"));
        assert_eq!(verify(&rig).unwrap_err().row, row, "{sql}");
    }
}

#[tokio::test]
async fn a_row_put_between_two_others_is_found() {
    let rig = Rig::new();
    written(&rig, 3).await;
    rig.tamper(
        "DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete;
         UPDATE audit SET id = 4 WHERE id = 3;
         INSERT INTO audit SELECT 3, at_ms, kind, call, body, prev, hash FROM audit WHERE id = 4;",
    );
    assert!(verify(&rig).is_err());
}
