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
use crate::config::{Config, MAIN, Overrides};
use crate::durable;
use crate::gateway::without_a_bot;
use crate::hub::INHERITED_VARIABLES;
use unit::Service;

/// A file in the home that parks the gateway for as long as it is there.
pub const PARKED: &str = "gateway-disabled";
/// What launchd calls it.
const LABEL: &str = "claw.gateway";
const UNIT: &str = "claw.service";
const ENVIRONMENT: &str = "service.env";
/// What claw reads beside its own variables, keys and what its servers inherit. Not SSH_AUTH_SOCK:
/// it leads to the agent of one login, and would keep the service from a newer one.
const KNOWN: [&str; 7] = [
    "DOCKER_HOST",
    "MCP_TIMEOUT",
    "OLLAMA_HOST",
    // A service manager has a short PATH, in which commands find nothing of the owner's.
    "PATH",
    "TELEGRAM_BOT_TOKEN",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];
/// Known to servers, and the service manager's own to set.
const OF_A_LOGIN: &str = "XDG_RUNTIME_DIR";
/// Any of these says which model answers.
const MODEL_KEYS: &[&str] = &["model.agent", "model.model", "model.base_url"];
/// Variables of the main agent that override `claw.toml`, with the keys that say the same there.
const OVERRIDING: [(&str, &[&str]); 7] = [
    ("CLAW_AGENT", MODEL_KEYS),
    ("CLAW_ALLOWED_CHATS", &["telegram.allowed_chats"]),
    ("CLAW_BASE_URL", MODEL_KEYS),
    ("CLAW_MODEL", MODEL_KEYS),
    ("CLAW_TELEGRAM_API", &["telegram.api"]),
    ("CLAW_WORKSPACE", &["workspace"]),
    ("TELEGRAM_BOT_TOKEN", &["telegram.token"]),
];

/// What stands in the file for the service.
struct KeptSettings {
    /// The names that it sets.
    names: Vec<String>,
    /// Those of before that are gone: `claw.toml` says the same now.
    outdated: Vec<String>,
}

pub fn run(overrides: Overrides, action: &ServiceAction) -> anyhow::Result<ExitCode> {
    let is_placed = overrides.workspace.is_some();
    let config = Config::load(overrides)?;
    let done = match action {
        ServiceAction::Install { no_start } => install(&config, is_placed, *no_start)?,
        ServiceAction::Status => {
            shown(&manage(&["status", "--no-pager", UNIT], &["print", &target()]))?
        }
        ServiceAction::Logs { follow } => logs(&config, *follow)?,
        ServiceAction::Uninstall => uninstall(&config)?,
    };
    Ok(ExitCode::from(done))
}

/// `is_placed`: the workspace was named beside the command, and is to be the service's.
fn install(config: &Config, is_placed: bool, no_start: bool) -> anyhow::Result<u8> {
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
    let kept = keep_settings(config, is_placed, &environment)?;
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
        listed(&kept.names)
    ))?;
    if !kept.outdated.is_empty() {
        out::line(&format!(
            "Taken out of it: {}. What claw.toml says counts now; your environment does not set \
             this any more, and the old value would have overridden the file.",
            kept.outdated.join(", ")
        ))?;
    }
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
/// that are there already and still mean something.
fn keep_settings(config: &Config, is_placed: bool, path: &Path) -> anyhow::Result<KeptSettings> {
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
    let outdated: Vec<String> =
        lines.keys().filter(|name| is_outdated(config, name, &written)).cloned().collect();
    outdated.iter().for_each(|name| drop(lines.remove(name)));
    let workspace = config.workspace.display().to_string();
    let placed = is_placed.then_some(("CLAW_WORKSPACE", workspace.as_str()));
    let set =
        config.env.iter().filter(|(name, value)| !value.is_empty() && is_a_setting(name, &written));
    for (name, value) in set.chain(placed) {
        let line = unit::setting(name, value).ok_or_else(|| {
            UserError::because(format!(
                "{name} holds a line break or a control character, which a service cannot be \
                 given; change it"
            ))
        })?;
        lines.insert(name.to_owned(), line);
    }
    write(path, &lines.values().cloned().collect::<String>(), 0o600)?;
    Ok(KeptSettings { names: lines.into_keys().collect(), outdated })
}

/// Whether a setting of before would override what `claw.toml` says now, and is not set here any
/// more: then the service would do something else than claw does here.
fn is_outdated(config: &Config, name: &str, written: &str) -> bool {
    let keys = OVERRIDING.iter().find(|(variable, _)| *variable == name).map(|(_, keys)| *keys);
    config.agent.name == MAIN
        && config.env.get(name).is_none()
        && keys.is_some_and(|keys| keys.iter().any(|key| config.written.says(key)))
        && !is_referred_to(name, written)
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
    let known = KNOWN.contains(&name)
        || claw_mcp_bash::TOOLCHAIN_VARIABLES.contains(&name)
        || crate::model::key_variables().any(|key| key == name);
    own || known || is_inherited(name) || is_referred_to(name, written)
}

/// What servers of others get from claw's environment, and claw itself needs in many networks:
/// proxies, certificates, language and zone.
fn is_inherited(name: &str) -> bool {
    name != OF_A_LOGIN
        && INHERITED_VARIABLES.iter().any(|known| match known.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => *known == name,
        })
}

fn is_referred_to(name: &str, written: &str) -> bool {
    // The last two stand in lists such as `token_from` and `inherit`.
    let forms = [
        format!("${{{name}"),
        format!("${{env:{name}"),
        format!("${name}"),
        format!("\"{name}"),
        format!("'{name}"),
    ];
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    forms
        .iter()
        .any(|form| written.match_indices(form).any(|(at, _)| ends(&written[at + form.len()..])))
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
