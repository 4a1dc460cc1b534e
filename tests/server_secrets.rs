//! Secrets that are written in `mcp.json` reach no log, no store, no model and no screen, whatever
//! a server echoes.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::Path;

use crate::program::{House, SERVER_WAIT, alive, eventually, example};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";
/// One for each place in which a server may have one.
const SECRETS: [&str; 11] = [
    "opensesame-in-env-1",
    "a1b2c3d4e5f6g7h8i9",
    "opensesame-in-env-file-1",
    "opensesame-in-an-option-1",
    "opensesame-behind-an-option-1",
    "opensesame-in-a-header-1",
    "opensesame-in-a-url-1",
    "opensesame-of-another-agent-1",
    "pr0xy-opensesame-1",
    "Sommer-opensesame!",
    "Winter-opensesame!",
];

/// The files below a folder that hold one of the secrets; the settings that name them are left out.
fn leaks_of(folder: &Path, secrets: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(leaks_of(&path, secrets));
        } else if !path.ends_with("mcp.json") && !path.ends_with("secret.env") {
            let bytes = fs::read(&path).unwrap();
            let holds = |secret: &&&str| {
                bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
            };
            found.extend(
                secrets.iter().filter(holds).map(|secret| format!("{}: {secret}", path.display())),
            );
        }
    }
    found
}

#[test]
fn what_a_server_echoes_of_its_settings_leaks_nothing() {
    let call = |id, text: &str| Call::new(id, "echoes__echo", &json!({"text": text}).to_string());
    let env = Call::new("a", "echoes__env", "{}");
    let provider = Threaded::start(
        Wire::OpenAi,
        [
            Answer::Turn(Turn::calls(&[env])),
            Answer::text(&format!("I have seen {}.", SECRETS.join(" "))),
            Answer::Turn(Turn::calls(&[call("b", "/usr/bin true production me@example.org")])),
            Answer::text("done"),
        ],
    );
    let house = House::at("openai-compatible", &provider.base_url);
    let house = house.with("HTTPS_PROXY", "http://me:pr0xy-opensesame-1@127.0.0.1:9");
    house.write("policy.toml", ALLOW);
    house.write("claw.toml", &format!("{SERVER_WAIT}[agents.other]\n"));
    let file = house.user_home().join("secret.env");
    fs::write(&file, "FILE_TOKEN=opensesame-in-env-file-1\n").unwrap();
    // What it was given goes to its log, and then to whoever asks for its variables.
    let script = "env >&2; echo \"$@\" >&2; if [ \"$BREAK\" ]; then exit 1; fi; exec \"$0\" legacy";
    let args = json!([
        "-c",
        script,
        example("hub-stranger"),
        "--token=opensesame-in-an-option-1",
        "--api-key",
        "opensesame-behind-an-option-1",
    ]);
    let env = json!({"MY_TOKEN": SECRETS[0], "ANYTHING": SECRETS[1], "MYSQL_PASS": SECRETS[9], "CONNECTION": format!("Uid=me;Password={};", SECRETS[10]), "MODE": "production", "BIN": "/usr/bin", "ON": "true"});
    let mut broken = env.clone();
    broken["BREAK"] = json!("yes");
    let header = json!({"Authorization": format!("Bearer {}", SECRETS[5])});
    let servers = json!({
        "echoes": {"command": "sh", "args": args, "env": env, "envFile": file},
        "broken": {"command": "sh", "args": args, "env": broken, "envFile": file},
        "remote": {"url": format!("https://me:{}@h/", SECRETS[6]), "headers": header},
    });
    house.write("mcp.json", &json!({"mcpServers": servers}).to_string());
    let others = json!({"mcpServers": {"o": {"command": "x", "env": {"ITS_TOKEN": SECRETS[7]}}}});
    house.write("agents/other/mcp.json", &others.to_string());

    let mut screens = Vec::new();
    for args in [
        &["ask", "go"][..],
        &["ask", "again"],
        &["tools"],
        &["doctor"],
        &["audit", "--json"],
        &["sessions", "show", "main"],
    ] {
        let ran = house.claw(args);
        screens.push(format!("{args:?}: {}{}", ran.out, ran.err));
    }
    let asked: Vec<String> =
        provider.recorded().into_iter().map(|request| request.body.to_string()).collect();
    for name in ["MY_TOKEN", "ANYTHING", "HTTPS_PROXY", "FILE_TOKEN", "MYSQL_PASS", "CONNECTION"] {
        assert!(asked[1].contains(&format!("[redacted:{name}]")), "{name}: {}", asked[1]);
    }
    assert!(asked[3].contains("/usr/bin true production me@example.org"), "{}", asked[3]);
    for text in screens.iter().chain(&asked) {
        assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{text}");
    }
    assert!(screens[0].contains("[redacted:broken.args]"), "{}", screens[0]);
    let log = fs::read_to_string(house.home().join("logs/echoes.log")).unwrap();
    assert!(log.contains("[redacted:MY_TOKEN]") && log.contains("[redacted:broken.args]"), "{log}");
    assert_eq!(leaks_of(&house.home(), &SECRETS), [""; 0]);
    house.is_whole();
}

