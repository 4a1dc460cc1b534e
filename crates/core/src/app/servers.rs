//! Where the servers come from: `mcp.json` of the agents, what claw adds to its own servers, and
//! the secrets of all. Must not know who starts a server, or when.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};

use super::{LiveSettings, jobs, notes, openings, variables};
use crate::config::{BEHIND, Config, MAIN, Tools};
use crate::domain::{OwnServer, OwnServerName, claw, inherit};
use crate::hub::manifest::{self, Expansion, Launch, Manifest, StdioLaunch};
use crate::hub::{Era, HubSettings, login, secrets, supervisor};
use crate::redact::Redactor;
use crate::store::Store;

/// How much earlier than a call's limit a command is ended by the bash server, in seconds.
const BASH_ENDS_EARLIER_S: u64 = 5;

pub(super) fn secret_pairs(config: &Config) -> Vec<(String, String)> {
    let exposed =
        |(name, value): &(String, SecretString)| (name.clone(), value.expose_secret().to_owned());
    let mut pairs: Vec<_> = config.secrets.iter().map(exposed).collect();
    for card in &config.agents {
        let home = match card.name.as_str() {
            MAIN => config.home.root().join("clients"),
            name => config.home.of_agent(name).client_tokens(),
        };
        pairs.extend(crate::clients::secrets_in(&home));
    }
    // What is a secret of one agent is one for all, also while that agent's file cannot be used.
    for path in manifests(config) {
        pairs.extend(login::secrets_in(&path.with_file_name("logins")));
        let text = crate::config::read_if_there(&path).ok().flatten();
        let manifest = text
            .zip(expansion(config))
            .and_then(|(text, expansion)| manifest::parse(&text, &expansion).ok());
        pairs.extend(manifest.iter().flat_map(secrets::secrets));
    }
    pairs
}

/// The `mcp.json` of every agent of the home.
pub(super) fn manifests(config: &Config) -> impl Iterator<Item = PathBuf> {
    config.agents.iter().map(|card| match card.name.as_str() {
        MAIN => config.home.root().join("mcp.json"),
        name => config.home.of_agent(name).path().join("mcp.json"),
    })
}

/// A server of `tools.trust` that is not there is a mistake that the owner has to hear of: they
/// would think that its word counts.
pub(super) fn check_trust(
    tools: &Tools,
    config: &Config,
    is_there: impl Fn(&str) -> bool,
) -> anyhow::Result<()> {
    match tools.trust_named().find(|name| !is_there(name)) {
        None => Ok(()),
        Some(unknown) => Err(crate::config::ConfigError {
            place: config.home.claw_toml().display().to_string(),
            message: format!(
                "`tools.trust` names the server `{unknown}`, which mcp.json does not have"
            ),
            next: format!("`{} mcp list` shows those that it has", claw(&config.agent.name)),
        }
        .into()),
    }
}

pub(super) fn load_manifest(config: &Config, settings: &LiveSettings) -> anyhow::Result<Manifest> {
    let path = config.home.mcp_json();
    let text = crate::config::read_if_there(&path)?
        .with_context(|| format!("{} is gone", path.display()))?;
    let expansion = expansion(config).context("cannot find this program's own path")?;
    let mut manifest = manifest::parse(&text, &expansion)
        .with_context(|| format!("{} is refused", path.display()))?;
    if let Some(unknown) =
        config.tools.schema_pinned().iter().find(|name| !manifest.servers.contains_key(*name))
    {
        let names = format!("`tools.pins` names the server `{unknown}`");
        return Err(unknown_server(&manifest, config, &names).into());
    }
    check_trust(&settings.tools, config, |name| manifest.servers.contains_key(name))?;
    keep_servers(&mut manifest, config)?;
    let apart = notes::apart(&manifest, config);
    let jobs_apart = jobs::apart(&manifest);
    for entry in manifest.servers.values_mut() {
        if let Launch::Stdio(StdioLaunch { own: Some(own), args, .. }) = &mut entry.launch {
            let name = args.get(1).and_then(|name| OwnServer::named(name)).map(|own| own.name);
            if name != Some(OwnServerName::Memory) {
                own.extra_args.extend(apart.iter().flat_map(protected));
            }
            if name != Some(OwnServerName::Scheduler) {
                own.extra_args.extend(jobs_apart.iter().flat_map(protected));
            }
            match name {
                Some(OwnServerName::Bash) => {
                    own.extra_args.extend(bash_limits(config));
                    own.extra_args.extend(openings::folder_args(config, &settings.open_folders)?);
                    own.extra_env.extend(toolchain_variables(config));
                }
                Some(OwnServerName::Filesystem) => {
                    own.extra_args.extend(settings.persona.server_args());
                    let artifacts = config.home.artifacts().display().to_string();
                    own.extra_args.extend(["--artifacts".to_owned(), artifacts]);
                }
                Some(OwnServerName::Memory) => {
                    let added = notes::added(args, config, &settings.memory, &settings.persona)?;
                    own.extra_args = added.args;
                    own.extra_env.extend(added.env);
                    manifest.warnings.extend(added.warning);
                }
                Some(OwnServerName::Scheduler) => own.extra_args = jobs::server_args(args, config),
                Some(OwnServerName::Claw) | None => {}
            }
        }
    }
    Ok(manifest)
}

/// What the variables of `mcp.json` stand for. `None` where this program does not know its own
/// path.
fn expansion(config: &Config) -> Option<Expansion> {
    Some(Expansion {
        env: variables(config),
        home: config.user_home.clone(),
        workspace: config.workspace.clone(),
        claw_exe: std::env::current_exe().ok()?,
        extra_claw_args: own_server_args(config),
        ..Expansion::default()
    })
}

