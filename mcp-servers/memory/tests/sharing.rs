//! Several agents on one folder: each note says whose it is, wherever it is shown, and nothing of
//! two that write at once is lost.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::{Value, json};
use support::{Room, Server, spawn};

/// The server of an agent; the notes from before are those of `main`.
fn of_agent(room: &Room, agent: &str) -> Server {
    let mut server = spawn(&room.notes, &["--agent", agent, "--folder-agent", "main"]);
    server.initialize("2025-11-25");
    server
}

/// The ids of the hits, each with whose it is.
fn whose(output: &Value) -> Vec<(String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let hits = output["hits"].as_array().unwrap().iter();
    hits.map(|hit| (text(&hit["id"]).unwrap(), text(&hit["of"]))).collect()
}

#[test]
fn each_note_says_whose_it_is_where_it_is_not_ones_own() {
    let room = Room::new();
    room.write("old.md", "---\nid: old\n---\nThe boiler is blue.\n");
    let (mut main, mut work) = (of_agent(&room, "main"), of_agent(&room, "work"));
    let said = json!({"text": "The boiler hums.", "subject": "Hum", "source": {"who": "owner"}});
    let (written, _) = work.ok("remember", said);
    let id = written["id"].as_str().unwrap().to_owned();
    let path = written["path"].as_str().unwrap();
    assert!(room.read(path).contains("source_agent: work\n"), "{}", room.read(path));
    assert_eq!(written["of"], Value::Null, "one's own");

    let (found, text) = main.ok("recall", json!({"query": "boiler"}));
    let mut hits = whose(&found);
    hits.sort();
    assert_eq!(hits, [(id.clone(), Some("work".to_owned())), ("old".to_owned(), None)]);
    assert!(text.contains("from owner, from agent work"), "{text}");
    for (tool, arguments) in [("read", json!({"id": id})), ("list", json!({}))] {
        let (_, text) = main.ok(tool, arguments);
        assert!(text.contains("from agent work"), "{tool}: {text}");
        assert!(!text.contains("from agent main"), "{tool}: {text}");
    }
    let (found, text) = work.ok("recall", json!({"query": "boiler"}));
    let mut hits = whose(&found);
    hits.sort();
    assert_eq!(hits, [(id, None), ("old".to_owned(), Some("main".to_owned()))]);
    assert!(text.contains("from agent main") && !text.contains("from agent work"), "{text}");
}

#[test]
fn a_model_cannot_say_that_a_note_is_of_another_agent() {
    let room = Room::new();
    let mut work = of_agent(&room, "work");
    let said = json!({"text": "It is so.", "source": {"who": "owner", "agent": "main"}});
    let why = work.err("remember", said);
    assert!(why.contains("`agent`"), "{why}");
    assert_eq!(work.ok("list", json!({})).0["total"], 0);
}

#[test]
fn what_two_agents_said_in_sessions_of_one_name_does_not_stand_side_by_side() {
    let room = Room::new();
    let turn = |id: &str, agent: &str, turn: u32, text: &str| {
        let source = format!("source_session: main\nsource_turn: {turn}\nsource_agent: {agent}\n");
        room.write(&format!("{id}.md"), format!("---\nid: {id}\n{source}---\n{text}\n"));
    };
    turn("asked", "work", 1, "Which colour has the boiler?");
    turn("answer", "work", 2, "Blue.");
    turn("other", "home", 2, "Green.");
    let (found, _) = of_agent(&room, "work").ok("recall", json!({"query": "boiler"}));
    let hits: Vec<String> = whose(&found).into_iter().map(|(id, _)| id).collect();
    assert_eq!(hits, ["asked", "answer"]);
}

#[test]
fn of_two_agents_that_write_at_once_no_note_is_lost() {
    const NOTES: usize = 60;
    let room = Room::new();
    std::thread::scope(|scope| {
        for agent in ["main", "work"] {
            let mut server = of_agent(&room, agent);
            scope.spawn(move || {
                for n in 0..NOTES {
                    // Of one subject, so that both want the same file.
                    let said = json!({"subject": "Boiler", "text": format!("{agent} saw {n}")});
                    server.ok("remember", said);
                }
            });
        }
    });
    let (is_equal, said) = room.check();
    assert!(is_equal && said.contains(&format!("{} notes", 2 * NOTES)), "{said}");
    let (list, _) = of_agent(&room, "main").ok("list", json!({"limit": 500}));
    let all = list["notes"].as_array().unwrap();
    assert_eq!(all.iter().filter(|note| note["of"] == "work").count(), NOTES);
    assert_eq!(all.iter().filter(|note| note["of"].is_null()).count(), NOTES);
}
