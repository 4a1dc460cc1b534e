//! Waits for a time of the wall clock, or for another process that changes the file. Owns the one
//! timer of this program; must not know jobs.
//!
//! Linux has a timer on the wall clock itself (timerfd, `CLOCK_REALTIME`): it fires when the time
//! has come, at once after a suspended machine wakes up behind it, and also when somebody sets the
//! clock (`TFD_TIMER_CANCEL_ON_SET`). Commits of other processes are told by inotify on the folder
//! of the file. So a process that waits uses no CPU. Elsewhere it looks twice a minute.

#[cfg(target_os = "linux")]
pub use linux::Timer;
#[cfg(not(target_os = "linux"))]
pub use plain::Timer;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use rustix::io::Errno;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    /// Room for events of one read; a name takes at most 255 bytes.
    const EVENT_BYTES: usize = 4 * 1024;

    /// A timer that is set for no time still fires when the clock is set: the year 36,812.
    const NEVER_S: i64 = 1 << 40;

    pub struct Timer {
        timer: OwnedFd,
        changes: OwnedFd,
        /// The name of the file; those beside it begin with it.
        name: OsString,
    }

    impl Timer {
        /// From now on changes of this file end a wait.
        ///
        /// # Errors
        /// The system gives no timer or no watch.
        pub fn new(file: &Path) -> io::Result<Self> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
            let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            let told = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
            inotify::add_watch(&changes, folder.unwrap_or(Path::new(".")), told)?;
            Ok(Self { timer, changes, name: file.file_name().unwrap_or_default().to_owned() })
        }

        /// Returns when the time (seconds since 1970) has come, the clock was set, or the file was
        /// changed. It may return without a reason.
        ///
        /// # Errors
        /// The system's own.
        pub fn wait(&self, next: Option<i64>) -> io::Result<()> {
            // A time of 0 would switch the timer off.
            let tv_sec = next.unwrap_or(NEVER_S).max(1);
            let at = Itimerspec {
                it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: Timespec { tv_sec, tv_nsec: 0 },
            };
            let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
            match timerfd_settime(&self.timer, flags, &at) {
                Ok(_) => {}
                // The clock was set since the last time.
                Err(Errno::CANCELED) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            loop {
                let mut fds = [
                    PollFd::new(&self.timer, PollFlags::IN),
                    PollFd::new(&self.changes, PollFlags::IN),
                ];
                match poll(&mut fds, None) {
                    Ok(_) => {}
                    Err(Errno::INTR) => continue,
                    Err(error) => return Err(error.into()),
                }
                let has_fired = !fds[0].revents().is_empty();
                if self.was_changed() || has_fired {
                    return Ok(());
                }
            }
        }

        /// Empties the queue: whether one of the changes is about the file.
        fn was_changed(&self) -> bool {
            let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
            let mut events = inotify::Reader::new(&self.changes, &mut buffer);
            let mut is_ours = false;
            loop {
                match events.next() {
                    Ok(event) => {
                        let name = event.file_name().map(|name| name.to_bytes());
                        // Without a name: events were lost.
                        is_ours |= name.is_none_or(|name| name.starts_with(self.name.as_bytes()));
                    }
                    Err(Errno::INTR) => {}
                    Err(_) => return is_ours,
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod plain {
    use std::io;
    use std::path::Path;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    /// The clock may jump, and other processes may change the file, unnoticed for so long.
    const LOOK_AGAIN: Duration = Duration::from_secs(30);

    pub struct Timer;

    impl Timer {
        pub fn new(_file: &Path) -> io::Result<Self> {
            Ok(Self)
        }

        pub fn wait(&self, next: Option<i64>) -> io::Result<()> {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let at = next.and_then(|next| u64::try_from(next).ok()).map(Duration::from_secs);
            let left = at.map_or(LOOK_AGAIN, |at| at.saturating_sub(now));
            std::thread::sleep(left.min(LOOK_AGAIN));
            Ok(())
        }
    }
}
