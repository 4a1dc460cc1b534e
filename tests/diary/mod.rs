//! A diary of 500 messages over 25 days, by the whole program and a scripted model: 60 facts, each
//! of which changes, 40 that contradict what is noted, 30 planted in tool results and forwarded
//! texts, and small talk that a bad model proposes, too. It shows what becomes of them: nothing
//! that nobody confirmed is remembered or given back, nothing superseded passes for current, little
//! is junk, and a day has few taps.

#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod script;

use std::fs;

use crate::botapi::{BotApi, User};
use crate::program::{House, Running, SERVER_WAIT, eventually};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use script::{Comes, DAYS, Message, Said, diary};
use serde_json::{Value, json};

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
        for key in ["at", "closed_at"] {
            if let Some(at) = asked[key].as_i64() {
                asked[key] = json!(at - DAY_S);
            }
        }
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

/// A console that stays open for a conversation, as its owner would have it.
struct Chat {
    console: Running,
    /// What was shown before the newest line was typed, in bytes.
    before: usize,
}

impl Chat {
    fn open(house: &House, session: &str) -> Self {
        Self { console: house.start(&["chat", "--session", session]), before: 0 }
    }

    /// Types a line, and waits until `text` is shown behind it.
    fn types(&mut self, line: &str, text: &str) {
        self.before = self.console.out_bytes();
        self.console.types(format!("{line}\n").as_bytes());
        self.shows(text);
    }

    /// Waits until this is shown behind the newest line.
    fn shows(&self, text: &str) {
        eventually(text, || self.console.out_behind(self.before).contains(text));
    }

    fn leaves(self) {
        self.console.ends().expect(0);
    }
}

struct Diary {
    house: House,
    chat: Chat,
    model: Threaded,
    telegram: BotApi,
    anna: User,
    taps: usize,
    /// Requests that were looked at, and blocks of recalled notes in them.
    looked_at: usize,
    recalled: usize,
    /// Facts that are not so any more: subject and text.
    past: Vec<(String, String)>,
}

