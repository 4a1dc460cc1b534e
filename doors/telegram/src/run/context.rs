//! What the tasks of one bot share beside what those of every door do: the bot, its pace, who is
//! blocked. Must not know what any of them does.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;

use super::files::Files;
use super::message_versions::MessageVersions;
use super::notify;
use crate::Part;
use crate::api::pace::Pace;
use crate::api::place::Place;
use crate::api::settings::Telegram;
use crate::api::{Api, Me};
use crate::domain::{Address, telegram_principal};
use crate::door_context::Context;
use crate::doors::clock::Clock;
use crate::doors::gateway::bot::GatewayBot;
use crate::doors::gateway::fleet::Fleet;
use crate::doors::shared::DoorState;
use crate::mail::{Mail, MailError, PostedQuestion};
use crate::router::Router;
use crate::workspace::{Workspace, is_there, what_became_of};

/// An unknown user is mentioned in the log once in this time.
const UNKNOWN_USER_EVERY: Duration = Duration::from_secs(3600);
/// A person is told in words that the store cannot be written once in this time.
const STORE_FAILED_EVERY: Duration = Duration::from_secs(3600);
/// So many unknown users are told apart; more share a line.
const UNKNOWN_USERS_MAX: usize = 1000;

/// So many times a chat is told, in the life of a process, why a reaction does not count.
const REACTIONS_TOLD_MAX: usize = 1000;

/// Lives as long as the bot is at work. What is remembered here is forgotten then.
pub(super) struct GatewayContext {
    /// What the parts that all doors share have of this one.
    pub(super) shared: DoorState<Part>,
    /// A handle of the agent's app, as the router is; both are in `shared`, too.
    pub(super) mail: Mail,
    pub(super) router: Router,
    /// The settings of this bot, as they were at its start.
    pub(super) telegram: Telegram,
    /// The connections to Telegram, shared by all tasks of the bot.
    pub(super) api: Api,
    /// The bot itself, as `getMe` named it at its start.
    pub(super) me: Me,
    /// Whose turn it is to be sent.
    pub(super) pace: Pace,
    /// The folders for files, open as long as the bot is at work.
    pub(super) files: Files,
    /// The other agents.
    pub(super) fleet: Arc<Fleet>,
    /// When each unknown user was last mentioned in the log.
    unknown_users: Mutex<HashMap<i64, Instant>>,
    /// The chats that do not let the bot write; the store has them, too.
    blocked: Mutex<HashSet<i64>>,
    /// For which messages of questions a chat was told why a reaction does not count.
    reactions_told: Mutex<HashSet<(Address, i64, &'static str)>>,
    /// When the store last could not be written, as far as a person was told.
    store_failed: Mutex<Option<Instant>>,
    /// What the newest messages said when they were last handled.
    pub(super) versions: MessageVersions,
    /// The day of which it was told that its tokens are nearly used up.
    tokens_told: Mutex<String>,
    /// The day of which the digest was told or had nothing to tell, as far as this process knows;
    /// the store has it, too.
    digest_told: Mutex<String>,
}

impl GatewayContext {
    pub(super) fn new(
        context: Context,
        telegram: Telegram,
        (api, me): (Api, Me),
        files: Files,
        fleet: Arc<Fleet>,
    ) -> Self {
        let pace = Pace::new(telegram.pace);
        let (unknown_users, blocked, store_failed) =
            (Mutex::default(), Mutex::default(), Mutex::default());
        Self {
            mail: context.mail.clone(),
            router: context.router.clone(),
            shared: DoorState::new(context),
            telegram,
            api,
            me,
            pace,
            files,
            fleet,
            unknown_users,
            blocked,
            reactions_told: Mutex::default(),
            store_failed,
            versions: MessageVersions::default(),
            tokens_told: Mutex::default(),
            digest_told: Mutex::default(),
        }
    }

    /// Where what needs a human goes; `None` if there is no owner.
    pub(super) fn notify_place(&self) -> Option<Place> {
        self.telegram.notify_chat.map(|chat| Place { bot: self.me.id, chat, thread: None })
    }

    /// The time, as the owner reads it.
    pub(super) fn clock(&self) -> Clock {
        Clock { zone: self.shared.context.zone.clone(), ..Clock::system() }
    }

