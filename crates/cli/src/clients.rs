//! `claw clients`: the MCP clients that call claw, a token for one, and the end of one. Must not
//! know how a client calls.

use std::process::ExitCode;

use claw_kit::counted::counted;
use serde_json::{Value, json};

use super::fail::{self, UserError};
use super::out;
use crate::app::{App, owner_principal};
use crate::domain::ClientName;
use crate::moment::when;
use crate::whose::claw;
use claw_core::clients::{KnownClient, Revoked};

pub fn list(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let clients = app.clients.known()?;
    for client in &clients {
        out::line(&if as_json { object(client)?.to_string() } else { text(client) })?;
    }
    if clients.is_empty() && !as_json {
        out::err_line(&format!(
            "No MCP client has called claw yet. `{} clients add NAME` makes a token for one \
             that calls over HTTP; over stdio the first call makes it known.",
            claw(app)
        ));
    }
    Ok(ExitCode::from(fail::DONE))
}

fn object(client: &KnownClient) -> anyhow::Result<Value> {
    let mut object = serde_json::to_value(client)?;
    object["id"] = client.name.as_str().into();
    Ok(object)
}

fn text(client: &KnownClient) -> String {
    let seen = client.seen_ms.map_or_else(
        || "has not called yet".to_owned(),
        |at_ms| format!("last seen {}", when(at_ms)),
    );
    let mut parts = vec![seen];
    if let Some(at_ms) = client.revoked_ms {
        parts.insert(0, format!("revoked {}", when(at_ms)));
    }
    if client.has_token {
        parts.push("has a token".to_owned());
    }
    parts.push(format!("today {}", counted(client.calls_today, "call")));
    if client.tokens_today > 0 {
        parts.push(counted(client.tokens_today, "token"));
    }
    for (count, noun) in [(client.grants, "grant"), (client.open_questions, "open question")] {
        if count > 0 {
            parts.push(counted(count, noun));
        }
    }
    format!("{}  {}", client.name, parts.join(", "))
}

/// The token is printed once: the file has it, and nothing else shows it again.
pub async fn add(app: &App, name: &ClientName, as_json: bool) -> anyhow::Result<ExitCode> {
    let known = app.clients.known()?;
    let had_token = known.iter().any(|client| client.name == *name && client.has_token);
    let new = app.clients.add(name, &owner_principal()).await?;
    let file = new.file.display().to_string();
    if as_json {
        out::line(&json!({"id": name, "file": file, "token": new.token}).to_string())?;
        return Ok(ExitCode::from(fail::DONE));
    }
    out::line(&new.token)?;
    let earlier = if had_token { " Its earlier token counts no more." } else { "" };
    out::err_line(&format!(
        "The client `{name}` sends this token as `Authorization: Bearer …`.{earlier} It is kept in \
         {}, which only you can read. `{} clients revoke {name}` takes it back.",
        out::clean(&file),
        claw(app)
    ));
    Ok(ExitCode::from(fail::DONE))
}

pub async fn revoke(app: &App, name: &ClientName, as_json: bool) -> anyhow::Result<ExitCode> {
    let revoked = app.clients.revoke(name, &owner_principal()).await?;
    let Some(revoked) = revoked else {
        return Err(UserError::because(format!(
            "there is no client `{name}`; `{} clients` lists them",
            claw(app)
        )));
    };
    out::line(&if as_json {
        let Revoked { token, grants, questions } = revoked;
        json!({"id": name, "revoked": true, "token": token, "grants": grants, "questions": questions})
            .to_string()
    } else {
        let told = in_words(name, &revoked);
        format!("{told} `{} clients add {name}` lets it in again.", claw(app))
    })?;
    Ok(ExitCode::from(fail::DONE))
}

fn in_words(name: &ClientName, revoked: &Revoked) -> String {
    let mut ended = Vec::new();
    if revoked.token {
        ended.push("its token".to_owned());
    }
    for (count, noun) in [(revoked.grants, "grant"), (revoked.questions, "open question")] {
        if count > 0 {
            ended.push(counted(count, noun));
        }
    }
    let with = match ended.as_slice() {
        [] => String::new(),
        [one] => format!(", and {one} with it"),
        [most @ .., last] => format!(", and {} and {last} with it", most.join(", ")),
    };
    format!("The client `{name}` is revoked{with}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_is_said_and_nothing_else() {
        let name = ClientName::new("laptop").unwrap();
        let words =
            |token, grants, questions| in_words(&name, &Revoked { token, grants, questions });
        assert_eq!(words(false, 0, 0), "The client `laptop` is revoked.");
        assert_eq!(words(true, 0, 0), "The client `laptop` is revoked, and its token with it.");
        assert_eq!(
            words(true, 2, 1),
            "The client `laptop` is revoked, and its token, 2 grants and 1 open question with it."
        );
    }
}
