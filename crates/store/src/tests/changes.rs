//! That whoever waits hears of commits, and loses none between a look and the wait.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use crate::{Changes, Store};

/// So long nobody looks without being told, so only a signal can end a wait.
const NEVER: Duration = Duration::from_secs(3600);

/// A test that would wait forever fails instead.
async fn in_time<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("nothing was heard")
}

fn open(path: &Path) -> Store {
    let store = Store::open(path).unwrap();
    store.set_look_anyhow(NEVER);
    store
}

async fn commit(store: &Store, text: &str) {
    let text = text.to_owned();
    store.write(move |tx| tx.set_panic(Some(&text))).await.unwrap();
}

/// Waits until it sees what is committed meanwhile.
async fn hears(here: &Store, changes: &mut Changes, meanwhile: impl Future<Output = ()>) {
    let seen = here.data_version().unwrap();
    let sees = async {
        while here.data_version().unwrap() == seen {
            in_time(changes.wait()).await;
        }
    };
    tokio::join!(sees, meanwhile);
}

#[tokio::test]
async fn a_commit_of_another_process_between_the_look_and_the_wait_is_heard() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claw.db");
    let (here, other) = (open(&path), open(&path));
    let mut changes = here.changes();
    for round in 0..5 {
        let seen = here.data_version().unwrap();
        commit(&other, &format!("between {round}")).await;
        in_time(changes.wait()).await;
        assert_ne!(here.data_version().unwrap(), seen);
        hears(&here, &mut changes, commit(&other, &format!("while it waits {round}"))).await;
    }
}

#[tokio::test]
async fn many_who_wait_hear_each_and_who_comes_after_all_have_gone_hears_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claw.db");
    let (here, other) = (open(&path), open(&path));
    for round in 0..3 {
        let mut all: Vec<_> = (0..4).map(|_| here.changes()).collect();
        commit(&other, &round.to_string()).await;
        for changes in &mut all {
            in_time(changes.wait()).await;
        }
    }
    // The switch as a file is no commit, and is told of all the same.
    let mut changes = here.changes();
    let place = other.raise_panic_flag("me").unwrap();
    in_time(changes.wait()).await;
    std::fs::remove_file(place).unwrap();
}

/// A runtime that ends takes those along who hear for others.
#[test]
fn who_waits_in_another_runtime_hears_when_the_first_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claw.db");
    let (here, other) = (open(&path), open(&path));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut changes = runtime().block_on(async { here.changes() });
    runtime().block_on(async {
        // The first wait ends at once, because nobody knows what was missed; the next one is heard.
        in_time(changes.wait()).await;
        hears(&here, &mut changes, commit(&other, "later")).await;
        hears(&here, &mut changes, commit(&other, "once more")).await;
    });
}
