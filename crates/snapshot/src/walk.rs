//! Finds out what stands in a workspace: which paths there are, and what is at each. Nothing is
//! followed out of the workspace. Must not know snapshots or undo.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use ignore::{DirEntry, WalkBuilder};

use crate::contents::{self, Contents, New};
use crate::entry::{Entry, MODE_BITS, RelPath};
use crate::error::SnapshotError;
use crate::limits::Limits;
use crate::stat_cache::{Stat, StatCache};
use crate::tree::{LeftOut, Tree, Why};

/// A workspace that is looked at.
pub(crate) struct Walk<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) root: &'a Dir,
    pub(crate) limits: Limits,
    pub(crate) cache: &'a mut StatCache,
    /// Where contents are kept, and what has to come to the disk; `None` if digests are enough.
    pub(crate) contents: Option<(&'a Contents, &'a mut New)>,
}

impl Walk<'_> {
    /// Everything but `.git` and what `.gitignore` names now; and what is at `also`, which was
    /// there before, whatever `.gitignore` says meanwhile, with the folders that it lies in.
    pub(crate) fn tree<'b>(
        &mut self,
        also: impl Iterator<Item = &'b RelPath>,
    ) -> Result<Tree, SnapshotError> {
        let mut tree = Tree::default();
        let mut bytes = 0;
        for path in self.paths() {
            self.add(&mut tree, &mut bytes, RelPath::from(path))?;
        }
        for known in also {
            for path in behind_its_folders(known, &tree) {
                self.add(&mut tree, &mut bytes, path)?;
            }
        }
        tree.left_out.sort_by(|one, other| one.path.cmp(&other.path));
        tree.left_out.dedup();
        Ok(tree)
    }

    /// Adds what is at a path, if its folder is in the tree. `bytes` counts those of all files.
    fn add(
        &mut self,
        tree: &mut Tree,
        bytes: &mut u64,
        path: RelPath,
    ) -> Result<(), SnapshotError> {
        if tree.entries.contains_key(&path) || !tree.has_folder_above(&path) {
            return Ok(());
        }
        match self.look(&path)? {
            Some(Ok(entry)) => {
                if let Entry::File { bytes: size, .. } = &entry {
                    *bytes += size;
                }
                tree.entries.insert(path, entry);
            }
            Some(Err(why)) => tree.left_out.push(LeftOut { path, why }),
            None => {}
        }
        if tree.files() > self.limits.files_max {
            return Err(SnapshotError::TooManyFiles { max: self.limits.files_max });
        }
        if *bytes > self.limits.bytes_max {
            return Err(SnapshotError::TooLarge { max: self.limits.bytes_max });
        }
        Ok(())
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let mut walk = WalkBuilder::new(self.workspace);
        walk.standard_filters(false).git_ignore(true).require_git(false);
        walk.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != OsStr::new(".git"));
        let workspace = self.workspace.to_owned();
        let below = move |entry: DirEntry| Some(entry.path().strip_prefix(&workspace).ok()?.into());
        // A folder that cannot be read is found as an entry, and left out there.
        walk.build()
            .filter_map(Result::ok)
            .filter_map(below)
            .filter(|path: &PathBuf| !path.as_os_str().is_empty())
    }

    /// `None` if there is nothing any more.
    pub(crate) fn look(
        &mut self,
        path: &RelPath,
    ) -> Result<Option<Result<Entry, Why>>, SnapshotError> {
        let here = || self.workspace.join(path.as_path());
        let meta = match self.root.symlink_metadata(path.as_path()) {
            Ok(meta) => meta,
            Err(error) if is_gone(&error) => return Ok(None),
            Err(error) if is_refused(&error) => return Ok(Some(Err(Why::Unreadable))),
            Err(error) => return Err(SnapshotError::at(here())(error)),
        };
        let mode = meta.mode() & MODE_BITS;
        if meta.is_dir() {
            let readable = self.root.read_dir(path.as_path()).is_ok();
            return Ok(Some(if readable {
                Ok(Entry::Folder { mode })
            } else {
                Err(Why::Unreadable)
            }));
        }
        if meta.is_symlink() {
            let target = self.root.read_link_contents(path.as_path());
            return Ok(target.ok().map(|target| Ok(Entry::Link { target: target.into() })));
        }
        if !meta.is_file() {
            return Ok(Some(Err(Why::Special)));
        }
        if meta.len() > self.limits.file_bytes_max {
            return Ok(Some(Err(Why::TooLarge { bytes: meta.len() })));
        }
        match self.read(path, &meta) {
            Ok((digest, bytes)) => Ok(Some(Ok(Entry::File { digest, bytes, mode }))),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) if is_refused(&error) => Ok(Some(Err(Why::Unreadable))),
            Err(error) => Err(SnapshotError::at(here())(error)),
        }
    }

    fn read(&mut self, path: &RelPath, meta: &Metadata) -> io::Result<(String, u64)> {
        let stat = Stat::of(meta);
        if let Some(digest) = self.cache.digest(path, &stat)
            && self.contents.as_ref().is_none_or(|(contents, _)| contents.has(digest))
        {
            return Ok((digest.to_owned(), meta.len()));
        }
        let content = open(self.root, path.as_path())?;
        let read = match &mut self.contents {
            Some((contents, new)) => contents.keep(content, new)?,
            None => contents::digest(content)?,
        };
        self.cache.note(path, stat, &read.0);
        Ok(read)
    }
}

/// A path that was known before, behind the folders above it that the tree does not have: the
/// topmost first. Nothing if the tree has it.
fn behind_its_folders(known: &RelPath, tree: &Tree) -> Vec<RelPath> {
    let is_new = |path: &RelPath| !tree.entries.contains_key(path);
    let above = |path: &RelPath| path.above().filter(is_new);
    let mut paths: Vec<RelPath> =
        std::iter::successors(Some(known.clone()).filter(is_new), above).collect();
    paths.reverse();
    paths
}

/// A plain file, through no link. Never waits for the other end of a pipe that took its place.
pub(crate) fn open(root: &Dir, path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    options.read(true).follow(FollowSymlinks::No).custom_flags(nonblocking);
    let file = root.open_with(path, &options)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Nothing is there, or what was above it is no folder any more.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}
