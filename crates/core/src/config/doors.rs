//! Sections of `claw.toml` that belong to doors: which there are, what one says to an agent, and
//! the little that the rest of claw has to know of it. A door's crate owns what its keys mean.
//! Must not know any door.

use std::fmt;
use std::sync::Arc;

use secrecy::SecretString;
use serde::de::DeserializeOwned;
use toml::de::ValueDeserializer;

use super::agents::MAIN;
use super::env::Env;
use super::error::ConfigError;
use super::file;

/// One section. The program hands in those of all its doors (`Overrides::doors`).
#[derive(Debug)]
pub struct DoorSection {
    /// As it is written: `telegram` for `[telegram]`.
    pub name: &'static str,
    /// The keys that an agent does not inherit from the main one.
    pub own_keys: &'static [&'static str],
    /// Whether those may stand in `[agents.NAME]` itself, too. One door at most may say so.
    pub in_agent: bool,
    /// The keys that list variables of the environment with secrets in them.
    pub secret_variables: &'static [&'static str],
    /// What a person is told who has no bot, if this door runs one.
    pub bot_help: Option<BotHelp>,
    /// Whether the section can be read at all.
    pub parse: fn(&DoorTexts) -> Result<(), ConfigError>,
    /// Checks what it means, and says what the rest of claw has to know.
    pub note: fn(&DoorTexts) -> Result<DoorNotes, ConfigError>,
}

impl DoorSection {
    /// One that no bot, no secret and no agent has a part in.
    pub const fn new(name: &'static str, parse: fn(&DoorTexts) -> Result<(), ConfigError>) -> Self {
        let (own_keys, secret_variables): (&[&str], &[&str]) = (&[], &[]);
        let note = |_: &DoorTexts| Ok(DoorNotes::default());
        Self { name, own_keys, in_agent: false, secret_variables, bot_help: None, parse, note }
    }
}

/// How a person comes to a bot of a door.
#[derive(Debug)]
pub struct BotHelp {
    /// An order without a full stop: `set X (from …)`.
    pub set_up: &'static str,
    /// Who hands out tokens.
    pub tokens_from: &'static str,
}

/// All sections of doors that this program knows.
#[derive(Clone, Debug, Default)]
pub struct DoorSections(pub Vec<&'static DoorSection>);

impl DoorSections {
    pub fn iter(&self) -> impl Iterator<Item = &'static DoorSection> {
        self.0.iter().copied()
    }

    /// What a person may do who has no bot: `set X, or set Y`.
    pub fn bot_set_up(&self) -> String {
        let helps = self.iter().filter_map(|section| section.bot_help.as_ref());
        helps.map(|help| help.set_up).collect::<Vec<_>>().join(", or ")
    }
}

/// What the rest of claw has to know of a section.
#[derive(Debug, Default)]
pub struct DoorNotes {
    /// Names and values that must not leave.
    pub secrets: Vec<(String, SecretString)>,
    /// The principals of the owners at this door.
    pub owners: Vec<String>,
    /// Where it is written who may talk at this door, as a person calls it.
    pub allowed_source: Option<String>,
    /// The bot that it is to run for this agent.
    pub bot: Option<BotNote>,
}

/// A bot that was meant.
#[derive(Debug)]
pub struct BotNote {
    /// What no other bot has, or why there is none: half a sentence.
    pub token: Result<SecretString, String>,
    /// The chat that hears what needs a human.
    pub chat: Option<i64>,
}

/// A bot of an agent, and whose it is.
#[derive(Debug)]
pub struct Bot {
    pub door: &'static DoorSection,
    pub note: BotNote,
}

/// What `claw.toml` and the environment say to the doors of one agent. It holds secrets, and shows
/// none when it is printed.
#[derive(Clone)]
pub struct DoorTexts {
    /// The file's name for errors.
    pub(super) place: String,
    /// The whole file.
    pub(super) text: Arc<str>,
    pub(super) env: Env,
    pub(super) agent: String,
    pub(super) sections: DoorSections,
}

impl DoorTexts {
    /// Reads a section with every `$NAME` filled in. One that is not there is the default.
    ///
    /// # Errors
    /// It cannot be read: an unknown key, a value of another kind, a variable that is not set.
    pub fn read<T: DeserializeOwned + Default>(&self, section: &str) -> Result<T, ConfigError> {
        let source = (self.place.as_str(), &*self.text);
        let mut table = file::expanded(source, &self.env, &self.agent, &self.sections)?;
        let Some(section) = table.get_mut().remove(section) else { return Ok(T::default()) };
        T::deserialize(ValueDeserializer::from(section))
            .map_err(|error| file::wrong(&self.place, &self.text, &error))
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Where an own key of a section is written, as a person calls it: `telegram.token`, or
    /// `agents.work.token`.
    pub fn own_key(&self, section: &DoorSection, key: &str) -> String {
        match (self.agent == MAIN, section.in_agent) {
            (true, _) => format!("{}.{key}", section.name),
            (false, true) => format!("agents.{}.{key}", self.agent),
            (false, false) => format!("agents.{}.{}.{key}", self.agent, section.name),
        }
    }

    pub fn sections(&self) -> &DoorSections {
        &self.sections
    }

    /// Checks every section, and says what the rest of claw has to know of them together.
    pub(super) fn notes(&self) -> Result<AllNotes, ConfigError> {
        let mut all = AllNotes::default();
        for door in self.sections.iter() {
            let notes = (door.note)(self)?;
            all.secrets.extend(notes.secrets);
            all.owners.extend(notes.owners);
            all.allowed_source = all.allowed_source.or(notes.allowed_source);
            all.bots.extend(notes.bot.map(|note| Bot { door, note }));
        }
        Ok(all)
    }
}

impl fmt::Debug for DoorTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoorTexts").field("agent", &self.agent).finish_non_exhaustive()
    }
}

/// The notes of all doors.
#[derive(Debug, Default)]
pub(super) struct AllNotes {
    pub(super) secrets: Vec<(String, SecretString)>,
    pub(super) owners: Vec<String>,
    pub(super) allowed_source: Option<String>,
    pub(super) bots: Vec<Bot>,
}

#[cfg(test)]
pub(super) mod tests;
