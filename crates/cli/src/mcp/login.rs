//! `claw mcp login` and `claw mcp logout`: the link at which the owner logs in to a server, and the
//! answer, which comes to this machine or is pasted. Must not know OAuth, or where tokens lie.

use std::io::{self, BufRead as _};
use std::process::ExitCode;

use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::callback::{Callback, Page};
use crate::app::App;
use crate::fail::{self, UserError};
use crate::hub::login::{
    Earlier, LoggedOut, LoginError, LoginRequest, LoginUnderWay, PORT, Revoked,
};
use crate::out;
use crate::whose::claw;

/// What the command was told of the login.
pub(super) struct Begin {
    pub(super) request: LoginRequest,
    pub(super) port: Option<u16>,
    /// A login that is under way does not go on.
    pub(super) is_new: bool,
}

pub(super) async fn run(
    app: &App,
    name: &str,
    begin: Begin,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let granted = match earlier(app, name, &begin).await? {
        Earlier::Done(granted) => granted,
        Earlier::UnderWay(login) => {
            let callback = Callback::at(login.redirect()).await;
            tell(app, name, &login, callback.is_some());
            wait(app, &login, callback).await?
        }
        Earlier::Nothing | Earlier::Interrupted => {
            let callback = listen(begin.port).await?;
            let hub = app.gate.hub();
            let login = hub.begin_login(name, callback.address(), &begin.request).await;
            let login = login.map_err(known(app))?;
            tell(app, name, &login, true);
            wait(app, &login, Some(callback)).await?
        }
    };
    logged_in(app, name, &granted, as_json)
}

/// What there is of a login that an earlier claw has begun. The owner hears of it.
async fn earlier(app: &App, name: &str, begin: &Begin) -> anyhow::Result<Earlier> {
    if begin.is_new {
        return Ok(Earlier::Nothing);
    }
    let earlier = app.gate.hub().earlier_login(name).await.map_err(known(app))?;
    let told = match &earlier {
        Earlier::Nothing => return Ok(earlier),
        Earlier::UnderWay(_) => format!(
            "A login to {name} is under way, and its link still counts. `{} mcp login {name} \
             --new` makes another one.",
            claw(app)
        ),
        Earlier::Done(_) => format!("The login to {name} had succeeded before claw was ended."),
        Earlier::Interrupted => format!(
            "The last login to {name} was interrupted after its code was sent. A code is sent once, \
             so log in again."
        ),
    };
    out::err_line(&out::clean(&told));
    Ok(earlier)
}

async fn listen(port: Option<u16>) -> anyhow::Result<Callback> {
    let listening = match port {
        Some(port) => Callback::listen(port).await,
        None => match Callback::listen(PORT).await {
            Ok(callback) => Ok(callback),
            Err(_) => Callback::listen(0).await,
        },
    };
    listening.map_err(|error| {
        UserError::because(format!(
            "no port of this machine is free for the answer ({error}): choose another `--port`"
        ))
    })
}

fn logged_in(app: &App, name: &str, granted: &[String], as_json: bool) -> anyhow::Result<ExitCode> {
    if as_json {
        let row = json!({"id": name, "logged_in": true, "scopes": granted});
        out::line(&row.to_string())?;
    } else {
        let rights = match granted.is_empty() {
            true => String::new(),
            false => format!(" Rights: {}.", granted.join(", ")),
        };
        out::line(&out::clean(&format!(
            "Logged in to {name}.{rights}\nThe tokens lie in {}, for your account alone. `{} mcp \
             test {name}` tries it.",
            app.config.home.logins().display(),
            claw(app)
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

fn tell(app: &App, name: &str, login: &LoginUnderWay, comes_back: bool) {
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
    out::err_line(match comes_back {
        true => {
            "The answer comes here by itself. If your browser is on another machine, it ends at a \
             page that does not load: paste the whole address of that page here. Ctrl-C stops \
             waiting, and the link still counts."
        }
        false => {
            "The browser ends at a page that does not load: paste the whole address of that page \
             here. Ctrl-C stops waiting, and the link still counts."
        }
    });
}

/// The first answer to this login, by whichever way. Others are told so and change nothing.
async fn wait(
    app: &App,
    login: &LoginUnderWay,
    callback: Option<Callback>,
) -> anyhow::Result<Vec<String>> {
    let (mut pasted, mut can_paste) = (pasted_lines(), true);
    loop {
        tokio::select! {
            come = next(callback.as_ref(), login) => {
                let (address, page) = come?;
                let finished = login.finish(&address).await;
                page.show(finished.is_ok()).await;
                return finished.map_err(known(app));
            }
            line = pasted.recv(), if can_paste => {
                let Some(line) = line else {
                    can_paste = false;
                    if callback.is_none() {
                        return Err(UserError::because(
                            "no address was pasted: give the same command again, the link still \
                             counts",
                        ));
                    }
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

async fn next(callback: Option<&Callback>, login: &LoginUnderWay) -> io::Result<(String, Page)> {
    match callback {
        Some(callback) => callback.next(|address| login.is_its_answer(address)).await,
        None => std::future::pending().await,
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
