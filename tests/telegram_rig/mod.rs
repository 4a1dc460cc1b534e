//! A bot, its owner, and a home that lets the owner in, for the tests of the Telegram door. Must
//! not know what is tested.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use rustix::process::Signal;

use crate::botapi::{BotApi, Message, User};
use crate::program::{House, Running, eventually};

pub struct Rig {
    pub telegram: BotApi,
    pub anna: User,
    pub house: House,
}

impl Rig {
    /// Anna is the owner, and has started the bot.
    pub fn new() -> Self {
        Self::with(House::new())
    }

    /// The same with `claw.toml`.
    pub fn configured(toml: &str) -> Self {
        let rig = Self::new();
        rig.house.write("claw.toml", toml);
        rig
    }

    pub fn with(house: House) -> Self {
        let rig = Self::silent(house);
        rig.anna.starts();
        rig
    }

    /// Anna is the owner, and has not written yet.
    pub fn silent(house: House) -> Self {
        let telegram = BotApi::start();
        let anna = telegram.user("Anna");
        let house = house.with_bot(&telegram.token(), telegram.url(), &anna.id.to_string());
        Self { telegram, anna, house }
    }

    /// The gateway, when it has answered the owner's first message.
    pub fn start(&self) -> Running {
        let gateway = self.house.start(&["gateway"]);
        self.telegram.wait_for_text(self.anna.id, "I am claw");
        gateway
    }

    /// Ends it in order; the home must be whole then.
    #[track_caller]
    pub fn stop(&self, gateway: Running) {
        self.telegram.wait_all_confirmed();
        gateway.signal(Signal::TERM);
        gateway.ends().expect(0);
        self.house.is_whole();
    }

    #[track_caller]
    pub fn kill(&self, gateway: Running) {
        gateway.signal(Signal::KILL);
        drop(gateway);
    }

    pub fn session(&self, of: &User) -> String {
        format!("telegram.{}.{}", self.telegram.bot_id(), of.id)
    }

    /// How many messages of the bot in a chat hold this text now.
    pub fn count(&self, chat: i64, text: &str) -> usize {
        self.telegram.sent(chat).iter().filter(|message| message.text.contains(text)).count()
    }

    pub fn number(&self, sql: &str) -> i64 {
        self.house.db().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Until everything that came in was handled: nothing more comes of it.
    #[track_caller]
    pub fn wait_handled(&self) {
        self.telegram.wait_all_confirmed();
        eventually("every update is handled", || {
            self.number("SELECT count(*) FROM updates WHERE state = 'kept'") == 0
        });
    }

    /// Until the outbox is empty, apart from what waits for chats that have blocked the bot.
    #[track_caller]
    pub fn wait_delivered(&self) {
        let waiting = "SELECT count(*) FROM outbox WHERE state <> 'sent' AND door = 'telegram'
                       AND NOT EXISTS(SELECT 1 FROM blocked WHERE address LIKE 'telegram/%/' || chat)";
        eventually("everything is delivered", || self.number(waiting) == 0);
    }

    /// Until a message has no buttons any more and says this.
    #[track_caller]
    pub fn wait_edited(&self, message: &Message, text: &str) -> Message {
        self.telegram.wait_for(&format!("message {} says `{text}`", message.id), |world| {
            let now = world.message(message.chat, message.id)?;
            (now.labels().is_empty() && now.text.contains(text)).then(|| now.clone())
        })
    }
}
