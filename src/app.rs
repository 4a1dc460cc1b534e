//! Builds and connects the rooms. The only file that names all of them; it decides nothing.

mod persona;
pub mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::OnceCell;

use crate::config::{Config, KeptApart, MAIN, is_agent_name};
use crate::desk::{AgentState, Agents, Desk, DeskParts, ModelInUse, OtherStore, Roles};
use crate::domain::{Address, LiveSink, Origin, inherit};
use crate::gate::policy::Policy;
use crate::gate::redact::Redactor;
use crate::gate::{Gate, GateParts, GateSettings};
use crate::hub::manifest::{self, Expansion, Launch, Manifest, StdioLaunch};
use crate::hub::{Era, Hub, HubSettings, secrets, supervisor};
use crate::mail::{Instance, Mail};
use crate::model::{Chain, LoadImage};
use crate::router::{Router, Visitor};
use crate::session::{Budget, Worker, WorkerParts};
use crate::store::{AnchorPlace, Artifacts, Store};
use crate::turn::Bounds;
use crate::turn::run::Runner;

/// How much earlier than a call's limit a command is ended by the bash server, in seconds.
const BASH_ENDS_EARLIER_S: u64 = 5;

/// The whole house.
pub struct App {
    pub config: Config,
    pub store: Store,
    pub gate: Arc<Gate>,
    pub mail: Mail,
    pub router: Router,
    /// What the author of `mcp.json` should know, one sentence each.
    pub warnings: Vec<String>,
    /// The files of settings, as they were when they were read.
    watched: tokio::sync::Mutex<watch::Watched>,
    chosen: OnceCell<Chain>,
    worker: OnceCell<Arc<Worker>>,
}

impl App {
    /// Opens the home: store, policy, servers. Starts no server and asks no model yet.
    pub fn open(config: Config) -> anyhow::Result<Self> {
        let store = Store::open_anchored(&config.home.claw_db(), anchor_place(&config.kept_apart).as_ref())?;
        let watched = watch::Watched::begin(&config).into();
        let policy = load_policy(&config)?;
        let manifest = load_manifest(&config)?;
        let redactor = Redactor::new(secret_pairs(&config))?;
        let warnings = manifest.warnings.clone();
        let hub = Arc::new(Hub::new(manifest, hub_settings(&config, &redactor, &store)?));
        crate::logging::keep_secrets(&redactor);
        let gate = Arc::new(Gate::new(GateParts {
            store: store.clone(),
            hub,
            policy,
            redactor,
            artifacts: Artifacts::new(&config.home.artifacts()),
            settings: gate_settings(&config),
        }));
        let mail = Mail::new(store.clone(), config.limits.queued_messages_max);
        let router = Router::new(mail.clone(), gate.clone());
        let (chosen, worker) = (OnceCell::new(), OnceCell::new());
        Ok(Self { config, store, gate, mail, router, warnings, watched, chosen, worker })
    }

    /// The models, picked once. An error names what to set.
    pub async fn model(&self) -> anyhow::Result<&Chain> {
        self.chosen
            .get_or_try_init(|| async {
                let mut section = self.config.model.clone();
                // `[model] timeout_s` is for this model, `limits.model_timeout_s` for any.
                let time = self.config.limits.model_timeout_s;
                section.timeout_s.get_or_insert(time);
                section.fallback.iter_mut().chain(section.compaction.as_deref_mut()).for_each(|other| {
                    other.timeout_s.get_or_insert(time);
                });
                let (artifacts, store) = (self.artifacts(), self.store.clone());
                let load: LoadImage = Arc::new(move |digest| {
                    std::fs::read(artifacts.path(digest)).map_err(|error| gone(&store, digest).unwrap_or(error))
                });
                Ok(crate::model::chain(&section, &variables(&self.config), &load).await?)
            })
            .await
    }

    /// Where what is too large for the store is kept.
    pub fn artifacts(&self) -> Artifacts {
        Artifacts::new(&self.config.home.artifacts())
    }

