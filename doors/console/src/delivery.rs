//! Brings one console what waits for it: rows of the outbox, open questions, and word of questions
//! that were closed elsewhere. Must not know how anything is shown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::ConsoleDoor;
use crate::chat::ConsoleShow;
use crate::chat_commands::ChatCommands;
use crate::domain::{ApprovalId, ApprovalState, OutboundBody, Question, Staged, client_of_call};
use crate::door_context::Context;
use crate::doors::Door as _;
use crate::doors::door::QuestionMessage;
use crate::doors::instance_outbox::InstanceOutbox;
use crate::doors::news::NewsSeen;
use crate::doors::questions::closed;
use crate::doors::staged_questions;
use crate::mail::{AskedQuestion, PostedQuestion};

/// Owned by the task that keeps the session going, and gone with it.
pub struct Delivery {
    /// The chat's own, as the door is.
    outbox: Arc<InstanceOutbox>,
    /// A handle of the process's.
    chat_commands: ChatCommands,
    door: Arc<ConsoleDoor>,
    /// The questions that are on the screen and open, each with the message that shows it. They go
    /// with the process: the next one asks what is open again.
    asked: BTreeMap<ApprovalId, PostedQuestion>,
    /// What of the lists on the screen is answered.
    lists: BTreeMap<ApprovalId, Vec<ApprovalState>>,
    seen: NewsSeen,
    /// Everything that was open when this console came has been asked.
    begun: bool,
    /// A person sits here, who is also asked what MCP clients want, and other processes.
    has_a_person: bool,
}

/// What a turn has staged, and the rows of the outbox that said so.
#[derive(Default)]
struct Listed {
    turn_seq: u64,
    questions: Vec<Question>,
    rows: Vec<i64>,
}

impl Delivery {
    pub fn new(
        context: &Context,
        outbox: Arc<InstanceOutbox>,
        door: Arc<ConsoleDoor>,
        has_a_person: bool,
    ) -> Self {
        Self {
            outbox,
            chat_commands: context.chat_commands.clone(),
            door,
            asked: BTreeMap::new(),
            lists: BTreeMap::new(),
            seen: NewsSeen::default(),
            begun: false,
            has_a_person,
        }
    }

    /// Delivers what waits, and asks every open question again.
    pub async fn begin(&mut self) -> anyhow::Result<()> {
        // Whatever else could not be delivered, what is open is asked.
        let delivered = self.deliver().await;
        self.begun = true;
        let mut found = Vec::new();
        for row in self.outbox.mail.open_questions(Some(&self.outbox.session))? {
            // Nothing of its turn is on this screen.
            let Some(question) = self.ask(0, row).await else { continue };
            let list = self.outbox.mail.list_of(&question.call)?;
            found.push((list.unwrap_or_else(|| question.call.clone()).seq(), question));
        }
        // A list in its own order, though all of it was asked in the same millisecond; an older
        // list comes first.
        found.sort_by_key(|(list, question)| {
            (*list, question.staged.as_ref().map(staged_questions::place))
        });
        let questions = found.into_iter().map(|(_, question)| question).collect();
        self.show_list(&mut Listed { questions, ..Listed::default() }).await;
        delivered
    }

    /// How long it is until the time of the next question is over.
    pub fn next_expiry(&self) -> Duration {
        self.seen.next_expiry()
    }

    /// Whether there is something to look at: another commit, or a question whose time is over.
    pub fn news(&mut self) -> bool {
        self.seen.is_news(&self.outbox.mail)
    }

    /// Shows what waits for this console, and what earlier ones of this session had not shown.
    pub async fn deliver(&mut self) -> anyhow::Result<()> {
        // Also later on: what becomes of an action is addressed to whoever was here when it was
        // staged.
        self.outbox.adopt().await?;
        // What a turn has staged comes out in one transaction, row behind row, and is shown as one
        // list.
        let mut list = Listed::default();
        for row in self.outbox.waiting()? {
            let OutboundBody::Question { turn_seq, question } = row.outbound.body else {
                self.show_list(&mut list).await;
                let quiet = match &row.outbound.body {
                    OutboundBody::Reply { turn_seq, .. } => {
                        self.chat_commands.quiet_lines(&row.outbound.session, *turn_seq)?
                    }
                    _ => None,
                };
                self.send(row.outbound.body).await;
                if let Some(text) = quiet {
                    self.send(OutboundBody::Notice { text }).await;
                }
                self.gave(row.id).await;
                continue;
            };
            if list.turn_seq != turn_seq {
                self.show_list(&mut list).await;
                list.turn_seq = turn_seq;
            }
            // At the beginning all that is open is asked as one list, also what an earlier console
            // had half shown.
            if question.staged.is_some() && !self.begun {
                list.rows.push(row.id);
                continue;
            }
            // From the store, because it may have been answered before it got here.
            if let Some(asked) = self.outbox.mail.asked_question(&question.approval)? {
                list.questions.extend(self.ask(turn_seq, asked).await);
            }
            list.rows.push(row.id);
        }
        self.show_list(&mut list).await;
        let mut of_clients = self.ask_for_clients().await?;
        self.show_list(&mut of_clients).await;
        self.close_answered().await
    }

