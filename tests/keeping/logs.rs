//! Logs: replayed, shown, exported and imported.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::json;

use crate::keeping::{beside, replayed, text, write_called};
use crate::program::{House, eventually, outcomes};

const ALLOW: &str =
    "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";

#[test]
fn a_session_in_which_nothing_has_begun_is_listed_and_can_be_shown() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let db = house.db();
    let waits = "INSERT INTO inbox(session, kind, at_ms, body)
                 SELECT 'later', kind, at_ms, body FROM inbox WHERE kind = 'message' LIMIT 1";
    db.execute("INSERT INTO sessions(name, created_ms, last_ms) VALUES ('later', 1, 1)", [])
        .unwrap();
    assert_eq!(db.execute(waits, []).unwrap(), 1);
    let listed = house.claw(&["sessions", "--json"]).expect(0).rows();
    assert!(listed.iter().any(|row| row["id"] == "later"), "{listed:?}");
    let shown = house.claw(&["sessions", "show", "later"]).expect(0);
    assert!(shown.out.is_empty() && shown.err.contains("has not been begun"), "{shown:?}");
    assert!(house.events("later").is_empty());
    house.claw(&["sessions", "replay", "later"]).expect(0);
    house.claw(&["sessions", "show", "never"]).expect_mistake(&["no session `never`"]);
}

#[test]
fn every_way_a_turn_can_go_replays() {
    let house = House::new();
    house.write("policy.toml", ALLOW);
    house.write("claw.toml", "[limits]\nwindow_tokens = 1000\n");
    house.claw(&["ask", "--session", "plain", "list and then list"]).expect(0);
    // Parked, with a message that waits behind the question, and denied.
    let id = write_called(&house, "a");
    house.claw(&["ask", "list"]).expect(3);
    house.claw(&["deny", &id]).expect(0);
    let id = write_called(&house, "b");
    house.claw(&["deny", &id, "not", "now"]).expect(0);
    let id = write_called(&house, "c");
    house.claw(&["approve", &id]).expect(0);
    // More than the window holds is summarised by itself.
    let long = "word ".repeat(600);
    for _ in 0..3 {
        house.claw(&["ask", &format!("search {long}")]).expect(0);
    }
    let mut chat = house.start(&["chat", "--session", "orders"]);
    for line in [
        "list",
        "write x: y",
        "/stop",
        "list",
        "/compact",
        "list",
        "/undo",
        "/new",
        "list",
        "/quit",
    ] {
        chat.types(format!("{line}\n").as_bytes());
    }
    chat.ends().expect(0);
    // Killed in the middle of a call, and gone on with.
    let running = house.start(&["ask", "--session", "killed", "run `touch begun; sleep 1000`"]);
    eventually("the command runs", || house.workspace().join("begun").exists());
    running.signal(Signal::KILL);
    running.ends();
    house.claw(&["ask", "--session", "killed", "list"]).expect(0);
    house.claw(&["ask", "--session", "waits", "write z: z"]).expect(3);

    let types = |session: &str| -> Vec<String> {
        house
            .events(session)
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(
        types("main").iter().any(|kind| kind == "summary" || kind == "window.dropped"),
        "{:?}",
        types("main")
    );
    assert!(types("orders").iter().any(|kind| kind == "session.cleared"), "{:?}", types("orders"));
    assert_eq!(outcomes(&house.events("killed"))[0]["kind"], "unknown");
    let rows = replayed(&house);
    assert_eq!(rows.len(), 5, "{rows:?}");
    for row in &rows {
        assert_eq!((&row["ok"], &row["other_limits"]), (&json!(true), &json!(0)), "{row}");
        assert_eq!(row["events"], house.events(row["id"].as_str().unwrap()).len(), "{row}");
    }
    house.is_whole();
}

#[test]
fn a_log_that_was_changed_differs_and_the_event_is_named() {
    let house = House::new();
    house.claw(&["ask", "list and then list"]).expect(0);
    house.claw(&["ask", "--session", "other", "list"]).expect(0);
    let reply = r#"{"type":"model.reply","blocks":[],"finish":{"kind":"complete"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"x","model":"x"}"#;
    let calls =
        house.events("main").iter().position(|event| event["type"] == "tool.result").unwrap();
    let seq = calls as u64 + 1;
    house
        .db()
        .execute(
            "UPDATE events SET body = ?1 WHERE session = 'main' AND seq = ?2",
            (reply, seq as i64),
        )
        .unwrap();
    let ran = house.claw(&["sessions", "replay"]).expect(1);
    let sentence = format!(
        "main: differs: event {seq} is model.reply, where next() says Call(main:{}:",
        seq - 1
    );
    assert!(ran.out.contains(&sentence) && ran.out.contains("other: 8 events"), "{ran:?}");
    house.claw(&["sessions", "replay", "main"]).expect(1);
    house.claw(&["sessions", "replay", "other"]).expect(0);
    house.claw(&["sessions", "replay", "nobody"]).expect_mistake(&["nobody", "claw sessions"]);
    let rows = house.claw(&["sessions", "replay", "--json"]).expect(1).rows();
    assert_eq!(rows.iter().find(|row| row["id"] == "main").unwrap()["difference"]["event"], seq);
}

#[test]
fn limits_that_were_changed_since_are_told_and_are_no_difference() {
    let house = House::new();
    house.write("claw.toml", "[limits]\nmodel_steps_max = 2\n");
    house.claw(&["ask", "list and then list and then list and then list"]).expect(1);
    assert_eq!(replayed(&house)[0]["other_limits"], 0);
    house.write("claw.toml", "");
    assert_eq!(replayed(&house)[0]["other_limits"], 1);
}

#[test]
fn a_session_is_shown_with_what_each_turn_took() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    write_called(&house, "a");
    let shown = house.claw(&["sessions", "show", "main"]).expect(0).out;
    assert!(
        shown.contains("── answered: 2 steps, 1 call, 0 tokens in (0 cached), 0 out, "),
        "{shown}"
    );
    assert!(shown.contains("── not ended yet: 1 step, 0 calls, "), "{shown}");
}

