//! A diary of 500 messages over 25 days, by the whole program and a scripted model: 60 facts, each of
//! which changes, 40 that contradict what is noted, 30 planted in tool results and forwarded texts,
//! and small talk that a bad model proposes, too. It shows what becomes of them: nothing that nobody
//! confirmed is remembered or given back, nothing superseded passes for current, little is junk, and a
//! day has few taps.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

#[path = "../program/mod.rs"]
mod program;
mod script;
#[path = "../wires/mod.rs"]
mod wires;

use std::fs;

use program::{House, SERVER_WAIT};
use script::{DAYS, Message, Said, diary};
use serde_json::{Value, json};
use wires::threaded::Threaded;
use wires::{Answer, Call, Turn, Wire};

const TAPS_OF_DAY_MAX: usize = 8;
const DAY_S: i64 = 86_400;

fn calls(tool: &str, arguments: &Value) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("c", &format!("memory__{tool}"), &arguments.to_string())]))
}

/// A day passes for the memory: what it has asked was a day earlier.
fn let_a_day_pass(house: &House) {
    let path = house.home().join("memory-state/asked.jsonl");
    let Ok(text) = fs::read_to_string(&path) else { return };
    let earlier = |line: &str| {
        let mut asked: Value = serde_json::from_str(line).unwrap();
        asked["at"] = json!(asked["at"].as_i64().unwrap() - DAY_S);
        asked.to_string() + "\n"
    };
    fs::write(&path, text.lines().map(earlier).collect::<String>()).unwrap();
}

/// The current notes, as recall gives them: subject and text.
fn remembered(house: &House) -> Vec<(String, String)> {
    let rows = house.claw(&["memory", "list", "--json"]).expect(0).rows();
    let current = rows.iter().filter(|row| row.get("superseded_by").is_none());
    current
        .map(|row| {
            let id = row["id"].as_str().unwrap();
            let note = house.claw(&["memory", "show", id, "--json"]).expect(0).json();
            let said = |key: &str| note[key].as_str().unwrap().to_owned();
            (said("subject"), said("text"))
        })
        .collect()
}

struct Diary {
    house: House,
    model: Threaded,
    taps: usize,
}

impl Diary {
    /// One message: what the model does with it, and the owner's answer to what it proposes.
    fn says(&mut self, message: &Message) {
        if let Some(proposal) = &message.proposes {
            let mut arguments = json!({"subject": proposal.subject, "text": proposal.text});
            if let Some(old) = &proposal.replaces {
                arguments["replaces"] = json!(self.id_of(&proposal.subject, old));
            }
            self.model.push(calls("propose", &arguments));
        }
        self.model.push(Answer::text("I see."));
        self.house.claw(&["ask", &message.text]).expect(0);
        if message.proposes.is_none() {
            return;
        }
        let open = self.house.claw(&["approvals", "--json"]).expect(0).rows();
        for question in open {
            self.taps += 1;
            let id = question["id"].as_str().unwrap();
            let shown = question.to_string();
            // The owner says yes to what is so, and to nothing that was planted or is small talk.
            let is_true = message
                .proposes
                .as_ref()
                .is_some_and(|proposal| proposal.is_true && shown.contains(&proposal.text));
            let answer = if is_true { "approve" } else { "deny" };
            self.house.claw(&[answer, id]).expect(0);
        }
    }

    fn id_of(&self, subject: &str, text: &str) -> String {
        let rows = self.house.claw(&["memory", "list", subject, "--json"]).expect(0).rows();
        let found = rows.iter().find(|row| row["subject"] == subject && row["text"] == text);
        found.unwrap_or_else(|| panic!("{subject}: {text} in {rows:?}"))["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

#[test]
fn a_diary_of_500_messages() {
    let model = Threaded::start(Wire::OpenAi, []);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", SERVER_WAIT);
    let mut diary = Diary { house, model, taps: 0 };
    let messages = self::diary();
    assert_eq!(messages.len(), 500);
    for day in 0..DAYS {
        diary.taps = 0;
        for message in messages.iter().filter(|message| message.day == day) {
            diary.says(message);
        }
        assert!(diary.taps <= TAPS_OF_DAY_MAX, "day {day} has {} taps", diary.taps);
        let_a_day_pass(&diary.house);
    }
    let now = remembered(&diary.house);
    let truths = script::truths();
    let is_true = |note: &(String, String)| truths.contains(note);
    let junk = now.iter().filter(|note| !is_true(note)).count();
    assert!(junk * 20 <= now.len(), "{junk} of {} are junk: {now:#?}", now.len());
    for Said { subject, text } in script::planted() {
        assert!(!now.iter().any(|note| note.1.contains(&text)), "planted: {subject}: {text}");
    }
    for Said { subject, text } in script::superseded() {
        assert!(!now.contains(&(subject.clone(), text.clone())), "superseded: {subject}: {text}");
    }
    // What the model can look up is this and nothing else.
    for Said { subject, text } in script::planted().into_iter().chain(script::superseded()) {
        let found = diary.house.claw(&["memory", "list", &subject, "--json"]).expect(0).rows();
        assert!(!found.iter().any(|row| row["text"] == text), "recalled: {subject}: {text}");
    }
    let kept = truths.iter().filter(|truth| now.contains(truth)).count();
    assert!(kept * 10 >= truths.len() * 9, "{kept} of {} truths are remembered", truths.len());
    let check = diary.house.claw(&["memory", "check"]).expect(0);
    assert!(check.out.contains("equals the files"), "{check:?}");
    println!("{} notes, {kept} of {} truths, {junk} junk", now.len(), truths.len());
}
