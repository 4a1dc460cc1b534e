//! A bot, its owner, a scripted model, and two servers that propose what the model says. Must not
//! know what is tested.
#![allow(dead_code, reason = "each file uses its own part of this module")]

use std::fs;

use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::botapi::{BotApi, Message, User};
use crate::program::{House, Running, SERVER_WAIT, eventually, example};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

/// Proposing changes nothing; confirming would be asked about like everything that we do not know.
const POLICY: &str = "[classes]\n\"shop/propose\" = \"safe\"\n\"shop/like\" = \"safe\"\n\"bakery/propose\" = \"safe\"\n";

pub struct Rig {
    pub telegram: BotApi,
    pub anna: User,
    pub house: House,
    pub model: Threaded,
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
        let telegram = BotApi::start();
        let anna = telegram.user("Anna");
        let model = Threaded::start(Wire::OpenAi, answers);
        let house = House::at("openai-compatible", &model.base_url);
        let house = house.with_bot(&telegram.token(), telegram.url(), &anna.id.to_string());
        house.write("policy.toml", POLICY);
        house.write("claw.toml", SERVER_WAIT);
        let rig = Self { telegram, anna, house, model };
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

    pub fn start(&self) -> Running {
        self.house.start(&["gateway"])
    }

    /// The gateway, when the owner's `go` has been answered.
    pub fn started_with_a_turn(&self) -> Running {
        let gateway = self.start();
        self.says("go");
        self.telegram.wait_for_text(self.anna.id, "Have a look.");
        gateway
    }

    pub fn says(&self, text: &str) {
        self.anna.says(self.anna.private(), text);
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

    /// Until a message has no buttons any more and says this.
    #[track_caller]
    pub fn becomes(&self, message: &Message, text: &str) -> Message {
        self.telegram.wait_for(&format!("message {} says `{text}`", message.id), |world| {
            let now = world.message(message.chat, message.id)?;
            (now.labels().is_empty() && now.text.contains(text)).then(|| now.clone())
        })
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

    pub fn number(&self, sql: &str) -> i64 {
        self.house.db().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub fn count(&self, chat: i64, text: &str) -> usize {
        self.telegram.sent(chat).iter().filter(|message| message.text.contains(text)).count()
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

    #[track_caller]
    pub fn wait_delivered(&self) {
        let waiting = "SELECT count(*) FROM outbox WHERE state <> 'sent' AND door = 'telegram'";
        eventually("everything is delivered", || self.number(waiting) == 0);
    }

    #[track_caller]
    pub fn kill(&self, gateway: Running) {
        gateway.signal(Signal::KILL);
        drop(gateway);
    }

    /// Ends it in order; the home must be whole then.
    #[track_caller]
    pub fn stop(&self, gateway: Running) {
        self.telegram.wait_all_confirmed();
        gateway.signal(Signal::TERM);
        gateway.ends().expect(0);
        self.house.is_whole();
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
