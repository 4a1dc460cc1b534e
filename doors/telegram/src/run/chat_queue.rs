//! Which queue an update goes into, that the parts of an album become one message, and what becomes
//! of an update that fails. Must not know what an update says, or how queues are kept.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinError;

use super::context::GatewayContext;
use super::handling::{self, commanded};
use super::message_versions::MessageVersion;
use super::notify;
use crate::api::incoming::{ChatMessage, Incoming};
use crate::api::place::Place;
use crate::domain::ChatCommand;
use crate::domain::login_answer::LOGIN_MARK;
use crate::doors::chat_queue::Handler;
use crate::doors::commands::Parsed;

/// Telegram sends the parts of an album as messages, at once or nearly so, and does not say how
/// many there are.
const ALBUM_QUIET: Duration = Duration::from_secs(1);

/// An update that waits in its queue.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub id: i64,
    pub incoming: Incoming,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum QueueKey {
    /// What is said in a conversation, in order.
    Talk(Place),
    /// Taps and reactions in a chat, and commands that must not wait for a file.
    Now(i64),
    /// What concerns no chat.
    Rest,
}

impl Handler for GatewayContext {
    type Item = Item;
    type Key = QueueKey;

    fn key_of(&self, item: &Item, is_slow: impl Fn(&QueueKey) -> bool) -> QueueKey {
        key_of(&item.incoming, &self.me.username, is_slow)
    }

    /// Files have to be fetched, and a login asks servers of others.
    fn is_slow(item: &Item) -> bool {
        message_of(&item.incoming).is_some_and(|msg| {
            let logs_in = msg.text.starts_with("/login") || msg.text.contains(LOGIN_MARK);
            !msg.files.is_empty() || logs_in
        })
    }

    fn waits_for_more(item: &Item) -> Option<Duration> {
        album_of(item).map(|_| ALBUM_QUIET)
    }

    fn belongs(first: &Item, next: &Item) -> bool {
        album_of(first) == album_of(next)
    }

    /// What waits is on the disk.
    fn is_closing(&self) -> bool {
        self.shared.closing.is_cancelled()
    }

    async fn handle(self: Arc<Self>, items: Vec<Item>) -> anyhow::Result<()> {
        let ids = items.iter().map(|item| item.id).collect();
        let said = items.iter().filter_map(|item| message_of(&item.incoming));
        let versions: Vec<MessageVersion> = said.map(MessageVersion::of).collect();
        let incoming = match joined(items) {
            Some(Incoming::Message(msg)) if msg.edited && self.versions.has_all(&versions) => {
                Incoming::Nothing("unchanged")
            }
            Some(incoming) => incoming,
            None => return Ok(()),
        };
        handling::handle(self.clone(), ids, incoming).await?;
        self.versions.keep(versions);
        Ok(())
    }

    fn failed(self: &Arc<Self>, items: &[Item], error: &anyhow::Error) {
        if let Some(error) = error.downcast_ref() {
            notify::store_failed(self, error);
        }
        let (update, error) = (items.first().map(|item| item.id), format!("{error:#}"));
        tracing::error!(update, error, "an update could not be handled; it is tried again");
    }

    async fn passed_over(&self, items: &[Item], bug: &JoinError) {
        let update = items.first().map(|item| item.id);
        tracing::error!(update, error = %bug, "an update could not be handled; it is passed over");
        for item in items {
            let finished = self.mail.finish_update(self.me.id, item.id, "failed").await;
            if let Err(error) = finished {
                // The next start finds it again.
                tracing::error!(%error, "the store could not be written");
            }
        }
        notify::bug_in_update(self).await;
    }
}

fn message_of(incoming: &Incoming) -> Option<&ChatMessage> {
    match incoming {
        Incoming::Message(msg) => Some(msg.as_ref()),
        _ => None,
    }
}

/// Album and sender. A new version of a part stands for itself.
fn album_of(item: &Item) -> Option<(String, i64)> {
    let msg = message_of(&item.incoming).filter(|msg| !msg.edited)?;
    Some((msg.album.clone()?, msg.user))
}

fn joined(items: Vec<Item>) -> Option<Incoming> {
    let mut items = items.into_iter().map(|item| item.incoming);
    let mut whole = items.next()?;
    for part in items {
        if let (Incoming::Message(whole), Incoming::Message(part)) = (&mut whole, part) {
            whole.join(*part);
        }
    }
    Some(whole)
}

/// A command stays behind what was said before it, because it may be about that; unless a file is
/// being fetched, for which a person who wants to stop something must not wait.
fn key_of(incoming: &Incoming, username: &str, is_slow: impl Fn(&QueueKey) -> bool) -> QueueKey {
    match incoming {
        Incoming::Nothing(_) => QueueKey::Rest,
        Incoming::Reaction(reacted) => QueueKey::Now(reacted.chat),
        Incoming::Tap(tapped) => {
            tapped.at.as_ref().map_or(QueueKey::Rest, |(place, _)| QueueKey::Now(place.chat))
        }
        Incoming::Message(msg) => {
            let talk = QueueKey::Talk(msg.place.clone());
            let keeps_its_place = [ChatCommand::New, ChatCommand::Compact, ChatCommand::Undo];
            match commanded(msg, username) {
                Parsed::Command(command, _)
                    if !keeps_its_place.contains(&command) && is_slow(&talk) =>
                {
                    QueueKey::Now(msg.place.chat)
                }
                _ => talk,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(id: i64, album: Option<&str>, text: &str) -> Item {
        let place = Place { bot: 1, chat: 7, thread: None };
        let msg = ChatMessage {
            id,
            place,
            private: true,
            user: 7,
            name: "Ann".into(),
            text: text.into(),
            edited: false,
            forwarded: false,
            reply: None,
            elsewhere: None,
            addressed: false,
            at_s: 0,
            files: Vec::new(),
            words: None,
            album: album.map(str::to_owned),
        };
        Item { id, incoming: Incoming::Message(Box::new(msg)) }
    }

    #[test]
    fn parts_of_one_album_belong_together() {
        let (first, next) = (part(1, Some("a"), ""), part(2, Some("a"), ""));
        assert!(GatewayContext::belongs(&first, &next));
        assert!(!GatewayContext::belongs(&first, &part(2, Some("b"), "")));
        assert!(!GatewayContext::belongs(&first, &part(2, None, "")));
        assert_eq!(GatewayContext::waits_for_more(&first), Some(ALBUM_QUIET));
        assert_eq!(GatewayContext::waits_for_more(&part(1, None, "")), None);
    }

    #[test]
    fn a_command_overtakes_files_and_nothing_else() {
        let key = |text: &str, slow: bool| key_of(&part(1, None, text).incoming, "bot", |_| slow);
        let talk = QueueKey::Talk(Place { bot: 1, chat: 7, thread: None });
        assert_eq!(key("/stop", false), talk);
        assert_eq!(key("/stop", true), QueueKey::Now(7));
        assert_eq!(key("/new", true), talk);
        assert_eq!(key("stop", true), talk);
    }
}
