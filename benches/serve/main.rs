//! Prints the table of `claw serve`: `cargo bench --bench serve`; with `-- cold`, `-- call` or
//! `-- clients` a part of it.
//!
//! What is measured is the released program as processes of its own. Ratios are taken within
//! one run on one machine; times are medians. Must not assert anything: no test may fail
//! because a machine is slow.
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run should say where")]

#[path = "../chats/bot.rs"]
#[expect(dead_code, reason = "the other benchmark uses more of it")]
mod bot;
mod client;
#[path = "../chats/gateway.rs"]
#[expect(dead_code, reason = "the other benchmark uses more of it")]
mod gateway;
#[path = "../chats/model.rs"]
#[expect(dead_code, reason = "the other benchmark uses more of it")]
mod model;
#[path = "../chats/stand_ins.rs"]
#[expect(dead_code, reason = "the other benchmark uses more of it")]
mod stand_ins;
#[path = "../../tests/wires/mod.rs"]
mod wires;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;

use client::{Client, memory_mib};
use gateway::{Gateway, Home, On};
use stand_ins::StandIns;

/// Who talks to the bot of the gateway.
const OWNER: i64 = 100_001;
const COLD_STARTS: usize = 15;
const CALLS: usize = 300;
const CLIENTS: usize = 20;

fn main() {
    // `cargo bench` and `cargo test` pass arguments of their own; a test run only proves that this
    // compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let parts: [Part; 3] = [("cold", cold), ("call", call), ("clients", clients)];
    let named = |part: &str| std::env::args().any(|argument| argument == part);
    let all = !parts.iter().any(|(part, _)| named(part));
    println!("| what | measured | note |");
    println!("|---|---|---|");
    for (_, rows) in parts.into_iter().filter(|(part, _)| all || named(part)) {
        for (what, measured, note) in rows() {
            println!("| {what} | {measured} | {note} |");
        }
    }
}

