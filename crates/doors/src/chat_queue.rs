//! What comes in, side by side: each conversation has a queue of its own, in which it is handled
//! one after another, so that a slow file holds up nobody else. Owns the queues, that a bug in one
//! item ends with it, and that a failed one is tried again. Must not know what an item says.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinError;

/// How soon an item is tried again that could not be handled.
const RETRY: Duration = Duration::from_secs(5);

/// What a door does with what comes in.
pub trait Handler: Send + Sync + Sized + 'static {
    /// One thing that came in.
    type Item: Clone + Send + 'static;
    /// Names a queue.
    type Key: Clone + Eq + Hash + Send + 'static;

    /// The queue of an item. `is_slow` says whether something slow waits or is handled in a queue.
    fn key_of(&self, item: &Self::Item, is_slow: impl Fn(&Self::Key) -> bool) -> Self::Key;

    /// Whether an item may take long.
    fn is_slow(_: &Self::Item) -> bool {
        false
    }

    /// For how long after this item another one may come that is handled together with it.
    fn waits_for_more(_: &Self::Item) -> Option<Duration> {
        None
    }

    /// Whether the next item of the queue is handled together with this one.
    fn belongs(_first: &Self::Item, _next: &Self::Item) -> bool {
        false
    }

    /// Whether nothing new is begun. What waits is the next start's.
    fn is_closing(&self) -> bool;

    /// Handles items that belong together to their end. An error means that they have to be tried
    /// again.
    fn handle(
        self: Arc<Self>,
        items: Vec<Self::Item>,
    ) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Items could not be handled, and are tried again.
    fn failed(self: &Arc<Self>, items: &[Self::Item], error: &anyhow::Error);

    /// A bug has ended the handling of these items. They are not tried again.
    fn passed_over(&self, items: &[Self::Item], bug: &JoinError)
    -> impl Future<Output = ()> + Send;
}

struct Queue<T> {
    /// To the task that handles it.
    to: UnboundedSender<T>,
    /// How many slow items wait or are being handled.
    slow: usize,
}

/// All queues in which something waits.
pub struct ChatQueues<H: Handler> {
    /// The door.
    handler: Arc<H>,
    /// A queue is taken out, and its task ends, when nothing waits in it.
    queues: Mutex<HashMap<H::Key, Queue<H::Item>>>,
}

impl<H: Handler> ChatQueues<H> {
    pub fn new(handler: Arc<H>) -> Arc<Self> {
        Arc::new(Self { handler, queues: Mutex::default() })
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<H::Key, Queue<H::Item>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item into its queue.
    pub fn put(self: &Arc<Self>, item: H::Item) {
        let mut queues = self.queues();
        let is_slow = |key: &H::Key| queues.get(key).is_some_and(|queue| queue.slow > 0);
        let key = self.handler.key_of(&item, is_slow);
        let queue = queues.entry(key.clone()).or_insert_with(|| {
            let (to, from) = unbounded_channel();
            claw_kit::task::spawn(run(self.clone(), key, from));
            Queue { to, slow: 0 }
        });
        queue.slow += usize::from(H::is_slow(&item));
        // The other end is dropped together with this one only, under the same lock.
        let _ = queue.to.send(item);
    }

    /// What comes next in a queue; a queue that is empty ends.
    fn next(&self, key: &H::Key, queue: &mut UnboundedReceiver<H::Item>) -> Option<H::Item> {
        if let Ok(item) = queue.try_recv() {
            return Some(item);
        }
        let mut queues = self.queues();
        let item = queue.try_recv().ok();
        if item.is_none() {
            queues.remove(key);
        }
        item
    }

    fn done(&self, key: &H::Key, slow: usize) {
        if let Some(queue) = self.queues().get_mut(key) {
            queue.slow -= slow.min(queue.slow);
        }
    }

    /// In a task of its own, so that a bug in it ends with it.
    async fn handle(self: &Arc<Self>, items: Vec<H::Item>) {
        match claw_kit::task::spawn(self.handler.clone().handle(items.clone())).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                self.handler.failed(&items, &error);
                self.try_again(items);
            }
            Err(bug) => self.handler.passed_over(&items, &bug).await,
        }
    }

    /// Behind what else has come meanwhile.
    fn try_again(self: &Arc<Self>, items: Vec<H::Item>) {
        let chat_queues = self.clone();
        claw_kit::task::spawn(async move {
            tokio::time::sleep(RETRY).await;
            items.into_iter().for_each(|item| chat_queues.put(item));
        });
    }
}

