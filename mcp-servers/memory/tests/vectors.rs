//! Vectors over a real child process and a real HTTP endpoint that plays all its tricks: what is
//! found, what is sent where, and that hits are found by words whatever happens.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes")]
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

#[path = "support/endpoint.rs"]
mod endpoint;
mod support;

use std::process::Command;

use claw_test_kit::mcp::Server;
use endpoint::{Answer, Endpoint, MODEL};
use serde_json::{Value, json};
use support::Room;

const KEY: &str = "sk-nobody-may-see-this";

/// How long a search waits for the vector of its query, in milliseconds.
const QUERY_TIME: &str = "--embeddings-query-time-ms";

/// The program on the notes of a room, with this endpoint.
fn command(room: &Room, endpoint: &Endpoint, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"));
    command.env("CLAW_MEMORY_EMBEDDINGS_KEY", KEY).arg("--notes").arg(&room.notes);
    command.args(["--embeddings-url", &endpoint.base(), "--embeddings-model", MODEL]).args(more);
    if !more.contains(&QUERY_TIME) {
        // A busy machine takes longer than people should wait.
        command.args([QUERY_TIME, "60000"]);
    }
    command
}

fn start(room: &Room, endpoint: &Endpoint, more: &[&str]) -> Server {
    let mut server = Server::start(&mut command(room, endpoint, more));
    server.initialize("2025-11-25");
    server
}

/// The last lines of a check: it makes every vector before it speaks.
fn check(room: &Room, endpoint: &Endpoint, more: &[&str]) -> String {
    let output = command(room, endpoint, more).arg("--check").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(output.stdout.is_empty() && !said.contains(KEY), "{said}");
    said
}

fn ask(server: &mut Server, query: &str) -> (Vec<String>, Value) {
    let (output, text) = server.ok("recall", json!({"query": query}));
    assert!(!text.contains(KEY), "{text}");
    let hits = output["hits"].as_array().unwrap();
    let ids = hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect();
    (ids, output["remark"].clone())
}

fn room() -> Room {
    let room = Room::new();
    room.write("pet.md", "The cat sleeps on the sofa.");
    room.write("garage.md", "The car stands in the yard.");
    room.write("health.md", "The physician is Dr. Huber.");
    room
}

fn raw(status: u16, headers: &str, body: &str) -> Answer {
    Answer::Raw { status, headers: headers.to_owned(), body: body.to_owned() }
}

#[test]
fn a_note_is_found_by_what_it_means_and_words_come_first() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    room.write("more.md", "A kitten is a young one.");
    let said = check(&room, &endpoint, &[]);
    assert!(said.contains("Hits are found by words and by vectors of `stand-in`"), "{said}");
    assert!(said.contains("The text of 4 notes and every query goes to 127.0.0.1"), "{said}");
    let mut server = start(&room, &endpoint, &[]);
    let (hits, remark) = ask(&mut server, "feline");
    assert_eq!((hits.len(), remark), (2, Value::Null));
    assert!(hits.contains(&"pet.md".to_owned()) && hits.contains(&"more.md".to_owned()));
    assert_eq!(ask(&mut server, "automobile").0, ["garage.md"]);
    let (found, text) = server.ok("recall", json!({"query": "automobile"}));
    assert_eq!(found["hits"][0]["why"], "it is near in meaning", "{text}");
    let (found, _) = server.ok("recall", json!({"query": "car"}));
    assert!(found["hits"][0]["why"].is_null(), "its words are found: {found}");
    assert_eq!(ask(&mut server, "a kitten").0[0], "more.md", "it has the word as well");
    assert_eq!(ask(&mut server, "Huber the feline").0[0], "health.md", "a hit on words stays");
    endpoint.with_asked(|asked| {
        for one in asked {
            assert_eq!(one.path, "/v1/embeddings");
            assert_eq!(one.authorization.as_deref(), Some(&*format!("Bearer {KEY}")));
            assert_eq!(one.body["model"], MODEL);
        }
    });
}

#[test]
fn ollama_is_asked_in_its_own_form() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    let base = format!("http://127.0.0.1:{}", endpoint.port);
    let options = ["--embeddings-form", "ollama", "--embeddings-url", &base];
    let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"));
    command.env_remove("CLAW_MEMORY_EMBEDDINGS_KEY").arg("--notes").arg(&room.notes);
    command.args(["--embeddings-model", MODEL]).args(options);
    let output = command.arg("--check").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("by vectors of `stand-in`"), "{said}");
    endpoint.with_asked(|asked| {
        assert!(asked.iter().all(|one| one.path == "/api/embed" && one.authorization.is_none()));
    });
}