    /// The worker of all sessions, with the model in place.
    pub async fn worker(&self) -> anyhow::Result<Arc<Worker>> {
        let built = self
            .worker
            .get_or_try_init(|| async {
                let Chain { model, compaction, .. } = self.model().await?;
                let (model, compaction) = (model.clone(), compaction.clone());
                // The demo reads commands and nothing else.
                let zone = (model.provider() != "demo").then(|| self.config.zone.clone());
                let runner = Runner {
                    model,
                    compaction,
                    gate: self.gate.clone(),
                    personas: persona::personas(&self.config, self.gate.clone()),
                    bounds: self.bounds(),
                    zone,
                };
                anyhow::Ok(Arc::new(Worker::new(WorkerParts {
                    store: self.store.clone(),
                    gate: self.gate.clone(),
                    runner,
                    locks: self.config.home.locks(),
                    turn_time_s: self.config.limits.turn_time_s,
                    deaths_of_turn_max: self.config.limits.deaths_of_turn_max,
                    budget: self.budget(),
                })))
            })
            .await?;
        Ok(built.clone())
    }

    /// The limits that decide what a turn does next.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            model_steps_max: self.config.limits.model_steps_max,
            window_tokens: self.config.limits.window_tokens,
            identical_calls_max: self.config.limits.identical_calls_max,
        }
    }

    /// What models may take in a day.
    pub fn budget(&self) -> Budget {
        Budget {
            tokens_day_max: self.config.limits.tokens_day_max,
            usd_cents_day_max: self.config.limits.usd_cents_day_max,
            prices: self.config.prices.clone(),
            zone: self.config.zone.clone(),
        }
    }

    /// The agents as far as a process knows that runs no bots.
    pub fn agents(&self) -> Agents {
        let cards = self.config.agents.clone();
        Arc::new(move || cards.iter().map(|card| (card.clone(), AgentState::NoBot)).collect())
    }

    /// Where the other agents of this home keep their stores: those of `claw.toml`, whose homes are made here if they are not there
    /// yet, and those that were taken out of it and have left one.
    pub fn other_stores(&self) -> Vec<OtherStore> {
        let home = &self.config.home;
        let mut names: std::collections::BTreeSet<String> =
            self.config.agents.iter().map(|card| card.name.clone()).collect();
        let left = std::fs::read_dir(home.agents()).into_iter().flatten().filter_map(Result::ok);
        let left = left.filter_map(|entry| entry.file_name().into_string().ok());
        names.extend(left.filter(|name| is_agent_name(name) && home.of_agent(name).claw_db().is_file()));
        names.remove(&self.config.agent.name);
        let anchor = anchor_place(&self.config.kept_apart);
        let store = |agent: String| {
            if agent == MAIN {
                return OtherStore { path: home.root().join("claw.db"), agent, anchor: anchor.clone() };
            }
            let mut of_agent = home.of_agent(&agent);
            if let Err(error) = of_agent.ensure() {
                tracing::warn!(agent, %error, "the home of an agent cannot be made");
            }
            OtherStore { path: of_agent.claw_db(), agent, anchor: anchor.clone() }
        };
        names.into_iter().map(store).collect()
    }

    /// Who answers chat commands, at any door.
    pub async fn desk(&self, agents: Agents) -> anyhow::Result<Desk> {
        let chosen = self.model().await?;
        Ok(Desk::new(DeskParts {
            store: self.store.clone(),
            gate: self.gate.clone(),
            router: self.router.clone(),
            model: ModelInUse {
                name: chosen.model.model().to_owned(),
                provider: chosen.model.provider().to_owned(),
                whys: chosen.whys.clone(),
            },
            not_offered: {
                let choosable = chosen.choosable.clone();
                Arc::new(move |name: String| {
                    let choosable = choosable.clone();
                    Box::pin(async move { choosable.not_offered(&name).await })
                })
            },
            roles: self.roles(),
            prices: self.config.prices.clone(),
            workspace: self.config.workspace.clone(),
            agents,
            agent: self.config.agent.name.clone(),
            others: self.other_stores(),
            window_tokens: self.config.limits.window_tokens,
        }))
    }

    fn roles(&self) -> Roles {
        let persona = &self.config.persona;
        let known = persona.roles.iter().map(|(name, role)| (name.clone(), role.description.clone())).collect();
        Roles { known, default: persona.default_role.clone() }
    }

    /// Somebody at this machine's console: whoever can open the home is its owner.
    pub fn console_visitor(&self, from: &Address) -> Visitor {
        Visitor { from: from.clone(), principal: owner_principal(), origin: Origin::Owner }
    }

    /// A new instance of a door.
    pub fn open_door(&self, door: &str) -> anyhow::Result<Instance> {
        let locks = self.config.home.locks();
        Instance::open(&locks, door).with_context(|| format!("cannot create a lock file in {}", locks.display()))
    }

    /// Ends the servers. Everything that was committed stays; the store commits what is left when it is dropped.
    pub async fn close(&self) {
        self.gate.remember_late_servers().await;
        self.gate.hub().shutdown().await;
    }
}

