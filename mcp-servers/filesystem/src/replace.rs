//! Writing a whole file at once: a temporary file in the same directory, synced, then renamed over
//! the old one. Must not know what the new text is.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{
    Dir, File, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _, PermissionsExt as _,
};
use claw_kit::attributes::{self, Lost, Rights};
use claw_kit::durable::at::rename_new;
use claw_kit::killpoint;

use crate::access::{Access, refuse_other_kinds};
use crate::enter::enter;
use crate::error::{Result, ToolError};
use crate::guard::Act;
use crate::place::Place;
use crate::resolve::DEPTH_MAX;

/// Names that somebody else has taken before we give up.
const NAME_TRIES_MAX: u32 = 32;

/// What a write did.
#[derive(Debug)]
pub struct Written {
    pub created: bool,
    pub directories_created: usize,
    pub previous_bytes: Option<u64>,
    /// What the replaced file had and the new one has not.
    pub lost: Lost,
}

/// Puts `bytes` at `place`, which either holds nothing or a regular file. A reader sees the old
/// file or the new one, never a part. Owner, group, permission bits (not set-user-id and the like)
/// and extended attributes of an old file are kept as far as the system lets us; an old hard link
/// elsewhere keeps the old content.
///
/// # Errors
/// Something else than a file is there, it is read-only or protected, it is no longer the file in
/// `expected`, or the system refuses. Nothing has changed then, except for parent directories that
/// were made.
pub fn write(
    access: &Access<'_>,
    place: &Place,
    bytes: &[u8],
    expected: Option<&Metadata>,
) -> Result<Written> {
    let mut file = write_beside(access, place, bytes, expected)?;
    file.unchanged()?;
    file.put()?;
    Ok(Written {
        created: place.metadata.is_none(),
        directories_created: place.missing_parents.len(),
        previous_bytes: place.metadata.as_ref().map(Metadata::len),
        lost: file.lost,
    })
}

/// Puts all of them in their places, or none: every place is looked at before the first is
/// changed, and what was changed goes back if a later one fails. `olds` are the texts that they
/// replace. A reader in between may see some of them; so does one after a kill in between. Claw's
/// undo of the turn takes those back, and what lies beside the others.
///
/// # Errors
/// One of them cannot be put. Nothing has changed then; where even that fails, the error says
/// which files have changed.
pub fn put_all(mut files: Vec<WholeFile<'_>>, olds: &[Option<String>]) -> Result<()> {
    files.iter().try_for_each(WholeFile::unchanged)?;
    for at in 0..files.len() {
        let Err(error) = files[at].put() else {
            killpoint::here("patch.put");
            continue;
        };
        let before = files[..at].iter().zip(olds);
        let stuck: Vec<&str> = before
            .filter(|(file, old)| file.take_back(old.as_deref()).is_err())
            .map(|(file, _)| file.place.shown.as_str())
            .collect();
        if stuck.is_empty() {
            return Err(error);
        }
        return Err(ToolError::Refused(format!(
            "{error} These files were changed before and could not be put back: {}.",
            stuck.join(", ")
        )));
    }
    Ok(())
}

/// A text that lies beside its place, whole and synced. Dropped without
/// [`WholeFile::put`], it is removed.
pub struct WholeFile<'a> {
    place: &'a Place,
    parent: Arc<Dir>,
    name: OsString,
    temporary: OsString,
    expected: Option<&'a Metadata>,
    /// The file that it replaces, for what that has beside its text. `None` if there is none, or
    /// none that can be read.
    old: Option<File>,
    /// What of that it could not be given.
    pub lost: Lost,
    is_put: bool,
}

/// Lays `bytes` beside `place`, as [`write`] does it.
///
/// # Errors
/// See [`write`].
pub fn write_beside<'a>(
    access: &Access<'_>,
    place: &'a Place,
    bytes: &[u8],
    expected: Option<&'a Metadata>,
) -> Result<WholeFile<'a>> {
    let name = place.file_name()?.to_owned();
    refuse_other_kinds(place)?;
    access.may_replace(place)?;
    if let Some(old) = &place.metadata {
        let mode = old.permissions().mode() & 0o777;
        if mode & 0o222 == 0 {
            return Err(ToolError::ReadOnly { path: place.shown.clone(), mode });
        }
    }
    let parent = make_parents(access, place)?;
    let replaces = place.metadata.is_some();
    let old = if replaces { access.open_file(place).ok().map(|(old, _)| old) } else { None };
    let (temporary, mut file) = create_temporary(&parent, replaces, &place.shown)?;
    let lost = Lost::default();
    let mut whole =
        WholeFile { place, parent, name, temporary, expected, old, lost, is_put: false };
    whole.lost = fill(&mut file, bytes, place, whole.old.as_ref())?;
    Ok(whole)
}

