//! Slow servers through the whole program: what has begun to start is not thrown away, one can be
//! started alone, and the person hears of all late ones in one sentence. A broken one neither
//! delays nor breaks the others.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::time::{Duration, Instant};

use crate::program::{House, eventually, example};
use serde_json::{Value, json};

/// Servers that start when the test [lets them](go), each with a record of its own, beside claw's
/// `filesystem`.
fn house(names: &[&str]) -> House {
    let house = House::new();
    let mut servers = serde_json::Map::new();
    for name in names {
        let record = house.user_home().join(name);
        let script = "until [ -e \"$2\" ]; do sleep 0.02; done; exec \"$0\" legacy \"$1\"";
        let gate = house.user_home().join("go");
        let args = json!(["-c", script, example("hub-stranger"), record, gate]);
        servers.insert((*name).to_owned(), json!({"command": "sh", "args": args}));
    }
    servers.insert(
        "filesystem".to_owned(),
        json!({"command": "claw", "args": ["server", "filesystem"]}),
    );
    house.write("mcp.json", &json!({ "mcpServers": servers }).to_string());
    house.write("claw.toml", "[limits]\nserver_wait_ms = 0\n");
    house
}

/// From now on the servers start at once.
fn go(house: &House) {
    fs::write(house.user_home().join("go"), "").unwrap();
}

fn starts(house: &House, name: &str) -> usize {
    let record = fs::read_to_string(house.user_home().join(name)).unwrap_or_default();
    record.lines().filter(|line| line.starts_with("pid ")).count()
}

fn pinned(house: &House) -> usize {
    house
        .audit()
        .iter()
        .filter(|row| row["kind"] == "pinned" && row["body"]["server"] != "filesystem")
        .count()
}

#[test]
fn what_ask_has_begun_to_start_for_the_first_time_is_not_thrown_away() {
    let house = house(&["one", "two", "three"]);
    let mut asking = house.start(&["ask", "list"]);
    asking.closes_input();
    // By then the turn is over, and none of them has come up in it.
    eventually("the command waits for them", || asking.err().contains("for the first time"));
    go(&house);
    let ran = asking.ends().expect(0);
    assert!(ran.out.contains("Listing"), "{ran:?}");
    let told = "The 3 servers `one`, `three`, `two` are still starting; their tools join as soon as they are up";
    assert_eq!(ran.err.matches("still starting").count(), 1, "{ran:?}");
    assert!(ran.err.contains(told), "{ran:?}");
    assert!(ran.err.contains("3 servers start (one, three, two) for the first time"), "{ran:?}");
    assert_eq!(pinned(&house), 21, "seven tools each");

    // The next command knows them, and has none to wait for.
    let ran = house.claw(&["ask", "list"]).expect(0);
    assert!(!ran.err.contains("start"), "{ran:?}");
    assert_eq!(["one", "two", "three"].map(|name| starts(&house, name)), [1, 1, 1]);
    house.is_whole();
}

#[test]
fn tools_of_one_server_start_it_alone() {
    let house = house(&["one", "two"]);
    go(&house);
    let rows = house.claw(&["tools", "two", "--json"]).expect(0).rows();
    assert!(rows.len() == 7 && rows.iter().all(|row| row["server"] == "two"), "{rows:?}");
    assert_eq!((starts(&house, "one"), starts(&house, "two")), (0, 1));
    house.claw(&["tools", "twoo"]).expect_mistake(&["`twoo`", "filesystem, one, two"]);
    assert!(house.claw(&["tools", "diff", "--json"]).expect(0).rows().is_empty());
}

