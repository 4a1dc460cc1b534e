//! Where a command was started: the repository there, and the session that belongs to a folder. It
//! reads names and owners alone; nothing that lies in a repository configures claw. Must not know
//! what is done there.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::agents::MAIN;
use super::env::Env;
use super::error::ConfigError;
use super::home::Home;
use super::{Overrides, workspace};
use crate::domain::canonical;

/// How the file `.git` of a worktree or of a submodule begins (gitrepository-layout(5)).
const LINK: &[u8] = b"gitdir:";
/// Hexadecimal digits of a folder's digest in the name of its session.
const DIGEST_CHARS: usize = 10;
/// Characters of a folder's own name in the name of its session.
const NAME_CHARS_MAX: usize = 24;

/// Where a command that works where it is was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    pub folder: PathBuf,
    /// `-C DIR`: this folder is meant, also where it is no repository.
    pub is_meant: bool,
}

/// An agent, and the home of the user that claw runs as.
type AgentAt<'a> = (&'a str, Option<&'a Path>);

/// A workspace, and how it came to be the one.
pub(super) struct Chosen<T> {
    pub(super) workspace: PathBuf,
    /// What belongs to this workspace.
    pub(super) made: T,
    pub(super) session_of_folder: Option<String>,
    /// Why claw does not work where it was started.
    pub(super) place_notice: Option<String>,
}

/// The workspace where a command was started, else the `usual` one, each with where it was written.
///
/// # Errors
/// A folder that was meant, or the usual one, and cannot be a workspace.
pub(super) fn choose<T>(
    env: &Env,
    overrides: &Overrides,
    agent_at: &AgentAt<'_>,
    home: &Home,
    (usual, said_by): &(PathBuf, String),
    with: impl Fn(&Path) -> Result<T, ConfigError>,
) -> Result<Chosen<T>, ConfigError> {
    let mut place_notice = None;
    if let Some((workspace, made)) =
        prepare(env, overrides, agent_at, home, &mut place_notice, &with)?
    {
        let session_of_folder = Some(session_of(&workspace));
        return Ok(Chosen { workspace, made, session_of_folder, place_notice });
    }
    let workspace = workspace::prepare(usual, said_by, home)?;
    let made = with(&workspace)?;
    Ok(Chosen { workspace, made, session_of_folder: None, place_notice })
}

/// The workspace where a command was started, with what `with` makes of it. `None` where it works
/// in the usual one; if a repository is passed over, a notice says why.
///
/// # Errors
/// A folder that was meant and cannot be one.
fn prepare<T>(
    env: &Env,
    overrides: &Overrides,
    agent_at: &AgentAt<'_>,
    home: &Home,
    notice: &mut Option<String>,
    with: impl Fn(&Path) -> Result<T, ConfigError>,
) -> Result<Option<(PathBuf, T)>, ConfigError> {
    let (folder, is_meant) = match found(env, overrides, agent_at)? {
        Some(Found::Folder { folder, is_meant }) => (folder, is_meant),
        Some(Found::Not(why)) => {
            *notice = Some(why);
            return Ok(None);
        }
        None => return Ok(None),
    };
    let prepared = workspace::prepare(&folder, "-C", home).and_then(|workspace| {
        workspace::refuse_user_home(&workspace, "-C", agent_at.1)?;
        with(&workspace).map(|made| (workspace, made))
    });
    match prepared {
        Ok(prepared) => Ok(Some(prepared)),
        Err(error) if is_meant => Err(error),
        Err(error) => {
            *notice = Some(not_here(&folder, &error.message));
            Ok(None)
        }
    }
}

/// What a command found that works where it was started.
enum Found {
    Folder {
        folder: PathBuf,
        is_meant: bool,
    },
    /// A sentence about why it works elsewhere.
    Not(String),
}

fn not_here(folder: &Path, why: &str) -> String {
    format!("claw does not work in the repository {}, because {why}.", folder.display())
}

/// What was typed goes before where somebody is, and so does a workspace that this environment
/// sets.
fn found(
    env: &Env,
    overrides: &Overrides,
    (agent, user_home): &AgentAt<'_>,
) -> Result<Option<Found>, ConfigError> {
    let is_set = *agent == MAIN && env.get("CLAW_WORKSPACE").is_some();
    let Some(started) = &overrides.started else { return Ok(None) };
    if overrides.workspace.is_some() || (is_set && !started.is_meant) {
        return Ok(None);
    }
    if started.is_meant && !started.folder.is_dir() {
        let message = format!("there is no folder {}", started.folder.display());
        return Err(ConfigError::new("-C", message, "Name a folder that is there"));
    }
    Ok(match look(&started.folder, *user_home) {
        Here::Repository(folder) => Some(Found::Folder { folder, is_meant: started.is_meant }),
        Here::Refused { root, why } if !started.is_meant => Some(Found::Not(not_here(&root, &why))),
        Here::Refused { .. } | Here::Nowhere if started.is_meant => {
            Some(Found::Folder { folder: started.folder.clone(), is_meant: true })
        }
        Here::Refused { .. } | Here::Nowhere => None,
    })
}

