//! A bot, its owner, a scripted model, and two servers that propose what the model says. Must not
//! know what is tested.
#![allow(dead_code, reason = "each file uses its own part of this module")]

use std::fs;
use std::ops::Deref;

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use crate::botapi::Message;
use crate::program::{Running, SERVER_WAIT, eventually, example};
use crate::telegram_model;
use crate::wires::{Answer, Call, Turn};

/// Proposing changes nothing; confirming would be asked about like everything that we do not know.
const POLICY: &str = "[classes]\n\"shop/propose\" = \"safe\"\n\"shop/like\" = \"safe\"\n\"bakery/propose\" = \"safe\"\n";

pub struct Rig(telegram_model::Rig);

impl Deref for Rig {
    type Target = telegram_model::Rig;

    fn deref(&self) -> &telegram_model::Rig {
        &self.0
    }
}

/// An item: `confirm` with this text.
pub fn item(text: &str) -> Value {
    json!({"tool": "confirm", "arguments": {"text": text}, "summary": format!("Add {text} to the cart")})
}

/// A button that needs no question.
pub fn like(label: &str, text: &str) -> Value {
    json!({"tool": "like", "arguments": {"text": text}, "label": label, "group": "song"})
}

/// The model proposes by these servers, one step each, so that the order is certain, and says `Have
/// a look.`
pub fn proposes(by: &[(&str, Value)]) -> Vec<Answer> {
    let calls = by.iter().enumerate().map(|(index, (server, actions))| {
        Call::new(
            &format!("c{index}"),
            &format!("{server}__propose"),
            &json!({"actions": actions}).to_string(),
        )
    });
    let steps = calls.map(|call| Answer::Turn(Turn::calls(&[call])));
    steps.chain([Answer::text("Have a look.")]).collect()
}

pub fn shop_proposes(actions: Value) -> Vec<Answer> {
    proposes(&[("shop", actions)])
}

impl Rig {
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let rig = Self(telegram_model::Rig::new(answers));
        rig.house.write("policy.toml", POLICY);
        rig.house.write("claw.toml", SERVER_WAIT);
        rig.house.write(
            "mcp.json",
            &json!({"mcpServers": {"shop": rig.server("shop"), "bakery": rig.server("bakery")}})
                .to_string(),
        );
        rig
    }

    fn server(&self, name: &str) -> Value {
        json!({"command": example("hub-stranger"), "args": ["shop", self.house.user_home().join(name)]})
    }

    /// The gateway, when the owner's `go` has been answered.
    pub fn started_with_a_turn(&self) -> Running {
        let gateway = self.start();
        self.says("go");
        self.telegram.wait_for_text(self.anna.id, "Have a look.");
        gateway
    }

    /// The newest message with such a text and buttons.
    #[track_caller]
    pub fn asked(&self, text: &str) -> Message {
        self.asked_in(self.anna.private(), text)
    }

    #[track_caller]
    pub fn asked_in(&self, chat: i64, text: &str) -> Message {
        let asked = self.telegram.wait_for(&format!("`{text}` with buttons"), |world| {
            let with_buttons = world.messages(chat).filter(|message| !message.labels().is_empty());
            with_buttons.filter(|message| message.text.contains(text)).last().cloned()
        });
        eventually("it is on record", || {
            let posted = format!(
                "SELECT count(*) FROM posted WHERE message = {} AND state = 'open'",
                asked.id
            );
            self.number(&posted) == 1
        });
        asked
    }

    /// A tap of the owner, and what she reads.
    #[track_caller]
    pub fn taps(&self, message: &Message, label: &str) -> String {
        let tap = self.anna.taps_on(message.chat, message.id, label);
        self.telegram.wait_answered(&tap).0
    }

    /// A tap with the data of a button that may be gone.
    #[track_caller]
    pub fn taps_again(&self, message: &Message, label: &str) -> String {
        let data = message.button(label).unwrap().data.clone().unwrap();
        let tap = self.anna.forges_tap(message.chat, message.id, &data);
        self.telegram.wait_answered(&tap).0
    }

    /// What really ran at a server, in its order.
    pub fn ran(&self, server: &str) -> Vec<String> {
        let record = fs::read_to_string(self.house.user_home().join(server)).unwrap_or_default();
        record.lines().filter_map(|line| line.strip_prefix("effect ")).map(str::to_owned).collect()
    }

    #[track_caller]
    pub fn wait_ran(&self, server: &str, effects: &[&str]) {
        eventually(&format!("{effects:?} has run at {server}"), || {
            self.ran(server).len() >= effects.len()
        });
        assert_eq!(self.ran(server), effects);
    }

    pub fn session(&self) -> String {
        format!("telegram.{}.{}", self.telegram.bot_id(), self.anna.id)
    }

    pub fn events(&self, session: &str, kind: &str) -> Vec<Value> {
        let mut events = self.house.events(session);
        events.retain(|event| event["type"] == kind);
        events
    }

    /// How often the model was asked.
    pub fn asked_the_model(&self) -> usize {
        self.model.recorded().len()
    }

    /// Takes the session's lock as another process would; it is let go with the file.
    #[track_caller]
    pub fn holds_the_session(&self) -> fs::File {
        let path = self.house.home().join("locks").join(format!("session-{}.lock", self.session()));
        let file = fs::File::options().write(true).open(path).unwrap();
        eventually("the session is free", || {
            flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        });
        file
    }

    /// The hours of everything that is open go by.
    pub fn time_goes_by(&self) {
        self.house
            .db()
            .execute("UPDATE approvals SET expires_ms = 1700000000000 WHERE state = 'waiting'", [])
            .unwrap();
    }
}
