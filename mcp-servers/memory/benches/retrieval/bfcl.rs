//! The memory questions of `bfcl-eval`: what five people say in their conversations, and what is
//! asked later. Owns its format and the least that has to be found; must not know how is searched.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::Room;
use crate::{Collection, Question};

const SCENARIOS: [&str; 5] = ["customer", "finance", "healthcare", "notetaker", "student"];

/// Evidence among the first ten, as it was measured on 2026-11-23 less three points.
const WORDS_ANY_AT_10: f64 = 0.94;
const BOTH_ANY_AT_10: f64 = 0.955;

/// Fails if clearly less is found than there was.
pub fn hold(is_both: bool, is_vectors: bool, shares: &[f64; 5]) {
    let least = match (is_both, is_vectors) {
        (_, true) => return,
        (true, _) => BOTH_ANY_AT_10,
        (false, _) => WORDS_ANY_AT_10,
    };
    assert!(shares[1] >= least, "{:.3} of the evidence among the first 10, not {least}", shares[1]);
}

/// All five in one folder of notes, one note for each message.
pub fn read(folder: &str) -> Vec<Collection> {
    let room = Room::new();
    let mut session_of = BTreeMap::new();
    let mut said: Vec<(String, &str, String)> = Vec::new();
    for scenario in SCENARIOS {
        let path = format!("{folder}/memory_prereq_conversation/memory_{scenario}.json");
        for conversation in lines(&path) {
            let session = conversation["id"].as_str().unwrap();
            let messages = conversation["question"].as_array().unwrap().iter();
            let messages = messages.flat_map(|turn| turn.as_array().unwrap()).enumerate();
            for (turn, message) in messages {
                let (id, text) = (format!("n{}", said.len()), message["content"].as_str().unwrap());
                let topic = conversation["topic"].to_string();
                room.write(
                    &format!("{id}.md"),
                    format!("---\nid: {id}\nsubject: {topic}\nsource_session: {session}\nsource_turn: {turn}\ncreated: 2026-01-01\n---\n{text}\n"),
                );
                session_of.insert(id.clone(), session.to_owned());
                said.push((id, scenario, plain(text)));
            }
        }
    }
    let answers: BTreeMap<String, Value> =
        lines(&format!("{folder}/possible_answer/BFCL_v4_memory.json"))
            .into_iter()
            .map(|answer| (answer["id"].as_str().unwrap().to_owned(), answer))
            .collect();
    let mut questions = Vec::new();
    for question in lines(&format!("{folder}/BFCL_v4_memory.json")) {
        let category = question["scenario"].as_str().unwrap().to_owned();
        let source = answers[question["id"].as_str().unwrap()]["source"].as_str().unwrap();
        let evidence = evidence(&said, &category, source);
        let text = question["question"][0][0]["content"].as_str().unwrap().to_owned();
        if evidence.is_empty() {
            continue;
        }
        questions.push(Question { text, categories: vec![category], evidence });
    }
    vec![Collection { room, session_of, questions }]
}

/// The messages in which the source of an answer stands. It is quoted in parts, and a list may be
/// quoted with its heading.
fn evidence(said: &[(String, &str, String)], scenario: &str, source: &str) -> BTreeSet<String> {
    let holding = |source: &str| -> BTreeSet<String> {
        let parts: Vec<String> =
            source.split("...").map(plain).filter(|part| !part.is_empty()).collect();
        said.iter()
            .filter(|(_, of, text)| *of == scenario && parts.iter().any(|part| text.contains(part)))
            .map(|(id, _, _)| id.clone())
            .collect()
    };
    let found = holding(source);
    match source.split_once(':') {
        Some((_, behind)) if found.is_empty() => holding(behind),
        _ => found,
    }
}

fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Letters and digits, with one space between words.
fn plain(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
