//! What is written (environment, `claw.toml`, the home) becomes what is meant (validated). The only
//! reader of the process environment. Must not know any room that uses a setting.

mod agents;
mod audit;
mod behind;
mod chat_folder;
#[cfg(test)]
mod documented;
mod doors;
mod draft;
mod embeddings;
mod env;
mod error;
mod expand;
mod file;
mod heartbeats;
mod here;
mod home;
mod kept_apart;
mod limits;
mod memory;
pub mod model;
mod openings;
mod persona;
pub mod persona_versions;
mod place;
mod prices;
mod prompt;
mod range;
mod retention;
mod roles;
mod secrets;
mod seen;
mod serve;
mod tools;
mod tools_listed;
mod transcription;
mod update;
mod workspace;
mod written;
mod zone;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use crate::domain::{AgentCard, Opening};
use claw_toml_fault as toml_fault;
/// The known name that a wrong one most likely stands for.
pub use claw_toml_fault::closest;

pub use agents::{MAIN, is_agent_name};
pub use audit::AuditSection;
pub use behind::BEHIND;
pub use doors::{Bot, BotHelp, BotNote, DoorNotes, DoorSection, DoorSections, DoorTexts};
pub use draft::ConfigDraft;
pub use embeddings::{EmbeddingsForm, EmbeddingsKey, EmbeddingsSection, EmbeddingsUse};
pub use env::Env;
pub use error::ConfigError;
pub use heartbeats::{
    DEFAULT_HEARTBEATS_TOML, Heartbeat, HeartbeatBudget, HeartbeatBudgets, HeartbeatCheck,
    HeartbeatTimes, ImportedHeartbeat, drafted_heartbeat, end_of_day, heartbeat_entry,
    import_heartbeats, load_heartbeats, with_heartbeat, with_heartbeats,
};
pub use here::Started;
pub use home::{DEFAULT_MCP_JSON, DEFAULT_SOUL_MD, Home};
pub use kept_apart::KeptApart;
pub use limits::Limits;
pub use memory::MemorySection;
pub use model::ModelKeys;
pub use openings::OpenFolder;
pub use persona::{
    FILE_KIB_MAX, MEMORY, PERSONA_FILES, PersonaFile, PersonaRead, PersonaSources, USER,
};
pub use persona_versions::{PersonaVersion, PersonaVersions};
pub use prices::{Price, Prices};
pub use prompt::PromptSection;
pub use retention::Retention;
pub use roles::PersonaRole;
pub use secrets::secret_values;
pub use seen::ExistingSettings;
pub use serve::ServeSection;
pub use tools::Tools;
pub use tools_listed::ToolsListed;
pub use transcription::{Transcription, TranscriptionSection};
pub use update::UpdateSection;
pub use written::{ChangedKey, Written};

/// The largest `claw.toml`, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What the program itself says: which doors it has, and what was typed, which goes before
/// everything else.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The sections of its doors.
    pub doors: DoorSections,
    /// `--workspace DIR`
    pub workspace: Option<PathBuf>,
    /// `--model NAME`
    pub model: Option<String>,
    /// `--agent NAME`
    pub agent: Option<String>,
    /// Where the command was started, if it works where that is.
    pub started: Option<Started>,
}

/// An agent's name and its settings, or what is wrong with them.
pub type OfAgent = (String, Result<Config, ConfigError>);

