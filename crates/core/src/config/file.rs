//! The written form of `claw.toml`: its sections, and their reading with every `$NAME` filled in.
//! Must not know where the file is, or what the rooms do with their settings.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use super::agents::{self, MAIN};
use super::audit::AuditSection;
use super::doors::{DoorSections, DoorTexts};
use super::env::Env;
use super::error::ConfigError;
use super::expand::Expander;
use super::limits::Limits;
use super::memory::MemorySection;
use super::model::{InvalidModelSection, ModelSection};
use super::openings::BoxSection;
use super::prices::Prices;
use super::prompt::PromptSection;
use super::retention::Retention;
use super::roles::RoleSection;
use super::serve::ServeSection;
use super::toml_fault;
use super::tools::{Tools, ToolsSection};
use super::transcription::TranscriptionSection;
use super::update::UpdateSection;
use super::written::Written as Keys;
use crate::domain::AgentCard;
use crate::domain::inherit::is_inheritable;

/// `[redact]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RedactSection {
    /// Further values that must not leave, usually as `"$NAME"`. Taken while expanding.
    #[serde(rename = "extra")]
    _extra: Vec<String>,
}

/// A whole `claw.toml` without the sections of doors. Every key may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ClawToml {
    pub(super) model: ModelSection,
    pub(super) prices: Prices,
    pub(super) limits: Limits,
    pub(super) retention: Retention,
    pub(super) audit: AuditSection,
    pub(super) tools: ToolsSection,
    pub(super) memory: MemorySection,
    pub(super) prompt: PromptSection,
    pub(super) serve: ServeSection,
    pub(super) transcription: TranscriptionSection,
    pub(super) update: UpdateSection,
    #[serde(rename = "box")]
    pub(super) openings: BoxSection,
    #[serde(rename = "redact")]
    _redact: RedactSection,
    pub(super) workspace: Option<String>,
    /// What the agent is, in a sentence.
    pub(super) description: String,
    /// What it is for, a few words each.
    pub(super) capabilities: Vec<String>,
    /// The servers of `mcp.json` that it may use; all of them if it is left out.
    pub(super) servers: Option<Vec<String>>,
    /// The variables that servers of others get from claw's environment; `"..."` stands for the
    /// usual ones.
    pub(super) inherit: Option<Vec<String>>,
    /// IANA name of the zone that the owner lives in; the system's if it is left out.
    pub(super) time_zone: Option<String>,
    /// The folder of the persona, relative to the home.
    pub(super) persona: Option<String>,
    pub(super) roles: BTreeMap<String, RoleSection>,
    pub(super) default_role: Option<String>,
}

/// What a file says to one agent.
pub(super) struct AgentFile {
    pub(super) file: ClawToml,
    /// The agent has a `[model]` of its own.
    pub(super) own_model: bool,
    pub(super) tools: Tools,
    pub(super) doors: DoorTexts,
}

/// A file's name for errors, and its text.
pub(super) type Source<'t> = (&'t str, &'t str);

fn parsed<'t>((place, text): Source<'t>) -> Result<Spanned<DeTable<'t>>, ConfigError> {
    DeTable::parse(text).map_err(|error| wrong(place, text, &error))
}

pub(super) fn wrong(place: &str, text: &str, error: &toml::de::Error) -> ConfigError {
    faulty(place, toml_fault::fault(text, error))
}

fn faulty(place: &str, fault: toml_fault::TomlFault) -> ConfigError {
    let place = fault.line.map_or(place.to_owned(), |line| format!("{place}, line {line}"));
    ConfigError::new(place, fault.message, "Correct the line")
}

/// The agents that the text describes, the main one first.
pub(super) fn agents(
    source: Source<'_>,
    doors: &DoorSections,
) -> Result<Vec<AgentCard>, ConfigError> {
    let table = parsed(source)?;
    let others = agents::names(table.get_ref(), source.0, source.1)?;
    let names = std::iter::once(MAIN.to_owned()).chain(others);
    Ok(names
        .map(|name| agents::card(agents::layered(table.get_ref().clone(), &name, doors), name))
        .collect())
}

/// The agents that share their notes, the main one first.
fn sharers(source: Source<'_>, doors: &DoorSections) -> Result<Vec<String>, ConfigError> {
    let table = parsed(source)?;
    let names = agents(source, doors)?.into_iter().map(|card| card.name);
    Ok(names.filter(|name| agents::shares_notes(table.get_ref().clone(), name, doors)).collect())
}

/// Names and values.
pub(super) type Secrets = Vec<(String, String)>;

/// What is in force for one agent, with every `$NAME` of it filled in.
pub(super) fn expanded<'t>(
    source: Source<'t>,
    env: &Env,
    agent: &str,
    doors: &DoorSections,
) -> Result<Spanned<DeTable<'t>>, ConfigError> {
    let table = parsed(source)?;
    let span = table.span();
    let mut table = agents::layered(table.into_inner(), agent, doors);
    let (place, text) = source;
    let mut expander = Expander { env, place, text, secrets: Vec::new() };
    expander.table(&mut table, "")?;
    Ok(Spanned::new(span, table))
}

