//! `claw doctor`: looks at everything that claw stands on, and says what is wrong and what to do. Must not change anything
//! but what every start makes.

use std::process::ExitCode;

use serde_json::json;

use super::{fail, out};
use crate::app::App;
use crate::config::{Config, Overrides};
use crate::hub::ServerState;

/// One finding.
struct Finding {
    id: String,
    ok: bool,
    text: String,
}

#[derive(Default)]
struct Report {
    findings: Vec<Finding>,
}

impl Report {
    fn good(&mut self, id: impl Into<String>, text: impl Into<String>) {
        self.findings.push(Finding { id: id.into(), ok: true, text: text.into() });
    }

    fn bad(&mut self, id: impl Into<String>, text: impl Into<String>) {
        self.findings.push(Finding { id: id.into(), ok: false, text: text.into() });
    }
}

pub async fn run(overrides: Overrides, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    look(overrides, &mut report).await;
    for finding in &report.findings {
        let shown = if as_json {
            json!({"id": finding.id, "ok": finding.ok, "text": finding.text}).to_string()
        } else {
            format!("{} {:<18} {}", if finding.ok { "ok " } else { "BAD" }, finding.id, out::clean(&finding.text))
        };
        if !out::line(&shown) {
            break;
        }
    }
    let well = report.findings.iter().all(|finding| finding.ok);
    Ok(ExitCode::from(if well { fail::DONE } else { fail::BROKEN }))
}

async fn look(overrides: Overrides, report: &mut Report) {
    confinement(report);
    let config = match Config::load(overrides) {
        Ok(config) => config,
        Err(error) => return report.bad("config", error.to_string()),
    };
    report.good("home", config.home.path().display().to_string());
    for notice in &config.notices {
        report.good("repaired", notice);
    }
    report.good("work", format!("the tools work in {}", config.workspace.display()));
    let app = match App::open(config) {
        Ok(app) => app,
        Err(error) => return report.bad("start", format!("{error:#}")),
    };
    report.good("policy", format!("{} rules of yours", app.gate.policy().rules_count()));
    for warning in &app.warnings {
        report.bad("mcp.json", warning);
    }
    store(&app, report);
    match app.model().await {
        Ok(chosen) => chosen.whys.iter().for_each(|why| report.good("model", why)),
        Err(error) => report.bad("model", format!("{error:#}")),
    }
    servers(&app, report).await;
    app.close().await;
}

fn confinement(report: &mut Report) {
    let level = claw_mcp_bash::probe();
    if level.keeps_files() { report.good("box", level.to_string()) } else { report.bad("box", level.to_string()) }
}

fn store(app: &App, report: &mut Report) {
    match app.store.read(|tx| tx.quick_check()) {
        Ok(None) => report.good("store", app.store.path().display().to_string()),
        Ok(Some(fault)) => {
            report.bad("store", format!("{} is damaged: {fault}; restore a backup", app.store.path().display()))
        }
        Err(error) => report.bad("store", error.to_string()),
    }
    match app.store.read(|tx| tx.verify_audit()) {
        Ok(Ok(rows)) => report.good("audit", format!("{rows} rows, each bound to the one before")),
        Ok(Err(broken)) => report.bad("audit", broken.what),
        Err(error) => report.bad("audit", error.to_string()),
    }
    match app.store.read(|tx| tx.panic()) {
        Ok(None) => {}
        Ok(Some(by)) => report.bad("panic", format!("the stop switch is on ({by}); `claw panic off` releases it")),
        Err(error) => report.bad("panic", error.to_string()),
    }
}

async fn servers(app: &App, report: &mut Report) {
    match app.gate.changes().await {
        Ok((changes, _)) => {
            for change in changes {
                report.bad(
                    format!("tool:{}/{}", change.server, change.tool),
                    format!("{}/{} changed and is withheld; see `claw tools diff`", change.server, change.tool),
                );
            }
        }
        Err(error) => report.bad("tools", error.to_string()),
    }
    for server in app.gate.hub().servers() {
        match server.state {
            _ if server.disabled => {
                report.good(format!("server:{}", server.name), format!("{} is disabled in mcp.json", server.name))
            }
            ServerState::Up { protocol, tool_count, .. } => {
                let tools = tool_count.unwrap_or_default();
                report
                    .good(format!("server:{}", server.name), format!("{}: {tools} tools, MCP {protocol}", server.name));
            }
            ServerState::Failed { reason, .. } => {
                report.bad(format!("server:{}", server.name), format!("{}: {reason}", server.name))
            }
            ServerState::Idle | ServerState::Starting => {
                report.bad(format!("server:{}", server.name), format!("{} did not start", server.name))
            }
        }
    }
}
