//! Tools that changed since the owner accepted them: the difference, and the yes. Must not know how
//! a list is shown.

use serde_json::{Value, json};

use super::Catalog;
use crate::domain::{OwnerAnswer, OwnerQuestionAbout, OwnerQuestionKind, audit_kind, escape};
use crate::hub::names::look;
use crate::hub::{INSTRUCTIONS, pins};
use crate::store::{AuditEntry, PinRow, SeenTool, StoreError, Tx, new_approval_id};

/// One changed tool.
#[derive(Clone, Debug)]
pub struct ToolChange {
    pub server: String,
    pub tool: String,
    /// The difference for a human: the stranger's text is made visible.
    pub diff: String,
    pub new_pin: String,
    /// The server was last listed with this form. If not, another process has seen it, and this one
    /// the accepted form.
    pub withheld: bool,
}

/// Why nothing was accepted.
#[derive(Debug, thiserror::Error)]
pub enum QuarantineError {
    #[error(
        "claw knows of nothing of `{what}` that waits for a yes; `{claw} tools diff` looks at the \
         servers and lists what does"
    )]
    Nothing { what: String, claw: String },
    #[error(
        "`{what}` has changed since you were last shown how; look at it first: {claw} tools diff"
    )]
    NotShown { what: String, claw: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl crate::domain::Blamed for QuarantineError {
    fn blame(&self) -> crate::domain::Blame {
        match self {
            Self::Nothing { .. } | Self::NotShown { .. } => crate::domain::Blame::User,
            Self::Store(error) => error.blame(),
        }
    }
}

impl ToolChange {
    /// What has changed, as a person names it.
    pub fn name(&self) -> String {
        super::pinning::called(&self.server, &self.tool)
    }
}

impl Catalog {
    /// Starts every server, or the one that is named, pins what is new, and returns what changed.
    /// Servers that fail are named.
    pub async fn changes(
        &self,
        only: Option<&str>,
    ) -> Result<(Vec<ToolChange>, Vec<String>), StoreError> {
        let mut troubles = Vec::new();
        let wanted = self.hub.servers().into_iter().filter(|status| match only {
            Some(only) => status.name == only,
            None => !status.disabled,
        });
        let names = wanted.map(|status| status.name);
        let listed =
            futures::future::join_all(names.map(|name| async move { self.hub.tools(&name).await }))
                .await;
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
    pub async fn shown(&self, changes: &[ToolChange]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let changes = changes.to_vec();
        let note = move |tx: &crate::store::Tx<'_>| {
            changes
                .iter()
                .try_for_each(|change| tx.set_shown(&change.server, &change.tool, &change.new_pin))
        };
        self.store.write(note).await
    }

    /// Accepts the changes of a server, or of one tool (`server/tool`). What is accepted is what
    /// the difference showed: a tool that has changed once more meanwhile stays in quarantine.
    pub async fn accept(&self, what: &str, by: &str) -> Result<Vec<ToolChange>, QuarantineError> {
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
                for row in rows
                    .into_iter()
                    .filter(|row| tool.as_ref().is_none_or(|tool| *tool == row.tool))
                {
                    let Some(change) = change(&row) else { continue };
                    if row.shown_pin.as_ref() != Some(&change.new_pin) {
                        unseen = Some(change.name());
                        continue;
                    }
                    accept_row(tx, row, &by)?;
                    accepted.push(change);
                }
                if !accepted.is_empty() {
                    ask_anew(tx, &server)?;
                }
                Ok((accepted, unseen))
            })
            .await?;
        let claw = self.settings().claw.clone();
        match (accepted.is_empty(), unseen) {
            (true, Some(what)) => Err(QuarantineError::NotShown { what, claw }),
            (true, None) => Err(QuarantineError::Nothing { what: what.to_owned(), claw }),
            (false, _) => Ok(accepted),
        }
    }

    /// An owner's answer to a question about changes, by its id: one compare-and-set. What is
    /// accepted is what the question froze.
    pub async fn answer_about_pins(
        &self,
        id: &str,
        accept: bool,
        by: &str,
    ) -> Result<PinAnswer, StoreError> {
        let (id, by) = (id.to_owned(), by.to_owned());
        self.store
            .write(move |tx| {
                let about = tx.owner_question(&id)?.map(|asked| asked.about);
                let Some(OwnerQuestionAbout::ChangedTools { server, forms }) = about else {
                    return Ok(PinAnswer::Over);
                };
                let rows = tx.pins(Some(&server))?;
                let is_asked = |row: &PinRow| {
                    row.changed
                        .as_ref()
                        .is_some_and(|(pin, _)| forms.contains(&(row.tool.clone(), pin.clone())))
                };
                let rows: Vec<PinRow> = rows.into_iter().filter(is_asked).collect();
                if rows.len() != forms.len() {
                    return Ok(PinAnswer::Over);
                }
                let answer = if accept { OwnerAnswer::Accept } else { OwnerAnswer::KeepWithheld };
                if !tx.decide_owner_question(&id, answer, &by)? {
                    return Ok(PinAnswer::Over);
                }
                if !accept {
                    let body = json!({"server": server, "question": id, "by": by});
                    tx.audit(&AuditEntry { kind: "kept withheld", call: String::new(), body })?;
                    return Ok(PinAnswer::Kept);
                }
                rows.into_iter().try_for_each(|row| accept_row(tx, row, &by))?;
                Ok(PinAnswer::Accepted)
            })
            .await
    }
}