/// Everything that was written, as it is meant. Made once; nothing in it changes.
#[derive(Debug)]
pub struct Config {
    /// Which agent these are the settings of.
    pub agent: AgentCard,
    /// All agents of the home, the main one first.
    pub agents: Vec<AgentCard>,
    /// The servers that it may use; all of `mcp.json` if there is no list.
    pub servers: Option<Vec<String>>,
    /// The variables that servers of others get from the environment, as written; the usual ones if
    /// there is no list.
    pub inherit: Option<Vec<String>>,
    pub home: Home,
    /// The home of the user that claw runs as.
    pub user_home: PathBuf,
    /// The folder that tools work in: real, existing, and apart from claw's own files.
    pub workspace: PathBuf,
    /// The one that is configured, where another was found or typed. It need not be there.
    pub usual_workspace: PathBuf,
    /// The session of a conversation that names none, if it belongs to a folder.
    pub session_of_folder: Option<String>,
    /// Why claw does not work in the repository where it was started; a sentence.
    pub place_notice: Option<String>,
    /// Who the agent is, and the roles within it.
    pub persona: PersonaSources,
    pub model: model::ModelSection,
    pub prices: Prices,
    pub limits: Limits,
    pub retention: Retention,
    pub audit: AuditSection,
    /// What must not lie in the home.
    pub kept_apart: KeptApart,
    pub tools: Tools,
    pub memory: MemorySection,
    pub prompt: PromptSection,
    /// Of MCP clients that call claw.
    pub serve: ServeSection,
    /// What is opened to commands beside the workspace.
    pub open_folders: Vec<OpenFolder>,
    /// What is open to commands that ask for it by name.
    pub openings: Vec<Opening>,
    /// Where the owner lives.
    pub zone: jiff::tz::TimeZone,
    /// What the sections of doors say; each door reads its own.
    pub doors: DoorTexts,
    /// The principals of the owners at the doors that are chats.
    pub chat_owners: Vec<String>,
    /// Where it is written who may talk in a chat, as a person calls it.
    pub allowed_source: Option<String>,
    /// The bots that doors are to run, those that lack something too.
    pub bots: Vec<Bot>,
    /// Where speech becomes text, if somewhere.
    pub transcription: Option<Transcription>,
    pub env: Env,
    /// Names and values that must not leave: from the environment by name, from keys such as
    /// `model.api_key`, and from `[redact] extra`.
    pub secrets: Vec<(String, SecretString)>,
    /// What the file says, key by key.
    pub written: Written,
    /// What was repaired on the way, a sentence each, for the person.
    pub notices: Vec<String>,
}

/// `CLAW_LOG`, the filter of the log. Apart from `Config`, because a start that fails is logged,
/// too.
pub fn log_filter() -> Option<String> {
    Env::from_process().get("CLAW_LOG").map(str::to_owned)
}

/// Where the home is, without reading or making anything: for what has to work when a setting is
/// wrong, or when there is no home yet.
pub fn locate_home() -> Result<Home, ConfigError> {
    home_of(&Env::from_process())
}

/// The same for what is kept outside of it.
pub fn locate_kept_apart() -> KeptApart {
    let env = Env::from_process();
    KeptApart::of(&env, user_home_of(&env).as_deref())
}

/// The agent that was asked for, which has to be one of the file.
fn agent_of(overrides: &Overrides, agents: &[AgentCard]) -> Result<String, ConfigError> {
    let agent = overrides.agent.clone().unwrap_or_else(|| MAIN.to_owned());
    if agents.iter().any(|card| card.name == agent) {
        return Ok(agent);
    }
    let names: Vec<&str> = agents.iter().map(|card| card.name.as_str()).collect();
    let next = format!("The agents are {}", names.join(", "));
    Err(ConfigError::new("--agent", format!("there is no agent `{agent}`"), next))
}

/// Those of the environment, those written in `claw.toml`, and those that doors know of.
fn all_secrets(
    env: &Env,
    written: Vec<(String, String)>,
    of_doors: Vec<(String, SecretString)>,
) -> Vec<(String, SecretString)> {
    let known = secret_values(env).into_iter().chain(written);
    known.map(|(name, value)| (name, SecretString::from(value))).chain(of_doors).collect()
}

fn home_of(env: &Env) -> Result<Home, ConfigError> {
    Home::locate(env, user_home_of(env).as_deref())
}

fn user_home_of(env: &Env) -> Option<PathBuf> {
    env.get("HOME").map(PathBuf::from).filter(|path| path.is_absolute())
}

/// `[update]` alone, without making anything: an update may be what is needed where nothing else
/// works.
pub fn update_section(doors: &DoorSections) -> Result<UpdateSection, ConfigError> {
    Ok(read_as_it_is(&locate_home()?, doors)?.file.update)
}

