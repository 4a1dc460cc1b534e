//! A call that no log made, of an MCP client: received, asked about, answered from another door,
//! started once, and its result kept for the one who asked. The process that drives it, and the one
//! that answers, are ended by SIGKILL at every named point on that way. The call is asked again
//! after the restart and judged from outside.
//! `cargo test --workspace --features kill-rigs --test client_calls`.
//!
//! What drives the call is this program itself (`drive NUMBER`), by the gate's own interface, as a
//! server that clients call does. Beside it three clients make calls side by side
//! (`client_calls/three.rs`); `CLAW_CLIENT_KILLS` says how many kills they live through.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test's main prints what it did and fails loudly"
)]

#[path = "killing/points.rs"]
mod points;
mod program;
#[path = "client_calls/three.rs"]
mod three;

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use claw_core::app::{App, owner_principal};
use claw_core::config::{Config, Overrides};
use claw_core::domain::{
    Answer, ApprovalId, CallId, Origin, Outcome, Scope, Term, ToolCall, unseen,
};
use claw_core::gate::CallContext;
use points::{Rig, points_of};
use program::{House, SOON, example};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const CLIENT: &str = "mcp:editor";
/// Where a driver is ended before its call has started: it still runs, once.
const UNSTARTED_AT: [&str; 5] = [
    "gate.asked.before:1",
    "gate.asked.after:1",
    "gate.outcome.before:1",
    "gate.outcome.after:1",
    "gate.started.before:1",
];
/// Where it is ended between the start of its call and the end that is on the disk.
const STARTED_AT: [&str; 4] = [
    "gate.started.after:1",
    "gate.forward.before:1",
    "gate.forward.after:1",
    "gate.outcome.before:2",
];
/// More passes than these mean that a driver goes round in circles.
const PASSES_MAX: usize = 60;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // The hub starts supervisors, and the gate a box that it tries, with this very executable.
    let server = claw_cli::server::run_if_asked(&arguments);
    if let Some(code) = server.or_else(|| claw_cli::supervise::run_if_asked(&arguments)) {
        return code;
    }
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "drive", number] => {
            let outcome = runtime.block_on(drive(number.parse().unwrap())).unwrap();
            println!("{}", serde_json::to_string(&outcome).unwrap());
        }
        [_, "serve"] => runtime.block_on(three::serve()).unwrap(),
        // What runners of tests ask before they start one.
        [_, rest @ ..] if rest.contains(&"--list") => {
            if !rest.contains(&"--ignored") {
                println!("client_calls: test");
            }
        }
        _ => Client::new(runtime).run(),
    }
    ExitCode::SUCCESS
}

/// Takes the client's call with this number through the gate, waits for its answer, and returns
/// its end, which is on the disk then.
async fn drive(number: u64) -> anyhow::Result<Outcome> {
    let app = App::open(Config::load(Overrides::default())?)?;
    let (id, principal) =
        (CallId::Client { principal: CLIENT.to_owned(), number }, CLIENT.to_owned());
    let call = ToolCall {
        id,
        server: "legacy".to_owned(),
        tool: "echo".to_owned(),
        arguments: json!({"text": format!("call-{number}.")}),
        origin: Origin::McpClient,
        principal,
    };
    let outcome = loop {
        let context = CallContext {
            live: unseen(),
            cancel: CancellationToken::new(),
            leaves: CancellationToken::new(),
            deadline: tokio::time::Instant::now() + SOON,
            turn: None,
            heard_by_others: true,
            asks: None,
        };
        match app.gate.call(call.clone(), context).await {
            Outcome::Parked { .. } => app.gate.calls().until_decided(&call.id).await?,
            outcome => break outcome,
        }
    };
    app.store.write(|_| Ok(())).await?;
    app.gate.hub().shutdown().await;
    Ok(outcome)
}