/// Why a file is not there, if it has gone in order.
fn gone(store: &Store, digest: &str) -> Option<std::io::Error> {
    let (at_ms, why) = store.read(|tx| tx.artifact_removal(digest)).ok()??;
    let words = format!("removed by {why} on {}", day(at_ms));
    Some(std::io::Error::new(std::io::ErrorKind::NotFound, words))
}

/// A day as a person writes it.
pub fn day(at_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default();
    at.strftime("%Y-%m-%d").to_string()
}

/// Where the key of the audit is, as the store takes it.
pub fn anchor_place(kept: &KeptApart) -> Option<AnchorPlace> {
    Some(AnchorPlace { folder: kept.folder.clone()?, credential: kept.credential.clone() })
}

/// A sink for what nobody looks at.
pub fn unseen() -> LiveSink {
    Arc::new(|_| {})
}

/// The principal of the person at this machine.
pub fn owner_principal() -> String {
    format!("console:uid:{}", rustix::process::getuid().as_raw())
}

/// Everybody who may answer questions: the person at this machine, and the owners at other doors.
fn approvers(config: &Config) -> String {
    let telegram = config.telegram.iter().flat_map(|telegram| &telegram.owners);
    let others = telegram.map(|id| telegram_principal(*id));
    std::iter::once(owner_principal()).chain(others).collect::<Vec<_>>().join(",")
}

/// The principal of a Telegram user.
pub fn telegram_principal(user: i64) -> String {
    format!("telegram:{user}")
}

/// The environment as the rooms take it.
fn variables(config: &Config) -> BTreeMap<String, String> {
    config.env.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn secret_pairs(config: &Config) -> Vec<(String, String)> {
    let exposed = |(name, value): &(String, SecretString)| (name.clone(), value.expose_secret().to_owned());
    let mut pairs: Vec<_> = config.secrets.iter().map(exposed).collect();
    // What is a secret of one agent is one for all, also while that agent's file cannot be used.
    for path in manifests(config) {
        let text = crate::config::read_if_there(&path).ok().flatten();
        let manifest =
            text.zip(expansion(config)).and_then(|(text, expansion)| manifest::parse(&text, &expansion).ok());
        pairs.extend(manifest.iter().flat_map(secrets::secrets));
    }
    pairs
}

/// The `mcp.json` of every agent of the home.
fn manifests(config: &Config) -> impl Iterator<Item = PathBuf> {
    config.agents.iter().map(|card| match card.name.as_str() {
        MAIN => config.home.root().join("mcp.json"),
        name => config.home.of_agent(name).path().join("mcp.json"),
    })
}

fn load_policy(config: &Config) -> anyhow::Result<Policy> {
    let refused = |path: &PathBuf| format!("{} is refused, so claw does not start", path.display());
    let path = config.home.policy_toml();
    let text = crate::config::read_if_there(&path)?;
    let policy = Policy::load(text.as_deref()).with_context(|| refused(&path))?;
    let Some(path) = config.home.own_policy_toml() else { return Ok(policy) };
    let Some(own) = crate::config::read_if_there(&path)? else { return Ok(policy) };
    policy.with(&format!("agents/{}/policy.toml", config.agent.name), &own).with_context(|| refused(&path))
}

fn load_manifest(config: &Config) -> anyhow::Result<Manifest> {
    let path = config.home.mcp_json();
    let text = crate::config::read_if_there(&path)?.with_context(|| format!("{} is gone", path.display()))?;
    let expansion = expansion(config).context("cannot find this program's own path")?;
    let mut manifest = manifest::parse(&text, &expansion).with_context(|| format!("{} is refused", path.display()))?;
    if let Some(unknown) = config.tools.schema_pinned().iter().find(|name| !manifest.servers.contains_key(*name)) {
        let known = manifest.servers.keys().cloned().collect::<Vec<_>>().join(", ");
        return Err(crate::config::ConfigError {
            place: config.home.claw_toml().display().to_string(),
            message: format!("`tools.pins` names the server `{unknown}`, which mcp.json does not have"),
            next: format!("It has {known}"),
        }
        .into());
    }
    keep_servers(&mut manifest, config)?;
    for entry in manifest.servers.values_mut() {
        if let Launch::Stdio(StdioLaunch { own: Some(own), args, .. }) = &mut entry.launch {
            match args.get(1).map(String::as_str) {
                Some("bash") => own.extra_args.extend(bash_limits(config)),
                Some("filesystem") => own.extra_args.extend(config.persona.server_args()),
                _ => {}
            }
        }
    }
    Ok(manifest)
}

/// What the variables of `mcp.json` stand for. `None` where this program does not know its own path.
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
        let known = manifest.servers.keys().cloned().collect::<Vec<_>>().join(", ");
        let agent = &config.agent.name;
        return Err(crate::config::ConfigError {
            place: config.home.claw_toml().display().to_string(),
            message: format!("`servers` of the agent {agent} lists `{unknown}`, which mcp.json does not have"),
            next: format!("It has {known}"),
        }
        .into());
    }
    manifest.servers.retain(|name, _| wanted.contains(name));
    Ok(())
}

