//! Tells whoever waits that somebody has committed, in this process or in another one. Owns the
//! wake-up: behind each commit the writer opens the write-ahead log to read, and closes it. That
//! changes nothing, and the system tells everybody who watches the file (inotify). What the commit
//! itself writes to that file comes before anybody can see the commit, so it is no sign. Must not
//! know what was committed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// Where the system tells nothing, the store is looked at this often. A look costs microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Where it does, the store is looked at this often all the same: a program that is not claw
/// sends no signal.
const LOOK_ANYHOW_MS: u64 = 5_000;

/// One for each open store. Its handle, its writer and everybody who waits hold it; it goes
/// with the last of them.
pub(super) struct WakeUp {
    /// The write-ahead log. No lock of SQLite's is on this file, so closing it releases none.
    log: PathBuf,
    /// Counts signals. It never goes back.
    signals: watch::Sender<u64>,
    /// Whether a task watches the file. It ends when nobody waits any more, and with its runtime.
    watched: Mutex<bool>,
    /// Of the settings, once the store is open.
    look_anyhow_ms: AtomicU64,
}

impl WakeUp {
    pub(super) fn of(db: &Path) -> Arc<Self> {
        let mut log = db.as_os_str().to_owned();
        log.push("-wal");
        Arc::new(Self {
            log: log.into(),
            signals: watch::Sender::new(0),
            watched: Mutex::new(false),
            look_anyhow_ms: AtomicU64::new(LOOK_ANYHOW_MS),
        })
    }

    /// Tells everybody, in whichever process, to look. What they are to see is committed.
    pub(super) fn signal(&self) {
        drop(std::fs::File::open(&self.log));
        // A task that watches the file counts this one, too.
        if !*self.watched() {
            self.count();
        }
    }

    pub(super) fn set_look_anyhow(&self, every: Duration) {
        let ms = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
        self.look_anyhow_ms.store(ms, Ordering::Relaxed);
    }

    pub(super) fn changes(self: &Arc<Self>) -> Changes {
        let signals = self.signals.subscribe();
        self.ensure_watched();
        Changes { wake_up: self.clone(), signals }
    }

    fn count(&self) {
        self.signals.send_modify(|count| *count += 1);
    }

    fn watched(&self) -> MutexGuard<'_, bool> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that a task watches the file, if the system tells.
    #[cfg(target_os = "linux")]
    fn ensure_watched(self: &Arc<Self>) -> Watched {
        let file_watch = {
            let mut watched = self.watched();
            if *watched {
                return Watched::Always;
            }
            let Some(file_watch) = linux::FileWatch::of(&self.log) else { return Watched::Not };
            *watched = true;
            file_watch
        };
        // Without the lock: a runtime that ends drops it at once, which takes the lock.
        claw_kit::task::spawn(linux::watch_file(file_watch, linux::WatchTask::of(self.clone())));
        Watched::FromNow
    }

    #[cfg(not(target_os = "linux"))]
    fn ensure_watched(self: &Arc<Self>) -> Watched {
        Watched::Not
    }
}

/// Since when the file is watched.
enum Watched {
    Always,
    FromNow,
    Not,
}

/// Somebody who waits for commits. What is committed after it was made, or after its last
/// [`Changes::wait`], ends the next one: so it is made first, and then looked.
pub struct Changes {
    /// The store's own.
    wake_up: Arc<WakeUp>,
    /// Knows which signals this one has had.
    signals: watch::Receiver<u64>,
}

impl Changes {
    /// Waits until somebody has committed, or it is time to look anyhow. Needs a Tokio runtime with
    /// its drivers.
    pub async fn wait(&mut self) {
        self.wait_at_most(Duration::MAX).await;
    }

    /// The same, but no longer than `longest`.
    pub async fn wait_at_most(&mut self, longest: Duration) {
        let look = match self.wake_up.ensure_watched() {
            // The task before has gone, and nobody knows what was missed.
            Watched::FromNow => return,
            Watched::Always => {
                Duration::from_millis(self.wake_up.look_anyhow_ms.load(Ordering::Relaxed))
            }
            Watched::Not => LOOK_EVERY,
        };
        // The wake-up lives as long as this, so it cannot close.
        let _signals = tokio::time::timeout(look.min(longest), self.signals.changed()).await;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! The file as inotify tells of it.

    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use rustix::io::Errno;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use super::WakeUp;

    /// Commits that come closer together are one sign.
    const APART: Duration = Duration::from_millis(50);

    pub(super) struct FileWatch(AsyncFd<OwnedFd>);

    impl FileWatch {
        /// `None` where the system does not tell: a limit on watches, or no file.
        #[expect(deprecated, reason = "what is registered owns its descriptor, so it is sound")]
        pub(super) fn of(file: &Path) -> Option<Self> {
            tokio::runtime::Handle::try_current().ok()?;
            let told = || -> rustix::io::Result<OwnedFd> {
                let fd = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
                inotify::add_watch(&fd, file, WatchFlags::CLOSE_NOWRITE)?;
                Ok(fd)
            };
            let told = told().map_err(std::io::Error::from);
            match told.and_then(|fd| AsyncFd::with_interest(fd, Interest::READABLE)) {
                Ok(fd) => Some(Self(fd)),
                Err(error) => {
                    tracing::debug!(%error, "the system does not tell of commits of other \
                        processes; the store is looked at instead");
                    None
                }
            }
        }

        /// Waits for a signal. False: the file is gone, or inotify is.
        async fn next(&self) -> bool {
            let Ok(mut ready) = self.0.readable().await else { return false };
            let mut buffer = [MaybeUninit::uninit(); 1024];
            let mut events = inotify::Reader::new(self.0.get_ref(), &mut buffer);
            loop {
                match events.next() {
                    Ok(event) if event.events().contains(ReadFlags::IGNORED) => return false,
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(Errno::WOULDBLOCK) => break,
                    Err(_) => return false,
                }
            }
            ready.clear_ready();
            true
        }
    }

    /// A task watches the file for as long as this lives.
    pub(super) struct WatchTask {
        /// The store's own, which it holds as long as somebody waits.
        wake_up: Arc<WakeUp>,
        /// It has said already that no task watches; another one may watch now.
        is_over: bool,
    }

    impl WatchTask {
        pub(super) fn of(wake_up: Arc<WakeUp>) -> Self {
            Self { wake_up, is_over: false }
        }

        /// Whether nobody waits any more. Then no task watches, either.
        fn ends(&mut self) -> bool {
            // Whoever comes has subscribed before it takes this lock to look whether a task
            // watches.
            let mut watched = self.wake_up.watched();
            self.is_over = self.wake_up.signals.receiver_count() == 0;
            *watched = !self.is_over;
            self.is_over
        }
    }

    impl Drop for WatchTask {
        fn drop(&mut self) {
            if !self.is_over {
                *self.wake_up.watched() = false;
                self.wake_up.count();
            }
        }
    }

    pub(super) async fn watch_file(file_watch: FileWatch, mut task: WatchTask) {
        loop {
            tokio::select! {
                goes_on = file_watch.next() => {
                    task.wake_up.count();
                    if !goes_on {
                        return;
                    }
                }
                () = task.wake_up.signals.closed() => {
                    if task.ends() {
                        return;
                    }
                }
            }
            tokio::time::sleep(APART).await;
        }
    }
}
