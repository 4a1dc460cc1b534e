//! The stop switch: turning it on and off, with its audit row, and what a chat says of it. Must not
//! know what runs: every process sees the switch by itself.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::calls::{modes, openings};
use crate::domain::person;
use crate::store::{AnchorPlace, AuditEntry, Store, StoreError, Tx, flag};

/// Where a change of the stop switch is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchKept {
    /// In the store, with a row of the audit.
    Stored,
    /// The store cannot be written: in this file.
    InFile(PathBuf),
    /// The store cannot be written. Only a file held the switch on, and it is gone.
    FileGone,
}

/// Turns the stop switch on or off in the name of `by`, a principal. Where the store cannot be
/// written, a file turns it on, and off again.
pub async fn set_panic(store: &Store, on: bool, by: &str) -> Result<SwitchKept, StoreError> {
    let who = by.to_owned();
    match store.write(move |tx| set_in(tx, on, &who)).await {
        Ok(()) => Ok(SwitchKept::Stored),
        Err(error) if on => store.raise_panic_flag(by).map(SwitchKept::InFile).map_err(|_| error),
        Err(error) if store.lower_panic_flag()? => {
            tracing::warn!(%error, "the stop switch was turned off, and the audit has no row of \
                it");
            Ok(SwitchKept::FileGone)
        }
        Err(error) => Err(error),
    }
}

/// The same for the stores of other agents that have a home: whoever pulls the switch wants
/// everything to stop. Gives back those in which it failed, a sentence each.
pub async fn set_panic_in_others(others: &[OtherStore], on: bool, by: &str) -> Vec<String> {
    let there = others.iter().filter(|other| other.path.parent().is_some_and(Path::is_dir));
    let set = there.map(async |other| {
        let (path, anchor) = (other.path.clone(), other.anchor.clone());
        // Opening may wait for whoever writes there, and must not hold up the others.
        let opened =
            tokio::task::spawn_blocking(move || Store::open_anchored(&path, anchor.as_ref())).await;
        let set = match opened {
            Ok(Ok(store)) => {
                set_panic(&store, on, by).await.map(|_| ()).map_err(|error| error.to_string())
            }
            Ok(Err(error)) if on => {
                flag::raise(&other.path, by).map(|_| ()).map_err(|_| error.to_string())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(bug) => Err(bug.to_string()),
        };
        let agent = &other.agent;
        set.err()
            .map(|why| format!("The stop switch of the agent {agent} could not be changed: {why}."))
    });
    futures::future::join_all(set).await.into_iter().flatten().collect()
}

/// Where another agent of the same home keeps its store.
#[derive(Clone, Debug)]
pub struct OtherStore {
    pub agent: String,
    pub path: PathBuf,
    /// What seals its audit.
    pub anchor: Option<AnchorPlace>,
}

pub(super) fn set_in(tx: &Tx<'_>, on: bool, by: &str) -> Result<(), StoreError> {
    // Off as well: where the switch was a file, nobody could write this down before.
    modes::end_all_in(tx)?;
    openings::close_all_in(tx)?;
    if on && tx.panic()?.is_some_and(|before| before == by) {
        return Ok(());
    }
    tx.set_panic(on.then_some(by))?;
    let kind = if on { "panic.on" } else { "panic.off" };
    tx.audit(&AuditEntry { kind, call: String::new(), body: json!({"by": by}) })
}

pub(super) fn markdown(tx: &Tx<'_>) -> Result<String, StoreError> {
    Ok(match tx.panic()? {
        Some(by) => {
            format!(
                "**The stop switch is on** (by {}): no call runs. What ran is ended, and so are modes \
                 and what was opened. `/panic off` lets calls run again.",
                person(&by)
            )
        }
        None => "The stop switch is off. `/panic` turns it on.".to_owned(),
    })
}
