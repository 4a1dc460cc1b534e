//! The chat commands through the whole program: what each says, that it says so while a turn runs,
//! and what `/undo`, `/grants revoke` and `/panic` leave behind.

use crate::program;
use std::time::{Duration, Instant};

use crate::program::{House, Running, SOON, alive, eventually, pid_in};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Then, Turn, Wire};

/// A chat whose answers are waited for one by one.
struct Chat {
    running: Running,
    /// How much of the output has been looked at.
    seen: usize,
}

impl Chat {
    fn new(house: &House) -> Self {
        Self { running: house.start(&["chat"]), seen: 0 }
    }

    /// Types a line and waits until all of these came, in what is shown from then on.
    #[track_caller]
    fn asks(&mut self, line: &str, expected: &[&str]) -> String {
        self.running.types(format!("{line}\n").as_bytes());
        let (running, seen) = (&self.running, self.seen);
        let new = || running.out().get(seen..).unwrap_or_default().to_owned();
        let answered = || expected.iter().all(|part| one_line(&new()).contains(part));
        let deadline = Instant::now() + SOON;
        while !answered() {
            assert!(
                Instant::now() < deadline,
                "{line}: {expected:?} did not come, but {:?}",
                new()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        let shown = new();
        self.seen += shown.len();
        one_line(&shown)
    }
}

/// Where the screen breaks a line, and what it shows as code, is of no interest here.
fn one_line(text: &str) -> String {
    text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn claude(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let provider = Threaded::start(Wire::Anthropic, answers);
    (House::at("claude", &provider.base_url), provider)
}

#[test]
fn what_was_undone_is_not_sent_again_also_after_a_restart() {
    let (house, provider) = claude(["the first", "the second", "the third"].map(Answer::text));
    let mut chat = Chat::new(&house);
    chat.asks("/compact", &["There is nothing to summarise yet."]);
    chat.asks("say alpha", &["the first"]);
    chat.asks("say beta", &["the second"]);
    chat.asks("/undo", &["Dropped from the context: “say beta”; the log keeps it."]);
    chat.running.ends().expect(0);

    let mut chat = Chat::new(&house);
    chat.asks("say gamma", &["the third"]);
    let sent = provider.recorded().last().unwrap().body["messages"].to_string();
    assert!(
        sent.contains("say alpha") && sent.contains("say gamma") && !sent.contains("beta"),
        "{sent}"
    );
    assert!(!sent.contains("the second"), "{sent}");
    for dropped in ["say gamma", "say alpha"] {
        chat.asks("/undo", &[&format!("Dropped from the context: “{dropped}”")]);
    }
    chat.asks("/undo", &["There is nothing to undo"]);
    chat.running.ends().expect(0);

    let events = house.events("main");
    assert_eq!(events[0]["type"], "turn.started", "an order that did nothing is in the log");
    let dropped: Vec<_> =
        events.iter().filter(|event| event["type"] == "exchange.dropped").collect();
    assert_eq!(dropped.len(), 3, "{events:#?}");
    assert_eq!(
        program::said(&events),
        ["say alpha", "say beta", "say gamma"],
        "the log keeps everything"
    );
    let shown = house.claw(&["sessions", "show", "main"]).expect(0).out;
    assert_eq!(shown.matches("was dropped from what the model sees").count(), 3, "{shown}");
    assert_eq!(provider.faults(), [""; 0]);
    house.is_whole();
}

#[test]
fn what_the_calls_of_a_dropped_exchange_did_stays_done_and_is_said() {
    let write = r#"{"path": "kept.txt", "content": "kept"}"#;
    let write = Answer::Turn(Turn::calls(&[Call::new("a", "filesystem__write_file", write)]));
    let (house, _provider) = claude([write, Answer::text("It is written.")]);
    let rule = "[[rule]]\nserver = \"filesystem\"\ndecision = \"allow\"\nwhy = \"a test writes\"\n";
    house.write("policy.toml", rule);
    let mut chat = Chat::new(&house);
    chat.asks("write it", &["It is written."]);
    chat.asks("/undo", &["“write it”; the log keeps it. What its calls did stays done."]);
    chat.running.ends().expect(0);
    assert_eq!(house.in_workspace("kept.txt"), "kept");
    house.is_whole();
}

#[test]
fn every_command_answers_while_the_model_thinks() {
    let (house, provider) = claude([Answer::text("the first"), Answer::raw("", Then::Silence)]);
    let mut chat = Chat::new(&house);
    chat.asks("say alpha", &["the first"]);
    let usage = chat.asks("/usage", &["Today, all sessions: ", "This session, main: "]);
    assert!(usage.contains("model-x (claude)") || usage.contains("model-x (anthropic)"), "{usage}");
    assert!(usage.contains("1 reply") && !usage.contains(": 0 tokens in"), "{usage}");
    chat.asks("/status", &["running: nothing", "context: 1 exchange"]);

    chat.running.types(b"say beta\n");
    eventually("the model thinks", || provider.recorded().len() == 2);
    chat.asks("/undo", &["A turn is running or waits for your answer"]);
    eventually("the turn is on the disk", || program::said(&house.events("main")).len() == 2);
    chat.asks(
        "/status",
        &["model: model-x", "context: 2 exchanges", "the model is asked", "stop switch: off"],
    );
    chat.asks("/usage", &["This session, main: ", "1 reply"]);
    chat.asks("/model", &["The model is model-x", "CLAW_MODEL"]);
    chat.asks("/model other", &["this conversation uses other"]);
    chat.asks("/model", &["uses other since /model other"]);
    chat.asks("/grants", &["No grants are in force."]);
    chat.asks("/approvals", &["Nothing waits for an answer."]);
    chat.asks("/undo", &["A turn is running or waits for your answer"]);
    chat.asks("/panic", &["The stop switch is on", "/panic off"]);
    chat.asks("/status", &["the stop switch is on"]);
    chat.asks("/panic off", &["The stop switch is off."]);
    chat.asks("/help", &["/grants [revoke ID]", "/quit"]);
    chat.asks("/usgae", &["Did you mean /usage?"]);
    assert!(!chat.running.out().contains("Stopped."), "the turn went on all the time");

    // An undo right behind a stop means the turn that is being stopped.
    chat.running.types(b"/stop\n");
    chat.asks("/undo", &["Stopped.", "Dropped from the context: “say beta”"]);
    chat.asks("/status", &["running: nothing", "context: 1 exchange"]);
    chat.running.ends().expect(0);
    // The list of models is asked for, too.
    let asked =
        provider.recorded().into_iter().filter(|one| !one.body["messages"].is_null()).count();
    assert_eq!(asked, 2);
    house.is_whole();
}

#[test]
fn a_grant_is_taken_back_in_the_chat() {
    let house = House::new();
    let id = house.ask_parks("write a: b");
    house.claw(&["approve", &id, "--for", "always"]).expect(0);
    let mut chat = Chat::new(&house);
    chat.asks(
        "/grants",
        &["1 allowed: filesystem/", "until revoked", "/grants revoke ID takes one back"],
    );
    chat.asks("/grants revoke 9", &["There is no grant 9 in force"]);
    chat.asks("/grants revoke 1", &["Grant 1 is revoked."]);
    chat.asks("/grants", &["No grants are in force."]);
    chat.running.ends().expect(0);
    house.ask_parks("write a: b");
    assert!(house.audit().iter().any(|row| row["kind"] == "revoked"));
    house.is_whole();
}

#[test]
fn slash_panic_ends_what_runs_and_blocks_until_it_is_off() {
    let house = House::new();
    let allow =
        "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";
    house.write("policy.toml", allow);
    let mut chat = Chat::new(&house);
    chat.running.types(b"run `echo $$ > pid; sleep 1000`\n");
    let mut pid = None;
    eventually("the command runs", || {
        pid = pid_in(&house.workspace().join("pid"));
        pid.is_some()
    });
    chat.asks("/status", &["running: a turn, begun", "bash/run"]);
    chat.asks("/panic", &["The stop switch is on"]);
    eventually("what ran is ended", || !alive(pid.unwrap()));
    let ended = |turns| {
        let ends =
            || house.events("main").iter().filter(|event| event["type"] == "turn.ended").count();
        eventually("the turn has ended", || ends() == turns);
    };
    ended(1);
    chat.asks("run `echo x > effect`", &["stop switch"]);
    ended(2);
    chat.asks("/panic off", &["The stop switch is off."]);
    chat.asks("/undo", &["“run echo x > effect”"]);
    chat.running.ends().expect(0);
    assert_eq!(house.in_workspace("effect"), "");
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], false);
    house.is_whole();
}

#[test]
fn what_is_ordered_behind_new_is_done_in_the_new_conversation() {
    let house = House::new();
    let allow =
        "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";
    house.write("policy.toml", allow);
    let mut chat = Chat::new(&house);
    // The scheduler runs now, so that the order comes while the turn is being ended.
    chat.asks("/schedule", &["Nothing is scheduled"]);
    chat.running.types(b"run `echo $$ > pid; sleep 1000`\n");
    eventually("the command runs", || pid_in(&house.workspace().join("pid")).is_some());
    let said =
        chat.asks("/new\n/remind 20m call mum", &["A new conversation", "Reminder 1:", "call mum"]);
    assert!(!said.contains("Not run"), "{said}");
    chat.running.ends().expect(0);
    assert_eq!(house.claw(&["schedule", "list", "--json"]).expect(0).rows().len(), 1);
    house.is_whole();
}

/// The machine is in UTC.
#[test]
fn times_are_those_of_the_configured_zone() {
    let (house, _provider) = claude([]);
    house.write("claw.toml", "time_zone = \"Asia/Tokyo\"\n");
    let mut chat = Chat::new(&house);
    let set = chat.asks("/mode work", &["/grants lists it"]);
    let shown = chat.asks("/mode", &["unless you write here before", "sets one for"]);
    let listed = chat.asks("/grants", &["takes one back"]);
    let until = |more_s: u32| -> String {
        let sql = "SELECT strftime('%Y-%m-%d %H:%M:%S', expires_ms / 1000 + ?1, 'unixepoch',
                                   '+9 hours') FROM grants";
        house.db().query_row(sql, [more_s], |row| row.get(0)).unwrap()
    };
    for text in [shown, listed] {
        assert!(text.contains(&until(0)), "{} is not in {text}", until(0));
    }
    // Its answer reads the clock once more.
    assert!((0..60).any(|more_s| set.contains(&until(more_s))), "{} is not in {set}", until(0));
}
