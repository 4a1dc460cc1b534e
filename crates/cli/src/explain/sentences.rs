//! One row of the audit as a sentence. Must not know which rows come before or after it in the
//! story.

use claw_kit::counted::counted;
use claw_kit::signals;
use serde_json::Value;

use super::answers::{answered, is_of_a_round};
use super::{field, plain};
use crate::domain::{DeniedBy, Mode, Trust, audit_kind, person, rule_words};
use crate::store::AuditRow;

/// What one row says. `before` are the rows of the same call that are older.
pub(super) fn sentence(row: &AuditRow, before: &[AuditRow]) -> String {
    let text = |key: &str| field(&row.body, key);
    match row.kind.as_str() {
        audit_kind::RECEIVED if row.body.get("proposed_by").is_some() => {
            "It was staged, and frozen as it is shown above.".to_owned()
        }
        audit_kind::RECEIVED => "The call came to the gate.".to_owned(),
        audit_kind::VERDICT => verdict(&row.body),
        audit_kind::ASKED if is_of_a_round(&row.body) => {
            let field = text("field");
            let of = if field.is_empty() { String::new() } else { format!(" for “{field}”") };
            format!("Its server asked{of}; the question is {}.", text("approval"))
        }
        audit_kind::ASKED if before.is_empty() => {
            format!("The question {} was put.", text("approval"))
        }
        audit_kind::ASKED => format!(
            "The question {} was put, and the call was frozen as it is shown above.",
            text("approval")
        ),
        audit_kind::ANSWERED => answered(&row.body),
        audit_kind::STARTED => {
            let as_shown = before
                .iter()
                .rev()
                .find(|other| other.kind == audit_kind::ASKED)
                .map(|other| field(&other.body, "digest"));
            let digest: String = text("digest").chars().take(12).collect();
            match as_shown {
                Some(shown) if shown == text("digest") => {
                    format!("It was started, exactly as it was shown (digest {digest}).")
                }
                _ => format!("It was started (digest {digest})."),
            }
        }
        audit_kind::NETWORK => network(&row.body),
        audit_kind::ENDED => ended(row, before),
        audit_kind::DROPPED => format!("It never came to the gate: {}.", text("reason")),
        _ => outside_of_calls(row),
    }
}

/// A row that belongs to no call: the stop switch, pins, the store itself.
pub(crate) fn outside_of_calls(row: &AuditRow) -> String {
    let text = |key: &str| field(&row.body, key);
    match row.kind.as_str() {
        "panic.on" => {
            format!("{} turned the stop switch on: from then on no call ran.", who(&text("by")))
        }
        "panic.off" => format!("{} released the stop switch.", who(&text("by"))),
        audit_kind::UNDO_STARTED | audit_kind::UNDO_ENDED => undone(row),
        "revoked" => format!("{} took the grant {} back.", who(&text("by")), text("grant")),
        "mode" => mode_set(&row.body),
        audit_kind::OPENED | audit_kind::CLOSED => opening_changed(row),
        "trust" => trust_chosen(&row.body),
        audit_kind::PINNED | audit_kind::QUARANTINED | audit_kind::ACCEPTED => of_a_pin(row),
        "restored" => format!("This home was made from a backup of {}.", text("backup")),
        kind if kind.starts_with("anchor.") => sealed(row),
        "put_aside" => format!(
            "{} had the doctor put {} aside: {}.",
            who(&text("by")),
            text("row"),
            text("what")
        ),
        "retention" => let_go(&row.body),
        "audit.cut" => format!(
            "The rows up to {} were older than [retention] allows, and went; the digest over them \
             is {}.",
            text("through"),
            text("hash")
        ),
        "imported" => {
            let count = text("events");
            format!(
                "{} took in the session `{}` with {count} {}.",
                who(&text("by")),
                text("session"),
                if count == "1" { "event" } else { "events" }
            )
        }
        "guest.in" => {
            format!("{} let the chat {} ({}) in.", who(&text("by")), text("chat"), text("name"))
        }
        "guest.out" => format!("{} sent the chat {} away.", who(&text("by")), text("chat")),
        other => format!("{other}: {}", plain(&row.body)),
    }
}

/// Files of artifacts, or what turns had changed.
fn let_go(body: &Value) -> String {
    let bytes = field(body, "bytes");
    let were = |count: u64| if count == 1 { "was" } else { "were" };
    if let Some(count) = body.get("undo").and_then(Value::as_u64) {
        return format!(
            "{} of what turns had changed ({bytes} bytes) {} older or more than [retention] \
             allows, and went: that can no longer be undone.",
            counted(count, "record"),
            were(count)
        );
    }
    let count = body.get("artifacts").and_then(Value::as_u64).unwrap_or_default();
    let (artifacts, were) = (counted(count, "artifact"), were(count));
    format!("{artifacts} ({bytes} bytes) {were} older than [retention] allows, and went.")
}

