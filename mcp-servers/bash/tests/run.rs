//! The tool `run` over the wire of the real server: results, limits, streaming, both eras of the
//! protocol.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]

mod common;

use std::fs;
use std::io::Write as _;
use std::time::Duration;

use claw_test_kit::mcp;
use common::{House, SECRET, Server};
use serde_json::{Value, json};

#[test]
fn exit_code_and_output_come_back_and_a_nonzero_exit_is_no_error() {
    let house = House::new();
    let mut server = house.server();
    let result = server.call(json!({"command": "echo out; echo err >&2; exit 3"}));
    assert_eq!(result["isError"], false);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("exit code 3 after ") && text.ends_with("\n\nout\nerr\n"), "{text}");
    let facts = &result["structuredContent"];
    assert_eq!(
        (&facts["exit_code"], &facts["signal"], &facts["output"]),
        (&json!(3), &Value::Null, &json!("out\nerr\n"))
    );
    assert_eq!(
        (&facts["timed_out"], &facts["truncated"], &facts["output_file"]),
        (&json!(false), &json!(false), &Value::Null)
    );
    assert_eq!(facts["confined"], claw_mcp_bash::probe().keeps_files());
    assert!(facts["duration_ms"].as_u64().unwrap() < 20_000);
    assert_eq!(server.run("kill -SEGV $$")["signal"], "SIGSEGV");
    assert_eq!(
        server.call(json!({"command": "true"}))["content"][0]["text"]
            .as_str()
            .unwrap()
            .lines()
            .last(),
        Some("(no output)")
    );
}

#[test]
fn an_end_by_a_signal_is_told_as_what_is_certain_of_it() {
    let house = House::new();
    let mut server = house.server();
    // The shell stays as the parent, and nobody sees more than its exit code; `exec` has no parent.
    for (command, begins) in [
        ("bash -c 'kill -SEGV $$'", "exit code 139 after "),
        ("exit 139", "exit code 139 after "),
        ("exec bash -c 'kill -SEGV $$'", "ended by signal 11 (SIGSEGV) after "),
    ] {
        let result = server.call(json!({"command": command}));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(begins), "{command}: {text}");
        let first = text.lines().next().unwrap();
        let is_guess = first.ends_with(" s, which is how a shell tells of SIGSEGV");
        assert_eq!(is_guess, begins.starts_with("exit"), "{command}: {text}");
    }
}

#[test]
fn a_command_that_starts_with_a_dash_is_a_command() {
    let house = House::new();
    assert_eq!(
        house.server().run("-x; echo still here")["output"].as_str().unwrap().lines().last(),
        Some("still here")
    );
}

