//! The stop switch: turning it on and off, with its audit row, and what a chat says of it. Must not know what runs: every
//! process sees the switch by itself.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::store::{AuditEntry, Store, StoreError, Tx};

/// Turns the stop switch on or off in the name of `by`, a principal.
pub async fn set_panic(store: &Store, on: bool, by: &str) -> Result<(), StoreError> {
    let by = by.to_owned();
    store.write(move |tx| set_in(tx, on, &by)).await
}

/// The same for the stores of other agents that have a home: whoever pulls the switch wants everything to stop. Gives back
/// those in which it failed, a sentence each.
pub async fn set_panic_in_others(others: &[OtherStore], on: bool, by: &str) -> Vec<String> {
    let mut failed = Vec::new();
    for other in others.iter().filter(|other| other.path.parent().is_some_and(Path::is_dir)) {
        let set = match Store::open(&other.path) {
            Ok(store) => set_panic(&store, on, by).await,
            Err(error) => Err(error),
        };
        if let Err(error) = set {
            failed.push(format!("The stop switch of the agent {} could not be changed: {error}.", other.agent));
        }
    }
    failed
}

/// Where another agent of the same home keeps its store.
#[derive(Clone, Debug)]
pub struct OtherStore {
    pub agent: String,
    pub path: PathBuf,
}

pub(super) fn set_in(tx: &Tx<'_>, on: bool, by: &str) -> Result<(), StoreError> {
    tx.set_panic(on.then_some(by))?;
    let kind = if on { "panic.on" } else { "panic.off" };
    tx.audit(&AuditEntry { kind, call: String::new(), body: json!({"by": by}) })
}

pub(super) fn markdown(tx: &Tx<'_>) -> Result<String, StoreError> {
    Ok(match tx.panic()? {
        Some(by) => {
            format!("**The stop switch is on** ({by}): no call runs, and what ran is ended. `/panic off` releases it.")
        }
        None => "The stop switch is off. `/panic` turns it on.".to_owned(),
    })
}
