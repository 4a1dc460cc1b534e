//! What is opened to commands by name, through the whole program: permanently, for a time, asked
//! about at each use, reached by the call that names it and by no other, and closed again.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::program::{House, eventually, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use claw_test_kit::skipped;
use serde_json::{Value, json};

/// Says one word to Docker, and prints what it says.
const SPEAK: &str =
    "exec 3<>/dev/tcp/127.0.0.1/${DOCKER_HOST##*:} && printf 'ping\\n' >&3 && cat <&3";
/// Keeps the line to Docker open until the other side ends it, and goes on by itself then.
const HOLD: &str = "exec 3<>/dev/tcp/127.0.0.1/${DOCKER_HOST##*:} && printf 'hold!' >&3 && head -c 5 <&3 >> begun; \
     cat <&3; (exec 3<>/dev/tcp/127.0.0.1/${DOCKER_HOST##*:}) 2>/dev/null || echo no more; sleep 0.1";
const ALLOW: &str =
    "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";

/// A house whose model makes the calls that it is told to, beside a stand-in for Docker.
struct Told {
    house: House,
    provider: Threaded,
    /// The commands can have networks of their own.
    boxed: bool,
    /// How often the line to Docker was held until it was ended.
    ended: Arc<AtomicUsize>,
}

/// A daemon that answers one word, and holds the line where it is asked to.
fn answer(mut stream: UnixStream, ended: &AtomicUsize) {
    let mut word = [0; 5];
    // Whoever connects and says nothing has only looked.
    if stream.read_exact(&mut word).is_err() {
        return;
    }
    if word == *b"hold!" {
        let _ = stream.write_all(b"held\n");
        let _ = stream.read(&mut word);
        ended.fetch_add(1, Ordering::SeqCst);
    } else {
        let _ = stream.write_all(&[b"the daemon heard ", &word[..]].concat());
    }
}

impl Told {
    fn new() -> Self {
        let provider = Threaded::start(Wire::Anthropic, []);
        let house = House::at("claude", &provider.base_url);
        let socket = house.user_home().join("docker.sock");
        let house = house.with("DOCKER_HOST", &format!("unix://{}", socket.display()));
        fs::create_dir_all(house.user_home()).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        let ended = Arc::new(AtomicUsize::new(0));
        let counts = ended.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, counts) = (stream.unwrap(), counts.clone());
                thread::spawn(move || answer(stream, &counts));
            }
        });
        let doctor = house.claw(&["doctor", "--json"]).rows();
        let text = |row: &&Value| row["text"].as_str().unwrap().contains("networks");
        let boxed = doctor.iter().filter(|row| row["id"] == "box").any(|row| text(&row));
        if !boxed {
            skipped("commands have no network of their own here, so Docker is opened to none");
        }
        Self { house, provider, boxed, ended }
    }

    fn push(&self, arguments: &Value) {
        let call = Call::new("1", "bash__run", &arguments.to_string());
        self.provider.push(Answer::Turn(Turn::calls(&[call])));
        self.provider.push(Answer::text("done"));
    }

    /// What the call came to that nobody is asked about.
    fn outcome(&self, arguments: &Value) -> Value {
        self.push(arguments);
        self.house.claw(&["ask", "go"]).expect(0);
        self.last()
    }

    fn last(&self) -> Value {
        outcomes(&self.house.events("main")).pop().unwrap()
    }

    /// A command that holds the line has begun.
    fn holds(&self, times: usize) {
        let held = || self.house.in_workspace("begun").matches("held").count() == times;
        eventually("the line to Docker is held", held);
        assert!(self.ended.load(Ordering::SeqCst) < times, "it was held until now");
    }

    /// The question about the call, and its id.
    fn asks(&self, arguments: &Value) -> (String, String) {
        self.push(arguments);
        let id = self.house.ask_parks("go");
        (self.house.claw(&["approvals", &id]).expect(0).out, id)
    }
}

fn speak(needs: &str) -> Value {
    json!({"command": SPEAK, "needs": needs, "opens": ["docker"]})
}

#[test]
fn docker_is_closed_and_a_call_that_names_it_is_told_how_it_is_opened() {
    let told = Told::new();
    told.house.write("policy.toml", ALLOW);
    let outcome = told.outcome(&speak("network"));
    assert_eq!(outcome["kind"], "denied", "{outcome}");
    let why = outcome["reason"].as_str().unwrap();
    assert!(why.contains("claw open docker --for 1h") && why.contains("[box]"), "{why}");
    // A level that is not asked about has nothing of it, and neither has a command that is silent.
    told.house.claw(&["open", "docker"]).expect(0);
    for needs in ["read", "write"] {
        let outcome = told.outcome(&speak(needs));
        assert!(outcome["reason"].as_str().unwrap().contains("needs: \"network\""), "{outcome}");
    }
    let silent = told.outcome(&json!({"command": SPEAK, "needs": "network"}));
    assert_eq!(silent["kind"], "ended", "{silent}");
    assert!(!silent.to_string().contains("the daemon heard"), "{silent}");
}