/// By whom a question is answered.
#[derive(Clone, Copy, Debug)]
enum By<'a> {
    /// `claw approve` in another process.
    CommandLine,
    /// The same with a variable of the kill points; if that ends it, it is tried again.
    WatchedCommandLine(&'static str, &'a str),
    /// The house's own interface, in another process than the driver's.
    Interface,
    /// `claw deny` in another process.
    Refusal,
    /// Nobody, until its time is over.
    Nobody,
}

const TRACE: &str = "CLAW_KILL_TRACE";
const KILL_AT: &str = "CLAW_KILL_AT";

/// The client whose calls are driven, and the house that they come to.
struct Client {
    house: House,
    runtime: tokio::runtime::Runtime,
    /// The number of the client's newest call.
    number: u64,
    /// The names of the points at which a process was ended.
    killed: BTreeSet<String>,
    kills: usize,
}

impl Client {
    fn new(runtime: tokio::runtime::Runtime) -> Self {
        let house = House::new();
        let record = house.user_home().join("effects");
        let legacy = json!({"command": example("hub-stranger"), "args": ["legacy", record]});
        house.write("mcp.json", &json!({"mcpServers": {"legacy": legacy}}).to_string());
        house.write("claw.toml", "[serve]\ncalls_day_max = 1000000\n");
        // Makes the home, and knows the server's tools from here on.
        house.claw(&["tools"]).expect(0);
        Self { house, runtime, number: 0, killed: BTreeSet::new(), kills: 0 }
    }

    fn run(mut self) {
        let (driver, approver) = self.undisturbed();
        self.refused();
        for point in each(&driver) {
            self.driver_killed_at(&point, By::CommandLine);
        }
        for point in each(&approver) {
            self.approver_killed_at(&point);
        }
        for point in ["gate.closed.before:1", "gate.closed.after:1"] {
            self.driver_killed_at(point, By::Nobody);
        }
        for point in points_of(Rig::Console).unwrap() {
            let of_calls = point.starts_with("gate.") || point.starts_with("store.");
            assert!(!of_calls || self.killed.contains(&point), "nothing was killed at {point}");
        }
        three::named(&self.house);
        three::Three::new(&self.house, &self.runtime).run();
        self.house.is_whole();
        println!("{} calls of a client, {} kills on their way", self.number, self.kills);
    }

    /// Two calls on whose way nobody is killed: each runs once, and the result is read again by who
    /// asks again, without a question. The points that driver and approver have passed.
    fn undisturbed(&mut self) -> (Vec<String>, Vec<String>) {
        self.number += 1;
        let trace = self.house.user_home().join("trace-of-driver");
        let driver = self.driver(&[(TRACE, trace.to_str().unwrap())]);
        let outcome = self.ends(driver, By::Interface).unwrap();
        self.ran_once(&outcome, "without a kill");
        assert_eq!(outcome["output"]["text"], format!("call-{}.", self.number));
        let way = ["received", "verdict", "asked", "answered", "verdict", "started", "ended"];
        assert_eq!(self.kinds(), way);
        let driver = passed(&trace);
        for point in ["gate.asked.before", "gate.started.after", "gate.forward.before"] {
            assert!(driver.iter().any(|passed| passed == point), "{point} is not on the way");
        }
        self.number += 1;
        let trace = self.house.user_home().join("trace-of-approver");
        let by = By::WatchedCommandLine(TRACE, trace.to_str().unwrap());
        let outcome = self.carried_out(by);
        self.ran_once(&outcome, "without a kill");
        assert_eq!(self.kinds(), way);
        (driver, passed(&trace))
    }

    /// A call that is refused never runs, and whoever asks again is refused without a question.
    fn refused(&mut self) {
        self.number += 1;
        let outcome = self.carried_out(By::Refusal);
        assert_eq!(outcome["kind"], "denied", "{outcome}");
        assert_eq!(self.effects(), 0, "{outcome}");
        self.is_kept(&outcome, "refused");
    }

