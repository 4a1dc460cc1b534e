//! Updates side by side: each conversation has a queue of its own, in which they are handled one
//! after another, so that a slow file holds up nobody else. Owns which update goes into which
//! queue, and that the parts of an album become one. Must not know what becomes of an update.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::context::GatewayContext;
use super::handling::{self, commanded};
use super::notify;
use crate::domain::ChatCommand;
use crate::doors::commands::Parsed;
use crate::doors::telegram::api::incoming::{ChatMessage, Incoming};
use crate::doors::telegram::api::place::Place;

/// Telegram sends the parts of an album as messages, at once or nearly so, and does not say how
/// many there are.
const ALBUM_QUIET: Duration = Duration::from_secs(1);
/// How soon an update is tried again that could not be handled.
const RETRY: Duration = Duration::from_secs(5);

/// An update that waits in its queue.
#[derive(Clone, Debug)]
struct Item {
    id: i64,
    incoming: Incoming,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum QueueKey {
    /// What is said in a conversation, in order.
    Talk(Place),
    /// Taps in a chat, and commands that must not wait for a file.
    Now(i64),
    /// What concerns no chat.
    Rest,
}

struct Queue {
    to: UnboundedSender<Item>,
    /// How many with files wait or are being handled.
    heavy: usize,
}

/// All queues in which something waits.
#[derive(Default)]
struct State {
    queues: HashMap<QueueKey, Queue>,
}

pub(super) struct ChatQueues {
    ctx: Arc<GatewayContext>,
    state: Mutex<State>,
}

impl ChatQueues {
    pub(super) fn new(ctx: Arc<GatewayContext>) -> Arc<Self> {
        Arc::new(Self { ctx, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an update into its queue.
    pub(super) fn put(self: &Arc<Self>, id: i64, incoming: Incoming) {
        let mut state = self.state();
        let key = key_of(&incoming, &self.ctx.me.username, |talk| {
            state.queues.get(talk).is_some_and(|queue| queue.heavy > 0)
        });
        let heavy = usize::from(is_heavy(&incoming));
        let queue = state.queues.entry(key.clone()).or_insert_with(|| {
            let (to, from) = unbounded_channel();
            tokio::spawn(run(self.clone(), key, from));
            Queue { to, heavy: 0 }
        });
        queue.heavy += heavy;
        // The other end is dropped together with this one only, under the same lock.
        let _ = queue.to.send(Item { id, incoming });
    }

    /// What comes next in a queue; a queue that is empty ends.
    fn next(&self, key: &QueueKey, queue: &mut UnboundedReceiver<Item>) -> Option<Item> {
        if let Ok(item) = queue.try_recv() {
            return Some(item);
        }
        let mut state = self.state();
        let item = queue.try_recv().ok();
        if item.is_none() {
            state.queues.remove(key);
        }
        item
    }

    fn done(&self, key: &QueueKey, heavy: usize) {
        if let Some(queue) = self.state().queues.get_mut(key) {
            queue.heavy -= heavy.min(queue.heavy);
        }
    }

    /// Each update in a task of its own, so that a bug in one ends with it.
    async fn handle(self: &Arc<Self>, items: Vec<Item>) {
        let ids: Vec<i64> = items.iter().map(|item| item.id).collect();
        let Some(incoming) = joined(items.clone()) else { return };
        let task = tokio::spawn(handling::handle(self.ctx.clone(), ids.clone(), incoming));
        match task.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                if let Some(error) = error.downcast_ref() {
                    notify::store_failed(&self.ctx, error);
                }
                let error = format!("{error:#}");
                tracing::error!(
                    update = ids.first(),
                    error,
                    "an update could not be handled; it is tried again"
                );
                self.try_again(items);
            }
            Err(error) => {
                tracing::error!(update = ids.first(), %error, "an update could not be handled; it is passed over");
                for id in &ids {
                    let finished = self.ctx.mail.finish_update(self.ctx.me.id, *id, "failed").await;
                    if let Err(error) = finished {
                        // The next start finds it again.
                        tracing::error!(%error, "the store could not be written");
                    }
                }
                notify::bug_in_update(&self.ctx).await;
            }
        }
    }

    /// Behind what else has come meanwhile.
    fn try_again(self: &Arc<Self>, items: Vec<Item>) {
        let chat_queues = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(RETRY).await;
            items.into_iter().for_each(|item| chat_queues.put(item.id, item.incoming));
        });
    }
}

async fn run(chat_queues: Arc<ChatQueues>, key: QueueKey, mut queue: UnboundedReceiver<Item>) {
    let mut other = None;
    loop {
        let Some(first) = other.take().or_else(|| chat_queues.next(&key, &mut queue)) else {
            return;
        };
        if chat_queues.ctx.shared.closing.is_cancelled() {
            // It waits on the disk for the next start.
            return;
        }
        let items;
        (items, other) = gather(first, &mut queue).await;
        let heavy = items.iter().filter(|item| is_heavy(&item.incoming)).count();
        chat_queues.handle(items).await;
        chat_queues.done(&key, heavy);
    }
}

/// The parts of an album, until it has been quiet for a moment or something else of the
/// conversation comes.
async fn gather(first: Item, queue: &mut UnboundedReceiver<Item>) -> (Vec<Item>, Option<Item>) {
    let Some(album) = album_of(&first) else { return (vec![first], None) };
    let mut parts = vec![first];
    loop {
        match tokio::time::timeout(ALBUM_QUIET, queue.recv()).await {
            Ok(Some(item)) if album_of(&item).as_ref() == Some(&album) => parts.push(item),
            Ok(other) => return (parts, other),
            Err(_) => return (parts, None),
        }
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

fn is_heavy(incoming: &Incoming) -> bool {
    message_of(incoming).is_some_and(|msg| !msg.files.is_empty())
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
            addressed: false,
            at_s: 0,
            files: Vec::new(),
            words: None,
            album: album.map(str::to_owned),
        };
        Item { id, incoming: Incoming::Message(Box::new(msg)) }
    }

    fn ids(items: &[Item]) -> Vec<i64> {
        items.iter().map(|item| item.id).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn an_album_ends_with_a_moment_of_quiet_or_with_something_else() {
        let (to, mut queue) = unbounded_channel();
        to.send(part(2, Some("a"), "")).unwrap();
        let late = to.clone();
        tokio::spawn(async move {
            tokio::time::sleep(ALBUM_QUIET / 2).await;
            late.send(part(3, Some("a"), "")).unwrap();
            tokio::time::sleep(ALBUM_QUIET * 2).await;
            late.send(part(4, Some("a"), "")).unwrap();
        });
        let (items, other) = gather(part(1, Some("a"), ""), &mut queue).await;
        assert_eq!((ids(&items), other.is_none()), (vec![1, 2, 3], true));

        let (to, mut queue) = unbounded_channel();
        to.send(part(2, Some("b"), "")).unwrap();
        let (items, other) = gather(part(1, Some("a"), ""), &mut queue).await;
        assert_eq!((ids(&items), other.map(|other| other.id)), (vec![1], Some(2)));
        to.send(part(3, None, "")).unwrap();
        assert_eq!(
            ids(&gather(part(1, None, ""), &mut queue).await.0),
            [1],
            "no album waits for nothing"
        );
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
