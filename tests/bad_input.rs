//! What is wrong in files, variables, arguments, input and in what a model says: a clear sentence
//! in the right place, and nothing is lost.

use crate::program::{House, KEY, outcomes, said};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

/// Variables, and what the sentence must name.
type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);

/// File, text, and what the sentence must name.
const BROKEN_FILES: &[(&str, &str, &[&str])] = &[
    ("claw.toml", "[model\nagent = 1", &["claw.toml", "line 1"]),
    (
        "claw.toml",
        "[limits]\nmodel_step_max = 3",
        &["claw.toml", "line 2", "model_step_max", "model_steps_max"],
    ),
    ("claw.toml", "\n[limits]\nturn_time_s = \"soon\"", &["claw.toml", "line 3"]),
    ("claw.toml", "[limits]\nturn_time_s = 0", &["claw.toml", "line 2", "turn_time_s"]),
    (
        "claw.toml",
        "[model]\nwindow_tokens = 4096\n[limits]\nwindow_tokens = 5",
        &["claw.toml, line 4", "`limits.window_tokens` is 5"],
    ),
    ("claw.toml", "[limits]\n\nturn_time_s = 60", &["claw.toml, line 3", "a whole turn"]),
    ("claw.toml", "[model]\n\ntemperature = 9.0", &["claw.toml, line 3", "temperature"]),
    ("claw.toml", "[model]\nagent = \"gpt\"", &["claw.toml", "line 2", "gpt", "openai-compatible"]),
    (
        "claw.toml",
        "[model]\nagent = \"claude\"\napi_key = \"$NOT_THERE\"",
        &["claw.toml", "line 3", "NOT_THERE", "api_key"],
    ),
    ("claw.toml", "workspace = \"${NOT_THERE}/w\"", &["claw.toml", "line 1", "NOT_THERE"]),
    ("mcp.json", "{\"mcpServers\": {", &["mcp.json"]),
    ("mcp.json", "[]", &["mcp.json"]),
    ("mcp.json", "", &["mcp.json", "`mcpServers`", "remove the file"]),
    ("mcp.json", "{}", &["mcp.json", "`mcpServers`", "remove the file"]),
    ("mcp.json", "{\"servres\": {}}", &["mcp.json", "`mcpServers`", "remove the file"]),
    ("mcp.json", "{\"mcpServers\": {\"x\": {\"args\": []}}}", &["mcp.json", "`x`"]),
    ("policy.toml", "[[rule]]\ndecision = \"deny\"", &["policy.toml", "line 1", "why"]),
    (
        "policy.toml",
        "[[rule]]\ndecision = \"maybe\"\nwhy = \"x\"",
        &["policy.toml", "line 2", "maybe"],
    ),
    (
        "policy.toml",
        "\n[[rule]]\nserver = \"bash\"\nargs.command = \"(\"\ndecision = \"deny\"\nwhy = \"x\"",
        &["policy.toml", "line 2", "args.command"],
    ),
    (
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ntool = \"run\"\nargs.command = \"ls\"\ndecision = \"allow\"\nwhy = \"x\"\n\
         match = [{args = {command = \"ls -l\"}}]",
        &["policy.toml", "line 1", "ls -l"],
    ),
    (
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ntool = \"run\"\nargs.command = \"ls.*\"\ndecision = \"allow\"\nwhy = \"x\"\n\
         not_match = [{args = {command = \"ls; rm x\"}}]",
        &["policy.toml", "line 1", "ls; rm x"],
    ),
];

#[test]
fn a_broken_file_is_named_and_nothing_starts() {
    for (name, text, named) in BROKEN_FILES {
        let house = House::new();
        house.write(name, text);
        for command in [&["ask", "list"][..], &["chat"], &["approvals"], &["audit", "verify"]] {
            house.claw(command).expect_mistake(named);
        }
        let doctor = house.claw(&["doctor"]).expect(1);
        assert!(named.iter().all(|part| doctor.out.contains(part)), "{name}: {doctor:?}");
        assert_eq!(
            std::fs::read_to_string(house.home().join(name)).unwrap(),
            *text,
            "the owner's file was changed"
        );
    }
}

