//! Group commit, order, and what is refused.

use super::*;
use claw_domain::{Address, Block, Event, EventBody, Inbound, InboundBody, Origin};

fn event(seq: u64) -> Event {
    Event { seq, at_ms: 1, body: EventBody::CompactRequested { from: None } }
}

fn message(text: &str) -> Inbound {
    inbound(InboundBody::message(vec![Block::Text { text: text.into() }]))
}

fn inbound(body: InboundBody) -> Inbound {
    Inbound {
        session: session(),
        from: Address("console/1".into()),
        principal: "p".into(),
        origin: Origin::Owner,
        body,
    }
}

fn seqs(store: &Store) -> Vec<u64> {
    store.read(|tx| tx.events_from(&session(), 1)).unwrap().iter().map(|event| event.seq).collect()
}

#[tokio::test]
async fn a_job_that_fails_is_rolled_back_alone() {
    let store = Rig::new().open();
    let write = |seq: Vec<u64>| {
        store.write(move |tx| {
            seq.iter().try_for_each(|seq| tx.append_event(&session(), &event(*seq)))
        })
    };
    // The second job writes a row and then fails; all three are in the queue before the first
    // commit can end.
    let (first, second, third) = tokio::join!(write(vec![1]), write(vec![2, 9]), write(vec![2, 3]));
    first.unwrap();
    let reason = second.unwrap_err().to_string();
    assert!(reason.contains("event 9 of `main` follows event 2"), "{reason}");
    third.unwrap();
    assert_eq!(seqs(&store), [1, 2, 3]);
}

#[tokio::test]
async fn jobs_are_done_in_the_order_in_which_they_were_given() {
    let rig = Rig::new();
    let store = rig.open();
    for seq in 1..=300 {
        store.write_soon(move |tx| tx.append_event(&session(), &event(seq)));
    }
    store.write(|tx| tx.append_event(&session(), &event(301))).await.unwrap();
    assert_eq!(
        seqs(&store),
        (1..=301).collect::<Vec<_>>(),
        "what was queued is on the disk before a later write returns"
    );
}

#[tokio::test]
async fn what_was_queued_is_written_when_the_store_is_closed() {
    let rig = Rig::new();
    let store = rig.open();
    store.write_soon(|tx| tx.append_event(&session(), &event(1)));
    drop(store);
    assert_eq!(seqs(&rig.open()), [1]);
}

/// What a queued job returns lives until its commit: the lock of a session is let go in this way.
#[tokio::test]
async fn what_a_queued_job_returns_is_dropped_behind_its_commit() {
    struct Look(Store, std::sync::mpsc::Sender<Vec<u64>>);
    impl Drop for Look {
        fn drop(&mut self) {
            let _ = self.1.send(seqs(&self.0));
        }
    }
    let rig = Rig::new();
    let (store, other) = (rig.open(), rig.open());
    let (send, seen) = std::sync::mpsc::channel();
    store.write_soon(|tx| tx.append_event(&session(), &event(1)));
    store.write_soon(move |_| Ok(Look(other, send)));
    store.write(|_| Ok(())).await.unwrap();
    assert_eq!(seen.recv().unwrap(), [1]);
}