#[test]
fn an_env_file_that_changed_after_the_start_leaks_no_new_value() {
    const OLD: &str = "opensesame-before-1";
    const NEW: &str = "opensesame-afterwards-1";
    let env = || Answer::Turn(Turn::calls(&[Call::new("a", "echoes__env", "{}")]));
    // The second look at a server that was just killed may still meet the dead one.
    let answers = [env(), Answer::text("first"), env(), env(), Answer::text(NEW)];
    let provider = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &provider.base_url);
    house.write("claw.toml", SERVER_WAIT);
    house.write("policy.toml", ALLOW);
    let (file, pid) = (house.user_home().join("secret.env"), house.user_home().join("pid"));
    fs::write(&file, format!("FILE_TOKEN={OLD}\n")).unwrap();
    let script = "env >&2; echo $$ > \"$1.new\" && mv \"$1.new\" \"$1\"; exec \"$0\" legacy";
    let args = json!(["-c", script, example("hub-stranger"), pid]);
    let servers = json!({"echoes": {"command": "sh", "args": args, "envFile": file}});
    house.write("mcp.json", &json!({"mcpServers": servers}).to_string());

    let mut chat = house.start(&["chat"]);
    chat.types(b"go\n");
    eventually("the first turn ends", || chat.out().contains("first"));
    let server: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    fs::write(&file, format!("FILE_TOKEN={NEW}\n")).unwrap();
    kill(Pid::from_raw(server), Signal::SIGKILL).unwrap();
    eventually("the server is gone", || !alive(server as u32));
    chat.types(b"again\n");
    let told = || ["[redacted:FILE_TOKEN]", NEW].iter().any(|word| chat.out().contains(word));
    eventually("the second turn ends", || provider.recorded().len() == 5 && told());
    let screen = chat.out();
    chat.ends().expect(0);

    assert_ne!(
        fs::read_to_string(&pid).unwrap().trim(),
        server.to_string(),
        "it was started again"
    );
    let asked: Vec<String> =
        provider.recorded().into_iter().map(|request| request.body.to_string()).collect();
    assert!(asked[4].matches("[redacted:FILE_TOKEN]").count() >= 2, "{}", asked[4]);
    let log = fs::read_to_string(house.home().join("logs/echoes.log")).unwrap();
    assert_eq!(log.matches("[redacted:FILE_TOKEN]").count(), 2, "{log}");
    for text in asked.iter().chain([&log, &screen]) {
        assert!(!text.contains(OLD) && !text.contains(NEW), "{text}");
    }
    assert_eq!(leaks_of(&house.home(), &[OLD, NEW]), [""; 0]);
}
