//! `claw tools`: the servers in one line each, the tools of one, what changed since the owner
//! accepted it, and the yes. Must not know pins.

use std::collections::BTreeSet;
use std::process::ExitCode;

use claw_kit::counted::{counted, grouped};
use serde_json::{Value, json};

use super::{fail, out, patience};
use crate::app::{App, owner_principal};
use crate::catalog::TrustedBy;
use crate::domain::{ToolHints, Trust, escape, first_sentence};
use crate::hub::names::look;
use crate::hub::{INSTRUCTIONS, ServerState};
use crate::whose::claw;

/// Of a change that the server does not show when it is started anew.
const SEEN_ELSEWHERE: &str =
    "(a running claw has seen this; a fresh start of the server lists the accepted form)\n";

/// Starts every server, or the one that is named, and lists it or its tools.
pub async fn list(app: &App, only: Option<&str>, as_json: bool) -> anyhow::Result<ExitCode> {
    if let Some(only) = only {
        known(app, only)?;
    }
    let (changes, troubles) = patience::with_servers(app, app.gate.catalog().changes(only)).await?;
    if only.is_none() && !as_json {
        short(app).await?;
        return ended(app, &troubles, changes.len());
    }
    let of_server = |server: &str| only.is_none_or(|only| server == only);
    let pins: Vec<_> =
        app.gate.catalog().pinned()?.into_iter().filter(|pin| pin.tool != INSTRUCTIONS).collect();
    let servers: Vec<String> =
        app.gate.hub().servers().into_iter().map(|status| status.name).collect();
    for pin in pins.iter().filter(|pin| of_server(&pin.server)) {
        let builtin = app.gate.hub().builtin(&pin.server);
        let class = app.gate.policy().class(builtin, &pin.server, &pin.tool).as_str();
        let changed = pin.withheld;
        let raw = pin.changed.as_ref().filter(|_| changed).map_or(&pin.raw, |(_, raw)| raw);
        let hints = ToolHints::of(raw);
        let trust = app.gate.catalog().trusted(&pin.server)?.level;
        let waits = pin.changed.is_some() && !changed;
        let by_schema = app.config.tools.by_schema(&pin.server);
        let others =
            pins.iter().filter(|other| other.server == pin.server).map(|other| other.tool.as_str());
        let twin =
            look::twin(&pin.tool, others).map(|twin| format!("the name looks like `{twin}`"));
        let look = look::note(&pin.tool).or(twin).map(|note| escape::visible(&note));
        let hidden = app.gate.catalog().hides(&pin.server, &pin.tool, raw);
        let served = servers.contains(&pin.server);
        let there = served && app.gate.catalog().has(&pin.server, &pin.tool);
        let description = raw.get("description").and_then(Value::as_str).unwrap_or_default();
        let shown = if as_json {
            json!({"id": format!("{}/{}", pin.server, pin.tool), "server": pin.server, "tool": pin.tool, "class": class,
                   "read_only": hints.says_reads(), "destructive": hints.says_destroys(), "trust": trust.as_str(),
                   "changed": changed, "pinned_by": if by_schema { "schema" } else { "all" }, "look": look, "hidden": hidden, "there": there, "pin": pin.pin, "description": description})
            .to_string()
        } else {
            let first = first_sentence(description);
            let mark = match (there, changed, hidden) {
                _ if trust == Trust::Nothing => {
                    " NOT THERE for anybody: `claw mcp trust` says nothing"
                }
                (false, ..) => " NOT THERE for anybody: tools.offered in claw.toml",
                (_, true, _) => " CHANGED, withheld: see `claw tools diff`",
                (_, _, true) => " hidden: models are not offered it, a tap of yours reaches it",
                _ if waits => " a change waits, seen by another process: see `claw tools diff`",
                _ if by_schema => " pinned by its schema: its texts may change",
                _ => "",
            };
            let mark = mark.replace("`claw ", &format!("`{} ", claw(app)));
            let note = look.map(|note| format!(" NOTE: {note}")).unwrap_or_default();
            format!(
                "{:<32} {:<9} {}{mark}",
                format!("{}/{}", pin.server, pin.tool),
                class,
                out::clean(&first)
            ) + &note
        };
        out::line(&shown)?;
    }
    ended(app, &troubles, changes.len())
}

