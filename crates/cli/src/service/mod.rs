//! `claw service`: the gateway as a service of the user, under systemd or launchd. Owns which files
//! there are and in which order things are done; must not know what is in them, or what a gateway
//! does.

mod manager;
mod unit;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::args::ServiceAction;
use super::fail::UserError;
use super::{fail, out};
use crate::config::{Config, Overrides};
use crate::durable;
use crate::gateway::without_a_bot;
use unit::Service;

/// A file in the home that parks the gateway for as long as it is there.
pub const PARKED: &str = "gateway-disabled";
/// What launchd calls it.
const LABEL: &str = "claw.gateway";
const UNIT: &str = "claw.service";
const ENVIRONMENT: &str = "service.env";

pub fn run(overrides: Overrides, action: &ServiceAction) -> anyhow::Result<ExitCode> {
    let config = Config::load(overrides)?;
    let done = match action {
        ServiceAction::Install { no_start } => install(&config, *no_start)?,
        ServiceAction::Status => {
            shown(&manage(&["status", "--no-pager", UNIT], &["print", &target()]))?
        }
        ServiceAction::Logs { follow } => logs(&config, *follow)?,
        ServiceAction::Uninstall => uninstall(&config)?,
    };
    Ok(ExitCode::from(done))
}

fn install(config: &Config, no_start: bool) -> anyhow::Result<u8> {
    let meant = |config: &Config| !config.bots.is_empty();
    let others = others(config)?;
    if !meant(config) && !others.iter().any(meant) {
        return Err(UserError::because(format!(
            "no door is configured, so a service would have nothing to do: run `claw init`, or \
             {}, then run `claw service install` again{}",
            config.doors.sections().bot_set_up(),
            without_a_bot(std::iter::once(config).chain(&others))
        )));
    }
    let program = std::env::current_exe().context("claw cannot find its own program")?;
    let home = config.home.root();
    let environment = home.join(ENVIRONMENT);
    let names = keep_settings(config, &environment)?;
    let service = Service {
        program: &program,
        home,
        environment: &environment,
        log: &config.home.logs().join("gateway.log"),
    };
    let place = place(config);
    let text = if is_launchd() { service.launchd() } else { service.systemd() };
    write(&place, &text, 0o644)?;
    out::line(&format!("Written: {}", place.display()))?;
    out::line(&format!(
        "Written: {} (only you can read it), with {}",
        environment.display(),
        listed(&names)
    ))?;
    if no_start {
        out::line("It was not started; `claw service install` starts it.")?;
        return Ok(fail::DONE);
    }
    start(&place)?;
    out::line(
        "It runs, and starts again with you: `claw service status`, `claw service logs`, `claw \
         service uninstall`.",
    )?;
    if !is_launchd() {
        out::line("It ends when you log out, unless you run `loginctl enable-linger` once.")?;
    }
    Ok(fail::DONE)
}

/// The settings of the other agents, as far as they can be read.
fn others(config: &Config) -> anyhow::Result<Vec<Config>> {
    if config.home.is_agents() {
        return Ok(Vec::new());
    }
    let doors = config.doors.sections().clone();
    Ok(Config::load_all(&Overrides { doors, ..Overrides::default() })?
        .into_iter()
        .filter_map(|(_, config)| config.ok())
        .collect())
}

fn start(place: &Path) -> anyhow::Result<()> {
    let place = place.display().to_string();
    let steps: Vec<Vec<String>> = if is_launchd() {
        // What is loaded already is not loaded again; it is unloaded first, and may not be there.
        let _ = manager::run(&["launchctl", "bootout", &target()])?;
        vec![words(&["launchctl", "bootstrap", &domain(), &place])]
    } else {
        vec![
            words(&["systemctl", "--user", "daemon-reload"]),
            words(&["systemctl", "--user", "enable", UNIT]),
            words(&["systemctl", "--user", "restart", UNIT]),
        ]
    };
    for step in &steps {
        let step: Vec<&str> = step.iter().map(String::as_str).collect();
        let ran = manager::run(&step)?;
        if !ran.went_well() {
            return Err(UserError::because(format!(
                "`{}` failed: {}. The files are written; when that is mended, run `claw service \
                 install` again",
                step.join(" "),
                out::clean(&ran.said)
            )));
        }
    }
    Ok(())
}

fn logs(config: &Config, follow: bool) -> anyhow::Result<u8> {
    if place(config).symlink_metadata().is_err() {
        // A package has a unit of its own, which may run all the same.
        out::err_line(
            "claw: `claw service install` has installed no service here. `claw gateway` in a \
             terminal prints there what it has to say.",
        );
    }
    let file = config.home.logs().join("gateway.log").display().to_string();
    let mut command = if is_launchd() {
        words(&["tail", "-n", "100", &file])
    } else {
        words(&["journalctl", "--user", "-u", UNIT, "-n", "100", "--no-pager"])
    };
    if follow {
        command.push("-f".to_owned());
    }
    shown(&command)
}

