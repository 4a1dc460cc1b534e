//! Whose name git writes into commits: name and mail of the user, and nothing else of the user's
//! settings. Owns how they are asked for and the file by which commands are told. Must not know how
//! a command is run.
//!
//! git itself is asked, before the box is closed: only it knows `include.path` and conditional
//! includes. What it says becomes a file that takes the place of the system's one
//! (`GIT_CONFIG_SYSTEM`, git 2.32), so that a repository's own name still goes first.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The file in the folder of what commands are told.
const FILE: &str = "gitconfig";
const OF_THE_SYSTEM: &str = "/etc/gitconfig";
/// Longer ones are nobody's.
const BYTES_MAX: usize = 1024;

/// Name and mail, as far as the user has set them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub name: Option<String>,
    pub mail: Option<String>,
}

/// git at work on its answer.
pub struct IdentityQuery(Option<Child>);

impl IdentityQuery {
    /// Waits for it. Nothing where git says nothing.
    pub fn answer(self) -> Identity {
        let said = self.0.and_then(|git| git.wait_with_output().ok());
        let said = said.filter(|said| said.status.success());
        said.map(|said| read(&said.stdout)).unwrap_or_default()
    }
}

impl Identity {
    /// Asks git for the user's own settings, with the conditions that hold in this workspace. It
    /// answers beside whatever else the server begins with. `None` where there is no git. `search`
    /// holds no folder that a command can write to.
    pub fn ask(search: &[PathBuf], workspace: &Path) -> Option<IdentityQuery> {
        let git = search.iter().map(|dir| dir.join("git")).find(|path| path.is_file())?;
        Some(IdentityQuery(start(&git, workspace)))
    }

    /// Writes the file and gives its path.
    pub fn write(&self, told: &Path, workspace: &Path) -> io::Result<PathBuf> {
        let path = told.join(FILE);
        let new = told.join(format!(".{FILE}.{}", std::process::id()));
        fs::write(&new, self.text(workspace))?;
        fs::rename(&new, &path)?;
        Ok(path)
    }

    fn text(&self, workspace: &Path) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text =
            "# Written by claw at each start; it takes the place of the system's file.\n"
                .to_owned();
        text.push_str(&format!("[include]\n\tpath = {OF_THE_SYSTEM}\n"));
        // The folder belongs to whoever started the server, which is all that git asks about.
        text.push_str(&format!(
            "[safe]\n\tdirectory = \"{}\"\n",
            quoted(&workspace.display().to_string())
        ));
        text.push_str("[user]\n");
        for (key, value) in [("name", &self.name), ("email", &self.mail)] {
            if let Some(value) = value {
                text.push_str(&format!("\t{key} = \"{}\"\n", quoted(value)));
            }
        }
        text
    }
}

/// `user.name` and `user.email` of the user's own files, each as `key LF value NUL`.
#[expect(
    clippy::disallowed_methods,
    reason = "the bash server is one of the two that start processes"
)]
fn start(git: &Path, workspace: &Path) -> Option<Child> {
    let mut command = Command::new(git);
    command
        .args(["config", "--global", "--includes", "-z", "--get-regexp", r"^user\.(name|email)$"])
        .current_dir(workspace)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let kept = ["HOME", "PATH", "XDG_CONFIG_HOME"];
    command
        .envs(std::env::vars_os().filter(|(name, _)| kept.iter().any(|k| name == OsStr::new(k))));
    command.spawn().ok()
}

/// The last value of a key is the one that counts.
fn read(said: &[u8]) -> Identity {
    let mut identity = Identity::default();
    for entry in said.split(|byte| *byte == 0) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        let Some((key, value)) = entry.split_once('\n') else { continue };
        let plain = value.len() <= BYTES_MAX && !value.chars().any(char::is_control);
        let value = (plain && !value.is_empty()).then(|| value.to_owned());
        match key {
            "user.name" => identity.name = value,
            "user.email" => identity.mail = value,
            _ => {}
        }
    }
    identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_name_and_mail_are_taken_and_the_last_one_counts() {
        let said =
            b"user.name\nA\0user.email\na@b\0user.name\nAda \"L\" \\ x\0user.signingkey\nK\0";
        let identity = read(said);
        assert_eq!(identity.name.as_deref(), Some("Ada \"L\" \\ x"));
        assert_eq!(identity.mail.as_deref(), Some("a@b"));
        let text = identity.text(Path::new("/w \"x\""));
        assert!(text.contains("\tname = \"Ada \\\"L\\\" \\\\ x\"\n"), "{text}");
        assert!(text.contains("\tdirectory = \"/w \\\"x\\\"\"\n"), "{text}");
        assert!(!text.contains('K'), "{text}");
    }

    #[test]
    fn a_value_of_several_lines_is_no_name() {
        assert_eq!(read(b"user.name\nA\n[alias]\n x = !rm\0"), Identity::default());
        assert_eq!(read(b""), Identity::default());
    }
}