#[test]
fn each_note_is_sent_once_and_a_new_index_needs_no_request() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    // A check also asks for the vector of one word, to see whether the endpoint is there.
    let sent = || endpoint.texts().into_iter().filter(|text| text != "check").count();
    check(&room, &endpoint, &[]);
    let first = sent();
    std::fs::remove_file(room.temp.path().join("memory-state/index.db")).unwrap();
    check(&room, &endpoint, &[]);
    assert_eq!(sent(), first);
    room.write("pet.md", "The cat has moved to the bed.");
    check(&room, &endpoint, &[]);
    assert_eq!(sent(), first + 1);
    assert!(endpoint.texts().iter().any(|text| text.contains("moved to the bed")));
    endpoint.answers(raw(401, "", ""));
    let said = check(&room, &endpoint, &[]);
    assert!(said.contains("Hits are found by words: 127.0.0.1"), "{said}");
    assert!(said.contains("refuses the key (401). 3 of 3 notes have vectors"), "{said}");
}

#[test]
fn a_write_is_followed_by_its_vector_in_the_background() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    check(&room, &endpoint, &[]);
    let mut server = start(&room, &endpoint, &[]);
    server.ok("remember", json!({"subject": "Breakfast", "text": "A fresh loaf each Monday."}));
    endpoint.wait_for("fresh loaf");
    // The answer has been given; it is kept a moment later.
    let deadline = std::time::Instant::now() + claw_test_kit::SOON;
    while ask(&mut server, "bread").0.is_empty() {
        assert!(std::time::Instant::now() < deadline, "the new note is not found by its meaning");
    }
    room.remove("pet.md");
    assert!(ask(&mut server, "feline").0.is_empty(), "a note that is gone is not found");
}

#[test]
fn an_endpoint_that_is_away_is_told_once_and_words_go_on() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    check(&room, &endpoint, &[]);
    // A port on which nobody listens.
    let away = "http://127.0.0.1:1/v1";
    let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-memory"));
    command.arg("--notes").arg(&room.notes);
    command.args(["--embeddings-url", away, "--embeddings-model", MODEL, QUERY_TIME, "60000"]);
    let mut server = Server::start(&mut command);
    server.initialize("2025-11-25");
    let (hits, remark) = ask(&mut server, "cat");
    assert_eq!(hits, ["pet.md"]);
    let remark = remark.as_str().unwrap();
    assert!(remark.contains("words alone") && remark.contains("cannot be reached"), "{remark}");
    assert_eq!(ask(&mut server, "cat"), (vec!["pet.md".to_owned()], Value::Null), "said once");
}

#[test]
fn whatever_an_endpoint_answers_is_one_sentence_and_no_vector_is_lost() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    check(&room, &endpoint, &[]);
    let huge = "x".repeat(70_000);
    for (answer, expected) in [
        (Answer::Silence, "has not answered within 50 ms"),
        (raw(401, "", r#"{"error":{"message":"bad key sk-nobody"}}"#), "refuses the key (401)"),
        (raw(429, "retry-after: 7\r\n", ""), "too many requests (429)"),
        (raw(500, "", "<html>"), "answers with 500"),
        (raw(302, "location: http://127.0.0.1:1/steal\r\n", ""), "which is not followed"),
        (raw(404, "", r#"{"error":{"message":"no such model"}}"#), "does not know `stand-in`"),
        (raw(200, "", &huge), "larger than 65536 bytes"),
        (raw(200, "", "{}"), "is not of this form"),
        (raw(200, "", r#"{"data":[]}"#), "has 0 vectors for 1 texts"),
        (Answer::Vectors(9), "vectors of 9 numbers now, and those of the notes have 8"),
    ] {
        let mut limits = vec!["--embeddings-answer-bytes-max", "65536"];
        if matches!(answer, Answer::Silence) {
            limits.extend([QUERY_TIME, "50"]);
        }
        endpoint.answers(answer);
        let mut server = start(&room, &endpoint, &limits);
        let (hits, remark) = ask(&mut server, "the cat");
        assert_eq!(hits, ["pet.md"]);
        let remark = remark.as_str().unwrap_or_default().to_owned();
        assert!(remark.contains(expected) && !remark.contains("sk-"), "{expected}: {remark}");
    }
    endpoint.answers(Answer::Vectors(8));
    let mut server = start(&room, &endpoint, &[]);
    assert_eq!(ask(&mut server, "feline").0, ["pet.md"], "the vectors are still there");
}

#[test]
fn another_dimension_is_made_anew_only_when_it_is_asked_for() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    check(&room, &endpoint, &[]);
    endpoint.answers(Answer::Vectors(16));
    room.write("new.md", "A loaf of bread.");
    let said = check(&room, &endpoint, &[]);
    assert!(said.contains("With --embeddings-dimension 16 they are made anew"), "{said}");
    assert!(said.contains("3 of 4 notes have vectors, which are kept"), "{said}");
    let said = check(&room, &endpoint, &["--embeddings-dimension", "16"]);
    assert!(said.contains("by vectors of `stand-in`"), "{said}");
    let mut server = start(&room, &endpoint, &["--embeddings-dimension", "16"]);
    assert_eq!(ask(&mut server, "feline").0, ["pet.md"]);
}

#[test]
fn an_endpoint_that_failed_is_left_alone_as_long_as_it_wants() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    check(&room, &endpoint, &[]);
    endpoint.answers(raw(429, "retry-after: 3600\r\n", ""));
    let mut server = start(&room, &endpoint, &["--embeddings-pause-s", "0"]);
    ask(&mut server, "cat");
    let asked = endpoint.requests();
    endpoint.answers(Answer::Vectors(8));
    ask(&mut server, "cat");
    assert_eq!(endpoint.requests(), asked, "it has asked for an hour");
    // Without a `retry-after` it is tried again after the pause.
    endpoint.answers(raw(500, "", ""));
    let mut server = start(&room, &endpoint, &["--embeddings-pause-s", "0"]);
    ask(&mut server, "cat");
    endpoint.answers(Answer::Vectors(8));
    assert_eq!(ask(&mut server, "feline").0, ["pet.md"]);
}

#[test]
fn a_note_that_is_not_taken_costs_no_other_one_its_vector() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Refusing("physician")));
    let said = check(&room, &endpoint, &["--embeddings-batch-notes-max", "3"]);
    assert!(said.contains("It does not take 1 of the notes"), "{said}");
    assert!(said.contains("The text of 2 notes"), "{said}");
    let mut server = start(&room, &endpoint, &[]);
    assert_eq!(ask(&mut server, "feline").0, ["pet.md"]);
    assert_eq!(ask(&mut server, "Huber").0[0], "health.md");
}

