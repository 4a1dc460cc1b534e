//! Brings one conversation what waits for it: rows of the outbox, open questions, and word of
//! questions that were closed elsewhere. Must not know how anything is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::door::{AcpDoor, Words};
use crate::chat_commands::{ChatCommands, without_buttons};
use crate::domain::{ApprovalId, ApprovalState, OutboundBody, Staged};
use crate::door_context::Context;
use crate::doors::Door as _;
use crate::doors::instance_outbox::InstanceOutbox;
use crate::doors::news::NewsSeen;
use crate::doors::questions::closed;
use crate::mail::{AskedQuestion, OutboxMessage, PostedQuestion};

/// Shared by the tasks of one conversation, which have outbox and door beside it. It goes with the
/// last of them.
pub struct Delivery {
    outbox: Arc<InstanceOutbox>,
    /// A handle of the process's.
    chat_commands: ChatCommands,
    door: Arc<AcpDoor>,
    kept: Mutex<Kept>,
}

/// It goes with the conversation: the next one asks what is open again.
#[derive(Default)]
struct Kept {
    /// The questions that were asked here and are open.
    asked: BTreeMap<ApprovalId, PostedQuestion>,
    /// What of the lists among them was answered when they were asked last.
    lists: BTreeMap<ApprovalId, Vec<ApprovalState>>,
    /// Those whose answer was given here.
    answered_here: BTreeSet<ApprovalId>,
    seen: NewsSeen,
}

impl Delivery {
    pub fn new(context: &Context, outbox: Arc<InstanceOutbox>, door: Arc<AcpDoor>) -> Self {
        let chat_commands = context.chat_commands.clone();
        Self { outbox, chat_commands, door, kept: Mutex::default() }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks every open question of the session that no request waits for.
    pub async fn ask_open(&self) -> anyhow::Result<()> {
        for row in self.outbox.mail.open_questions(Some(&self.outbox.session))? {
            if !self.door.asks(&row.id) {
                self.kept().asked.remove(&row.id);
                self.ask(row, None);
            }
        }
        Ok(())
    }

    /// How long it is until the time of the next question is over.
    pub fn next_expiry(&self) -> Duration {
        self.kept().seen.next_expiry()
    }

    /// Whether there is something to look at: another commit, or a question whose time is over.
    pub fn news(&self) -> bool {
        self.kept().seen.is_news(&self.outbox.mail)
    }

    /// An answer of the person here has counted.
    pub fn answered_here(&self, approval: &ApprovalId) {
        self.kept().answered_here.insert(approval.clone());
    }

    /// The rows that wait and whose words stand in the log: whoever is shown that needs them no
    /// more. They are given out with this.
    pub async fn said_before(&self) -> anyhow::Result<Vec<i64>> {
        self.outbox.adopt().await?;
        let mut rows = self.outbox.waiting()?;
        let said = |row: &OutboxMessage| {
            matches!(row.outbound.body, OutboundBody::Reply { .. } | OutboundBody::Said { .. })
        };
        rows.retain(said);
        rows.iter().for_each(|row| self.outbox.gave(row.id));
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// Shows what waits for this conversation, and what earlier ones of its session had not shown.
    pub async fn deliver(&self) -> anyhow::Result<()> {
        self.outbox.adopt().await?;
        for row in self.outbox.waiting()? {
            self.outbox.gave(row.id);
            self.show(row).await?;
        }
        self.close_answered().await
    }

    async fn show(&self, row: OutboxMessage) -> anyhow::Result<()> {
        let id = Some(row.id);
        match &row.outbound.body {
            OutboundBody::Reply { turn_seq, step, text } => {
                let quiet = self.chat_commands.quiet_lines(&row.outbound.session, *turn_seq)?;
                let streamed = self.door.has_streamed((*turn_seq, *step), text);
                let text = if streamed { String::new() } else { text.clone() };
                let mark = if quiet.is_some() { None } else { id };
                if !text.is_empty() || mark.is_some() {
                    self.send(text, mark).await;
                }
                if let Some(quiet) = quiet {
                    self.send(quiet, id).await;
                }
            }
            OutboundBody::Said { turn_seq, step, text, partial } => {
                let streamed = self.door.has_streamed((*turn_seq, *step), text);
                let text = match (streamed, partial) {
                    (true, true) => "*[interrupted]*".to_owned(),
                    (true, false) => String::new(),
                    (false, true) => format!("{}\n\n*[interrupted]*", text.trim_end()),
                    (false, false) => text.clone(),
                };
                self.send(text, id).await;
            }
            OutboundBody::Question { question, .. } => {
                // From the store, because it may have been answered before it got here.
                let asked = self.outbox.mail.asked_question(&question.approval)?;
                if !asked.is_some_and(|asked| self.ask(asked, id)) {
                    self.outbox.shown(row.id).await?;
                }
            }
            body => self.send(without_buttons(body).into_owned(), id).await,
        }
        Ok(())
    }

    /// An editor that has gone ends the conversation by itself.
    async fn send(&self, text: String, row: Option<i64>) {
        let _ = self.door.send(self.outbox.address(), &Words { text, row }).await;
    }

    /// Asks a question that is open and not asked here yet. Whether a request has gone out.
    fn ask(&self, row: AskedQuestion, outbox_row: Option<i64>) -> bool {
        // Each item of a list has its own request.
        if matches!(row.question.staged, Some(Staged::All { .. })) {
            return false;
        }
        let mut kept = self.kept();
        if row.state != ApprovalState::Waiting || kept.asked.contains_key(&row.id) {
            return false;
        }
        kept.seen.is_open_until(row.expires_ms);
        if let Some(list) = &row.question.list {
            kept.lists.insert(row.id.clone(), list.states());
        }
        // An editor that has gone ends the conversation by itself.
        let Ok(asked) = self.door.ask_row(&row.question, outbox_row) else { return false };
        kept.asked.insert(row.id.clone(), asked.posted(&row.id, self.outbox.address()));
        true
    }

    /// Shows of the questions that were asked what has become of them.
    async fn close_answered(&self) -> anyhow::Result<()> {
        let asked = self.kept().asked.clone();
        for (id, posted) in asked {
            let row = self.outbox.mail.asked_question(&id)?;
            if let Some(row) = row.as_ref().filter(|row| row.state == ApprovalState::Waiting) {
                self.bring_in_step(&posted, row).await;
                continue;
            }
            let here = {
                let mut kept = self.kept();
                kept.lists.remove(&id);
                kept.asked.remove(&id);
                kept.answered_here.remove(&id)
            };
            match row {
                Some(row) if here => self.door.closed_here(&row.question, &closed(&row, None).0),
                Some(row) => {
                    // An editor that has gone ends the conversation by itself.
                    let _ = self.door.close(&posted, &row.question, &closed(&row, None).0).await;
                }
                None => self.door.withdraw(&id),
            }
        }
        Ok(())
    }

    /// Something of a list that is open may be answered.
    async fn bring_in_step(&self, posted: &PostedQuestion, row: &AskedQuestion) {
        let Some(list) = &row.question.list else { return };
        let states = list.states();
        let before = self.kept().lists.insert(row.id.clone(), states.clone());
        if before != Some(states) {
            // An editor that has gone ends the conversation by itself.
            let _ = self.door.show_answered(posted, &row.question).await;
        }
    }
}
