//! The thread that lets time pass while nobody calls: it makes due what has come, and says so. Owns
//! that thread; must not know the protocol.

use std::io;
use std::thread;

use claw_server_kit::stdio::say;
use tokio::sync::watch;

use crate::SERVER_NAME;
use crate::timer::Timer;
use crate::tools::SharedSchedule;

/// What the thread needs is little: SQLite and a few rows.
const STACK_BYTES: usize = 512 * 1024;

/// How long a file that fails is left alone, in seconds.
const RETRY_S: i64 = 5;

/// Starts it. What it gives is the newest firing there is; it changes with each new one.
///
/// # Errors
/// The system gives no timer, no watch or no thread.
pub fn start(shared: SharedSchedule) -> io::Result<watch::Receiver<i64>> {
    let timer = Timer::new(&shared.with_raw(|schedule| schedule.path.clone()))?;
    let (news, receiver) = watch::channel(0);
    let run = move || run(&shared, &timer, &news);
    thread::Builder::new().name("waker".into()).stack_size(STACK_BYTES).spawn(run)?;
    Ok(receiver)
}

fn run(shared: &SharedSchedule, timer: &Timer, news: &watch::Sender<i64>) {
    let mut has_failed = false;
    // Ends with the process.
    loop {
        let next = match shared.with_raw(|schedule| (schedule.tick_behind_others(), schedule.now()))
        {
            (Ok(outlook), _) => {
                has_failed = false;
                news.send_if_modified(|cursor| {
                    std::mem::replace(cursor, outlook.cursor) < outlook.cursor
                });
                outlook.next
            }
            (Err(error), now) => {
                if !std::mem::replace(&mut has_failed, true) {
                    say(&format!("{SERVER_NAME}: {error}"));
                }
                Some(now + RETRY_S)
            }
        };
        if let Err(error) = timer.wait(next) {
            say(&format!(
                "{SERVER_NAME}: the clock cannot be watched any more: {error}. Call `due` to look."
            ));
            return;
        }
    }
}