#[test]
fn an_export_comes_back_byte_by_byte() {
    let (here, there) = (House::new(), House::new());
    here.claw(&["ask", "list and then list"]).expect(0);
    let file = beside(&here, "main.jsonl");
    here.claw(&["sessions", "export", "main", "--out", text(&file)]).expect(0);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let exported = fs::read_to_string(&file).unwrap();
    assert_eq!(here.claw(&["sessions", "export", "main"]).expect(0).out, exported);
    here.claw(&["sessions", "export", "main", "--out", text(&file)])
        .expect_mistake(&["main.jsonl", "overwritten"]);

    there.claw(&["sessions", "import", text(&file)]).expect(0);
    assert_eq!(there.claw(&["sessions", "export", "main"]).expect(0).out, exported);
    there.claw(&["sessions", "import", text(&file)]).expect_mistake(&["`main`", "--as NAME"]);
    there.claw(&["sessions", "import", text(&file), "--as", "copy"]).expect(0);
    let copy = there.claw(&["sessions", "export", "copy"]).expect(0).out;
    let (copied, lines) = (copy.split_once('\n').unwrap().1, exported.split_once('\n').unwrap().1);
    assert_eq!(
        copied
            .replace("\"copy:", "\"main:")
            .replace("\"session\":\"copy\"", "\"session\":\"main\""),
        lines
    );
    // It is a session like any other: it replays, and goes on.
    assert!(replayed(&there).iter().all(|row| row["ok"] == true));
    there.claw(&["ask", "--session", "copy", "list"]).expect(0);
    there.is_whole();
}

#[test]
fn what_no_claw_has_written_is_not_taken_in() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let file = beside(&house, "x.jsonl");
    let exported = house.claw(&["sessions", "export", "main"]).expect(0).out;
    let import = |text_of: &str| {
        fs::write(&file, text_of).unwrap();
        house.claw(&["sessions", "import", text(&file), "--as", "new"])
    };
    import(&exported.replace("list", "lost")).expect_mistake(&["line 1", "digest"]);
    import(&exported.replacen("\"seq\":2", "\"seq\":3", 1))
        .expect_mistake(&["line 3", "event 3 stands where 2 should"]);
    import("hello").expect_mistake(&["line 1", "no header"]);
    // A turn that would go on here, with calls that nobody here has asked for.
    write_called(&house, "a");
    let open = house.claw(&["sessions", "export", "main"]).expect(0).out;
    import(&open).expect_mistake(&["the last turn has no end"]);
    assert_eq!(house.claw(&["sessions", "--json"]).expect(0).rows().len(), 1);
}
