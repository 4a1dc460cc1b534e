//! An MCP server over stdio with the tools of a file (`many-tools FILE`): it lists them as they
//! stand there, and says which one was called with what. Must not know claw.
#![expect(clippy::unwrap_used, reason = "a stand-in that cannot start fails its test")]
#![expect(clippy::print_stdout, reason = "stdout is the wire")]

use std::io::BufRead as _;

use serde_json::{Value, json};

fn main() {
    let file = std::env::args().nth(1).unwrap();
    let tools: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = message.get("id") else { continue };
        let answer = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"result": {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "many-tools", "version": "1"},
                "instructions": "Ask for an account before you order.",
            }}),
            "tools/list" => json!({"result": {"tools": tools}}),
            "tools/call" => {
                let (name, given) = (&message["params"]["name"], &message["params"]["arguments"]);
                let text = format!("{} ran with {given}", name.as_str().unwrap_or_default());
                json!({"result": {"content": [{"type": "text", "text": text}]}})
            }
            "ping" => json!({"result": {}}),
            _ => json!({"error": {"code": -32601, "message": "unknown method"}}),
        };
        let mut answer = answer;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id.clone();
        println!("{answer}");
    }
}
