//! A house whose only foreign server is the test kit's shelf of prompts and resources, with a model
//! on a real wire. Must not know what is tested.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::PathBuf;

use crate::program::{House, SERVER_WAIT, example};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
use serde_json::json;

/// How long an answer is waited for, where none comes.
pub const NO_ANSWER_MS: u32 = 1_500;

pub struct Shelf {
    pub house: House,
    pub model: Threaded,
}

impl Shelf {
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::of("legacy", answers)
    }

    pub fn of(era: &str, answers: impl IntoIterator<Item = Answer>) -> Self {
        let model = Threaded::start(Wire::OpenAi, answers);
        let house = House::at("openai-compatible", &model.base_url);
        house.write("claw.toml", SERVER_WAIT);
        let shelf = Self { house, model };
        shelf.serves(era, None);
        shelf
    }

    /// Writes `mcp.json` anew.
    pub fn serves(&self, era: &str, timeout_ms: Option<u32>) {
        let mut entry = json!({"command": example("shelf"), "args": [era, self.record_path()]});
        if let Some(timeout_ms) = timeout_ms {
            entry["timeout"] = json!(timeout_ms);
        }
        let own = |name: &str| json!({"command": "claw", "args": ["server", name]});
        let servers = json!({"shelf": entry, "bash": own("bash"), "filesystem": own("filesystem")});
        self.house.write("mcp.json", &json!({ "mcpServers": servers }).to_string());
    }

    fn record_path(&self) -> PathBuf {
        self.house.user_home().join("shelf")
    }

    /// What the server was asked, in its order.
    pub fn record(&self) -> Vec<String> {
        let text = fs::read_to_string(self.record_path()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How often it was asked exactly this.
    pub fn asked(&self, what: &str) -> usize {
        self.record().iter().filter(|line| *line == what).count()
    }

    /// Writes RECORD.NAME.
    pub fn puts(&self, name: &str, text: &str) {
        let path = format!("{}.{name}", self.record_path().display());
        fs::write(path, text).unwrap();
    }

    /// The texts of a request's messages that are the person's, as the model reads them.
    pub fn request(&self, number: usize) -> String {
        let body = self.model.recorded()[number].body.clone();
        let messages = body["messages"].as_array().unwrap().iter();
        let texts = messages.filter(|message| message["role"] != "system").map(|message| {
            match &message["content"] {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string().replace("\\n", "\n").replace("\\\"", "\""),
            }
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    pub fn is_whole(&self) {
        assert_eq!(self.model.faults(), Vec::<String>::new());
        self.house.is_whole();
    }
}