/// A tool, or a server's words, as they were pinned, have changed, or were accepted.
fn of_a_pin(row: &AuditRow) -> String {
    let text = |key: &str| field(&row.body, key);
    let (server, tool) = (text("server"), text("tool"));
    match row.kind.as_str() {
        audit_kind::PINNED if tool.is_empty() => format!(
            "What the server {server} says about itself was seen for the first time, and was \
             pinned."
        ),
        audit_kind::PINNED => format!(
            "The tool {server}/{tool} was seen for the first time, and its description was pinned."
        ),
        audit_kind::QUARANTINED => {
            format!("The tool {server}/{tool} had changed, and was withheld until it was accepted.")
        }
        _ => format!("{} accepted the change of the tool {server}/{tool}.", who(&text("by"))),
    }
}

/// The files of a turn that were put back, or the undo of it that was taken back.
fn undone(row: &AuditRow) -> String {
    let text = |key: &str| field(&row.body, key);
    let (by, turn) = (who(&text("by")), text("turn"));
    let is_redo = row.body.get("redo") == Some(&Value::Bool(true));
    if row.kind == audit_kind::UNDO_ENDED {
        let cut = if row.body.get("cut").is_some() { ", after it was cut" } else { "" };
        let (changed, kept) = (text("changed"), text("kept"));
        let done = if is_redo {
            "took back the undo of the turn"
        } else {
            "put back the files of the turn"
        };
        return format!("{by} {done} {turn}{cut}: {changed} changed, {kept} left as they are.");
    }
    let what =
        if is_redo { "take back the undo of the turn" } else { "put back the files of the turn" };
    format!("{by} began to {what} {turn}, in {}.", text("workspace"))
}

/// What `claw open` and `claw close` did.
fn opening_changed(row: &AuditRow) -> String {
    let text = |key: &str| field(&row.body, key);
    let (by, opening) = (who(&text("by")), text("opening"));
    if row.kind == audit_kind::CLOSED {
        return format!("{by} closed {opening} to commands.");
    }
    let grant = text("grant");
    format!("{by} opened {opening} to commands that ask for it, by grant {grant}.")
}

/// A mode that a session was given, or that it has no more.
fn mode_set(body: &Value) -> String {
    let text = |key: &str| field(body, key);
    if body.get("command").is_some() {
        let (by, session) = (who(&text("by")), text("session"));
        return format!("{by} gave one command in the session {session} a mode: {}.", text("says"));
    }
    if text("mode") == Mode::Ask.as_str() {
        return format!("{} ended the mode of the session {}.", who(&text("by")), text("session"));
    }
    format!(
        "{} gave the session {} a mode, grant {}: {}.",
        who(&text("by")),
        text("session"),
        text("grant"),
        text("says")
    )
}

/// What is said of the seal that proves the audit.
fn sealed(row: &AuditRow) -> String {
    let text = |key: &str| field(&row.body, key);
    match row.kind.as_str() {
        "anchor.begun" => format!(
            "From here on rows are sealed with the key {}; those up to {} were there before.",
            text("key"),
            text("through")
        ),
        "anchor.adopted" => {
            format!(
                "The rows {} to {} were written by processes without the key.",
                text("from"),
                text("through")
            )
        }
        "anchor.accepted" => format!(
            "{} took the audit as it was, and it is sealed with the key {} from here on. It ended \
             with {}; noted outside was: {}.",
            who(&text("by")),
            text("key"),
            text("head"),
            text("noted")
        ),
        other => format!("{other}: {}", plain(&row.body)),
    }
}

/// What a command did with the network, as the proxy of the box has counted it.
fn network(body: &Value) -> String {
    let sentences =
        [("Over the network it reached", reached(body)), ("It was refused", refused(body))];
    let said = sentences.iter().filter(|(_, hosts)| !hosts.is_empty());
    said.map(|(what, hosts)| format!("{what} {}.", hosts.join(", "))).collect::<Vec<_>>().join(" ")
}

fn reached(body: &Value) -> Vec<String> {
    let hosts = hosts(body).filter(|host| host["connections"].as_u64() > Some(0));
    hosts.map(|host| format!("{} ({} bytes)", address(host), plain(&host["bytes"]))).collect()
}

fn refused(body: &Value) -> Vec<String> {
    let hosts = hosts(body).filter(|host| !host["refused"].is_null());
    hosts.map(|host| format!("{} ({})", address(host), plain(&host["refused"]))).collect()
}

fn hosts(body: &Value) -> impl Iterator<Item = &Value> {
    body["hosts"].as_array().into_iter().flatten()
}

/// A command may ask for a host of any name.
fn address(host: &Value) -> String {
    format!("{}:{}", plain(&host["host"]).escape_debug(), plain(&host["port"]))
}

/// The same in a few words, for a list.
pub(crate) fn network_briefly(body: &Value) -> String {
    let names = |what: &dyn Fn(&Value) -> bool| -> Vec<String> {
        hosts(body).filter(|host| what(host)).map(address).collect()
    };
    let reached = names(&|host| host["connections"].as_u64() > Some(0));
    let refused = names(&|host| !host["refused"].is_null());
    let parts = [("reached", reached), ("refused", refused)];
    let parts = parts.iter().filter(|(_, hosts)| !hosts.is_empty());
    parts.map(|(what, hosts)| format!("{what} {}", hosts.join(", "))).collect::<Vec<_>>().join("; ")
}

