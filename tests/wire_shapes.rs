//! The whole program with all of its tools at strict wires: a default install is refused by none,
//! and neither are the servers that people really use. The second needs those installed
//! (`.ci/wire-shapes.sh`).

use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
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
        // Pins are taken here, so that no request waits for a server.
        let listed = house.claw(&["tools", "--json"]).expect(0).rows();
        let up: std::collections::BTreeSet<&str> =
            listed.iter().filter_map(|row| row["server"].as_str()).collect();
        assert_eq!(up.len(), servers, "not all servers listed their tools: {up:?}");
        let ran = house.claw(&["ask", "are you there?"]);
        assert_eq!(model.faults(), [""; 0], "{wire:?}");
        assert!(ran.expect(0).out.contains("Here I am."), "{wire:?}");
        let sent = tools_in(&model.recorded()[0].body);
        let most = if wire == Wire::OpenAi { listed.len().min(128) } else { listed.len() };
        assert_eq!(sent, most, "{wire:?}");
        println!("{wire:?}: {sent} of {} tools of {servers} servers, 0 refusals", listed.len());
    }
}
