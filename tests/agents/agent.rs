//! One agent with a bot of its own, and the gateway that runs it. Must not know what is tested.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use crate::botapi::{BotApi, Message, User};
use crate::program::{House, Running, eventually, said};

/// One agent with a bot of its own. The same person owns all of them.
pub struct Agent {
    pub name: &'static str,
    pub telegram: BotApi,
    pub anna: User,
}

impl Agent {
    pub fn new(number: i64, name: &'static str) -> Self {
        let telegram = BotApi::numbered(number);
        let anna = telegram.user("Anna");
        anna.starts();
        Self { name, telegram, anna }
    }

    pub fn section(&self, token: &str, more: &str) -> String {
        let (name, api, id) = (self.name, self.telegram.url(), self.anna.id);
        format!(
            "[agents.{name}]\ndescription = \"the agent {name}\"\nallowed_chats = [{id}]\n[agents.{name}.telegram]\napi = \"{api}\"\ntoken = \"{token}\"\n{more}\n"
        )
    }

    pub fn usual(&self) -> String {
        self.section(&self.telegram.token(), "")
    }

    pub fn says(&self, text: &str) {
        self.anna.says(self.anna.private(), text);
    }

    #[track_caller]
    pub fn hears(&self, text: &str) -> Message {
        self.telegram.wait_for_text(self.anna.id, text)
    }

    /// Writes a file after a yes.
    #[track_caller]
    pub fn writes(&self, house: &House, file: &str, text: &str) {
        self.says(&format!("write {file}: {text}"));
        self.telegram.wait_for_button(self.anna.id, "Allow once");
        let tap = self.anna.taps(self.anna.private(), "Allow once");
        self.telegram.wait_answered(&tap);
        eventually("the file is written", || self.file(house, file) == text);
    }

    pub fn session(&self) -> String {
        format!("telegram.{}.{}", self.telegram.bot_id(), self.anna.id)
    }

    pub fn home(&self, house: &House) -> PathBuf {
        house.home().join("agents").join(self.name)
    }

    pub fn file(&self, house: &House, name: &str) -> String {
        std::fs::read_to_string(self.home(house).join("workspace").join(name)).unwrap_or_default()
    }

    /// The texts of all messages that any session of this agent has taken in.
    pub fn said(&self, house: &House) -> Vec<String> {
        let sessions = house.claw(&["--agent", self.name, "sessions", "--json"]).expect(0).rows();
        let events = |session: &Value| {
            let id = session["id"].as_str().unwrap();
            house.claw(&["--agent", self.name, "sessions", "show", id, "--json"]).expect(0).rows()
        };
        sessions.iter().flat_map(|session| said(&events(session))).collect()
    }
}

pub fn start(house: &House) -> Running {
    house.start(&["gateway"])
}

#[track_caller]
pub fn stop(gateway: Running) {
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
}
