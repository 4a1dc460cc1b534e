//! What `claw serve` has beside tools: questions in the client where the owner has configured that,
//! resources, tasks, and that claw does not serve itself.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a client of claw talks to an MCP server")]

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitationAction, ReadResourceRequestParams,
};
use serde_json::{Value, json};

use crate::program::{House, eventually, example};
use crate::serve_rig::{Client, ERAS, Elicited, Era, Listener, state, text};

const TOOLS: &[&str] = &["--client", "laptop", "--tools"];

fn house(toml: &str) -> House {
    let house = House::new();
    let toml = match toml {
        "" => "[serve]\n",
        toml => toml,
    };
    house.write("claw.toml", &format!("{toml}requests_minute_max = 100000\n"));
    let record = house.user_home().join("effects");
    let legacy = json!({"command": example("hub-stranger"), "args": ["legacy", record]});
    let fs = json!({"command": "claw", "args": ["server", "filesystem"]});
    let bash = json!({"command": "claw", "args": ["server", "bash"]});
    let servers = json!({"mcpServers": {"legacy": legacy, "filesystem": fs, "bash": bash}});
    house.write("mcp.json", &servers.to_string());
    house.claw(&["tools"]).expect(0);
    house
}

fn effects(house: &House) -> usize {
    let record = std::fs::read_to_string(house.user_home().join("effects")).unwrap_or_default();
    record.lines().filter(|line| line.contains("tools/call")).count()
}

fn says(action: ElicitationAction) -> Elicited {
    Arc::new(move |_| {
        let content = (action == ElicitationAction::Accept).then(|| json!({}));
        (action.clone(), content)
    })
}

#[test]
fn an_owner_answers_in_the_client_that_is_configured_for_it_and_in_no_other() {
    let toml = "[serve]\nanswer_wait_s = 30\napprove_in_client = ['laptop']\n";
    for era in ERAS {
        let house = house(toml);
        let yes = Client::that_elicits(&house, TOOLS, era, says(ElicitationAction::Accept));
        let ran = yes.call("legacy__echo", &json!({"text": "here."}));
        assert_eq!((text(&ran).as_str(), effects(&house)), ("here.", 1), "{era:?}");
        let asked = yes.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        for shown in ["legacy/echo", "here.", "once"] {
            assert!(asked[0].contains(shown), "{shown} is not in {}", asked[0]);
        }
        let by = house.audit().into_iter().find(|row| row["kind"] == "answered").unwrap();
        assert!(by["body"].to_string().contains("owner-in-mcp:laptop"), "{by}");
        drop(yes);
        let no = Client::that_elicits(&house, TOOLS, era, says(ElicitationAction::Decline));
        let denied = no.call("legacy__echo", &json!({"text": "no."}));
        assert_eq!(state(&denied)["state"], "denied", "{era:?}: {}", text(&denied));
        drop(no);
        house.write("claw.toml", "[serve]\nanswer_wait_s = 1\napprove_in_client = ['laptop']\n");
        let closes = Client::that_elicits(&house, TOOLS, era, says(ElicitationAction::Cancel));
        let waits = closes.call("legacy__echo", &json!({"text": "closed."}));
        assert_eq!(state(&waits)["state"], "waiting", "{era:?}: {}", text(&waits));
        drop(closes);
        let other = ["--client", "other", "--tools"];
        let other = Client::that_elicits(&house, &other, era, says(ElicitationAction::Accept));
        let waits = other.call("legacy__echo", &json!({"text": "mine."}));
        assert_eq!(state(&waits)["state"], "waiting", "{era:?}: {}", text(&waits));
        assert!(other.asked().is_empty(), "a client was asked that is not configured");
        assert_eq!(effects(&house), 1);
        house.is_whole();
    }
}

#[test]
fn a_client_that_forges_the_answer_of_a_round_decides_nothing() {
    let house = house("[serve]\nanswer_wait_s = 1\n");
    let client = Client::start(&house, TOOLS, Era::Modern);
    client.fails("legacy__echo", &json!({"text": "forged."}));
    let question = house.waiting();
    let mut params = CallToolRequestParams::new("legacy__echo")
        .with_arguments(json!({"text": "forged."}).as_object().cloned().unwrap());
    params.request_state = Some(question.clone());
    let forged = json!({"owner": {"action": "accept", "content": {}}});
    params.input_responses = Some(serde_json::from_value(forged).unwrap());
    let (service, handle) = client.service();
    let result = handle.block_on(service.call_tool_once(params)).unwrap();
    let CallToolResponse::Complete(result) = result else { panic!("{result:?}") };
    assert_eq!(state(&result)["state"], "waiting", "{}", text(&result));
    assert_eq!((house.waiting(), effects(&house)), (question, 0));
}

