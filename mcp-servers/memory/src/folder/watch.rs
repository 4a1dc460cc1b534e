//! Which notes may have changed since the last look. Linux tells by inotify, whose queue holds
//! every change that was made before it is read, so that nobody has to wait for a thread.
//! Elsewhere, and where a folder cannot be watched, every look is at all of them. Must not know
//! what is done with it.

use std::collections::BTreeSet;
use std::path::Path;

/// What has to be looked at.
#[derive(Debug, PartialEq, Eq)]
pub enum Changed {
    Nothing,
    Paths(BTreeSet<String>),
    /// More than can be told file by file.
    Everything,
}

#[cfg(target_os = "linux")]
pub use linux::Watch;
#[cfg(not(target_os = "linux"))]
pub use plain::Watch;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use rustix::io::Errno;

    use super::{BTreeSet, Changed, Path};
    use crate::folder::{is_note_name, join};

    /// Room for events of one read; a name takes at most 255 bytes.
    const EVENT_BYTES: usize = 16 * 1024;

    /// Notes that are looked at one by one. With more a walk is cheaper.
    const PATHS_MAX: usize = 1_000;

    pub struct Watch {
        /// `None` where the system gives none, or a folder could not be watched.
        queue: Option<OwnedFd>,
        folders: HashMap<i32, String>,
    }

    impl Watch {
        pub fn new() -> Self {
            let flags = CreateFlags::NONBLOCK | CreateFlags::CLOEXEC;
            Self { queue: inotify::init(flags).ok(), folders: HashMap::new() }
        }

        /// From now on changes in this folder are told. Called before it is read.
        pub fn add(&mut self, root: &Path, folder: &str) {
            let Some(queue) = &self.queue else { return };
            let flags = WatchFlags::CLOSE_WRITE
                | WatchFlags::MODIFY
                | WatchFlags::ATTRIB
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR
                | WatchFlags::DONT_FOLLOW;
            match inotify::add_watch(queue, root.join(folder), flags) {
                Ok(watch) => {
                    self.folders.insert(watch, folder.to_owned());
                }
                // Gone again: its parent tells.
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(_) => self.queue = None,
            }
        }

        pub fn changed(&mut self) -> Changed {
            let Some(queue) = &self.queue else { return Changed::Everything };
            let mut paths = BTreeSet::new();
            let mut everything = false;
            let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
            let mut events = inotify::Reader::new(queue, &mut buffer);
            loop {
                let event = match events.next() {
                    Ok(event) => event,
                    Err(Errno::INTR) => continue,
                    Err(Errno::AGAIN) => break,
                    Err(_) => {
                        everything = true;
                        break;
                    }
                };
                let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                match (name, self.folders.get(&event.wd())) {
                    (Some(name), _) if name.starts_with('.') => {}
                    (Some(name), Some(folder)) if !event.events().contains(ReadFlags::ISDIR) => {
                        paths.extend(is_note_name(&name).then(|| join(folder, &name)));
                    }
                    // A folder came, went or moved, or events were lost.
                    _ if !event.events().contains(ReadFlags::ISDIR)
                        || event.events().intersects(
                            ReadFlags::CREATE
                                | ReadFlags::DELETE
                                | ReadFlags::MOVED_FROM
                                | ReadFlags::MOVED_TO,
                        ) =>
                    {
                        everything = true;
                    }
                    _ => {}
                }
            }
            if everything || paths.len() > PATHS_MAX {
                return Changed::Everything;
            }
            if paths.is_empty() { Changed::Nothing } else { Changed::Paths(paths) }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod plain {
    use super::{Changed, Path};

    pub struct Watch;

    impl Watch {
        pub fn new() -> Self {
            Self
        }

        pub fn add(&mut self, _root: &Path, _folder: &str) {}

        pub fn changed(&mut self) -> Changed {
            Changed::Everything
        }
    }
}
