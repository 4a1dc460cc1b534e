//! The chain of the audit: one for all processes, and every way to tamper with it is found.

use serde_json::json;

use std::cell::RefCell;

use super::*;

thread_local! {
    /// What happens once the seal was read, and with that the moment of a look has begun.
    static AFTER_SEAL: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// Called by the proof itself.
pub(in super::super) fn after_seal_was_read() {
    if let Some(happens) = AFTER_SEAL.take() {
        happens();
    }
}

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
    rig.open().read(|tx| tx.verify_audit(None)).unwrap().map(|whole| whole.rows)
}

#[tokio::test]
async fn two_processes_keep_one_chain() {
    let rig = Rig::new();
    let (one, two) = (rig.open(), rig.open());
    for n in 0..20 {
        let (a, b) = tokio::join!(
            one.write(move |tx| tx.audit(&entry(n))),
            two.write(move |tx| tx.audit(&entry(100 + n)))
        );
        a.unwrap();
        b.unwrap();
    }
    assert_eq!(verify(&rig), Ok(40));
}

#[test]
fn a_sound_audit_is_whole_while_another_process_never_stops_writing() {
    // As many as nobody waits for: without a bound a failure would fill the disk.
    const ROWS_MAX: i64 = 5000;
    let rig = Rig::new();
    let (writer, reader) = (rig.open(), rig.open());
    let (begun, written_once) = std::sync::mpsc::channel();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            for n in 0..ROWS_MAX {
                runtime.block_on(writer.write_relaxed(move |tx| tx.audit(&entry(n)))).unwrap();
                let _heard_once = begun.send(());
                if done.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
            }
        });
        written_once.recv().unwrap();
        let looks: Vec<_> =
            (0..25).map(|_| reader.read(|tx| tx.verify_audit(None)).unwrap()).collect();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(looks.iter().all(Result::is_ok), "{looks:?}");
    });
}

