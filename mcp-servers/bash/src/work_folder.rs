//! The folder in which a command begins: entered step by step below the workspace, without a moment
//! between check and use, and through no link. What was shown and agreed to is the name of a
//! folder; a link in its place would make it another one. Must not know what is run there.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// Goes there, and gives its real path. The workspace itself may be reached by a link.
///
/// # Errors
/// One sentence, with what to give in its place.
pub fn enter(workspace: &Path, cwd: &Path) -> Result<PathBuf, String> {
    let folder = open(workspace, cwd)?;
    rustix::process::fchdir(folder).map_err(|error: Errno| wrong(cwd, &error.to_string()))?;
    std::env::current_dir().map_err(|error| wrong(cwd, &error.to_string()))
}

fn wrong(cwd: &Path, why: &str) -> String {
    format!(
        "cwd {cwd:?} cannot be used: {why}. Give a directory inside the workspace, relative to it, or none"
    )
}

/// Opens a folder below the workspace, through no link.
///
/// # Errors
/// As of [`enter`].
pub fn open(workspace: &Path, cwd: &Path) -> Result<OwnedFd, String> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut way: Vec<OwnedFd> = vec![
        rustix::fs::openat(CWD, workspace, flags, Mode::empty())
            .map_err(|error| format!("the workspace {} is gone: {error}", workspace.display()))?,
    ];
    for part in cwd.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                way.pop();
            }
            Component::Normal(name) => {
                let Some(folder) = way.last() else { break };
                let flags = flags | OFlags::NOFOLLOW;
                match rustix::fs::openat(folder, name, flags, Mode::empty()) {
                    Ok(opened) => way.push(opened),
                    Err(_) if is_link(folder, name) => return Err(of_link(workspace, cwd, name)),
                    Err(error) => return Err(wrong(cwd, &error.to_string())),
                }
            }
            Component::RootDir | Component::Prefix(_) => way.clear(),
        }
        if way.is_empty() {
            break;
        }
    }
    way.pop().ok_or_else(|| wrong(cwd, "it leads out of the workspace"))
}

fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
    rustix::fs::readlinkat(folder, name, Vec::new()).is_ok()
}

/// Names the folder that can be given instead, so that it is the one that is shown.
fn of_link(workspace: &Path, cwd: &Path, name: &OsStr) -> String {
    let begin = format!("cwd {cwd:?} cannot be used: {name:?} in it is a link");
    let real = workspace.join(cwd).canonicalize().ok();
    let inside = real.zip(workspace.canonicalize().ok()).and_then(|(real, workspace)| {
        real.is_dir().then(|| real.strip_prefix(workspace).map(Path::to_owned).ok()).flatten()
    });
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => {
            format!("{begin} to the workspace itself. Give no cwd")
        }
        Some(inside) => format!("{begin}. Give the folder itself that it leads to, {inside:?}"),
        None => format!(
            "{begin} that leads out of the workspace or nowhere. Give a directory inside the workspace, relative to it, or none"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_workspace_may_be_reached_by_a_link_and_a_folder_in_it_may_not() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::create_dir_all(real.join("src/deep")).unwrap();
        symlink(&real, &link).unwrap();
        for workspace in [&real, &link] {
            for cwd in ["", ".", "src", "src/../src/deep"] {
                assert!(open(workspace, Path::new(cwd)).is_ok(), "{cwd}");
            }
        }
        // The folder of a question becomes a link before its yes.
        fs::create_dir(real.join("build")).unwrap();
        fs::rename(real.join("build"), real.join("build.old")).unwrap();
        symlink("src", real.join("build")).unwrap();
        for cwd in ["build", "build/deep", "src/../build/.", "build/.."] {
            let why = open(&link, Path::new(cwd)).unwrap_err();
            assert!(why.contains("\"build\" in it is a link"), "{why}");
        }
        let why = open(&link, Path::new("build")).unwrap_err();
        assert!(why.ends_with("Give the folder itself that it leads to, \"src\""), "{why}");
        for cwd in ["..", "src/../..", "/", "/etc"] {
            let why = open(&link, Path::new(cwd)).unwrap_err();
            assert!(why.contains("it leads out of the workspace"), "{why}");
        }
    }
}