    /// Who somebody is to the readers of a chat.
    pub(super) fn known_as(&self, place: &Place, principal: &str) -> String {
        if place.chat > 0 && principal == telegram_principal(place.chat) {
            return "you".to_owned();
        }
        if principal == self.shared.context.owner {
            "you, at the console".to_owned()
        } else {
            principal.to_owned()
        }
    }

    /// Where the files of a conversation lie: in the folder that it works in. If that is away, half
    /// a sentence that says so: they go nowhere else.
    pub(super) fn workspace_at(&self, place: &Place) -> Result<Arc<Workspace>, String> {
        let Ok(session) = place.session() else { return Ok(self.files.workspace.clone()) };
        let own = self.mail.session_folder(&session).map_err(|error| error.to_string())?;
        let Some(folder) = own else { return Ok(self.files.workspace.clone()) };
        // A group reads this, and where its folder lies is the owner's matter.
        let away = |why: String| {
            tracing::warn!(folder = %folder.display(), why, "a folder cannot be used for files");
            format!("the folder of this conversation {why}")
        };
        if !is_there(&folder) {
            return Err(away(what_became_of(&folder).to_owned()));
        }
        let opened = Workspace::open(&folder).map(Arc::new);
        opened.map_err(|error| away(format!("cannot be opened: {error}")))
    }

    pub(super) fn is_owner(&self, user: i64) -> bool {
        self.telegram.owners.contains(&user)
    }

    /// Whether nobody who may decide reads this chat: the private one of an allowed user.
    pub(super) fn is_without_owner(&self, place: &Place) -> bool {
        place.chat > 0 && !self.is_owner(place.chat)
    }

    pub(super) fn is_blocked(&self, chat: i64) -> bool {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner).contains(&chat)
    }

    /// False when it was so before.
    pub(super) fn set_blocked(&self, chat: i64, is: bool) -> bool {
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        if is { blocked.insert(chat) } else { blocked.remove(&chat) }
    }

    /// Whether a chat was not told yet why reactions to a message do not count: nobody can flood
    /// it.
    pub(super) fn reaction_is_news(&self, on: &PostedQuestion, why: &'static str) -> bool {
        let mut told = self.reactions_told.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < REACTIONS_TOLD_MAX && told.insert((on.address.clone(), on.message, why))
    }

    /// Whether it was not yet told of this day that its tokens are nearly used up; the store knows
    /// it, too.
    pub(super) fn tokens_are_news(&self, day: &str) -> bool {
        let mut told = self.tokens_told.lock().unwrap_or_else(PoisonError::into_inner);
        let news = *told != day;
        day.clone_into(&mut told);
        news
    }

    pub(super) fn digest_is_due(&self, day: &str) -> bool {
        *self.digest_told.lock().unwrap_or_else(PoisonError::into_inner) != day
    }

    pub(super) fn digest_is_told(&self, day: String) {
        *self.digest_told.lock().unwrap_or_else(PoisonError::into_inner) = day;
    }

    /// Whether a person should hear that the store cannot be written: once in a while.
    pub(super) fn store_failure_is_news(&self) -> bool {
        let mut failed = self.store_failed.lock().unwrap_or_else(PoisonError::into_inner);
        let news = failed.is_none_or(|at| at.elapsed() > STORE_FAILED_EVERY);
        if news {
            *failed = Some(Instant::now());
        }
        news
    }

    /// Whether an unknown user is worth a line in the log: none can fill it.
    pub(super) fn is_news(&self, user: i64) -> bool {
        let mut unknown_users = self.unknown_users.lock().unwrap_or_else(PoisonError::into_inner);
        unknown_users.retain(|_, seen| seen.elapsed() < UNKNOWN_USER_EVERY);
        unknown_users.len() < UNKNOWN_USERS_MAX
            && unknown_users.insert(user, Instant::now()).is_none()
    }
}

impl GatewayBot for GatewayContext {
    fn agent(&self) -> &str {
        &self.shared.context.agent
    }

    fn name(&self) -> &str {
        &self.me.username
    }

    fn has_notify_place(&self) -> bool {
        self.notify_place().is_some()
    }

    fn has_owner(&self, user: i64) -> bool {
        self.is_owner(user)
    }

    fn answers(&self) -> Result<(), MailError> {
        self.mail.version().map(drop)
    }

    fn tell<'a>(&'a self, kind: &'a str, every_ms: i64, text: String) -> BoxFuture<'a, ()> {
        Box::pin(notify::tell(self, kind, every_ms, text))
    }
}
