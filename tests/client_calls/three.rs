//! Three clients make calls side by side at one or two processes that serve them, their questions
//! are answered from another door, and the processes are ended by SIGKILL, at the named points and
//! at random. Each client does as clients do: it asks again until it has an answer. Owns the rig;
//! must not know how a call is driven.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use claw_core::app::{App, owner_principal};
use claw_core::config::{Config, Overrides};
use claw_core::domain::{Answer, ApprovalId, ClientName, Scope, Term, unseen};
use serde_json::{Value, json};

use crate::points::{Rig, points_of};
use crate::program::{House, SOON};

/// How many kills; so many by default.
const KILLS: &str = "CLAW_CLIENT_KILLS";
const KILLS_DEFAULT: usize = 24;
/// So many more where a point was not met in them.
const KILLS_EXTRA_MAX: usize = 60;
/// The second name begins like the first, and the third is a part of it.
pub const CLIENTS: [&str; 3] = ["laptop", "laptop-2", "lap"];
/// How long a request waits before its client is told to ask again.
const PATIENCE: Duration = Duration::from_millis(150);
/// A process lives at most so long before it is killed.
const LIVES_MS: u64 = 600;

/// Serves clients until standard input ends: a line for a request, a line for its answer.
pub async fn serve() -> anyhow::Result<()> {
    let app = App::open(Config::load(Overrides::default())?)?;
    let clients = app.clients.clone();
    let keeping = clients.clone();
    tokio::spawn(async move { keeping.keep().await });
    let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    while let Some(line) = lines.recv().await {
        let (clients, store) = (clients.clone(), app.store.clone());
        tokio::spawn(async move {
            let asked: Value = serde_json::from_str(&line).unwrap();
            let name = ClientName::new(asked["client"].as_str().unwrap()).unwrap();
            let arguments = json!({"text": asked["text"]});
            let begun = clients.begin_call(&name, "legacy__echo", arguments, unseen()).await;
            let answer = match begun {
                Err(refused) => json!({"refused": refused.to_string()}),
                // Its connection is cut, and the server has noticed it.
                Ok(call) if asked["cut"] == true => {
                    drop(call);
                    store.write(|_| Ok(())).await.unwrap();
                    json!({"waits": "cut"})
                }
                Ok(call) => match clients.end_of(&call, PATIENCE).await {
                    Ok(claw_core::clients::ClientCallState::Ended { outcome, kept }) => {
                        json!({"outcome": outcome, "kept": kept})
                    }
                    Ok(other) => json!({"waits": format!("{other:?}")}),
                    Err(error) => json!({"refused": error.to_string()}),
                },
            };
            let mut said = asked;
            said["answer"] = answer;
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{said}").and_then(|()| out.flush());
        });
    }
    Ok(())
}

/// A process that serves. It is ended with the test.
struct Server {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(house: &House, env: &[(&str, &str)]) -> Self {
        let like = house.command(&[]);
        let mut command = Command::new(std::env::current_exe().unwrap());
        let kept = like.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.arg("serve").env_clear().envs(kept).envs(env.iter().copied());
        command.current_dir(house.user_home()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                // A line that the kill has torn is none.
                if let Ok(said) = serde_json::from_str(&line) {
                    let _ = sender.send(said);
                }
            }
        });
        Self { child, to, from }
    }

    fn is_gone(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// A pipe to a process that was killed takes nothing.
    fn ask(&mut self, client: &str, text: &str, cut: bool) {
        let line = json!({"client": client, "text": text, "cut": cut});
        let _ = writeln!(self.to, "{line}").and_then(|()| self.to.flush());
    }
}

/// In another process than the one that serves: the question names its client, "always" is a grant
/// that names it, and both end with the client.
pub fn named(house: &House) {
    let mut server = Server::start(house, &[]);
    let client = "named";
    let asks = |server: &mut Server, text: &str| {
        server.ask(client, text, false);
        server.from.recv_timeout(SOON).unwrap()["answer"].clone()
    };
    // A slow machine may be told that it still runs.
    while !asks(&mut server, "a.")["waits"].as_str().unwrap().contains("Waiting") {}
    let id = house.waiting();
    let listed = house.claw(&["approvals"]).expect(0).out;
    assert!(listed.contains("MCP client “named” asks"), "{listed}");
    assert!(listed.contains("MCP client `named`"), "{listed}");
    let whole = house.claw(&["approvals", &id]).expect(0).out;
    assert!(whole.contains("always for this client, until you revoke it"), "{whole}");
    let said = house.claw(&["approve", &id, "--for", "always"]).expect(0).err;
    assert!(said.contains("MCP client named: legacy/echo"), "{said}");
    let answer = loop {
        let answer = asks(&mut server, "a.");
        if answer["waits"].is_null() {
            break answer;
        }
    };
    assert_eq!(answer["outcome"]["output"]["text"], "a.", "{answer}");
    let rows = house.claw(&["clients", "--json"]).expect(0).rows();
    let row = rows.iter().find(|row| row["id"] == client).unwrap();
    assert_eq!((&row["grants"], &row["calls_today"]), (&json!(1), &json!(1)), "{row}");
    let explained = house.claw(&["audit", "explain", &id]).expect(0).out;
    assert!(explained.contains("MCP client named"), "{explained}");
    let ended = house.claw(&["clients", "revoke", client]).expect(0).out;
    assert!(ended.contains("is revoked, and 1 grant with it."), "{ended}");
    let refused = asks(&mut server, "a.");
    assert!(refused["refused"].as_str().unwrap().contains("was revoked"), "{refused}");
}

