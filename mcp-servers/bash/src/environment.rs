//! The environment of a job: a short list, made anew, nothing inherited. Owns which variables and
//! which shell. Must not know how a job is started.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::confine::PROGRAMS;
use crate::wire::CommandAccess;

const PATH_DEFAULT: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const SHELLS: &[&str] = &[
    "/bin/bash",
    "/usr/bin/bash",
    "/usr/local/bin/bash",
    "/run/current-system/sw/bin/bash",
    "/bin/sh",
];

/// How a job sees its surroundings.
#[derive(Clone, Debug)]
pub struct Environment {
    pub variables: Vec<(OsString, OsString)>,
    pub shell: PathBuf,
    /// The jobs' TMPDIR.
    pub scratch: PathBuf,
}

/// Where caches go that do not find HOME by themselves, below it.
const CACHES: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", ".cache"),
    ("npm_config_cache", ".cache/npm"),
    ("PIP_CACHE_DIR", ".cache/pip"),
    ("UV_CACHE_DIR", ".cache/uv"),
    ("GOCACHE", ".cache/go-build"),
    ("GOPATH", "go"),
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GRADLE_USER_HOME", ".gradle"),
];

/// What keeps programs from a question or from words that mislead here: a hard link from a cache
/// into the workspace is one between two mounts, and rustup installs nothing by itself.
const SETTINGS: &[(&str, &str)] = &[
    ("UV_LINK_MODE", "copy"),
    ("RUSTUP_AUTO_INSTALL", "0"),
    ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
];

/// PATH is the server's own, reduced to directories of the box that no command can write to.
pub fn search_path_of_jobs(
    workspace: &Path,
    scratch: &Path,
    given: &CommandAccess,
    readable: &[PathBuf],
) -> OsString {
    let opened = given.opened.write.iter().map(PathBuf::as_path);
    let writable: Vec<&Path> =
        [workspace, scratch, &given.home].into_iter().chain(opened).collect();
    search_path(env::var_os("PATH"), readable, &writable)
}

/// The directories of PATH that are the system's, which are known before anything else is.
pub fn search_of_system(writable: &[&Path]) -> Vec<PathBuf> {
    let system: Vec<PathBuf> =
        PROGRAMS.iter().filter_map(|path| Path::new(path).canonicalize().ok()).collect();
    env::split_paths(&search_path(env::var_os("PATH"), &system, writable)).collect()
}

/// HOME is a folder of the server's, never the user's. `found` are the variables by which programs
/// find what is the user's; `git` is the file that takes the place of git's system-wide one.
pub fn of_jobs(
    path: OsString,
    scratch: &Path,
    home: &Path,
    found: &[(OsString, OsString)],
    git: PathBuf,
) -> Environment {
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), path),
        ("HOME".into(), home.into()),
        ("TMPDIR".into(), scratch.into()),
        ("TERM".into(), "dumb".into()),
        ("LANG".into(), plain("LANG").unwrap_or_else(|| "C.UTF-8".into())),
    ];
    for name in ["LC_ALL", "USER", "LOGNAME"] {
        if let Some(value) = plain(name) {
            variables.push((name.into(), value));
        }
    }
    variables.extend(CACHES.iter().map(|(name, below)| ((*name).into(), home.join(below).into())));
    variables.extend(SETTINGS.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    variables.push(("GIT_CONFIG_SYSTEM".into(), git.into()));
    variables.extend(found.iter().cloned());
    let shell =
        SHELLS.iter().map(Path::new).find(|path| path.exists()).unwrap_or(Path::new("/bin/sh"));
    Environment { variables, shell: shell.to_owned(), scratch: scratch.to_owned() }
}

/// A variable of the server that is passed on, if it is a plain word: these never hold more.
fn plain(name: &str) -> Option<OsString> {
    let value = env::var(name).ok()?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    let plain = !value.is_empty() && value.len() <= 64 && value.chars().all(fits);
    plain.then(|| value.into())
}

fn search_path(own: Option<OsString>, readable: &[PathBuf], writable: &[&Path]) -> OsString {
    let own = own.unwrap_or_default();
    let in_the_box = |dir: &PathBuf| {
        let real = dir.canonicalize().ok();
        dir.is_absolute()
            && real.is_some_and(|real| {
                readable.iter().any(|granted| real.starts_with(granted))
                    && !writable.iter().any(|granted| real.starts_with(granted))
            })
    };
    let mut dirs: Vec<PathBuf> = Vec::new();
    for dir in env::split_paths(&own).filter(in_the_box) {
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    env::join_paths(dirs)
        .ok()
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| PATH_DEFAULT.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_path_holds_only_absolute_directories_of_the_box() {
        let own = "relative::/root/.cargo/bin:/usr/bin:/tmp:/usr/bin:/usr/../tmp".into();
        assert_eq!(search_path(Some(own), &["/usr".into()], &[]), "/usr/bin");
        assert_eq!(search_path(None, &["/usr".into()], &[]), PATH_DEFAULT);
        assert_eq!(search_path(Some("/tmp".into()), &["/usr".into()], &[]), PATH_DEFAULT);
    }

    #[test]
    fn the_search_path_holds_nothing_that_a_command_can_write() {
        let path = || Some("/usr/bin:/usr/lib".into());
        assert_eq!(search_path(path(), &["/usr".into()], &[Path::new("/usr/lib")]), "/usr/bin");
    }
}