fn uninstall(config: &Config) -> anyhow::Result<u8> {
    let place = place(config);
    if place.symlink_metadata().is_err() {
        return Err(UserError::because(format!(
            "there is no {}; nothing was done",
            place.display()
        )));
    }
    let stop = manage(&["disable", "--now", UNIT], &["bootout", &target()]);
    let ran = manager::run(&stop.iter().map(String::as_str).collect::<Vec<_>>());
    fs::remove_file(&place).with_context(|| format!("{} cannot be removed", place.display()))?;
    out::line(&format!("Removed: {}", place.display()))?;
    match ran {
        Ok(ran) if !ran.went_well() => {
            out::err_line(&format!("claw: it may still run: {}", out::clean(&ran.said)))
        }
        Ok(_) if !is_launchd() => drop(manager::run(&["systemctl", "--user", "daemon-reload"])?),
        Ok(_) => {}
        Err(error) => out::err_line(&format!("claw: {error}")),
    }
    let home = config.home.root().display();
    out::line(&format!(
        "Left where it is: {home}, with all conversations, and {ENVIRONMENT} in it with the \
         settings of the service."
    ))?;
    Ok(fail::DONE)
}

/// Puts the settings that claw takes from the environment into a file for the service, beside those
/// that are there already. Gives their names.
fn keep_settings(config: &Config, path: &Path) -> anyhow::Result<Vec<String>> {
    let before = crate::config::read_if_there(path)?.unwrap_or_default();
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    for line in before.lines() {
        if let Some(name) = unit::set_by(line) {
            lines.insert(name.to_owned(), format!("{line}\n"));
        }
    }
    let mut written = vec![config.home.claw_toml(), config.home.mcp_json()];
    written.extend(
        config.agents.iter().map(|agent| config.home.of_agent(&agent.name).path().join("mcp.json")),
    );
    let written: String = written
        .iter()
        .filter_map(|path| crate::config::read_if_there(path).ok().flatten())
        .collect();
    for (name, value) in
        config.env.iter().filter(|(name, value)| !value.is_empty() && is_a_setting(name, &written))
    {
        let line = unit::setting(name, value).ok_or_else(|| {
            UserError::because(format!(
                "{name} holds a line break or a control character, which a service cannot be \
                 given; change it"
            ))
        })?;
        lines.insert(name.to_owned(), line);
    }
    write(path, &lines.values().cloned().collect::<String>(), 0o600)?;
    Ok(lines.into_keys().collect())
}

/// Whether there is a service in whose PATH commands find nothing of the owner's.
pub fn has_short_path(config: &Config) -> bool {
    let environment = config.home.root().join(ENVIRONMENT);
    let text = crate::config::read_if_there(&environment).ok().flatten().unwrap_or_default();
    place(config).exists() && !text.lines().any(|line| unit::set_by(line) == Some("PATH"))
}

/// What claw itself reads, and what its files refer to. Nothing else of the environment is written
/// down.
fn is_a_setting(name: &str, written: &str) -> bool {
    let own = name.starts_with("CLAW_") && name != "CLAW_HOME" && name != "CLAW_LOG";
    // A service manager has a short PATH, in which commands find nothing of the owner's.
    let known = ["TELEGRAM_BOT_TOKEN", "OLLAMA_HOST", "PATH"].contains(&name)
        || claw_mcp_bash::TOOLCHAIN_VARIABLES.contains(&name)
        || crate::model::key_variables().any(|key| key == name);
    // The last one stands in `token_from`.
    let forms = [
        format!("${{{name}"),
        format!("${{env:{name}"),
        format!("${name}"),
        format!("\"{name}"),
        format!("'{name}"),
    ];
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    own || known
        || forms.iter().any(|form| {
            written.match_indices(form).any(|(at, _)| ends(&written[at + form.len()..]))
        })
}

/// Writes the whole file or leaves the old one.
fn write(path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let failed = || format!("{} cannot be written", path.display());
    let folder = path.parent().with_context(failed)?;
    fs::create_dir_all(folder).with_context(failed)?;
    durable::replace(path, text, mode).with_context(failed)
}

/// Where the manager looks for what is the user's own.
fn place(config: &Config) -> PathBuf {
    if is_launchd() {
        return config.user_home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"));
    }
    let own =
        config.env.get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    own.unwrap_or_else(|| config.user_home.join(".config")).join("systemd/user").join(UNIT)
}

fn manage(systemd: &[&str], launchd: &[&str]) -> Vec<String> {
    if is_launchd() {
        std::iter::once("launchctl").chain(launchd.iter().copied()).map(str::to_owned).collect()
    } else {
        ["systemctl", "--user"]
            .into_iter()
            .chain(systemd.iter().copied())
            .map(str::to_owned)
            .collect()
    }
}

fn shown(command: &[String]) -> anyhow::Result<u8> {
    let code = manager::show(&command.iter().map(String::as_str).collect::<Vec<_>>())?;
    // Its own codes go through: 3 is a unit that does not run (systemctl(1)).
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(fail::BROKEN))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing in it yet".to_owned() } else { names.join(", ") }
}

fn is_launchd() -> bool {
    cfg!(target_os = "macos")
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

fn target() -> String {
    format!("{}/{LABEL}", domain())
}
