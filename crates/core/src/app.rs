//! Builds and connects the rooms. The only file that names all of them; it decides nothing.

mod chat_commands;
mod clients;
mod doors;
mod folders;
mod gate;
mod heartbeats;
mod jobs;
mod notes;
pub mod openings;
mod persona;
mod servers;
mod settings;
pub mod watch;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::OnceCell;

use crate::chat_commands::ChatCommands;
use crate::clients::Clients;
use crate::config::{Config, Heartbeat, KeptApart, Written};
use crate::domain::{Address, Approvers, ClientName, Origin};
use crate::gate::{Gate, GatesOfFolders};
use crate::mail::{Instance, Mail};
use crate::model::{Chain, LoadImage};
use crate::redact::Redactor;
use crate::router::{Router, Visitor};
use crate::session::{Budget, Ending, TurnSettings, Worker, WorkerParts};
use crate::store::{AnchorPlace, Artifacts, Store};
use crate::turn::Bounds;
use crate::turn::run::Runner;

use gate::load_policy;
pub use notes::MemoryLaunch;
use servers::{load_manifest, secret_pairs};
pub use settings::LiveSettings;

/// Everything that one agent is made of.
pub struct App {
    /// As it was at the start. What can change while claw runs is read by [`App::settings`].
    pub config: Config,
    /// Closed last, by `close`.
    pub store: Store,
    /// Holds the hub, whose servers end with `close`.
    pub gate: Arc<Gate>,
    /// A handle of `store`; doors and the router have clones.
    pub mail: Mail,
    /// A handle of `mail` and `gate`; doors have clones.
    pub router: Router,
    /// MCP clients that call claw; doors have clones.
    pub clients: Clients,
    /// What the author of `mcp.json` should know, one sentence each.
    pub warnings: Vec<String>,
    /// Why `heartbeats.toml` was refused at the start, in a sentence or two.
    pub heartbeats_fault: Option<String>,
    /// How claw's own memory server is started, behind `claw server memory`. `None` where
    /// `mcp.json` has none.
    memory: RwLock<Option<MemoryLaunch>>,
    /// The same of claw's own scheduler.
    scheduler: RwLock<Option<Vec<String>>>,
    /// Those of `heartbeats.toml`; the room of heartbeats hears of another value.
    heartbeats: tokio::sync::watch::Sender<Arc<Vec<Heartbeat>>>,
    /// The files of settings, as they were when they were read.
    watched: tokio::sync::Mutex<watch::Watched>,
    /// What claw follows of the files now. Replaced whole when they change.
    settings: Arc<RwLock<Arc<LiveSettings>>>,
    /// What is in force, key by key.
    written: Mutex<Written>,
    /// The models. Chosen at the first need; replaced whole with the settings.
    chosen: OnceCell<RwLock<Arc<Chain>>>,
    /// Made at the first turn, with the models; it lives as long as the process.
    worker: OnceCell<Arc<Worker>>,
    /// Made when a door first asks for it.
    chat_commands: OnceCell<ChatCommands>,
    /// By which the process tells all its sessions that it ends, in whichever folder.
    ending: Ending,
    /// Where conversations work that have a folder of their own. Made at the first one.
    folders: OnceLock<folders::Folders>,
    /// Of those that are open.
    folder_gates: GatesOfFolders,
}

impl App {
    /// Opens the home: store, policy, servers. Starts no server and asks no model yet.
    pub fn open(config: Config) -> anyhow::Result<Self> {
        let store = Store::open_anchored(
            &config.home.claw_db(),
            anchor_place(&config.kept_apart).as_ref(),
        )?;
        store.set_look_anyhow(Duration::from_secs(config.limits.store_look_s));
        Self::open_on(config, store, Ending::default())
    }

