//! The contents of files by their digest: each content is kept once, however many snapshots have
//! it. Owns their folder. Must not know paths of a workspace.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use claw_domain::canonical::hex;
use claw_kit::durable::{self, Part};
use sha2::{Digest as _, Sha256};

use crate::sync::Sync;

const CHUNK_BYTES: usize = 64 * 1024;
const OWNER_ONLY: u32 = 0o700;

/// The contents of one snapshot that were not kept before, and have no names yet.
#[derive(Debug, Default)]
pub(crate) struct New {
    digests: BTreeSet<String>,
}

pub(crate) struct Contents {
    folder: PathBuf,
}

impl Contents {
    /// # Errors
    /// The folder cannot be made.
    pub(crate) fn open(folder: PathBuf) -> io::Result<Self> {
        durable::create_dirs(&folder, OWNER_ONLY)?;
        Ok(Self { folder })
    }

    pub(crate) fn has(&self, digest: &str) -> bool {
        self.path(digest).exists()
    }

    /// Keeps what can be read, and gives its digest and size. It has no name before `new` is
    /// published.
    pub(crate) fn keep(&self, content: impl Read, new: &mut New) -> io::Result<(String, u64)> {
        let mut part = Part::beside(&self.folder.join("content"))?;
        let (digest, bytes) = copy(content, Some(&mut part.file))?;
        if !self.has(&digest) && new.digests.insert(digest.clone()) {
            // Thousands of them cannot stay open. Whoever works here holds the lock of the folder.
            fs::rename(part.path(), self.staged(&digest))?;
        }
        Ok((digest, bytes))
    }

    /// Gives new contents their names, when they are on the disk: a name that a power loss keeps
    /// without its content would be taken for that content by every later snapshot.
    pub(crate) fn publish(&self, new: New) -> io::Result<()> {
        if new.digests.is_empty() {
            return Ok(());
        }
        let root = File::open(&self.folder)?;
        let mut sync = Sync::default();
        for digest in &new.digests {
            sync.add(File::open(self.staged(digest))?);
        }
        sync.finish(&root)?;
        let mut folders = BTreeSet::from([self.folder.clone()]);
        for digest in &new.digests {
            let path = self.path(digest);
            let folder = path.parent().unwrap_or(&self.folder);
            fs::create_dir_all(folder)?;
            fs::rename(self.staged(digest), &path)?;
            folders.insert(folder.to_owned());
        }
        let mut sync = Sync::default();
        for folder in &folders {
            sync.add(File::open(folder)?);
        }
        sync.finish(&root)
    }

    /// Where a content waits for its name. A kill leaves it, and a sweep takes it away.
    fn staged(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.new"))
    }

    pub(crate) fn read(&self, digest: &str) -> io::Result<File> {
        File::open(self.path(digest))
    }

    /// Removes what nobody names any more, and what a kill has left. Gives the bytes that were
    /// freed.
    pub(crate) fn sweep(&self, named: &BTreeSet<String>) -> io::Result<u64> {
        let mut freed = 0;
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if !path.is_dir() {
                freed += remove(&path)?;
                continue;
            }
            let prefix = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for entry in fs::read_dir(&path)? {
                let entry = entry?;
                let digest = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if !named.contains(&digest) {
                    freed += remove(&entry.path())?;
                }
            }
        }
        Ok(freed)
    }

    pub(crate) fn path(&self, digest: &str) -> PathBuf {
        let (prefix, rest) = digest.split_at_checked(2).unwrap_or((digest, "_"));
        self.folder.join(prefix).join(rest)
    }
}

/// The digest of what can be read, and its size in bytes.
pub(crate) fn digest(content: impl Read) -> io::Result<(String, u64)> {
    copy(content, None)
}

fn copy(mut content: impl Read, mut to: Option<&mut File>) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut bytes = 0;
    loop {
        let read = match content.read(&mut chunk) {
            Ok(0) => return Ok((hex(&hash.finalize()), bytes)),
            Ok(read) => chunk.get(..read).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(read);
        bytes += read.len() as u64;
        if let Some(to) = &mut to {
            to.write_all(read)?;
        }
    }
}

fn remove(path: &Path) -> io::Result<u64> {
    let bytes = path.symlink_metadata().map_or(0, |meta| meta.len());
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_has_no_name_before_it_is_published_and_a_sweep_takes_what_never_was() {
        let dir = tempfile::tempdir().unwrap();
        let contents = Contents::open(dir.path().join("contents")).unwrap();
        let mut new = New::default();
        let (digest, bytes) = contents.keep(&b"one"[..], &mut new).unwrap();
        assert_eq!(contents.keep(&b"one"[..], &mut new).unwrap(), (digest.clone(), bytes));
        assert!(!contents.has(&digest), "a power loss now leaves no such name");
        contents.publish(new).unwrap();
        assert!(contents.has(&digest));
        let mut read = String::new();
        contents.read(&digest).unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read, "one");
        // A snapshot that was cut.
        contents.keep(&b"two"[..], &mut New::default()).unwrap();
        let freed = contents.sweep(&BTreeSet::from([digest.clone()])).unwrap();
        assert_eq!(freed, 3);
        let left: Vec<_> = fs::read_dir(dir.path().join("contents")).unwrap().collect();
        assert!(left.len() == 1 && contents.has(&digest), "{left:?}");
    }

    #[test]
    fn a_content_is_on_the_disk_before_it_has_its_name_and_the_name_before_it_is_told() {
        use std::os::unix::fs::MetadataExt as _;
        use std::sync::{Arc, Mutex};
        type Brought = (BTreeSet<u64>, usize);

        let number = |path: &Path| fs::metadata(path).unwrap().ino();
        let dir = tempfile::tempdir().unwrap();
        let contents = Contents::open(dir.path().join("contents")).unwrap();
        let mut new = New::default();
        let (one, _) = contents.keep(&b"one"[..], &mut new).unwrap();
        let (two, _) = contents.keep(&b"two"[..], &mut new).unwrap();
        let kept = BTreeSet::from([one, two].map(|digest| contents.path(&digest)));
        let numbers: BTreeSet<u64> =
            new.digests.iter().map(|digest| number(&contents.staged(digest))).collect();
        // For each sync: what it brings to the disk, and how many contents have a name by then.
        let heard: Arc<Mutex<Vec<Brought>>> = Arc::default();
        let (noted, names) = (heard.clone(), kept.clone());
        crate::sync::tests::hear(move |files| {
            let files = files.iter().map(|file| file.metadata().unwrap().ino()).collect();
            let named = names.iter().filter(|path| path.exists()).count();
            noted.lock().unwrap().push((files, named));
        });
        contents.publish(new).unwrap();
        let heard = heard.lock().unwrap();
        let [(first, unnamed), (second, named)] = heard.as_slice() else { panic!("{heard:?}") };
        assert_eq!((first, unnamed), (&numbers, &0));
        let folders = kept.iter().map(|path| number(path.parent().unwrap()));
        let folders: BTreeSet<u64> = folders.chain([number(&contents.folder)]).collect();
        assert_eq!((second, named), (&folders, &2));
    }
}
