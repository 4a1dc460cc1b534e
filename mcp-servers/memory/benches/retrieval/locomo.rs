//! LoCoMo: long conversations, questions about them, and the turns that answer. Owns its format;
//! must not know what is measured.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::Room;
use crate::{Collection, Question};

/// The others are kept for judging.
const CONVERSATIONS: usize = 5;

pub fn read(path: &str) -> Vec<Collection> {
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let conversations = all.as_array().unwrap().iter().take(CONVERSATIONS).enumerate();
    conversations.map(|(at, one)| collection(at, one)).collect()
}

fn collection(at: usize, conversation: &Value) -> Collection {
    let room = Room::new();
    let session_of = write_turns(&room, &conversation["conversation"]);
    let mut questions = Vec::new();
    for question in conversation["qa"].as_array().unwrap() {
        let evidence = evidence(question, &session_of);
        if evidence.is_empty() {
            continue;
        }
        let text = question["question"].as_str().unwrap().to_owned();
        let categories = vec![format!("cat {}", question["category"]), format!("conv {at}")];
        questions.push(Question { text, categories, evidence });
    }
    Collection { room, session_of, questions }
}

/// A note for each turn, named like the turn and dated like its session. Gives the names
/// with their sessions.
fn write_turns(room: &Room, conversation: &Value) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for session in 1..100 {
        let Some(turns) = conversation[format!("session_{session}")].as_array() else { continue };
        let day = day(conversation[format!("session_{session}_date_time")].as_str().unwrap());
        for (turn, said) in turns.iter().enumerate() {
            let name = said["dia_id"].as_str().unwrap().replace(':', "-");
            let shared = said["blip_caption"].as_str().map(|text| format!(" [shares {text}]"));
            let text = format!(
                "---\nid: {name}\nsubject: turn\nsource_session: s{session}\nsource_turn: {turn}\ncreated: {day}\n---\n{}: {}{}\n",
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

/// `1:56 pm on 8 May, 2023` as `2023-05-08`.
fn day(said: &str) -> String {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, date) = said.split_once(" on ").unwrap();
    let (day, rest) = date.split_once(' ').unwrap();
    let (month, year) = rest.split_once(", ").unwrap();
    let month = MONTHS.find(&month[..3]).unwrap() / 3 + 1;
    format!("{year}-{month:02}-{:02}", day.parse::<u8>().unwrap())
}

/// The turns that answer: `D1:3`, sometimes several in one text.
fn evidence(question: &Value, turns: &BTreeMap<String, String>) -> BTreeSet<String> {
    let texts = question["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names =
        texts.flat_map(|text| text.split([' ', ';', ','])).map(|name| name.replace(':', "-"));
    names.filter(|name| turns.contains_key(name)).collect()
}