#[test]
fn a_file_that_is_no_text_is_named() {
    for name in ["claw.toml", "policy.toml", "mcp.json"] {
        let house = House::new();
        house.write(name, "");
        std::fs::write(house.home().join(name), b"\xff\xfe\x00").unwrap();
        house.claw(&["ask", "list"]).expect_mistake(&[name, "UTF-8"]);
    }
}

#[test]
fn a_setting_that_cannot_be_met_names_its_variable() {
    let cases: &[Case] = &[
        (&[("CLAW_AGENT", "chatgpt")], &["CLAW_AGENT", "chatgpt", "openai-compatible"]),
        (&[("CLAW_AGENT", "claude")], &["ANTHROPIC_API_KEY"]),
        (&[("CLAW_AGENT", "gemini")], &["GEMINI_API_KEY"]),
        (&[("CLAW_AGENT", "openai-compatible")], &["OPENAI_API_KEY", "CLAW_BASE_URL"]),
        (&[("CLAW_AGENT", "openai-compatible"), ("CLAW_BASE_URL", "nonsense")], &["CLAW_BASE_URL"]),
        (&[("CLAW_AGENT", "ollama"), ("OLLAMA_HOST", "127.0.0.1:9")], &["OLLAMA_HOST"]),
    ];
    for (variables, named) in cases {
        let house =
            variables.iter().fold(House::bare(), |house, (name, value)| house.with(name, value));
        house.claw(&["ask", "list"]).expect_mistake(named);
        house.claw(&["chat"]).expect_mistake(named);
    }
    House::new()
        .with("CLAW_WORKSPACE", "/proc/nowhere")
        .claw(&["ask", "x"])
        .expect_mistake(&["CLAW_WORKSPACE"]);
    let house = House::new();
    let inside = house.home();
    house
        .claw(&["ask", "x", "--workspace", inside.to_str().unwrap()])
        .expect_mistake(&["--workspace"]);
}

#[test]
fn options_count_behind_the_words_too() {
    let house = House::new();
    let ran = house.claw(&["ask", "search", "x", "--json", "--session", "other"]).expect(0);
    assert_eq!(ran.json()["id"], "other:1");
    assert_eq!(said(&house.events("other")), ["search x"]);
    house.claw(&["ask", "--", "search", "--json"]).expect(0);
    assert_eq!(said(&house.events("main")), ["search --json"]);
}

#[test]
fn what_is_typed_wrong_is_a_users_mistake() {
    let house = House::new();
    for name in ["../x", "", ".hidden", "a b", "ä", &"x".repeat(65)] {
        house.claw(&["ask", "--session", name, "list"]).expect_mistake(&["session"]);
    }
    house.claw(&["sessions", "show", "nobody"]).expect_mistake(&["nobody"]);
    house.claw(&["tools", "accept", "nobody"]).expect_mistake(&["nobody"]);
    for unknown in [
        &["frobnicate"][..],
        &["ask", "--yes", "x"],
        &["approve"],
        &["approve", "x", "--for", "1y"],
        &[],
    ] {
        assert_eq!(house.claw(unknown).code, Some(2), "{unknown:?}");
    }
    house.claw(&["ask"]).expect_mistake(&["nothing to ask"]);
    assert!(
        house.claw(&["sessions", "--json"]).expect(0).rows().is_empty(),
        "a refused command left a session"
    );
}

