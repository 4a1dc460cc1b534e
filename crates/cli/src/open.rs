//! `claw open` and `claw close`: what of this machine is open to commands, for a time. Must not
//! know how a command reaches it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use claw_mcp_bash::{Service, Sockets};
use serde_json::json;

use super::args::Json;
use super::fail::{self, UserError};
use super::{open_folders, out};
use crate::app::{App, owner_principal};
use crate::calls::openings;
use crate::domain::{Opening, UnixMillis};
use crate::moment::when;
use crate::store::now_ms;
use crate::whose::claw;

/// What an opening lasts that names no time, and what it may last.
pub const TIME_DEFAULT: &str = "1h";
const TIME_S_MAX: u64 = 7 * 24 * 3600;

/// What can be opened, as it is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Service(Opening),
    Folder(PathBuf),
}

/// A name, or a folder, which is written with a slash so that a name with a typing error is none.
pub fn what(text: &str) -> Result<What, String> {
    if let Some(opening) = Opening::parse(text) {
        return Ok(What::Service(opening));
    }
    if text.contains('/') || ["~", ".", ".."].contains(&text) {
        return Ok(What::Folder(text.into()));
    }
    Err(format!(
        "there are ssh-agent and docker, and no `{text}`; a folder is written with a slash, such as ~/{text} or ./{text}"
    ))
}

/// `30m`, `1h`, `2d`.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time from 1m to 7d; write for example 30m, 1h or 2d");
    let at = text.len().saturating_sub(1);
    let (number, unit) = text.split_at_checked(at).ok_or_else(wrong)?;
    let unit_s = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(wrong()),
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = number.parse::<u64>().ok().filter(|_| is_number);
    let seconds = seconds.and_then(|number| number.checked_mul(unit_s));
    let seconds = seconds.filter(|seconds| (60..=TIME_S_MAX).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

pub async fn run(
    app: &App,
    what: Option<What>,
    to_write: bool,
    time: Duration,
    json: Json,
) -> anyhow::Result<ExitCode> {
    let as_json = json.json;
    match what {
        Some(What::Service(_)) if to_write => {
            Err(UserError::because("--write is for folders; ssh-agent and docker are open or not"))
        }
        Some(What::Service(opening)) => open(app, opening, time, as_json).await,
        Some(What::Folder(path)) => open_folders::open(app, &path, to_write, time, as_json).await,
        None => list(app, as_json),
    }
}

pub async fn close(app: &App, what: What, as_json: bool) -> anyhow::Result<ExitCode> {
    match what {
        What::Service(opening) => close_service(app, opening, as_json).await,
        What::Folder(path) => open_folders::close(app, &path, as_json).await,
    }
}

fn list(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let open = app.gate.calls().openings()?;
    for one in &open {
        let name = one.opening;
        let object =
            json!({"id": name, "until_ms": one.until_ms, "grant": one.grant, "cost": name.cost()});
        let words = format!("{name:<10} {}: {}", until(one.until_ms), name.cost());
        out::done(as_json, &object, &words)?;
    }
    let folders = open_folders::list(app, as_json)?;
    if open.is_empty() && folders == 0 && !as_json {
        let claw = claw(app);
        out::err_line(&format!(
            "Nothing is open. `{claw} open docker --for 1h` opens one of ssh-agent and docker, \
             `{claw} open ~/Documents` a folder."
        ));
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Until when something is open, in words.
pub(super) fn until(until_ms: Option<UnixMillis>) -> String {
    until_ms.map_or_else(
        || "until you take it out of claw.toml".to_owned(),
        |at| format!("until {}", when(at)),
    )
}

async fn open(
    app: &App,
    opening: Opening,
    time: Duration,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let until_ms = now_ms() + i64::try_from(time.as_millis())?;
    let by = owner_principal();
    app.store.write(move |tx| openings::open_in(tx, opening, until_ms, &by)).await?;
    let missing = why_missing(app, opening);
    let object =
        json!({"id": opening, "until_ms": until_ms, "cost": opening.cost(), "missing": missing});
    let words = format!(
        "{opening} is open to commands until {}: {}. Each use is asked about. `{} close {opening}` takes it back.",
        when(until_ms),
        opening.cost(),
        claw(app)
    );
    out::done(as_json, &object, &words)?;
    if let Some(why) = missing.filter(|_| !as_json) {
        out::err_line(&out::clean(&format!(
            "Commands find no {opening} here: {why}. Start claw where there is one."
        )));
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Why there is none to reach, from where this is typed.
fn why_missing(app: &App, opening: Opening) -> Option<String> {
    let service = match opening {
        Opening::SshAgent => Service::SshAgent,
        Opening::Docker => Service::Docker,
    };
    let sockets = Sockets::find(|name| app.config.env.get(name).map(str::to_owned));
    sockets.of(service).err().map(|why| why.to_string())
}

async fn close_service(app: &App, opening: Opening, as_json: bool) -> anyhow::Result<ExitCode> {
    let by = owner_principal();
    let closed = app.store.write(move |tx| openings::close_in(tx, opening, &by)).await?;
    let stays = app.gate.calls().openings()?.iter().any(|one| one.opening == opening);
    if stays {
        return Err(UserError::because(format!(
            "claw.toml opens {opening}: take it out of `open` under [box] there"
        )));
    }
    if !closed {
        return Err(UserError::because(format!(
            "{opening} is not open; `{} open` lists what is",
            claw(app)
        )));
    }
    let object = json!({"id": opening, "closed": true});
    let words = format!("{opening} is closed: no command reaches it any more, nor one that runs.");
    out::done(as_json, &object, &words)?;
    Ok(ExitCode::from(fail::DONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit_up_to_a_week() {
        for (text, seconds) in [("1m", 60), ("90m", 5400), ("1h", 3600), ("7d", TIME_S_MAX)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)));
        }
        for odd in [
            "",
            "1",
            "h",
            "0m",
            "8d",
            "-1h",
            "+1h",
            "1.5h",
            "1s",
            "1 h",
            "1hh",
            "9999999999999999999d",
            "1ä",
        ] {
            assert!(time(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_folder_is_written_with_a_slash_and_a_typing_error_is_none() {
        assert_eq!(what("ssh-agent"), Ok(What::Service(Opening::SshAgent)));
        for folder in ["~/Documents", "./a", "/srv/x", "a/b", "."] {
            assert_eq!(what(folder), Ok(What::Folder(folder.into())), "{folder}");
        }
        for odd in ["dokcer", "Documents", "", "podman"] {
            assert!(what(odd).is_err(), "{odd}");
        }
    }
}
