//! More tools than a request may hold, through the whole program: the requests, the log, a kill,
//! what is counted. The stand-in for a server has any number of tools; the strict stand-in for
//! OpenAI says what it was sent.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::sync::Arc;

use crate::program::{House, SERVER_WAIT, eventually, example};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

const ALLOW: &str =
    "[[rule]]\nserver = \"shop\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";
const INVOICE: &str = "shop__send_invoice";
const SEARCH: &str = r#"{"query": "send an invoice to a customer"}"#;

/// A house with claw's own filesystem server and a shop with many tools.
pub struct Shop {
    pub house: House,
    pub model: Threaded,
}

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object",
        "properties": {"to": {"type": "string", "description": "Who gets it."}}}})
}

/// So many tools that have nothing to do with one another, and two that tests look for.
fn tools(count: usize) -> Vec<Value> {
    let mut tools: Vec<Value> = (2..count)
        .map(|n| tool(&format!("gadget_{n}"), &format!("Turns the gadget number {n}.")))
        .collect();
    tools.push(tool("send_invoice", "Sends an invoice to a customer."));
    tools.push(tool("cancel_order", "Cancels an order that was not shipped."));
    tools
}

impl Shop {
    pub fn new(settings: &str, count: usize, answers: Vec<Answer>) -> Self {
        let model = Threaded::start(Wire::OpenAi, answers);
        let house = House::at("openai-compatible", &model.base_url);
        house.write("claw.toml", &format!("{SERVER_WAIT}{settings}"));
        house.write("policy.toml", ALLOW);
        house.write("tools.json", &Value::from(tools(count)).to_string());
        let file = house.home().join("tools.json");
        let shop = json!({"command": example("many-tools"), "args": [file]});
        let files = json!({"command": "claw", "args": ["server", "filesystem"]});
        let servers = json!({"mcpServers": {"shop": shop, "filesystem": files}});
        house.write("mcp.json", &servers.to_string());
        Self { house, model }
    }

    pub fn bodies(&self) -> Vec<Value> {
        assert_eq!(self.model.faults(), [""; 0]);
        self.model.recorded().into_iter().map(|recorded| recorded.body).collect()
    }

    /// The events of this kind, in the order of the log.
    pub fn events(&self, kind: &str) -> Vec<Value> {
        let events = self.house.events("main");
        events.into_iter().filter(|event| event["type"] == kind).collect()
    }
}

pub const BY_MODEL: &str = "[model]\ntool_search = \"model\"\n";

pub fn names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

pub fn of_shop(body: &Value) -> Vec<&str> {
    names(body).into_iter().filter(|name| name.starts_with("shop__")).collect()
}

/// Everything that a request holds begins with what the one before it held.
#[track_caller]
fn goes_on(before: &Value, after: &Value) {
    for key in ["tools", "messages"] {
        let text = |body: &Value| body[key].to_string();
        let (before, after) = (text(before), text(after));
        let begin = before.strip_suffix(']').unwrap();
        assert!(after.starts_with(begin), "{key}: {after}\ndoes not begin with {begin}");
    }
}

pub fn calls(name: &str, arguments: &str) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("c", name, arguments)]))
}

