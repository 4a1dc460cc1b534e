//! Digests of files that have not changed since they were read, so that a second snapshot reads
//! only what did. Must not know what a digest is for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use cap_std::fs::{Metadata, MetadataExt as _};
use claw_kit::durable;
use serde::{Deserialize, Serialize};

use crate::entry::RelPath;

/// A file that changed this shortly before it was read can change again without another time of
/// change: the times of file systems are coarse.
const SETTLED_AFTER: Duration = Duration::from_secs(2);
const OWNER_ONLY: u32 = 0o600;

/// What the kernel says about a file. `ctime` cannot be set by a program, so a content that was
/// exchanged under an old `mtime` is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stat {
    device: u64,
    inode: u64,
    bytes: u64,
    mtime_s: i64,
    mtime_ns: i64,
    ctime_s: i64,
    ctime_ns: i64,
}

impl Stat {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.size(),
            mtime_s: meta.mtime(),
            mtime_ns: meta.mtime_nsec(),
            ctime_s: meta.ctime(),
            ctime_ns: meta.ctime_nsec(),
        }
    }

    fn has_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::from_secs(u64::try_from(self.ctime_s).unwrap_or(u64::MAX));
        changed.saturating_add(SETTLED_AFTER) < now
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StatCache {
    files: Vec<(RelPath, Stat, String)>,
    #[serde(skip)]
    known: BTreeMap<RelPath, (Stat, String)>,
    #[serde(skip)]
    is_new: bool,
}

impl StatCache {
    /// One that cannot be read is an empty one: everything is read again.
    pub(crate) fn load(path: &Path) -> Self {
        let read =
            fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        let files = read.map(|cache| cache.files).unwrap_or_default();
        let known = files.into_iter().map(|(path, stat, digest)| (path, (stat, digest))).collect();
        Self { files: Vec::new(), known, is_new: false }
    }

    pub(crate) fn digest(&self, path: &RelPath, stat: &Stat) -> Option<&str> {
        let (known, digest) = self.known.get(path)?;
        (known == stat).then_some(digest)
    }

    /// `stat` was taken before the file was read.
    pub(crate) fn note(&mut self, path: &RelPath, stat: Stat, digest: &str) {
        if stat.has_settled() {
            self.known.insert(path.clone(), (stat, digest.to_owned()));
            self.is_new = true;
        }
    }

    /// Keeps what `is_there` any more, and writes it if it is not what was read. What cannot be
    /// written is read again next time.
    pub(crate) fn save(mut self, path: &Path, is_there: impl Fn(&RelPath) -> bool) {
        let before = self.known.len();
        self.known.retain(|path, _| is_there(path));
        if !self.is_new && self.known.len() == before {
            return;
        }
        self.files = std::mem::take(&mut self.known)
            .into_iter()
            .map(|(path, (stat, digest))| (path, stat, digest))
            .collect();
        if let Ok(text) = serde_json::to_string(&self) {
            let _ = durable::replace(path, &text, OWNER_ONLY);
        }
    }
}
