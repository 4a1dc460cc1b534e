//! Servers that misbehave, through the whole program, each beside a good one that is called in the
//! same turn: what the person sees, what the model gets, that memory stays bounded, and that soon
//! after the end no process is left.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::program::peak::peak_memory;
use crate::program::{House, Ran, SERVER_WAIT, eventually, example, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use base64::Engine as _;
use rustix::process::Signal;
use serde_json::{Value, json};

const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";
/// A line may take 16 MiB, and claw without one takes 8; the servers send
/// much more than the rest.
const MEMORY_KIB_MAX: u64 = 32 * 1024;
/// Far more than it takes, because the machine may be busy; a process that is left stays forever.
const GONE_WITHIN: Duration = Duration::from_secs(20);
/// How long an answer is waited for, where none comes.
const NO_ANSWER_MS: u32 = 1_500;
/// The same where one comes, on a machine that may be busy.
const ANSWER_MS: u32 = 60_000;

/// A house with a strange server, which also is the name of its mode, and claw's own `filesystem`.
struct Strange {
    house: House,
    provider: Threaded,
    /// Stands in the environment of the server and of everything that it starts.
    mark: String,
}

impl Strange {
    /// The model calls both servers at once, and then says `done`.
    fn new(mode: &str, tool: &str) -> Self {
        Self::on(Wire::OpenAi, "openai-compatible", mode, tool)
    }

    /// One that gives no answer, in a test that ends the call itself, however long it takes to.
    fn waited_for(mode: &str) -> Self {
        let strange = Self::new(mode, "echo");
        let path = strange.house.home().join("mcp.json");
        let short = format!("\"timeout\":{NO_ANSWER_MS}");
        let entries = fs::read_to_string(path).unwrap();
        assert!(entries.contains(&short), "{entries}");
        let long = format!("\"timeout\":{ANSWER_MS}");
        strange.house.write("mcp.json", &entries.replace(&short, &long));
        strange
    }

    fn on(wire: Wire, agent: &str, mode: &str, tool: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mark =
            format!("strange-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let strange = Call::new("a", &format!("{mode}__{tool}"), r#"{"text": "said"}"#);
        let good = Call::new("b", "filesystem__list_dir", r#"{"path": "."}"#);
        let turn = || Answer::Turn(Turn::calls(&[strange.clone(), good.clone()]));
        let provider =
            Threaded::start(wire, [turn(), Answer::text("done"), turn(), Answer::text("done")]);
        let house = House::at(agent, &provider.base_url);
        house.write("claw.toml", SERVER_WAIT);
        house.write("policy.toml", ALLOW);
        house.write("workspace/a-good-file", "");
        let record = house.user_home().join("record");
        let timeout = if matches!(mode, "never" | "busy") { NO_ANSWER_MS } else { ANSWER_MS };
        let entry = json!({"command": example("hub-stranger"), "args": [mode, record], "env": {"STRANGE": mark}, "timeout": timeout});
        let good = json!({"command": "claw", "args": ["server", "filesystem"]});
        house.write(
            "mcp.json",
            &json!({"mcpServers": {mode: entry, "filesystem": good}}).to_string(),
        );
        Self { house, provider, mark }
    }

    /// One turn, to its end: nothing of the server is left then, and the good one was called all
    /// the same.
    #[track_caller]
    fn turn(&self) -> Seen {
        let running = self.house.start(&["ask", "go"]);
        let memory = peak_memory(&running);
        let ran = running.ends().expect(0);
        self.leaves_nothing();
        let peak = memory.join().unwrap();
        assert!(peak > 0 && peak < MEMORY_KIB_MAX, "{peak} KiB at most");
        assert_eq!(ran.out, "done\n");
        self.house.is_whole();
        let outcomes = outcomes(&self.house.events("main"));
        let [strange, good] =
            <[Value; 2]>::try_from(outcomes[outcomes.len() - 2..].to_vec()).unwrap();
        let (strange, good) = if strange.to_string().contains("a-good-file") {
            (good, strange)
        } else {
            (strange, good)
        };
        assert!(good["output"]["text"].as_str().unwrap().contains("a-good-file"), "{good}");
        Seen { ran, outcome: strange, request: self.provider.recorded().pop().unwrap().body }
    }

    /// The processes of the server, whatever has become of their parents, groups and sessions.
    fn processes(&self) -> Vec<String> {
        let mark = format!("STRANGE={}", self.mark);
        let marked = |pid: &str| {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
        pids.filter(|name| name.parse::<u32>().is_ok() && marked(name)).collect()
    }

    #[track_caller]
    fn leaves_nothing(&self) {
        let until = Instant::now() + GONE_WITHIN;
        while !self.processes().is_empty() {
            assert!(Instant::now() < until, "left after the end: {:?}", self.processes());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn record(&self) -> String {
        fs::read_to_string(self.house.user_home().join("record")).unwrap_or_default()
    }
}

/// What came of a turn.
struct Seen {
    ran: Ran,
    outcome: Value,
    /// The model's last request.
    request: Value,
}

impl Seen {
    /// What the model was told of the strange server's call.
    #[track_caller]
    fn model_gets(&self, text: &str) {
        let results = self.request["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "tool");
        let texts: Vec<&str> = results.filter_map(|message| message["content"].as_str()).collect();
        assert!(
            texts.iter().any(|one| one.contains(text)),
            "the model did not get {text:?}: {texts:?}"
        );
    }

    #[track_caller]
    fn person_sees(&self, text: &str) {
        assert!(self.ran.err.contains(text), "the person did not see {text:?}: {:?}", self.ran);
    }
}

/// Nobody in claw can act while claw is stopped: it is the kernel that ends the server with its
/// supervisor.
#[cfg(target_os = "linux")]
#[test]
fn a_server_dies_with_its_supervisor_also_when_claw_cannot_act() {
    let strange = Strange::waited_for("never");
    let running = strange.house.start(&["ask", "go"]);
    eventually("the server has the call", || strange.record().contains("call "));
    running.signal(Signal::STOP);
    let parent = |pid: &str| -> Option<i32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
    };
    let servers = strange.processes();
    // The supervisor has the server's environment, too, and claw as its parent.
    let claw = running.id().cast_signed();
    let supervisor = servers.iter().find(|pid| parent(pid) == Some(claw)).unwrap().clone();
    let pid = rustix::process::Pid::from_raw(supervisor.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    strange.leaves_nothing();
    running.signal(Signal::CONT);
    running.ends();
}

#[test]
fn two_hundred_megabytes_on_stderr() {
    let strange = Strange::new("torrent", "echo");
    let seen = strange.turn();
    seen.model_gets("said");
    assert_eq!(seen.outcome["output"]["is_error"], false);
    let log = strange.house.home().join("logs/torrent.log");
    let kept = fs::read_to_string(&log).unwrap();
    assert!(
        kept.contains("[claw drops the rest of this server's stderr"),
        "it does not say what is missing"
    );
    let whole = kept.len() + fs::read(log.with_extension("log.old")).unwrap_or_default().len();
    assert!(whole < 3 << 20, "{whole} bytes of log");
}

#[test]
fn a_line_of_20_mib() {
    let strange = Strange::new("huge", "echo");
    let seen = strange.turn();
    assert_eq!(seen.outcome["kind"], "unknown");
    seen.model_gets(
        "a message of more than 16777216 bytes (limits.server_message_bytes_max), which may",
    );
    seen.person_sees("a message of more than 16777216 bytes");
    assert_eq!(strange.record().matches("call ").count(), 1);
}

#[test]
fn garbage_on_stdout() {
    let strange = Strange::new("garbage", "echo");
    let seen = strange.turn();
    seen.model_gets("said");
    let log = fs::read_to_string(strange.house.home().join("logs/garbage.log")).unwrap();
    assert!(log.contains("[no JSON] Hello, I am a friendly server!"), "{log}");
}

#[test]
fn a_server_that_never_says_a_word() {
    let strange = Strange::new("mute", "echo");
    strange.house.write("claw.toml", "[limits]\nserver_start_s = 6\n");
    for _ in 0..2 {
        let seen = strange.turn();
        seen.person_sees("The server `mute` is still starting");
        seen.model_gets("there is no tool `mute__echo`");
        let offered = seen.request["tools"].to_string();
        assert!(
            offered.contains("filesystem__list_dir") && !offered.contains("mute__"),
            "{offered}"
        );
    }
}

#[test]
fn a_call_that_is_never_answered() {
    let strange = Strange::new("never", "echo");
    let seen = strange.turn();
    assert_eq!(seen.outcome["kind"], "unknown");
    seen.model_gets("It may or may not have run".to_lowercase().as_str());
    seen.model_gets("there was no answer within 1.5 s");
    seen.person_sees("there was no answer within 1.5 s");
    assert!(strange.record().contains("notifications/cancelled"), "the server was not told");
}

#[test]
fn a_server_that_dies_in_a_call() {
    let strange = Strange::new("dies", "echo");
    let seen = strange.turn();
    assert_eq!(seen.outcome["kind"], "unknown");
    seen.model_gets("it exited with status 3; it said: boom");
    seen.person_sees(
        "The server `dies` has ended (it exited with status 3; it said: boom); it is started again",
    );
}

#[test]
fn a_grandchild_that_calls_setsid() {
    let strange = Strange::new("legacy", "daemon");
    let seen = strange.turn();
    let pid: u32 = seen.outcome["output"]["text"].as_str().unwrap().parse().unwrap();
    assert!(!program::alive(pid));
}

/// Neither claw nor anybody in its process can do anything any more; the supervisor hears the end
/// of its line.
#[test]
fn a_sigkill_of_claw_leaves_no_server() {
    let mut daemon = Turn::calls(&[Call::new("a", "ignores-eof__daemon", "{}")]);
    let strange = Strange::new("ignores-eof", "daemon");
    daemon.text = "first".into();
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let provider = Threaded::start(
        Wire::OpenAi,
        [Answer::Turn(daemon), Answer::Gated(Turn::text("never said"), gate)],
    );
    let house = House::at("openai-compatible", &provider.base_url);
    house.write("claw.toml", SERVER_WAIT);
    house.write("policy.toml", ALLOW);
    house.write("mcp.json", &fs::read_to_string(strange.house.home().join("mcp.json")).unwrap());
    let running = house.start(&["ask", "go"]);
    // The daemon runs, and the model is asked again.
    eventually("the call has ended", || provider.recorded().len() == 2);
    assert!(
        strange.processes().len() >= 3,
        "supervisor, server, daemon: {:?}",
        strange.processes()
    );
    running.signal(Signal::KILL);
    strange.leaves_nothing();
}

#[test]
fn nobody_types_the_supervisor() {
    House::new()
        .claw(&["supervise", "x"])
        .expect_mistake(&["`supervise` is started by claw itself"]);
}

#[test]
fn a_server_that_ignores_a_cancel() {
    let strange = Strange::waited_for("busy");
    let running = strange.house.start(&["ask", "go"]);
    eventually("the call is at the server", || strange.record().contains("call \"echo\""));
    running.signal(Signal::INT);
    let ran = running.ends().expect(130);
    strange.leaves_nothing();
    let outcomes = outcomes(&strange.house.events("main"));
    assert!(outcomes.iter().any(|outcome| outcome["kind"] == "unknown"), "{outcomes:?} {ran:?}");
    strange.house.is_whole();
}

/// In a process that lives on, the busy server starts anew.
#[test]
fn a_busy_server_starts_anew_after_a_stop() {
    let strange = Strange::new("busy", "echo");
    let mut chat = strange.house.start(&["chat"]);
    chat.types(b"go\n");
    eventually("the call is at the server", || strange.record().contains("call \"echo\""));
    chat.types(b"/stop\n");
    let dead = || strange.processes().is_empty();
    eventually("the busy server is ended", dead);
    chat.types(b"go\n");
    eventually("the next turn ends", || chat.out().contains("done"));
    chat.types(b"go\n");
    eventually("a new one gets the next call", || {
        strange.record().matches("call \"echo\"").count() == 2
    });
    let ran = chat.ends();
    strange.leaves_nothing();
    assert!(ran.out.contains("busy"), "{ran:?}");
}

#[test]
fn images_and_resources_in_a_result() {
    let strange = Strange::on(Wire::Anthropic, "claude", "files", "echo");
    strange.house.claw(&["ask", "go"]).expect(0);
    strange.leaves_nothing();
    let request = strange.provider.recorded().pop().unwrap().body;
    let blocks = request["messages"].as_array().unwrap().last().unwrap()["content"]
        .as_array()
        .unwrap()
        .clone();
    let image = blocks
        .iter()
        .find(|block| block["type"] == "image")
        .unwrap_or_else(|| panic!("{blocks:#?}"));
    let engine = base64::engine::general_purpose::STANDARD;
    let bytes = engine.decode(image["source"]["data"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&image["source"]["media_type"], &bytes[..4]),
        (&json!("image/png"), b"\x89PNG".as_slice())
    );

    // The log names it, and holds none of its bytes.
    let outcomes = outcomes(&strange.house.events("main"));
    let outcome = outcomes.iter().find(|outcome| !outcome["output"]["images"].is_null()).unwrap();
    let digest = outcome["output"]["images"][0]["digest"].as_str().unwrap();
    assert_eq!(fs::read(strange.house.home().join("artifacts").join(digest)).unwrap(), bytes);
    let log = serde_json::to_string(&strange.house.events("main")).unwrap();
    assert!(!log.contains("iVBORw0KGgo") && !log.contains("UklGRgAA"), "{log}");
    assert!(log.contains("[audio, audio/wav, 6 bytes, sha256 "), "{log}");
    strange.house.is_whole();
}

/// One that cannot see gets the line that names the image; on this wire a message of its own
/// carries it to one that can.
#[test]
fn an_image_in_a_result_goes_to_a_model_that_can_see() {
    for sees in [false, true] {
        let strange = Strange::new("files", "echo");
        let toml = format!("{SERVER_WAIT}[model]\nsees_images = {sees}\n");
        strange.house.write("claw.toml", &toml);
        let seen = strange.turn();
        seen.model_gets("[image, image/png, 70 bytes, sha256 ");
        let shown =
            seen.request["messages"].to_string().contains("data:image/png;base64,iVBORw0KGgo");
        assert_eq!(shown, sees, "{}", seen.request["messages"]);
        assert!(strange.provider.faults().is_empty());
    }
}

/// What a server says of its progress reaches the person while the call runs.
#[test]
fn progress_reaches_the_person() {
    let strange = Strange::new("legacy", "progress");
    let mut chat = strange.house.start(&["chat"]);
    chat.types(b"go\n");
    eventually("the reply comes", || chat.out().contains("done"));
    let out = chat.out();
    chat.ends();
    assert!(out.contains("running: legacy/progress\n") && out.contains("\n  one\n"), "{out}");
}
