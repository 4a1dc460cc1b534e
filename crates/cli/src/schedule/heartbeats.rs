//! Heartbeats in `claw schedule list`: beside the jobs, and no jobs themselves. Must not
//! know when one fires.

use serde_json::json;

use crate::app::App;
use crate::heartbeats::HeartbeatShown;
use crate::out;

/// Writes them, and says how many there are.
pub fn list(app: &App, as_json: bool) -> anyhow::Result<usize> {
    if let Some(fault) = &app.heartbeats_fault {
        out::err_line(&out::clean(fault));
    }
    let all = app.heartbeats_shown()?;
    for one in &all {
        out::line(&if as_json { as_row(one) } else { out::clean(&lines(one)) })?;
    }
    Ok(all.len())
}

fn as_row(one: &HeartbeatShown) -> String {
    let row = json!({
        "id": format!("heartbeat:{}", one.name), "heartbeat": one.name, "prompt": one.prompt, "when": one.when, "next": one.next,
        "zone": one.zone, "requests_left": one.requests_left, "tokens_left": one.tokens_left,
        "fault": one.fault,
    });
    row.to_string()
}

/// What it is, when it comes, and what is left of its day.
fn lines(one: &HeartbeatShown) -> String {
    let mut text = format!(
        "heartbeat {}: {}\n   {}, {}\n   {}",
        one.name,
        one.prompt,
        one.next_in_zone(),
        one.when,
        one.left()
    );
    if let Some(fault) = &one.fault {
        text.push_str(&format!("\n   it does not work: {fault}"));
    }
    text
}
