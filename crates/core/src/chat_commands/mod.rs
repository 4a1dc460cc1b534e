//! Chat commands: what claw says of itself in a chat, and what a chat command makes it do, the same
//! for every door. Owns the Markdown of `/status`, `/usage`, `/model`, `/role`, `/tools`,
//! `/approvals`, `/grants`, `/digest`, `/login`, `/memory`, `/schedule`, `/mode`, `/here`,
//! `/guests`, `/panic`, `/stop jobs` and `/undo files`, and who may pull the stop switch, take back
//! a grant or send an allowed user away. Must not know doors, how a turn goes, or how a model is
//! picked.

mod agents;
mod allowed_users;
mod background_jobs;
mod code;
mod conversation;
mod daily_digest;
mod definitions;
mod grants;
mod here;
mod lists;
mod login;
mod memory;
mod mode;
mod model;
mod once;
mod open_proposals;
mod own;
mod prompt_arguments;
mod prompts;
mod quiet;
mod reminder;
mod role;
mod schedule;
mod status;
mod switch;
mod undo_files;
mod usage;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use futures::future::BoxFuture;
use jiff::tz::TimeZone;

use crate::config::Prices;
use crate::domain::{ChatCommand, Origin, SessionId, UnixMillis, escape};
use crate::gate::{Gate, GatesOfFolders};
use crate::router::{Order, Router, Visitor};
use crate::store::{Store, StoreError, Tx};
use code::{code, code_of};

pub use agents::{AgentState, Agents};
pub use conversation::{Conversation, ConversationCall, ConversationEntry};
pub use daily_digest::{
    DigestLine, DigestOfDay, NOTHING_RAN, TakenBack, digest_lines, without_buttons,
};
pub use grants::{revoke, saved, until};
pub use once::AnswerTo;
pub use open_proposals::WordOfDay;
pub use prompts::PromptLine;
pub use reminder::ReminderTold;
pub use role::Roles;
pub use switch::{OtherStore, SwitchKept, set_panic, set_panic_in_others};
pub use undo_files::{UndoTold, undo_line};

/// A chat command as somebody has given it: where, with which words, and where the answer goes.
#[derive(Clone, Copy)]
struct Given<'a> {
    visitor: &'a Visitor,
    session: &'a SessionId,
    words: &'a str,
    to: &'a AnswerTo,
}

/// The model that answers, as a person is told.
#[derive(Clone, Debug)]
pub struct ModelInUse {
    pub name: String,
    pub provider: String,
    /// One sentence for each model that may answer: why it is this one, and who is behind it.
    pub whys: Vec<String>,
    /// What its name comes from, where that overrides `claw.toml`: a variable, or an option.
    pub overridden_by: Option<String>,
}

/// Asks whether a model of this name is offered: `None` if it is, or if nobody can say, else the
/// names nearest to it.
pub type NotOffered = Arc<dyn Fn(String) -> BoxFuture<'static, Option<Vec<String>>> + Send + Sync>;

/// The real path of a folder that a conversation may be given, or a sentence about why not.
pub type FolderForChat = Arc<dyn Fn(&str) -> Result<PathBuf, String> + Send + Sync>;

/// A heartbeat in a list of what comes. Plain text, no Markdown.
#[derive(Clone, Debug)]
pub struct HeartbeatLine {
    pub name: String,
    /// With weekday, local time and zone.
    pub next: String,
    pub when: String,
    /// What it may still take today.
    pub left: String,
    /// What keeps it from its work.
    pub fault: Option<String>,
}

/// The heartbeats as they are now.
pub type HeartbeatsShown = Arc<dyn Fn() -> Result<Vec<HeartbeatLine>, StoreError> + Send + Sync>;

