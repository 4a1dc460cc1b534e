//! What other programs obey on sight, as it read before any of the commands began that are kept off
//! it and run now. The server reads it, where no command can change it, and hands it to each
//! supervisor. Must not know what is compared with it, or what becomes of a file that differs.
//!
//! A mount keeps a command off a file only as long as nobody outside replaces the file: then the
//! kernel takes the mount away, and the command can write what is there. So what is found at the
//! end may be anybody's, and only what was read before is known to be no command's. A command that
//! begins while another runs has no "before" of its own, and goes by that of the other one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use claw_kit::durable::at;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::fs::{openat, readlinkat, renameat_with, symlinkat, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::obeyed::{Obeyed, names_aside};
use crate::work_folder;

/// Larger files are not kept, in bytes.
const FILE_BYTES_MAX: usize = 64 * 1024;
/// Of all of them together.
const BYTES_MAX: usize = 512 * 1024;

/// The files that can be put back, by their paths in the workspace. Folders are not among them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Baseline(BTreeMap<String, KeptFile>);

/// What a path was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptFile {
    Text { text: String, mode: u32 },
    Link(String),
}

impl Baseline {
    pub fn read(workspace: &Path) -> Self {
        let (mut files, mut bytes) = (BTreeMap::new(), 0);
        for path in Obeyed::below(workspace, &[]).paths() {
            let Ok(below) = path.strip_prefix(workspace) else { continue };
            let kept = below.to_str().zip(KeptFile::read(workspace, below));
            let Some((name, kept)) = kept.filter(|(_, kept)| bytes + kept.bytes() <= BYTES_MAX)
            else {
                continue;
            };
            bytes += kept.bytes();
            files.insert(name.to_owned(), kept);
        }
        Self(files)
    }

    pub fn of(&self, below: &Path) -> Option<&KeptFile> {
        self.0.get(below.to_str()?)
    }
}

impl KeptFile {
    /// `None` where nothing is there, and for what is not kept.
    fn read(workspace: &Path, below: &Path) -> Option<Self> {
        let (folder, name) = opened(workspace, below).ok()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP) => {
                let target = readlinkat(&folder, name, Vec::new()).ok()?;
                return Some(Self::Link(target.into_string().ok()?));
            }
            Err(_) => return None,
        };
        let meta = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= FILE_BYTES_MAX)?;
        Some(Self::Text { text, mode: meta.permissions().mode() & 0o7777 })
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text { text, .. } => text.len(),
            Self::Link(target) => target.len(),
        }
    }

    /// Whether the path is the same now, whichever file it is.
    pub fn is_at(&self, workspace: &Path, below: &Path) -> bool {
        Self::read(workspace, below).as_ref() == Some(self)
    }

    /// Puts it in the place of what is there. Gives the name that this has now.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be replaced. Nothing has changed then.
    pub fn put_back(&self, workspace: &Path, below: &Path) -> io::Result<String> {
        let (folder, name) = opened(workspace, below)?;
        let free = || names_aside(name).find(|aside| is_free(&folder, aside));
        match self {
            Self::Text { text, mode } => {
                let passing = at::swap(&folder, name, text.as_bytes(), *mode)?;
                let aside = free().filter(|aside| {
                    at::rename_new(&folder, passing.as_str(), &folder, aside.as_str()).is_ok()
                });
                Ok(aside.unwrap_or(passing))
            }
            Self::Link(target) => {
                let aside = free().ok_or(io::ErrorKind::AlreadyExists)?;
                symlinkat(target, &folder, aside.as_str())?;
                let from = aside.as_str();
                let swapped = renameat_with(&folder, from, &folder, name, RenameFlags::EXCHANGE);
                if let Err(error) = swapped {
                    let _ = unlinkat(&folder, from, AtFlags::empty());
                    return Err(error.into());
                }
                Ok(aside)
            }
        }
    }
}

/// The folder in which a path of the workspace lies, through no link, and its name there.
fn opened<'p>(workspace: &Path, below: &'p Path) -> io::Result<(OwnedFd, &'p str)> {
    let name = below.file_name().and_then(|name| name.to_str());
    let name = name.ok_or(io::ErrorKind::InvalidInput)?;
    let folder = below.parent().unwrap_or(Path::new(""));
    Ok((work_folder::open(workspace, folder).map_err(io::Error::other)?, name))
}

fn is_free(folder: &OwnedFd, name: &str) -> bool {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    matches!(found, Err(Errno::NOENT))
}

/// The baseline of the commands that run now; it goes with the last of them.
#[derive(Clone, Default)]
pub struct SharedBaseline(Arc<Mutex<Weak<Baseline>>>);

impl SharedBaseline {
    /// For a command that begins now, and to be held until it has ended. Empty where nothing is
    /// compared.
    pub async fn join(&self, workspace: &Path, is_compared: bool) -> Arc<Baseline> {
        if !is_compared {
            return Arc::default();
        }
        let (shared, workspace) = (self.0.clone(), workspace.to_owned());
        let joined = tokio::task::spawn_blocking(move || {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.upgrade().unwrap_or_else(|| {
                let read = Arc::new(Baseline::read(&workspace));
                *shared = Arc::downgrade(&read);
                read
            })
        });
        // Without one nothing is put back, and what has changed is set aside all the same.
        joined.await.unwrap_or_default()
    }
}
