//! What is written (environment, `claw.toml`, the home) becomes what is meant (validated). The only reader of the process
//! environment. Must not know any room that uses a setting.

mod env;
mod error;
mod expand;
mod file;
mod home;
mod limits;
pub mod model;
mod prices;
mod retention;
mod secrets;
mod telegram;
pub mod toml_fault;
mod tools;
mod transcription;
mod workspace;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

pub use env::Env;
pub use error::ConfigError;
pub use file::{Color, ConsoleSection};
pub use home::{DEFAULT_MCP_JSON, DEFAULT_SOUL_MD, Home};
pub use limits::Limits;
pub use prices::{Price, Prices};
pub use retention::Retention;
pub use secrets::secret_values;
pub use telegram::{Pairing, Telegram, TelegramSection};
pub use tools::Tools;
pub use transcription::{Transcription, TranscriptionSection};

/// The largest `claw.toml`, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What the command line says, which goes before everything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--workspace DIR`
    pub workspace: Option<PathBuf>,
    /// `--model NAME`
    pub model: Option<String>,
}

/// Everything that was written, as it is meant. Made once; nothing in it changes.
#[derive(Debug)]
pub struct Config {
    pub home: Home,
    /// The home of the user that claw runs as.
    pub user_home: PathBuf,
    /// The folder that tools work in: real, existing, and apart from claw's own files.
    pub workspace: PathBuf,
    pub model: model::ModelSection,
    pub prices: Prices,
    pub limits: Limits,
    pub retention: Retention,
    pub tools: Tools,
    pub console: ConsoleSection,
    /// Where the owner lives.
    pub zone: jiff::tz::TimeZone,
    /// The Telegram door, if there is a token for it.
    pub telegram: Option<Telegram>,
    /// Where speech becomes text, if somewhere.
    pub transcription: Option<Transcription>,
    pub env: Env,
    /// Names and values that must not leave: from the environment by name, from keys such as `model.api_key`, and from
    /// `[redact] extra`.
    pub secrets: Vec<(String, SecretString)>,
    /// What was repaired on the way, a sentence each, for the person.
    pub notices: Vec<String>,
}

/// `CLAW_LOG`, the filter of the log. Apart from `Config`, because a start that fails is logged, too.
pub fn log_filter() -> Option<String> {
    Env::from_process().get("CLAW_LOG").map(str::to_owned)
}

/// Where the home is, without reading or making anything: for what has to work when a setting is wrong, or when there is no
/// home yet.
pub fn locate_home() -> Result<Home, ConfigError> {
    let env = Env::from_process();
    let user_home = env.get("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Home::locate(&env, user_home.as_deref())
}

/// Whether `claw.toml` can be read by itself, whatever else is wrong.
pub fn check_claw_toml(home: &Home) -> Result<(), ConfigError> {
    let text = read_if_there(&home.claw_toml())?.unwrap_or_default();
    file::read(&home.claw_toml().display().to_string(), &text, &Env::from_process()).map(|_| ())
}

impl Config {
    /// Reads the process environment and the home. Makes the home and the workspace where they are missing.
    pub fn load(overrides: Overrides) -> Result<Self, ConfigError> {
        Self::load_from(Env::from_process(), overrides)
    }

    /// The same from a given environment.
    pub fn load_from(env: Env, overrides: Overrides) -> Result<Self, ConfigError> {
        let env = match &overrides.model {
            // What is typed goes before what is set.
            Some(model) => env.with("CLAW_MODEL", model),
            None => env,
        };
        let user_home = env.get("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let mut home = Home::locate(&env, user_home.as_deref())?;
        let notices = home.ensure()?;
        let place = home.claw_toml().display().to_string();
        let text = read_if_there(&home.claw_toml())?.unwrap_or_default();
        let written = file::read(&place, &text, &env)?;
        let (folder, said_by) = workspace_of(&env, overrides, &written.file, &home, user_home.as_deref());
        let workspace = workspace::prepare(&folder, &said_by, &home)?;
        let telegram = written.file.telegram.resolve(&env)?;
        let zone = zone_of(written.file.time_zone.as_deref(), &place)?;
        let transcription = written.file.transcription.resolve();
        let transcription = transcription
            .map_err(|message| ConfigError::new(&place, message, "Correct the section and start again"))?;
        let mut secrets = secret_values(&env);
        secrets.extend(written.secrets);
        let secrets = secrets.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect();
        let user_home = user_home.unwrap_or_else(|| home.path().to_path_buf());
        let file::ClawToml { model, prices, limits, retention, console, .. } = written.file;
        Ok(Self {
            home,
            user_home,
            workspace,
            model,
            prices,
            limits,
            retention,
            tools: written.tools,
            console,
            zone,
            telegram,
            transcription,
            env,
            secrets,
            notices,
        })
    }
}

fn zone_of(written: Option<&str>, place: &str) -> Result<jiff::tz::TimeZone, ConfigError> {
    let Some(name) = written else { return Ok(jiff::tz::TimeZone::system()) };
    jiff::tz::TimeZone::get(name).map_err(|_| {
        let message = format!("time_zone: there is no zone `{name}`");
        ConfigError::new(place, message, "Write it as in the IANA database, for example \"Europe/Berlin\"")
    })
}

/// The folder, and where it was written. A relative one is relative to the current folder, in `claw.toml` to the home.
fn workspace_of(
    env: &Env,
    overrides: Overrides,
    file: &file::ClawToml,
    home: &Home,
    user_home: Option<&Path>,
) -> (PathBuf, String) {
    if let Some(folder) = overrides.workspace {
        return (folder, "--workspace".to_owned());
    }
    if let Some(written) = env.get("CLAW_WORKSPACE") {
        return (home::with_tilde(written, user_home), "CLAW_WORKSPACE".to_owned());
    }
    match &file.workspace {
        Some(written) => (
            home.path().join(home::with_tilde(written, user_home)),
            format!("{}, workspace", home.claw_toml().display()),
        ),
        None => (home.workspace(), "workspace".to_owned()),
    }
}

/// The text of a file that may be missing. A folder, a file that is too large or not UTF-8, and one that cannot be opened
/// are errors; they are never taken for a missing one.
pub fn read_if_there(path: &Path) -> Result<Option<String>, ConfigError> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        // A link that leads nowhere is no missing file.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            return Ok(None);
        }
        Err(error) => return Err(ConfigError::io(path, "this file cannot be opened", &error)),
    };
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| ConfigError::io(path, "this file cannot be read", &error))?;
    let wrong = |message: &str| ConfigError::new(path.display().to_string(), message, "Put the right file there");
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(wrong("this file is larger than 1 MiB"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| wrong("this file is not UTF-8 text"))
}

#[cfg(test)]
mod tests;