#[test]
fn the_longest_start_is_set_by_an_entry_else_by_mcp_timeout_else_by_the_limits() {
    let house = House::new().with("MCP_TIMEOUT", "2000");
    let mute = |more: &Value| {
        let mut entry = json!({"command": example("hub-stranger"), "args": ["mute"]});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let servers = json!({"a": mute(&json!({})), "b": mute(&json!({"startup_timeout_sec": 1})), "c": mute(&json!({"startup_timeout": 1500}))});
    house.write("mcp.json", &json!({"mcpServers": servers}).to_string());
    house.write("claw.toml", "[limits]\nserver_start_s = 50\n");
    let ran = house.claw(&["tools"]).expect(1);
    for said in ["`a` did not start: it did not answer within 2 s", "within 1 s", "within 1.5 s"] {
        assert!(ran.err.contains(said), "{said}: {ran:?}");
    }
    house.write(
        "mcp.json",
        &json!({"mcpServers": {"d": mute(&json!({"startup_timeout": 60}))}}).to_string(),
    );
    house.claw(&["tools"]).expect_mistake(&["server `d`", "`startup_timeout` is in milliseconds"]);
    house.write("mcp.json", "{}");
    house.write("claw.toml", "inherit = [\"A=B\"]\n");
    house.claw(&["tools"]).expect_mistake(&["line 1", "`A=B`"]);
}

#[test]
fn a_stranger_gets_certificates_and_proxies_and_a_folder_of_its_own() {
    let house = House::new()
        .with("SSL_CERT_FILE", "/etc/ssl/own.pem")
        .with("LC_ALL", "C")
        .with("MINE", "yes");
    let script = "echo \"$(pwd) $SSL_CERT_FILE $LC_ALL $MINE.\" >&2; exit 1";
    let servers = json!({"mcpServers": {"a": {"command": "sh", "args": ["-c", script]}}});
    house.write("mcp.json", &servers.to_string());
    let folder = house.home().join("servers/a").display().to_string();
    let ran = house.claw(&["tools"]).expect(1);
    assert!(ran.err.contains(&format!("{folder} /etc/ssl/own.pem C .")), "{ran:?}");
    house.write("claw.toml", "inherit = [\"...\", \"MINE\"]\n");
    let ran = house.claw(&["tools"]).expect(1);
    assert!(ran.err.contains(&format!("{folder} /etc/ssl/own.pem C yes.")), "{ran:?}");
}

#[test]
fn a_broken_server_neither_delays_nor_breaks_the_others() {
    let stranger = example("hub-stranger");
    let servers = json!({"mcpServers": {
        "nowhere": {"command": "/no/such/program"},
        "broken": {"command": stranger, "args": ["broken"]},
        "filesystem": {"command": "claw", "args": ["server", "filesystem"]},
        "off": {"command": "/no/such/program", "disabled": true},
    }});
    let house = House::new();
    house.write("mcp.json", &servers.to_string());
    let began = Instant::now();
    let ran = house.claw(&["ask", "list"]).expect(0);
    assert!(
        began.elapsed() < Duration::from_secs(45),
        "the broken ones delayed it: {:?}",
        began.elapsed()
    );
    assert!(ran.out.contains("Listing"), "{ran:?}");
    for name in ["nowhere", "broken"] {
        assert!(ran.err.contains(name), "nobody was told of {name}: {ran:?}");
    }
    assert!(!ran.err.contains("`off`"), "{ran:?}");
    let doctor = house.claw(&["doctor", "--json"]).expect(1).rows();
    let bad = doctor
        .iter()
        .filter(|row| row["id"].as_str().unwrap().starts_with("server:") && row["ok"] == false)
        .count();
    assert_eq!(bad, 2, "{doctor:?}");
    house.is_whole();
}

#[test]
fn a_mute_server_is_not_waited_for_long() {
    let servers = json!({"mcpServers": {
        "mute": {"command": example("hub-stranger"), "args": ["mute"]},
        "filesystem": {"command": "claw", "args": ["server", "filesystem"]},
    }});
    let house = House::new();
    house.write("claw.toml", "[limits]\nserver_start_s = 10\n");
    house.write("mcp.json", &servers.to_string());
    let ran = house.claw(&["ask", "list"]).expect(0);
    assert!(ran.out.contains("Listing") && ran.err.contains("`mute`"), "{ran:?}");
    assert!(ran.err.contains("starts for the first time"), "{ran:?}");
    house.write("claw.toml", "[limits]\nserver_start_s = 600\n");
    let began = Instant::now();
    let ran = house.claw(&["ask", "list"]).expect(0);
    assert!(
        !ran.err.contains("for the first time"),
        "the same command was waited for again: {ran:?}"
    );
    // A start may take long; a conversation does not wait for that.
    assert!(
        began.elapsed() < Duration::from_secs(120),
        "the mute one delayed it: {:?}",
        began.elapsed()
    );
    house.is_whole();
}
