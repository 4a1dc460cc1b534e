//! All agents of one gateway: which of them is at work, and who tells a person of one that cannot
//! tell it itself. Must not know what any of them does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::bot::GatewayBot;
use crate::chat_commands::AgentState;
use crate::config::MAIN;
use crate::domain::{AgentCard, escape};

/// The same about the same agent is told once in this time, in milliseconds.
const TELL_EVERY_MS: i64 = 60 * 60 * 1000;
/// How long those that start are waited for before something is told.
const ALL_TRIED_WITHIN: Duration = Duration::from_secs(30);
/// So much waits for an agent that can tell it; more is in the log alone.
const NEWS_MAX: usize = 100;

/// How it is with one agent.
#[derive(Clone)]
pub enum State {
    /// Nothing is known yet.
    Starting,
    /// Its bot cannot be reached; it is tried again.
    Trying(String),
    AtWork(Arc<dyn GatewayBot>),
    /// Nothing is tried any more in this run.
    Down(String),
}

/// The agent, and the section of the door that runs its bot.
pub type Seat = (String, &'static str);

impl State {
    fn rank(&self) -> u8 {
        match self {
            Self::AtWork(_) => 0,
            Self::Trying(_) => 1,
            Self::Starting => 2,
            Self::Down(_) => 3,
        }
    }
}

/// Something about an agent that its own bot may not be able to say.
struct News {
    about: String,
    /// Who should hear it, if one of the others knows them.
    chat: Option<i64>,
    text: String,
}

pub struct Fleet {
    /// All agents of the home. The same until the process ends.
    cards: Vec<AgentCard>,
    /// By agent and the section of its door: at work, or down and why.
    states: Mutex<BTreeMap<Seat, State>>,
    /// What is to be told of an agent, until another one has told it.
    news: Mutex<Vec<News>>,
    /// Notified when a state changes, and when there is news.
    changed: Notify,
    /// No new work.
    pub closing: CancellationToken,
}

impl Fleet {
    /// `cards` are all agents of the home, `at` the bots that were meant.
    pub fn new(cards: Vec<AgentCard>, at: impl Iterator<Item = Seat>) -> Arc<Self> {
        let states = at.map(|seat| (seat, State::Starting)).collect();
        Arc::new(Self {
            cards,
            states: Mutex::new(states),
            news: Mutex::default(),
            changed: Notify::new(),
            closing: CancellationToken::new(),
        })
    }

    fn states(&self) -> MutexGuard<'_, BTreeMap<Seat, State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent's bot at this door is not at work any more in this run.
    pub fn down(&self, agent: &str, door: &'static str, why: String) {
        self.set(agent, door, State::Down(why));
    }

    pub fn set(&self, agent: &str, door: &'static str, state: State) {
        self.states().insert((agent.to_owned(), door), state);
        self.changed.notify_waiters();
    }

    /// Whether there is more than one bot.
    pub fn is_many(&self) -> bool {
        self.states().len() > 1
    }

    /// The doors of those at work.
    pub(super) fn doors(&self) -> Vec<Arc<dyn GatewayBot>> {
        let at_work = |state: &State| match state {
            State::AtWork(door) => Some(door.clone()),
            _ => None,
        };
        self.states().values().filter_map(at_work).collect()
    }

    /// Waits until one is at work and all others have been tried once.
    async fn begun(&self) {
        self.until(|states| {
            let tried = states.values().all(|state| !matches!(state, State::Starting));
            tried && states.values().any(|state| matches!(state, State::AtWork(_)))
        })
        .await;
    }

    /// Waits until one is at work.
    pub async fn any_at_work(&self) {
        self.until(|states| states.values().any(|state| matches!(state, State::AtWork(_)))).await;
    }

    async fn until(&self, holds: impl Fn(&BTreeMap<Seat, State>) -> bool) {
        loop {
            let changed = self.changed.notified();
            if holds(&self.states()) {
                return;
            }
            changed.await;
        }
    }

    /// What `/agents` shows of each: the bot that is nearest to work.
    pub fn shown(&self) -> Vec<(AgentCard, AgentState)> {
        let states = self.states();
        let shown = |card: &AgentCard| {
            let of_agent = states.iter().filter(|((agent, _), _)| *agent == card.name);
            let state = match of_agent.map(|(_, state)| state).min_by_key(|state| state.rank()) {
                None => AgentState::NoBot,
                Some(State::Starting) => AgentState::Trying("it is starting".to_owned()),
                Some(State::Trying(why)) => AgentState::Trying(why.clone()),
                Some(State::AtWork(door)) => {
                    AgentState::AtWork { username: door.name().to_owned() }
                }
                Some(State::Down(why)) => AgentState::Down(why.clone()),
            };
            (card.clone(), state)
        };
        self.cards.iter().map(shown).collect()
    }

    /// Keeps something to be told about an agent until one that is at work can tell it.
    pub fn tell(&self, about: &str, chat: Option<i64>, text: &str) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        if news.len() < NEWS_MAX {
            news.push(News { about: about.to_owned(), chat, text: text.to_owned() });
        }
        drop(news);
        self.changed.notify_waiters();
    }

    /// Passes on what is to be told, for as long as it is polled.
    pub async fn tell_around(&self) {
        // The agent that should tell it may be about to start.
        let _all_tried = tokio::time::timeout(ALL_TRIED_WITHIN, self.begun()).await;
        loop {
            let changed = self.changed.notified();
            let doors = self.doors();
            if !doors.is_empty() {
                let news =
                    std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner));
                for news in news {
                    let Some(teller) = teller(&doors, &news) else {
                        tracing::warn!(
                            agent = news.about,
                            news.text,
                            "nobody can be told of it by a bot"
                        );
                        continue;
                    };
                    // It may quote Telegram, so nothing in it is Markdown.
                    let said = escape::visible(&news.text).replace('`', "'");
                    let text = format!("**The agent {} is not at work.** `{said}`", news.about);
                    teller.tell(&format!("agent.{}", news.about), TELL_EVERY_MS, text).await;
                }
            }
            changed.await;
        }
    }
}

/// Who tells it: the agent itself if it can, else one that the same person owns, else the main one,
/// else any.
fn teller<'a>(doors: &'a [Arc<dyn GatewayBot>], news: &News) -> Option<&'a Arc<dyn GatewayBot>> {
    let named = |name: &str| doors.iter().find(|door| door.agent() == name);
    let owned = || doors.iter().find(|door| news.chat.is_some_and(|chat| door.has_owner(chat)));
    let can_tell = |door: &&Arc<dyn GatewayBot>| door.has_notify_place();
    named(&news.about)
        .filter(can_tell)
        .or_else(|| owned().filter(can_tell))
        .or_else(|| named(MAIN).filter(can_tell))
        .or_else(|| doors.iter().find(can_tell))
}
