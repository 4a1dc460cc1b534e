//! The persona: the folder that it is written in, `[roles.NAME]` within it, and the reading of its
//! files. Must not know how a prompt is made of them, or who chooses a role.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::roles::PersonaRole;

/// The files of a persona, in the order in which a model reads them.
pub const PERSONA_FILES: [&str; 5] = [SOUL, "IDENTITY.md", USER, "AGENTS.md", MEMORY];
const SOUL: &str = "SOUL.md";
/// What the agent has noted about its owner. It changes this file itself.
pub const USER: &str = "USER.md";
/// What the agent wants to remember. It changes this file itself.
pub const MEMORY: &str = "MEMORY.md";
/// Those that the agent may change; all others are its owner's.
pub(super) const OWN_FILES: [&str; 2] = [USER, MEMORY];
/// How much of one file a model gets, in KiB.
pub const FILE_KIB_MAX: u64 = 64;
const FILE_BYTES_MAX: u64 = FILE_KIB_MAX * 1024;
/// What stands behind a file that was cut.
const CUT_MARK: &str = "\n\n[This file is longer than 64 KiB; what follows was cut off here.]";

/// Where the persona is written, and the roles within it.
#[derive(Clone, Debug)]
pub struct PersonaSources {
    /// Real, existing, and apart from the workspace and from claw's own files.
    pub folder: PathBuf,
    /// `SOUL.md` of the home: counts where the folder has none.
    pub(super) home_soul: PathBuf,
    pub(super) workspace: PathBuf,
    pub roles: BTreeMap<String, PersonaRole>,
    /// The role of every conversation that has not chosen another one.
    pub default_role: Option<String>,
}

/// What the files say at this moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonaRead {
    /// One of each name, those that are missing left out.
    pub files: Vec<PersonaFile>,
    /// The role's, empty if it has none.
    pub instructions: String,
    /// There is no such role (any more), so this is what every conversation has.
    pub role_is_gone: bool,
}

/// One file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaFile {
    pub name: &'static str,
    pub path: PathBuf,
    /// The role that it belongs to, if it is not the agent's own.
    pub of_role: Option<String>,
    /// Trimmed; empty if it cannot be read.
    pub text: String,
    /// It is longer than what a model gets of it.
    pub is_cut: bool,
    /// What is wrong with it, as a sentence for the owner that holds no path.
    pub fault: Option<String>,
}

impl PersonaSources {
    /// Reads the files, with those of a role in the place of the agent's. The same files give the
    /// same texts.
    pub fn read(&self, role: Option<&str>) -> PersonaRead {
        let chosen = role.and_then(|name| Some((name, self.roles.get(name)?)));
        let role_is_gone = role.is_some() && chosen.is_none();
        let default =
            || self.default_role.as_deref().and_then(|name| Some((name, self.roles.get(name)?)));
        let chosen = chosen.or_else(|| if role_is_gone { default() } else { None });
        let files = PERSONA_FILES.into_iter().filter_map(|name| self.file(name, chosen)).collect();
        let instructions =
            chosen.map(|(_, role)| role.instructions.trim().to_owned()).unwrap_or_default();
        PersonaRead { files, instructions, role_is_gone }
    }

    /// The file of this name that counts, if there is one.
    fn file(&self, name: &'static str, role: Option<(&str, &PersonaRole)>) -> Option<PersonaFile> {
        let of_role = role
            .and_then(|(role, settings)| Some((settings.folder.as_ref()?.join(name), Some(role))));
        let of_home = (name == SOUL).then(|| (self.home_soul.clone(), None));
        let places = of_role.into_iter().chain([(self.folder.join(name), None)]).chain(of_home);
        places.into_iter().find_map(|(path, role)| {
            let whose = role.map_or_else(
                || "of the persona".to_owned(),
                |role| format!("of the role `{role}`"),
            );
            let read = self.text(&path)?;
            let is_cut = matches!(read, Ok((_, Some(_))));
            let (text, fault) = match read {
                Ok((text, None)) => (text, None),
                Ok((text, Some(cut))) => (text, Some(format!("`{name}` {whose} {cut}"))),
                Err(why) => (
                    String::new(),
                    Some(format!("`{name}` {whose} {why}, so turns go on without it")),
                ),
            };
            let of_role = role.map(str::to_owned);
            Some(PersonaFile { name, path, of_role, text, is_cut, fault })
        })
    }

    /// The text, and what to say if it is not the whole. `None`: it is not there.
    fn text(&self, path: &Path) -> Option<Result<(String, Option<String>), String>> {
        let read = |path: &Path| -> std::io::Result<Result<Vec<u8>, String>> {
            let is_own =
                path.file_name().is_some_and(|name| OWN_FILES.iter().any(|own| name == *own));
            // A tool could have moved a link to where the agent may write, and so show any file of
            // the owner's to the model.
            if is_own && path.symlink_metadata()?.is_symlink() {
                return Ok(Err(LINK.to_owned()));
            }
            // A link of the owner's is followed, but not to where a command could change the text
            // behind it.
            if path.canonicalize()?.starts_with(&self.workspace) {
                return Ok(Err(
                    "leads into the workspace, where the tools could change it".to_owned()
                ));
            }
            // Without blocking, should it be a pipe.
            let flags = if is_own { NONBLOCK | NOFOLLOW } else { NONBLOCK };
            let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
                // The link came in between.
                Err(error) if is_own && error.raw_os_error() == Some(LOOP) => {
                    return Ok(Err(LINK.to_owned()));
                }
                opened => opened?,
            };
            if !file.metadata()?.is_file() {
                return Ok(Err("is no regular file".to_owned()));
            }
            let mut bytes = Vec::new();
            file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            Ok(Ok(bytes))
        };
        match read(path) {
            // A link that leads nowhere is no missing file.
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound
                    && path.symlink_metadata().is_err() =>
            {
                None
            }
            Err(error) => Some(Err(format!("cannot be read ({error})"))),
            Ok(bytes) => Some(bytes.and_then(shortened)),
        }
    }
}

const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;
const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
/// What is said of a link to open with `NOFOLLOW` (open(2), `ELOOP`).
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
const LINK: &str = "is a symbolic link, which is not followed because the agent may change this \
    file; put a regular file there";

fn shortened(bytes: Vec<u8>) -> Result<(String, Option<String>), String> {
    let (text, is_cut) = claw_kit::text::beginning(bytes, FILE_BYTES_MAX as usize)
        .ok_or_else(|| "is not UTF-8 text".to_owned())?;
    Ok(if is_cut {
        (
            format!("{}{CUT_MARK}", text.trim()),
            Some("is longer than 64 KiB; the model gets its beginning".to_owned()),
        )
    } else {
        (text.trim().to_owned(), None)
    })
}

#[cfg(test)]
mod tests;