/// What an answer to a question about changes did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinAnswer {
    Accepted,
    /// The tools stay withheld.
    Kept,
    /// It was answered before, or the tools are not as they were shown any more.
    Over,
}

/// Takes the form that waits; the one before stays accepted, so that a return to it needs no second
/// yes.
fn accept_row(tx: &Tx<'_>, row: PinRow, by: &str) -> Result<(), StoreError> {
    let Some((pin, raw)) = row.changed else { return Ok(()) };
    if !row.raw.is_null() {
        tx.add_form(&row.server, &row.tool, &row.pin, &row.raw)?;
    }
    let seen = SeenTool { tool: row.tool, pin, raw };
    tx.accept_pin(&row.server, &row.launch, &seen)?;
    let body = json!({"server": row.server, "tool": seen.tool, "pin": seen.pin, "by": by});
    tx.audit(&AuditEntry { kind: audit_kind::ACCEPTED, call: String::new(), body })
}

/// Ends the open question about a server, and asks about everything of it that waits now.
pub(super) fn ask_anew(tx: &Tx<'_>, server: &str) -> Result<(), StoreError> {
    tx.end_owner_questions(OwnerQuestionKind::ChangedTools, server)?;
    let changes: Vec<ToolChange> = tx.pins(Some(server))?.iter().filter_map(change).collect();
    if changes.is_empty() {
        return Ok(());
    }
    let forms =
        changes.iter().map(|change| (change.tool.clone(), change.new_pin.clone())).collect();
    let shown: Vec<_> = changes
        .iter()
        .map(|change| format!("{}\n{}", change.name(), change.diff.trim_end()))
        .collect();
    let id = new_approval_id(getrandom::fill)?;
    let about = OwnerQuestionAbout::ChangedTools { server: server.to_owned(), forms };
    tx.ask_owner(&id.0, &about, &shown.join("\n\n"))
}

fn change(row: &PinRow) -> Option<ToolChange> {
    let (new_pin, new_raw) = row.changed.as_ref()?;
    let diff = match &row.raw {
        Value::Null if row.tool == INSTRUCTIONS => {
            format!(
                "new words about itself:\n{}",
                pins::diff(&Value::Object(Default::default()), new_raw)
            )
        }
        Value::Null => {
            format!("a new tool:\n{}", pins::diff(&Value::Object(Default::default()), new_raw))
        }
        old => pins::diff(old, new_raw),
    };
    let note = look::note(&row.tool).map(|note| format!("NOTE: {note}\n")).unwrap_or_default();
    Some(ToolChange {
        server: row.server.clone(),
        tool: row.tool.clone(),
        diff: escape::visible_multiline(&format!("{note}{diff}")),
        new_pin: new_pin.clone(),
        withheld: row.withheld,
    })
}
