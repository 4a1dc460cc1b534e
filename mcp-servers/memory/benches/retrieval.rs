//! How often `recall` finds the evidence of LoCoMo's questions: one note for each turn of a
//! conversation, asked by words alone. `cargo bench -p claw-mcp-memory --bench retrieval -- FILE`
//! takes `locomo10.json`; its licence forbids to have it here. Only conversations 0 to 4 are used.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::print_stdout, reason = "it prints a table")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::{Room, Server};

const CONVERSATIONS: usize = 5;

/// Counted over questions.
#[derive(Default)]
struct Counts {
    questions: f64,
    any_at_10: f64,
    all_at_10: f64,
    all_at_20: f64,
    session_at_5: f64,
}

fn main() {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else {
        println!("retrieval: name the file, for example locomo10.json");
        return;
    };
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut counts = Counts::default();
    for conversation in all.as_array().unwrap().iter().take(CONVERSATIONS) {
        let room = Room::new();
        let turns = write_turns(&room, &conversation["conversation"]);
        let mut server = room.start();
        for question in conversation["qa"].as_array().unwrap() {
            let evidence = evidence(question, &turns);
            if !evidence.is_empty() {
                ask(&mut server, question["question"].as_str().unwrap(), &evidence, &mut counts);
            }
        }
    }
    let share = |count: f64| count / counts.questions;
    println!("{} questions of {CONVERSATIONS} conversations, by words alone", counts.questions);
    println!("a turn of the evidence among the first 10   {:.3}", share(counts.any_at_10));
    println!("share of the evidence among the first 10    {:.3}", share(counts.all_at_10));
    println!("share of the evidence among the first 20    {:.3}", share(counts.all_at_20));
    println!("a session of the evidence among the first 5 {:.3}", share(counts.session_at_5));
}

/// A note for each turn, named like the turn. Gives the names.
fn write_turns(room: &Room, conversation: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
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
            names.insert(name);
        }
    }
    names
}

/// The turns that answer: `D1:3`, sometimes several in one text.
fn evidence(question: &Value, turns: &BTreeSet<String>) -> BTreeSet<String> {
    let texts = question["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names =
        texts.flat_map(|text| text.split([' ', ';', ','])).map(|name| name.replace(':', "-"));
    names.filter(|name| turns.contains(name)).collect()
}

fn session(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

fn ask(server: &mut Server, question: &str, evidence: &BTreeSet<String>, counts: &mut Counts) {
    let (output, _) = server.ok("recall", json!({"query": question, "limit": 50}));
    let hits: Vec<&str> =
        output["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    let among = |first: usize| {
        hits.iter().take(first).filter(|hit| evidence.contains(**hit)).count() as f64
    };
    let mut sessions: Vec<&str> = Vec::new();
    for hit in &hits {
        if !sessions.contains(&session(hit)) {
            sessions.push(session(hit));
        }
    }
    let wanted: BTreeSet<&str> = evidence.iter().map(|name| session(name)).collect();
    counts.questions += 1.0;
    counts.any_at_10 += f64::from(u8::from(among(10) > 0.0));
    counts.all_at_10 += among(10) / evidence.len() as f64;
    counts.all_at_20 += among(20) / evidence.len() as f64;
    let found = sessions.iter().take(5).any(|session| wanted.contains(session));
    counts.session_at_5 += f64::from(u8::from(found));
}