/// What was found at the place where a command was started.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Here {
    /// The root of a repository.
    Repository(PathBuf),
    /// There is one, and claw does not work in it; half a sentence.
    Refused {
        root: PathBuf,
        why: String,
    },
    Nowhere,
}

/// The innermost repository that holds this folder. What lies above the user's home is not looked
/// at: nobody means to work there.
fn look(from: &Path, user_home: Option<&Path>) -> Here {
    let Ok(from) = from.canonicalize() else { return Here::Nowhere };
    let user_home = user_home.and_then(|home| home.canonicalize().ok());
    for folder in from.ancestors() {
        let is_home = user_home.as_deref() == Some(folder);
        if is_root_of_repository(folder) {
            let root = folder.to_owned();
            return match refusal(folder, user_home.as_deref()) {
                Some(why) => Here::Refused { root, why },
                None => Here::Repository(root),
            };
        }
        if is_home {
            break;
        }
    }
    Here::Nowhere
}

fn refusal(root: &Path, user_home: Option<&Path>) -> Option<String> {
    if user_home.is_some_and(|home| home.starts_with(root)) {
        return Some("it is or holds your home".to_owned());
    }
    if root.parent().is_none() {
        return Some("it is the whole file system".to_owned());
    }
    // As git has it (`safe.directory`): whoever owns a folder above can put a repository there.
    let owner = fs::metadata(root).map(|meta| meta.uid()).ok()?;
    (owner != rustix::process::geteuid().as_raw()).then(|| "it belongs to another user".to_owned())
}

/// A folder `.git` that git would take, or the file that a worktree or a submodule has.
fn is_root_of_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    let Ok(meta) = fs::metadata(&git) else { return false };
    if meta.is_dir() {
        return git.join("HEAD").symlink_metadata().is_ok();
    }
    let mut begin = [0; LINK.len()];
    let read = fs::File::open(&git).and_then(|mut file| file.read_exact(&mut begin));
    meta.is_file() && read.is_ok() && begin == *LINK
}

/// The session of a folder: its own name, for people, and a digest of the whole path.
fn session_of(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let name: String = plain.take(NAME_CHARS_MAX).collect();
    let digest = canonical::digest(&serde_json::json!({ "folder": folder.display().to_string() }));
    let digest: String = digest.chars().take(DIGEST_CHARS).collect();
    format!("{}-{digest}", if name.is_empty() { "folder" } else { name.as_str() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SessionId;

    fn folder(root: &Path, name: &str) -> PathBuf {
        let path = root.join(name);
        fs::create_dir_all(&path).unwrap();
        path.canonicalize().unwrap()
    }

    fn repository(path: &Path) {
        fs::create_dir_all(path.join(".git")).unwrap();
        fs::write(path.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn the_innermost_repository_counts_also_that_of_a_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let home = folder(dir.path(), "home");
        let (outer, inner) = (folder(&home, "outer"), folder(&home, "outer/sub/inner"));
        let deep = folder(&inner, "src/deep");
        assert_eq!(look(&deep, Some(&home)), Here::Nowhere);
        repository(&outer);
        assert_eq!(look(&deep, Some(&home)), Here::Repository(outer.clone()));
        fs::write(inner.join(".git"), "gitdir: ../../.git/worktrees/inner\n").unwrap();
        assert_eq!(look(&deep, Some(&home)), Here::Repository(inner.clone()));
        // Neither an empty folder of that name nor another file is one.
        fs::write(inner.join(".git"), "hello\n").unwrap();
        assert_eq!(look(&deep, Some(&home)), Here::Repository(outer.clone()));
        fs::remove_file(outer.join(".git/HEAD")).unwrap();
        assert_eq!(look(&deep, Some(&home)), Here::Nowhere);
    }

    #[test]
    fn a_repository_that_is_the_home_is_refused_and_one_above_is_not_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let home = folder(dir.path(), "home");
        let deep = folder(&home, "a/b");
        repository(dir.path());
        assert_eq!(look(&deep, Some(&home)), Here::Nowhere);
        repository(&home);
        let found = look(&deep, Some(&home));
        assert!(
            matches!(&found, Here::Refused { why, .. } if why.contains("your home")),
            "{found:?}"
        );
    }

    #[test]
    fn each_folder_has_a_session_of_its_own_whatever_it_is_called() {
        let names = ["/a/claw", "/b/claw", "/", "/x/ä ö.rs", "/x/.hidden", "/telegram.1.2"];
        let sessions: Vec<String> = names.iter().map(|name| session_of(Path::new(name))).collect();
        for (name, session) in names.iter().zip(&sessions) {
            assert!(SessionId::new(session.clone()).is_ok(), "{name}: {session}");
            assert!(!session.contains('.'), "no door's session is called so: {session}");
        }
        let different: std::collections::BTreeSet<_> = sessions.iter().collect();
        assert_eq!(different.len(), names.len());
        let long = session_of(Path::new(&format!("/{}", "x".repeat(300))));
        assert!(SessionId::new(long).is_ok());
    }
}
