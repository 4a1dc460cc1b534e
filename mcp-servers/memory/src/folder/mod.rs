//! The folder of the notes: walked and read by handles that cannot leave it. Owns which files are
//! notes; must not know what is in one, or the index.

mod change;
pub mod conflict;
pub mod watch;

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use claw_kit::durable;
use rustix::fs::{AtFlags, FileType, Stat, statat};

/// The folders are their owner's alone where we make them.
const FOLDER_MODE: u32 = 0o700;

/// Folders below each other. A deeper one is passed over, and said.
const DEPTH_MAX: usize = 32;

pub struct Folder {
    dir: Dir,
    /// Where it lies, links resolved; for messages and for the watch.
    pub path: PathBuf,
}

/// A file of this name, at the top of the folder, is no note: `word → name` in each line.
pub const THESAURUS: &str = "thesaurus.md";

/// Whether a file is a thesaurus and no note: `thesaurus.md`, or `thesaurus.ROLE.md` for one role.
pub fn is_thesaurus(path: &str) -> bool {
    path.eq_ignore_ascii_case(THESAURUS) || thesaurus_role(path).is_some()
}

/// The role that a thesaurus is for.
pub fn thesaurus_role(path: &str) -> Option<&str> {
    const BEFORE: &str = "thesaurus.";
    const BEHIND: &str = ".md";
    let ends = path.len().checked_sub(BEHIND.len())?;
    let role = path.get(BEFORE.len()..ends)?;
    let is_named = path.get(..BEFORE.len())?.eq_ignore_ascii_case(BEFORE)
        && path.get(ends..)?.eq_ignore_ascii_case(BEHIND);
    let is_role = role.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    (is_named && is_role && !role.is_empty()).then_some(role)
}

/// What tells a file from an earlier one under the same name without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub size_bytes: u64,
    pub changed_ns: i128,
    modified_ns: i128,
    inode: u64,
}

/// A file of the folder.
pub enum Content {
    Text(Vec<u8>),
    /// It is not read.
    TooLarge(u64),
    /// It is there, and cannot be opened.
    Unreadable(io::Error),
}

/// What is in the folder and is no note, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassedOver {
    pub path: String,
    pub why: &'static str,
}

