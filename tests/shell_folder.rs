//! A shell that remembers its folder, through the whole program with the real bash server: a `cd`
//! in one command is the folder of the next one, as an argument that rules, the question and the
//! audit see, and that comes from the log alone.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{House, SERVER_WAIT, eventually, example, outcomes};
use crate::serve_rig::{Client, Era, text};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

pub(crate) const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";
const OFF: &str = "[tools]\nkeep_shell_folder = false\n";

/// One reply of the model with these calls of `bash__run`, side by side.
pub(crate) fn runs(calls: &[Value]) -> Answer {
    let call = |(number, arguments): (usize, &Value)| {
        Call::new(&format!("c{number}"), "bash__run", &arguments.to_string())
    };
    Answer::Turn(Turn::calls(&calls.iter().enumerate().map(call).collect::<Vec<_>>()))
}

pub(crate) fn run(command: &str) -> Answer {
    runs(&[json!({"command": command})])
}

pub(crate) fn done() -> Answer {
    Answer::text("Done.")
}

/// A house with the folders `a`, `b` and `a/deep` in its workspace.
pub(crate) fn house(policy: &str, answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", SERVER_WAIT);
    house.write("policy.toml", policy);
    house.write("mcp.json", &servers(&json!({})));
    for folder in ["a/deep", "b"] {
        fs::create_dir_all(house.workspace().join(folder)).unwrap();
    }
    (house, model)
}

pub(crate) fn servers(others: &Value) -> String {
    let mut servers = others.clone();
    servers["bash"] = json!({"command": "claw", "args": ["server", "bash"]});
    json!({ "mcpServers": servers }).to_string()
}

/// What the commands have printed, in the order in which their results came.
pub(crate) fn printed(house: &House, session: &str) -> Vec<String> {
    let outcomes = outcomes(&house.events(session));
    let output = |outcome: &Value| match &outcome["output"]["structured"]["output"] {
        Value::String(text) => text.trim_end().to_owned(),
        _ => outcome.to_string(),
    };
    outcomes.iter().map(output).collect()
}

/// The same below the workspace.
fn folders(house: &House, session: &str) -> Vec<String> {
    let workspace = house.workspace().canonicalize().unwrap().display().to_string();
    printed(house, session).iter().map(|text| text.replace(&workspace, "~")).collect()
}

pub(crate) fn whole(house: &House, model: &Threaded) {
    assert_eq!(model.faults(), Vec::<String>::new());
    house.is_whole();
}

#[test]
fn a_cd_is_the_folder_of_the_next_command_also_in_another_turn_and_of_no_other_session() {
    let (house, model) = house(
        ALLOW,
        [
            run("cd a; echo moved"),
            run("pwd"),
            runs(&[json!({"command": "pwd", "cwd": "b"})]),
            done(),
            // Another turn, in another process.
            runs(&[json!({"command": "pwd; cd deep", "cwd": ""})]),
            run("pwd"),
            runs(&[json!({"command": "pwd", "cwd": "."})]),
            done(),
            // Another session.
            run("pwd"),
            done(),
            run("cd ../.."),
            run("pwd"),
            done(),
        ],
    );
    house.claw(&["ask", "one"]).expect(0);
    assert_eq!(folders(&house, "main"), ["moved", "~/a", "~/b"]);
    house.claw(&["ask", "two"]).expect(0);
    assert_eq!(folders(&house, "main")[3..], ["~/a", "~/a/deep", "~"]);
    house.claw(&["ask", "--session", "other", "three"]).expect(0);
    assert_eq!(folders(&house, "other"), ["~"]);
    house.claw(&["ask", "four"]).expect(0);
    assert_eq!(folders(&house, "main")[7..], ["~"]);
    // The model may rely on it, and is told where a turn begins.
    let requests = model.recorded();
    let tools = requests[0].body["tools"].to_string();
    assert!(tools.contains("Default: where the shell stands."), "{tools}");
    let told: Vec<Value> =
        house.events("main").into_iter().filter(|e| e["type"] == "turn.context").collect();
    assert_eq!(told[0]["text"], "[mode: ask; shell in `a`]");
    assert_eq!(told[1]["text"], "[mode: ask; shell in `a/deep`]");
    whole(&house, &model);
}

