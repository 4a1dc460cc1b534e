//! From a user's path to a place: an open directory and one name in it. Owns the walk, one
//! component at a time and never following a link in the kernel; must not know what is done with
//! the place.
//!
//! Every directory is opened from the handle of the one above with `O_NOFOLLOW`, and links are
//! expanded here. So a path that is changed while we walk it can make a call fail, but cannot lead
//! it out of the root, and the real path of the result is known exactly, which the protected places
//! need.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata};

use crate::enter::{Enter, enter};
use crate::error::{Result, ToolError};
use crate::guard::{Act, Guard};
use crate::hint;
use crate::kind::Kind;
use crate::place::Place;
use crate::root::Root;

/// As many as Linux allows (path_resolution(7)).
const LINKS_MAX: usize = 40;
/// How often one component may change its kind under our hands before we give up.
const RETRIES_MAX: u32 = 16;
/// A deeper tree is refused: every level holds one handle while a path is walked.
pub const DEPTH_MAX: usize = 200;

/// What to do with a link in the last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    Follow,
    Keep,
}

/// What to do when something on the way does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Fail,
    /// The last component, and directories above it, may be missing.
    Allow,
}

struct Level {
    dir: Arc<Dir>,
    name: OsString,
}

pub struct Walker<'a> {
    root: &'a Root,
    guard: &'a Guard,
    shown: &'a str,
    stack: Vec<Level>,
    pending: VecDeque<OsString>,
    /// Those that were followed, as they lie in the root.
    links: Vec<PathBuf>,
}

impl<'a> Walker<'a> {
    pub fn new(root: &'a Root, guard: &'a Guard, shown: &'a str) -> Self {
        Self { root, guard, shown, stack: Vec::new(), pending: VecDeque::new(), links: Vec::new() }
    }

    /// # Errors
    /// The path leaves the root, is protected, runs through something that is no directory, or is
    /// missing.
    pub fn walk(mut self, names: Vec<OsString>, last: Last, missing: Missing) -> Result<Place> {
        self.go(names, last, missing)
    }

    /// Where a path leads now, as far as it leads: the links on the way, also if it ends nowhere,
    /// and the place if it has one.
    pub fn trace(mut self, names: Vec<OsString>) -> (Vec<PathBuf>, Option<Place>) {
        let place = self.go(names, Last::Follow, Missing::Allow).ok();
        (self.links, place)
    }

