//! `claw mcp test`: one server, started or reached, and what it offers. Accepts nothing. Must not
//! know pins.

use std::process::ExitCode;
use std::time::Instant;

use claw_kit::counted::counted;
use serde_json::json;

use crate::app::App;
use crate::fail::{self, UserError};
use crate::hub::ServerState;
use crate::{out, patience};

pub(super) async fn run(app: &App, name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let hub = app.gate.hub();
    let servers = hub.servers();
    if !servers.iter().any(|server| server.name == name) {
        let names = servers.into_iter().map(|server| server.name).collect::<Vec<_>>().join(", ");
        let what = format!("mcp.json has no server `{name}`; it has {names}");
        return Err(UserError::because(what));
    }
    let begun = Instant::now();
    let tools = match patience::with_servers(app, hub.tools(name)).await {
        Ok(tools) => tools,
        Err(error) => {
            let error = app.gate.redactor().redact(&error.to_string()).into_owned();
            if as_json {
                out::line(&json!({"id": name, "works": false, "reason": error}).to_string())?;
            } else {
                out::err_line(&out::clean(&format!("{error}.")));
            }
            return Ok(ExitCode::from(fail::BROKEN));
        }
    };
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let protocol = hub.servers().into_iter().find(|server| server.name == name);
    let protocol = match protocol.map(|server| server.state) {
        Some(ServerState::Up { protocol, .. }) => protocol,
        _ => String::new(),
    };
    let names: Vec<&str> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    if as_json {
        let row = json!({"id": name, "works": true, "protocol": protocol, "tools": names,
            "prompts": tools.offers.prompts, "resources": tools.offers.resources,
            "took_ms": took_ms});
        out::line(&row.to_string())?;
    } else {
        let seconds = took_ms as f64 / 1000.0;
        out::line(&out::clean(&format!(
            "{name} works: {}, MCP {protocol}, {seconds:.1} s.\n{}",
            counted(names.len(), "tool"),
            names.join(", "),
        )))?;
        // That it can have some does not mean that it has one.
        let prompts = if tools.offers.prompts {
            hub.prompts(name).await.unwrap_or_default()
        } else {
            Vec::new()
        };
        if !prompts.is_empty() {
            let count = counted(prompts.len(), "prompt");
            out::line(&format!("It has {count}: `/prompts` in a chat lists them."))?;
        }
        if tools.offers.resources {
            let how = format!(
                "It says that it gives resources: `@{name}:URI` in a message attaches one."
            );
            out::line(&out::clean(&how))?;
        }
    }
    Ok(ExitCode::from(fail::DONE))
}
