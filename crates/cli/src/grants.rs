//! `claw grants`: what the owner has allowed or forbidden for longer, and taking it back. Must not
//! know how it is matched.

use std::process::ExitCode;

use serde_json::json;

use super::fail::{self, UserError};
use super::out;
use crate::app::{App, owner_principal};
use crate::chat_commands;
use crate::whose::claw;

pub fn list(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let grants = app.store.read(|tx| tx.grants())?;
    for grant in &grants {
        let shown = if as_json {
            serde_json::to_string(grant)?
        } else {
            let until = chat_commands::until(grant, &app.config.zone);
            format!(
                "{:>4}  {:<5} {}  ({until}, for {}; {})",
                grant.id,
                grant.effect,
                out::clean(&grant.says),
                grant.origin,
                chat_commands::saved(grant, &app.config.zone)
            )
        };
        out::line(&shown)?;
    }
    if grants.is_empty() && !as_json {
        out::err_line("No grants are in force.");
    }
    Ok(ExitCode::from(fail::DONE))
}

pub async fn revoke(app: &App, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let revoked = chat_commands::revoke(&app.store, id, &owner_principal()).await?;
    let wrong = || {
        let claw = claw(app);
        UserError::because(format!("there is no grant `{id}` in force; `{claw} grants` lists them"))
    };
    let number = revoked.ok_or_else(wrong)?;
    let object = json!({"id": number, "revoked": true});
    out::done(as_json, &object, &format!("Grant {number} is revoked."))?;
    Ok(ExitCode::from(fail::DONE))
}
