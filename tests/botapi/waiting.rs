//! Waiting for the bot, woken by every change instead of looking again and again. Owns the
//! deadline. Must not know HTTP.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::BotApi;
use super::chat::ChatId;
use super::message::Message;
use super::screen::{Look, screen};
use super::tapping::Tap;
use super::updates::UpdateId;
use super::world::World;

/// Everything that is waited for must come within this time, however busy the machine is.
pub const SOON: Duration = Duration::from_secs(60);

impl BotApi {
    /// Waits until `find` finds something, and returns it; fails with the last calls and all
    /// screens if nothing comes.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, mut find: impl FnMut(&World) -> Option<T>) -> T {
        let deadline = Instant::now() + SOON;
        let mut world = self.shared.world();
        loop {
            if let Some(found) = find(&world) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let seen = seen(&world);
                drop(world);
                panic!("it did not come to this: {what}\n{seen}");
            }
            let waited = self.shared.changed.wait_timeout(world, left);
            world = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for the next change of anything, but no longer than this.
    pub fn wait_a_change(&self, longest: Duration) {
        let world = self.shared.world();
        let _late = self
            .shared
            .changed
            .wait_timeout(world, longest)
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// Until nobody is connected: whatever a client that is gone had sent was handled, or is never
    /// handled.
    #[track_caller]
    pub fn wait_disconnected(&self) {
        self.wait_for("every connection is closed", |world| (world.connections == 0).then_some(()));
    }

    /// The newest message of the bot in a chat that holds this text now.
    #[track_caller]
    pub fn wait_for_text(&self, chat: impl Into<ChatId>, text: &str) -> Message {
        let chat = chat.into();
        let fits =
            |message: &&Message| message.by_bot && !message.deleted && message.text.contains(text);
        self.wait_for(&format!("the bot says `{text}`"), |world| world.newest(chat, fits))
    }

    /// The newest message of a chat with a button of this label or data.
    #[track_caller]
    pub fn wait_for_button(&self, chat: impl Into<ChatId>, button: &str) -> Message {
        let chat = chat.into();
        let fits = |message: &&Message| !message.deleted && message.button(button).is_some();
        self.wait_for(&format!("a button `{button}`"), |world| world.newest(chat, fits))
    }

    /// Until so many calls of this method were begun.
    #[track_caller]
    pub fn wait_for_calls(&self, method: &str, count: usize) {
        self.wait_for(&format!("{count} calls of {method}"), |world| {
            (world.calls.of(method).count() >= count).then_some(())
        });
    }

    /// Until an offset above this update came: Telegram has forgotten it.
    #[track_caller]
    pub fn wait_confirmed(&self, update: UpdateId) {
        self.wait_for(&format!("update {update} is confirmed"), |world| {
            world.updates.record(update).filter(|record| record.confirmed).map(|_| ())
        });
    }

    /// Until nothing waits in the queue any more.
    #[track_caller]
    pub fn wait_all_confirmed(&self) {
        self.wait_for("every update is confirmed", |world| world.updates.is_empty().then_some(()));
    }

    /// Until a tap was answered; the text of the answer, and whether it is an alert.
    #[track_caller]
    pub fn wait_answered(&self, tap: &Tap) -> (String, bool) {
        self.wait_for(&format!("{tap:?} is answered"), |world| {
            world.taps.get(&tap.query)?.answer.clone()
        })
    }
}

impl World {
    fn newest(&self, chat: ChatId, fits: impl Fn(&&Message) -> bool) -> Option<Message> {
        let mut fitting: Vec<_> = self.messages(chat).filter(fits).collect();
        fitting.pop().cloned()
    }
}

fn seen(world: &World) -> String {
    let look = Look { ids: true, edits: true, without_deleted: false };
    let screens = world
        .chats()
        .take(5)
        .map(|chat| format!("== {} ==\n{}\n", chat.title, screen(world, chat.id, look)));
    let calls = world.calls.all().iter().rev().take(12).map(|call| {
        format!(
            "{:?} {} {:?} {} -> {:?}\n",
            call.at, call.method, call.chat, call.params, call.outcome
        )
    });
    format!(
        "{}last calls, newest first:\n{}",
        screens.collect::<String>(),
        calls.collect::<String>()
    )
}
