//! `claw mcp add`, `list`, `remove` and `test` as a user has them in a fresh home, without a model:
//! the file keeps its comments, a copy stays beside, a mistake changes nothing.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use axum::response::Response;
use serde_json::json;

use crate::http_rig::{HttpRig, Seen, as_json, mcp};
use crate::program::{House, eventually, example};
use crate::pty::Pty;

const COMMENTED: &str = "// what I use\n{\n  \"mcpServers\": {\n    // the shell\n    \"bash\": { \
    \"command\": \"claw\", \"args\": [\"server\", \"bash\"] }, // mine\n  },\n}\n";

fn manifest(house: &House) -> String {
    fs::read_to_string(house.home().join("mcp.json")).unwrap()
}

fn copy(house: &House) -> String {
    fs::read_to_string(house.home().join("mcp.json.before")).unwrap_or_default()
}

#[test]
fn a_server_that_is_named_by_a_path_from_here_is_found_from_everywhere() {
    let house = House::bare();
    let here = house.user_home().join("here");
    fs::create_dir(&here).unwrap();
    fs::write(here.join("settings.json"), "{}").unwrap();
    std::os::unix::fs::symlink(example("hub-stranger"), here.join("server")).unwrap();
    let args = ["mcp", "add", "mine", "--", "./server", "legacy", "./settings.json", "./none"];
    let mut add = house.command(&args);
    add.current_dir(&here);
    house.begin(add).ends().expect(0);
    let entry: serde_json::Value = serde_json::from_str(&manifest(&house)).unwrap();
    let entry = &entry["mcpServers"]["mine"];
    // Not the file behind the link: a program may look where it was called.
    assert_eq!(entry["command"], json!(here.join("server")));
    assert_eq!(entry["args"], json!(["legacy", here.join("settings.json"), "./none"]));
    assert!(house.claw(&["mcp", "test", "mine"]).expect(0).out.starts_with("mine works"));
}

#[test]
fn a_fresh_home_has_four_servers_and_an_added_one_works_and_goes_again() {
    let house = House::bare();
    let rows = house.claw(&["mcp", "list", "--json"]).expect(0).rows();
    let names: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["bash", "filesystem", "memory", "scheduler"]);
    house.write("mcp.json", COMMENTED);

    let (stranger, record) = (example("hub-stranger"), house.user_home().join("effects"));
    let (stranger, record) = (stranger.to_str().unwrap(), record.to_str().unwrap());
    let added = house.claw(&["mcp", "add", "echo", "--", stranger, "legacy", record]).expect(0);
    assert!(added.out.contains("`claw mcp test echo` tries it"), "{}", added.out);
    let text = manifest(&house);
    for kept in ["// what I use\n", "// the shell\n", "// mine\n"] {
        assert!(text.contains(kept), "{kept} is gone:\n{text}");
    }
    assert_eq!(copy(&house), COMMENTED);
    for file in ["mcp.json", "mcp.json.before"] {
        let mode = fs::metadata(house.home().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }

    let list = house.claw(&["mcp", "list"]).expect(0).out;
    assert!(list.contains("claw server bash") && list.contains(stranger), "{list}");
    let works = house.claw(&["mcp", "test", "echo"]).expect(0);
    assert!(works.out.starts_with("echo works: ") && works.out.contains("MCP 2025"), "{works:?}");
    let row = house.claw(&["mcp", "test", "echo", "--json"]).expect(0).json();
    assert_eq!((&row["works"], &row["id"]), (&json!(true), &json!("echo")));

    let removed = house.claw(&["mcp", "remove", "echo", "--json"]).expect(0);
    assert_eq!(removed.json()["removed"], true);
    assert_eq!(copy(&house), text, "what stood there last");
    assert!(manifest(&house).contains("// mine"), "{}", manifest(&house));
    house.claw(&["mcp", "test", "echo"]).expect_mistake(&["`echo`", "it has bash"]);
}

