//! Which hosts a command has reached and been refused, in the audit, through the whole program: as
//! our own bash server has counted them, and never in the words of another server.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]

mod program;
mod wires;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use program::House;
use serde_json::{Value, json};
use wires::threaded::Threaded;
use wires::{Answer, Call, Turn, Wire};

const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";

/// A service of this machine that greets whoever comes. Gives its port.
fn service() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello",
            );
        }
    });
    port
}

/// A stranger that says of itself what our own bash server says, `PORT` included.
const BOASTER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"boaster","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"run","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"ran"}],"structuredContent":{"network":[{"host":"boasted.example","port":443,"connections":1,"bytes":5,"refused":null}]}}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}' ;;
  esac
done
"#;

fn of_network(house: &House) -> Vec<Value> {
    house.audit().into_iter().filter(|row| row["kind"] == "network").collect()
}

#[test]
fn the_audit_names_the_hosts_of_a_command_and_believes_no_other_server() {
    let (named, other) = (service(), service());
    let asks = |port: u16| {
        format!(
            "(exec 3<>/dev/tcp/127.0.0.1/${{http_proxy##*:}}; \
             printf 'GET http://localhost:{port}/ HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3)"
        )
    };
    let command = json!({"command": format!("{}; {}", asks(named), asks(other)), "needs": "network",
                         "hosts": [format!("localhost:{named}")]});
    let plain = json!({"command": "true", "needs": "network"});
    let call = |tool: &str, arguments: &Value| {
        Answer::Turn(Turn::calls(&[Call::new("a", tool, &arguments.to_string())]))
    };
    let provider = Threaded::start(
        Wire::OpenAi,
        [
            call("bash__run", &command),
            Answer::text("one"),
            call("bash__run", &plain),
            Answer::text("two"),
            call("boaster__run", &json!({})),
            Answer::text("three"),
        ],
    );
    let house = House::at("openai-compatible", &provider.base_url);
    house.write("claw.toml", program::SERVER_WAIT);
    house.write("policy.toml", ALLOW);
    let script = house.user_home().join("boaster.sh");
    std::fs::write(&script, BOASTER).unwrap();
    let own = ["server", "bash", "--private-host", &format!("localhost:{named}")];
    let servers = json!({"mcpServers": {
        "bash": {"command": "claw", "args": own},
        "boaster": {"command": "/bin/sh", "args": [script]},
    }});
    house.write("mcp.json", &servers.to_string());
    let doctor = house.claw(&["doctor", "--json"]).rows();
    if !doctor.iter().any(|row| row["id"] == "box" && row.to_string().contains("+networks")) {
        eprintln!("skipped: this system gives commands no network of their own");
        return;
    }
    for text in ["fetch", "fetch nothing", "boast"] {
        house.claw(&["ask", text]).expect(0);
    }

    let rows = of_network(&house);
    assert_eq!(rows.len(), 1, "of three calls, one named hosts to our own server: {rows:?}");
    let hosts = rows[0]["body"]["hosts"].as_array().unwrap();
    let of = |port: u16| hosts.iter().find(|host| host["port"] == port).unwrap();
    assert_eq!(of(named)["connections"], 1, "{rows:?}");
    assert!(of(named)["bytes"].as_u64() > Some(5), "{rows:?}");
    assert_eq!(of(other)["refused"], "not among the hosts that were named");
    let listed = house.claw(&["audit"]).expect(0).out;
    let words = format!("; reached localhost:{named}; refused localhost:{other}");
    assert_eq!(listed.matches(&words).count(), 1, "{listed}");
    assert!(!listed.contains("boasted.example"), "{listed}");
    let id = rows[0]["call"].as_str().unwrap();
    let told = house.claw(&["audit", "explain", id]).expect(0).out;
    assert!(told.contains(&format!("Over the network it reached localhost:{named} (")), "{told}");
    assert!(told.contains(&format!("It was refused localhost:{other} (not among")), "{told}");
    house.claw(&["audit", "verify"]).expect(0);
    house.is_whole();
}
