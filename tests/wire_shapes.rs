//! The whole program with all of its tools at strict wires: a default install is refused by none,
//! and neither are the servers that people really use. The second needs those installed
//! (`.ci/wire-shapes.sh`).

use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::Value;

const AGENTS: [(&str, Wire); 3] =
    [("openai-compatible", Wire::OpenAi), ("claude", Wire::Anthropic), ("gemini", Wire::Gemini)];

/// How many tools the request had.
fn tools_in(body: &Value) -> usize {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let count =
        |tool: &Value| tool.get("functionDeclarations").map_or(1, |declared| list(declared).len());
    list(&body["tools"]).iter().map(count).sum()
}

#[test]
fn a_default_install_is_refused_by_no_wire() {
    for (agent, wire) in AGENTS {
        let model = Threaded::start(wire, [Answer::text("Here I am.")]);
        let house = House::at(agent, &model.base_url);
        let ran = house.claw(&["ask", "are you there?"]);
        assert_eq!(model.faults(), [""; 0], "{wire:?}");
        assert!(ran.expect(0).out.contains("Here I am."));
        assert!(
            tools_in(&model.recorded()[0].body) >= 10,
            "{wire:?}: {}",
            model.recorded()[0].body
        );
        house.is_whole();
    }
}

/// `CLAW_WIRE_SHAPES` is an `mcp.json` with servers of others, and `CLAW_WIRE_SHAPES_PATH` where
/// their programs are.
#[test]
#[ignore = "needs servers of others: .ci/wire-shapes.sh"]
fn the_definitions_of_real_servers_are_refused_by_no_wire() {
    let manifest = std::env::var("CLAW_WIRE_SHAPES").expect("an mcp.json");
    let path = std::env::var("CLAW_WIRE_SHAPES_PATH").expect("a PATH");
    let text = std::fs::read_to_string(manifest).unwrap();
    let servers =
        serde_json::from_str::<Value>(&text).unwrap()["mcpServers"].as_object().unwrap().len();
    for (agent, wire) in AGENTS {
        let model = Threaded::start(wire, [Answer::text("Here I am.")]);
        let house = House::at(agent, &model.base_url).with("PATH", &path);
        house.write("mcp.json", &text);
        // All of them, whatever a request holds otherwise.
        house.write("claw.toml", "[model]\ntool_search = \"off\"\n");
        // Pins are taken here, so that no request waits for a server.
        let listed = house.claw(&["tools", "--json"]).expect(0).rows();
        let up: std::collections::BTreeSet<&str> =
            listed.iter().filter_map(|row| row["server"].as_str()).collect();
        assert_eq!(up.len(), servers, "not all servers listed their tools: {up:?}");
        let ran = house.claw(&["ask", "are you there?"]);
        assert_eq!(model.faults(), [""; 0], "{wire:?}");
        assert!(ran.expect(0).out.contains("Here I am."), "{wire:?}");
        let body = &model.recorded()[0].body;
        let sent = tools_in(body);
        // Some of these servers have resources, which one tool of claw's own reads.
        let of_claw = usize::from(body.to_string().contains(r#""name":"resources""#));
        let all = listed.len() + of_claw;
        let most = if wire == Wire::OpenAi { all.min(128) } else { all };
        assert_eq!(sent, most, "{wire:?}");
        println!("{wire:?}: {sent} of {} tools of {servers} servers, 0 refusals", listed.len());
    }
}

/// What is asked on a day, and looked for. Each needs another server.
const DAY: [&str; 10] = [
    "open an issue in the repository",
    "take a screenshot of the page",
    "what time is it in Tokyo",
    "list the merge requests of the project",
    "post a message to the channel",
    "how far is it by car",
    "search the web for the news",
    "create a page in the workspace",
    "show the last commits",
    "remember that Ann likes tea",
];

/// Definitions of real servers in the requests of a day, with the search for tools and without.
#[test]
#[ignore = "needs servers of others: .ci/wire-shapes.sh"]
fn a_first_request_with_real_servers_holds_at_most_8000_tokens_of_definitions() {
    let manifest = std::env::var("CLAW_WIRE_SHAPES").expect("an mcp.json");
    let path = std::env::var("CLAW_WIRE_SHAPES_PATH").expect("a PATH");
    let searched = |text: &str| {
        let query = serde_json::json!({ "query": text }).to_string();
        [
            Answer::Turn(Turn::calls(&[Call::new("c", "tool_search", &query)])),
            Answer::text("There it is."),
        ]
    };
    let model = Threaded::start(Wire::Anthropic, DAY.iter().flat_map(|text| searched(text)));
    let house = House::at("claude", &model.base_url).with("PATH", &path);
    house.write("mcp.json", &std::fs::read_to_string(manifest).unwrap());
    house.write("claw.toml", "[model]\ntool_search = \"model\"\n");
    house.claw(&["tools", "--json"]).expect(0);
    for text in DAY {
        house.claw(&["ask", text]).expect(0);
    }
    assert_eq!(model.faults(), [""; 0]);
    let tokens = |body: &Value| body["tools"].to_string().len() as u64 / 4;
    let bodies: Vec<Value> = model.recorded().into_iter().map(|one| one.body).collect();
    let events = house.events("main");
    let packed = events.iter().find(|event| event["type"] == "prompt.packed").unwrap();
    let all = packed["account"]["tools_known"]["tokens"].as_u64().unwrap();
    let sum: u64 = bodies.iter().map(tokens).sum();
    println!(
        "{} tools: {} of {all} tokens of definitions in the first request, {sum} of {} in {} requests",
        packed["account"]["tools_known"]["count"],
        tokens(&bodies[0]),
        all * bodies.len() as u64,
        bodies.len()
    );
    assert!(tokens(&bodies[0]) <= 8_000, "{}", tokens(&bodies[0]));
}