async fn run<H: Handler>(
    chat_queues: Arc<ChatQueues<H>>,
    key: H::Key,
    mut queue: UnboundedReceiver<H::Item>,
) {
    let mut other = None;
    loop {
        let Some(first) = other.take().or_else(|| chat_queues.next(&key, &mut queue)) else {
            return;
        };
        if chat_queues.handler.is_closing() {
            return;
        }
        let items;
        (items, other) = gather::<H>(first, &mut queue).await;
        let slow = items.iter().filter(|item| H::is_slow(item)).count();
        chat_queues.handle(items).await;
        chat_queues.done(&key, slow);
    }
}

/// What belongs together, until it has been quiet for a moment or something else of the
/// conversation comes.
async fn gather<H: Handler>(
    first: H::Item,
    queue: &mut UnboundedReceiver<H::Item>,
) -> (Vec<H::Item>, Option<H::Item>) {
    let Some(quiet) = H::waits_for_more(&first) else { return (vec![first], None) };
    let mut parts = vec![first];
    loop {
        match tokio::time::timeout(quiet, queue.recv()).await {
            Ok(Some(item)) if H::belongs(&parts[0], &item) => parts.push(item),
            Ok(other) => return (parts, other),
            Err(_) => return (parts, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_secs(1);

    /// Items are a number and the album that they are part of.
    struct Albums;

    impl Handler for Albums {
        type Item = (i64, Option<char>);
        type Key = ();

        fn key_of(&self, _: &Self::Item, _: impl Fn(&()) -> bool) {}

        fn waits_for_more((_, album): &Self::Item) -> Option<Duration> {
            album.map(|_| QUIET)
        }

        fn belongs(first: &Self::Item, next: &Self::Item) -> bool {
            first.1 == next.1
        }

        fn is_closing(&self) -> bool {
            false
        }

        async fn handle(self: Arc<Self>, _: Vec<Self::Item>) -> anyhow::Result<()> {
            Ok(())
        }

        fn failed(self: &Arc<Self>, _: &[Self::Item], _: &anyhow::Error) {}

        async fn passed_over(&self, _: &[Self::Item], _: &JoinError) {}
    }

    fn ids(items: &[(i64, Option<char>)]) -> Vec<i64> {
        items.iter().map(|(id, _)| *id).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn what_belongs_together_ends_with_a_moment_of_quiet_or_with_something_else() {
        let (to, mut queue) = unbounded_channel();
        to.send((2, Some('a'))).unwrap();
        let late = to.clone();
        tokio::spawn(async move {
            tokio::time::sleep(QUIET / 2).await;
            late.send((3, Some('a'))).unwrap();
            tokio::time::sleep(QUIET * 2).await;
            late.send((4, Some('a'))).unwrap();
        });
        let (items, other) = gather::<Albums>((1, Some('a')), &mut queue).await;
        assert_eq!((ids(&items), other.is_none()), (vec![1, 2, 3], true));

        let (to, mut queue) = unbounded_channel();
        to.send((2, Some('b'))).unwrap();
        let (items, other) = gather::<Albums>((1, Some('a')), &mut queue).await;
        assert_eq!((ids(&items), other.map(|(id, _)| id)), (vec![1], Some(2)));
        to.send((3, None)).unwrap();
        let alone = gather::<Albums>((1, None), &mut queue).await;
        assert_eq!(ids(&alone.0), [1], "what is no part of anything waits for nothing");
    }
}
