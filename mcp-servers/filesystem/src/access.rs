//! The root as one request sees it. Owns the guarded places of the moment and the way from a user's
//! path to an open file or directory; must not know tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use crate::enter::enter;
use crate::error::{Result, ToolError};
use crate::guard::{Act, Guard, Shield};
use crate::kind::Kind;
use crate::place::Place;
use crate::resolve::{Last, Missing, Walker};
use crate::root::Root;
use crate::user_path;

pub struct Access<'a> {
    pub root: &'a Root,
    pub guard: Guard,
}

impl<'a> Access<'a> {
    /// For a tool that only reads.
    pub fn new(root: &'a Root) -> Self {
        let mut guard = Guard::default();
        guard_all(&mut guard, root, &root.protected, Shield::Protected);
        Self { root, guard }
    }

    /// For a tool that changes something: what is read-only is as far away from it as what is
    /// protected, by whatever way.
    pub fn to_change(root: &'a Root) -> Self {
        let mut access = Self::new(root);
        guard_all(&mut access.guard, root, &root.read_only, Shield::ReadOnly);
        access
    }

    /// The same for a call that the host keeps off these names.
    pub fn keeping_off(mut self, names: &[String]) -> Self {
        self.guard.keep_off(names);
        self
    }

    /// The place that a user's path names.
    ///
    /// # Errors
    /// See `Walker::walk` and `user_path::split`.
    pub fn resolve(&self, path: &str, last: Last, missing: Missing) -> Result<Place> {
        let names = user_path::split(path, &self.root.forms)?;
        let place = Walker::new(self.root, &self.guard, path).walk(names, last, missing)?;
        if let Some(shield) =
            place.metadata.as_ref().and_then(|metadata| self.guard.forbids_identity(metadata))
        {
            return Err(shield.refuses(path));
        }
        Ok(place)
    }

    /// # Errors
    /// The place, or something below or above it, is guarded, so that it cannot be removed or
    /// replaced.
    pub fn may_replace(&self, place: &Place) -> Result<()> {
        match self.guard.forbids_path(&place.real, Act::Replace) {
            Some(shield) => Err(shield.refuses(&place.shown)),
            None => Ok(()),
        }
    }

    /// The directory at a place.
    ///
    /// # Errors
    /// It is no directory, is protected, or cannot be opened.
    pub fn open_dir(&self, place: &Place) -> Result<Arc<Dir>> {
        let Some(name) = &place.name else { return Ok(Arc::clone(&place.parent)) };
        match place.kind() {
            Some(Kind::Dir) => enter(&place.parent, name, &place.real, &self.guard)
                .map_err(|error| error.into_tool_error(&place.shown)),
            Some(kind) => {
                Err(ToolError::NotADirectory { path: place.shown.clone(), is: kind.phrase() })
            }
            None => Err(ToolError::NotFound { path: place.shown.clone(), hint: String::new() }),
        }
    }

    /// The regular file at a place, for reading.
    ///
    /// # Errors
    /// It is no regular file or cannot be opened.
    pub fn open_file(&self, place: &Place) -> Result<(File, Metadata)> {
        let name = place.file_name()?;
        refuse_other_kinds(place)?;
        open_regular(&place.parent, Path::new(name), &place.shown, &self.guard)
    }
}

/// Looks up where the places are now: their names may run through links that did not exist at the
/// start. A link on the way is guarded like the place itself, because whoever puts another file in
/// its place changes what the name stands for.
fn guard_all(guard: &mut Guard, root: &Root, places: &[PathBuf], shield: Shield) {
    let blind = Guard::default();
    for place in places {
        guard.add(place, None, shield);
        let shown = place.display().to_string();
        let (links, found) =
            Walker::new(root, &blind, &shown).trace(place.iter().map(Into::into).collect());
        links.iter().for_each(|link| guard.add(link, None, shield));
        // A place that cannot be walked to is still guarded by its name.
        if let Some(found) = found.filter(|found| found.name.is_some()) {
            guard.add(&found.real, found.metadata.as_ref(), shield);
        }
    }
}

/// # Errors
/// Something is at the place, and it is not a regular file.
pub fn refuse_other_kinds(place: &Place) -> Result<()> {
    let path = || place.shown.clone();
    match place.kind() {
        Some(Kind::File) | None => Ok(()),
        Some(Kind::Dir) => Err(ToolError::IsDirectory {
            path: path(),
            instead: "Use list_dir to see what is in it, and name a file.",
        }),
        // Links were followed on the way here; this one came in between.
        Some(Kind::Symlink) => Err(ToolError::ChangedMeanwhile { path: path() }),
        Some(kind) => Err(ToolError::Special { path: path(), is: kind.phrase() }),
    }
}

/// Opens one name without following a link and without ever blocking (`O_NONBLOCK`: a FIFO opens at
/// once), and believes only what the open handle says about its kind.
///
/// # Errors
/// It is no regular file, is a protected one under another name, or cannot be opened.
pub fn open_regular(
    parent: &Dir,
    name: &Path,
    shown: &str,
    guard: &Guard,
) -> Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = parent.open_with(name, &options).map_err(|error| {
        if rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::LOOP) {
            return ToolError::ChangedMeanwhile { path: shown.to_owned() };
        }
        ToolError::io("open", shown, &error)
    })?;
    let metadata = file.metadata().map_err(|error| ToolError::io("look at", shown, &error))?;
    if let Some(shield) = guard.forbids_identity(&metadata) {
        return Err(shield.refuses(shown));
    }
    match Kind::of(metadata.file_type()) {
        Kind::File => Ok((file, metadata)),
        kind => Err(ToolError::Special { path: shown.to_owned(), is: kind.phrase() }),
    }
}
