//! Tools that changed since the owner accepted them: the difference, and the yes. Must not know how a list is shown.

use serde_json::{Value, json};

use super::Gate;
use crate::domain::escape;
use crate::hub::pins;
use crate::store::{AuditEntry, PinRow, SeenTool, StoreError};

/// One changed tool.
#[derive(Clone, Debug)]
pub struct Change {
    pub server: String,
    pub tool: String,
    /// The difference for a human: the stranger's text is made visible.
    pub diff: String,
    pub new_pin: String,
}

/// Why nothing was accepted.
#[derive(Debug, thiserror::Error)]
pub enum QuarantineError {
    #[error("nothing of `{0}` waits for a yes; `claw tools diff` lists what does")]
    Nothing(String),
    #[error("`{0}` has changed since you were last shown how; look at it first: claw tools diff")]
    NotShown(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Gate {
    /// Starts every server, or the one that is named, pins what is new, and returns what changed. Servers that fail are named.
    pub async fn changes(&self, only: Option<&str>) -> Result<(Vec<Change>, Vec<String>), StoreError> {
        let mut troubles = Vec::new();
        let wanted = self.hub.servers().into_iter().filter(|status| match only {
            Some(only) => status.name == only,
            None => !status.disabled,
        });
        let names = wanted.map(|status| status.name);
        let listed = futures::future::join_all(names.map(|name| async move { self.hub.tools(&name).await })).await;
        for tools in listed {
            match tools {
                Ok(tools) => drop(self.reconcile(&tools).await?),
                Err(error) => troubles.push(self.redactor.redact(&error.to_string()).into_owned()),
            }
        }
        let rows = self.store.read(|tx| tx.pins(only))?;
        Ok((rows.iter().filter_map(change).collect(), troubles))
    }

    /// Every pinned tool, for the list.
    pub fn pinned(&self) -> Result<Vec<PinRow>, StoreError> {
        self.store.read(|tx| tx.pins(None))
    }

    /// Notes that the owner has seen these changes; only what was seen can be accepted.
    pub async fn shown(&self, changes: &[Change]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let changes = changes.to_vec();
        let note = move |tx: &crate::store::Tx<'_>| {
            changes.iter().try_for_each(|change| tx.set_shown(&change.server, &change.tool, &change.new_pin))
        };
        self.store.write(note).await
    }

    /// Accepts the changes of a server, or of one tool (`server/tool`). What is accepted is what the difference showed: a
    /// tool that has changed once more meanwhile stays in quarantine.
    pub async fn accept(&self, what: &str, by: &str) -> Result<Vec<Change>, QuarantineError> {
        let (server, tool) = match what.split_once('/') {
            Some((server, tool)) => (server.to_owned(), Some(tool.to_owned())),
            None => (what.to_owned(), None),
        };
        let by = by.to_owned();
        let (accepted, unseen) = self
            .store
            .write(move |tx| {
                let rows = tx.pins(Some(&server))?;
                let (mut accepted, mut unseen) = (Vec::new(), None);
                for row in rows.into_iter().filter(|row| tool.as_ref().is_none_or(|tool| *tool == row.tool)) {
                    let Some(change) = change(&row) else { continue };
                    let Some((pin, raw)) = row.changed else { continue };
                    if row.shown_pin.as_ref() != Some(&pin) {
                        unseen = Some(format!("{}/{}", row.server, row.tool));
                        continue;
                    }
                    let seen = SeenTool { tool: row.tool.clone(), pin, raw };
                    tx.accept_pin(&row.server, &row.launch, &seen)?;
                    let body = json!({"server": row.server, "tool": row.tool, "pin": seen.pin, "by": by});
                    tx.audit(&AuditEntry { kind: "accepted", call: String::new(), body })?;
                    accepted.push(change);
                }
                Ok((accepted, unseen))
            })
            .await?;
        match (accepted.is_empty(), unseen) {
            (true, Some(unseen)) => return Err(QuarantineError::NotShown(unseen)),
            (true, None) => return Err(QuarantineError::Nothing(what.to_owned())),
            (false, _) => {}
        }
        *self.catalog.write().await = None;
        Ok(accepted)
    }
}

fn change(row: &PinRow) -> Option<Change> {
    let (new_pin, new_raw) = row.changed.as_ref()?;
    let diff = match &row.raw {
        Value::Null => format!("a new tool:\n{}", pins::diff(&Value::Object(Default::default()), new_raw)),
        old => pins::diff(old, new_raw),
    };
    Some(Change {
        server: row.server.clone(),
        tool: row.tool.clone(),
        diff: escape::visible_multiline(&diff),
        new_pin: new_pin.clone(),
    })
}
