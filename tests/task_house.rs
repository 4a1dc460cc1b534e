//! A house whose server makes tasks of calls (`task_rig`), and whose model calls its tools. Must
//! not know what is tested.

use serde_json::json;

use crate::http_rig::HttpRig;
use crate::program::{House, Running, SERVER_WAIT, eventually, outcomes};
use crate::task_rig::Garden;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

pub const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";

/// A house with the server, and a model that calls its tool once and then says `done`.
pub fn house(server: &HttpRig, tool: &str) -> (House, Threaded) {
    house_of(server, &[tool])
}

/// The same with a model that calls these tools side by side.
pub fn house_of(server: &HttpRig, tools: &[&str]) -> (House, Threaded) {
    let call = |tool: &&str| Call::new(tool, &format!("garden__{tool}"), r#"{"to": "Rome"}"#);
    let calls: Vec<Call> = tools.iter().map(call).collect();
    // More than it needs: a turn that is stopped is followed by the next message.
    let answers = [Answer::Turn(Turn::calls(&calls)), Answer::text("done"), Answer::text("done")];
    let provider = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &provider.base_url);
    house.write("claw.toml", &format!("{SERVER_WAIT}deaths_of_turn_max = 9\n"));
    house.write("policy.toml", ALLOW);
    let entry = json!({"url": server.url(), "timeout": 600_000});
    house.write("mcp.json", &json!({"mcpServers": {"garden": entry}}).to_string());
    (house, provider)
}

/// A call whose task is looked at.
pub fn followed(house: &House, garden: &Garden) -> Running {
    let asking = house.start(&["ask", "dig"]);
    eventually("it is looked at", || !garden.noted("look ").is_empty());
    asking
}

/// The one result in the log.
#[track_caller]
pub fn result(house: &House) -> String {
    let results = outcomes(&house.events("main"));
    assert_eq!(results.len(), 1, "{results:?}");
    results[0].to_string()
}
