//! `claw mcp list`: the servers of `mcp.json` as they stand there. Starts none. Must not know what
//! they offer.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::app::App;
use crate::domain::{command_line, inherit};
use crate::{fail, out};

pub(super) fn run(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let hub = app.gate.hub();
    let redactor = app.gate.redactor();
    for server in hub.servers() {
        let form = hub.launch_form(&server.name).unwrap_or_default();
        let transport = if form.get("url").is_some() { "http" } else { "stdio" };
        if as_json {
            let row = json!({"id": server.name, "transport": transport, "launch": form,
                "disabled": server.disabled, "own": hub.builtin(&server.name),
                "logged_in": hub.is_logged_in(&server.name)});
            out::line(&redactor.redact(&row.to_string()))?;
            continue;
        }
        let off = if server.disabled { " (disabled)" } else { "" };
        let line = format!("{:<20}  {:<5}{off}  {}", server.name, transport, shown(&form));
        out::line(&out::clean(&redactor.redact(&line)))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

fn shown(form: &Value) -> String {
    if let Some(url) = form.get("url").and_then(Value::as_str) {
        return url.to_owned();
    }
    if let Some(reason) = form.get("unusable").and_then(Value::as_str) {
        return format!("cannot be used: {reason}");
    }
    let command = form.get("command").and_then(Value::as_str).unwrap_or_default();
    let args = form.get("args").and_then(Value::as_array).into_iter().flatten();
    let words = std::iter::once(command).chain(args.filter_map(Value::as_str));
    let command = command_line(words);
    match form.get("inherit").and_then(Value::as_array) {
        Some(names) => {
            let names = names.iter().filter_map(Value::as_str);
            format!("{command}; {}", inherit::shown(names))
        }
        None => command,
    }
}
