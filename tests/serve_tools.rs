//! `claw serve --tools`: the tools of claw's servers behind the gate, called by a client. A call is
//! asked about at the owner's doors, runs once, and is answered once, also when client or claw was
//! ended meanwhile.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{House, eventually, example};
use crate::serve_rig::{Client, ERAS, Era, PATIENT, revoke, state, text};
use crate::telegram_rig::Rig;

/// A client is told to ask again at once.
const IMPATIENT: &str = "[serve]\nanswer_wait_s = 1\nrequests_minute_max = 100000\n";
const TOOLS: &[&str] = &["--client", "laptop", "--tools"];

/// A server whose effects are counted, beside claw's own.
fn house(toml: &str) -> House {
    let house = House::new();
    house.write("claw.toml", toml);
    counts_effects(&house);
    house
}

fn counts_effects(house: &House) {
    let record = house.user_home().join("effects");
    let legacy = json!({"command": example("hub-stranger"), "args": ["legacy", record]});
    let fs = json!({"command": "claw", "args": ["server", "filesystem"]});
    house.write(
        "mcp.json",
        &json!({"mcpServers": {"legacy": legacy, "filesystem": fs}}).to_string(),
    );
    // Makes the home, and knows the server's tools from here on.
    house.claw(&["tools"]).expect(0);
}

/// How often the call with this text has reached the server.
fn effects(house: &House, words: &str) -> usize {
    let record = std::fs::read_to_string(house.user_home().join("effects")).unwrap_or_default();
    record.lines().filter(|line| line.contains(words)).count()
}

fn echo(words: &str) -> Value {
    json!({"text": words})
}

/// Makes the same call until it has its end.
fn until_it_ends(client: &Client, tool: &str, arguments: &Value) -> String {
    let mut said = String::new();
    eventually("the call ends", || {
        let result = client.call(tool, arguments);
        said = text(&result);
        result.is_error != Some(true)
    });
    said
}

#[test]
fn the_gated_tools_have_the_names_that_a_model_has_and_none_of_them_approves_anything() {
    let house = house("");
    for era in ERAS {
        let client = Client::start(&house, TOOLS, era);
        let names = client.tool_names();
        assert_eq!(names[..7].last().unwrap(), "events_wait");
        let gated = &names[7..];
        assert!(gated.is_sorted() && gated.contains(&"legacy__echo".to_owned()), "{gated:?}");
        assert!(gated.iter().all(|name| name.contains("__")), "{gated:?}");
        assert_eq!(client.tool_names(), names, "the order varies");
        for word in ["approve", "allow", "answer", "grant", "permit", "confirm"] {
            assert!(!names.iter().any(|name| name.contains(word)), "{names:?}");
        }
        let unknown = client.begin("legacy__ecko", &echo("x")).ends().unwrap_err().to_string();
        assert!(unknown.contains("-32602") && unknown.contains("legacy__echo"), "{unknown}");
    }
    let client = Client::start(&house, &["--client", "laptop"], Era::Modern);
    assert_eq!(client.tool_names().len(), 7, "they are offered without being asked for");
    let refused = client.begin("legacy__echo", &echo("x")).ends().unwrap_err().to_string();
    assert!(refused.contains("no tool"), "{refused}");
    assert_eq!(effects(&house, "tools/call"), 0);
}

#[test]
fn a_call_is_asked_about_and_the_same_call_after_the_yes_is_answered_once() {
    for era in ERAS {
        let house = house(IMPATIENT);
        let client = Client::start(&house, TOOLS, era);
        let waits = client.call("legacy__echo", &echo("one."));
        assert_eq!(waits.is_error, Some(true));
        assert_eq!(state(&waits)["state"], "waiting", "{}", text(&waits));
        let question = house.waiting();
        assert_eq!(state(&waits)["questions"][0]["id"], question.as_str());
        for named in [question.as_str(), "Not run yet", "exactly the same call again", "approve"] {
            assert!(text(&waits).contains(named), "{named} is not in {}", text(&waits));
        }
        // Asked again, it is the same question.
        client.fails("legacy__echo", &echo("one."));
        assert_eq!(house.waiting(), question);
        assert_eq!(effects(&house, "tools/call"), 0);
        house.claw(&["approve", &question]).expect(0);
        assert_eq!(until_it_ends(&client, "legacy__echo", &echo("one.")), "one.");
        assert_eq!(effects(&house, "tools/call"), 1);
        // It was given out once: the next one is another call.
        client.fails("legacy__echo", &echo("one."));
        assert_ne!(house.waiting(), question);
        assert_eq!(effects(&house, "tools/call"), 1);
        house.is_whole();
    }
}

