//! A bot, its owner, a model on a real wire that says what a test wants, and a home that knows all
//! three. Must not know what is tested.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]

use std::ops::Deref;

use crate::botapi::Message;
use crate::program::{House, Running, eventually};
use crate::telegram_rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};

pub struct Rig {
    chat: telegram_rig::Rig,
    pub model: Threaded,
}

impl Deref for Rig {
    type Target = telegram_rig::Rig;

    fn deref(&self) -> &telegram_rig::Rig {
        &self.chat
    }
}

impl Rig {
    /// The model answers with `answers` in their order.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let model = Threaded::start(Wire::OpenAi, answers);
        let house = House::at("openai-compatible", &model.base_url);
        Self { chat: telegram_rig::Rig::silent(house), model }
    }

    pub fn start(&self) -> Running {
        self.house.start(&["gateway"])
    }

    pub fn says(&self, text: &str) {
        self.anna.says(self.anna.private(), text);
    }

    #[track_caller]
    pub fn waits_for(&self, text: &str) -> Message {
        self.telegram.wait_for_text(self.anna.id, text)
    }

    /// Until the bot has said this, and every turn has ended and is delivered. A text on the screen
    /// alone can be a draft: the turn goes on behind it, and takes in what is written next.
    #[track_caller]
    pub fn hears(&self, text: &str) -> Message {
        let message = self.waits_for(text);
        eventually("the turn is over, and all of it is delivered", || {
            let left = "SELECT (SELECT count(*) FROM outbox WHERE state <> 'sent')
                        + (SELECT count(*) FROM events WHERE type = 'turn.started')
                        - (SELECT count(*) FROM events WHERE type = 'turn.ended')";
            self.house.db().query_row(left, [], |row| row.get::<_, i64>(0)) == Ok(0)
        });
        self.telegram.message(message.chat, message.id)
    }
}
