//! `persona`, `default_role` and `[roles.NAME]` of `claw.toml`: what may be written there, and the
//! folders that it means. Must not know what the files in them say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::ConfigError;
use super::home::{Home, create_dir, with_tilde};
use super::persona::{PERSONA_FILES, PersonaSources};

/// Goes back to what every conversation has, so that no role can be called so.
const NO_ROLE: &str = "default";
/// The longest name of a role, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// The longest instructions of a role, in bytes.
const INSTRUCTIONS_BYTES_MAX: usize = 64 * 1024;
/// Folders of a home that no persona can be kept in: claw's own, the tools', and the homes of other
/// agents.
const TAKEN: [&str; 5] = ["agents", "artifacts", "locks", "logs", "workspace"];

/// `[roles.NAME]` as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RoleSection {
    description: String,
    persona: Option<String>,
    instructions: Option<String>,
}

/// A role as it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaRole {
    /// For people; may be empty.
    pub description: String,
    /// Files in it replace the agent's of the same name. Real, existing.
    pub folder: Option<PathBuf>,
    /// The same as it was written, made absolute.
    written_folder: Option<PathBuf>,
    /// Behind the files; may be empty.
    pub instructions: String,
}

/// What the keys of a `claw.toml` say.
pub(super) struct PersonaKeys<'a> {
    pub(super) persona: Option<&'a str>,
    pub(super) roles: &'a BTreeMap<String, RoleSection>,
    pub(super) default_role: Option<&'a str>,
    /// The file's name.
    pub(super) place: &'a str,
}

impl PersonaSources {
    /// Makes the folder where it is missing. Also gives back what was made that was asked for, a
    /// sentence each.
    ///
    /// # Errors
    /// A folder that holds claw's home or lies among its own files or in the workspace; a role
    /// without a folder or instructions, with a name that cannot be typed, or with a folder that is
    /// not there; a default role that there is not.
    pub(super) fn prepare(
        written: &PersonaKeys<'_>,
        home: &Home,
        workspace: &Path,
        user_home: Option<&Path>,
    ) -> Result<(Self, Vec<String>), ConfigError> {
        let of_home = |text: &str| home.path().join(with_tilde(text, user_home));
        let folder = written.persona.map_or_else(|| home.path().join("persona"), of_home);
        let place = format!("{}, persona", written.place);
        let is_new = !folder.is_dir();
        create_dir(&folder)?;
        let real = real_folder(&folder, &place)?;
        refuse_overlap(&real, workspace, home, &place)?;
        let mut notices = Vec::new();
        if is_new && written.persona.is_some() {
            notices.push(format!(
                "{} was not there; claw has made it, empty, as the persona's folder.",
                real.display()
            ));
        }
        let role = |(name, section): (&String, &RoleSection)| {
            let place = format!("{}, [roles.{name}]", written.place);
            Ok((name.clone(), section.resolve(name, &place, workspace, of_home)?))
        };
        let roles: BTreeMap<String, PersonaRole> =
            written.roles.iter().map(role).collect::<Result<_, ConfigError>>()?;
        if let Some(name) = written.default_role
            && !roles.contains_key(name)
        {
            let known = roles.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let next = match known.is_empty() {
                true => format!("Write a section [roles.{name}], or remove the key"),
                false => format!("Choose one of {known}, or write a section [roles.{name}]"),
            };
            let message = format!("default_role: there is no role `{name}`");
            return Err(ConfigError::new(written.place, message, next));
        }
        let default_role = written.default_role.map(str::to_owned);
        let (home_soul, workspace) = (home.soul_md(), workspace.to_owned());
        Ok((Self { folder: real, home_soul, workspace, roles, default_role }, notices))
    }