    /// Whatever the kill has hit, the call is never started twice and never lost, and what nobody
    /// knows is told as unknown.
    fn driver_killed_at(&mut self, point: &str, by: By<'_>) {
        self.number += 1;
        let driver = self.driver(&[(KILL_AT, point)]);
        let hit = self.ends(driver, by).is_none();
        self.counts(point, hit);
        let outcome = self.carried_out(By::CommandLine);
        let kind = outcome["kind"].as_str().unwrap();
        if UNSTARTED_AT.contains(&point) {
            assert_eq!(kind, "ended", "{point}: {outcome}");
        }
        if STARTED_AT.contains(&point) {
            assert_eq!(kind, "unknown", "{point}: {outcome}");
        }
        match kind {
            "ended" => self.ran_once(&outcome, point),
            "unknown" => {
                assert!(hit, "{point}: {outcome}");
                assert!(self.effects() <= 1, "{point}: it ran {} times", self.effects());
                assert!(outcome["reason"].as_str().unwrap().contains("nobody knows"), "{outcome}");
                self.is_kept(&outcome, point);
            }
            _ => {
                assert!(point.starts_with("gate.closed"), "{point}: {outcome}");
                assert_eq!(self.effects(), 0, "{point}");
                self.is_kept(&outcome, point);
            }
        }
    }

    /// The driver lives on, so the call runs once, whether the answer counted before the kill or
    /// had to be given again.
    fn approver_killed_at(&mut self, point: &str) {
        self.number += 1;
        let outcome = self.carried_out(By::WatchedCommandLine(KILL_AT, point));
        self.ran_once(&outcome, point);
        let answered = "SELECT count(*) FROM audit WHERE call = ?1 AND kind = 'answered'";
        assert_eq!(self.count(answered), 1, "{point}");
    }

    /// How often the store commits depends on what it finds to do at once; every other point is
    /// passed as often each time.
    fn counts(&mut self, point: &str, hit: bool) {
        assert!(hit || point.starts_with("store."), "{point} was not passed");
        if hit {
            self.kills += 1;
            self.killed.insert(point.rsplit_once(':').unwrap().0.to_owned());
        }
    }

    fn ran_once(&mut self, outcome: &Value, point: &str) {
        assert_eq!(outcome["kind"], "ended", "{point}: {outcome}");
        assert_eq!(self.effects(), 1, "{point}: {outcome}");
        self.is_kept(outcome, point);
    }

    /// Whoever asks again has the same end, and nobody is asked.
    fn is_kept(&mut self, outcome: &Value, point: &str) {
        const QUESTIONS: &str = "SELECT count(*) FROM approvals WHERE call = ?1";
        let before = self.count(QUESTIONS);
        assert_eq!(&self.carried_out(By::CommandLine), outcome, "{point}");
        assert_eq!(self.count(QUESTIONS), before, "{point}");
        let started = self.kinds().iter().filter(|kind| *kind == "started").count();
        assert!(started <= 1, "{point}: it was started {started} times");
    }

    /// The end of the newest call, by a driver that is not killed.
    fn carried_out(&mut self, by: By<'_>) -> Value {
        self.ends(self.driver(&[]), by).unwrap()
    }

