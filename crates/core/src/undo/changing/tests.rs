//! Who is told that a turn cannot be undone, where its calls run side by side.

use std::fs;
use std::pin::pin;
use std::thread;

use super::super::TurnSnapshots;
use super::super::record::State;
use crate::domain::{SessionId, TurnId};
use crate::snapshot::Limits;
use crate::store::Store;

/// The call that finds the turn refused by the one beside it may be heard of first.
#[tokio::test]
async fn of_two_calls_side_by_side_the_one_that_knows_why_tells() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("w");
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("a"), "x").unwrap();
    let store = Store::open(&home.path().join("claw.db")).unwrap();
    let limits = Limits { files_max: 0, ..Limits::default() };
    let snapshots = TurnSnapshots::new(store, home.path().join("snapshots"), workspace, limits);
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