#[test]
fn wrong_arguments_are_answered_so_that_a_model_can_act() {
    let house = House::new();
    let mut server = house.server();
    let long = "x".repeat(200_000);
    let cases = [
        (json!({}), "missing field `command`"),
        (json!({"command": 1}), "invalid type"),
        (json!({"command": " "}), "The command is empty"),
        (json!({"command": "true", "env": {"A": "b"}}), "unknown field `env`"),
        (json!({"command": "true", "timeout_s": 0}), "between 1 and 600"),
        (json!({"command": "true", "timeout_s": 601}), "between 1 and 600"),
        (json!({"command": "a\u{0}b"}), "NUL"),
        (json!({"command": long}), "Write it to a file"),
    ];
    for (arguments, expected) in cases {
        let result = server.call(arguments);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains(expected), "{expected}: {text}");
    }
    let unknown = server.request("tools/call", json!({"name": "walk", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn the_working_directory_stays_inside_the_workspace() {
    let house = House::new();
    fs::create_dir_all(house.workspace().join("sub/deep")).unwrap();
    std::os::unix::fs::symlink(house.home(), house.workspace().join("out")).unwrap();
    std::os::unix::fs::symlink("sub/deep", house.workspace().join("in")).unwrap();
    std::os::unix::fs::symlink(house.workspace().join("sub"), house.workspace().join("to"))
        .unwrap();
    fs::write(house.workspace().join("file"), "").unwrap();
    let mut server = house.server();
    for inside in ["sub", "./sub/deep", "sub/../sub/deep", "", "."] {
        let result = server.call(json!({"command": "/bin/pwd -P", "cwd": inside}));
        let output = result["structuredContent"]["output"].as_str().unwrap();
        let expected = house.workspace().join(inside).canonicalize().unwrap();
        assert_eq!(output.trim(), expected.to_str().unwrap(), "{inside}");
    }
    // A link may lead elsewhere between the question and the yes.
    for (link, real) in [("in", "\"sub/deep\""), ("./in/.", "\"sub/deep\""), ("to", "\"sub\"")] {
        let result = server.call(json!({"command": "echo ran", "cwd": link}));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains("Nothing was run: cwd"), "{result}");
        let told = format!("is a link. Give the folder itself that it leads to, {real}");
        assert!(text.contains(&told), "{text}");
    }
    let home = house.home();
    for outside in [
        "..",
        "sub/../..",
        "/",
        "/etc",
        home.to_str().unwrap(),
        "out",
        "out/.claw",
        "sub/../out",
        "file",
        "none",
    ] {
        let result = server.call(json!({"command": "echo ran; pwd", "cwd": outside}));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            result["isError"] == true && text.contains("Nothing was run: cwd"),
            "{outside}: {result}"
        );
        assert!(text.contains("inside the workspace"), "{text}");
    }
}

#[test]
fn the_environment_is_a_short_list_and_holds_no_secret() {
    let house = House::new();
    let mut server = house.server();
    let output = server.output("env");
    assert!(!output.contains(SECRET), "{output}");
    let allowed = [
        "PATH", "HOME", "TMPDIR", "TERM", "LANG", "LC_ALL", "USER", "LOGNAME", "PWD", "OLDPWD",
        "SHLVL", "_",
    ];
    // Where caches go, below HOME, and what keeps programs from asking.
    let of_caches = [
        "XDG_CACHE_HOME",
        "npm_config_cache",
        "PIP_CACHE_DIR",
        "UV_CACHE_DIR",
        "GOCACHE",
        "GOPATH",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "GRADLE_USER_HOME",
        "GIT_CONFIG_SYSTEM",
        "UV_LINK_MODE",
        "RUSTUP_AUTO_INSTALL",
        "NPM_CONFIG_UPDATE_NOTIFIER",
    ];
    for line in output.lines() {
        let name = line.split('=').next().unwrap();
        assert!(allowed.iter().chain(&of_caches).any(|known| *known == name), "{line}");
    }
    let home = output.lines().find_map(|line| line.strip_prefix("HOME=")).unwrap();
    assert!(home.starts_with(&*house.tmp().to_string_lossy()) && home.ends_with("/home"), "{home}");
    assert_eq!(server.output("echo text > $TMPDIR/f && cat $TMPDIR/f"), "text\n");
}

#[test]
fn a_flood_is_cut_off_by_size_and_by_time_and_the_server_lives_on() {
    let house = House::new();
    let mut server = house.server_with(&["--file-bytes-max", "100000"]);
    let result = server.call(json!({"command": "yes", "timeout_s": 8}));
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["timed_out"]),
        (&json!(true), &json!(true))
    );
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("timed out: killed after 8 s")
            && text.contains("only the first 100000 bytes"),
        "{text}"
    );
    let file = result["structuredContent"]["output_file"].as_str().unwrap();
    assert_eq!(fs::metadata(file).unwrap().len(), 100_000);
    assert_eq!(server.output("echo alive"), "alive\n");
}

#[test]
fn output_that_is_no_text_is_said_to_be_so() {
    let house = House::new();
    let mut server = house.server();
    let result = server.call(json!({"command": "printf 'a\\xff\\xfe'"}));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("not UTF-8") && text.ends_with("a\u{fffd}\u{fffd}"), "{text}");
    let file = result["structuredContent"]["output_file"].as_str().unwrap();
    assert_eq!(fs::read(file).unwrap(), b"a\xff\xfe");
}