/// What one client is at.
struct Desk {
    name: &'static str,
    /// The number of its call in hand.
    number: usize,
    /// A request is at this server, of so many starts.
    asked: Option<(usize, usize)>,
    /// What became of each call.
    ends: BTreeMap<String, Value>,
}

impl Desk {
    fn text(&self) -> String {
        format!("{}-{}.", self.name, self.number)
    }
}

/// The rig.
pub struct Three<'h> {
    house: &'h House,
    /// Answers questions, as another door of the same home.
    door: App,
    runtime: &'h tokio::runtime::Runtime,
    desks: Vec<Desk>,
    servers: Vec<Option<(Server, usize)>>,
    starts: usize,
    kills: usize,
    killed_at: BTreeSet<String>,
    chance: u64,
    /// The owner answers nothing now, so that a client is told to ask again.
    withholds: bool,
}

impl<'h> Three<'h> {
    pub fn new(house: &'h House, runtime: &'h tokio::runtime::Runtime) -> Self {
        let like = house.command(&[]);
        let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
        let env = like.get_envs().filter_map(|(name, value)| Some((text(name), text(value?))));
        let config = Config::load_from(env.collect(), Overrides::default()).unwrap();
        let desk = |name| Desk { name, number: 1, asked: None, ends: BTreeMap::new() };
        Self {
            house,
            door: App::open(config).unwrap(),
            runtime,
            desks: CLIENTS.into_iter().map(desk).collect(),
            servers: vec![None, None],
            starts: 0,
            kills: 0,
            killed_at: BTreeSet::new(),
            chance: 17,
            withholds: false,
        }
    }

