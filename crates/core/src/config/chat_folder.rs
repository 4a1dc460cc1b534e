//! The folders that a conversation may be given by `/here`. Must not know conversations, or what is
//! done in a folder.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::home::Home;
use super::{Config, KeptApart, workspace};

/// What decides which folders are allowed. The same from claw's start to its end.
#[derive(Clone, Debug)]
pub struct ChatFolders {
    user_home: PathBuf,
    usual_workspace: PathBuf,
    home: Home,
    kept_apart: KeptApart,
}

impl Config {
    pub fn chat_folders(&self) -> ChatFolders {
        ChatFolders {
            user_home: self.user_home.clone(),
            usual_workspace: self.usual_workspace.clone(),
            home: self.home.clone(),
            kept_apart: self.kept_apart.clone(),
        }
    }
}

impl ChatFolders {
    /// The real path of a folder that somebody has written in a chat: whole, or from `~` on. It is
    /// there, lies below the owner's home or in the configured workspace, and is neither claw's nor
    /// one where programs keep settings and keys (a hidden one).
    ///
    /// # Errors
    /// One sentence that says what to write instead.
    pub fn folder(&self, written: &str) -> Result<PathBuf, String> {
        let user_home = self.user_home.canonicalize().ok();
        let path = match (written.strip_prefix('~'), &user_home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(written),
        };
        if !path.is_absolute() {
            return Err(
                "Write the whole path of a folder, or one that begins with `~/`.".to_owned()
            );
        }
        let Ok(folder) = path.canonicalize() else {
            return Err("There is no such folder; make it first, or correct the path.".to_owned());
        };
        if !folder.is_dir() {
            return Err("That is no folder; name the folder that holds it.".to_owned());
        }
        let is_usual = folder.starts_with(&self.usual_workspace);
        if !is_usual && !user_home.as_deref().is_some_and(|home| is_below(&folder, home)) {
            return Err(
                "A conversation works below your home alone, and in no hidden folder: those hold \
                        keys and settings. Name another folder."
                    .to_owned(),
            );
        }
        workspace::refuse_overlap(&folder, "/here", &self.home)
            .map_err(|error| format!("{}.", capital(&error.message)))?;
        if self.kept_apart.folder.as_ref().is_some_and(|kept| kept.starts_with(&folder)) {
            return Err("That folder holds the key of claw's audit. Name another one.".to_owned());
        }
        let owner = fs::metadata(&folder).map(|meta| meta.uid());
        if !owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw()) {
            return Err("That folder belongs to another user. Name one of yours.".to_owned());
        }
        Ok(folder)
    }
}

/// Below the home, and not in a hidden folder of it.
fn is_below(folder: &Path, home: &Path) -> bool {
    let Ok(rest) = folder.strip_prefix(home) else { return false };
    let mut names = rest.components().map(|name| name.as_os_str().to_string_lossy()).peekable();
    names.peek().is_some() && !names.any(|name| name.starts_with('.'))
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_below_the_home_and_not_hidden() {
        let home = Path::new("/home/anna");
        for fits in ["/home/anna/src", "/home/anna/src/claw"] {
            assert!(is_below(Path::new(fits), home), "{fits}");
        }
        for refused in
            ["/home/anna", "/", "/home", "/home/bob/src", "/home/anna/.ssh", "/home/anna/a/.git/b"]
        {
            assert!(!is_below(Path::new(refused), home), "{refused}");
        }
    }

    #[test]
    fn what_is_claws_and_what_is_somebody_elses_is_no_folder_of_a_chat() {
        use std::os::unix::fs::chown;

        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name).display().to_string();
        for folder in ["agent/inside", "state/claw", "src/deep", "others"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let variables = [
            ("HOME", root.display().to_string()),
            ("CLAW_HOME", at("agent")),
            ("XDG_STATE_HOME", at("state")),
        ];
        let config =
            Config::load_from(variables.into_iter().collect(), super::super::Overrides::default());
        let folders = config.unwrap().chat_folders();
        for fits in ["src", "src/deep", "others"] {
            assert_eq!(folders.folder(&at(fits)), Ok(root.join(fits)), "{fits}");
        }
        assert_eq!(folders.folder("~/src"), Ok(root.join("src")));
        for (refused, why) in [
            ("agent", "claw's home"),
            ("agent/inside", "claw's own files"),
            ("state", "the key of claw's audit"),
            ("state/claw", "the key of claw's audit"),
        ] {
            let said = folders.folder(&at(refused)).unwrap_err();
            assert!(said.contains(why), "{refused}: {said}");
        }
        // Only root can give a folder away.
        if rustix::process::geteuid().is_root() {
            chown(root.join("others"), Some(65_534), None).unwrap();
            assert!(folders.folder(&at("others")).unwrap_err().contains("another user"));
        }
    }
}
