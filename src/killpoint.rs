//! Named points at which the kill tests end the process with SIGKILL. Compiled to nothing unless the `kill-points` feature
//! is on, which no release has.

/// Ends the process here, if `CLAW_KILL_AT` is `NAME:COUNT` and this is the COUNT-th time that NAME is passed.
#[cfg(feature = "kill-points")]
pub fn here(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static WANTED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);

    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("CLAW_KILL_AT").ok()?;
        let (name, count) = text.rsplit_once(':')?;
        Some((name.to_owned(), count.parse().ok()?))
    });
    let Some((wanted_name, count)) = wanted else { return };
    if wanted_name == name && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == *count {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        // The signal is asynchronous; nothing may happen after this point.
        loop {
            std::thread::park();
        }
    }
}

#[cfg(not(feature = "kill-points"))]
#[inline(always)]
pub fn here(_name: &str) {}