    /// A process that drives the newest call.
    fn driver(&self, env: &[(&str, &str)]) -> Driver {
        let like = self.house.command(&[]);
        let mut command = Command::new(std::env::current_exe().unwrap());
        let kept = like.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.args(["drive", &self.number.to_string()]).env_clear().envs(kept);
        command.envs(env.iter().copied()).current_dir(self.house.user_home());
        Driver(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    }

    /// What a driver says at its end, when the questions that it waits for are answered. `None` if
    /// it was killed.
    fn ends(&mut self, mut driver: Driver, by: By<'_>) -> Option<Value> {
        let deadline = Instant::now() + 4 * SOON;
        let status = loop {
            if let Some(status) = driver.0.try_wait().unwrap() {
                break status;
            }
            if let Some(question) = self.open_question() {
                self.answer(&question, by);
            }
            assert!(Instant::now() < deadline, "call {} does not end", self.number);
            std::thread::sleep(Duration::from_millis(5));
        };
        if status.signal() == Some(9) {
            return None;
        }
        let said = std::io::read_to_string(driver.0.stdout.take().unwrap()).unwrap();
        assert!(status.success(), "the driver of call {} failed: {said}", self.number);
        Some(serde_json::from_str(&said).unwrap())
    }

    fn open_question(&self) -> Option<String> {
        let sql =
            "SELECT id FROM approvals WHERE call = ?1 AND state = 'waiting' AND expires_ms > 1";
        let db = self.house.db();
        let mut query = db.prepare(sql).unwrap();
        query.query_row([self.id()], |row| row.get(0)).ok()
    }

    fn answer(&mut self, question: &str, by: By<'_>) {
        match by {
            By::CommandLine => {
                self.house.claw(&["approve", question]).expect(0);
            }
            By::WatchedCommandLine(variable, value) => {
                let mut command = self.house.command(&["approve", question]);
                command.env(variable, value);
                let ran = self.house.begin(command).ends();
                if variable == KILL_AT {
                    self.counts(value, ran.code.is_none());
                }
                if ran.code.is_some() {
                    ran.expect(0);
                } else if self.open_question().is_some() {
                    self.house.claw(&["approve", question]).expect(0);
                }
            }
            By::Refusal => {
                self.house.claw(&["deny", question]).expect(0);
            }
            By::Interface => self.runtime.block_on(self.decided_by_interface(question)).unwrap(),
            By::Nobody => {
                let over = "UPDATE approvals SET expires_ms = 1 WHERE id = ?1";
                assert_eq!(self.house.db().execute(over, [question]).unwrap(), 1);
            }
        }
    }

    async fn decided_by_interface(&self, question: &str) -> anyhow::Result<()> {
        let like = self.house.command(&[]);
        let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
        let env = like.get_envs().filter_map(|(name, value)| Some((text(name), text(value?))));
        let app = App::open(Config::load_from(env.collect(), Overrides::default())?)?;
        let yes = Answer::Allow { term: Term::Once, scope: Scope::Exact };
        let id = ApprovalId(question.to_owned());
        app.gate.calls().decide(&id, &yes, &owner_principal()).await?;
        Ok(())
    }

    fn id(&self) -> String {
        format!("{CLIENT}/{}", self.number)
    }

    fn count(&self, sql: &str) -> i64 {
        self.house.db().query_row(sql, [self.id()], |row| row.get(0)).unwrap()
    }

    /// What the audit says of the newest call.
    fn kinds(&self) -> Vec<String> {
        let db = self.house.db();
        let sql = "SELECT kind FROM audit WHERE call = ?1 ORDER BY id";
        let mut query = db.prepare(sql).unwrap();
        query.query_map([self.id()], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// How often the newest call has run, by the server's own account.
    fn effects(&self) -> usize {
        let record = self.house.user_home().join("effects");
        let effect = format!("effect call-{}.", self.number);
        let record = std::fs::read_to_string(record).unwrap_or_default();
        record.lines().filter(|line| *line == effect).count()
    }
}

/// A process that drives a call. It is ended with the test.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The names of the points in a trace, in the order in which they were passed.
fn passed(trace: &Path) -> Vec<String> {
    let passed = std::fs::read_to_string(trace).unwrap();
    let passed: Vec<String> = passed.lines().map(str::to_owned).collect();
    assert!(passed.len() < PASSES_MAX, "{passed:?}");
    passed
}

/// `NAME:COUNT` for every pass of every point.
fn each(passed: &[String]) -> Vec<String> {
    let nth = |index: usize| passed[..=index].iter().filter(|name| **name == passed[index]).count();
    (0..passed.len()).map(|index| format!("{}:{}", passed[index], nth(index))).collect()
}