/// An agent has the servers that its settings list.
fn keep_servers(manifest: &mut Manifest, config: &Config) -> anyhow::Result<()> {
    let Some(wanted) = &config.servers else { return Ok(()) };
    if let Some(unknown) = wanted.iter().find(|name| !manifest.servers.contains_key(*name)) {
        let names = format!("`servers` of the agent {} lists `{unknown}`", config.agent.name);
        return Err(unknown_server(manifest, config, &names).into());
    }
    manifest.servers.retain(|name, _| wanted.contains(name));
    Ok(())
}

/// `names` says which setting names which server.
fn unknown_server(manifest: &Manifest, config: &Config, names: &str) -> crate::config::ConfigError {
    let known = manifest.servers.keys().cloned().collect::<Vec<_>>().join(", ");
    crate::config::ConfigError {
        place: config.home.claw_toml().display().to_string(),
        message: format!("{names}, which mcp.json does not have"),
        next: format!("It has {known}"),
    }
}

/// A command ends a little before claw's own limit of a call, so that its end is known and told.
/// And as many run side by side as the gate lets through, so that none waits while claw's own clock
/// runs.
fn bash_limits(config: &Config) -> Vec<String> {
    let limits = &config.limits;
    let limit_s = limits.tool_timeout_s.saturating_sub(BASH_ENDS_EARLIER_S).max(1);
    [
        ("--timeout-s", limit_s),
        ("--timeout-s-max", limit_s),
        ("--jobs-max", limits.tool_calls_parallel_max.into()),
        ("--command-processes-max", limits.command_processes_max),
        ("--command-memory-bytes-max", limits.command_memory_bytes_max),
        ("--command-file-bytes-max", limits.command_file_bytes_max),
        ("--command-output-kept-bytes-max", limits.command_output_kept_bytes_max),
        ("--command-home-bytes-max", limits.command_home_bytes_max),
        ("--command-open-files-max", limits.command_open_files_max),
        ("--command-disk-free-bytes-min", limits.command_disk_free_bytes_min),
    ]
    .into_iter()
    .flat_map(|(option, value)| [option.to_owned(), value.to_string()])
    .chain(["--output-dir".to_owned(), config.home.command_output().display().to_string()])
    .chain(["--home".to_owned(), config.home.command_home(&config.workspace).display().to_string()])
    .collect()
}

/// By which the bash server finds the owner's programs and sockets. No command gets them as they
/// are.
fn toolchain_variables(config: &Config) -> impl Iterator<Item = (String, String)> {
    let set = |name: &&str| Some((name.to_string(), config.env.get(name)?.to_owned()));
    let names = claw_mcp_bash::TOOLCHAIN_VARIABLES.iter().chain(claw_mcp_bash::SOCKET_VARIABLES);
    names.filter_map(set)
}

/// Our own servers are told where to work and what never to touch, whatever `mcp.json` says.
fn own_server_args(config: &Config) -> Vec<String> {
    let home = config.home.root().to_owned();
    let kept = std::iter::once(&home).chain(&config.kept_apart.folder).flat_map(protected);
    let workspace = config.workspace.display().to_string();
    ["--workspace".to_owned(), workspace].into_iter().chain(kept).collect()
}

fn protected(path: impl AsRef<Path>) -> [String; 2] {
    ["--protect".to_owned(), path.as_ref().display().to_string()]
}

pub(super) fn hub_settings(
    config: &Config,
    redactor: &Redactor,
    store: &Store,
) -> anyhow::Result<HubSettings> {
    let beside = config
        .home
        .mcp_json()
        .parent()
        .map_or_else(|| config.home.path().to_owned(), Path::to_owned);
    let mut settings = HubSettings::new(variables(config), beside);
    settings.claw = claw(&config.agent.name);
    settings.workspace = Some(config.workspace.clone());
    settings.server_dirs = config.home.servers();
    settings.logins = Some(config.home.logins());
    settings.login_time = Duration::from_secs(config.limits.login_time_s);
    settings.marks = BTreeMap::from([(BEHIND.to_owned(), config.behind())]);
    // The link in /proc still leads to this program after its file was replaced by an update.
    let own = if cfg!(target_os = "linux") {
        PathBuf::from("/proc/self/exe")
    } else {
        std::env::current_exe()?
    };
    settings.supervisor = Some(vec![own.into(), supervisor::COMMAND.into()]);
    let eras = store.read(|tx| tx.launches())?;
    settings.known_eras =
        eras.into_iter().filter_map(|(server, era)| Some((server, Era::parse(&era)?))).collect();
    settings.schema_pinned = config.tools.schema_pinned().clone();
    settings.log = crate::logging::server_log(config.home.logs(), redactor.clone());
    let learner = redactor.clone();
    settings.secrets = Arc::new(move |secrets| {
        let known = crate::logging::learn_secrets(&secrets).and_then(|()| learner.learn(secrets));
        known.map_err(|error| error.to_string())
    });
    settings.set_http_limits(
        Duration::from_secs(config.limits.server_connect_s),
        usize::try_from(config.limits.server_requests_max).unwrap_or(usize::MAX),
    );
    settings.line_bytes_max =
        usize::try_from(config.limits.server_message_bytes_max).unwrap_or(usize::MAX);
    settings.startup_timeout = Duration::from_secs(config.limits.server_start_s);
    if let Some(written) = &config.inherit {
        settings.inherit = inherit::resolve(written, &settings.inherit);
    }
    settings.notices = Arc::new(|notice| tracing::warn!(?notice, "a server needs attention"));
    Ok(settings)
}
