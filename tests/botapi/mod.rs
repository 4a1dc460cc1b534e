//! A stand-in for the Telegram Bot API, on loopback, as strict as the real server: what Telegram
//! refuses is refused with Telegram's words. Owns the server's thread and the handle that tests
//! hold. Must not know claw.
//!
//! ```no_run
//! let telegram = BotApi::start();
//! let bot = Bot::new(telegram.token()).set_api_url(telegram.url().parse().unwrap());
//! let anna = telegram.user("Anna");
//! anna.says(anna.private(), "Pay the rent");            // the bot gets an update
//! let asked = telegram.wait_for_text(anna.id, "May I"); // a message of the bot, up to a deadline
//! anna.taps(anna.private(), "Allow once");              // label or data of a button that she sees
//! telegram.fault(Fault::CutAfter).on("sendMessage").times(1);
//! insta::assert_snapshot!(telegram.screen(anna.id));
//! ```
//!
//! Everything here is blocking and may be called from synchronous and asynchronous tests alike; the
//! server runs on a thread of its own and ends when [`BotApi`] is dropped. Time is the machine's
//! plus what [`BotApi::let_pass`] skipped.
//!
//! Where the files are: `server` (HTTP), `cut` (broken connections), `params` (what a call says),
//! `methods` (which calls there are), `sending`, `editing`, `polling`, `account` and `files` (what
//! they do), `text`, `entity`, `entity_check`, `keyboard` and `limits` (what is refused), `people`,
//! `saying`, `delivery`, `tapping`, `reacting` and `found_entities` (what users do), `world`,
//! `chat`, `message`, `updates` and `json` (what there is), `faults`, `calls`, `screen`, `asking`
//! and `waiting` (what tests ask for).
#![allow(dead_code, unused_imports, reason = "each test binary uses its own part of the stand-in")]
#![expect(clippy::unwrap_used, reason = "a stand-in that cannot go on fails its test")]

mod account;
mod asking;
mod calls;
mod chat;
mod cut;
mod delivery;
mod editing;
mod entity;
mod entity_check;
mod faults;
mod files;
mod found_entities;
mod json;
mod keyboard;
mod limits;
mod message;
mod methods;
mod params;
mod people;
mod polling;
mod reacting;
mod refusal;
mod saying;
mod screen;
mod sending;
mod server;
mod tapping;
mod text;
mod updates;
mod waiting;
mod world;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

pub use calls::{Call, Outcome};
pub use chat::{ChatId, Place};
pub use entity::Entity;
pub use faults::{Fault, Faulty};
pub use limits::Limits;
pub use message::{Button, InNameOf, Media, MediaKind, Message, MessageId};
pub use people::User;
pub use saying::{Said, Saying};
pub use screen::Look;
pub use tapping::Tap;
pub use updates::{TAP_LIFE, UpdateId, UpdateRecord};
pub use waiting::SOON;
pub use world::World;

/// What the server's thread and the tests share.
struct Shared {
    world: Mutex<World>,
    /// Told after every change, for tests that wait.
    changed: Condvar,
    /// Told when an update comes or a poll is ended by another one, for long polls.
    stirred: Notify,
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        // A test that fails while it looks must not hide its reason behind the next one's.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world, and tells everybody who waits for something.
    fn change<T>(&self, what: impl FnOnce(&mut World) -> T) -> T {
        let mut world = self.world();
        let result = what(&mut world);
        let stirred = world.updates.stirred();
        drop(world);
        self.changed.notify_all();
        if stirred {
            self.stirred.notify_waiters();
        }
        result
    }
}

/// A running stand-in for one bot; it ends when dropped.
pub struct BotApi {
    shared: Arc<Shared>,
    url: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl BotApi {
    /// A server on a free port of loopback, with a bot `@claw_test_bot` and nobody else in the
    /// world.
    pub fn start() -> Self {
        Self::numbered(0)
    }

    /// The same with a bot `@claw_test_bot_N` that has an id and a token of its own; 0 is the usual
    /// one.
    pub fn numbered(number: i64) -> Self {
        let shared = Arc::new(Shared {
            world: Mutex::new(World::of_bot(number)),
            changed: Condvar::new(),
            stirred: Notify::new(),
        });
        let (end, ended) = oneshot::channel();
        let (send, started) = std::sync::mpsc::channel();
        let served = shared.clone();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(server::serve(served, send, ended));
        });
        Self { shared, url: started.recv().unwrap(), end: Some(end), thread: Some(thread) }
    }

    /// For `Bot::set_api_url`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The only token that is not answered with 401.
    pub fn token(&self) -> String {
        self.shared.world().token.clone()
    }

    /// The bot's own user id.
    pub fn bot_id(&self) -> i64 {
        self.shared.world().bot.id
    }
}

impl Drop for BotApi {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}