#[test]
fn output_is_streamed_while_the_command_runs() {
    let house = House::new();
    let mut server = house.server();
    let id = server.post_run(
        json!({"command": "mkfifo gate; echo first; read line < gate; echo second $line"}),
    );
    let progress = server.next_message();
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(
        (&progress["params"]["message"], &progress["params"]["progressToken"]),
        (&json!("first\n"), &json!("p"))
    );
    fs::OpenOptions::new()
        .write(true)
        .open(house.workspace().join("gate"))
        .unwrap()
        .write_all(b"now\n")
        .unwrap();
    let result = server.answer(id);
    assert_eq!(result["result"]["structuredContent"]["output"], "first\nsecond now\n");
    assert_eq!(server.notifications.last().unwrap()["params"]["message"], "second now\n");
}

#[test]
fn a_chatty_command_sends_few_notifications_that_grow() {
    let house = House::new();
    let mut server = house.server();
    let result = server.call(json!({"command": "seq 1 300000"}));
    let tenths = result["structuredContent"]["duration_ms"].as_u64().unwrap() / 100;
    let progress: Vec<f64> =
        server.notifications.iter().map(|n| n["params"]["progress"].as_f64().unwrap()).collect();
    assert!(
        !progress.is_empty() && progress.len() as u64 <= tenths + 3,
        "{} in {tenths} tenths",
        progress.len()
    );
    assert!(progress.windows(2).all(|pair| pair[0] < pair[1]), "{progress:?}");
    assert!(
        server.notifications.iter().all(|n| n["params"]["message"].as_str().unwrap().len() <= 4096)
    );
}

#[test]
fn without_a_token_nothing_is_streamed() {
    let house = House::new();
    let mut server = house.server();
    server.request("tools/call", json!({"name": "run", "arguments": {"command": "echo x"}}));
    assert!(server.notifications.is_empty(), "{:?}", server.notifications);
}

#[test]
fn commands_run_side_by_side_up_to_the_limit_and_one_more_waits_without_using_its_time() {
    let house = House::new();
    let mut server = house.server_with(&["--jobs-max", "2"]);
    let first = server
        .post_run(json!({"command": "mkfifo gate; echo ready; read x < gate; echo $x > gate2"}));
    assert_eq!(server.next_message()["params"]["message"], "ready\n");
    let second = server.post_run(
        json!({"command": "mkfifo gate2; echo up; until [ -e go ]; do sleep 0.05; done; echo x > gate; cat gate2"}),
    );
    assert_eq!(server.next_message()["params"]["message"], "up\n");
    let third = server.post_run(json!({"command": "echo third; ls go", "timeout_s": 5}));
    let waits = server.next_message();
    assert_eq!(waits["params"]["message"], "Waiting: 2 commands run and 0 wait before this one.\n");
    // Longer than its own time.
    std::thread::sleep(Duration::from_millis(5300));
    std::fs::write(house.workspace().join("go"), "").unwrap();
    let third = server.answer(third);
    assert_eq!(third["result"]["structuredContent"]["output"], "third\ngo\n", "{third}");
    for id in [first, second] {
        let came_before = server.notifications.iter().any(|message| message["id"] == id);
        assert!(came_before || server.answer(id)["result"]["isError"] == false);
    }
}

#[test]
fn a_hundred_calls_at_once_are_all_answered() {
    let house = House::new();
    let mut server = house.server();
    let calls: Vec<u64> = (0..100)
        .map(|number| {
            let arguments = json!({"command": format!("echo {number}")});
            server.post("tools/call", json!({"name": "run", "arguments": arguments}))
        })
        .collect();
    let mut outputs = std::collections::BTreeMap::new();
    while outputs.len() < calls.len() {
        let answer = server.next_message();
        outputs.insert(
            answer["id"].as_u64().unwrap(),
            answer["result"]["structuredContent"]["output"].clone(),
        );
    }
    for (number, id) in calls.iter().enumerate() {
        assert_eq!(outputs[id], format!("{number}\n"));
    }
}

