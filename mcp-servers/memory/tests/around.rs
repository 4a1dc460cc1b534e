//! What counts beside the words of a note by itself, over a real child process: the time that a
//! question names, and what was said around a note in its session.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::json;
use support::{Room, Server};

fn ask(server: &mut Server, query: &str) -> Vec<String> {
    let (output, _) = server.ok("recall", json!({"query": query}));
    let hits = output["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

fn dated(room: &Room, id: &str, day: &str, text: &str) {
    room.write(&format!("{id}.md"), format!("---\nid: {id}\ncreated: {day}\n---\n{text}\n"));
}

fn said(room: &Room, session: &str, turn: u64, text: &str) {
    let id = format!("{session}{turn}");
    let front = format!("id: {id}\nsubject: x\nsource_session: {session}\nsource_turn: {turn}");
    room.write(&format!("{id}.md"), format!("---\n{front}\n---\n{text}\n"));
}

#[test]
fn notes_of_the_time_that_a_question_names_come_first() {
    let room = Room::new();
    dated(&room, "n1", "2023-04-10", "Walked in the park.");
    dated(&room, "n2", "2023-05-31T23:30:00Z", "Walked in the park, and then by the river.");
    dated(&room, "n3", "2024-05-02", "Walked in the park, and then by the river and the lake.");
    dated(&room, "n4", "2023-05-08", "Bought a lamp.");
    let mut server = room.start();
    assert_eq!(ask(&mut server, "Who walked in the park?"), ["n1", "n2", "n3"]);
    assert_eq!(ask(&mut server, "Who walked there in May 2023?"), ["n2", "n1", "n3"]);
    assert_eq!(ask(&mut server, "Who walked there in 2024?")[0], "n3");
    assert_eq!(ask(&mut server, "Wer walked am 2. Mai 2024?")[0], "n3");
    let in_any_may = ask(&mut server, "Who walked in May?");
    assert_eq!(in_any_may, ["n2", "n3", "n1"]);
    // Where the 31st is over already, it is June: half a day either way counts.
    assert_eq!(ask(&mut server, "Who walked there on 1 June 2023?")[0], "n2");
    // A date brings no note that has nothing else to do with the question, and hides none.
    assert!(ask(&mut server, "Let us meet in May 2023").is_empty());
    assert_eq!(ask(&mut server, "Who walked there in 2019?").len(), 3);
}

#[test]
fn a_note_of_that_time_is_found_among_thousands_with_the_same_words() {
    let room = Room::new();
    for n in 0..1_500 {
        dated(&room, &format!("n{n}"), "2023-04-10", "Anna walked.");
    }
    let long = "She had tea. ".repeat(60);
    dated(&room, "wanted", "2023-07-04", &format!("Anna walked. {long}"));
    dated(&room, "july", "2022-01-01", &format!("July was hot. {long}"));
    let mut server = room.start();
    let found = ask(&mut server, "Where has Anna walked in July 2023?");
    assert!(found.contains(&"wanted".to_owned()), "{found:?}");
}

#[test]
fn what_was_said_around_a_note_counts_for_it() {
    let room = Room::new();
    said(&room, "a", 1, "The holiday was long.");
    said(&room, "a", 6, "We were in Lisbon by train.");
    said(&room, "b", 1, "We were in Lisbon by train.");
    said(&room, "b", 21, "We were in Lisbon by train.");
    for other in ["c", "d", "e"] {
        said(&room, other, 1, "The holiday was long.");
    }
    let mut server = room.start();
    // Of these three the first is in a session with two others that hold the word.
    assert_eq!(&ask(&mut server, "Lisbon")[0][..1], "b");
    assert_eq!(ask(&mut server, "the holiday in Lisbon")[0], "a6");
    // What is further away was said about something else.
    said(&room, "a", 6, "It rained.");
    said(&room, "a", 7, "We were in Lisbon by train.");
    let found = ask(&mut server, "the holiday in Lisbon");
    let place = |id: &str| found.iter().position(|found| found == id).unwrap();
    assert!(place("b1") < place("a7"), "{found:?}");
}

#[test]
fn an_answer_beside_the_words_of_the_question_is_found() {
    let room = Room::new();
    said(&room, "a", 1, "Where is the boiler?");
    said(&room, "a", 2, "Behind the blue door.");
    said(&room, "a", 9, "Good night.");
    let mut server = room.start();
    let found = ask(&mut server, "Where does the boiler stand?");
    assert_eq!(found, ["a1", "a2"]);
}
