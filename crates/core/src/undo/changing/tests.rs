//! Who is told that a turn cannot be undone, where its calls run side by side, and calls that are
//! cut at their beginning.

use std::fs;
use std::pin::pin;
use std::sync::Arc;
use std::thread;

use super::super::TurnSnapshots;
use super::super::record::State;
use crate::domain::{SessionId, TurnId};
use crate::gate::tests::rig::WORK;
use crate::snapshot::{Limits, SnapshotFolder};
use crate::store::Store;

/// The files are looked at by a thread of its own, which goes on when the call is cut.
#[tokio::test]
async fn a_call_that_is_cut_at_its_beginning_is_not_counted_behind_the_end_of_its_turn() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("w");
    fs::create_dir(&workspace).unwrap();
    let store = Store::open(&home.path().join("claw.db")).unwrap();
    let folder = home.path().join("snapshots");
    let snapshots =
        TurnSnapshots::new(store, folder, workspace, Limits::default(), WORK.to_owned());
    let turn = TurnId { session: SessionId::new("s").unwrap(), seq: 1 };

    let place = snapshots.shared.place();
    let elsewhere = SnapshotFolder::open(&place.folder).unwrap();
    assert!(futures::poll!(pin!(snapshots.before_change(&turn))).is_pending());
    let mut noted = pin!(snapshots.note(&turn));
    assert!(futures::poll!(&mut noted).is_pending());
    let knows_the_end = || {
        let known = snapshots.shared.known();
        known.beginning.get(&turn).is_some_and(|beginning| beginning.is_too_late)
    };
    while !knows_the_end() {
        thread::yield_now();
    }
    drop(elsewhere);
    noted.await;
    while Arc::strong_count(&snapshots.shared) > 1 {
        thread::yield_now();
    }
    assert!(snapshots.shared.known().at_work.is_empty());
    assert!(snapshots.shared.known().beginning.is_empty());
    assert!(place.records.of_turn(&turn).unwrap().is_none());
}

/// The call that finds the turn refused by the one beside it may be heard of first.
#[tokio::test]
async fn of_two_calls_side_by_side_the_one_that_knows_why_tells() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("w");
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("a"), "x").unwrap();
    let store = Store::open(&home.path().join("claw.db")).unwrap();
    let limits = Limits { files_max: 0, ..Limits::default() };
    let snapshots = TurnSnapshots::new(
        store,
        home.path().join("snapshots"),
        workspace,
        limits,
        WORK.to_owned(),
    );
    let turn = TurnId { session: SessionId::new("s").unwrap(), seq: 1 };

    let mut first = pin!(snapshots.before_change(&turn));
    assert!(futures::poll!(&mut first).is_pending());
    let records = snapshots.shared.place().records;
    let state = || records.of_turn(&turn).ok().flatten().map(|record| record.state);
    while !matches!(state(), Some(State::Refused { .. })) {
        thread::yield_now();
    }
    let (counted, told) = snapshots.before_change(&turn).await;
    assert!(counted.is_none());
    assert_eq!(told, None);

    let (counted, told) = first.await;
    assert!(counted.is_none());
    let told = told.unwrap();
    assert!(told.contains("cannot be undone: the workspace has more than 0 files"), "{told}");
    let (_, again) = snapshots.before_change(&turn).await;
    assert_eq!(again, None);
}