    /// The same on a store that is open, as a part of a process that ends as a whole.
    fn open_on(config: Config, store: Store, ending: Ending) -> anyhow::Result<Self> {
        let watched = watch::Watched::begin(&config).into();
        let policy = load_policy(&config)?;
        let settings = LiveSettings::of(&config);
        let manifest = load_manifest(&config, &settings)?;
        let redactor = Redactor::new(secret_pairs(&config))?;
        let warnings = manifest.warnings.clone();
        let (heartbeats, heartbeats_fault) = heartbeats::read(&config);
        let heartbeats = tokio::sync::watch::Sender::new(Arc::new(heartbeats));
        let memory = RwLock::new(notes::launch(&manifest));
        let scheduler = RwLock::new(jobs::launch(&manifest));
        make_room_for_commands();
        crate::logging::keep_secrets(&redactor);
        let gate = gate::gate((&config, &settings), &store, manifest, policy, redactor)?;
        let gate = Arc::new(gate);
        let mail = Mail::new(store.clone(), config.limits.queued_messages_max)
            .in_zone(config.zone.clone());
        let router = Router::new(mail.clone(), gate.clone());
        let (settings, written) =
            (Arc::new(RwLock::new(Arc::new(settings))), Mutex::new(config.written.clone()));
        let clients = clients::clients(&config, (&store, &gate), &settings, &ending);
        let (chosen, worker, chat_commands) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Ok(Self {
            config,
            store,
            gate,
            mail,
            router,
            clients,
            warnings,
            memory,
            scheduler,
            heartbeats,
            heartbeats_fault,
            watched,
            settings,
            written,
            chosen,
            worker,
            chat_commands,
            ending,
            folders: OnceLock::new(),
            folder_gates: GatesOfFolders::default(),
        })
    }