#[test]
fn a_command_that_is_stopped_while_it_waits_never_runs() {
    let house = House::new();
    let mut server = house.server_with(&["--jobs-max", "1"]);
    let first =
        server.post_run(json!({"command": "echo up; until [ -e go ]; do sleep 0.05; done"}));
    assert_eq!(server.next_message()["params"]["message"], "up\n");
    let second = server.post_run(json!({"command": "touch ran"}));
    assert!(
        server.next_message()["params"]["message"]
            .as_str()
            .unwrap()
            .starts_with("Waiting: 1 command runs")
    );
    server.notify("notifications/cancelled", json!({"requestId": second}));
    std::fs::write(house.workspace().join("go"), "").unwrap();
    server.answer(first);
    assert_eq!(server.output("ls"), "go\n");
}

#[test]
fn the_legacy_era_is_spoken() {
    let house = House::new();
    let mut server = Server::start(house.command(&[]));
    let opened = server.open_legacy();
    assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(opened["result"]["serverInfo"]["name"], "claw-mcp-bash");
    assert_eq!(opened["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let list = server.request("tools/list", json!({}));
    let tool = &list["result"]["tools"][0];
    assert_eq!(tool["name"], "run");
    let hints = json!({"title": "Run a shell command", "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true});
    assert_eq!(tool["annotations"], hints);
    assert!(
        tool["outputSchema"]["properties"]["exit_code"].is_object()
            && tool["inputSchema"]["required"] == json!(["command"])
    );
}

/// An argument that is left out may be null as well: some models send every key.
#[test]
fn every_tool_is_described_and_honest() {
    let house = House::new();
    let mut server = mcp::Server::start(&mut house.command(&[]));
    server.initialize("2025-11-25");
    let names: Vec<String> = mcp::tools(&mut server)
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    let take_null: Vec<&str> = names.iter().map(String::as_str).collect();
    let told = mcp::Told {
        readers: &["output", "list"],
        open_world: &["run", "start", "stop", "stop_all"],
        take_null: &take_null,
    };
    mcp::assert_described(&mut server, &told);
}

#[test]
fn the_modern_era_is_spoken() {
    let house = House::new();
    let mut server = Server::start(house.command(&[]));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let discovered = server.request("server/discover", json!({"_meta": meta}));
    let discovered = &discovered["result"];
    assert!(
        discovered["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")),
        "{discovered}"
    );
    assert!(
        discovered["ttlMs"].as_u64().unwrap() > 0 && discovered["cacheScope"] == "private",
        "{discovered}"
    );
    let list = server.request("tools/list", json!({"_meta": meta}));
    let list = &list["result"];
    assert!(
        list["ttlMs"].as_u64().unwrap() > 0
            && list["cacheScope"] == "private"
            && list["resultType"] == "complete"
    );
    let call = json!({"name": "run", "arguments": {"command": "echo modern"}, "_meta": meta});
    let called = server.request("tools/call", call);
    assert_eq!(called["result"]["structuredContent"]["output"], "modern\n");
    assert_eq!(called["result"]["resultType"], "complete");
    let without = server.request("server/discover", json!({}));
    assert_eq!(without["error"]["code"], -32602, "{without}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_client_built_with_the_sdk_is_served() {
    use rmcp::ServiceExt as _;
    use rmcp::model::CallToolRequestParams;
    let house = House::new();
    let mut command = tokio::process::Command::from(house.command(&[]));
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let transport = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = ().serve(transport).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 6);
    let mut call = CallToolRequestParams::new("run");
    call.arguments = json!({"command": "echo $((6*7))"}).as_object().cloned();
    let result = client.call_tool(call).await.unwrap();
    assert_eq!(result.structured_content.unwrap()["output"], "42\n");
    client.cancel().await.unwrap();
    assert!(child.wait().await.unwrap().success());
}