#[test]
fn of_commands_side_by_side_the_last_one_that_has_moved_the_shell_counts() {
    let cd = |folder: &str| json!({"command": format!("cd {folder}")});
    let waits = json!({"command": "cd a; until [ -e ../b/go ]; do sleep 0.02; done"});
    let goes = json!({"command": "cd b; touch go", "needs": "write"});
    let (house, model) = house(
        ALLOW,
        [
            // The first one ends last.
            runs(&[waits, goes]),
            run("pwd"),
            runs(&[
                cd("../a/deep"),
                json!({"command": "ls"}),
                json!({"command": "cd ../a; exec true"}),
            ]),
            run("pwd"),
            done(),
        ],
    );
    house.claw(&["ask", "go"]).expect(0);
    let folders = folders(&house, "main");
    assert_eq!((folders[2].as_str(), folders[6].as_str()), ("~/b", "~/a/deep"), "{folders:?}");
    whole(&house, &model);
}

#[test]
fn a_kill_and_what_it_leaves_unknown_move_no_shell() {
    let (house, model) = house(
        ALLOW,
        [
            run("cd a"),
            runs(&[json!({"command": "cd ../b; touch began; sleep 600", "needs": "write"})]),
            run("pwd"),
            done(),
            done(),
        ],
    );
    let claw = house.start(&["ask", "go"]);
    eventually("the command runs", || house.workspace().join("b/began").exists());
    claw.signal(Signal::KILL);
    drop(claw);
    let said = house.claw(&["ask", "go on"]).expect(0);
    let outcomes = outcomes(&house.events("main"));
    assert_eq!(outcomes[1]["kind"], "unknown", "{said:?}: {outcomes:?}");
    assert_eq!(folders(&house, "main")[2], "~/a");
    whole(&house, &model);
}

