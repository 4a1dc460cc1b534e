//! A stand-in for an embeddings endpoint on 127.0.0.1: real HTTP, with vectors that know
//! which words mean the same. It keeps what it was asked, and answers what a test wants. Must
//! not know the server.
#![allow(dead_code, clippy::allow_attributes, reason = "each test program uses a part of it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use claw_test_kit::SOON;
use serde_json::{Value, json};

/// Words of one row mean the same, and each row is one number of a vector.
const MEANINGS: [&[&str]; 4] = [
    &["cat", "feline", "kitten"],
    &["car", "automobile", "vehicle"],
    &["doctor", "physician"],
    &["bread", "loaf"],
];

pub const MODEL: &str = "stand-in";

/// What a test wants to be answered.
#[derive(Clone)]
pub enum Answer {
    /// Vectors with so many numbers, at least four.
    Vectors(usize),
    /// The same in all directions: texts with the same words are near, as for a real model.
    Scattered(usize),
    /// The same, and 400 for a request in which this word stands.
    Refusing(&'static str),
    /// This, whatever is asked.
    Raw { status: u16, headers: String, body: String },
    /// Nothing, until the test ends.
    Silence,
}

pub struct Asked {
    pub path: String,
    pub authorization: Option<String>,
    pub body: Value,
}

#[derive(Default)]
struct Seen {
    asked: Mutex<Vec<Asked>>,
    more: Condvar,
    /// What the answers themselves have taken.
    busy: Mutex<Duration>,
}

pub struct Endpoint {
    pub port: u16,
    answer: Arc<Mutex<Answer>>,
    seen: Arc<Seen>,
}

impl Endpoint {
    pub fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answer = Arc::new(Mutex::new(answer));
        let seen = Arc::new(Seen::default());
        let (answer_of, seen_of) = (Arc::clone(&answer), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, seen) = (Arc::clone(&answer_of), Arc::clone(&seen_of));
                std::thread::spawn(move || serve(stream.unwrap(), &answer, &seen));
            }
        });
        Self { port, answer, seen }
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn answers(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }

    pub fn requests(&self) -> usize {
        self.seen.asked.lock().unwrap().len()
    }

    /// How long it has worked so far, from the last byte of a request to the first of its answer.
    pub fn busy(&self) -> Duration {
        *self.seen.busy.lock().unwrap()
    }

    pub fn with_asked<T>(&self, look: impl FnOnce(&[Asked]) -> T) -> T {
        look(&self.seen.asked.lock().unwrap())
    }

    /// All texts that were sent so far.
    pub fn texts(&self) -> Vec<String> {
        self.with_asked(|asked| asked.iter().flat_map(|one| inputs(&one.body)).collect())
    }

    /// Waits until a text that holds `part` was sent.
    pub fn wait_for(&self, part: &str) {
        let asked = self.seen.asked.lock().unwrap();
        let holds = |asked: &[Asked]| {
            asked.iter().flat_map(|one| inputs(&one.body)).any(|t| t.contains(part))
        };
        let waited = self.seen.more.wait_timeout_while(asked, SOON, |asked| !holds(asked)).unwrap();
        assert!(!waited.1.timed_out(), "nothing with `{part}` was sent");
    }
}

fn inputs(body: &Value) -> Vec<String> {
    let inputs = body["input"].as_array().into_iter().flatten();
    inputs.map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn serve(stream: TcpStream, answer: &Mutex<Answer>, seen: &Seen) {
    // Head and body are written apart, and the second would wait 40 ms for the first.
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(asked) = request(&mut reader) {
        let began = Instant::now();
        let texts = inputs(&asked.body);
        let is_ollama = asked.path.ends_with("/api/embed");
        seen.asked.lock().unwrap().push(asked);
        seen.more.notify_all();
        let answer = answer.lock().unwrap().clone();
        let (status, headers, body) = match answer {
            Answer::Vectors(dimension) => {
                (200, String::new(), answered(&texts, is_ollama, |text| vector(text, dimension)))
            }
            Answer::Scattered(dimension) => {
                (200, String::new(), answered(&texts, is_ollama, |text| scattered(text, dimension)))
            }
            Answer::Refusing(word) if texts.iter().any(|text| text.contains(word)) => {
                (400, String::new(), String::new())
            }
            Answer::Refusing(_) => {
                (200, String::new(), answered(&texts, is_ollama, |text| vector(text, 8)))
            }
            Answer::Raw { status, headers, body } => (status, headers, body),
            Answer::Silence => {
                std::thread::park();
                return;
            }
        };
        *seen.busy.lock().unwrap() += began.elapsed();
        let length = body.len();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n");
        // The server may have had enough of a large body.
        if stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .is_err()
        {
            return;
        }
    }
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { path, authorization, body: serde_json::from_slice(&body).unwrap() })
}

fn answered(texts: &[String], is_ollama: bool, vector: impl Fn(&str) -> Vec<f32>) -> String {
    let vectors: Vec<Vec<f32>> = texts.iter().map(|text| vector(text)).collect();
    if is_ollama {
        return json!({"model": MODEL, "embeddings": vectors}).to_string();
    }
    let data = vectors.into_iter().enumerate();
    let data: Vec<Value> = data.map(|(at, v)| json!({"index": at, "embedding": v})).collect();
    json!({"object": "list", "data": data, "model": MODEL}).to_string()
}

/// The sum of a direction for each word.
fn scattered(text: &str, dimension: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimension];
    for word in text.split_whitespace() {
        // FNV-1a, then xorshift: the same word is the same direction.
        let mut dice = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        for x in &mut vector {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            *x += ((dice >> 40) as f32) / ((1_u64 << 23) as f32) - 1.0;
        }
    }
    vector
}

fn vector(text: &str, dimension: usize) -> Vec<f32> {
    let text = text.to_lowercase();
    let mut vector = vec![0.0; dimension];
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if let Some(meaning) = MEANINGS.iter().position(|words| words.contains(&word)) {
            vector[meaning] += 1.0;
        }
    }
    // What means nothing that is known is a little of everything.
    if vector.iter().all(|x| *x == 0.0) {
        vector.fill(0.1);
    }
    vector
}