#[test]
fn a_call_that_is_answered_while_the_client_waits_comes_back_at_once() {
    let house = house(PATIENT);
    let client = Client::start(&house, TOOLS, Era::Modern);
    let call = client.begin("legacy__echo", &echo("now."));
    eventually("the owner is asked", || {
        !house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
    });
    let shown = house.claw(&["approvals", &house.waiting()]).expect(0);
    assert!(shown.out.contains("MCP client “laptop” asks"), "{shown:?}");
    house.claw(&["approve", &house.waiting()]).expect(0);
    assert_eq!(text(&call.ends().unwrap()), "now.");
    assert_eq!(effects(&house, "tools/call"), 1);
    let way: Vec<_> =
        house.audit().iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect();
    for step in ["received", "asked", "answered", "started", "ended"] {
        assert!(way.iter().any(|kind| kind == step), "{step} is not in the audit: {way:?}");
    }
}

#[test]
fn a_denial_says_so_and_nothing_runs() {
    let house = house(IMPATIENT);
    let client = Client::start(&house, TOOLS, Era::Legacy);
    client.fails("legacy__echo", &echo("no."));
    house.claw(&["deny", &house.waiting(), "not", "today"]).expect(0);
    let mut denied = None;
    eventually("it is denied", || {
        let result = client.call("legacy__echo", &echo("no."));
        let is_denied = state(&result)["state"] == "denied";
        denied = is_denied.then(|| text(&result));
        is_denied
    });
    let denied = denied.unwrap();
    assert!(denied.starts_with("Not run: ") && denied.contains("not today"), "{denied}");
    assert_eq!(effects(&house, "tools/call"), 0);
}

#[test]
fn a_call_that_the_client_gives_up_keeps_its_question_and_its_answer() {
    for era in ERAS {
        let house = house(PATIENT);
        let client = Client::start(&house, TOOLS, era);
        let call = client.begin("legacy__echo", &echo("later."));
        eventually("the owner is asked", || {
            !house.claw(&["approvals", "--json"]).expect(0).rows().is_empty()
        });
        call.give_up();
        let question = house.waiting();
        house.claw(&["approve", &question]).expect(0);
        // The yes runs the frozen call, whether anybody waits for it or not.
        eventually("it runs", || effects(&house, "tools/call") == 1);
        assert_eq!(until_it_ends(&client, "legacy__echo", &echo("later.")), "later.");
        assert_eq!(effects(&house, "tools/call"), 1, "{era:?}");
        house.is_whole();
    }
}

#[test]
fn a_kill_between_the_question_and_the_yes_loses_nothing_and_runs_nothing_twice() {
    for era in ERAS {
        let house = house(IMPATIENT);
        let mut client = Client::start(&house, TOOLS, era);
        client.fails("legacy__echo", &echo("kept."));
        let question = house.waiting();
        client.signal(Signal::KILL);
        client.ended();
        drop(client);
        house.claw(&["approve", &question]).expect(0);
        assert_eq!(effects(&house, "tools/call"), 0, "nobody is there to run it");
        let client = Client::start(&house, TOOLS, era);
        assert_eq!(until_it_ends(&client, "legacy__echo", &echo("kept.")), "kept.");
        assert_eq!(effects(&house, "tools/call"), 1);
        house.is_whole();
    }
}

#[test]
fn always_is_for_this_client_alone_and_ends_with_it() {
    let house = house(IMPATIENT);
    let laptop = Client::start(&house, TOOLS, Era::Modern);
    laptop.fails("legacy__echo", &echo("often."));
    // No session waits for it: nothing is offered for one, and nothing is taken for one.
    let open = house.claw(&["approvals", "--json"]).expect(0).rows();
    let choices = open[0]["choices"].as_array().unwrap();
    assert!(choices.iter().all(|choice| choice["answer"]["term"] != "session"), "{choices:?}");
    house
        .claw(&["approve", &house.waiting(), "--for", "session"])
        .expect_mistake(&["no session waits for this call"]);
    house.claw(&["approve", &house.waiting(), "--for", "always"]).expect(0);
    until_it_ends(&laptop, "legacy__echo", &echo("often."));
    assert_eq!(text(&laptop.call("legacy__echo", &echo("often."))), "often.");
    let other = Client::start(&house, &["--client", "other", "--tools"], Era::Modern);
    let waits = other.call("legacy__echo", &echo("often."));
    assert_eq!(state(&waits)["state"], "waiting", "a grant of another client reaches it");
    let before = effects(&house, "tools/call");
    revoke(&house, "laptop");
    let refused = laptop.fails("legacy__echo", &echo("often."));
    assert!(refused.contains("was revoked"), "{refused}");
    for (tool, arguments) in [
        ("ask", json!({"text": "list"})),
        ("sessions", json!({})),
        ("session_read", json!({})),
        ("events_wait", json!({})),
    ] {
        let refused = laptop.fails(tool, &arguments);
        assert!(refused.contains("was revoked"), "{tool}: {refused}");
    }
    assert_eq!(effects(&house, "tools/call"), before);
    house.is_whole();
}

