//! Named points at which the kill tests end the process with SIGKILL, and two at which tests plant
//! a bug. Compiled to nothing unless the feature `kill-points` is on: dev-dependencies turn it on,
//! so the tests have them and a release does not. `tests/kills` reads the names from the sources: a
//! new point is tried without being listed.

/// Ends the process here, if `CLAW_KILL_AT` is `NAME:COUNT` and this is the COUNT-th time that NAME
/// is passed. If `CLAW_KILL_TRACE` names a file, every point that is passed is written to it, one
/// name a line.
#[cfg(feature = "kill-points")]
pub fn here(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static WANTED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);

    trace(name);
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("CLAW_KILL_AT").ok()?;
        let (name, count) = text.rsplit_once(':')?;
        Some((name.to_owned(), count.parse().ok()?))
    });
    let Some((wanted_name, count)) = wanted else { return };
    if wanted_name == name && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == *count {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        // The signal is asynchronous; nothing may happen after this point.
        loop {
            std::thread::park();
        }
    }
}

#[cfg(feature = "kill-points")]
fn trace(name: &str) {
    use std::fs::{File, OpenOptions};
    use std::io::Write as _;
    use std::sync::OnceLock;

    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let path = std::env::var_os("CLAW_KILL_TRACE")?;
        OpenOptions::new().create(true).append(true).open(path).ok()
    });
    if let Some(mut file) = file.as_ref() {
        // One write a line, so that the lines of two threads do not mix. A lost line only makes the
        // rig try a point less.
        let _ = file.write_all(format!("{name}\n").as_bytes());
    }
}

#[cfg(not(feature = "kill-points"))]
#[inline(always)]
pub fn here(_name: &str) {}

/// Panics, if the variable `name` is set and `text` holds its value, once in a process: a bug for
/// the tests of what survives one.
#[cfg(feature = "kill-points")]
#[expect(clippy::panic, reason = "that is what it is for")]
pub fn bug(name: &str, text: &str) {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

    let wanted = std::env::var(name).unwrap_or_default();
    if !wanted.is_empty() && text.contains(&wanted) {
        let first = SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        if first {
            panic!("{name} asks for it");
        }
    }
}

#[cfg(not(feature = "kill-points"))]
#[inline(always)]
pub fn bug(_name: &str, _text: &str) {}