/// What the chat commands are made of. Owned by [`ChatCommands`] until the settings change; a
/// command that runs keeps those with which it began. The functions ask the app each time.
#[derive(Clone)]
pub struct ChatCommandsParts {
    /// A handle of the app's, as gate and router are.
    pub store: Store,
    /// Of the configured workspace.
    pub gate: Arc<Gate>,
    pub folder_gates: GatesOfFolders,
    pub router: Router,
    /// What of the chain of models is told; made anew with it, as the next one is.
    pub model: ModelInUse,
    pub not_offered: NotOffered,
    /// Where those stand who may talk by configuration, as a person calls it.
    pub allowed_source: String,
    pub roles: Roles,
    pub prices: Prices,
    pub workspace: PathBuf,
    pub folder_for_chat: FolderForChat,
    pub heartbeats: HeartbeatsShown,
    pub agents: Agents,
    /// Whose they are.
    pub agent: String,
    /// The stores of the other agents, for the stop switch alone.
    pub others: Vec<OtherStore>,
    /// The most estimated tokens in what a model sees.
    pub window_tokens: u64,
    /// The most lines of a daily digest in a chat.
    pub digest_lines_max: usize,
    /// In which the owner reads times.
    pub zone: TimeZone,
}

/// Answers chat commands. Cheap to clone; all clones change together.
#[derive(Clone)]
pub struct ChatCommands {
    /// Replaced whole when settings change while claw runs.
    parts: Arc<RwLock<Arc<ChatCommandsParts>>>,
}

impl ChatCommands {
    pub fn new(parts: ChatCommandsParts) -> Self {
        Self { parts: Arc::new(RwLock::new(Arc::new(parts))) }
    }

