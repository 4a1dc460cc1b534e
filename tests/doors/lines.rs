//! The third door, JSON lines over a socket (`tests/support/line_door.rs`): two people who are
//! connected, and a reader of what they were sent. Must not know what is tested.

use pulldown_cmark::{Event, Options, Parser};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::doors::rig::{Chat, DoorRig, Home, Reply, Skill, words};
use crate::line_client::{Client, start};
use crate::program::{Running, eventually};

pub struct Lines {
    home: Home,
    door: Option<Running>,
    /// The first chat's, then the second's. They keep what they were sent over restarts.
    clients: Vec<Client>,
    /// How many lines the first chat had been sent at the last start.
    before: usize,
    /// The line that was the last answer.
    answered: Value,
}

impl Lines {
    fn client(&self, chat: Chat) -> &Client {
        &self.clients[usize::from(chat == Chat::Second)]
    }

    /// The newest question that names `about` and does not say that it is over, of those that this
    /// run of the door has asked: what it finds open it asks again.
    fn question(&self, about: &str) -> Option<Value> {
        let lines = self.client(Chat::First).lines();
        let is_over = |asked: &Value| {
            let closes = |line: &&Value| line["closed"].is_string();
            lines.iter().filter(closes).any(|line| line["message"] == asked["message"])
        };
        let asks = |line: &&Value| {
            line["question"].is_string() && words(&line["arguments"].to_string()).contains(about)
        };
        lines[self.before..].iter().rev().filter(asks).find(|asked| !is_over(asked)).cloned()
    }

    fn number(&self, sql: &str) -> i64 {
        self.home.house.db().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

impl DoorRig for Lines {
    const LACKS: &'static [(Skill, &'static str)] =
        &[(Skill::React, "its clients answer by a key; its lines have no reactions")];

    fn new(home: Home) -> Self {
        Self { home, door: None, clients: Vec::new(), before: 0, answered: Value::Null }
    }

    fn home(&self) -> &Home {
        &self.home
    }

    fn start(&mut self) {
        let house = &self.home.house;
        self.door = Some(start(house));
        if self.clients.is_empty() {
            self.clients = ["anna", "bob"].map(|name| Client::connect(house, name)).into();
        } else {
            let before: Vec<_> = self.clients.iter_mut().map(|one| one.reconnect(house)).collect();
            self.before = before[0];
        }
    }

    fn kill(&mut self) {
        let door = self.door.take().unwrap();
        door.signal(Signal::KILL);
        // It is waited for.
        drop(door);
    }

    /// Without the note, a draft would stay beside the whole: the window that is stated.
    fn notes_what_it_shows(&mut self) {
        eventually("the draft is on record", || self.number("SELECT count(*) FROM drafts") == 1);
    }

    fn holds_back(&mut self) {
        self.clients.iter().for_each(Client::leaves);
    }

    fn says(&mut self, chat: Chat, text: &str) {
        self.client(chat).says(text);
    }

    fn shown(&mut self, chat: Chat) -> String {
        // A message stands where it first came; what has no number stays as it is.
        let mut shown: Vec<(Option<i64>, String)> = Vec::new();
        for line in self.client(chat).lines() {
            let message = line["message"].as_i64();
            let text = if line["taken_away"] == true { String::new() } else { painted(&line) };
            let known = shown.iter_mut().find(|(known, _)| message.is_some() && *known == message);
            match known {
                Some((_, before)) => *before = text,
                None => shown.push((message, text)),
            }
        }
        words(&shown.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n"))
    }

    fn is_open(&mut self, about: &str) -> bool {
        self.question(about).is_some()
    }

    fn answers(&mut self, about: &str, reply: Reply) {
        let question = self.question(about).unwrap()["question"].clone();
        self.answered = match reply {
            Reply::Yes => json!({"answer": question, "key": "y"}),
            Reply::No => json!({"answer": question, "key": "n"}),
            Reply::NoBecause(why) => json!({"answer": question, "key": "n", "why": why}),
            Reply::Edits => json!({"answer": question, "key": "e"}),
        };
        self.client(Chat::First).line(&self.answered);
        eventually("the answer is taken", || self.question(about).is_none());
    }

    fn picks(&mut self, about: &str, number: u32) {
        let question = self.question(about).unwrap()["question"].clone();
        self.client(Chat::First).line(&json!({"answer": question, "key": number.to_string()}));
        eventually("the answer is shown", || {
            let lines = self.client(Chat::First).lines();
            let states = lines.iter().rev().find(|line| line["list"] == question);
            states.is_some_and(|line| line["states"][number as usize - 1] == "approved")
        });
    }

    fn answers_again(&mut self) -> String {
        let client = self.client(Chat::First);
        let notes = || {
            let mut lines = client.lines();
            lines.retain(|line| line["note"].is_string());
            lines
        };
        let before = notes().len();
        client.line(&self.answered);
        eventually("something is told", || notes().len() > before);
        notes()[before]["note"].as_str().unwrap().to_owned()
    }

    fn files(&mut self) -> Vec<(String, Vec<u8>)> {
        let lines = self.client(Chat::First).lines().into_iter();
        lines.filter_map(|line| Some((line["file"].as_str()?.to_owned(), text_of(&line)))).collect()
    }

    fn session(&self, chat: Chat) -> String {
        let name = if chat == Chat::First { "anna" } else { "bob" };
        format!("lines.{name}")
    }
}

fn text_of(line: &Value) -> Vec<u8> {
    line["text"].as_str().unwrap_or_default().as_bytes().to_vec()
}

/// What somebody reads who was sent this line. A file is none of it.
fn painted(line: &Value) -> String {
    if line["file"].is_string() {
        return String::new();
    }
    if line["question"].is_string() {
        return format!("May it run? {}", line["arguments"]);
    }
    let markdown = ["text", "note", "how"].iter().find_map(|key| line[key].as_str());
    let mut text = String::new();
    for event in Parser::new_ext(markdown.unwrap_or_default(), Options::ENABLE_TABLES) {
        match event {
            Event::Text(said) | Event::Code(said) => text.push_str(&said),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(_) => text.push('\n'),
            _ => {}
        }
    }
    text
}