    /// What our filesystem server is started with: the folder is opened to it, and what is the
    /// owner's in it stays theirs.
    pub fn server_args(&self) -> Vec<String> {
        let owners =
            PERSONA_FILES.into_iter().filter(|name| !super::persona::OWN_FILES.contains(name));
        let files = owners.map(|name| self.folder.join(name));
        let inside =
            |folder: &&PathBuf| folder.starts_with(&self.folder) && **folder != self.folder;
        let folders =
            self.roles.values().flat_map(|role| role.folder.iter().chain(&role.written_folder));
        let fixed = files.chain(folders.filter(inside).cloned());
        let text = |path: PathBuf| path.display().to_string();
        let fixed = fixed.flat_map(|path| ["--read-only".to_owned(), text(path)]);
        ["--root".to_owned(), text(self.folder.clone())].into_iter().chain(fixed).collect()
    }
}

#[cfg(test)]
impl PersonaRole {
    pub(super) fn for_tests(folder: Option<PathBuf>, instructions: &str) -> Self {
        let (written_folder, instructions) = (folder.clone(), instructions.to_owned());
        Self { description: String::new(), folder, written_folder, instructions }
    }
}

impl RoleSection {
    fn resolve(
        &self,
        name: &str,
        place: &str,
        workspace: &Path,
        of_home: impl Fn(&str) -> PathBuf,
    ) -> Result<PersonaRole, ConfigError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty()
            || name.len() > NAME_BYTES_MAX
            || !name.chars().all(fits)
            || name == NO_ROLE
        {
            let message = format!("`{name}` cannot be the name of a role");
            let next = format!(
                "Use letters, digits, `-` and `_`, at most {NAME_BYTES_MAX}, and not `{NO_ROLE}`"
            );
            return Err(ConfigError::new(place, message, next));
        }
        let instructions = self.instructions.clone().unwrap_or_default();
        if self.persona.is_none() && instructions.trim().is_empty() {
            let next = "Write `persona = \"DIR\"`, or `instructions = \"…\"`, or both";
            return Err(ConfigError::new(place, "the role changes nothing", next));
        }
        if instructions.len() > INSTRUCTIONS_BYTES_MAX {
            let next = "Shorten them, or put them into a file of the role's persona folder";
            return Err(ConfigError::new(place, "the instructions are longer than 64 KiB", next));
        }
        let written_folder = self.persona.as_deref().map(of_home);
        let folder =
            written_folder.as_deref().map(|folder| real_folder(folder, place)).transpose()?;
        if folder.as_ref().is_some_and(|folder| folder.starts_with(workspace)) {
            let message = "its folder lies in the workspace, where the tools could change it";
            return Err(ConfigError::new(place, message, "Choose another folder"));
        }
        Ok(PersonaRole {
            description: self.description.trim().to_owned(),
            folder,
            written_folder,
            instructions,
        })
    }
}

fn real_folder(folder: &Path, place: &str) -> Result<PathBuf, ConfigError> {
    let wrong = |what: String| {
        ConfigError::new(
            place,
            format!("{}: {what}", folder.display()),
            "Name a folder that is there",
        )
    };
    let real = folder
        .canonicalize()
        .map_err(|error| wrong(format!("this folder cannot be opened: {error}")))?;
    if real.is_dir() { Ok(real) } else { Err(wrong("this is no folder".to_owned())) }
}

/// The folder is opened to the tools, so nothing else of claw's may lie in it; and the workspace is
/// open to commands, which may change everything in it.
fn refuse_overlap(
    folder: &Path,
    workspace: &Path,
    home: &Home,
    place: &str,
) -> Result<(), ConfigError> {
    let shown = folder.display();
    // In the home of an agent, or in claw's own, which holds those of all agents.
    let home_of_it = if folder.starts_with(home.path()) { home.path() } else { home.root() };
    let message = if home.path().starts_with(folder) || folder.join("claw.db").exists() {
        format!("{shown} is or holds a home of claw")
    } else if folder.starts_with(workspace) || workspace.starts_with(folder) {
        format!(
            "{shown} and the workspace {} lie in one another, and commands could change who the \
             agent is",
            workspace.display()
        )
    } else if TAKEN.iter().any(|name| folder.starts_with(home_of_it.join(name))) {
        format!("{shown} lies among claw's own files")
    } else {
        return Ok(());
    };
    Err(ConfigError::new(place, message, "Choose a folder of its own, or leave the key out"))
}

#[cfg(test)]
mod tests;