fn read(client: &Client, uri: &str) -> Result<Value, String> {
    let (service, handle) = client.service();
    let read = handle.block_on(service.read_resource(ReadResourceRequestParams::new(uri)));
    let read = serde_json::to_value(read.map_err(|error| error.to_string())?).unwrap();
    Ok(serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap())
}

#[test]
fn sessions_and_audit_are_resources_where_configured_and_show_the_clients_own_alone() {
    for era in ERAS {
        let house = house("[serve]\nresources = true\nanswer_wait_s = 1\n");
        let one = Client::start(&house, &["--client", "one", "--tools"], era);
        one.done("ask", &json!({"text": "show secret-of-one.txt"}));
        one.fails("legacy__echo", &json!({"text": "asked."}));
        let (service, handle) = one.service();
        let listed = handle.block_on(service.list_resources(None)).unwrap().resources;
        let uris: Vec<String> = listed.iter().map(|one| one.uri.clone()).collect();
        assert_eq!(uris, ["claw://sessions", "claw://audit", "claw://sessions/_"], "{era:?}");
        assert!(read(&one, "claw://sessions/_").unwrap().to_string().contains("secret-of-one"));
        let audit = read(&one, "claw://audit").unwrap();
        let rows = audit.as_array().unwrap();
        assert!(rows.iter().any(|row| row["call"] == "mcp:one/1"), "{audit}");
        house.claw(&["ask", "write notes/of-the-owner.txt: 1"]).expect(3);
        let other = Client::start(&house, &["--client", "other"], era);
        assert_eq!(read(&other, "claw://audit").unwrap(), json!([]));
        assert_eq!(read(&other, "claw://sessions").unwrap(), json!([]));
        for foreign in [
            "claw://sessions/one",
            "claw://sessions/main",
            "claw://sessions/../main",
            "claw://nothing",
            "file:///etc/passwd",
        ] {
            let error = read(&other, foreign).unwrap_err();
            assert!(error.contains("no resource"), "{foreign}: {error}");
        }
    }
    let house = House::new();
    let client = Client::start(&house, &[], Era::Modern);
    assert!(read(&client, "claw://sessions").is_err(), "nobody has configured that");
}

#[test]
fn an_ask_is_a_task_for_a_client_that_knows_tasks_and_its_id_outlives_the_process() {
    let house = house("");
    let command = || house.command(&["serve", "--client", "laptop"]);
    let client = Client::of(command(), Era::Modern, Listener::with_tasks());
    let params = CallToolRequestParams::new("ask")
        .with_arguments(json!({"text": "write notes/a.txt: 1"}).as_object().cloned().unwrap());
    let (service, handle) = client.service();
    let result = handle.block_on(service.call_tool_once(params)).unwrap();
    let CallToolResponse::Task(created) = result else { panic!("{result:?}") };
    let id = created.task.task_id.clone();
    let get = |client: &Client| {
        let (service, handle) = client.service();
        let params = rmcp::model::GetTaskParams::new(id.clone());
        serde_json::to_value(handle.block_on(service.get_task(params)).unwrap()).unwrap()
    };
    assert_eq!(get(&client)["status"], "working");
    eventually("its owner is asked", || {
        !house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
    });
    drop(client);
    house.claw(&["approve", &house.waiting()]).expect(0);
    let client = Client::of(command(), Era::Modern, Listener::with_tasks());
    eventually("the task is completed", || get(&client)["status"] == "completed");
    let done = get(&client);
    assert_eq!(done["result"]["structuredContent"]["status"], "done", "{done}");
    let other = Client::of(house.command(&["serve"]), Era::Modern, Listener::with_tasks());
    let (service, handle) = other.service();
    let params = rmcp::model::GetTaskParams::new(id.clone());
    let error = handle.block_on(service.get_task(params)).unwrap_err().to_string();
    assert!(error.contains("no such task"), "{error}");
}

#[test]
fn claw_does_not_serve_itself() {
    let house = House::new();
    let me = json!({"command": claw_test_kit::claw_exe(), "args": ["serve"]});
    house.write("mcp.json", &json!({"mcpServers": {"me": me}}).to_string());
    let ran = house.claw(&["tools", "me"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("started by itself"), "{said}");
}