#[test]
fn a_grant_of_the_owner_and_a_mode_reach_no_client() {
    let house = house(IMPATIENT);
    let id = house.ask_parks("write notes/a.txt: 1");
    house.claw(&["approve", &id, "--for", "always", "--below", "notes"]).expect(0);
    house.claw_with_stdin(&["chat"], b"/mode edits\n").expect(0);
    // One by the grant, the other by the mode.
    for path in ["notes/b.txt", "c.txt"] {
        house.claw(&["ask", &format!("write {path}: 1")]).expect(0);
        assert_eq!(house.in_workspace(path), "1");
    }
    let client = Client::start(&house, TOOLS, Era::Legacy);
    for path in ["notes/b.txt", "c.txt"] {
        let waits =
            client.call("filesystem__write_file", &json!({"path": path, "content": "of a client"}));
        assert_eq!(state(&waits)["state"], "waiting", "{path}: {}", text(&waits));
        assert_eq!(house.in_workspace(path), "1");
    }
    house.is_whole();
}

#[test]
fn more_than_forty_tools_are_searched_described_and_called() {
    let house = House::new();
    house.write("claw.toml", IMPATIENT);
    let record = house.user_home().join("effects");
    let legacy = |name: &str| {
        (name.to_owned(), json!({"command": example("hub-stranger"), "args": ["legacy", record]}))
    };
    let names: Vec<String> = (0..30).map(|number| format!("server-{number:02}")).collect();
    let servers: serde_json::Map<String, Value> = names.iter().map(|name| legacy(name)).collect();
    house.write("mcp.json", &json!({ "mcpServers": servers }).to_string());
    let listed = house.claw(&["tools", "--json"]).expect(0).rows().len();
    assert!(listed > 40, "the test needs more tools than {listed}");
    let client = Client::start(&house, TOOLS, Era::Modern);
    let names = client.tool_names();
    assert_eq!(names[7..], ["tool_search", "tool_describe", "tool_call"]);
    let found = client.done("tool_search", &json!({"query": "echo server 17", "limit": 3}));
    assert_eq!(found["tools"][0]["name"], "server-17__echo", "{found}");
    assert_eq!(found["of"], listed);
    let described = client.done("tool_describe", &json!({"name": "server-17__echo"}));
    assert_eq!(described["name"], "server-17__echo");
    assert!(described["inputSchema"].is_object(), "{described}");
    let call = json!({"name": "server-17__echo", "arguments": {"text": "far."}});
    let waits = client.call("tool_call", &call);
    assert_eq!(state(&waits)["state"], "waiting");
    house.claw(&["approve", &house.waiting()]).expect(0);
    assert_eq!(until_it_ends(&client, "tool_call", &call), "far.");
    let said = client.fails("tool_describe", &json!({"name": "nothing"}));
    assert!(said.contains("tool_search"), "{said}");
    let said = text(&client.call("tool_search", &json!({"query": "weather"})));
    assert!(said.contains("try other words"), "{said}");
}

#[test]
fn a_flood_of_calls_is_held_with_a_sentence() {
    let house = house("[serve]\nrequests_minute_max = 5\n");
    let client = Client::start(&house, TOOLS, Era::Modern);
    for _ in 0..5 {
        client.done("sessions", &json!({}));
    }
    let refused = client.fails("sessions", &json!({}));
    assert!(refused.contains("requests_minute_max") && refused.contains("again in"), "{refused}");
}

#[test]
fn the_owner_is_asked_on_the_phone_while_a_gateway_runs_and_the_client_has_the_answer() {
    for era in ERAS {
        let rig = Rig::configured(PATIENT);
        counts_effects(&rig.house);
        let gateway = rig.start();
        let client = Client::start(&rig.house, TOOLS, era);
        let call = client.begin("legacy__echo", &echo("phone."));
        let home = rig.anna.private();
        let asked = rig.telegram.wait_for("a question on the phone", |world| {
            let mut asked =
                world.messages(home).filter(|message| message.button("Allow once").is_some());
            asked.next().cloned()
        });
        assert!(asked.text.contains("laptop"), "who asks is not named: {}", asked.text);
        rig.anna.taps(home, "Allow once");
        assert_eq!(text(&call.ends().unwrap()), "phone.");
        assert_eq!(effects(&rig.house, "tools/call"), 1);
        // The agent, too: its question comes to the same chat.
        let ask = client.done("ask", &json!({"text": "write notes/b.txt: 2"}));
        assert_eq!(ask["status"], "waiting", "{ask}");
        rig.telegram.wait_for("the second question", |world| {
            let mut asked = world.messages(home).filter(|message| message.button("Deny").is_some());
            asked.find(|message| message.text.contains("b.txt")).cloned()
        });
        rig.anna.taps(home, "Deny");
        let mut answer = json!(null);
        eventually("the denial is told", || {
            answer = client.done("ask_result", &json!({"handle": ask["handle"]}));
            answer["status"] == "done"
        });
        assert_eq!(answer["refused"][0]["tool"], "filesystem__write_file", "{answer}");
        assert!(client.closes().success());
        rig.stop(gateway);
    }
}