    /// The same at each run.
    fn below(&mut self, most: u64) -> u64 {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.chance >> 33) % most
    }

    pub fn run(mut self) {
        let kills = std::env::var(KILLS).ok().and_then(|text| text.parse().ok());
        let points: Vec<String> = points_of(Rig::Clients)
            .unwrap()
            .into_iter()
            .filter(|point| point.starts_with("client."))
            .collect();
        let most = kills.unwrap_or(KILLS_DEFAULT).max(2 * points.len());
        for kill in 0..most {
            let point = points.get(kill % (2 * points.len())).map(|point| format!("{point}:1"));
            self.round(kill, point.as_deref());
        }
        for kill in most..most + KILLS_EXTRA_MAX {
            let Some(missed) = points.iter().find(|point| !self.killed_at.contains(*point)) else {
                break;
            };
            self.round(kill, Some(&format!("{missed}:1")));
        }
        self.settle();
        self.judge();
        for point in &points {
            assert!(self.killed_at.contains(point), "nothing was killed at {point}");
        }
        println!("{} calls of three clients, {} kills", self.calls(), self.kills);
    }

    fn calls(&self) -> usize {
        self.desks.iter().map(|desk| desk.ends.len()).sum()
    }

    /// Both processes serve; one of them is killed, at a point or at some moment.
    fn round(&mut self, kill: usize, point: Option<&str>) {
        let victim = kill % 2;
        self.withholds = point.is_some_and(|point| point.starts_with("client.told."));
        self.start(victim, point);
        self.start(1 - victim, None);
        let until = Instant::now() + Duration::from_millis(40 + self.below(LIVES_MS));
        let latest = Instant::now() + SOON;
        loop {
            self.step();
            let gone = self.servers[victim].as_mut().is_some_and(|(server, _)| server.is_gone());
            if gone {
                self.kills += 1;
                self.killed_at.extend(point.map(|point| point.trim_end_matches(":1").to_owned()));
                break;
            }
            // One that waits for its point has time until everything has happened that can.
            let patience = if point.is_some() { until + Duration::from_secs(2) } else { until };
            if Instant::now() >= patience {
                self.kills += 1;
                break;
            }
            assert!(Instant::now() < latest, "a round does not end");
        }
        self.drop_server(victim);
        self.withholds = false;
    }

    fn start(&mut self, place: usize, point: Option<&str>) {
        if self.servers[place].is_some() && point.is_none() {
            return;
        }
        self.drop_server(place);
        self.starts += 1;
        let env: Vec<(&str, &str)> =
            point.map(|point| ("CLAW_KILL_AT", point)).into_iter().collect();
        self.servers[place] = Some((Server::start(self.house, &env), self.starts));
    }

    /// Its clients see that their connection is gone.
    fn drop_server(&mut self, place: usize) {
        self.servers[place] = None;
        for desk in &mut self.desks {
            if desk.asked.is_some_and(|(at, _)| at == place) {
                desk.asked = None;
            }
        }
    }

    /// Takes what was answered, asks what is not asked, and answers what is open.
    fn step(&mut self) {
        self.take_answers();
        for index in 0..self.desks.len() {
            if self.desks[index].asked.is_some() {
                continue;
            }
            let place = self.below(2) as usize;
            let cut = self.below(8) == 0;
            let (name, text) = (self.desks[index].name, self.desks[index].text());
            if let Some((server, start)) = &mut self.servers[place] {
                server.ask(name, &text, cut);
                self.desks[index].asked = Some((place, *start));
            }
        }
        if !self.withholds {
            self.answer_questions();
        }
        std::thread::sleep(Duration::from_millis(5));
    }

    fn take_answers(&mut self) {
        for place in 0..self.servers.len() {
            let Some((server, _)) = &mut self.servers[place] else { continue };
            let said: Vec<Value> = server.from.try_iter().collect();
            for said in said {
                self.take(&said);
            }
        }
    }

    fn take(&mut self, said: &Value) {
        let desk = self.desks.iter_mut().find(|desk| said["client"] == desk.name).unwrap();
        // An answer to a request that its client has given up is for nobody.
        if said["text"] != desk.text() || desk.asked.is_none() {
            return;
        }
        desk.asked = None;
        let answer = &said["answer"];
        assert!(answer["refused"].is_null(), "{said}");
        if answer["waits"].is_null() {
            let text = desk.text();
            let before = desk.ends.insert(text, answer["outcome"].clone());
            assert!(before.is_none(), "two ends of one call: {said}");
            desk.number += 1;
        }
    }

    /// Now and then by a no.
    fn answer_questions(&mut self) {
        let open = self.door.store.read(|tx| tx.open_approvals(None)).unwrap();
        for row in open {
            let no = self.below(7) == 0;
            let answer = match no {
                true => Answer::Deny { word: None },
                false => Answer::Allow { term: Term::Once, scope: Scope::Exact },
            };
            let id = ApprovalId(row.id.0.clone());
            let me = owner_principal();
            let decided = self.door.gate.calls().decide(&id, &answer, &me);
            // Another answer may have been faster.
            let _ = self.runtime.block_on(decided);
        }
    }

    /// Without a kill every call has its answer.
    fn settle(&mut self) {
        let last: Vec<usize> = self.desks.iter().map(|desk| desk.number).collect();
        let until = Instant::now() + 4 * SOON;
        while self.desks.iter().zip(&last).any(|(desk, last)| desk.number <= *last) {
            self.start(0, None);
            self.start(1, None);
            self.step();
            assert!(Instant::now() < until, "a call has no answer");
        }
    }

    /// By the server's own account of its effects, and by the store.
    fn judge(&self) {
        let record = self.house.user_home().join("effects");
        let record = std::fs::read_to_string(record).unwrap();
        let mut effects: BTreeMap<&str, usize> = BTreeMap::new();
        for text in record.lines().filter_map(|line| line.strip_prefix("effect ")) {
            *effects.entry(text).or_default() += 1;
        }
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for desk in &self.desks {
            for (text, outcome) in &desk.ends {
                self.is_one_call(desk.name, text);
                let kind = outcome["kind"].as_str().unwrap();
                let ran = effects.get(text.as_str()).copied().unwrap_or_default();
                match kind {
                    "ended" => {
                        assert_eq!((ran, &outcome["output"]["text"]), (1, &json!(text)));
                    }
                    "unknown" => assert!(ran <= 1, "{text} ran {ran} times"),
                    _ => assert_eq!(ran, 0, "{text} ran: {outcome}"),
                }
                *kinds.entry(kind.to_owned()).or_default() += 1;
            }
        }
        assert!(kinds.get("ended").copied().unwrap_or_default() > 0, "{kinds:?}");
        let twice = "SELECT count(*) FROM (SELECT call FROM audit WHERE kind = 'started'
                     AND call LIKE 'mcp:%' GROUP BY call HAVING count(*) > 1)";
        let twice: i64 = self.house.db().query_row(twice, [], |row| row.get(0)).unwrap();
        assert_eq!(twice, 0, "a call was started twice");
        println!("ends: {kinds:?}");
    }

    /// However often its client has asked, it is one call.
    fn is_one_call(&self, client: &str, text: &str) {
        let sql = "SELECT count(*) FROM calls WHERE principal = ?1
                   AND json_extract(arguments, '$.text') = ?2";
        let principal = format!("mcp:{client}");
        let db = self.house.db();
        let calls: i64 = db.query_row(sql, [&principal, text], |row| row.get(0)).unwrap();
        assert_eq!(calls, 1, "{text} became {calls} calls");
    }
}