/// One line for each server.
async fn short(app: &App) -> anyhow::Result<()> {
    let catalog = app.gate.catalog();
    let sizes = catalog.sizes().await;
    let names: BTreeSet<String> = catalog.pinned()?.into_iter().map(|pin| pin.server).collect();
    let configured: Vec<String> =
        app.gate.hub().servers().into_iter().map(|status| status.name).collect();
    for name in configured.iter().chain(names.iter().filter(|name| !configured.contains(name))) {
        let Some(summary) = catalog.summary(name)? else {
            out::line(&format!("{}: not listed", escape::visible(name)))?;
            continue;
        };
        let trusted = catalog.trusted(name)?;
        let trust = match (configured.contains(name), &trusted.by) {
            (false, _) => "not in mcp.json".to_owned(),
            (true, TrustedBy::Itself) => "claw's own".to_owned(),
            (true, _) => format!("trust: {}", trusted.level.as_str()),
        };
        let tokens = grouped(sizes.get(name).map_or(0, |size| size.tokens));
        out::line(&format!(
            "{}: {}, {} read, {} destroy; {trust}; {tokens} tokens",
            escape::visible(name),
            counted(summary.tools, "tool"),
            summary.read,
            summary.destroy
        ))?;
    }
    out::err_line(&format!("`{} tools NAME` lists the tools of one.", claw(app)));
    Ok(())
}

/// What is said behind a list, and its exit code.
fn ended(app: &App, troubles: &[String], changes: usize) -> anyhow::Result<ExitCode> {
    for status in app.gate.hub().servers() {
        if let ServerState::Failed { reason, .. } = status.state {
            out::err_line(&format!(
                "{}: {}",
                status.name,
                out::clean(&app.gate.redactor().redact(&reason))
            ));
        }
    }
    for trouble in troubles {
        out::err_line(&out::clean(trouble));
    }
    if changes > 0 {
        out::err_line(&format!(
            "{} changed; `{} tools diff` shows how.",
            counted(changes, "tool"),
            claw(app)
        ));
    }
    let broken = !troubles.is_empty() || changes > 0;
    Ok(ExitCode::from(if broken { fail::BROKEN } else { fail::DONE }))
}

fn known(app: &App, server: &str) -> anyhow::Result<()> {
    let servers = app.gate.hub().servers();
    if servers.iter().any(|status| status.name == server) {
        return Ok(());
    }
    let names = servers.into_iter().map(|status| status.name).collect::<Vec<_>>().join(", ");
    Err(fail::UserError::because(format!("mcp.json has no server `{server}`; it has {names}")))
}

/// Shows what changed since the owner accepted it.
pub async fn diff(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let (changes, troubles) = patience::with_servers(app, app.gate.catalog().changes(None)).await?;
    for change in &changes {
        let id = format!("{}/{}", change.server, change.tool);
        out::line(&if as_json {
            json!({"id": id, "diff": change.diff, "pin": change.new_pin}).to_string()
        } else {
            let seen = if change.withheld { "" } else { SEEN_ELSEWHERE };
            format!(
                "{}\n{seen}{}\nTake it with: claw tools accept {id}\n",
                change.name(),
                change.diff.trim_end()
            )
        })?;
    }
    app.gate.catalog().shown(&changes).await?;
    for trouble in &troubles {
        out::err_line(&out::clean(trouble));
    }
    if changes.is_empty() && !as_json {
        out::err_line("No tool has changed.");
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Takes the change of a server, or of one tool.
pub async fn accept(app: &App, what: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    for change in app.gate.catalog().accept(what, &owner_principal()).await? {
        let id = format!("{}/{}", change.server, change.tool);
        let object = json!({"id": id, "accepted": change.new_pin});
        out::done(as_json, &object, &format!("Accepted: {}", change.name()))?;
    }
    Ok(ExitCode::from(fail::DONE))
}
