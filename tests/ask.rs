//! A fresh machine: an empty home, no key, no network. `ask`, its answer, its story in the audit,
//! and what `--json` says.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use crate::program::{House, well_formed};
use serde_json::json;

#[test]
fn an_empty_home_is_all_it_needs() {
    // Where a model server runs on this machine, claw rightly takes it: then the demo is asked for
    // by name.
    let served = [11434, 8080].iter().any(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok());
    let house = if served { House::new() } else { House::bare() };
    let said = house.claw(&["ask", "hello"]).expect(0);
    assert!(said.out.contains("built-in demo") && said.out.contains("claw init"), "{said:?}");
    let mode =
        |name: &str| house.home().join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode("."), mode("mcp.json"), mode("SOUL.md"), mode("workspace")),
        (0o700, 0o600, 0o600, 0o700)
    );
    assert_eq!(
        std::fs::read_to_string(house.home().join("mcp.json")).unwrap(),
        include_str!("../mcp.json")
    );
    house.is_whole();
}

#[test]
fn what_the_owner_wrote_in_the_home_stays() {
    let house = House::new();
    house.write("SOUL.md", "You are brief.");
    std::fs::set_permissions(house.home(), std::fs::Permissions::from_mode(0o755)).unwrap();
    house.claw(&["ask", "hello"]).expect(0);
    assert_eq!(std::fs::read_to_string(house.home().join("SOUL.md")).unwrap(), "You are brief.");
    assert_eq!(
        house.home().metadata().unwrap().permissions().mode() & 0o077,
        0,
        "others can look in"
    );
}