/// The secrets that the text names anywhere, as far as their variables are set: what is a secret of
/// one agent is one for all, also while its section cannot be used.
pub(super) fn secrets_of_all(
    source: Source<'_>,
    env: &Env,
    doors: &DoorSections,
) -> Result<Secrets, ConfigError> {
    let mut secrets = Vec::new();
    for card in agents(source, doors)? {
        let mut table = agents::layered(parsed(source)?.into_inner(), &card.name, doors);
        for name in agents::secret_variables(&table, doors) {
            secrets.extend(env.get(&name).map(|token| (name.clone(), token.trim().to_owned())));
        }
        let (place, text) = source;
        let mut expander = Expander { env, place, text, secrets: Vec::new() };
        expander.table_as_far_as_it_goes(&mut table, "");
        secrets.extend(expander.secrets);
    }
    Ok(secrets)
}

/// Its keys, as they are written for one agent.
pub(super) fn keys(
    source: Source<'_>,
    doors: &DoorSections,
    cards: &[AgentCard],
    agent: &str,
) -> Result<Keys, ConfigError> {
    let table = parsed(source)?;
    let span = table.span();
    let table = Spanned::new(span, agents::layered(table.into_inner(), agent, doors));
    Keys::of(table, cards, agent).map_err(|error| wrong(source.0, source.1, &error))
}

/// The file without the sections of doors. A name that is unknown is compared with theirs, too.
fn without_doors(
    (place, text): Source<'_>,
    mut table: Spanned<DeTable<'_>>,
    doors: &DoorSections,
) -> Result<ClawToml, ConfigError> {
    for door in doors.iter() {
        table.get_mut().remove(door.name);
    }
    let names: Vec<_> = table.get_ref().keys().map(Spanned::span).collect();
    ClawToml::deserialize(Deserializer::from(table)).map_err(|error| {
        let is_name = error.span().is_some_and(|at| names.contains(&at));
        let more = doors.iter().filter(|_| is_name).map(|door| door.name);
        faulty(place, toml_fault::fault_among(text, &error, more))
    })
}

/// Reads what the text of a `claw.toml` means for one agent.
pub(super) fn read(
    source: Source<'_>,
    env: &Env,
    agent: &str,
    doors: &DoorSections,
) -> Result<AgentFile, ConfigError> {
    let (place, text) = source;
    let own_model = agents::has_own(parsed(source)?.get_ref(), agent, "model");
    let mut file = without_doors(source, expanded(source, env, agent, doors)?, doors)?;
    let doors = DoorTexts {
        place: place.to_owned(),
        text: text.into(),
        env: env.clone(),
        agent: agent.to_owned(),
        sections: doors.clone(),
    };
    doors.sections.iter().try_for_each(|door| (door.parse)(&doors))?;
    file.memory.shared_by = sharers(source, &doors.sections)?;
    let table = agents::layered(parsed(source)?.into_inner(), agent, &doors.sections);
    let wrong_at = |path: &[&str], message: String| {
        let line = position_of(&table, path).map(|at| toml_fault::line_of(text, at));
        let place = line.map_or(place.to_owned(), |line| format!("{place}, line {line}"));
        ConfigError::new(place, message, "Correct the value")
    };
    let wrong_at = &wrong_at;
    let wrong_in = move |section: &'static str| {
        move |(key, message): (&'static str, String)| wrong_at(&[section, key], message)
    };
    file.limits.check().map_err(wrong_in("limits"))?;
    file.retention.check().map_err(wrong_in("retention"))?;
    file.memory.check().map_err(wrong_in("memory"))?;
    file.prompt.check().map_err(wrong_in("prompt"))?;
    file.serve.check().map_err(wrong_in("serve"))?;
    if let Some(odd) = file.inherit.iter().flatten().find(|name| !is_inheritable(name)) {
        let names =
            "the name of a variable, one with `*` at its end, or \"...\" for the usual ones";
        return Err(wrong_at(&["inherit"], format!("inherit: `{odd}` is not {names}")));
    }
    let tools = file.tools.resolve().map_err(wrong_in("tools"))?;
    let wrong_model =
        |fault: InvalidModelSection| wrong_at(&["model", fault.key()], fault.to_string());
    file.model.validate().map_err(wrong_model)?;
    file.prices.check().map_err(|(model, message)| wrong_at(&["prices", model], message))?;
    file.update.check().map_err(|message| wrong_at(&["update", "url"], message))?;
    Ok(AgentFile { file, own_model, tools, doors })
}

/// Where a key stands in the text; its section, where that does not say it.
fn position_of(table: &DeTable<'_>, path: &[&str]) -> Option<usize> {
    let (name, rest) = path.split_first()?;
    let (key, value) = table.get_key_value(*name)?;
    let inner = value.get_ref().as_table().and_then(|inner| position_of(inner, rest));
    Some(inner.unwrap_or(key.span().start))
}