impl Diary {
    /// One message: what the model does with it, and the owner's answer to what it proposes.
    fn says(&mut self, message: &Message) {
        if let Comes::InAPage(text) = &message.comes {
            self.house.write("workspace/page.txt", text);
            let read = Call::new("r", "filesystem__read_file", r#"{"path":"page.txt"}"#);
            self.model.push(Answer::Turn(Turn::calls(&[read])));
        }
        if let Some(proposal) = &message.proposes {
            let mut arguments = json!({"subject": proposal.subject, "text": proposal.text});
            if let Some(old) = &proposal.replaces {
                arguments["replaces"] = json!(self.id_of(&proposal.subject, old));
            }
            self.model.push(calls("propose", &arguments));
        }
        self.send(message);
        self.answers(message);
        self.looks(&message.text);
        // What the model was asked with for this message was so until the owner's yes.
        let proposal = message.proposes.as_ref().filter(|proposal| proposal.is_true);
        self.past
            .extend(proposal.and_then(|new| Some((new.subject.clone(), new.replaces.clone()?))));
    }

    fn send(&mut self, message: &Message) {
        if message.comes != Comes::Forwarded {
            let heard = format!("I see number {}.", self.looked_at);
            self.model.push(Answer::text(&heard));
            self.chat.types(&message.text, &heard);
            return;
        }
        let heard = format!("I see what others say, {}.", self.looked_at);
        self.model.push(Answer::text(&heard));
        let forwards = self.anna.writes(self.anna.private()).text(&message.text);
        forwards.forwarded_from("Mallory").send();
        self.telegram.wait_for_text(self.anna.id, &heard);
        eventually("the turn has ended", || {
            let open = "SELECT (SELECT count(*) FROM events WHERE type = 'turn.started')
                          - (SELECT count(*) FROM events WHERE type = 'turn.ended')";
            self.house.db().query_row(open, [], |row| row.get::<_, i64>(0)) == Ok(0)
        });
    }

    fn answers(&mut self, message: &Message) {
        let Some(proposal) = &message.proposes else { return };
        for question in self.house.claw(&["approvals", "--json"]).expect(0).rows() {
            self.taps += 1;
            let shown = question.to_string();
            assert_eq!(
                shown.contains("Proposed from words that are not yours"),
                message.comes == Comes::Forwarded,
                "{shown}"
            );
            // The owner says yes to what is so, and to nothing that was planted or is small talk.
            let is_true = proposal.is_true && shown.contains(&proposal.text);
            if message.comes == Comes::Forwarded {
                let id = question["id"].as_str().unwrap();
                self.house.claw(&[if is_true { "approve" } else { "deny" }, id]).expect(0);
                continue;
            }
            self.chat.shows("Staged 1 item");
            self.chat.types(if is_true { "yes" } else { "no" }, "• ");
        }
    }

    /// Every request since the last look: what the memory has put into it is noted and so.
    fn looks(&mut self, why: &str) {
        let requests = self.model.recorded_behind(self.looked_at);
        for request in &requests {
            let messages = request.body["messages"].as_array().unwrap();
            let system = messages[0].to_string();
            for Said { text, .. } in script::planted().iter().chain(&script::contradictions()) {
                assert!(!system.contains(text), "{why}: {text} in {system}");
            }
            // What stands before the newest message is new; what stood before others was so then.
            let Some(block) = messages.iter().rev().find_map(recalled_in) else { continue };
            self.recalled += 1;
            for Said { text, .. } in script::planted().iter().chain(&script::contradictions()) {
                assert!(!block.contains(text), "{why}: {text} in {block}");
            }
            let is_new = messages.last().is_some_and(|last| recalled_in(last).is_some());
            for (subject, text) in self.past.iter().filter(|_| is_new) {
                assert!(!block.contains(text), "{why}: {subject} is not so any more: {block}");
            }
        }
        self.looked_at += requests.len();
    }

    /// What was so once is not recalled when its subject is asked about.
    fn is_asked_about(&mut self, Said { subject, text }: &Said, chat: &mut Chat) {
        let heard = format!("I know number {}.", self.looked_at);
        self.model.push(Answer::text(&heard));
        let asked = format!("What do you know about {subject}?");
        chat.types(&asked, &heard);
        let requests = self.model.recorded_behind(self.looked_at);
        let request = requests.last().unwrap().body.clone();
        let block = request["messages"].as_array().unwrap().iter().rev().find_map(recalled_in);
        assert!(!block.unwrap_or_default().contains(text), "{subject}: {text}");
        self.looks(&asked);
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

/// What a message of a request says of what was recalled for it.
fn recalled_in(message: &Value) -> Option<String> {
    let text = message["content"].to_string();
    let (_, from) = text.split_once("[from your memory")?;
    // A note cannot end the quotation: its lines begin with a mark.
    from.split_once("\\n[end of the notes]").map(|(notes, _)| notes.to_owned())
}

#[test]
fn a_diary_of_500_messages() {
    let model = Threaded::start(Wire::OpenAi, []);
    let telegram = BotApi::start();
    let anna = telegram.user("Anna");
    let house = House::at("openai-compatible", &model.base_url).with_bot(
        &telegram.token(),
        telegram.url(),
        &anna.id.to_string(),
    );
    // What is said in 25 days is never summarised: the answers of the model are counted.
    let window = "window_tokens = 10000000\n";
    let patient = "[memory]\nrecall_time_ms = 60000\n";
    let toml = format!("{SERVER_WAIT}{window}[model]\n{window}{patient}");
    house.write("claw.toml", &toml);
    let gateway = house.start(&["gateway"]);
    let (taps, looked_at, recalled, past) = (0, 0, 0, Vec::new());
    let chat = Chat::open(&house, "before");
    let mut diary = Diary { house, chat, model, telegram, anna, taps, looked_at, recalled, past };
    let messages = self::diary();
    assert_eq!(messages.len(), 500);
    for day in 0..DAYS {
        diary.taps = 0;
        // Each day has a conversation of its own: what is known of another day comes
        // from the memory.
        let chat = Chat::open(&diary.house, &format!("day-{day}"));
        std::mem::replace(&mut diary.chat, chat).leaves();
        for message in messages.iter().filter(|message| message.day == day) {
            diary.says(message);
        }
        assert!(diary.taps <= TAPS_OF_DAY_MAX, "day {day} has {} taps", diary.taps);
        let_a_day_pass(&diary.house);
    }
    // Each is asked about once more, in a conversation of its own.
    let mut later = Chat::open(&diary.house, "later");
    script::superseded().iter().for_each(|said| diary.is_asked_about(said, &mut later));
    assert!(diary.recalled >= 200, "{} requests had notes in them", diary.recalled);
    drop(gateway);
    diary.chat.leaves();
    later.leaves();
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
    println!(
        "{} notes, {kept} of {} truths, {junk} junk; {} requests, {} with notes",
        now.len(),
        truths.len(),
        diary.looked_at,
        diary.recalled
    );
}