    /// The same where nothing runs here, and asks also what another process has put into this
    /// session, `claw ask` perhaps, whose rows of the outbox are its own. While a turn runs here
    /// its own questions come first, each at its place.
    pub async fn deliver_all(&mut self) -> anyhow::Result<()> {
        self.deliver().await?;
        // Lines of a pipe were written before anything was asked.
        if !self.has_a_person {
            return Ok(());
        }
        let mut list = Listed::default();
        for row in self.outbox.mail.open_questions(Some(&self.outbox.session))? {
            list.questions.extend(self.ask(0, row).await);
        }
        self.show_list(&mut list).await;
        Ok(())
    }

    /// A client has no screen of its owner's: its questions come to whoever of the owner's doors
    /// has a person before it. Lines of a pipe were written before anything was asked.
    /// What they propose is given back for a list.
    async fn ask_for_clients(&mut self) -> anyhow::Result<Listed> {
        let mut list = Listed::default();
        if !self.has_a_person {
            return Ok(list);
        }
        for row in self.outbox.mail.open_questions(None)? {
            let of_client = row.question.effect.as_ref().is_some_and(|effect| effect.for_client);
            let proposed = row.question.staged.is_some() && client_of_call(&row.call).is_some();
            if of_client || proposed {
                list.questions.extend(self.ask(0, row).await);
            }
        }
        Ok(list)
    }

    async fn show_list(&mut self, list: &mut Listed) {
        let Listed { turn_seq, questions, rows } = std::mem::take(list);
        if !questions.is_empty() {
            self.door.say(ConsoleShow::Staged { turn_seq, questions }).await;
        }
        for row in rows {
            self.gave(row).await;
        }
    }

    /// The whole of a row was given to the screen, which says when it has left, see [`mark_shown`].
    async fn gave(&mut self, row: i64) {
        self.outbox.gave(row);
        self.door.say(ConsoleShow::Mark(row)).await;
    }

    /// Asks a question that is open and not on the screen. What was staged is not asked by itself:
    /// it is given back for a list.
    async fn ask(&mut self, turn_seq: u64, row: AskedQuestion) -> Option<Question> {
        // All items at once is a word that is typed under their list.
        if matches!(row.question.staged, Some(Staged::All { .. })) {
            return None;
        }
        if row.state != ApprovalState::Waiting || self.asked.contains_key(&row.id) {
            return None;
        }
        self.seen.is_open_until(row.expires_ms);
        if let Some(list) = &row.question.list {
            self.lists.insert(row.id.clone(), list.states());
        }
        let staged = row.question.staged.is_some();
        let asked = match staged {
            true => QuestionMessage::default(),
            // A screen that is gone ends the chat by itself.
            false => {
                let asked = self.door.ask(self.outbox.address(), turn_seq, &row.question).await;
                asked.unwrap_or_default()
            }
        };
        self.asked.insert(row.id.clone(), asked.posted(&row.id, self.outbox.address()));
        staged.then_some(row.question)
    }

    /// Shows of the questions on the screen what has become of them.
    async fn close_answered(&mut self) -> anyhow::Result<()> {
        for (id, posted) in self.asked.clone() {
            let row = self.outbox.mail.asked_question(&id)?;
            if let Some(row) = row.as_ref().filter(|row| row.state == ApprovalState::Waiting) {
                self.bring_in_step(&posted, row).await;
                continue;
            }
            self.lists.remove(&id);
            self.asked.remove(&id);
            // A screen that is gone ends the chat by itself.
            let _ = match row {
                Some(row) => self.door.close(&posted, &row.question, &closed(&row, None).0).await,
                None => self.door.closed(id, "is gone".to_owned()).await,
            };
        }
        Ok(())
    }

    /// Something of a list that is open may be answered.
    async fn bring_in_step(&mut self, posted: &PostedQuestion, row: &AskedQuestion) {
        let Some(list) = &row.question.list else { return };
        let states = list.states();
        if self.lists.insert(row.id.clone(), states.clone()) != Some(states) {
            // A screen that is gone ends the chat by itself.
            let _ = self.door.show_answered(posted, &row.question).await;
        }
    }

    async fn send(&self, body: OutboundBody) {
        // A screen that is gone ends the chat by itself.
        let _ = self.door.send(self.outbox.address(), &body).await;
    }
}

/// Marks rows as shown when their lines have left for the screen, until it is told to end, and then
/// what has left by then.
pub async fn mark_shown(
    outbox: Arc<InstanceOutbox>,
    mut left: mpsc::UnboundedReceiver<i64>,
    mut ended: oneshot::Receiver<()>,
) {
    loop {
        let row = tokio::select! {
            biased;
            row = left.recv() => row,
            _ = &mut ended, if !left.is_closed() => {
                left.close();
                continue;
            }
        };
        let Some(row) = row else { return };
        if let Err(error) = outbox.shown(row).await {
            // It comes once more, which is better than not at all.
            tracing::warn!(%error, "what was shown could not be noted");
        }
    }
}