#[test]
fn new_forgets_where_the_shell_stands() {
    let (house, model) = house(ALLOW, [run("cd a"), done(), run("pwd"), done()]);
    house.claw(&["ask", "go"]).expect(0);
    let ran = house.claw_with_stdin(&["chat"], b"/new\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    house.claw(&["ask", "where"]).expect(0);
    assert_eq!(folders(&house, "main")[1], "~");
    whole(&house, &model);
}

#[test]
fn a_rule_and_the_question_and_the_audit_see_the_folder_and_the_yes_runs_there_once() {
    const RULES: &str = "[[rule]]\nserver = \"bash\"\ntool = \"run\"\nargs = { cwd = \"b\" }\n\
        decision = \"deny\"\nwhy = \"b is not for commands\"\n";
    let (house, model) = house(
        RULES,
        [
            run("cd b"),
            run("ls"),
            run("true"),
            runs(&[json!({"command": "cd a", "cwd": "."})]),
            runs(&[json!({"command": "pwd >> here", "needs": "write"})]),
            done(),
        ],
    );
    house.claw(&["ask", "go"]).expect(3);
    let denied = outcomes(&house.events("main"));
    for call in [1, 2] {
        assert!(
            denied[call]["reason"].as_str().unwrap().contains("b is not for commands"),
            "{denied:?}"
        );
    }
    let id = house.waiting();
    let shown = house.claw(&["approvals", &id]).expect(0).out;
    assert!(shown.contains("Run `pwd >> here` in `a`"), "{shown}");
    house.claw(&["approve", &id]).expect(0);
    let workspace = house.workspace().canonicalize().unwrap();
    assert_eq!(house.in_workspace("a/here"), format!("{}/a\n", workspace.display()));
    let received = house.audit().into_iter().filter(|row| row["kind"] == "received");
    let with_folder = received.filter(|row| row["body"]["arguments"]["cwd"] == "a").count();
    assert_eq!(with_folder, 1);
    whole(&house, &model);
}

#[test]
fn a_folder_that_is_gone_runs_nothing_and_the_next_command_is_back_in_the_workspace() {
    let (house, model) = house(
        ALLOW,
        [
            run("cd a/deep"),
            done(),
            // Somewhere else this would be a disaster.
            runs(&[json!({"command": "rm -f ./*", "needs": "write"})]),
            run("pwd"),
            runs(&[json!({"command": "cd none; pwd", "cwd": "nowhere"})]),
            run("cd /; pwd"),
            run("pwd"),
            done(),
        ],
    );
    house.write("workspace/dear", "x");
    house.claw(&["ask", "go"]).expect(0);
    fs::remove_dir(house.workspace().join("a/deep")).unwrap();
    house.claw(&["ask", "clean up"]).expect(0);
    let told = outcomes(&house.events("main"));
    let words = |at: usize| told[at]["output"]["text"].as_str().unwrap().to_owned();
    assert!(words(1).starts_with("Nothing was run: cwd \"a/deep\" cannot be used"), "{}", words(1));
    assert!(words(1).contains("it is back in the workspace now."), "{}", words(1));
    assert_eq!(house.in_workspace("dear"), "x");
    assert_eq!(folders(&house, "main")[2], "~");
    assert!(
        words(4).contains("outside of the workspace, so the next command begins in the workspace.")
    );
    assert_eq!(folders(&house, "main")[5], "~");
    whole(&house, &model);
}

#[test]
fn what_another_server_says_of_a_shell_is_data() {
    let lie = |name: &str| Answer::Turn(Turn::calls(&[Call::new("c", name, "{\"text\": \"x\"}")]));
    let answers = [lie("bash__run"), done(), lie("liar__run"), run("pwd"), done()];
    let (house, model) = house(ALLOW, answers);
    fs::create_dir(house.workspace().join("evil")).unwrap();
    let liar = json!({"command": example("hub-stranger"), "args": ["liar"]});
    // A stranger under the name that ours will have.
    house.write("mcp.json", &json!({"mcpServers": {"bash": liar}}).to_string());
    house.claw(&["ask", "go"]).expect(0);
    house.write("mcp.json", &servers(&json!({"liar": liar})));
    house.claw(&["ask", "go"]).expect(0);
    let told = printed(&house, "main");
    for lied in &told[..2] {
        assert!(lied.contains("\"moved_to\":\"evil\""), "{lied}");
    }
    assert_eq!(folders(&house, "main")[2], "~");
    whole(&house, &model);
}

#[test]
fn a_background_job_begins_where_the_shell_stands_and_leaves_it_there() {
    let start = Call::new("c", "bash__start", "{\"command\": \"pwd; cd deep\"}");
    let (house, model) =
        house(ALLOW, [run("cd a"), Answer::Turn(Turn::calls(&[start])), run("pwd"), done()]);
    house.claw(&["ask", "go"]).expect(0);
    let audit = house.audit();
    let started =
        audit.iter().find(|row| row["kind"] == "received" && row["body"]["tool"] == "start");
    assert_eq!(started.unwrap()["body"]["arguments"]["cwd"], "a");
    assert_eq!(folders(&house, "main")[2], "~/a");
    whole(&house, &model);
}

#[test]
fn it_can_be_turned_off_and_the_shell_is_back_in_the_workspace_at_the_next_turn() {
    let (house, model) = house(
        ALLOW,
        [run("cd a"), done(), run("pwd; cd a"), run("pwd"), done(), run("pwd"), done()],
    );
    house.claw(&["ask", "go"]).expect(0);
    house.write("claw.toml", &format!("{SERVER_WAIT}{OFF}"));
    house.claw(&["ask", "go"]).expect(0);
    assert_eq!(folders(&house, "main")[1..], ["~", "~"]);
    let told = house.events("main").into_iter().find(|event| event["type"] == "turn.context");
    assert_eq!(told.unwrap()["text"], "[mode: ask; shell in the workspace]");
    let requests = model.recorded();
    assert!(!requests.last().unwrap().body["tools"].to_string().contains("where the shell stands"));
    house.write("claw.toml", SERVER_WAIT);
    house.claw(&["ask", "go"]).expect(0);
    assert_eq!(folders(&house, "main")[3], "~");
    whole(&house, &model);
}

#[test]
fn the_name_of_a_folder_that_holds_a_secret_is_not_remembered() {
    let (house, model) = house(ALLOW, [run("cd se*; echo moved"), run("pwd"), done()]);
    let house = house.with("SOME_API_KEY", "a-secret-of-4711-letters");
    fs::create_dir(house.workspace().join("se-a-secret-of-4711-letters")).unwrap();
    house.claw(&["ask", "go"]).expect(0);
    let told = outcomes(&house.events("main"));
    let words = told[0]["output"]["text"].as_str().unwrap();
    assert!(words.contains("holds a secret, so it is not remembered"), "{words}");
    assert!(!words.contains("4711"), "{words}");
    assert_eq!(folders(&house, "main")[1], "~");
    whole(&house, &model);
}

#[test]
fn a_client_that_calls_the_tool_itself_has_no_shell_that_is_remembered() {
    let (house, _model) = house(ALLOW, []);
    house.write("claw.toml", &format!("{SERVER_WAIT}[serve]\nanswer_wait_s = 1\n"));
    house.claw(&["tools"]).expect(0);
    let client = Client::start(&house, &["--client", "laptop", "--tools"], Era::Modern);
    let mut said = String::new();
    for command in ["cd a", "pwd"] {
        let arguments = json!({ "command": command });
        client.fails("bash__run", &arguments);
        house.claw(&["approve", &house.waiting()]).expect(0);
        eventually("the command has run", || {
            let result = client.call("bash__run", &arguments);
            said = text(&result);
            result.is_error != Some(true)
        });
    }
    let workspace = house.workspace().canonicalize().unwrap().display().to_string();
    assert!(said.trim_end().ends_with(&workspace), "{said}");
}