#[test]
fn docker_is_opened_for_a_time_asked_about_at_each_use_reached_and_closed() {
    let told = Told::new();
    told.house.write("policy.toml", ALLOW);
    let opened = told.house.claw(&["open", "docker", "--for", "30m"]).expect(0).out;
    assert!(opened.contains("root on this machine") && opened.contains("claw close"), "{opened}");
    for words in [&["open"][..], &["grants"], &["doctor"]] {
        let listed = told.house.claw(words).out;
        assert!(listed.contains("docker") && listed.contains("root on this machine"), "{listed}");
    }
    // A rule of the owner's that lets every command run does not let this one.
    let (question, id) = told.asks(&speak("network"));
    assert!(
        question.contains("it uses Docker") && question.contains("root on this machine"),
        "{question}"
    );
    assert!(!question.contains("all of the network"), "{question}");
    told.house.claw(&["approve", &id]).expect(0);
    let outcome = told.last();
    assert_eq!(outcome.to_string().contains("the daemon heard ping"), told.boxed, "{outcome}");
    // A yes that comes when it is closed again starts nothing.
    let (_, id) = told.asks(&speak("network"));
    told.house.claw(&["close", "docker"]).expect(0);
    told.house.claw(&["approve", &id]).expect(0);
    let outcome = told.last();
    assert_eq!(outcome["kind"], "denied", "{outcome}");
    told.house.claw(&["close", "docker"]).expect_mistake(&["docker is not open"]);
    let kinds: Vec<Value> = told.house.audit().iter().map(|row| row["kind"].clone()).collect();
    assert!(kinds.contains(&json!("opened")) && kinds.contains(&json!("closed")), "{kinds:?}");
}

#[test]
fn the_stop_switch_closes_what_is_open_for_a_time_and_claw_toml_opens_permanently() {
    let told = Told::new();
    let is_open = || told.house.claw(&["open", "--json"]).expect(0).rows();
    told.house.claw(&["open", "docker", "--for", "2d"]).expect(0);
    assert_eq!(is_open().len(), 1);
    told.house.claw(&["panic", "on"]).expect(0);
    told.house.claw(&["panic", "off"]).expect(0);
    assert!(is_open().is_empty());
    told.house.write("claw.toml", "[box]\nopen = [\"docker\", \"ssh-agent\"]\n");
    assert_eq!(is_open().len(), 2);
    let (_, id) = told.asks(&speak("network"));
    told.house.claw(&["deny", &id]).expect(0);
    told.house.claw(&["close", "docker"]).expect_mistake(&["claw.toml opens docker"]);
    let doctor = told.house.claw(&["doctor"]).out;
    assert!(doctor.contains("ssh-agent cannot be reached from here: SSH_AUTH_SOCK"), "{doctor}");
    told.house.write("claw.toml", "[box]\nopen = [\"podman\"]\n");
    told.house.claw(&["open"]).expect_mistake(&["podman", "ssh-agent", "docker"]);
    told.house.write("claw.toml", "");
    for odd in ["0m", "8d", "1s", "soon"] {
        told.house.claw(&["open", "docker", "--for", odd]).expect(2);
    }
    assert!(is_open().is_empty());
}

#[test]
fn a_command_that_runs_loses_what_is_closed_at_once_and_its_result_says_why() {
    let told = Told::new();
    if !told.boxed {
        return;
    }
    let hold = json!({"command": HOLD, "needs": "network", "opens": ["docker"]});
    told.house.claw(&["open", "docker"]).expect(0);
    let (_, id) = told.asks(&hold);
    let running = told.house.start(&["approve", &id]);
    told.holds(1);
    // To open it again for longer ends nothing.
    told.house.claw(&["open", "docker", "--for", "2h"]).expect(0);
    assert_eq!(told.ended.load(Ordering::SeqCst), 0);
    told.house.claw(&["close", "docker"]).expect(0);
    running.ends().expect(0);
    let outcome = told.last().to_string();
    assert!(outcome.contains("The owner closed docker while this ran"), "{outcome}");
    assert!(outcome.contains("no more") && outcome.contains("exit code 0"), "{outcome}");
    eventually("Docker has seen the end", || told.ended.load(Ordering::SeqCst) == 1);

    // The end of its time does the same.
    told.house.claw(&["open", "docker"]).expect(0);
    let (_, id) = told.asks(&hold);
    let running = told.house.start(&["approve", &id]);
    told.holds(2);
    // Longer than the time between two looks: this write is none of claw's, so it sends no signal.
    let soon = "UPDATE grants SET expires_ms = unixepoch() * 1000 + 3000 WHERE revoked_ms IS NULL AND tool = 'opening'";
    assert_eq!(told.house.db().execute(soon, []).unwrap(), 1);
    running.ends().expect(0);
    let outcome = told.last().to_string();
    assert!(outcome.contains("The time for which docker was open was over"), "{outcome}");
}

#[test]
fn a_job_in_the_background_loses_what_is_closed_between_two_turns() {
    let told = Told::new();
    if !told.boxed {
        return;
    }
    told.house.claw(&["open", "docker"]).expect(0);
    let job = json!({"command": HOLD, "needs": "network", "opens": ["docker"]});
    let calls = |tool: &str, arguments: &Value| {
        told.provider.push(Answer::Turn(Turn::calls(&[Call::new(
            "1",
            tool,
            &arguments.to_string(),
        )])));
    };
    calls("bash__start", &job);
    told.provider.push(Answer::text("It runs."));
    calls("bash__output", &json!({"job": 1, "wait_s": 60}));
    told.provider.push(Answer::text("It has ended."));
    let mut chat = told.house.start(&["chat"]);
    chat.types(b"go\n");
    eventually("it is asked about", || chat.out().contains("docker: it is root"));
    chat.types(b"y\n");
    eventually("the turn has ended", || chat.out().contains("It runs."));
    told.holds(1);
    told.house.claw(&["close", "docker"]).expect(0);
    eventually("Docker has seen the end", || told.ended.load(Ordering::SeqCst) == 1);
    chat.types(b"look\n");
    eventually("the next turn has ended", || chat.out().contains("It has ended."));
    let outcome = told.last().to_string();
    assert!(outcome.contains("The owner closed docker while this ran"), "{outcome}");
    assert!(outcome.contains("no more"), "{outcome}");
    chat.ends().expect(0);
}
