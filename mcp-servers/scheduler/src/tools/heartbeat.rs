//! `propose_heartbeat`, which asks the owner to change one heartbeat of the host, and
//! `put_heartbeat`, which their yes calls. Only a host that has given its file has them. Must not
//! know how an entry is written.

use std::sync::Arc;

use rmcp::model::{ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{About, Effect, SharedSchedule, ToolDef};
use crate::error::{Result, ToolError};
use crate::heartbeats::{EntryChange, Heartbeats};

/// How long a proposal can be answered, in seconds: a week.
const OPEN_S: u64 = 7 * 24 * 3_600;

pub fn tools(heartbeats: Heartbeats) -> [ToolDef; 2] {
    let heartbeats = Arc::new(heartbeats);
    let of_put = Arc::clone(&heartbeats);
    let propose = About {
        name: "propose_heartbeat",
        title: "Propose a heartbeat",
        description: "Proposes to add, change or remove one heartbeat: a time at which you wake up by yourself with a prompt. Nothing changes before the owner's yes. \
            Fields that are left out stay as they are. A single reminder or task is made with `schedule`.",
        effect: Effect::Changes { destructive: false, idempotent: true },
    };
    let put = About {
        name: "put_heartbeat",
        title: "Change a heartbeat",
        description: "Writes a heartbeat as it was shown to the owner. Called by the owner's yes.",
        effect: Effect::Changes { destructive: true, idempotent: true },
    };
    [
        propose.tool(move |shared: &SharedSchedule, input| run_propose(&heartbeats, shared, input)),
        put.tool(move |_: &SharedSchedule, input| run_put(&of_put, input)).for_hosts(),
    ]
}

/// As JSON it is the fields of the entry alone.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Propose {
    /// Lower-case letters, digits, `-` and `_`.
    #[serde(skip_serializing)]
    name: String,
    /// True takes the heartbeat out; leave all other fields away then.
    #[serde(default, skip_serializing)]
    remove: bool,
    /// Times of the day: `07:30`. Give this or `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Vec<String>>,
    /// An interval from `1m` to `24h`: `30m`, `2h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every: Option<String>,
    /// `mon` to `sun`. Default: every day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    days: Option<Vec<String>>,
    /// The hours in which it may come: `08:00-22:00`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    active: Option<String>,
    /// The time zone, as in the IANA database. Default: the owner's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    /// What you are told then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    /// Replies of models in a day. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requests_day_max: Option<u32>,
    /// Tokens in a day, in and out. Default: 200000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens_day_max: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Proposed {
    name: String,
    /// The entry would go.
    removes: bool,
}

fn run_propose(
    heartbeats: &Heartbeats,
    shared: &SharedSchedule,
    input: Propose,
) -> Result<claw_server_kit::tools::Reply<Proposed>> {
    if shared.caller.as_ref().is_some_and(|caller| caller.heard_by_others) {
        return Err(ToolError::refused(
            "not proposed: others read along here, and the question would show the heartbeat. \
             Propose it where its owner is alone.",
        ));
    }
    let fields = match serde_json::to_value(&input)? {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let Propose { name, remove, .. } = input;
    if remove != fields.is_empty() {
        return Err(ToolError::refused(
            "give the fields that are to change, or `remove` alone. Nothing was proposed.",
        ));
    }
    let change = heartbeats.draft(&name, (!remove).then_some(&fields))?;
    let does = match (&change.was, &change.entry) {
        (_, None) => "be taken out",
        (None, _) => "be added",
        _ => "be changed",
    };
    let text = format!(
        "Not changed yet: the heartbeat `{name}` would {does}, and waits for its owner's yes."
    );
    let meta = actions(&name, does, &change);
    let content = vec![ContentBlock::text(text)];
    let structured = Proposed { name, removes: remove };
    Ok(claw_server_kit::tools::Reply { content, structured, meta })
}

/// What a host that stages actions asks its owner (docs/servers.md of claw). Others ignore it. The
/// arguments hold the entry as it is and as it will be, so that what is frozen is what is shown.
fn actions(name: &str, does: &str, change: &EntryChange) -> JsonObject {
    let mut arguments = json!({ "name": name });
    for (key, text) in [("entry", &change.entry), ("was", &change.was)] {
        if let Some(text) = text {
            arguments[key] = Value::from(text.as_str());
        }
    }
    let action = json!([{
        "tool": "put_heartbeat",
        "arguments": arguments,
        "summary": format!("The heartbeat “{name}” would {does}"),
        "label": "Do it",
        "cancel_label": "Leave it",
        "ttl_s": OPEN_S,
        "group": "heartbeats",
    }]);
    JsonObject::from_iter([("claw/actions".to_owned(), action)])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Put {
    name: String,
    /// The entry as it will be; without it the heartbeat goes.
    #[serde(default)]
    entry: Option<String>,
    /// The entry as it was shown; without it there was none.
    #[serde(default)]
    was: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Done {
    name: String,
}

fn run_put(heartbeats: &Heartbeats, input: Put) -> Result<claw_server_kit::tools::Reply<Done>> {
    let Put { name, entry, was } = input;
    let change = EntryChange { was, entry };
    heartbeats.put(&name, &change)?;
    let text = match (&change.was, &change.entry) {
        (_, None) => format!("Taken out: the heartbeat {name}"),
        (None, _) => format!("Added: the heartbeat {name}"),
        _ => format!("Changed: the heartbeat {name}"),
    };
    let content = vec![ContentBlock::text(text)];
    Ok(claw_server_kit::tools::Reply {
        content,
        structured: Done { name },
        meta: JsonObject::new(),
    })
}
