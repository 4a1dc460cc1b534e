//! Replies that are none: numbers that would exhaust the memory, endless nesting, pages and objects
//! in the place of a stream, and any bytes at all, under a ceiling of memory and processor time.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "the bytes are read in a process of their own, which has the ceiling"
)]

mod wires;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use claw_core::domain::text_of;
use claw_core::model::ModelError;
use claw_core::model::genai::Target;
use nix::sys::resource::{Resource, setrlimit};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use wires::asking::*;
use wires::threaded::Threaded;
use wires::{Answer, Call, StandIn, Then, Turn, WIRES, Wire, openai};

/// Address space of the process that reads any bytes.
const MEMORY_BYTES_MAX: u64 = 3 << 30;
/// Its processor time, in seconds.
const CPU_S_MAX: u64 = 120;

fn call_at(wire: Wire, index: &str) -> String {
    match wire {
        Wire::OpenAi => openai::chunk(serde_json::json!({"tool_calls": ["INDEX"]}), serde_json::Value::Null).replace(
            "\"INDEX\"",
            &format!(
                r#"{{"index":{index},"id":"a","type":"function","function":{{"name":"s__t","arguments":"{{}}"}}}}"#
            ),
        ),
        _ => format!(
            "event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":\
             {{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"s__t\",\"input\":{{}}}}}}\n\n"
        ),
    }
}

#[tokio::test]
async fn a_tool_call_with_an_absurd_number_is_refused_told_and_not_asked_for_again() {
    for wire in [Wire::OpenAi, Wire::Anthropic] {
        for index in ["4000000000", "4097", "-1", "1e30", "18446744073709551615"] {
            let frames = Turn::text("I look").frames(wire);
            let body = format!("{}{}", frames[0], call_at(wire, index));
            let stand_in = StandIn::start(wire, [Answer::raw(&body, Then::Silence)]).await;
            // The server says nothing more, and `genai` passes over what it cannot read: the
            // refusal must not wait for the hour.
            let patient =
                Target { timeout: Duration::from_secs(3600), ..target(wire, &stand_in.base_url) };
            let asked = tokio::time::timeout(Duration::from_secs(60), async {
                ask_with(patient, &go()).await.0
            });
            let error = asked.await.expect("refused when it came").unwrap_err();
            assert!(matches!(&error, ModelError::Malformed { .. }), "{wire:?} {index}: {error:?}");
            let told = error.for_person(jiff::Zoned::now());
            assert!(
                told.contains("number") && told.contains("4096") && told.contains("/model"),
                "{told}"
            );
            assert_eq!(stand_in.recorded().len(), 1, "{wire:?} {index}");
        }
        let calls: Vec<Call> =
            (0..40).map(|n| Call::new(&format!("c{n}"), "s__t", r#"{"x":1}"#)).collect();
        let stand_in = StandIn::start(wire, [Answer::Turn(Turn::calls(&calls))]).await;
        assert_eq!(uses(&ask(&stand_in, wire, &go()).await.0.unwrap()).len(), 40, "{wire:?}");
    }
}

#[tokio::test]
async fn what_is_nested_without_end_is_refused_and_told() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = openai::chunk(serde_json::json!({"content": "DEEP"}), serde_json::Value::Null)
        .replace("\"DEEP\"", &deep);
    let stand_in = StandIn::start(Wire::OpenAi, [Answer::raw(&body, Then::Silence)]).await;
    let error = ask(&stand_in, Wire::OpenAi, &go()).await.0.unwrap_err();
    assert!(matches!(&error, ModelError::Malformed { why } if why.contains("nested")), "{error:?}");
}

/// A server that answers every request with this, as captive portals do.
fn answers_all(kind: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            // Until the body is there: these requests have a length, and all bodies end with a
            // brace.
            while !(request.ends_with(b"}") && request.windows(4).any(|four| four == b"\r\n\r\n")) {
                match stream.read(&mut piece) {
                    Ok(read) if read > 0 => request.extend_from_slice(&piece[..read]),
                    _ => break,
                }
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[tokio::test]
async fn a_login_page_with_status_200_is_told_as_what_it_is_with_its_first_words() {
    let page = format!(
        "<!DOCTYPE html>\n<html><head><title>Hotel WiFi</title>\n<script>var a = '<b>';</script></head>\n\n<body>Please sign \
         in, {SECRET}\u{202e}</body></html>"
    );
    for wire in WIRES {
        let error =
            ask_with(target(wire, &answers_all("text/html", &page)), &go()).await.0.unwrap_err();
        let told = error.for_person(jiff::Zoned::now());
        for words in ["HTML page", "Hotel WiFi Please sign in", "login", "THE_ADDRESS_SETTING"] {
            assert!(told.contains(words), "{wire:?}: `{words}` is missing in {told}");
        }
        assert!(
            !told.contains('\u{202e}') && !told.contains(SECRET) && !told.contains("var a"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn an_error_object_with_status_200_is_told_as_what_it_says() {
    let pretty =
        "{\n  \"error\": {\n    \"message\": \"Your trial has ended\",\n    \"code\": 402\n  }\n}";
    for wire in WIRES {
        for body in [pretty, r#"{"error":{"message":"Your trial has ended","code":402}}"#] {
            let error = ask_with(target(wire, &answers_all("application/json", body)), &go())
                .await
                .0
                .unwrap_err();
            assert!(error.to_string().contains("Your trial has ended"), "{wire:?}: {error}");
        }
        let error = ask_with(
            target(wire, &answers_all("application/json", "{\n\"hello\": \"world\"}")),
            &go(),
        )
        .await
        .0;
        let told = error.unwrap_err().to_string();
        assert!(told.contains("hello") && told.contains("JSON object"), "{wire:?}: {told}");
    }
}

/// What the thread that calls it has computed so far, in nanoseconds (Linux,
/// Documentation/scheduler/sched-stats.rst).
#[cfg(target_os = "linux")]
fn computed() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
}

/// What it costs the thread that asks to get this text, in lines of so many bytes.
#[cfg(target_os = "linux")]
async fn cost_of(text: &str, line_bytes: usize) -> u64 {
    let line = |piece: &[u8]| {
        let content = String::from_utf8_lossy(piece);
        openai::chunk(serde_json::json!({"content": content}), serde_json::Value::Null)
    };
    let mut frames = Turn::text("ab").frames(Wire::OpenAi);
    frames.splice(1..1, text.as_bytes().chunks(line_bytes).map(line));
    let pieces = frames.concat().as_bytes().chunks(8 << 10).map(<[u8]>::to_vec).collect();
    let answer = Answer::Raw { pieces, pause: Duration::ZERO, then: Then::End };
    let stand_in = Threaded::start(Wire::OpenAi, [answer]);
    let patient =
        Target { timeout: Duration::from_secs(60), ..target(Wire::OpenAi, &stand_in.base_url) };
    let before = computed();
    let reply = ask_with(patient, &go()).await.0.unwrap();
    let cost = computed() - before;
    assert!(text_of(&reply.blocks).contains(text));
    cost
}

/// `genai` takes sixteen times as long for a line that is four times as long. The thread that asks
/// has other chats to serve.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_long_line_costs_the_thread_that_asks_no_more_than_short_ones() {
    let text = "x".repeat(3 << 20);
    let (short, long) = (cost_of(&text, 1 << 10).await, cost_of(&text, text.len()).await);
    assert!(long < 2 * short, "{long} ns for one line, {short} ns for 3,072");
}

/// What this process's threads of that name have computed so far, in nanoseconds.
#[cfg(target_os = "linux")]
fn computed_by(name: &str) -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let named = tasks.filter(|task| {
        std::fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name)
    });
    let stat = |task: std::path::PathBuf| std::fs::read_to_string(task.join("schedstat")).unwrap();
    named.map(|task| stat(task).split_whitespace().next().unwrap().parse::<u64>().unwrap()).sum()
}

/// Only started by the test below: other tests' replies are read by the same threads.
#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "runs in a process of its own: see a_long_line_in_small_pieces_costs_little_more_than_in_large_ones"]
async fn a_long_line_in_pieces() {
    let Ok(piece_bytes) = std::env::var("CLAW_TEST_PIECE_BYTES") else { return };
    let text = "x".repeat(4 << 20);
    let frames = Turn::text(&text).frames(Wire::OpenAi).concat();
    let pieces =
        frames.as_bytes().chunks(piece_bytes.parse().unwrap()).map(<[u8]>::to_vec).collect();
    let answer = Answer::Raw { pieces, pause: Duration::ZERO, then: Then::End };
    let stand_in = Threaded::start(Wire::OpenAi, [answer]);
    let patient =
        Target { timeout: Duration::from_secs(120), ..target(Wire::OpenAi, &stand_in.base_url) };
    let reply = ask_with(patient, &go()).await.0.unwrap();
    assert!(text_of(&reply.blocks) == text);
    println!("computed {} ns", computed_by("model-reader"));
}

/// `genai` copies what it has of a line with each piece: 3,000 pieces of it took 50 times as long
/// as 20.
#[cfg(target_os = "linux")]
#[test]
fn a_long_line_in_small_pieces_costs_little_more_than_in_large_ones() {
    let cost = |piece_bytes: &str| {
        let ended = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_long_line_in_pieces", "--ignored", "--nocapture"])
            .env("CLAW_TEST_PIECE_BYTES", piece_bytes)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        let ns = said.split_once("computed ").and_then(|(_, rest)| rest.split_once(" ns"));
        ns.unwrap_or_else(|| panic!("{}: {said}", ended.status)).0.parse::<u64>().unwrap()
    };
    let (small, large) = (cost("1400"), cost("200000"));
    assert!(small < 5 * large, "{small} ns in pieces of 1.4 KB, {large} ns in pieces of 200 KB");
}

#[tokio::test]
async fn an_event_that_grows_without_end_is_refused_by_its_size() {
    for wire in WIRES {
        let pieces = std::iter::once(b"data: {".to_vec()).chain(vec![vec![b'x'; 1 << 20]; 12]);
        let answer =
            Answer::Raw { pieces: pieces.collect(), pause: Duration::ZERO, then: Then::Silence };
        let stand_in = StandIn::start(wire, [answer]).await;
        let error = ask(&stand_in, wire, &go()).await.0.unwrap_err();
        assert!(matches!(error, ModelError::Malformed { .. }), "{wire:?}: {error:?}");
        assert!(error.to_string().contains("sent an event of more than 8 MiB"), "{error}");
    }
}

#[tokio::test]
async fn a_line_that_never_ends_is_given_up() {
    let pieces = std::iter::once(b"data: {".to_vec()).chain(vec![b"x".to_vec(); 1500]).collect();
    let answer = Answer::Raw { pieces, pause: Duration::from_millis(20), then: Then::End };
    // One more for each time that a busy machine is silent for as long by itself.
    let stand_in = StandIn::start(Wire::OpenAi, vec![answer; 5]).await;
    let mut short = target(Wire::OpenAi, &stand_in.base_url);
    short.timeout = Duration::from_secs(3);
    let error = ask_with(short, &go()).await.0.unwrap_err().to_string();
    assert!(error.contains("sent a line that had no end after 6 s"), "{error}");
}

/// A stream of a wire, bent: bytes changed, cut, doubled, and values put in that hurt.
fn bent() -> impl Strategy<Value = (usize, Vec<u8>, Vec<usize>)> {
    let hurt = prop_oneof![
        Just("4000000000".to_owned()),
        Just("-1".to_owned()),
        Just("1e308".to_owned()),
        Just("null".to_owned()),
        Just("[".repeat(5000)),
        Just("{\"a\":".repeat(5000)),
        Just("\"".to_owned()),
        Just("\r\n\r\n".to_owned()),
        Just("data: ".to_owned()),
        Just("\u{0}".to_owned()),
        ".{0,20}",
    ];
    let change = (any::<prop::sample::Index>(), 0..5_u8, hurt, any::<u8>());
    (
        0..WIRES.len(),
        proptest::collection::vec(change, 1..8),
        proptest::collection::vec(1..400_usize, 0..6),
    )
        .prop_map(|(wire, changes, cuts)| {
            let mut turn = Turn::calls(&[
                Call::new("a", "s__t", r#"{"x":1}"#),
                Call::new("b", "s__t", r#"{"x":[2]}"#),
            ]);
            turn.text = "Grüße, 世界".into();
            let mut bytes = turn.frames(WIRES[wire]).concat().into_bytes();
            for (at, kind, hurt, byte) in changes {
                let at = at.index(bytes.len().max(1)).min(bytes.len());
                match kind {
                    0 => {
                        let _old: Vec<u8> = bytes.splice(at..at, hurt.into_bytes()).collect();
                    }
                    1 => bytes.truncate(at),
                    2 => bytes.extend_from_within(at..),
                    // A number is where a number was: the likeliest way to something that is still
                    // read.
                    3 => {
                        let digit = bytes
                            .iter()
                            .skip(at)
                            .position(u8::is_ascii_digit)
                            .map(|from| at + from);
                        if let Some(digit) = digit {
                            let _old: Vec<u8> = bytes.splice(digit..=digit, hurt.bytes()).collect();
                        }
                    }
                    _ => bytes.iter_mut().skip(at).take(1).for_each(|one| *one = byte),
                }
            }
            (wire, bytes, cuts)
        })
}

/// What the child does. Only started by the test below, which gives it the variable.
#[test]
#[ignore = "runs in a process of its own, under a ceiling: see any_bytes_end_as_a_reply_or_an_error_under_a_ceiling"]
fn any_bytes() {
    if std::env::var_os("CLAW_TEST_ANY_BYTES").is_none() {
        return;
    }
    setrlimit(Resource::RLIMIT_AS, MEMORY_BYTES_MAX, MEMORY_BYTES_MAX).unwrap();
    setrlimit(Resource::RLIMIT_CPU, CPU_S_MAX, CPU_S_MAX).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner =
        TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    runner
        .run(&bent(), |(wire, bytes, cuts)| {
            runtime.block_on(async {
                let (mut pieces, mut rest) = (Vec::new(), bytes.as_slice());
                for cut in cuts {
                    let (head, tail) = rest.split_at(cut.min(rest.len()));
                    pieces.push(head.to_vec());
                    rest = tail;
                }
                pieces.push(rest.to_vec());
                let wire = WIRES[wire];
                let answers = (0..8).map(|_| Answer::Raw {
                    pieces: pieces.clone(),
                    pause: Duration::ZERO,
                    then: Then::End,
                });
                let stand_in = StandIn::start(wire, answers).await;
                let began = Instant::now();
                let (reply, _) = ask(&stand_in, wire, &go()).await;
                prop_assert!(
                    began.elapsed() < Duration::from_secs(30),
                    "{wire:?} took {:?}",
                    began.elapsed()
                );
                if let Ok(reply) = reply {
                    prop_assert!(
                        uses(&reply).iter().all(|call| call.input.is_object()),
                        "{reply:?}"
                    );
                }
                Ok(())
            })
        })
        .unwrap();
}

#[test]
fn any_bytes_end_as_a_reply_or_an_error_under_a_ceiling() {
    let ended = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "any_bytes", "--ignored", "--nocapture", "--test-threads=1"])
        .env("CLAW_TEST_ANY_BYTES", "1")
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
    assert!(ended.status.success() && said.contains("1 passed"), "{}: {said}", ended.status);
}