#[test]
fn a_file_is_written_after_an_approval_and_the_audit_tells_the_story() {
    let house = House::new();
    let parked = house.claw(&["ask", "write notes.txt: hello"]).expect(3);
    let id = house.waiting();
    assert_eq!(parked.out, "");
    for part in ["Create notes.txt (1 line)", "hello", &format!("claw approve {id}")] {
        assert!(parked.err.contains(part), "{part}: {parked:?}");
    }
    assert!(!house.workspace().join("notes.txt").exists(), "it ran before anybody said yes");
    let done = house.claw(&["approve", &id]).expect(0);
    assert!(done.out.contains("Created `notes.txt`"), "{done:?}");
    assert_eq!(house.in_workspace("notes.txt"), "hello");

    let rows = house.audit();
    let call: Vec<_> = rows.iter().filter(|row| row["call"] != "").collect();
    let story: Vec<String> = call
        .iter()
        .map(|row| {
            format!(
                "{} {}",
                row["kind"].as_str().unwrap(),
                row["body"]["verdict"].as_str().unwrap_or("")
            )
        })
        .collect();
    assert_eq!(
        story,
        ["received ", "verdict ask", "asked ", "answered ", "verdict allow", "started ", "ended "]
    );
    assert_eq!(call[0]["body"]["arguments"], json!({"path": "notes.txt", "content": "hello"}));
    assert_eq!(
        call[2]["body"]["digest"], call[5]["body"]["digest"],
        "what was shown is not what ran"
    );
    let ids: Vec<i64> = rows.iter().map(|row| row["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, (1..=rows.len() as i64).collect::<Vec<_>>());
    house.is_whole();
}

#[test]
fn a_changed_or_missing_row_of_the_audit_is_named() {
    let story = |spoil: &str| {
        let house = House::new();
        house.ask_parks("write a.txt: x");
        house.is_whole();
        let rows = house.audit().len();
        let open = "DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete;";
        house
            .db()
            .execute_batch(&format!("{open}{}", spoil.replace("LAST", &rows.to_string())))
            .unwrap();
        (house.claw(&["audit", "verify", "--json"]).expect(1).json(), rows, house)
    };
    let (found, _, house) =
        story("UPDATE audit SET body = json_set(body, '$.tool', 'read_file') WHERE id = 3;");
    assert_eq!((&found["ok"], &found["row"]), (&json!(false), &json!(3)), "{found}");
    assert!(house.claw(&["audit", "verify"]).expect(1).out.contains("row 3 was changed"));
    let doctor = house.claw(&["doctor", "--json"]).expect(1).rows();
    assert!(doctor.iter().any(|row| row["id"] == "audit" && row["ok"] == false), "{doctor:?}");
    let (found, _, _) = story("UPDATE audit SET at_ms = at_ms + 1 WHERE id = 5;");
    assert_eq!(found["row"], 5, "{found}");
    let (found, _, _) = story("DELETE FROM audit WHERE id = 4;");
    assert_eq!(found["row"], 4, "{found}");
    let (found, rows, _) = story("DELETE FROM audit WHERE id > LAST - 2;");
    assert_eq!(found["row"], rows - 1, "the end of the story was cut off: {found}");
}

#[test]
fn the_audit_refuses_to_be_edited() {
    let house = House::new();
    house.ask_parks("write a.txt: x");
    for spoil in ["UPDATE audit SET kind = 'x' WHERE id = 1", "DELETE FROM audit"] {
        let refused = house.db().execute_batch(spoil).unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{refused}");
    }
}

#[test]
fn ask_as_json_has_reply_calls_and_usage() {
    let house = House::new();
    let done = house.claw(&["ask", "--json", "list and search x"]).expect(0).json();
    assert_eq!(done["id"], "main:1");
    assert!(done["reply"].as_str().unwrap().contains("Listing"), "{done}");
    assert_eq!(
        (&done["error"], &done["end"]["kind"], &done["model"]),
        (&json!(null), &json!("answered"), &json!("demo"))
    );
    let tools: Vec<_> = done["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["tool"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["filesystem/list_dir", "filesystem/search"]);
    assert!(
        done["calls"].as_array().unwrap().iter().all(|call| call["outcome"]["kind"] == "ended"),
        "{done}"
    );
    let shown = house.claw(&["sessions", "show", "main"]).expect(0).out;
    assert!(
        shown.contains("calls filesystem/list_dir {") && !shown.contains("filesystem__"),
        "{shown}"
    );
    for field in ["input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens"] {
        assert!(done["usage"][field].is_u64(), "{field}: {done}");
    }

    let waits = house.claw(&["ask", "--json", "write a: b"]).expect(3);
    let waiting = &waits.json()["waiting"];
    let id = waiting[0]["id"].as_str().unwrap();
    assert_eq!(
        (&waiting[0]["server"], &waiting[0]["tool"]),
        (&json!("filesystem"), &json!("write_file"))
    );
    let done = house.claw(&["approve", id, "--json"]).expect(0).json();
    assert_eq!(done["calls"][0]["outcome"]["kind"], "ended", "{done}");
}

#[test]
fn every_list_has_one_object_a_line_with_an_id() {
    let house = House::new();
    let id = house.ask_parks("write a: b");
    house.claw(&["approve", &id, "--for", "always"]).expect(0);
    house.ask_parks("write c: d");
    let lists: [&[&str]; 11] = [
        &["approvals", "--json"],
        &["grants", "--json"],
        &["grants", "list", "--json"],
        &["tools", "--json"],
        &["tools", "list", "filesystem", "--json"],
        &["audit", "--json"],
        &["audit", "list", "--json"],
        &["sessions", "--json"],
        &["sessions", "show", "main", "--json"],
        &["sessions", "export", "main"],
        &["doctor", "--json"],
    ];
    for list in lists {
        let rows = house.claw(list).rows();
        assert!(!rows.is_empty(), "{list:?}");
        assert!(
            rows.iter().all(|row| row["id"].is_string() || row["id"].is_i64()),
            "{list:?}: {rows:?}"
        );
    }
    for one in [["panic", "status", "--json"], ["audit", "verify", "--json"]] {
        assert!(house.claw(&one).expect(0).json()["id"].is_string());
    }
    well_formed(&house.events("main"));
}