/// Whether `claw.toml` is no text or no TOML at all, so that nothing in it can be meant.
pub fn is_no_toml(home: &Home) -> bool {
    let Ok(Some(bytes)) = bytes_if_there(&home.claw_toml()) else { return false };
    !std::str::from_utf8(&bytes).is_ok_and(|text| toml::de::DeTable::parse(text).is_ok())
}

/// What `claw.toml` says to the main agent.
fn read_as_it_is(home: &Home, doors: &DoorSections) -> Result<file::AgentFile, ConfigError> {
    let text = read_if_there(&home.claw_toml())?.unwrap_or_default();
    let place = home.claw_toml().display().to_string();
    file::read((&place, &text), &Env::from_process(), MAIN, doors)
}

impl Config {
    /// Whether a door runs a bot for this agent.
    pub fn has_bot(&self) -> bool {
        self.bots.iter().any(|bot| bot.note.token.is_ok())
    }

    /// Why there is none of a door although one was meant.
    pub fn bots_missing(&self) -> impl Iterator<Item = &str> {
        self.bots.iter().filter_map(|bot| bot.note.token.as_ref().err().map(String::as_str))
    }

    /// Reads the process environment and the home. Makes the home and the workspace where they are
    /// missing.
    pub fn load(overrides: Overrides) -> Result<Self, ConfigError> {
        Self::load_from(Env::from_process(), overrides)
    }

    /// The settings of every agent of the home, the main one first. What is wrong with one does not
    /// touch the others.
    ///
    /// # Errors
    /// A home that cannot be used, and a `claw.toml` that cannot be read at all.
    pub fn load_all(overrides: &Overrides) -> Result<Vec<OfAgent>, ConfigError> {
        let env = Env::from_process();
        let mut home = home_of(&env)?;
        home.ensure()?;
        let text = read_if_there(&home.claw_toml())?.unwrap_or_default();
        let place = home.claw_toml().display().to_string();
        let agents = file::agents((&place, &text), &overrides.doors)?;
        let load = |card: AgentCard| {
            // A folder that is typed is the main one's, like the one that is set: two agents must
            // not meet in it by chance.
            let workspace = overrides.workspace.clone().filter(|_| card.name == MAIN);
            let agent = Some(card.name.clone());
            let doors = overrides.doors.clone();
            let of_agent = Overrides { doors, agent, workspace, model: None, started: None };
            let typed = overrides.model.as_deref();
            (card.name, Self::load_as(env.clone(), of_agent, typed))
        };
        Ok(agents.into_iter().map(load).collect())
    }

    /// The same from a given environment.
    pub fn load_from(env: Env, overrides: Overrides) -> Result<Self, ConfigError> {
        Self::load_as(env, overrides, None)
    }

    /// `typed_for_all` is a model that is for every agent without one of its own.
    fn load_as(
        env: Env,
        overrides: Overrides,
        typed_for_all: Option<&str>,
    ) -> Result<Self, ConfigError> {
        let (mut home, user_home) = (home_of(&env)?, user_home_of(&env));
        let text = read_if_there(&home.claw_toml())?.unwrap_or_default();
        let place = home.claw_toml().display().to_string();
        let (source, doors) = ((place.as_str(), text.as_str()), &overrides.doors);
        let agents = file::agents(source, doors)?;
        let agent = agent_of(&overrides, &agents)?;
        if agent != MAIN {
            home = home.of_agent(&agent);
        }
        let mut notices = home.ensure()?;
        let written = file::read(source, &env, &agent, doors)?;
        let keys = file::keys(source, doors, &agents, &agent)?;
        let agent_at = (agent.as_str(), user_home.as_deref());
        let (usual_workspace, chosen) =
            place::place_of(&env, &overrides, &written.file, &place, &home, agent_at)?;
        let here::Chosen { workspace, session_of_folder, place_notice, made: (persona, made) } =
            chosen;
        notices.extend(made);
        let of_doors = written.doors.notes()?;
        let transcription = written.file.transcription.of_file(&place)?;
        let written_secrets = file::secrets_of_all(source, &env, doors)?;
        let secrets = all_secrets(&env, written_secrets, of_doors.secrets);
        let kept_apart = KeptApart::of(&env, user_home.as_deref());
        let open_folders = written.file.openings.folders(user_home.as_deref());
        let user_home = user_home.unwrap_or_else(|| home.root().to_path_buf());
        let own_model = agent != MAIN && written.own_model;
        let typed = overrides.model.as_deref().or(typed_for_all.filter(|_| !own_model));
        let env = env_for(env, typed, own_model);
        let file::ClawToml { model, prices, mut limits, retention, .. } = written.file;
        notices.extend(set_server_start(&env, &mut limits));
        Ok(Self {
            agent: AgentCard {
                name: agent,
                description: written.file.description,
                capabilities: written.file.capabilities,
            },
            agents,
            servers: written.file.servers,
            inherit: written.file.inherit,
            home,
            user_home,
            workspace,
            usual_workspace,
            session_of_folder,
            place_notice,
            persona,
            model,
            prices,
            limits,
            retention,
            audit: written.file.audit,
            kept_apart,
            tools: written.tools,
            memory: written.file.memory,
            prompt: written.file.prompt,
            serve: written.file.serve,
            open_folders,
            openings: written.file.openings.open,
            zone: zone::zone_of(written.file.time_zone.as_deref(), &place)?,
            doors: written.doors,
            chat_owners: of_doors.owners,
            allowed_source: of_doors.allowed_source,
            bots: of_doors.bots,
            transcription,
            env,
            secrets,
            written: keys,
            notices,
        })
    }
}