impl Folder {
    /// Makes it where it is not there.
    ///
    /// # Errors
    /// It cannot be made or opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        durable::create_dirs(path, FOLDER_MODE)?;
        let path = path.canonicalize()?;
        Ok(Self { dir: Dir::open_ambient_dir(&path, ambient_authority())?, path })
    }

    /// Calls `found` for each note with its path, its parts joined by `/`, and `entered` for each
    /// folder before it is read. Links are not followed. Hidden files and folders (`.git`,
    /// `.obsidian`) are not looked at.
    ///
    /// # Errors
    /// A folder cannot be read, or what `found` gives.
    pub fn walk<E: From<io::Error>>(
        &self,
        mut entered: impl FnMut(&str),
        mut found: impl FnMut(&str, Stamp) -> Result<(), E>,
    ) -> Result<Vec<PassedOver>, E> {
        let mut passed_over = Vec::new();
        let mut open = vec![(self.dir.try_clone()?, String::new(), 0)];
        while let Some((dir, path, depth)) = open.pop() {
            entered(&path);
            let entries = match dir.entries() {
                Ok(entries) => entries,
                Err(error) if depth == 0 => return Err(error.into()),
                Err(_) => {
                    passed_over.push(PassedOver { path, why: "the folder cannot be read" });
                    continue;
                }
            };
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name();
                let Some(text) = name.to_str() else {
                    let path = join(&path, &name.to_string_lossy());
                    passed_over.push(PassedOver { path, why: "its name is not UTF-8" });
                    continue;
                };
                if text.starts_with('.') {
                    continue;
                }
                let at = join(&path, text);
                // Gone since it was listed.
                let Ok(stat) = statat(&dir, text, AtFlags::SYMLINK_NOFOLLOW) else { continue };
                match (FileType::from_raw_mode(stat.st_mode), is_note_name(text)) {
                    (FileType::Directory, _) if depth == DEPTH_MAX => {
                        passed_over.push(PassedOver { path: at, why: "it lies too deep" });
                    }
                    (FileType::Directory, _) => match dir.open_dir_nofollow(text) {
                        Ok(below) => open.push((below, at, depth + 1)),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(_) => passed_over
                            .push(PassedOver { path: at, why: "the folder cannot be opened" }),
                    },
                    (FileType::RegularFile, true) if is_thesaurus(&at) => {}
                    (FileType::RegularFile, true) => found(&at, Stamp::of(&stat))?,
                    (_, true) => passed_over
                        .push(PassedOver { path: at, why: "it is a link or no ordinary file" }),
                    _ => {}
                }
            }
        }
        passed_over.sort();
        Ok(passed_over)
    }

    /// The thesauri at its top, by name: first the one for every role.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn thesauri(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.dir.entries()? {
            names.extend(entry?.file_name().into_string().ok().filter(|name| is_thesaurus(name)));
        }
        names.sort_by_key(|name| (thesaurus_role(name).is_some(), name.clone()));
        Ok(names)
    }

    /// The stamp and content of a note, or `None` if there is no such file.
    ///
    /// # Errors
    /// The system refuses for another reason than rights.
    pub fn read(&self, path: &str, bytes_max: u64) -> io::Result<Option<(Stamp, Content)>> {
        let gone = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        };
        let (dir, name) = match self.parent_of(path) {
            Ok(place) => place,
            Err(error) => return gone(error),
        };
        let stat = match statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => stat,
            Ok(_) => return Ok(None),
            Err(error) => return gone(error.into()),
        };
        let stamp = Stamp::of(&stat);
        if stamp.size_bytes > bytes_max {
            return Ok(Some((stamp.clone(), Content::TooLarge(stamp.size_bytes))));
        }
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = match dir.open_with(name, &options) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Ok(Some((stamp, Content::Unreadable(error)))),
        };
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > bytes_max {
            return Ok(Some((stamp, Content::TooLarge(bytes.len() as u64))));
        }
        Ok(Some((stamp, Content::Text(bytes))))
    }

    /// The open folder that a path leads to, and the last name of the path. Every part is entered
    /// by itself, never through a link.
    fn parent_of<'a>(&self, path: &'a str) -> io::Result<(Dir, &'a str)> {
        let mut parts: Vec<&str> = path.split('/').collect();
        let name = parts.pop().unwrap_or_default();
        let mut dir = self.dir.try_clone()?;
        for part in parts {
            dir =
                dir.open_dir_nofollow(part).map_err(
                    |error| match rustix::io::Errno::from_io_error(&error) {
                        Some(rustix::io::Errno::LOOP) => io::ErrorKind::NotADirectory.into(),
                        _ => error,
                    },
                )?;
        }
        Ok((dir, name))
    }
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        let part = |ns| i64::try_from(ns).unwrap_or_default();
        Self {
            size_bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified_ns: ns(stat.st_mtime, part(stat.st_mtime_nsec)),
            changed_ns: ns(stat.st_ctime, part(stat.st_ctime_nsec)),
            inode: stat.st_ino,
        }
    }

    pub fn modified_s(&self) -> i64 {
        i64::try_from(self.modified_ns.div_euclid(1_000_000_000)).unwrap_or_default()
    }

    pub fn as_text(&self) -> String {
        format!("{}.{}.{}.{}", self.size_bytes, self.modified_ns, self.changed_ns, self.inode)
    }
}

pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The name of a file without its folders and its ending.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Whether a file with this name, or at this path, is a note.
pub fn is_note_name(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| {
        ending.eq_ignore_ascii_case("md") || ending.eq_ignore_ascii_case("markdown")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_hidden_folders_are_not_followed() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("notes");
        std::fs::create_dir_all(root.join("a/.hidden")).unwrap();
        std::fs::create_dir(temp.path().join("outside")).unwrap();
        for path in ["notes/a/b.md", "notes/a/.hidden/c.md", "notes/x.txt", "outside/secret.md"] {
            std::fs::write(temp.path().join(path), "text").unwrap();
        }
        std::os::unix::fs::symlink("../../outside", root.join("a/out")).unwrap();
        std::os::unix::fs::symlink("../outside/secret.md", root.join("secret.md")).unwrap();
        let folder = Folder::open(&root).unwrap();
        let mut found = Vec::new();
        let passed_over = folder
            .walk(
                |_| (),
                |path, _| -> io::Result<()> {
                    found.push(path.to_owned());
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!(found, ["a/b.md"]);
        assert_eq!(passed_over.len(), 1);
        assert_eq!(passed_over[0].path, "secret.md");
        for path in ["secret.md", "a/out/secret.md", "../outside/secret.md", "/etc/passwd", "a", ""]
        {
            assert!(!matches!(folder.read(path, 100), Ok(Some(_))), "{path}");
        }
        assert!(matches!(folder.read("a/b.md", 3), Ok(Some((_, Content::TooLarge(4))))));
    }
}