#[test]
fn a_server_at_a_url_gets_its_header_from_the_environment_and_no_token_is_shown() {
    let kept = claw_test_kit::KeptPort::new();
    let server = HttpRig::start_at(kept.address, |_| mcp);
    let house = House::bare();
    let header = "Authorization=Bearer ${DOCS_TOKEN}";
    house.claw(&["mcp", "add", "docs", &server.url(), "--header", header]).expect(0);
    assert!(manifest(&house).contains("Bearer ${DOCS_TOKEN}"), "{}", manifest(&house));
    let house = house.with("DOCS_TOKEN", "tok-5f2a77c1d0e94b");
    house.claw(&["mcp", "test", "docs"]).expect(0);
    let seen = server.seen();
    assert!(
        seen.iter().all(|seen| seen.header("authorization") == Some("Bearer tok-5f2a77c1d0e94b"))
    );

    let secret = "X-Api-Key: key-90ab12cd34ef56";
    let added = house.claw(&["mcp", "add", "open", &server.url(), "--header", secret]).expect(0);
    assert!(added.err.contains("X-Api-Key") && added.err.contains("`${NAME}`"), "{added:?}");
    let listed = house.claw(&["mcp", "list"]).expect(0);
    let rows = house.claw(&["mcp", "list", "--json"]).expect(0);
    let removed = house.claw(&["mcp", "remove", "open"]).expect(0);
    for ran in [&added, &listed, &rows, &removed] {
        assert!(!format!("{ran:?}").contains("key-90ab12cd34ef56"), "{ran:?}");
    }
    drop(server);
    let gone = house.claw(&["mcp", "test", "docs", "--json"]).expect(1).json();
    assert_eq!(gone["works"], false);
    assert!(gone["reason"].as_str().unwrap().contains("cannot be reached"), "{gone}");
}

#[test]
fn a_mistake_is_one_sentence_with_a_next_step_and_changes_nothing() {
    let house = House::bare();
    house.write("mcp.json", COMMENTED);
    let mistakes: [(&[&str], &[&str]); 10] = [
        (&["add", "bash", "https://h.example/mcp"], &["`bash`", "claw mcp remove bash"]),
        (&["add", "BASH", "--", "x"], &["`bash`", "rename one"]),
        (&["add", "a b", "--", "x"], &["`a b` is no name", "claw mcp add my-server"]),
        (&["add", "", "--", "x"], &["name is empty", "give it one"]),
        (&["add", "a", "http://169.254.169.254/"], &["keys", "private_hosts"]),
        (&["add", "a", "ftp://h.example"], &["begins with ftp", "https://"]),
        (&["add", "a", "https://me:pw@h.example/"], &["headers"]),
        (&["add", "a", "npx"], &["`npx` is no address", "claw mcp add a -- npx"]),
        (&["remove", "nobody"], &["`nobody`", "it has bash"]),
        (&["import", "/no/such/file"], &["there is no file", "VS Code"]),
    ];
    for (args, words) in mistakes {
        let args: Vec<&str> = ["mcp"].iter().chain(args).copied().collect();
        house.claw(&args).expect_mistake(words);
        assert_eq!((manifest(&house).as_str(), copy(&house).as_str()), (COMMENTED, ""), "{args:?}");
    }
    for args in [&["add", "a"][..], &["add", "a", "http://h", "--", "x"], &["add"], &["nonsense"]] {
        let args: Vec<&str> = ["mcp"].iter().chain(args).copied().collect();
        assert_eq!(house.claw(&args).code, Some(2), "{args:?}");
        assert_eq!(manifest(&house), COMMENTED);
    }
    house.write("mcp.json", "{ \"mcpServers\": { ");
    house.claw(&["mcp", "add", "a", "--", "x"]).expect_mistake(&["mcp.json", "line 1"]);
    assert_eq!(manifest(&house), "{ \"mcpServers\": { ");
}