/// Stands beside `CLAW_MODEL` where that was typed, so that a mistake names the option. No variable
/// of an environment has this name.
pub const TYPED_MODEL: &str = "--model";

/// What is typed goes before what is set, and an agent's own model before what is set for all.
fn env_for(env: Env, typed_model: Option<&str>, own_model: bool) -> Env {
    let env =
        if own_model { env.without(&["CLAW_AGENT", "CLAW_MODEL", "CLAW_BASE_URL"]) } else { env };
    match typed_model {
        Some(model) => env.with("CLAW_MODEL", model).with(TYPED_MODEL, model),
        None => env,
    }
}

/// Sets how long a server may take to start, if the environment says so. A notice about what it
/// says wrongly.
fn set_server_start(env: &Env, limits: &mut Limits) -> Option<String> {
    match server_start(env)? {
        Ok(seconds) => {
            limits.server_start_s = seconds;
            None
        }
        Err(notice) => Some(notice),
    }
}

/// `MCP_TIMEOUT`, by which Claude Code is told how long a server may take to start, in
/// milliseconds. It is written for another program, so that an odd value is told and stops nothing.
fn server_start(env: &Env) -> Option<Result<u64, String>> {
    let written = env.get("MCP_TIMEOUT")?;
    let seconds = written.trim().parse::<u64>().ok().map(|ms| ms.div_ceil(1000));
    Some(match seconds.filter(|seconds| (1..=limits::SERVER_START_S_MAX).contains(seconds)) {
        Some(seconds) => Ok(seconds),
        None => Err(format!(
            "MCP_TIMEOUT is no number of milliseconds up to 3600000, so it is not used: {written}"
        )),
    })
}

/// The text of a file that may be missing. A folder, a file that is too large or not UTF-8, and one
/// that cannot be opened are errors; they are never taken for a missing one.
pub fn read_if_there(path: &Path) -> Result<Option<String>, ConfigError> {
    let Some(bytes) = bytes_if_there(path)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| wrong_file(path, "this file is not UTF-8 text"))
}

fn bytes_if_there(path: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        // A link that leads nowhere is no missing file.
        Err(error)
            if error.kind() == std::io::ErrorKind::NotFound && path.symlink_metadata().is_err() =>
        {
            return Ok(None);
        }
        Err(error) => return Err(ConfigError::io(path, "this file cannot be opened", &error)),
    };
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| ConfigError::io(path, "this file cannot be read", &error))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(wrong_file(path, "this file is larger than 1 MiB"));
    }
    Ok(Some(bytes))
}

fn wrong_file(path: &Path, message: &str) -> ConfigError {
    ConfigError::new(path.display().to_string(), message, "Put the right file there")
}

#[cfg(test)]
mod tests;