impl WholeFile<'_> {
    fn unchanged(&self) -> Result<()> {
        unchanged(&self.parent, &self.name, self.expected, &self.place.shown)
    }

    fn put(&mut self) -> Result<()> {
        put(&self.parent, &self.temporary, &self.name, self.place)?;
        self.is_put = true;
        Ok(())
    }

    /// Puts back what was there: the old text with all that the old file had, or nothing.
    fn take_back(&self, old: Option<&str>) -> Result<()> {
        let Some(old) = old else {
            let removed = self.parent.remove_file(&self.name);
            return removed.map_err(|error| ToolError::io("remove", &self.place.shown, &error));
        };
        let (temporary, mut file) = create_temporary(&self.parent, true, &self.place.shown)?;
        let outcome = fill(&mut file, old.as_bytes(), self.place, self.old.as_ref())
            .and_then(|_| put(&self.parent, &temporary, &self.name, self.place));
        if outcome.is_err() {
            let _ = self.parent.remove_file(&temporary);
        }
        outcome
    }
}

impl Drop for WholeFile<'_> {
    fn drop(&mut self) {
        if !self.is_put {
            // The first error is the one to tell; a leftover is named so that it can be recognised.
            let _ = self.parent.remove_file(&self.temporary);
        }
    }
}

/// Makes the missing directories above a place and gives the one that holds it.
///
/// # Errors
/// A directory cannot be made, or somebody put something else in its place.
pub fn make_parents(access: &Access<'_>, place: &Place) -> Result<Arc<Dir>> {
    let mut dir = Arc::clone(&place.parent);
    let above = place.missing_parents.len() + 1;
    let mut real = place.real.ancestors().nth(above).map(Path::to_path_buf).unwrap_or_default();
    if place.real.iter().count() > DEPTH_MAX {
        return Err(ToolError::Refused(format!(
            "`{}` is more than {DEPTH_MAX} levels deep.",
            place.shown
        )));
    }
    if let Some(shield) = access.guard.forbids_path(&place.real, Act::Touch) {
        return Err(shield.refuses(&place.shown));
    }
    for name in &place.missing_parents {
        real.push(name);
        match dir.create_dir(name) {
            Ok(()) => {}
            // Another call has just made it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(ToolError::io(
                    "create the directory",
                    real.display().to_string(),
                    &error,
                ));
            }
        }
        dir = enter(&dir, name, &real, &access.guard)
            .map_err(|error| error.into_tool_error(&place.shown))?;
    }
    Ok(dir)
}

fn create_temporary(parent: &Dir, private: bool, shown: &str) -> Result<(OsString, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    // The content of an old file must not be readable by more people for a moment; a new file
    // follows the umask.
    options.mode(if private { 0o600 } else { 0o666 });
    for _ in 0..NAME_TRIES_MAX {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".claw-tmp-{}-{count}", std::process::id()));
        match parent.open_with(&name, &options) {
            Ok(file) => return Ok((name, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(ToolError::io("write next to", shown, &error)),
        }
    }
    Err(ToolError::Refused(format!("no temporary name was free next to `{shown}`.")))
}

fn fill(file: &mut File, bytes: &[u8], place: &Place, old: Option<&File>) -> Result<Lost> {
    let fail = |error: io::Error| ToolError::io("write", &place.shown, &error);
    file.write_all(bytes).map_err(fail)?;
    let mut lost = Lost::default();
    if let Some(was) = &place.metadata {
        let mode = was.permissions().mode() & 0o777;
        let rights = Rights { user: was.uid(), group: was.gid(), mode };
        lost = attributes::copy(rights, old.map(|old| old.as_fd()), file.as_fd()).map_err(fail)?;
    }
    file.sync_all().map_err(fail)?;
    Ok(lost)
}