#[test]
fn what_somebody_else_writes_meanwhile_is_not_lost() {
    let house = House::bare();
    house.write("mcp.json", COMMENTED);
    let source = house.user_home().join("theirs.json");
    fs::write(&source, r#"{"mcpServers": {"fs": {"command": "npx"}}}"#).unwrap();
    let mut pty = Pty::start(&house, &["mcp", "import", source.to_str().unwrap()]);
    pty.shows("Take it in? [y/N]");
    let others = COMMENTED.replace("// mine", "// theirs");
    house.write("mcp.json", &others);
    pty.types("y").shows("was changed by somebody else meanwhile").shows("give the command again");
    eventually("it has ended", || manifest(&house) == others);
    assert_eq!(copy(&house), "");
}

#[test]
fn a_list_fits_into_40_and_80_columns() {
    let house = House::bare();
    let long = "https://a-rather-long-host.of-a-company.example/a/long/path/to/mcp";
    house.claw(&["mcp", "add", "a-server-with-a-long-name", long]).expect(0);
    for columns in [40, 80] {
        let mut pty = Pty::sized(&house, &["mcp", "list"], 40, columns);
        pty.shows("a-server-with-a-long-name").shows("scheduler");
        let text = pty.ends(0);
        for line in text.lines() {
            // A link stays whole.
            let fits = line.trim_end().chars().count() <= usize::from(columns);
            assert!(fits || line.trim_end().ends_with(long), "{columns}: {line:?}\n{text}");
        }
    }
}

#[test]
fn a_message_that_is_longer_than_the_limit_is_named_and_dropped() {
    let server = HttpRig::start(|_| {
        |seen| {
            let message = seen.message();
            if message["method"] != "tools/list" {
                return mcp(seen);
            }
            let tool = json!({"name": "echo", "description": "x".repeat(100_000),
                "inputSchema": {"type": "object"}});
            let result = json!({"tools": [tool]});
            as_json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        }
    });
    let house = House::bare();
    house.claw(&["mcp", "add", "long", &server.url()]).expect(0);
    house.claw(&["mcp", "test", "long"]).expect(0);
    house.write("claw.toml", "[limits]\nserver_message_bytes_max = 65536\n");
    let ran = house.claw(&["mcp", "test", "long"]).expect(1);
    assert!(ran.err.contains("`limits.server_message_bytes_max`"), "{ran:?}");
    house.write("claw.toml", "[limits]\nserver_connect_s = 0\n");
    house.claw(&["mcp", "list"]).expect_mistake(&["limits.server_connect_s", "from 1 to 600"]);
}

/// The names of a page and the cursor of the next one, by the cursor that is asked with. A cursor
/// that was not given out is none.
type Pages = fn(Option<&str>) -> Option<(&'static str, Option<&'static str>)>;

#[test]
fn a_list_whose_cursors_lead_back_is_read_to_its_end() {
    let kinds: [(Pages, &str, usize); 3] = [
        // An empty one with the last page, which its server takes for none.
        (|cursor| matches!(cursor, None | Some("")).then_some(("a", Some(""))), "1 tool", 2),
        // The same with each page.
        (
            |cursor| match cursor {
                None => Some(("a", Some("8"))),
                Some("8") => Some(("b", Some("8"))),
                Some(_) => None,
            },
            "2 tools",
            3,
        ),
        // An empty one is a cursor like others (2026-07-28).
        (
            |cursor| match cursor {
                None => Some(("a", Some(""))),
                Some("") => Some(("b", None)),
                Some(_) => None,
            },
            "2 tools",
            2,
        ),
    ];
    for (pages, tools, requests) in kinds {
        let server = HttpRig::start(move |_| move |seen: &Seen| listed(seen, pages));
        let house = House::bare();
        house.claw(&["mcp", "add", "odd", &server.url()]).expect(0);
        let works = house.claw(&["mcp", "test", "odd"]).expect(0);
        assert!(works.out.starts_with(&format!("odd works: {tools}, ")), "{works:?}");
        let prompts = tools.replace("tool", "prompt");
        assert!(works.out.contains(&format!("It has {prompts}: ")), "{works:?}");
        for method in ["tools/list", "prompts/list"] {
            let seen = server.seen();
            let count = seen.iter().filter(|seen| seen.message()["method"] == method).count();
            assert_eq!(count, requests, "{method} of {tools}");
        }
    }
}

fn listed(seen: &Seen, pages: Pages) -> Response {
    let message = seen.message();
    let key = match message["method"].as_str() {
        Some("tools/list") => "tools",
        Some("prompts/list") => "prompts",
        Some("initialize") => {
            let result = json!({"protocolVersion": "2025-11-25", "serverInfo":
                {"name": "s", "version": "1"}, "capabilities": {"tools": {}, "prompts": {}}});
            return as_json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        }
        _ => return mcp(seen),
    };
    let mut answer = json!({"jsonrpc": "2.0", "id": message["id"]});
    match pages(message["params"]["cursor"].as_str()) {
        Some((name, next)) => {
            answer["result"][key] = json!([{"name": name, "inputSchema": {"type": "object"}}]);
            if let Some(next) = next {
                answer["result"]["nextCursor"] = json!(next);
            }
        }
        None => answer["error"] = json!({"code": -32602, "message": "Invalid cursor"}),
    }
    as_json(200, &answer)
}