#[test]
fn above_the_limit_a_model_finds_a_tool_calls_it_and_each_request_begins_with_the_last() {
    let answers = vec![
        calls("tool_search", SEARCH),
        calls(INVOICE, r#"{"to": "Ann"}"#),
        Answer::text("Sent."),
        Answer::text("Yes."),
    ];
    let shop = Shop::new(BY_MODEL, 300, answers);
    let ran = shop.house.claw(&["ask", "Ann needs an invoice"]).expect(0);
    assert!(ran.out.contains("Sent."), "{ran:?}");
    shop.house.claw(&["ask", "was it sent?"]).expect(0);
    let bodies = shop.bodies();
    assert_eq!(of_shop(&bodies[0]), [""; 0], "nothing was used lately");
    assert_eq!(names(&bodies[0]).last(), Some(&"tool_search"));
    let of_search = &bodies[0]["tools"].as_array().unwrap().last().unwrap()["function"];
    assert!(of_search["description"].as_str().unwrap().contains("shop (300)"), "{of_search}");
    assert_eq!(of_shop(&bodies[1]).first(), Some(&INVOICE));
    assert!(of_shop(&bodies[1]).len() <= 8, "{:?}", of_shop(&bodies[1]));
    bodies.windows(2).for_each(|pair| goes_on(&pair[0], &pair[1]));
    assert!(bodies[0]["tools"].to_string().len() < 8_000 * 4, "more than 8,000 tokens");
    let results = shop.events("tool.result");
    let text = |at: usize| results[at]["outcome"]["output"]["text"].as_str().unwrap().to_owned();
    assert!(
        text(0).contains("`shop__send_invoice`: Sends an invoice to a customer. (to?)"),
        "{}",
        text(0)
    );
    assert!(text(0).contains("> Ask for an account before you order."), "{}", text(0));
    assert_eq!(text(1), r#"send_invoice ran with {"to":"Ann"}"#);
    let by: Vec<Value> =
        shop.events("tools.loaded").iter().map(|event| event["by"].clone()).collect();
    assert_eq!(by, ["begin", "search"]);
    let audit = shop.house.audit();
    let of_search: Vec<&str> = audit
        .iter()
        .filter(|row| {
            row["call"] == audit.iter().find(|row| row["kind"] == "received").unwrap()["call"]
        })
        .map(|row| row["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        of_search,
        ["received", "verdict", "started", "ended"],
        "it takes the gate like any other"
    );
    shop.house.is_whole();
}

#[test]
fn a_kill_between_finding_and_calling_leaves_the_same_list() {
    let held = Arc::new(Semaphore::new(0));
    let waits = Answer::Gated(Turn::text("never"), held);
    let answers = vec![
        calls("tool_search", SEARCH),
        waits,
        calls(INVOICE, "{}"),
        Answer::text("Sent."),
        Answer::text("It is."),
    ];
    let shop = Shop::new(BY_MODEL, 300, answers);
    let running = shop.house.start(&["ask", "Ann needs an invoice"]);
    eventually("the model is asked again", || shop.model.recorded().len() == 2);
    running.signal(Signal::KILL);
    drop(running);
    shop.house.claw(&["ask", "go on"]).expect(0);
    let bodies = shop.bodies();
    assert_eq!(bodies[2]["tools"].to_string(), bodies[1]["tools"].to_string());
    goes_on(&bodies[0], &bodies[2]);
    assert_eq!(shop.events("tool.result").len(), 2);
    shop.house.is_whole();
}

#[test]
fn an_exact_name_that_is_not_loaded_is_judged_and_run_as_any_other() {
    let answers = vec![calls("shop__gadget_17", r#"{"to": "me"}"#), Answer::text("Turned.")];
    let shop = Shop::new(BY_MODEL, 300, answers);
    shop.house.write("policy.toml", "");
    let id = shop.house.ask_parks("turn it");
    shop.house.claw(&["approve", &id]).expect(0);
    let results = shop.events("tool.result");
    assert_eq!(results[0]["outcome"]["output"]["text"], r#"gadget_17 ran with {"to":"me"}"#);
    assert_eq!(of_shop(&shop.bodies()[0]), [""; 0]);
}

#[test]
fn below_the_limit_nothing_changes_and_above_it_only_where_it_is_wanted() {
    let ask = |settings: &str, count: usize| {
        let shop = Shop::new(settings, count, vec![Answer::text("Hello.")]);
        shop.house.claw(&["ask", "hello"]).expect(0);
        assert_eq!(shop.events("tools.loaded").len(), 0);
        assert_eq!(shop.events("prompt.packed")[0]["account"].get("tools_known"), None);
        let body = shop.bodies().remove(0);
        let tools = body["tools"].to_string();
        assert!(!tools.contains("tool_search"));
        (tools, of_shop(&body).len())
    };
    let (below, count) = ask(BY_MODEL, 60);
    assert_eq!(count, 60);
    assert_eq!(below, ask("[model]\ntool_search = \"off\"\n", 60).0);
    assert_eq!(ask("[model]\ntool_search = \"off\"\n", 110).1, 110);
}

#[test]
fn a_small_window_is_over_sooner_and_claw_looks_for_its_model() {
    // A stand-in on this machine whose window nobody knows is a small one.
    let answers = vec![Answer::text("Which customer?"), Answer::text("Cancelled.")];
    let shop = Shop::new("[model]\nwindow_tokens = 16000\n", 60, answers);
    shop.house.claw(&["ask", "Please send an invoice to a customer"]).expect(0);
    shop.house.claw(&["ask", "And cancel the order"]).expect(0);
    let bodies = shop.bodies();
    let first = of_shop(&bodies[0]);
    assert!(first.contains(&INVOICE) && first.len() <= 5, "{first:?}");
    assert!(!names(&bodies[0]).contains(&"tool_search"));
    assert!(of_shop(&bodies[1]).contains(&"shop__cancel_order"), "{:?}", of_shop(&bodies[1]));
    goes_on(&bodies[0], &bodies[1]);
}

#[test]
fn what_was_used_lately_stands_in_the_first_request_of_the_next_conversation() {
    let answers =
        vec![calls("shop__gadget_17", "{}"), Answer::text("Done."), Answer::text("Hello.")];
    let shop = Shop::new(BY_MODEL, 300, answers);
    shop.house.claw(&["ask", "turn it"]).expect(0);
    shop.house.claw(&["ask", "--session", "other", "hello"]).expect(0);
    let bodies = shop.bodies();
    assert_eq!(of_shop(&bodies[2]), ["shop__gadget_17"]);
    let system = bodies[2]["messages"][0]["content"].to_string();
    assert!(system.contains("> Ask for an account before you order."), "{system}");
}

#[test]
fn a_list_that_has_grown_over_the_limit_begins_anew_with_what_was_found_last() {
    let search = |query: &str| calls("tool_search", &json!({ "query": query }).to_string());
    let answers = vec![
        search("gadget_2 gadget_3 gadget_4 gadget_5"),
        search("gadget_12 gadget_13 gadget_14 gadget_15"),
        search("send an invoice"),
        Answer::text("Found."),
    ];
    let mut shop = Shop::new("", 60, answers);
    let listed = shop.house.claw(&["tools", "filesystem", "--json"]).expect(0).rows().len();
    let most = listed + 7;
    let settings = format!("{SERVER_WAIT}{BY_MODEL}[tools]\nlisted_max = {most}\nfound_max = 4\n");
    shop.house.write("claw.toml", &settings);
    shop.house.claw(&["ask", "look"]).expect(0);
    let bodies = shop.bodies();
    for body in &bodies {
        assert!(names(body).len() <= most + 1, "{:?}", names(body));
    }
    goes_on(&bodies[0], &bodies[1]);
    let found_last = ["gadget_12", "gadget_13", "gadget_14", "gadget_15"];
    assert_eq!(of_shop(&bodies[2]), found_last.map(|name| format!("shop__{name}")));
    goes_on(&bodies[2], &bodies[3]);
    assert!(of_shop(&bodies[3]).contains(&INVOICE), "{:?}", of_shop(&bodies[3]));
    let by: Vec<Value> =
        shop.events("tools.loaded").iter().map(|event| event["by"].clone()).collect();
    assert_eq!(by, ["begin", "search", "search", "begin", "search"]);
    shop.model = Threaded::start(Wire::OpenAi, []);
    shop.house.is_whole();
}

/// Where the window is not known, a tenth of 200,000 tokens is.
#[test]
fn a_list_whose_definitions_have_grown_over_the_limit_begins_anew() {
    let search = |n: usize| {
        let names: Vec<String> = (n..n + 6).map(|n| format!("gadget_{n}")).collect();
        calls("tool_search", &json!({"query": names.join(" ")}).to_string())
    };
    let answers = vec![search(2), search(8), search(14), Answer::text("Found.")];
    let shop = Shop::new("[tools]\nfound_max = 6\n", 0, answers);
    let about = "Words that fill a request. ".repeat(250);
    let tools = (2..40).map(|n| tool(&format!("gadget_{n}"), &about)).collect::<Vec<_>>();
    shop.house.write("tools.json", &Value::from(tools).to_string());
    shop.house.claw(&["ask", "look"]).expect(0);
    let bodies = shop.bodies();
    assert_eq!([0, 6, 6, 6], [0, 1, 2, 3].map(|n| of_shop(&bodies[n]).len()));
    for body in &bodies {
        let bytes = body["tools"].to_string().len();
        assert!(bytes < 4 * 22_000, "{bytes}");
    }
    assert!(of_shop(&bodies[3]).contains(&"shop__gadget_14"), "{:?}", of_shop(&bodies[3]));
}

#[test]
fn definitions_are_counted_where_a_person_looks() {
    let shop = Shop::new(BY_MODEL, 300, vec![Answer::text("Hello.")]);
    shop.house.claw(&["ask", "hello"]).expect(0);
    let account = shop.events("prompt.packed")[0]["account"].clone();
    let (known, listed) = (&account["tools_known"], &account["tools"]["tokens"]);
    assert!(
        known["count"].as_u64() > Some(300) && known["tokens"].as_u64() > listed.as_u64(),
        "{account}"
    );
    let doctor = shop.house.claw(&["doctor", "--json"]).rows();
    let of_shop = doctor.iter().find(|row| row["id"] == "server:shop").unwrap()["text"].to_string();
    let counted = of_shop.split_once("shop: 300 tools, ").unwrap_or_else(|| panic!("{of_shop}")).1;
    assert!(counted.split_once(" tokens, MCP ").unwrap().0.contains(','), "{of_shop}");
}

/// A tool as some servers make them of an API: one parameter holds all that the API
/// ever gives back.
fn of_an_api() -> Value {
    let words = "Words about this field that fill the request. ".repeat(18);
    let field = |n: usize| {
        let owner = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let inner = json!({"size": {"type": "integer", "description": words}, "owner": owner});
        (format!("field_{n}"), json!({"type": "object", "properties": inner}))
    };
    let body: serde_json::Map<String, Value> = (0..100).map(field).collect();
    json!({"name": "create_folder", "description": "Creates a folder.", "inputSchema": {
    "type": "object", "required": ["drive"], "properties": {
        "drive": {"type": "string", "description": "Which drive."},
        "body": {"type": "object", "properties": body},
    }}})
}

#[test]
fn a_definition_of_thousands_of_tokens_is_short_in_requests_and_whole_for_calls() {
    const FOLDER: &str = "shop__create_folder";
    let answers = vec![
        calls(FOLDER, r#"{"drive": "a", "body": {"field_7": {"size": "large"}}}"#),
        calls(FOLDER, r#"{"drive": "a", "body": {"field_7": {"size": 3}}}"#),
        Answer::text("Made."),
    ];
    let shop = Shop::new("", 2, answers);
    let tools = Value::from(vec![of_an_api()]).to_string();
    assert!(tools.len() > 80_000, "{}", tools.len());
    shop.house.write("tools.json", &tools);
    shop.house.claw(&["ask", "make a folder"]).expect(0);
    let bodies = shop.bodies();
    let sent = bodies[0]["tools"].as_array().unwrap();
    let sent = sent.iter().find(|tool| tool["function"]["name"] == FOLDER).unwrap();
    assert!(sent.to_string().len() < 8_500, "{sent}");
    assert!(sent["function"]["description"].to_string().contains("Note by claw"), "{sent}");
    assert_eq!(
        sent["function"]["parameters"]["properties"]["drive"]["description"],
        "Which drive."
    );
    // The whole definition decides: the first call does not reach the server, the
    // second does as it is.
    let results: Vec<String> = shop.events("tool.result").iter().map(Value::to_string).collect();
    assert!(results[0].contains("large") && results[0].contains("integer"), "{results:?}");
    assert!(!results[0].contains("ran with"), "{results:?}");
    assert!(results[1].contains("create_folder ran with"), "{results:?}");
    let doctor = shop.house.claw(&["doctor", "--json"]).rows();
    let of_shop = doctor.iter().find(|row| row["id"] == "server:shop").unwrap()["text"].to_string();
    assert!(of_shop.contains("(1 is shortened for models)"), "{of_shop}");
}
