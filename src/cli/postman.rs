//! Brings one console what waits for it: rows of the outbox, open questions, and word of questions that were closed
//! elsewhere. Must not know how anything is shown.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::app::App;
use crate::domain::{Address, ApprovalId, OutboundBody, SessionId};
use crate::gateway::console::chat::ConsoleShow;
use crate::mail::Instance;
use crate::store::{ApprovalRow, now_ms};

pub struct Postman {
    app: Arc<App>,
    session: SessionId,
    me: Address,
    show: mpsc::Sender<ConsoleShow>,
    /// The questions that are on the screen and open.
    asked: BTreeSet<ApprovalId>,
    seen_version: Option<i64>,
    next_expiry_ms: Option<i64>,
}

impl Postman {
    pub fn new(app: Arc<App>, session: SessionId, me: Address, show: mpsc::Sender<ConsoleShow>) -> Self {
        Self { app, session, me, show, asked: BTreeSet::new(), seen_version: None, next_expiry_ms: None }
    }

    /// Takes over what earlier consoles of this session had not shown, and asks every open question again.
    pub async fn begin(&mut self) -> anyhow::Result<()> {
        let locks = self.app.config.home.locks();
        self.app.mail.adopt(&self.me, &self.session, |to| Instance::alive(&locks, to)).await?;
        self.deliver().await?;
        for row in self.app.store.read(|tx| tx.open_approvals(Some(&self.session)))? {
            // Nothing of its turn is on this screen.
            self.ask(0, row).await;
        }
        Ok(())
    }

    /// Whether there is something to look at: another commit, or a question whose time is over.
    pub fn news(&mut self) -> bool {
        if self.next_expiry_ms.is_some_and(|at| at <= now_ms()) {
            self.next_expiry_ms = None;
            return true;
        }
        match self.app.mail.version() {
            Ok(version) => self.seen_version.replace(version) != Some(version),
            Err(error) => {
                tracing::warn!(%error, "the store cannot be looked at");
                false
            }
        }
    }

    pub async fn deliver(&mut self) -> anyhow::Result<()> {
        for row in self.app.mail.waiting(&self.me)? {
            match row.outbound.body {
                OutboundBody::Question { turn_seq, question } => {
                    // From the store, because it may have been answered before it got here.
                    if let Some(row) = self.app.store.read(|tx| tx.approval(&question.approval))? {
                        self.ask(turn_seq, row).await;
                    }
                }
                body => self.say(ConsoleShow::Out(body)).await,
            }
            self.app.mail.shown(row.id).await?;
        }
        self.close_answered().await
    }

    async fn ask(&mut self, turn_seq: u64, row: ApprovalRow) {
        if row.state != "waiting" || !self.asked.insert(row.id.clone()) {
            return;
        }
        self.next_expiry_ms = Some(self.next_expiry_ms.map_or(row.expires_ms, |at| at.min(row.expires_ms)));
        self.say(ConsoleShow::Out(OutboundBody::Question { turn_seq, question: Box::new(row.question) })).await;
    }

    async fn close_answered(&mut self) -> anyhow::Result<()> {
        for id in self.asked.clone() {
            let row = self.app.store.read(|tx| tx.approval(&id))?;
            let how = match row.as_ref().map(|row| row.state.as_str()) {
                Some("waiting") => continue,
                Some("expired") => "has expired".to_owned(),
                Some("superseded") => "was superseded by a new message".to_owned(),
                Some(_) => match row.and_then(|row| row.decided_by) {
                    Some(by) => format!("was answered by {by}"),
                    None => "was answered".to_owned(),
                },
                None => "is gone".to_owned(),
            };
            self.asked.remove(&id);
            self.say(ConsoleShow::QuestionClosed { approval: id, how }).await;
        }
        Ok(())
    }

    async fn say(&self, show: ConsoleShow) {
        // A screen that is gone ends the chat by itself.
        let _ = self.show.send(show).await;
    }
}
