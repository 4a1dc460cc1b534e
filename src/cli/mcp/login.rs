//! `claw mcp login` and `claw mcp logout`: the link at which the owner logs in to a server, and the
//! answer, which comes to this machine or is pasted. Must not know OAuth, or where tokens lie.

use std::io::{self, BufRead as _};
use std::process::ExitCode;

use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::callback::Callback;
use crate::app::App;
use crate::cli::fail::{self, UserError};
use crate::cli::out;
use crate::hub::login::{LoggedOut, LoginError, LoginUnderWay, LoginWish, Revoked};

pub(super) async fn run(
    app: &App,
    name: &str,
    wish: LoginWish,
    port: Option<u16>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let callback = Callback::listen(port.unwrap_or(0)).await.map_err(|error| {
        UserError::because(format!(
            "no port of this machine is free for the answer ({error}): choose another `--port`"
        ))
    })?;
    let hub = app.gate.hub();
    let login = hub.begin_login(name, callback.address(), &wish).await.map_err(known(app))?;
    tell(app, name, &login);
    let granted = wait(app, &login, callback).await?;
    if as_json {
        let row = json!({"id": name, "logged_in": true, "scopes": granted});
        out::line(&row.to_string())?;
    } else {
        let rights = match granted.is_empty() {
            true => String::new(),
            false => format!(" Rights: {}.", granted.join(", ")),
        };
        out::line(&out::clean(&format!(
            "Logged in to {name}.{rights}\nThe tokens lie in {}, for your account alone. `claw mcp \
             test {name}` tries it.",
            app.config.home.logins().display(),
        )))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

/// The secret in a variable of claw's environment.
pub(super) fn secret_in(app: &App, variable: Option<&str>) -> anyhow::Result<Option<String>> {
    let Some(variable) = variable else { return Ok(None) };
    match app.config.env.get(variable) {
        Some(secret) => Ok(Some(secret.to_owned())),
        None => Err(UserError::because(format!(
            "the variable `{variable}` is not set: set it in claw's environment to the secret of \
             the client id"
        ))),
    }
}

pub(super) async fn log_out(app: &App, name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let LoggedOut { was_there, revoked } =
        app.gate.hub().log_out(name).await.map_err(known(app))?;
    if as_json {
        let why = match &revoked {
            Revoked::No(why) => Some(app.gate.redactor().redact(why).into_owned()),
            Revoked::Yes | Revoked::NotOffered => None,
        };
        let is_revoked = revoked == Revoked::Yes;
        let row = json!({"id": name, "logged_out": was_there, "revoked": is_revoked, "why": why});
        out::line(&row.to_string())?;
        return Ok(ExitCode::from(fail::DONE));
    }
    if !was_there {
        out::line(&out::clean(&format!("There was no login to {name}.")))?;
        return Ok(ExitCode::from(fail::DONE));
    }
    let there = match revoked {
        Revoked::Yes => "They no longer count at the server either.".to_owned(),
        Revoked::NotOffered => "The server has no way to end them (RFC 7009): they end by \
                                themselves, or where you end them there."
            .to_owned(),
        Revoked::No(why) => {
            format!("They may still count at the server: {why}. End them there, where you log in.")
        }
    };
    let told = format!("Logged out of {name}: its tokens are gone from this machine. {there}");
    out::line(&out::clean(&app.gate.redactor().redact(&told)))?;
    Ok(ExitCode::from(fail::DONE))
}

/// The servers are named where one is unknown, and no error holds a secret.
fn known(app: &App) -> impl Fn(LoginError) -> anyhow::Error {
    |error| {
        if let LoginError::UnknownServer(_) = &error {
            let names = app.gate.hub().servers().into_iter().map(|server| server.name);
            let names = names.collect::<Vec<_>>().join(", ");
            return UserError::because(format!("{error}; it has {names}"));
        }
        let said = app.gate.redactor().redact(&error.to_string()).into_owned();
        match error {
            LoginError::Refused(_) | LoginError::Broken(_) => {
                anyhow::anyhow!("claw could not log in: {said}")
            }
            _ => UserError::because(said),
        }
    }
}

fn tell(app: &App, name: &str, login: &LoginUnderWay) {
    let rights = login.scopes();
    let asks = match rights.is_empty() {
        true => String::new(),
        false => format!(" It asks for: {}.", rights.join(", ")),
    };
    let text =
        format!("To log in to {name}, open this link, which leads to {}.{asks}", login.host());
    out::err_line(&out::clean(&app.gate.redactor().redact(&text)));
    // Whole, on a line of its own, so that a terminal can open it.
    out::err_whole_line(&out::clean(login.link()));
    out::err_line(
        "The answer comes here by itself. If your browser is on another machine, it ends at a page \
         that does not load: paste the whole address of that page here. Ctrl-C gives up.",
    );
}

/// The first answer to this login, by whichever way. Others are told so and change nothing.
async fn wait(app: &App, login: &LoginUnderWay, callback: Callback) -> anyhow::Result<Vec<String>> {
    let (mut pasted, mut can_paste) = (pasted_lines(), true);
    loop {
        tokio::select! {
            come = callback.next(|address| login.is_its_answer(address)) => {
                let (address, page) = come?;
                let finished = login.finish(&address).await;
                page.show(finished.is_ok()).await;
                return finished.map_err(known(app));
            }
            line = pasted.recv(), if can_paste => {
                let Some(line) = line else {
                    can_paste = false;
                    continue;
                };
                match login.finish(line.trim()).await {
                    Err(error @ LoginError::OtherState) => {
                        out::err_line(&out::clean(&format!("{error}.")));
                    }
                    finished => return finished.map_err(known(app)),
                }
            }
        }
    }
}

/// What is pasted, a line each. The thread waits for a person, and nothing waits for it.
fn pasted_lines() -> UnboundedReceiver<String> {
    let (send, pasted) = unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if !line.trim().is_empty() && send.send(line).is_err() {
                return;
            }
        }
    });
    pasted
}