/// A command ends a little before claw's own limit of a call, so that its end is known and told.
/// And as many run side by side as the gate lets through, so that none waits while claw's own clock runs.
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
        ("--command-open-files-max", limits.command_open_files_max),
        ("--command-disk-free-bytes-min", limits.command_disk_free_bytes_min),
    ]
    .into_iter()
    .flat_map(|(option, value)| [option.to_owned(), value.to_string()])
    .chain(["--output-dir".to_owned(), config.home.command_output().display().to_string()])
    .collect()
}

/// Our own servers are told where to work and what never to touch, whatever `mcp.json` says.
fn own_server_args(config: &Config) -> Vec<String> {
    let text = |path: &PathBuf| path.display().to_string();
    let home = config.home.root().to_owned();
    let protected = std::iter::once(&home).chain(&config.kept_apart.folder);
    let protected = protected.flat_map(|path| ["--protect".to_owned(), text(path)]);
    ["--workspace".to_owned(), text(&config.workspace)].into_iter().chain(protected).collect()
}

fn hub_settings(config: &Config, redactor: &Redactor, store: &Store) -> anyhow::Result<HubSettings> {
    let beside = config.home.mcp_json().parent().map_or_else(|| config.home.path().to_owned(), Path::to_owned);
    let mut settings = HubSettings::new(variables(config), beside);
    settings.server_dirs = config.home.servers();
    // The link in /proc still leads to this program after its file was replaced by an update.
    let own = if cfg!(target_os = "linux") { PathBuf::from("/proc/self/exe") } else { std::env::current_exe()? };
    settings.supervisor = Some(vec![own.into(), supervisor::COMMAND.into()]);
    let eras = store.read(|tx| tx.launches())?;
    settings.known_eras = eras.into_iter().filter_map(|(server, era)| Some((server, Era::parse(&era)?))).collect();
    settings.schema_pinned = config.tools.schema_pinned().clone();
    settings.log = crate::logging::server_log(config.home.logs(), redactor.clone());
    let learner = redactor.clone();
    settings.secrets = Arc::new(move |secrets| {
        let known = crate::logging::learn_secrets(&secrets).and_then(|()| learner.learn(secrets));
        known.map_err(|error| error.to_string())
    });
    settings.startup_timeout = Duration::from_secs(config.limits.server_start_s);
    if let Some(written) = &config.inherit {
        settings.inherit = inherit::resolve(written, &settings.inherit);
    }
    settings.notices = Arc::new(|notice| tracing::warn!(?notice, "a server needs attention"));
    Ok(settings)
}

fn gate_settings(config: &Config) -> GateSettings {
    GateSettings {
        workspace: config.workspace.clone(),
        home: config.home.root().to_owned(),
        user_home: config.user_home.clone(),
        // Asked at the first call: a turn without one does not need to know.
        confined: Arc::new(LazyLock::new(|| claw_mcp_bash::probe().keeps_files())),
        tool_timeout: Duration::from_secs(config.limits.tool_timeout_s),
        server_wait: Duration::from_millis(config.limits.server_wait_ms),
        tool_result_bytes: config.limits.tool_result_bytes as usize,
        server_instructions_bytes: config.limits.server_instructions_bytes as usize,
        question_time: Duration::from_secs(config.limits.question_time_s),
        calls_at_once: config.limits.tool_calls_parallel_max as usize,
        owner: approvers(config),
        staged_actions_max: config.limits.staged_actions_max as usize,
        tools: config.tools.clone(),
        program: program(),
    }
}

/// Which build this is: its version, and the size and time of its file.
fn program() -> String {
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let stamp = file.ok().and_then(|meta| {
        let modified = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(format!("{}:{}", meta.len(), modified.as_nanos()))
    });
    format!("{} {}", env!("CARGO_PKG_VERSION"), stamp.unwrap_or_default())
}