    /// The models, picked at the first need and when `[model]` changes. An error names what to set.
    pub async fn model(&self) -> anyhow::Result<Arc<Chain>> {
        let picked = self.chosen.get_or_try_init(|| async {
            let chain = self.chain_of(&self.settings()).await?;
            anyhow::Ok(RwLock::new(Arc::new(chain)))
        });
        Ok(picked.await?.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// The models, if they were picked.
    fn model_now(&self) -> Option<Arc<Chain>> {
        Some(self.chosen.get()?.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Whether one of the models that answer sees images.
    pub fn sees_images(&self) -> bool {
        self.model_now().is_some_and(|chain| chain.sees_images)
    }

    /// The models of another app of the same settings.
    fn take_model(&self, chain: Arc<Chain>) {
        drop(self.chosen.set(RwLock::new(chain)));
    }

    /// Whoever picks models first picks by the new settings anyway.
    fn put_model(&self, chain: Chain) {
        if let Some(chosen) = self.chosen.get() {
            *chosen.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(chain);
        }
    }

    async fn chain_of(&self, settings: &LiveSettings) -> anyhow::Result<Chain> {
        let (artifacts, store) = (self.artifacts(), self.store.clone());
        let load: LoadImage = Arc::new(move |digest| {
            std::fs::read(artifacts.path(digest))
                .map_err(|error| gone(&store, digest).unwrap_or(error))
        });
        Ok(crate::model::chain(&self.model_section(settings), &variables(&self.config), &load)
            .await?)
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
                let settings = self.turn_settings(&*self.model().await?);
                anyhow::Ok(Arc::new(Worker::new(WorkerParts {
                    store: self.store.clone(),
                    gate: self.gate.clone(),
                    settings,
                    ending: self.ending.clone(),
                })))
            })
            .await?;
        Ok(built.clone())
    }

    /// What turns go by that begin now.
    fn turn_settings(&self, chain: &Chain) -> TurnSettings {
        let (model, settings) = (chain.model.clone(), self.settings());
        // The demo reads commands and nothing else.
        let zone = (model.provider() != "demo").then(|| self.config.zone.clone());
        let runner = Runner {
            model,
            compaction: chain.compaction.clone(),
            gate: self.gate.clone(),
            personas: persona::personas(self),
            bounds: Bounds {
                window_tokens: self.window_tokens(chain),
                model_tokens: chain.window_tokens.unwrap_or(u64::MAX),
                ..self.bounds()
            },
            recall: notes::recall_limits(&settings.memory, self.memory().as_ref()),
            proposes_facts: settings.memory.proposals_from_summaries,
            project_bytes_max: settings.prompt.project_bytes_max(),
            git_time: settings.prompt.git_time(),
            tool_room: settings::tool_room(settings.tools.listed, chain),
            zone,
        };
        TurnSettings {
            runner,
            turn_time_s: settings.limits.turn_time_s,
            deaths_of_turn_max: settings.limits.deaths_of_turn_max,
            idle_window_s: settings.limits.idle_window_s,
            budget: self.budget(),
            heartbeats: self.heartbeat_budgets(),
            serve: settings.serve.clone(),
        }
    }

    /// The limits that decide what a turn does next.
    pub fn bounds(&self) -> Bounds {
        let limits = &self.settings().limits;
        Bounds {
            model_steps_max: limits.model_steps_max,
            window_tokens: limits.window_tokens,
            window_messages: limits.window_messages,
            model_tokens: u64::MAX,
            identical_calls_max: limits.identical_calls_max,
        }
    }

    /// From how many tokens on a window of these models is summarised: a reply, the tools and what
    /// is estimated too low need room, too.
    fn window_tokens(&self, chain: &Chain) -> u64 {
        let of_model = chain.window_tokens.map_or(u64::MAX, |tokens| tokens / 4 * 3);
        self.settings().limits.window_tokens.min(of_model)
    }

    /// What models may take in a day.
    pub fn budget(&self) -> Budget {
        let settings = self.settings();
        Budget {
            tokens_day_max: settings.limits.tokens_day_max,
            usd_cents_day_max: settings.limits.usd_cents_day_max,
            prices: settings.prices.clone(),
            zone: self.config.zone.clone(),
        }
    }

    /// Somebody at this machine's console: whoever can open the home is its owner.
    pub fn console_visitor(&self, from: &Address) -> Visitor {
        Visitor { from: from.clone(), principal: owner_principal(), origin: Origin::Owner }
    }

    /// A new instance of a door.
    pub fn open_door(&self, door: &str) -> anyhow::Result<Instance> {
        let locks = self.config.home.locks();
        Instance::open(&locks, door)
            .with_context(|| format!("cannot create a lock file in {}", locks.display()))
    }

    /// Ends the servers. Everything that was committed stays; the store commits what is left when
    /// it is dropped.
    pub async fn close(&self) {
        if let Some(folders) = self.folders.get() {
            // An app of a folder has none of its own, but its type does not say so.
            Box::pin(folders.close()).await;
        }
        self.gate.catalog().remember_late_servers().await;
        self.gate.hub().shutdown().await;
    }

    /// Leaves the windows of sessions to the system, for a process that ends now: to give back
    /// thousands of short messages one by one takes longer than the system needs for all.
    pub fn leave_windows(&self) {
        if let Some(worker) = self.worker.get() {
            worker.leave_windows();
        }
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

/// The principal of the person at this machine.
pub fn owner_principal() -> String {
    format!("console:uid:{}", rustix::process::getuid().as_raw())
}

/// Everybody who may answer questions: the person at this machine, the owners at other doors, and
/// the owner in a client where that is configured.
fn approvers(config: &Config) -> Approvers {
    let others = config.chat_owners.iter().cloned();
    let in_clients = config.serve.approve_in_client.iter().map(ClientName::owner_in);
    std::iter::once(owner_principal()).chain(others).chain(in_clients).collect()
}

/// Moves this process into a cgroup beside those of commands, before it starts a server. Where that
/// is not possible, the bash server says why.
fn make_room_for_commands() {
    if let Ok(room) = claw_mcp_bash::look_for_cgroup()
        && let Err(why) = room.settle()
    {
        tracing::debug!(%why, "commands have no cgroup of their own");
    }
}

/// The environment as the rooms take it.
fn variables(config: &Config) -> BTreeMap<String, String> {
    config.env.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