fn verdict(body: &Value) -> String {
    let (why, rule) = (field(body, "why"), field(body, "rule"));
    let why = with_people(&why);
    if let Some(by) = denied_by(body) {
        return format!("It was denied: {why} ({}).", layer(&by));
    }
    let by = by_rule(&rule);
    match field(body, "verdict").as_str() {
        "allow" => format!("It was allowed: {why} ({by})."),
        "ask" => format!("It had to be asked about: {why} ({by})."),
        _ => format!("It was denied: {why} ({by})."),
    }
}

fn trust_chosen(body: &Value) -> String {
    let says = Trust::parse(&field(body, "level")).map_or("something unknown.", Trust::says);
    format!("{} chose for the server {}: {says}", who(&field(body, "by")), field(body, "server"))
}

/// Where nobody has said anything about a tool, that is said.
fn by_rule(rule: &str) -> String {
    match rule.split_once('.') {
        Some(("class", _)) => format!("no rule of yours speaks of it; {}", rule_words(rule)),
        _ => rule_words(rule).into_owned(),
    }
}

/// A text of a row with the people in it as they are named elsewhere.
fn with_people(text: &str) -> String {
    let word = |word: &str| match word.strip_prefix("console:uid:") {
        Some(uid) if uid.parse::<u32>().is_ok() => person(word),
        _ => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The layer that denied the call. Rows of before this was kept have none.
fn denied_by(body: &Value) -> Option<DeniedBy> {
    serde_json::from_value(body.get("by")?.clone()).ok()
}

fn layer(by: &DeniedBy) -> String {
    match by {
        DeniedBy::HardDeny { rule } => format!("{}, which nothing lifts", rule_words(rule)),
        DeniedBy::Rule { rule } => rule_words(rule).into_owned(),
        DeniedBy::Class { rule } => by_rule(rule),
        DeniedBy::Never { grant } => format!("grant {grant}"),
        DeniedBy::Unasked { rule } => format!("{} wants a question", rule_words(rule)),
        DeniedBy::StopSwitch => "the stop switch".to_owned(),
        DeniedBy::Answer => "the answer to its question".to_owned(),
        DeniedBy::Expiry => "the time limit of its question".to_owned(),
        DeniedBy::Stop => "the end of its turn or of claw".to_owned(),
        DeniedBy::Limit { key } => format!("the limit {key}"),
        DeniedBy::Secrets => "the redaction of secrets".to_owned(),
        DeniedBy::Request => "the check of what the model asked for".to_owned(),
        DeniedBy::Changed => "the check that what runs is what was shown".to_owned(),
        DeniedBy::Hub => "the hub, which could not send it".to_owned(),
        DeniedBy::Failure => "a failure inside of claw".to_owned(),
    }
}

fn ended(row: &AuditRow, before: &[AuditRow]) -> String {
    let reason = field(&row.body, "reason");
    match field(&row.body, "outcome").as_str() {
        "ended" => {
            let started = before.iter().rev().find(|other| other.kind == audit_kind::STARTED);
            let took = started
                .map(|started| format!(" after {} s", seconds(row.at_ms - started.at_ms)))
                .unwrap_or_default();
            let failed = if row.body.get("is_error") == Some(&Value::Bool(true)) {
                " The tool says that it failed."
            } else {
                ""
            };
            let code = match row.body.get("exit_code").and_then(Value::as_i64) {
                Some(code) => format!(" with {} and", signals::exit_code(code)),
                None => String::new(),
            };
            let by = match row.body.get("signal").and_then(Value::as_str) {
                Some(signal) => format!(" by {signal}"),
                None => String::new(),
            };
            format!(
                "It ended{by}{took}{code} with a result of {} bytes.{failed}",
                field(&row.body, "result_bytes")
            )
        }
        "denied" => {
            // A verdict or an answer before it has said so already.
            let is_said = |row: &AuditRow| {
                row.kind == audit_kind::ANSWERED || field(&row.body, "verdict") == "deny"
            };
            match denied_by(&row.body).filter(|_| !before.iter().any(is_said)) {
                Some(by) => format!("It was not run: {reason} (denied by {}).", layer(&by)),
                None => format!("It was not run: {reason}."),
            }
        }
        _ => format!("Its end is unknown: {reason}."),
    }
}

/// A principal, for a person.
pub(super) fn who(principal: &str) -> String {
    match principal.split_once(':') {
        Some(("console", uid)) => {
            let uid = uid.trim_start_matches("uid:");
            format!("{} (user number {uid})", person(principal))
        }
        _ => person(principal),
    }
}

pub(super) fn origin_words(origin: &str) -> &str {
    match origin {
        "owner" => "the owner's own words",
        "button" => "a button that the owner tapped",
        "schedule" => "a schedule, trusted less than the owner's own words",
        "mcp_client" => "a client of claw, trusted less than the owner's own words",
        "sub_agent" => "a helper of the model, trusted less than the owner's own words",
        _ => "somebody else's words took part, so it is trusted least",
    }
}

fn seconds(ms: i64) -> String {
    format!("{}.{:03}", ms / 1000, (ms % 1000).abs())
}
