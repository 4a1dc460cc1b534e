//! Which hosts a command has reached and been refused, in the audit, through the whole program: as
//! our own bash server has counted them, and never in the words of another server.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]

use crate::program;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread;

use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::{Value, json};

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
    if !house.keeps_to_hosts() {
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

/// Stands in for the system's `ssh`, outside of the box: it gets to every host but one.
const SSH: &str =
    "#!/bin/sh\ncase \"$*\" in *broken*) exit 255;; esac\ncat >/dev/null\necho signed in\n";
const SSH_CONFIG: &str = "Host work\n  HostName real.example.invalid\n";

/// A house in which the owner's ssh agent is open to commands.
fn house_with_ssh(provider: &Threaded, port: u16) -> House {
    let house = House::at("openai-compatible", &provider.base_url);
    let (programs, settings) = (house.user_home().join("programs"), house.user_home().join(".ssh"));
    for folder in [&programs, &settings] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(settings.join("config"), SSH_CONFIG).unwrap();
    claw_test_kit::write_program(&programs.join("ssh"), SSH);
    let agent = house.user_home().join("agent");
    let house = house
        .with("PATH", &format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
        .with("SSH_AUTH_SOCK", &agent.display().to_string());
    house.write("claw.toml", &format!("{}\n[box]\nopen = [\"ssh-agent\"]\n", program::SERVER_WAIT));
    let own = ["server", "bash", "--private-host", &format!("localhost:{port}")];
    let servers = json!({"mcpServers": {"bash": {"command": "claw", "args": own}}});
    house.write("mcp.json", &servers.to_string());
    house
}

#[test]
fn the_audit_names_the_hosts_that_a_command_has_reached_over_ssh() {
    let port = service();
    let ssh = |command: &str, hosts: &[String]| {
        let mut arguments = json!({"command": command, "needs": "network", "opens": ["ssh-agent"]});
        if !hosts.is_empty() {
            arguments["hosts"] = json!(hosts);
        }
        Answer::Turn(Turn::calls(&[Call::new("a", "bash__run", &arguments.to_string())]))
    };
    let named = format!("ssh -p {port} me@localhost true; ssh me@elsewhere.example.invalid true");
    let provider = Threaded::start(
        Wire::OpenAi,
        [
            ssh(&named, &[format!("localhost:{port}")]),
            Answer::text("one"),
            ssh("ssh work true; ssh broken.example.invalid true", &[]),
            Answer::text("two"),
        ],
    );
    let house = house_with_ssh(&provider, port);
    let _agent = UnixListener::bind(house.user_home().join("agent")).unwrap();
    if !house.keeps_to_hosts() {
        return;
    }
    for text in ["push", "push with all of the network"] {
        let id = house.ask_parks(text);
        house.claw(&["approve", &id]).expect(0);
    }
    let rows = of_network(&house);
    assert_eq!(rows.len(), 2, "{rows:?}");
    let hosts = |row: &Value| -> Vec<(String, u64, bool)> {
        let all = row["body"]["hosts"].as_array().unwrap().iter();
        all.map(|host| {
            let name = host["host"].as_str().unwrap().to_owned();
            (name, host["port"].as_u64().unwrap(), host["refused"].is_null())
        })
        .collect()
    };
    let (first, second) = (hosts(&rows[0]), hosts(&rows[1]));
    assert!(first.contains(&("localhost".into(), port.into(), true)), "{rows:?}");
    assert!(first.contains(&("elsewhere.example.invalid".into(), 22, false)), "{rows:?}");
    // By its real name, whatever the owner calls it.
    assert!(second.contains(&("real.example.invalid".into(), 22, true)), "{rows:?}");
    assert!(second.contains(&("broken.example.invalid".into(), 22, false)), "{rows:?}");
    let listed = house.claw(&["audit"]).expect(0).out;
    for words in [
        format!("reached localhost:{port}; refused elsewhere.example.invalid:22"),
        "reached real.example.invalid:22; refused broken.example.invalid:22".to_owned(),
    ] {
        assert!(listed.contains(&words), "{words}: {listed}");
    }
    let id = rows[1]["call"].as_str().unwrap();
    let told = house.claw(&["audit", "explain", id]).expect(0).out;
    assert!(told.contains("it reached real.example.invalid:22"), "{told}");
    house.claw(&["audit", "verify"]).expect(0);
    house.is_whole();
}
