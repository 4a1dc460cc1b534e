//! A third door, made of the shared parts alone (`tests/support/line_door.rs`): what every door has
//! to keep, over a real process with real servers behind it.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

mod program;
mod wires;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::{Arc, Mutex};

use program::{House, Running, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use wires::threaded::Threaded;
use wires::{Answer, Turn, Wire};

const WRITES: &str = "write notes.txt: hello";

/// The door as a process over the home.
fn start(house: &House) -> Running {
    let claw = house.command(&[]);
    let mut door = Command::new(program::example("line-door"));
    door.arg(house.home().join("lines.sock")).env_clear();
    door.envs(claw.get_envs().filter_map(|(name, value)| Some((name, value?))));
    door.current_dir(house.user_home());
    let running = house.begin(door);
    eventually("the door listens", || running.out().contains("listening"));
    running
}

fn kill(door: Running) {
    door.signal(Signal::KILL);
    drop(door);
}

/// Somebody at the socket, and every line that they were sent.
struct Client {
    writes: UnixStream,
    lines: Arc<Mutex<Vec<Value>>>,
}

impl Client {
    fn connect(house: &House, name: &str) -> Self {
        let writes = UnixStream::connect(house.home().join("lines.sock")).unwrap();
        let (reads, lines) = (BufReader::new(writes.try_clone().unwrap()), Arc::default());
        let into: Arc<Mutex<Vec<Value>>> = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in reads.lines().map_while(Result::ok) {
                into.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        let client = Self { writes, lines };
        client.line(&json!({"hello": name}));
        client
    }

    fn line(&self, line: &Value) {
        (&self.writes).write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn says(&self, text: &str) {
        self.line(&json!({"say": text}));
    }

    fn answers(&self, question: &Value, key: &str) {
        self.line(&json!({"answer": question["question"], "key": key}));
    }

    fn lines(&self) -> Vec<Value> {
        self.lines.lock().unwrap().clone()
    }

    /// The first line of which this holds.
    #[track_caller]
    fn waits_for(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        eventually(what, || self.lines().iter().any(&holds));
        self.lines().into_iter().find(holds).unwrap()
    }

    #[track_caller]
    fn waits_for_text(&self, text: &str) -> Value {
        self.waits_for(text, |line| {
            [&line["text"], &line["note"]].iter().any(|it| it.as_str().unwrap_or("").contains(text))
        })
    }

    #[track_caller]
    fn waits_for_question(&self) -> Value {
        self.waits_for("a question", |line| line["question"].is_string())
    }

    /// The messages as they stand, oldest first.
    fn screen(&self) -> Vec<String> {
        let mut shown: Vec<(i64, String)> = Vec::new();
        for line in self.lines() {
            let (Some(message), Some(text)) = (line["message"].as_i64(), line["text"].as_str())
            else {
                continue;
            };
            shown.retain(|(known, _)| *known != message);
            shown.push((message, text.to_owned()));
        }
        shown.sort();
        shown.into_iter().map(|(_, text)| text).collect()
    }
}

fn speaking(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, answers);
    (House::at("openai-compatible", &model.base_url), model)
}

#[test]
fn a_question_is_answered_once_and_its_message_says_what_became_of_it() {
    let house = House::new();
    let _door = start(&house);
    let anna = Client::connect(&house, "anna");
    anna.says(WRITES);
    let question = anna.waits_for_question();
    assert_eq!(question["tool"], "write_file");
    assert_eq!(house.in_workspace("notes.txt"), "", "it ran before anybody said yes");
    anna.answers(&question, "?");
    anna.waits_for_text("This answer is not offered.");
    anna.answers(&question, "y");
    anna.waits_for_text("Created `notes.txt`");
    assert_eq!(house.in_workspace("notes.txt"), "hello");
    let closed = anna.waits_for("its end", |line| line["how"] == "answered: Ok");
    assert_eq!(closed["message"], question["message"]);
    anna.answers(&question, "y");
    anna.waits_for_text("already");
    let asked = anna.lines().iter().filter(|line| line["question"].is_string()).count();
    assert_eq!(asked, 1);
    house.is_whole();
}

#[test]
fn a_question_expires_and_its_message_says_so() {
    let house = House::new();
    let _door = start(&house);
    let anna = Client::connect(&house, "anna");
    anna.says(WRITES);
    let question = anna.waits_for_question();
    house.db().execute("UPDATE approvals SET expires_ms = ?1", [1_700_000_000_000_i64]).unwrap();
    let closed = anna.waits_for("its end", |line| line["how"] == "expired");
    assert_eq!(closed["message"], question["message"]);
    assert_eq!(house.in_workspace("notes.txt"), "");
}

#[test]
fn a_question_is_asked_again_after_a_kill_and_can_be_answered() {
    let house = House::new();
    let door = start(&house);
    let anna = Client::connect(&house, "anna");
    anna.says(WRITES);
    let first = anna.waits_for_question();
    eventually("it is on record", || {
        let rows = "SELECT count(*) FROM posted WHERE state = 'open'";
        house.db().query_row(rows, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
    kill(door);
    let _door = start(&house);
    let anna = Client::connect(&house, "anna");
    let again = anna.waits_for_question();
    assert_eq!(again["question"], first["question"]);
    let old = anna.waits_for("the old one", |line| line["how"] == "asked again");
    assert_eq!(old["message"], first["message"]);
    anna.answers(&again, "y");
    anna.waits_for_text("Created `notes.txt`");
    house.is_whole();
}

#[test]
fn what_nobody_was_there_to_read_waits_until_somebody_is() {
    let (answer, gate) = gated("The answer, much later.");
    let (house, model) = speaking([answer]);
    let _door = start(&house);
    let anna = Client::connect(&house, "anna");
    anna.says("go");
    eventually("the model is asked", || model.recorded().len() == 1);
    drop(anna.writes.shutdown(std::net::Shutdown::Both));
    gate.add_permits(100);
    eventually("the turn has ended", || {
        let rows = "SELECT count(*) FROM outbox";
        house.db().query_row(rows, [], |row| row.get::<_, i64>(0)).unwrap() > 0
    });
    let anna = Client::connect(&house, "anna");
    anna.waits_for_text("The answer, much later.");
}

fn gated(text: &str) -> (Answer, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    (Answer::Gated(Turn::text(text), gate.clone()), gate)
}

#[test]
fn an_answer_grows_in_one_message_and_is_whole_in_the_end() {
    let (answer, gate) = gated("The first half, and the second half.");
    let (house, _model) = speaking([answer]);
    let _door = start(&house);
    let anna = Client::connect(&house, "anna");
    anna.says("go");
    gate.add_permits(2);
    let draft = anna.waits_for_text("The first half");
    assert!(!draft["text"].as_str().unwrap().contains("second half"));
    gate.add_permits(100);
    anna.waits_for_text("The first half, and the second half.");
    eventually("the outbox is empty", || {
        let rows = "SELECT count(*) FROM outbox WHERE state <> 'sent'";
        house.db().query_row(rows, [], |row| row.get::<_, i64>(0)).unwrap() == 0
    });
    assert_eq!(anna.screen(), ["The first half, and the second half."]);
}

#[test]
fn a_long_answer_is_its_beginning_and_a_file_and_a_linked_file_is_handed_over() {
    let long = "word ".repeat(3_000);
    let texts = [long.trim_end(), "Here it is: [the plan](plan.txt). And [none](none.txt)."];
    let (house, _model) = speaking(texts.map(Answer::text));
    std::fs::create_dir_all(house.workspace()).unwrap();
    std::fs::write(house.workspace().join("plan.txt"), "step one").unwrap();
    let _door = start(&house);
    let anna = Client::connect(&house, "anna");
    anna.says("long");
    let file = anna.waits_for("the whole", |line| line["file"] == "answer.md");
    assert!(file["text"].as_str().unwrap().starts_with(long.trim_end()));
    assert_eq!(anna.screen().len(), 1, "the beginning is one message");
    anna.says("file");
    let file = anna.waits_for("the plan", |line| line["file"] == "plan.txt");
    assert_eq!(file["text"], "step one");
    anna.waits_for_text("none.txt was not sent: there is no such file in the workspace.");
}

#[test]
fn the_stop_switch_works_here_and_holds_what_is_answered() {
    let house = House::new();
    let _door = start(&house);
    let anna = Client::connect(&house, "anna");
    anna.says(WRITES);
    let question = anna.waits_for_question();
    anna.says("/panic");
    anna.waits_for_text("The stop switch is on");
    anna.answers(&question, "y");
    anna.waits_for("its end", |line| line["closed"] == question["question"]);
    assert_eq!(house.in_workspace("notes.txt"), "");
    anna.says("/panic off");
    anna.waits_for_text("The stop switch is off.");
    anna.says("/help");
    anna.waits_for_text("/approvals");
}

#[test]
fn one_who_floods_holds_up_nobody_else() {
    let house = House::new();
    house.write("claw.toml", "[limits]\nqueued_messages_max = 4\n");
    let _door = start(&house);
    let (anna, bob) = (Client::connect(&house, "anna"), Client::connect(&house, "bob"));
    anna.says(WRITES);
    anna.waits_for_question();
    // They wait behind the question, until there is no more room.
    (0..50).for_each(|_| anna.says("and again"));
    anna.waits_for_text("It was not taken in.");
    bob.says("help");
    bob.waits_for("an answer", |line| line["text"].is_string());
    assert!(bob.lines().iter().all(|line| !line["question"].is_string()));
}