#[test]
fn what_is_sent_has_its_bounds() {
    let (room, endpoint) = (room(), Endpoint::start(Answer::Vectors(8)));
    room.write("long.md", "é".repeat(9_000));
    let limits = ["--embeddings-batch-notes-max", "2", "--embeddings-note-bytes-max", "101"];
    check(&room, &endpoint, &limits);
    endpoint.with_asked(|asked| {
        for one in asked {
            let inputs = one.body["input"].as_array().unwrap();
            assert!(!inputs.is_empty() && inputs.len() <= 2);
            assert!(inputs.iter().all(|text| text.as_str().unwrap().len() <= 101));
        }
    });
}

#[test]
fn notes_go_over_http_to_this_machine_only() {
    let room = room();
    let far = ["--embeddings-url", "http://192.0.2.1/v1", "--embeddings-model", MODEL];
    let (is_equal, said) = room.check_with(&far);
    assert!(is_equal && said.contains("anybody on the way could read the notes"), "{said}");
}

#[test]
fn vectors_that_gain_nothing_are_off_and_the_check_says_why() {
    let (room, endpoint) = (Room::new(), Endpoint::start(Answer::Vectors(8)));
    for n in 0..30 {
        let front = format!("---\nsubject: topic{n} of cat\n---\n");
        room.write(&format!("n{n}.md"), format!("{front}All there is to say of topic{n}."));
    }
    let said = check(&room, &endpoint, &[]);
    assert!(said.contains("vectors of `stand-in` gain nothing here, so they are off"), "{said}");
    assert!(said.contains("30 subjects find their notes with 1.00 by words"), "{said}");
    let asked = endpoint.requests();
    let mut server = start(&room, &endpoint, &[]);
    assert!(ask(&mut server, "feline").0.is_empty());
    assert_eq!(endpoint.requests(), asked, "no query goes out for nothing");
    let always = ["--embeddings-use", "always"];
    let mut server = start(&room, &endpoint, &always);
    ask(&mut server, "feline");
    assert!(endpoint.requests() > asked);
}

#[test]
fn vectors_that_gain_are_on_and_the_check_says_how_much() {
    let (room, endpoint) = (Room::new(), Endpoint::start(Answer::Vectors(8)));
    let pairs = [("feline", "kitten"), ("automobile", "vehicle"), ("doctor", "physician")];
    for n in 0..24 {
        let (subject, body) = pairs[n % 3];
        let front = format!("---\nsubject: {}\n---\n", format!("{subject} ").repeat(1 + n / 3));
        room.write(&format!("n{n}.md"), format!("{front}The {body} number {n} is here today."));
    }
    let said = check(&room, &endpoint, &[]);
    assert!(
        said.contains("Hits are found by words and by vectors of `stand-in`: 24 subjects"),
        "{said}"
    );
}

#[test]
fn of_two_processes_that_make_vectors_at_once_each_note_is_sent_by_one() {
    const NOTES: usize = 60;
    let (room, endpoint) = (Room::new(), Endpoint::start(Answer::Vectors(8)));
    for n in 0..NOTES {
        room.write(&format!("n{n}.md"), format!("---\nsubject: S{n}\n---\nThe cat number {n}."));
    }
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| check(&room, &endpoint, &["--embeddings-batch-notes-max", "2"]));
        }
    });
    let texts = endpoint.texts();
    for n in 0..NOTES {
        let of_note = format!("S{n}\nThe cat number {n}.");
        assert_eq!(texts.iter().filter(|text| **text == of_note).count(), 1, "{of_note}");
    }
}