fn put(parent: &Dir, temporary: &OsStr, name: &OsStr, place: &Place) -> Result<()> {
    let renamed = if place.metadata.is_some() {
        parent.rename(temporary, parent, name)
    } else {
        rename_new(parent, temporary, parent, name)
    };
    renamed.map_err(|error| match error.kind() {
        // It was not there when the call began.
        io::ErrorKind::AlreadyExists => ToolError::ChangedMeanwhile { path: place.shown.clone() },
        _ => ToolError::io("replace", &place.shown, &error),
    })
}

/// The file that was read is still the one that is there. Between this look and the rename is a
/// moment that no system call closes; whoever writes in it loses, as with every editor.
fn unchanged(parent: &Dir, name: &OsStr, expected: Option<&Metadata>, shown: &str) -> Result<()> {
    let Some(expected) = expected else { return Ok(()) };
    let same = parent.symlink_metadata(name).is_ok_and(|now| {
        now.dev() == expected.dev()
            && now.ino() == expected.ino()
            && now.len() == expected.len()
            && now.modified().ok() == expected.modified().ok()
    });
    if same { Ok(()) } else { Err(ToolError::ChangedMeanwhile { path: shown.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::args::Args;
    use crate::resolve::{Last, Missing};
    use crate::root::Root;

    #[test]
    fn several_files_are_put_all_or_none() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().join(name);
        std::fs::write(path("f"), "old").unwrap();
        std::fs::set_permissions(path("f"), std::fs::Permissions::from_mode(0o640)).unwrap();
        let root = Root::open_all(&Args { workspace: Some(temp.path().into()), ..Args::default() })
            .unwrap()
            .remove(0);
        let access = Access::new(&root);
        let places: Vec<Place> = ["new", "f", "late"]
            .map(|name| access.resolve(name, Last::Follow, Missing::Allow).unwrap())
            .into();
        let (_, seen) = access.open_file(&places[1]).unwrap();
        let lay = |expected| -> Vec<WholeFile<'_>> {
            let lay = |at: usize, expected| {
                write_beside(&access, &places[at], b"ours", expected).unwrap()
            };
            vec![lay(0, None), lay(1, expected), lay(2, None)]
        };
        let olds = [None, Some("old".to_owned()), None];
        // The last one fails, after two were put.
        std::fs::write(path("late"), "theirs").unwrap();
        let outcome = put_all(lay(Some(&seen)), &olds);
        assert!(matches!(outcome, Err(ToolError::ChangedMeanwhile { path }) if path == "late"));
        assert_eq!(std::fs::read_to_string(path("f")).unwrap(), "old");
        assert_eq!(std::fs::metadata(path("f")).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(std::fs::read_to_string(path("late")).unwrap(), "theirs");
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 2, "nothing else is left");

        // What has changed since it was read is seen before the first is put.
        std::fs::remove_file(path("late")).unwrap();
        assert!(put_all(lay(Some(&seen)), &olds).is_err(), "`f` is another file now");
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
        put_all(lay(None), &olds).unwrap();
        for name in ["new", "f", "late"] {
            assert_eq!(std::fs::read_to_string(path(name)).unwrap(), "ours");
        }
    }

    #[test]
    fn a_file_that_somebody_else_changed_is_left_alone_and_so_is_one_that_appeared() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("f");
        std::fs::write(&file, "old").unwrap();
        let root = Root::open_all(&Args { workspace: Some(temp.path().into()), ..Args::default() })
            .unwrap()
            .remove(0);
        let access = Access::new(&root);
        let place = access.resolve("f", Last::Follow, Missing::Fail).unwrap();
        let (_, seen) = access.open_file(&place).unwrap();
        std::fs::write(&file, "theirs").unwrap();
        let outcome = write(&access, &place, b"ours", Some(&seen));
        assert!(matches!(outcome, Err(ToolError::ChangedMeanwhile { .. })));

        let absent = access.resolve("g", Last::Follow, Missing::Allow).unwrap();
        std::fs::write(temp.path().join("g"), "theirs").unwrap();
        let outcome = write(&access, &absent, b"ours", None);
        assert!(matches!(outcome, Err(ToolError::ChangedMeanwhile { .. })));

        for name in ["f", "g"] {
            assert_eq!(std::fs::read_to_string(temp.path().join(name)).unwrap(), "theirs");
        }
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 2, "no temporary file is left");
    }
}