    /// Changes what it is made of, for the commands that come from now on.
    pub fn change(&self, change: impl FnOnce(&mut ChatCommandsParts)) {
        let mut parts = self.parts.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut parts));
    }

    /// The quiet line under an answer, in Markdown: what ran in its turn by a grant, and what was
    /// denied.
    pub fn quiet_line(
        &self,
        session: &SessionId,
        turn_seq: u64,
    ) -> Result<Option<String>, StoreError> {
        let parts = self.parts();
        quiet::of_turn(&parts.store, &parts.snapshots_of(session)?, session, turn_seq)
    }

    /// The quiet line, and behind it how to put the files of the turn back: for doors without
    /// buttons.
    pub fn quiet_lines(
        &self,
        session: &SessionId,
        turn_seq: u64,
    ) -> Result<Option<String>, StoreError> {
        let quiet = self.quiet_line(session, turn_seq)?;
        let hint = self.changed_files(session, turn_seq)?.map(undo_files::hint);
        Ok(match (quiet, hint) {
            (Some(quiet), Some(hint)) => Some(format!("{quiet}\n\n{hint}")),
            (quiet, hint) => quiet.or(hint),
        })
    }

    fn parts(&self) -> Arc<ChatCommandsParts> {
        self.parts.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Carries out a command with the words behind it. The answer is Markdown, at once, also while
    /// a turn runs. `None`: an order was committed, and what comes of it comes by the outbox; or it
    /// is `/help` or `/quit`, which are the door's own. What a person typed wrong is an answer, not
    /// an error.
    pub async fn command(
        &self,
        visitor: &Visitor,
        session: &SessionId,
        command: ChatCommand,
        words: &str,
    ) -> Result<Option<String>, StoreError> {
        self.answer(visitor, session, command, words, &AnswerTo::Caller).await
    }

    /// The same for a command that came with an update of a chat service: the answer goes out by
    /// the outbox, and the effect, the answer and the end of the update are one transaction, so
    /// that it is carried out and answered once.
    // Boxed, so that it is compiled here, and not once more in each door that waits for it.
    pub fn answer<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        command: ChatCommand,
        words: &'a str,
        to: &'a AnswerTo,
    ) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(self.answered(visitor, session, command, words, to))
    }

    async fn answered(
        &self,
        visitor: &Visitor,
        session: &SessionId,
        command: ChatCommand,
        words: &str,
        to: &AnswerTo,
    ) -> Result<Option<String>, StoreError> {
        let given = Given { visitor, session, words, to };
        let parts = self.parts();
        match order_of(command) {
            Some(Order::Undo) => return self.undo(visitor, session).await,
            Some(order) => return self.order(visitor, session, order).await,
            None => {}
        }
        let text = match command {
            // What other conversations hold is nothing for an allowed user or for a member of a
            // group.
            ChatCommand::Approvals
            | ChatCommand::Grants
            | ChatCommand::AllowedUsers
            | ChatCommand::Digest
            | ChatCommand::Agents
                if !is_owner(visitor) =>
            {
                "Only the owner may see this.".to_owned()
            }
            ChatCommand::StopJobs => return self.stop_jobs(given).await,
            ChatCommand::Status => status::markdown(&parts, session, visitor).await?,
            ChatCommand::UndoFiles => undo_files::markdown(&parts, visitor, session, words).await?,
            ChatCommand::Usage => usage::markdown(&parts, session)?,
            ChatCommand::Model => return self.model(given).await,
            ChatCommand::Agents => agents::markdown(&(parts.agents)(), &parts.agent),
            ChatCommand::Role => return self.role(given).await,
            ChatCommand::Tools => lists::tools(&parts.gate).await,
            ChatCommand::Prompts => return self.prompts(given).await,
            ChatCommand::Login => return self.login(given).await,
            ChatCommand::Approvals => lists::approvals(&parts.store)?,
            ChatCommand::Grants => return self.grants(given).await,
            ChatCommand::Digest => return self.digest_now(given.to).await,
            ChatCommand::Here => return self.here(given).await,
            ChatCommand::Memory => return self.memory(given).await,
            ChatCommand::Remember => return self.remember(given).await,
            ChatCommand::Forget => return self.forget(given).await,
            ChatCommand::Remind => return self.remind(given).await,
            ChatCommand::Schedule => return self.schedule(given).await,
            ChatCommand::Mode => return self.mode_command(given).await,
            ChatCommand::AllowedUsers => return self.allowed_users(given).await,
            ChatCommand::Panic => return self.panic(given).await,
            // The orders are carried out above; help and leaving are the door's own.
            ChatCommand::New | ChatCommand::Stop | ChatCommand::Compact | ChatCommand::Undo => {
                return Ok(None);
            }
            ChatCommand::Help | ChatCommand::Quit | ChatCommand::Staged => return Ok(None),
        };
        to.say(&parts.store, text).await
    }

    async fn order(
        &self,
        visitor: &Visitor,
        session: &SessionId,
        order: Order,
    ) -> Result<Option<String>, StoreError> {
        self.parts().router.order(visitor, session, order).await?;
        Ok(None)
    }

    /// A session takes nothing in while its model thinks, so what it would refuse then is refused
    /// here at once; a message that waits is a turn that is about to be in the log. A turn that is
    /// being stopped is waited for.
    async fn undo(
        &self,
        visitor: &Visitor,
        session: &SessionId,
    ) -> Result<Option<String>, StoreError> {
        let refused = self.parts().store.read(|tx| {
            let goes_on = tx.turn_open(session)? || tx.queued_messages(session)? > 0;
            Ok(goes_on && !tx.stop_queued(session)?)
        })?;
        if refused {
            return Ok(Some(crate::session::TURN_IS_OPEN.to_owned()));
        }
        self.order(visitor, session, Order::Undo).await
    }

    async fn grants(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, words, to, .. } = given;
        let words: Vec<&str> = words.split_whitespace().collect();
        let parts = self.parts();
        let store = &parts.store;
        match words[..] {
            [] => to.say(store, grants::markdown(store, &parts.zone)?).await,
            ["revoke", id] => {
                let (id, by) = (id.to_owned(), visitor.principal.clone());
                let revoke = move |tx: &Tx<'_>| {
                    Ok(match grants::revoke_in(tx, &id, &by)? {
                        Some(id) => format!("Grant {id} is revoked."),
                        None => format!(
                            "There is no grant {} in force; `/grants` lists them.",
                            code(&id)
                        ),
                    })
                };
                to.once(store, revoke).await
            }
            _ => {
                to.say(
                    store,
                    "`/grants` lists them, `/grants revoke ID` takes one back.".to_owned(),
                )
                .await
            }
        }
    }

    async fn model(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let parts = self.parts();
        let store = &parts.store;
        let name = words.trim();
        if name.is_empty() {
            let own = store.read(|tx| tx.session_model(session))?;
            return to.say(store, model::markdown(&parts.model, own.as_deref())).await;
        }
        if !is_owner(visitor) {
            return to.say(store, "Only the owner may choose the model.".to_owned()).await;
        }
        let mut refused = model::refusal(&parts.model, name);
        if refused.is_none() && name != model::DEFAULT {
            let nearest = (parts.not_offered)(name.to_owned()).await;
            refused = nearest.map(|nearest| model::not_offered(&parts.model, name, &nearest));
        }
        if let Some(refused) = refused {
            return to.say(store, refused).await;
        }
        let (name, by, session) = (name.to_owned(), visitor.principal.clone(), session.clone());
        to.once(store, move |tx| model::choose_in(tx, &session, &name, &by)).await
    }

    async fn allowed_users(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, words, to, .. } = given;
        let words: Vec<&str> = words.split_whitespace().collect();
        let parts = self.parts();
        let store = &parts.store;
        match words[..] {
            [] => {
                let (from, zone) = (&parts.allowed_source, &parts.zone);
                let list = store.read(|tx| allowed_users::markdown(tx, from, zone))?;
                to.say(store, list).await
            }
            ["remove", id] => {
                let (id, by) = (id.to_owned(), visitor.principal.clone());
                to.once(store, move |tx| allowed_users::remove_in(tx, (&id, &by))).await
            }
            ["ask", id] => {
                let id = id.to_owned();
                to.once(store, move |tx| allowed_users::ask_in(tx, &id)).await
            }
            _ => {
                let ways = "`/guests` lists them, `/guests remove ID` sends one away.";
                to.say(store, ways.to_owned()).await
            }
        }
    }

    /// Whoever types this may be in a hurry: everything but `off` and `status` turns the switch on.
    async fn panic(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let Given { visitor, words, to, .. } = given;
        let words = words.trim().to_ascii_lowercase();
        let parts = self.parts();
        let store = &parts.store;
        if words == "status" {
            return to.say(store, store.read(switch::markdown)?).await;
        }
        if !is_owner(visitor) {
            return to.say(store, "Only the owner may use the stop switch.".to_owned()).await;
        }
        let (on, by) = (words != "off", visitor.principal.clone());
        let others = &parts.others;
        let (mut all, mut failed) = (String::new(), Vec::new());
        if on {
            // At once, and also where the answer cannot be kept.
            set_panic(store, on, &by).await?;
        }
        if on && !others.is_empty() {
            failed = set_panic_in_others(others, on, &by).await;
            all = format!(" This holds for all {} agents.", others.len() + 1);
        } else if !others.is_empty() {
            // Somebody else may have stopped the others, and for a reason.
            all = " The other agents stay as they are; `claw panic off` releases all of them."
                .to_owned();
        }
        let switch = move |tx: &Tx<'_>| {
            switch::set_in(tx, on, &by)?;
            let failed: String =
                failed.iter().map(|one| format!("\n\n**{}**", escape::visible(one))).collect();
            Ok(format!("{}{all}{failed}", switch::markdown(tx)?))
        };
        to.once(store, switch).await
    }
}

/// The order that a command gives to a session, if it is one.
pub fn order_of(command: ChatCommand) -> Option<Order> {
    Some(match command {
        ChatCommand::New => Order::Clear,
        ChatCommand::Stop => Order::Stop,
        ChatCommand::Compact => Order::Compact,
        ChatCommand::Undo => Order::Undo,
        _ => return None,
    })
}

fn is_owner(visitor: &Visitor) -> bool {
    visitor.origin == Origin::Owner
}

/// A moment in the person's own time.
pub fn when(at_ms: UnixMillis, zone: &TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at_ms) {
        Ok(at) => at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => format!("{at_ms} ms"),
    }
}

#[cfg(test)]
mod tests;