/// A command that is carried out by another part of the program ends with what that part says.
#[test]
fn what_a_command_ends_with_is_the_exit_code_wherever_it_is_carried_out() {
    let house = House::new();
    let cases: [(&[&str], i32); 14] = [
        (&["server", "nosuch"], 2),
        (&["server", "bash", "--nosuch"], 2),
        (&["server", "filesystem", "--help"], 0),
        // Behind an option of claw the server is started by the command line, not before it.
        (&["--agent", "main", "server", "nosuch"], 2),
        (&["--agent", "main", "server", "bash", "--nosuch"], 2),
        (&["help", "nosuch"], 2),
        (&["help", "models"], 0),
        (&["gateway"], 2),
        (&["restore", "/nowhere"], 2),
        (&["service", "uninstall"], 2),
        (&["init"], 2),
        (&["approve", "nosuch"], 2),
        (&["sessions", "show", "nobody"], 2),
        (&["panic", "status"], 0),
    ];
    for (words, code) in cases {
        let ran = house.claw(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {ran:?}");
    }
}

#[test]
fn standard_input_is_taken_whole_or_refused() {
    let house = House::new();
    house.claw_with_stdin(&["ask", "-"], b"list \xff\xfe").expect_mistake(&["UTF-8"]);
    house.claw_with_stdin(&["ask"], &vec![b'a'; 4 * 1024 * 1024 + 1]).expect_mistake(&["4194304"]);
    house.claw_with_stdin(&["ask"], b" \n\t\n").expect_mistake(&["nothing to ask"]);
    assert!(house.claw(&["sessions", "--json"]).rows().is_empty());
    let long = format!("search {}", "ä".repeat(50_000));
    house.claw_with_stdin(&["ask", "-"], long.as_bytes()).expect(0);
    assert_eq!(said(&house.events("main")), [long]);
    house.is_whole();
}

#[test]
fn a_chat_survives_what_is_no_text() {
    let house = House::new();
    let ran =
        house.claw_with_stdin(&["chat"], b"search one\n\xff\xfe\xfd\nsearch two\n/nonsense\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let heard = said(&house.events("main"));
    assert!(
        heard.iter().any(|text| text == "search one")
            && heard.iter().any(|text| text == "search two"),
        "{heard:?}"
    );
    house.is_whole();
}

#[test]
fn a_model_that_talks_nonsense_gets_errors_and_goes_on() {
    let calls = [
        Call::new("a", "filesystem__read_file", r#"{"path": "x"#),
        Call::new("b", "no_such__tool", "{}"),
        Call::new("c", "filesystem__read_file", r#"{"path": 7}"#),
        Call::new("d", "filesystem__list_dir", r#"["."]"#),
        Call::new("e", "filesystem__list_dir", r#"{"path": "."}"#),
        Call::new("f", "filesystem__read_file", "{}"),
        Call::new("g", "", "{}"),
        Call::new("h", "bash__run", r#"{"command": ["ls"]}"#),
    ];
    let provider = Threaded::start(
        Wire::OpenAi,
        [Answer::Turn(Turn::calls(&calls)), Answer::text("I give up.")],
    );
    let house = House::at("openai-compatible", &provider.base_url);
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs it\"\n",
    );
    let ran = house.claw(&["ask", "go"]).expect(0);
    assert_eq!(ran.out, "I give up.\n");
    assert_eq!(provider.faults(), [""; 0]);
    let found = outcomes(&house.events("main"));
    assert_eq!(found.len(), calls.len());
    let body = provider.recorded()[1].body.clone();
    let results: Vec<&serde_json::Value> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .collect();
    assert_eq!(results.len(), calls.len());
    for (call, result) in calls.iter().zip(results) {
        let text = result["content"].as_str().unwrap();
        let fine = call.id == "e";
        let wrong = text.contains("Error")
            || text.contains("Not run")
            || text.contains("no tool")
            || text.contains("nvalid");
        assert_eq!(wrong, !fine, "{}: {text}", call.id);
    }
    assert!(
        body.to_string().contains("complete, valid JSON")
            && body.to_string().contains("no_such__tool")
    );
    assert!(!body.to_string().contains(KEY));
    house.is_whole();
}

#[test]
fn the_same_call_without_progress_stops_the_turn_and_says_why() {
    let again =
        || Answer::Turn(Turn::calls(&[Call::new("a", "filesystem__list_dir", r#"{"path": "."}"#)]));
    let provider = Threaded::start(Wire::OpenAi, (0..25).map(|_| again()));
    let house = House::at("openai-compatible", &provider.base_url);
    let ran = house.claw(&["ask", "go"]).expect(1);
    assert!(
        ran.out.contains("limits.identical_calls_max")
            || ran.err.contains("limits.identical_calls_max"),
        "{ran:?}"
    );
    house.is_whole();
}
