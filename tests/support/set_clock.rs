//! A clock of the wall that a test sets, for one process: a library that is loaded before the C
//! library (`LD_PRELOAD`) and answers `clock_gettime` in its place, ahead or behind by what a file
//! says. Owns that function alone; must not know who asks. Linux; not part of the product.
//!
//! What a process measures by (`CLOCK_MONOTONIC`) stays, as when somebody sets the date.
#![expect(
    unsafe_code,
    reason = "the C library is called, and takes the place of one of its functions"
)]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;

use nix::libc::{CLOCK_REALTIME, SYS_clock_gettime, c_int, c_long, syscall, time_t, timespec};

const NANOS: i64 = 1_000_000_000;

/// By how many milliseconds the clock is wrong now. The file has them as text.
fn wrong_by_ms() -> i64 {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let file = FILE.get_or_init(|| File::open(std::env::var_os("SET_CLOCK_FILE")?).ok());
    let mut text = [0; 24];
    let size = file.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
    let text = std::str::from_utf8(&text[..size]).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// # Safety
/// `into` is what `clock_gettime(2)` demands.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, into: *mut timespec) -> c_int {
    // SAFETY: the arguments are the caller's, as the system call takes them.
    let done: c_long = unsafe { syscall(SYS_clock_gettime, clock, into) };
    if done != 0 || clock != CLOCK_REALTIME {
        return done as c_int;
    }
    // SAFETY: the call has succeeded, so the time is there.
    let time = unsafe { &mut *into };
    let wrong_ms = wrong_by_ms();
    let nanos = time.tv_nsec + wrong_ms % 1000 * 1_000_000;
    time.tv_sec += (wrong_ms / 1000 + nanos.div_euclid(NANOS)) as time_t;
    time.tv_nsec = nanos.rem_euclid(NANOS);
    0
}
