//! `claw mcp trust`: what a server says about itself, and how far its owner trusts it. Must not
//! know where that is kept.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::super::args::TrustArg;
use crate::app::{App, owner_principal};
use crate::catalog::{Summary, TrustError, Trusted, TrustedBy};
use crate::domain::{Trust, command_line, escape};
use crate::doors::clock::Clock;
use crate::fail::{self, UserError};
use crate::whose::claw;
use crate::{out, patience};

pub(super) async fn run(
    app: &App,
    name: &str,
    level: Option<TrustArg>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let catalog = app.gate.catalog();
    if !app.gate.hub().servers().iter().any(|server| server.name == name) {
        let names = app.gate.hub().servers().into_iter().map(|server| server.name);
        let names = names.collect::<Vec<_>>().join(", ");
        let what = format!("{}; it has {names}", TrustError::Unknown(name.to_owned()));
        return Err(UserError::because(what));
    }
    if let Some(level) = level {
        catalog.set_trust(name, level.into(), &owner_principal()).await?;
    } else if catalog.summary(name)?.is_none() {
        // It is started once, so that it can say what it has.
        let (_, troubles) = patience::with_servers(app, catalog.changes(Some(name))).await?;
        troubles.iter().for_each(|trouble| out::err_line(&out::clean(trouble)));
    }
    let trusted = catalog.trusted(name)?;
    let summary = catalog.summary(name)?;
    if as_json {
        out::line(&row(name, &trusted, summary.as_ref()).to_string())?;
        return Ok(ExitCode::from(fail::DONE));
    }
    if level.is_none() {
        show(name, summary.as_ref(), &trusted)?;
    }
    out::line(&setting(name, &trusted))?;
    if level.is_none() && trusted.by != TrustedBy::Itself && trusted.by != TrustedBy::File {
        let (claw, name) = (claw(app), command_line([name]));
        out::line(&format!("Change it: {claw} mcp trust {name} nothing, ask or hints"))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

fn show(name: &str, summary: Option<&Summary>, trusted: &Trusted) -> anyhow::Result<()> {
    out::line(&format!("Server {}", escape::visible(name)))?;
    match summary {
        Some(summary) => {
            for line in summary.whole().lines() {
                out::line(line)?;
            }
        }
        None => out::line("It has not been listed yet.")?,
    }
    if let Some(at_ms) = trusted.first_seen_ms {
        out::line(&format!("First seen {}.", clock().at(at_ms)))?;
    }
    Ok(())
}

fn setting(name: &str, trusted: &Trusted) -> String {
    let name = escape::visible(name);
    let by = match &trusted.by {
        TrustedBy::Itself => {
            return format!(
                "{name} is claw's own server, so there is no trust to set.\nTo change which of its \
                 tools ask, write a rule into policy.toml (`claw help permissions`)."
            );
        }
        TrustedBy::File => "so says tools.trust in claw.toml".to_owned(),
        TrustedBy::Owner { at_ms, .. } => format!("you chose it {}", clock().at(*at_ms)),
        TrustedBy::Nobody => "you have not chosen yet".to_owned(),
        TrustedBy::OtherLaunch => {
            "you believed its hints, but it is started in another way now".to_owned()
        }
    };
    format!(
        "{}: `{}`. {} ({by}).",
        name,
        trusted.level.as_str(),
        trusted.level.says().trim_end_matches('.')
    )
}

fn clock() -> Clock {
    Clock::system()
}

fn row(name: &str, trusted: &Trusted, summary: Option<&Summary>) -> Value {
    let by = match &trusted.by {
        TrustedBy::Itself => "itself",
        TrustedBy::File => "file",
        TrustedBy::Owner { .. } => "owner",
        TrustedBy::Nobody => "nobody",
        TrustedBy::OtherLaunch => "other_launch",
    };
    let found = summary.map(|summary| {
        let odd = &summary.findings;
        json!({"tools": summary.tools, "read": summary.read, "reach_out": summary.reach_out,
            "destroy": summary.destroy, "runs": summary.runs,
            "aimed_at_model": odd.aimed_at_model, "hidden_characters": odd.hidden_characters,
            "looks_like_another": odd.looks_like_another, "asks_for_secrets": odd.asks_for_secrets})
    });
    json!({"id": name, "trust": trusted.level.as_str(), "by": by,
        "first_seen_ms": trusted.first_seen_ms, "says": found})
}

impl From<TrustArg> for Trust {
    fn from(typed: TrustArg) -> Self {
        match typed {
            TrustArg::Nothing => Self::Nothing,
            TrustArg::Ask => Self::Ask,
            TrustArg::Hints => Self::Hints,
        }
    }
}