/// A part of the table: its name, and what measures it.
type Part = (&'static str, fn() -> Vec<Row>);

/// What, how much, and what has to be known of it.
type Row = (String, String, String);

fn row(what: &str, measured: impl Into<String>, note: impl Into<String>) -> Row {
    (what.to_owned(), measured.into(), note.into())
}

fn ms(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// The environment of a home without a gateway, with the demo model.
fn alone(home: &Home, stand_ins: &StandIns) -> BTreeMap<&'static str, String> {
    let mut env = home.env(stand_ins, &[OWNER]);
    env.retain(|name, _| !name.starts_with("TELEGRAM") && !name.starts_with("CLAW_TELEGRAM"));
    env.insert("CLAW_AGENT", "demo".to_owned());
    env.retain(|name, _| !["CLAW_MODEL", "CLAW_BASE_URL", "CLAW_ALLOWED_CHATS"].contains(name));
    env
}

fn echo_server(home: &Home) -> String {
    let record = home.path().join("record").display().to_string();
    let server = client::example("hub-stranger").display().to_string();
    json!({"mcpServers": {"legacy": {"command": server, "args": ["legacy", record]}}}).to_string()
}

/// From the start of a process to its first answer.
fn cold() -> Vec<Row> {
    let stand_ins = StandIns::start();
    let home = Home::new(On::Disk);
    let env = alone(&home, &stand_ins);
    // The first one makes the home.
    Client::start(&env, &[]).answer(&client::initialize());
    let mut rows = Vec::new();
    for (what, request) in [("initialize", client::initialize()), ("tools/list", client::listed())]
    {
        let mut times: Vec<Duration> = (0..COLD_STARTS)
            .map(|_| {
                let began = Instant::now();
                Client::start(&env, &["--tools"]).answer(&request);
                began.elapsed()
            })
            .collect();
        let what = format!("cold `claw serve`, from its start to the answer to `{what}`");
        rows.push(row(&what, format!("{:.0} ms", ms(&mut times)), "without a gateway"));
    }
    let gateway = Gateway::start(&home, &stand_ins, &[OWNER]);
    stand_ins.first_poll();
    client::wait_for(&home.path().join("serve.sock"));
    let env = home.env(&stand_ins, &[OWNER]);
    let mut times: Vec<Duration> = (0..COLD_STARTS)
        .map(|_| {
            let began = Instant::now();
            Client::start(&env, &["--tools"]).answer(&client::initialize());
            began.elapsed()
        })
        .collect();
    let what = "cold `claw serve`, from its start to the answer to `initialize`";
    rows.push(row(what, format!("{:.0} ms", ms(&mut times)), "a gateway answers"));
    gateway.ends();
    rows
}

/// A call of a tool that a rule allows, through `claw serve --tools` and without it.
fn call() -> Vec<Row> {
    let stand_ins = StandIns::start();
    let mut bare_ms = 0.0;
    let mut rows = Vec::new();
    for (on, note) in [(On::Disk, "home on the disk"), (On::Memory, "home in memory")] {
        let home = Home::new(on);
        let env = alone(&home, &stand_ins);
        std::fs::write(home.path().join("mcp.json"), echo_server(&home)).unwrap();
        std::fs::write(
            home.path().join("policy.toml"),
            "[[rule]]\nserver = \"legacy\"\norigin = \"mcp_client\"\ndecision = \"allow\"\n\
             why = \"it says a word\"\n",
        )
        .unwrap();
        home.configure("[serve]\nrequests_minute_max = 100000\ncalls_day_max = 100000\n");
        let server = client::example("hub-stranger").display().to_string();
        let record = home.path().join("record").display().to_string();
        let mut bare = Client::of(&server, &["legacy", &record], &env);
        bare.answer(&client::initialize());
        bare_ms = ms(&mut times_of(&mut bare, "echo"));
        let mut gated = Client::start(&env, &["--tools"]);
        gated.answer(&client::initialize());
        let gated_ms = ms(&mut times_of(&mut gated, "legacy__echo"));
        rows.push(row(
            "a gated call through `claw serve --tools`",
            format!("{gated_ms:.2} ms, {:.1} ms more than bare", gated_ms - bare_ms),
            format!("{note}; frozen, judged and audited"),
        ));
    }
    rows.push(row("the same call at the server itself", format!("{bare_ms:.2} ms"), "bare"));
    rows
}

fn times_of(client: &mut Client, tool: &str) -> Vec<Duration> {
    let mut once = |number: usize| {
        let began = Instant::now();
        let answer = client.answer(&client::called(tool, &json!({"text": format!("{number}.")})));
        assert!(answer["result"]["content"][0]["text"].is_string(), "{answer}");
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        began.elapsed()
    };
    // The first one starts the server.
    once(0);
    (1..=CALLS).map(once).collect()
}

/// What twenty connected clients take.
fn clients() -> Vec<Row> {
    let stand_ins = StandIns::start();
    let home = Home::new(On::Disk);
    let env = alone(&home, &stand_ins);
    let connected = |env: &BTreeMap<&'static str, String>| -> Vec<Client> {
        (0..CLIENTS)
            .map(|number| {
                let mut client =
                    Client::start(env, &["--client", &format!("c{number}"), "--tools"]);
                client.answer(&client::initialize());
                client.answer(&client::listed_legacy());
                client
            })
            .collect()
    };
    let all = connected(&env);
    let each: Vec<f64> = all.iter().map(|client| memory_mib(client.id())).collect();
    let sum: f64 = each.iter().sum();
    let mut rows = vec![row(
        "20 clients without a gateway",
        format!("{sum:.0} MiB, {:.1} MiB each", sum / CLIENTS as f64),
        "anonymous memory of 20 processes with a home each open",
    )];
    drop(all);
    let gateway = Gateway::start(&home, &stand_ins, &[OWNER]);
    stand_ins.first_poll();
    client::wait_for(&home.path().join("serve.sock"));
    let before = gateway.memory().anonymous;
    let all = connected(&home.env(&stand_ins, &[OWNER]));
    let fronts: f64 = all.iter().map(|client| memory_mib(client.id())).sum();
    let grown = gateway.memory().anonymous - before;
    rows.push(row(
        "20 clients with a gateway",
        format!("{fronts:.0} MiB, {:.1} MiB each", fronts / CLIENTS as f64),
        format!("anonymous memory of 20 fronts; the gateway itself grew by {grown:.1} MiB"),
    ));
    drop(all);
    gateway.ends();
    rows
}