#[tokio::test]
async fn a_gap_or_a_number_used_twice_is_refused() {
    let rig = Rig::new();
    let (one, two) = (rig.open(), rig.open());
    one.write(|tx| tx.append_event(&session(), &event(1))).await.unwrap();
    for (wrong, why) in
        [(1, "another process wrote"), (3, "was not written"), (0, "another process wrote")]
    {
        let error =
            two.write(move |tx| tx.append_event(&session(), &event(wrong))).await.unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    two.write(|tx| tx.append_event(&session(), &event(2))).await.unwrap();
    assert_eq!(one.read(|tx| tx.last_seq(&session())).unwrap(), 2);
}

#[tokio::test]
async fn the_version_changes_when_somebody_has_committed() {
    let rig = Rig::new();
    let (one, two) = (rig.open(), rig.open());
    let before = one.data_version().unwrap();
    assert_eq!(one.data_version().unwrap(), before);
    two.write(|tx| tx.append_event(&session(), &event(1))).await.unwrap();
    let after = one.data_version().unwrap();
    assert_ne!(after, before, "another process");
    one.write(|tx| tx.append_event(&session(), &event(2))).await.unwrap();
    assert_ne!(
        one.data_version().unwrap(),
        after,
        "our own writer, for the reader is another connection"
    );
}

#[tokio::test]
async fn the_inbox_is_bounded_for_messages_only() {
    let store = Rig::new().open();
    let add = |inbound: Inbound| store.write(move |tx| tx.add_inbound(&inbound, 2));
    let first = add(message("a")).await.unwrap();
    add(message("b")).await.unwrap();
    assert!(matches!(add(message("c")).await, Err(StoreError::QueueFull(2))));
    add(inbound(InboundBody::Stop)).await.unwrap();
    assert!(store.read(|tx| tx.stop_queued(&session())).unwrap());
    store.write(move |tx| tx.mark_absorbed(first)).await.unwrap();
    add(message("c")).await.unwrap();
    assert_eq!(store.read(|tx| tx.queued_inbound(&session())).unwrap().len(), 3);
}

#[tokio::test]
async fn a_window_begins_at_the_newest_boundary() {
    let store = Rig::new().open();
    let bodies = [
        EventBody::CompactRequested { from: None },
        EventBody::CompactRequested { from: None },
        EventBody::Summary {
            text: "s".into(),
            through_seq: 1,
            spent: None,
            made: Default::default(),
        },
        EventBody::CompactRequested { from: None },
    ];
    for (index, body) in bodies.into_iter().enumerate() {
        let event = Event { seq: index as u64 + 1, at_ms: 1, body };
        store.write(move |tx| tx.append_event(&session(), &event)).await.unwrap();
    }
    let window = |store: &Store| -> Vec<u64> {
        store
            .read(|tx| tx.window(&session()))
            .unwrap()
            .events
            .iter()
            .map(|event| event.seq)
            .collect()
    };
    assert_eq!(window(&store), [2, 3, 4]);
    // An undo is no boundary: what was before the exchange that it drops is still told.
    let undone = Event {
        seq: 5,
        at_ms: 1,
        body: EventBody::ExchangeDropped { from_seq: 4, through_seq: 4 },
    };
    store.write(move |tx| tx.append_event(&session(), &undone)).await.unwrap();
    assert_eq!(window(&store), [2, 3, 4, 5]);
    let cleared = Event { seq: 6, at_ms: 1, body: EventBody::SessionCleared {} };
    store.write(move |tx| tx.append_event(&session(), &cleared)).await.unwrap();
    assert_eq!(window(&store), [6]);
}

#[tokio::test]
async fn a_store_of_a_newer_claw_is_refused_and_left_as_it_is() {
    let rig = Rig::new();
    drop(rig.open());
    let version = rig.user_version();
    rig.tamper("PRAGMA user_version = 99");
    match Store::open(&rig.path()).map(|_| ()) {
        Err(StoreError::Newer { found: 99, .. }) => {}
        other => panic!("{other:?}"),
    }
    rig.tamper(&format!("PRAGMA user_version = {version}"));
    assert!(rig.open().read(|tx| tx.quick_check()).unwrap().is_none());
}

#[tokio::test]
async fn processes_that_open_a_new_home_at_once_agree() {
    let rig = Arc::new(Rig::new());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let rig = rig.clone();
            std::thread::spawn(move || drop(rig.open()))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(rig.open().read(|tx| tx.last_seq(&session())).unwrap(), 0);
}

/// How many frames the next process finds in the log when it is the first one.
fn frames_of_log(rig: &Rig) -> u64 {
    // A header of 32 bytes, and 24 bytes before each page of 4 KiB (sqlite.org/walformat).
    let bytes = std::fs::metadata(rig.path().with_extension("db-wal")).map_or(0, |meta| meta.len());
    bytes.saturating_sub(32) / (24 + 4096)
}

/// One commit that fills more of the log than a process may leave.
async fn write_much(store: &Store, round: u64) {
    let text = "x".repeat(1024 * 1024);
    let much = Event { seq: round, at_ms: 1, body: EventBody::ModelPartial { text } };
    store.write(move |tx| tx.append_event(&session(), &much)).await.unwrap();
}

#[tokio::test]
async fn a_long_log_is_not_left_to_the_next_process() {
    let rig = Rig::new();
    for round in 1..=3 {
        let store = rig.open();
        write_much(&store, round).await;
        let frames = frames_of_log(&rig);
        assert!(frames > 128, "the test writes too little: {frames}");
        drop(store);
        assert_eq!(frames_of_log(&rig), 0, "round {round}");
    }
    assert_eq!(seqs(&rig.open()), [1, 2, 3]);
}

#[tokio::test]
async fn a_log_that_somebody_reads_stays() {
    let rig = Rig::new();
    let store = rig.open();
    write_much(&store, 1).await;
    let reader = rusqlite::Connection::open(rig.path()).unwrap();
    let count = |reader: &rusqlite::Connection| -> i64 {
        reader.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap()
    };
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(&reader), 1);
    write_much(&store, 2).await;
    drop(store);
    assert_eq!(count(&reader), 1, "what a reader sees may not change");
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    assert_eq!(seqs(&rig.open()), [1, 2]);
}

/// What nobody waited for was lost on a full disk. Whoever misses it is told that, and not of
/// another process.
#[tokio::test]
async fn what_a_full_disk_lost_is_told_as_that() {
    let rig = Rig::new();
    let store = rig.open();
    store.write(|tx| tx.append_event(&session(), &event(1))).await.unwrap();
    let pages = |tx: &Tx<'_>| -> Result<i64, StoreError> {
        Ok(tx.conn.query_row("PRAGMA page_count", [], |row| row.get(0))?)
    };
    let full = move |tx: &Tx<'_>| Ok(tx.conn.pragma_update(None, "max_page_count", pages(tx)?)?);
    store.write(full).await.unwrap();
    let large = EventBody::LimitReached { limit: "x".into(), text: "x".repeat(100_000) };
    let lost = Event { body: large, ..event(2) };
    store.write_soon(move |tx| tx.append_event(&session(), &lost));
    let error = store.write(|tx| tx.append_event(&session(), &event(3))).await.unwrap_err();
    assert!(matches!(error, StoreError::DiskFull), "{error}");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    // With room again, and from what is there, it goes on.
    store.write(|tx| Ok(tx.conn.pragma_update(None, "max_page_count", 1_000_000)?)).await.unwrap();
    store.write(|tx| tx.append_event(&session(), &event(2))).await.unwrap();
}

/// SQLite would parse a cached statement again at each new value of what it asks for.
#[tokio::test]
async fn a_cached_statement_keeps_its_plan_for_every_value() {
    let store = Rig::new().open();
    let settled = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    assert!(store.read(|tx| Ok(tx.conn.db_config(settled)?)).unwrap());
}

/// Without it SQLite plans a cached statement again at each new value.
#[tokio::test]
async fn the_plans_of_both_connections_hold_for_every_value() {
    let rig = Rig::new();
    let store = rig.open();
    let holds = |tx: &Tx<'_>| Ok(tx.conn.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG)?);
    assert!(store.read(holds).unwrap(), "for reading");
    assert!(store.write(holds).await.unwrap(), "for writing");
}
