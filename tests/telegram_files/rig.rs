//! A bot, its owner and a home, and what came of them. Must not know what is tested.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::botapi::{BotApi, MediaKind, User};
use crate::program::{House, Running, eventually};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};

pub const JPEG: &[u8] = b"\xff\xd8\xff\xe0 a small picture";
pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n a chart";

/// A bot, its owner, and a home that lets the owner in.
pub struct Rig {
    pub telegram: BotApi,
    pub anna: User,
    pub house: House,
    pub model: Option<Threaded>,
}

impl Rig {
    /// With the demo model, which sees nothing.
    pub fn new() -> Self {
        Self::with(House::new(), None)
    }

    /// With a model that can see and gives these answers.
    pub fn seeing(answers: &[&str]) -> Self {
        let model =
            Threaded::start(Wire::Anthropic, answers.iter().map(|answer| Answer::text(answer)));
        Self::with(House::at("claude", &model.base_url), Some(model))
    }

    pub fn with(house: House, model: Option<Threaded>) -> Self {
        let telegram = BotApi::start();
        let anna = telegram.user("Anna");
        let house = house.with_bot(&telegram.token(), telegram.url(), &anna.id.to_string());
        Self { telegram, anna, house, model }
    }

    pub fn start(&self) -> Running {
        self.house.start(&["gateway"])
    }

    pub fn messages_in(&self, chat: i64) -> Vec<Value> {
        let session = format!("telegram.{}.{chat}", self.telegram.bot_id());
        if !self.house.home().join("claw.db").exists() {
            return Vec::new();
        }
        let db = self.house.db();
        let select =
            "SELECT body FROM events WHERE session = ?1 AND type = 'user.message' ORDER BY seq";
        let Ok(mut query) = db.prepare(select) else { return Vec::new() };
        let bodies = query.query_map([session], |row| row.get::<_, String>(0)).unwrap();
        bodies.map(|body| serde_json::from_str(&body.unwrap()).unwrap()).collect()
    }

    /// Waits for so many messages in the owner's session, and returns them as the model gets them.
    #[track_caller]
    pub fn wait_messages(&self, count: usize) -> Vec<Value> {
        self.wait_messages_in(self.anna.id, count)
    }

    #[track_caller]
    pub fn wait_messages_in(&self, chat: i64, count: usize) -> Vec<Value> {
        let mut found = Vec::new();
        eventually(&format!("{count} messages in the log"), || {
            found = self.messages_in(chat);
            found.len() >= count
        });
        assert_eq!(found.len(), count, "{found:#?}");
        found
    }

    /// All files below the inbox of the workspace, with their bytes.
    pub fn inbox(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for day in fs::read_dir(self.house.workspace().join("inbox")).into_iter().flatten() {
            for file in fs::read_dir(day.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                let name =
                    path.strip_prefix(self.house.workspace()).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
        found.sort();
        found
    }

    pub fn workspace_file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.house.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The files that the bot has sent to the owner.
    pub fn sent_files(&self) -> Vec<(MediaKind, String, Vec<u8>)> {
        let media =
            self.telegram.sent(self.anna.id).into_iter().filter_map(|message| message.media);
        media
            .map(|media| (media.kind, media.name.clone(), self.telegram.file(&media.file_id)))
            .collect()
    }
}

/// What the model gets to read of a message.
pub fn text(message: &Value) -> &str {
    message["blocks"][0]["text"].as_str().unwrap()
}
