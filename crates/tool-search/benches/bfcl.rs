//! How often the tools that a request needs are among the first hits: the tools and the labelled
//! requests of `bfcl-eval` (PyPI), single turns. `cargo bench -p claw-tool-search -- [--floor]
//! FOLDER`, where FOLDER is `bfcl_eval/data`. The weights were tuned on one half of the requests
//! and never on the other; which half one is in is the parity of the first byte of its id's
//! SHA-256. With `--floor` worse figures than those that were measured are a failure.
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use claw_tool_search::{Index, Tool};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Requests of one turn with their answers, and those that no tool answers: of these only the tools
/// count.
const CATEGORIES: [&str; 11] = [
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "irrelevance",
    "live_irrelevance",
    "live_relevance",
];

/// The other half, as it was measured on 2026-11-26, less two requests in a thousand: all tools of
/// a request among the first five, and the first ten.
const AT_5: f64 = 0.85;
const AT_10: f64 = 0.908;

struct Request {
    id: String,
    text: String,
    needs: BTreeSet<String>,
}

#[derive(Default)]
struct Found {
    requests: usize,
    at_5: usize,
    at_10: usize,
}

impl Found {
    fn shares(&self) -> (f64, f64) {
        let share = |found: usize| found as f64 / self.requests as f64;
        (share(self.at_5), share(self.at_10))
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let Some(folder) = arguments.iter().find(|one| !one.starts_with("--")) else {
        println!("bfcl: name the folder bfcl_eval/data of PyPI's bfcl-eval");
        return;
    };
    let (tools, requests) = read(folder);
    let began = Instant::now();
    let index = Index::of(&tools).unwrap();
    let built = began.elapsed();
    let mut halves: [Found; 2] = Default::default();
    let mut all = Found::default();
    let began = Instant::now();
    for request in &requests {
        let hits = index.search(&request.text, 10).unwrap();
        let hits: Vec<&str> = hits.iter().map(|hit| tools[*hit].name.as_str()).collect();
        let has = |first: usize| {
            request.needs.iter().all(|need| hits.iter().take(first).any(|hit| hit == need))
        };
        let half = &mut halves[half(&request.id)];
        for found in [half, &mut all] {
            found.requests += 1;
            found.at_5 += usize::from(has(5));
            found.at_10 += usize::from(has(10));
        }
    }
    let each = began.elapsed() / requests.len() as u32;
    let exact = tools
        .iter()
        .enumerate()
        .filter(|(place, tool)| index.search(&tool.name, 1).unwrap() == [*place])
        .count();
    println!(
        "{} tools, {} requests; index {built:.1?}, a search {each:.1?}",
        tools.len(),
        requests.len()
    );
    println!("                     requests  all in 5  all in 10");
    for (name, found) in [("tuned on", &halves[0]), ("the other half", &halves[1]), ("both", &all)]
    {
        let (at_5, at_10) = found.shares();
        println!(
            "{name:<20}{:>9}    {:.1} %     {:.1} %",
            found.requests,
            at_5 * 100.0,
            at_10 * 100.0
        );
    }
    println!("exact names         {:>9}   first: {exact}", tools.len());
    if arguments.iter().any(|one| one == "--floor") {
        let (at_5, at_10) = halves[1].shares();
        assert!(at_5 >= AT_5 && at_10 >= AT_10, "fewer tools are found than {AT_5} and {AT_10}");
        assert_eq!(exact, tools.len(), "a tool is not found by its own name");
    }
}

fn half(id: &str) -> usize {
    usize::from(Sha256::digest(id)[0] % 2)
}

fn read(folder: &str) -> (Vec<Tool>, Vec<Request>) {
    let (mut tools, mut requests) = (BTreeMap::<String, Tool>::new(), Vec::new());
    for category in CATEGORIES {
        let answers = answers(&format!("{folder}/possible_answer/BFCL_v4_{category}.json"));
        for row in lines(&format!("{folder}/BFCL_v4_{category}.json")) {
            for function in row["function"].as_array().unwrap() {
                let tool = tool(function);
                tools.entry(tool.name.to_lowercase()).or_insert(tool);
            }
            let id = row["id"].as_str().unwrap().to_owned();
            let Some(needs) = answers.get(&id).cloned() else { continue };
            let turns = row["question"].as_array().unwrap().iter();
            let said = turns
                .flat_map(|turn| turn.as_array().unwrap())
                .filter(|message| message["role"] == "user")
                .map(|message| message["content"].as_str().unwrap());
            requests.push(Request { text: said.collect::<Vec<_>>().join("\n"), id, needs });
        }
    }
    let tools: Vec<Tool> = tools.into_values().collect();
    // Names that differ in capitals alone are one tool.
    let known: BTreeMap<String, String> =
        tools.iter().map(|tool| (tool.name.to_lowercase(), tool.name.clone())).collect();
    for request in &mut requests {
        request.needs =
            request.needs.iter().map(|need| known[&need.to_lowercase()].clone()).collect();
    }
    (tools, requests)
}

fn tool(function: &Value) -> Tool {
    let text = |key: &str| function[key].as_str().unwrap_or_default().to_owned();
    Tool {
        name: text("name"),
        description: text("description"),
        input_schema: function["parameters"].clone(),
        ..Tool::default()
    }
}

/// By request, the names of the tools that answer it.
fn answers(path: &str) -> BTreeMap<String, BTreeSet<String>> {
    if !std::path::Path::new(path).exists() {
        return BTreeMap::new();
    }
    let named = |row: &Value| {
        let calls = row["ground_truth"].as_array().unwrap().iter();
        calls.flat_map(|call| call.as_object().unwrap().keys().cloned()).collect()
    };
    lines(path).iter().map(|row| (row["id"].as_str().unwrap().to_owned(), named(row))).collect()
}

fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
