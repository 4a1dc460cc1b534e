//! Tells whoever waits that somebody has committed, in this process or in another one. Owns the
//! bell: behind each commit the writer opens the write-ahead log to read, and closes it. That
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
/// Where it does, the store is looked at this often all the same: a program that is not claw rings
/// no bell.
const LOOK_ANYHOW_MS: u64 = 5_000;

/// One for each open store.
pub(super) struct Bell {
    /// The write-ahead log. No lock of SQLite's is on this file, so closing it releases none.
    log: PathBuf,
    /// Counts rings. It never goes back.
    rung: watch::Sender<u64>,
    /// Whether a task hears the rings. It ends when nobody waits any more, and with its runtime.
    heard: Mutex<bool>,
    look_anyhow_ms: AtomicU64,
}

impl Bell {
    pub(super) fn of(db: &Path) -> Arc<Self> {
        let mut log = db.as_os_str().to_owned();
        log.push("-wal");
        Arc::new(Self {
            log: log.into(),
            rung: watch::Sender::new(0),
            heard: Mutex::new(false),
            look_anyhow_ms: AtomicU64::new(LOOK_ANYHOW_MS),
        })
    }

    /// Tells everybody, in whichever process, to look. What they are to see is committed.
    pub(super) fn ring(&self) {
        drop(std::fs::File::open(&self.log));
        // Whoever hears has heard this, too.
        if !*self.heard() {
            self.count();
        }
    }

    pub(super) fn set_look_anyhow(&self, every: Duration) {
        let ms = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
        self.look_anyhow_ms.store(ms, Ordering::Relaxed);
    }

    pub(super) fn changes(self: &Arc<Self>) -> Changes {
        let rung = self.rung.subscribe();
        self.is_heard();
        Changes { bell: self.clone(), rung }
    }

    fn count(&self) {
        self.rung.send_modify(|count| *count += 1);
    }

    fn heard(&self) -> MutexGuard<'_, bool> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that somebody hears, if the system tells.
    #[cfg(target_os = "linux")]
    fn is_heard(self: &Arc<Self>) -> Heard {
        let ear = {
            let mut heard = self.heard();
            if *heard {
                return Heard::Always;
            }
            let Some(ear) = linux::Ear::of(&self.log) else { return Heard::Not };
            *heard = true;
            ear
        };
        // Without the lock: a runtime that ends drops it at once, which takes the lock.
        tokio::spawn(linux::hear(ear, linux::Hearing::of(self.clone())));
        Heard::FromNow
    }

    #[cfg(not(target_os = "linux"))]
    fn is_heard(self: &Arc<Self>) -> Heard {
        Heard::Not
    }
}

/// Since when rings are heard.
enum Heard {
    Always,
    FromNow,
    Not,
}

/// Somebody who waits for commits. What is committed after it was made, or after its last
/// [`Changes::wait`], ends the next one: so it is made first, and then looked.
pub struct Changes {
    bell: Arc<Bell>,
    rung: watch::Receiver<u64>,
}

impl Changes {
    /// Waits until somebody has committed, or it is time to look anyhow. Needs a Tokio runtime with
    /// its drivers.
    pub async fn wait(&mut self) {
        self.wait_at_most(Duration::MAX).await;
    }

    /// The same, but no longer than `longest`.
    pub async fn wait_at_most(&mut self, longest: Duration) {
        let look = match self.bell.is_heard() {
            // Who heard it has gone, and nobody knows what was missed.
            Heard::FromNow => return,
            Heard::Always => {
                Duration::from_millis(self.bell.look_anyhow_ms.load(Ordering::Relaxed))
            }
            Heard::Not => LOOK_EVERY,
        };
        // The bell lives as long as this, so it cannot close.
        let _rung = tokio::time::timeout(look.min(longest), self.rung.changed()).await;
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

    use super::Bell;

    /// Commits that come closer together are one sign.
    const APART: Duration = Duration::from_millis(50);

    pub(super) struct Ear(AsyncFd<OwnedFd>);

    impl Ear {
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

        /// Waits for a ring. False: the file is gone, or inotify is.
        async fn rings(&self) -> bool {
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

    /// Somebody hears for as long as this lives.
    pub(super) struct Hearing {
        bell: Arc<Bell>,
        /// It has said already that nobody hears; somebody else may hear now.
        is_over: bool,
    }

    impl Hearing {
        pub(super) fn of(bell: Arc<Bell>) -> Self {
            Self { bell, is_over: false }
        }

        /// Whether nobody waits any more. Then nobody hears, either.
        fn ends(&mut self) -> bool {
            // Whoever comes has subscribed before it takes this lock to look whether
            // somebody hears.
            let mut heard = self.bell.heard();
            self.is_over = self.bell.rung.receiver_count() == 0;
            *heard = !self.is_over;
            self.is_over
        }
    }

    impl Drop for Hearing {
        fn drop(&mut self) {
            if !self.is_over {
                *self.bell.heard() = false;
                self.bell.count();
            }
        }
    }

    pub(super) async fn hear(ear: Ear, mut hearing: Hearing) {
        loop {
            tokio::select! {
                rings = ear.rings() => {
                    hearing.bell.count();
                    if !rings {
                        return;
                    }
                }
                () = hearing.bell.rung.closed() => {
                    if hearing.ends() {
                        return;
                    }
                }
            }
            tokio::time::sleep(APART).await;
        }
    }
}