    fn go(&mut self, names: Vec<OsString>, last: Last, missing: Missing) -> Result<Place> {
        self.pending = names.into();
        let mut retries = 0;
        while let Some(name) = self.pending.pop_front() {
            if name == ".." {
                if self.stack.pop().is_none() {
                    return Err(self.outside("`..` leads above it"));
                }
                continue;
            }
            let is_last = self.pending.is_empty();
            self.check_path(&self.real_with(&name))?;
            let metadata = match self.top().symlink_metadata(&name) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return self.not_there(name, missing);
                }
                Err(error) => return Err(ToolError::io("look at", self.shown, &error)),
            };
            match Kind::of(metadata.file_type()) {
                Kind::Symlink if is_last && last == Last::Keep => {
                    return Ok(self.place(name, Some(metadata)));
                }
                Kind::Symlink => self.expand_link(&name)?,
                Kind::Dir => match self.enter(&name) {
                    Ok(dir) => self.stack.push(Level { dir, name }),
                    // It was a directory a moment ago: look again.
                    Err(Enter::NotADirectory) if retries < RETRIES_MAX => {
                        retries += 1;
                        self.pending.push_front(name);
                    }
                    Err(error) => return Err(error.into_tool_error(self.shown)),
                },
                _ if is_last => return Ok(self.place(name, Some(metadata))),
                kind => {
                    let path = self.real_with(&name).display().to_string();
                    return Err(ToolError::NotADirectory { path, is: kind.phrase() });
                }
            }
            if self.stack.len() > DEPTH_MAX {
                return Err(ToolError::Refused(format!(
                    "`{}` is more than {DEPTH_MAX} levels deep.",
                    self.shown
                )));
            }
        }
        self.at_directory()
    }

    /// All components were directories: the place is the one on top, seen from the one above.
    fn at_directory(&mut self) -> Result<Place> {
        let Some(level) = self.stack.pop() else {
            return Ok(Place {
                parent: Arc::clone(&self.root.dir),
                name: None,
                real: PathBuf::new(),
                metadata: None,
                missing_parents: Vec::new(),
                shown: self.shown.to_owned(),
            });
        };
        let metadata = level
            .dir
            .dir_metadata()
            .map_err(|error| ToolError::io("look at", self.shown, &error))?;
        Ok(self.place(level.name, Some(metadata)))
    }

    fn place(&self, name: OsString, metadata: Option<Metadata>) -> Place {
        Place {
            parent: Arc::clone(self.top()),
            real: self.real_with(&name),
            name: Some(name),
            metadata,
            missing_parents: Vec::new(),
            shown: self.shown.to_owned(),
        }
    }

    fn not_there(&mut self, name: OsString, missing: Missing) -> Result<Place> {
        let goes_up = self.pending.iter().any(|rest| rest == "..");
        let mut rest: Vec<OsString> = std::iter::once(name).chain(self.pending.drain(..)).collect();
        let mut real = self.real();
        real.extend(&rest);
        self.check_path(&real)?;
        if missing == Missing::Fail || goes_up {
            let wanted = rest.first().cloned().unwrap_or_default();
            let hint = hint::not_found(self.top(), &self.real(), &wanted, self.guard);
            return Err(ToolError::NotFound { path: self.shown.to_owned(), hint });
        }
        let name = rest.pop();
        Ok(Place {
            parent: Arc::clone(self.top()),
            name,
            real,
            metadata: None,
            missing_parents: rest,
            shown: self.shown.to_owned(),
        })
    }

    fn expand_link(&mut self, name: &OsStr) -> Result<()> {
        let link = self.real_with(name);
        self.links.push(link.clone());
        if self.links.len() > LINKS_MAX {
            return Err(ToolError::Refused(format!(
                "`{}` runs through more than {LINKS_MAX} symbolic links.",
                self.shown
            )));
        }
        let target = match self.top().read_link_contents(name) {
            Ok(target) => target,
            // It was a link a moment ago: look again. The count of links bounds this, too.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                self.pending.push_front(name.to_owned());
                return Ok(());
            }
            Err(error) => return Err(ToolError::io("read the link", self.shown, &error)),
        };
        let inside = if target.is_absolute() {
            let stripped = self.root.forms.iter().find_map(|form| target.strip_prefix(form).ok());
            let stripped = stripped.ok_or_else(|| {
                self.outside(&format!(
                    "the symbolic link `{}` points to `{}`",
                    link.display(),
                    target.display()
                ))
            })?;
            self.stack.clear();
            stripped
        } else {
            target.as_path()
        };
        for component in inside.components().rev() {
            match component {
                std::path::Component::Normal(name) => self.pending.push_front(name.to_owned()),
                std::path::Component::ParentDir => self.pending.push_front("..".into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn enter(&self, name: &OsStr) -> Result<Arc<Dir>, Enter> {
        enter(self.top(), name, &self.real_with(name), self.guard)
    }

    fn top(&self) -> &Arc<Dir> {
        self.stack.last().map_or(&self.root.dir, |level| &level.dir)
    }

    fn real(&self) -> PathBuf {
        self.stack.iter().map(|level| &level.name).collect()
    }

    fn real_with(&self, name: &OsStr) -> PathBuf {
        self.real().join(name)
    }

    fn check_path(&self, real: &Path) -> Result<()> {
        match self.guard.forbids_path(real, Act::Touch) {
            Some(shield) => Err(shield.refuses(self.shown)),
            None => Ok(()),
        }
    }

    fn outside(&self, how: &str) -> ToolError {
        ToolError::Outside { path: self.shown.to_owned(), how: how.to_owned() }
    }
}
