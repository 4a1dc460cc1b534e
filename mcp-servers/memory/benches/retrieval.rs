//! How often `recall` finds what answers a question, by words, by vectors and by both, side by
//! side. `cargo bench -p claw-mcp-memory --bench retrieval -- [--floor] [FILE | FOLDER]...`
//!
//! FILE is LoCoMo's `locomo10.json`: one note for each turn of a conversation. Its licence
//! forbids to have it here; only conversations 0 to 4 are used. FOLDER is `bfcl_eval/data` of
//! PyPI's `bfcl-eval`: one note for each message. With `--floor` the figures of the latter may
//! not be clearly worse.
//!
//! With CLAW_BENCH_EMBEDDINGS_URL an endpoint gives the vectors (`.ci/retrieval/embeddings.py`).
#![expect(clippy::unwrap_used, reason = "a bench may fail")]
#![expect(clippy::print_stdout, reason = "it prints a table")]

#[path = "retrieval/bfcl.rs"]
mod bfcl;
#[path = "retrieval/locomo.rs"]
mod locomo;
#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use support::{Room, Server, spawn};

/// Notes that belong together, and questions about them.
pub struct Collection {
    pub room: Room,
    pub session_of: BTreeMap<String, String>,
    pub questions: Vec<Question>,
}

pub struct Question {
    pub text: String,
    pub categories: Vec<String>,
    /// The ids of the notes that answer.
    pub evidence: BTreeSet<String>,
}

/// Sums over questions.
#[derive(Clone, Default)]
struct Counts {
    questions: f64,
    first: f64,
    any_at_10: f64,
    all_at_10: f64,
    all_at_20: f64,
    session_at_5: f64,
}

/// How is searched.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Words,
    Vectors,
    Both,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Vectors => "vectors",
            Self::Both => "both",
        }
    }

    /// The options of the server. The key is that of the stand-in.
    fn options(self, url: &str) -> Vec<String> {
        let when = match self {
            Self::Words => return Vec::new(),
            Self::Vectors => "alone",
            Self::Both => "always",
        };
        let model = "all-MiniLM-L6-v2";
        let options =
            ["--embeddings-url", url, "--embeddings-model", model, "--embeddings-use", when];
        let patient = ["--embeddings-query-time-ms", "60000", "--embeddings-batch-time-s", "600"];
        options.iter().chain(&patient).map(|option| (*option).to_owned()).collect()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let has_floor = arguments.iter().any(|one| one == "--floor");
    let url = std::env::var("CLAW_BENCH_EMBEDDINGS_URL").ok();
    let paths: Vec<&String> = arguments.iter().filter(|one| !one.starts_with("--")).collect();
    if paths.is_empty() {
        println!("retrieval: name locomo10.json, or the folder bfcl_eval/data");
    }
    for path in paths {
        let is_bfcl = std::path::Path::new(path).is_dir();
        let collections = if is_bfcl { bfcl::read(path) } else { locomo::read(path) };
        let questions: usize = collections.iter().map(|one| one.questions.len()).sum();
        println!("\n{path}: {questions} questions");
        println!("                      n   first  any@10  all@10  all@20  session@5");
        let ways = [Way::Words, Way::Vectors, Way::Both];
        let mut by_way = Vec::new();
        for way in ways.into_iter().filter(|way| url.is_some() || *way == Way::Words) {
            let counts = measure(&collections, &way.options(url.as_deref().unwrap_or_default()));
            for (category, counts) in &counts {
                print(way, category, counts);
            }
            if has_floor && is_bfcl {
                bfcl::hold(way == Way::Both, way == Way::Vectors, &shares(&counts["all"]));
            }
            by_way.push(counts);
        }
        if let ([words, vectors, both], true) = (by_way.as_slice(), has_floor) {
            hold_each_category(words, vectors, both);
        }
    }
}

/// In no category finds fusion clearly less than the better half: at most a point, and where a
/// point is less than one question, at most one question. With a category of 30 that is what can
/// be told from chance.
fn hold_each_category(
    words: &BTreeMap<String, Counts>,
    vectors: &BTreeMap<String, Counts>,
    both: &BTreeMap<String, Counts>,
) {
    for (category, fused) in both {
        let of = |counts: &BTreeMap<String, Counts>| counts[category].any_at_10;
        let better = of(words).max(of(vectors));
        let allowed = (fused.questions / 100.0).max(1.0);
        println!("both is {:+.0} questions to the better half in {category}", of(both) - better);
        assert!(
            of(both) >= better - allowed,
            "{category}: {:.0} of {} by both, {better:.0} by the better half",
            of(both),
            fused.questions
        );
    }
}

fn measure(collections: &[Collection], options: &[String]) -> BTreeMap<String, Counts> {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut counts = BTreeMap::new();
    for collection in collections {
        // It makes every vector before it ends.
        let (is_equal, said) = collection.room.check_with(&options);
        assert!(is_equal && !said.contains("Hits are found by words: "), "{said}");
        let mut server = spawn(&collection.room.notes, &options);
        server.initialize("2025-11-25");
        for question in &collection.questions {
            let one = ask(&mut server, question, &collection.session_of);
            for category in question.categories.iter().map(String::as_str).chain(["all"]) {
                add(counts.entry(category.to_owned()).or_default(), &one);
            }
        }
    }
    counts
}

fn ask(server: &mut Server, question: &Question, session_of: &BTreeMap<String, String>) -> Counts {
    let (output, text) = server.ok("recall", json!({"query": question.text, "limit": 50}));
    assert!(output["remark"].is_null(), "{text}");
    let hits: Vec<&str> =
        output["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    let evidence = &question.evidence;
    let among = |first: usize| {
        hits.iter().take(first).filter(|hit| evidence.contains(**hit)).count() as f64
    };
    let mut sessions: Vec<&str> = Vec::new();
    for hit in &hits {
        let session = session_of[*hit].as_str();
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    let wanted: BTreeSet<&str> = evidence.iter().map(|name| session_of[name].as_str()).collect();
    let is = |yes: bool| f64::from(u8::from(yes));
    Counts {
        questions: 1.0,
        first: is(among(1) > 0.0),
        any_at_10: is(among(10) > 0.0),
        all_at_10: among(10) / evidence.len() as f64,
        all_at_20: among(20) / evidence.len() as f64,
        session_at_5: is(sessions.iter().take(5).any(|session| wanted.contains(session))),
    }
}

fn add(sum: &mut Counts, one: &Counts) {
    sum.questions += one.questions;
    sum.first += one.first;
    sum.any_at_10 += one.any_at_10;
    sum.all_at_10 += one.all_at_10;
    sum.all_at_20 += one.all_at_20;
    sum.session_at_5 += one.session_at_5;
}

/// As shares of the questions.
fn shares(counts: &Counts) -> [f64; 5] {
    [counts.first, counts.any_at_10, counts.all_at_10, counts.all_at_20, counts.session_at_5]
        .map(|sum| sum / counts.questions)
}

fn print(way: Way, category: &str, counts: &Counts) {
    let [first, any_10, all_10, all_20, session] = shares(counts);
    println!(
        "{:<8}{category:<11}{:>4}   {first:.3}   {any_10:.3}   {all_10:.3}   {all_20:.3}   {session:.3}",
        way.name(),
        counts.questions
    );
}
