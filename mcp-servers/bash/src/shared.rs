//! What the user has fetched already, as links below the HOME of commands: toolchains, and the
//! crates of cargo. Owns the making of the links. Must not know which folders those are.
//!
//! It runs inside the box, because commands write to that HOME: a link that one of them has put
//! there leads the server no further than it leads the command.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::openings::Openings;
use crate::toolchains::{How, SharedFolder};

/// Makes what is missing. What cannot be made is fetched again by whoever needs it.
pub fn link(shared: &[SharedFolder], home: &Path) {
    for SharedFolder { from, to, how } in shared {
        let to = home.join(to);
        let _ = to.parent().map_or(Ok(()), fs::create_dir_all);
        let _ = match how {
            How::Copy => copy(from, &to),
            How::Link => link_whole(from, &to),
            How::Links(levels) => link_below(from, &to, *levels),
        };
    }
}

/// What the owner has opened appears in the HOME of commands where it is in the user's, so that
/// `~/Documents` means both.
pub fn of_openings(opened: &Openings) -> Vec<SharedFolder> {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let in_home = |(name, folder): (&PathBuf, &PathBuf)| {
        let to = name.strip_prefix(home.as_ref()?).ok()?.to_owned();
        Some(SharedFolder { from: folder.clone(), to, how: How::Link })
    };
    let all = opened.all().map(|folder| (folder, folder));
    all.chain(opened.links.iter().map(|(name, folder)| (name, folder)))
        .filter_map(in_home)
        .collect()
}

fn link_whole(from: &Path, to: &Path) -> io::Result<()> {
    match fs::read_link(to) {
        Ok(had) if had == from => return Ok(()),
        // The user has it somewhere else now.
        Ok(_) => fs::remove_file(to)?,
        Err(_) if to.symlink_metadata().is_ok() => return Ok(()),
        Err(_) => {}
    }
    symlink(from, to)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let text = fs::read(from)?;
    match fs::read(to) {
        Ok(had) if had == text => Ok(()),
        _ => fs::write(to, text),
    }
}

/// Folders are made anew so deep, so that programs can add to them; the rest are links.
fn link_below(from: &Path, to: &Path, levels: usize) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(to)?.flatten() {
        // The user has removed what it led to.
        if entry.file_type()?.is_symlink() && !entry.path().exists() {
            fs::remove_file(entry.path())?;
        }
    }
    for entry in fs::read_dir(from)?.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if levels > 1 && entry.file_type()?.is_dir() {
            link_below(&source, &target, levels - 1)?;
        } else if target.symlink_metadata().is_err() {
            symlink(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_anew_as_deep_as_said_and_the_rest_are_links() {
        let base = tempfile::tempdir().unwrap();
        let (owner, home) = (base.path().join("owner"), base.path().join("home"));
        fs::create_dir_all(owner.join("src/index/one-1.0")).unwrap();
        fs::write(owner.join("src/index/one-1.0/lib.rs"), "1").unwrap();
        fs::write(owner.join("settings"), "a").unwrap();
        fs::create_dir(&home).unwrap();
        let shared = |from: &str, how| SharedFolder {
            from: owner.join(from),
            to: PathBuf::from("kept").join(from),
            how,
        };
        let all = [
            shared("src", How::Links(2)),
            shared("settings", How::Copy),
            shared("gone", How::Links(1)),
        ];
        link(&all, &home);
        let one = home.join("kept/src/index/one-1.0");
        assert!(one.is_symlink() && one.join("lib.rs").is_file());
        assert!(!home.join("kept/src/index").is_symlink());
        // What a program has added stays; what is gone goes; a changed copy is as the user's again.
        fs::create_dir(home.join("kept/src/index/two-1.0")).unwrap();
        fs::write(home.join("kept/settings"), "b").unwrap();
        fs::remove_dir_all(owner.join("src/index/one-1.0")).unwrap();
        link(&all, &home);
        assert!(one.symlink_metadata().is_err() && home.join("kept/src/index/two-1.0").is_dir());
        assert_eq!(fs::read_to_string(home.join("kept/settings")).unwrap(), "a");
    }
}
