//! What the owner has opened to commands, checked, and as the bash server is told of it. Must not
//! know how a command is run.

use std::path::PathBuf;

use claw_mcp_bash::{CannotOpen, check_opening};

use crate::config::{Config, ConfigError, OpenFolder};

/// What the next step is where a folder cannot be opened.
pub fn next(why: CannotOpen) -> &'static str {
    match why {
        CannotOpen::Missing => "Make the folder, or take it out of the list",
        CannotOpen::Relative => "Write it as ~/FOLDER or with a / at its beginning",
        CannotOpen::Home => "Name the folders in it that commands need",
        CannotOpen::Closed => "Name another folder; this one stays closed",
        CannotOpen::Workspace => {
            "Take it out of the list; what commands do in the workspace needs no opening"
        }
    }
}

/// The real folder.
///
/// # Errors
/// Why it cannot be opened.
pub fn may_open(config: &Config, folder: &OpenFolder) -> Result<PathBuf, CannotOpen> {
    let mut protect = vec![config.home.root().to_owned()];
    protect.extend(config.kept_apart.folder.clone());
    check_opening(&folder.path, folder.to_write, &config.workspace, &protect)
}

/// Whether a command can get a folder that its server has not: the box of each is closed anew.
pub fn can_be_for_a_time() -> bool {
    claw_mcp_bash::try_box(&["server", "bash"]).own_mounts
}

/// The real folder.
///
/// # Errors
/// Why it cannot be opened, with a next step.
pub fn real(config: &Config, folder: &OpenFolder) -> Result<PathBuf, ConfigError> {
    may_open(config, folder).map_err(|why| ConfigError {
        place: config.home.claw_toml().display().to_string(),
        message: format!(
            "{} names {}, which cannot be opened to commands: {}",
            folder.key(),
            folder.path.display(),
            why.words()
        ),
        next: next(why).to_owned(),
    })
}

/// The arguments of the bash server. A folder is given as it is written, so that a link to it has
/// its place in the HOME of commands.
pub(super) fn folder_args(
    config: &Config,
    folders: &[OpenFolder],
) -> Result<Vec<String>, ConfigError> {
    let mut args = Vec::new();
    for folder in folders {
        real(config, folder)?;
        let option = if folder.to_write { "--open-write" } else { "--open-read" };
        args.extend([option.to_owned(), folder.path.display().to_string()]);
    }
    Ok(args)
}