#[tokio::test]
async fn the_chain_can_be_read_in_parts() {
    let rig = Rig::new();
    written(&rig, 5).await;
    let store = rig.open();
    let ids = |rows: Vec<AuditRow>| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    let newest =
        |limit| store.read(|tx| tx.audit_after(tx.audit_before_newest(limit)?, 10)).unwrap();
    assert_eq!(ids(newest(2)), [4, 5]);
    assert_eq!(ids(newest(99)), [1, 2, 3, 4, 5]);
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
    let copied =
        "INSERT INTO audit SELECT 6, at_ms, kind, call, body, prev, hash FROM audit WHERE id = 5";
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

#[tokio::test]
async fn the_oldest_rows_can_be_cut_off_and_the_rest_is_still_proven() {
    let rig = Rig::new();
    written(&rig, 7).await;
    let store = rig.open();
    assert_eq!(store.read(|tx| tx.audit_through(i64::MAX)).unwrap(), Some(7));
    assert_eq!(store.read(|tx| tx.audit_through(0)).unwrap(), None);
    assert!(!store.write(|tx| tx.cut_audit(5, 3)).await.unwrap(), "three at once");
    assert!(store.write(|tx| tx.cut_audit(5, 3)).await.unwrap());
    assert!(store.write(|tx| tx.cut_audit(5, 3)).await.unwrap(), "nothing is left of it");
    let ids: Vec<i64> =
        store.read(|tx| tx.audit_after(0, 100)).unwrap().iter().map(|row| row.id).collect();
    assert_eq!(ids, [6, 7, 8, 9]);
    assert_eq!(verify(&rig), Ok(4));
    assert_eq!(store.read(|tx| tx.audit_cut()).unwrap().0, 5);
    written(&rig, 1).await;
    assert_eq!(verify(&rig), Ok(5));
    let conn = Connection::open(rig.path()).unwrap();
    assert!(
        conn.execute_batch("DELETE FROM audit WHERE id = 6").is_err(),
        "what is left is append-only"
    );
}

#[tokio::test]
async fn what_was_cut_off_by_hand_is_found() {
    let off = "DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete;";
    let meta =
        "INSERT OR REPLACE INTO meta SELECT 'audit.cut', id || ':' || hash FROM audit WHERE id = ";
    for (sql, row) in [
        // As retention does it, without the row that says so.
        (format!("{off} {meta} 4; DELETE FROM audit WHERE id <= 4"), 1),
        // With an older row that says something else.
        (format!("{off} DELETE FROM audit WHERE id = 3"), 3),
        (
            format!(
                "{off} UPDATE meta SET value = '1:' || substr(value, 3) WHERE key = 'audit.cut'"
            ),
            2,
        ),
        (format!("{off} DELETE FROM meta WHERE key = 'audit.cut'"), 1),
        (
            format!(
                "{off} UPDATE audit SET body = replace(body, '\"through\":2', '\"through\":3') WHERE kind = 'audit.cut'"
            ),
            7,
        ),
    ] {
        let rig = Rig::new();
        written(&rig, 6).await;
        rig.open().write(|tx| tx.cut_audit(2, 100)).await.unwrap();
        assert_eq!(verify(&rig), Ok(5));
        rig.tamper(&sql);
        assert_eq!(verify(&rig).unwrap_err().row, row, "{sql}");
    }
}

#[tokio::test]
async fn the_newest_lines_begin_where_their_calls_have_begun_however_many_rows_a_call_has() {
    let store = Rig::new().open();
    // Row 1 is of no call; `a` has rows 2 to 13, and one more behind `b` and `c`.
    let calls =
        [""].into_iter().chain(std::iter::repeat_n("a", 12)).chain(["b", "c", "a", "", "c"]);
    for call in calls {
        let entry = AuditEntry { kind: "received", call: call.into(), body: json!({}) };
        store.write(move |tx| tx.audit(&entry)).await.unwrap();
    }
    // Two lines at a time, as a list of a million is read.
    let listed = |count| {
        let begins = store.read(|tx| tx.audit_begins(count)).unwrap();
        let (mut from, mut lines) = (begins.unwrap_or(0), Vec::new());
        while let Some(first) = {
            let page = store.read(|tx| tx.audit_lines(from, 18, 2)).unwrap();
            let ids = |rows: &Vec<AuditRow>| rows.iter().map(|row| row.id).collect::<Vec<_>>();
            lines.extend(page.iter().map(ids));
            page.last().map(|rows| rows[0].id)
        } {
            from = first + 1;
        }
        (begins, lines)
    };
    let all = [vec![1], [(2..=13).collect(), vec![16]].concat(), vec![14], vec![15, 18], vec![17]];
    assert_eq!(listed(1), (Some(17), all[4..].to_vec()), "`c` goes on behind it");
    assert_eq!(listed(2), (Some(15), all[3..].to_vec()));
    assert_eq!(listed(3), (Some(14), all[2..].to_vec()), "`a` is older");
    assert_eq!(listed(4), (Some(2), all[1..].to_vec()));
    assert_eq!(listed(5), (Some(1), all.to_vec()));
    assert_eq!(listed(6), (None, all.to_vec()));
    let through = store.read(|tx| tx.audit_lines(15, 17, 9)).unwrap().concat();
    assert_eq!(through.iter().map(|row| row.id).collect::<Vec<_>>(), [15, 17], "18 came later");
}

/// Another process adds a row and notes it outside between the moment of the look and its end.
#[tokio::test]
async fn a_head_that_is_noted_during_a_look_is_no_loss() {
    let rig = Rig::new();
    let place = AnchorPlace { folder: rig.dir.path().join("state"), credential: None };
    let open = || Store::open_anchored(&rig.path(), Some(&place)).unwrap();
    let (reader, writer) = (open(), open());
    writer.write(|tx| tx.audit(&entry(1))).await.unwrap();
    writer.note_audit_head().unwrap();
    let late = writer.clone();
    AFTER_SEAL.set(Some(Box::new(move || {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(late.write(|tx| tx.audit(&entry(2)))).unwrap();
                late.note_audit_head().unwrap();
            });
        });
    })));
    let whole = reader.read(|tx| tx.verify_audit(None)).unwrap().unwrap();
    assert!(AFTER_SEAL.take().is_none(), "it happened");
    assert_eq!(whole.rows, 1, "the look is at the moment before");
    let whole = reader.read(|tx| tx.verify_audit(None)).unwrap().unwrap();
    assert!(matches!(whole.anchored, Anchored::Yes { noted: Some((2, _)), .. }), "{whole:?}");
}
