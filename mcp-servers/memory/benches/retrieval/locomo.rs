//! LoCoMo: long conversations, questions about them, and the turns that answer. Owns its format;
//! must not know what is measured.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::Room;
use crate::{Collection, Question};

/// The others are kept for judging.
const CONVERSATIONS: usize = 5;

/// The weights were found on the first three; the last two are told apart.
const TUNED_ON: usize = 3;

pub fn read(path: &str) -> Vec<Collection> {
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let conversations = all.as_array().unwrap().iter().take(CONVERSATIONS).enumerate();
    let collections = conversations.map(|(at, one)| collection(one, at < TUNED_ON));
    collections.collect()
}

fn collection(conversation: &Value, is_tuned_on: bool) -> Collection {
    let room = Room::new();
    let session_of = write_turns(&room, &conversation["conversation"]);
    let mut questions = Vec::new();
    for question in conversation["qa"].as_array().unwrap() {
        let evidence = evidence(question, &session_of);
        if evidence.is_empty() {
            continue;
        }
        let text = question["question"].as_str().unwrap().to_owned();
        let part = if is_tuned_on { "0-2" } else { "3-4" };
        let categories = vec![format!("cat {}", question["category"]), part.to_owned()];
        questions.push(Question { text, categories, evidence });
    }
    Collection { room, session_of, questions }
}

/// A note for each turn, named like the turn. Gives the names with their sessions.
fn write_turns(room: &Room, conversation: &Value) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for session in 1..100 {
        let Some(turns) = conversation[format!("session_{session}")].as_array() else { continue };
        for (turn, said) in turns.iter().enumerate() {
            let name = said["dia_id"].as_str().unwrap().replace(':', "-");
            let shared = said["blip_caption"].as_str().map(|text| format!(" [shares {text}]"));
            let text = format!(
                "---\nid: {name}\nsubject: turn\nsource_session: s{session}\nsource_turn: {turn}\ncreated: 2026-01-01\n---\n{}: {}{}\n",
                said["speaker"].as_str().unwrap(),
                said["text"].as_str().unwrap_or_default(),
                shared.unwrap_or_default(),
            );
            room.write(&format!("{name}.md"), text);
            names.insert(name, session.to_string());
        }
    }
    names
}

/// The turns that answer: `D1:3`, sometimes several in one text.
fn evidence(question: &Value, turns: &BTreeMap<String, String>) -> BTreeSet<String> {
    let texts = question["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names =
        texts.flat_map(|text| text.split([' ', ';', ','])).map(|name| name.replace(':', "-"));
    names.filter(|name| turns.contains_key(name)).collect()
}
