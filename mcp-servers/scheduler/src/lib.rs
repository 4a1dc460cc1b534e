//! The scheduler MCP server: jobs with their times in one SQLite file, over stdio. It says what is
//! due; it runs nothing. Owns the tour of the crate and `main`. Must not know who starts it: it is
//! a program of its own and `claw server scheduler` alike, and of this workspace it knows the kits
//! alone.

mod args;
mod backup;
mod caller;
mod clock;
mod error;
mod heartbeats;
mod job;
mod library;
mod missed;
mod preview;
mod schedule;
mod server;
mod store;
mod tick;
mod timer;
mod tools;
mod waker;
mod when;
mod zone;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use heartbeats::Heartbeats;

use claw_server_kit::stdio::{self, Bounds, ServeError, say};

pub use args::{Args, Limits};
pub use heartbeats::HeartbeatGrammar;
pub use library::{Jobs, LibraryResult};
pub use preview::{Preview, preview};

/// The name under which this server introduces itself.
pub const SERVER_NAME: &str = "claw-mcp-scheduler";

/// A text may grow sixfold when it is escaped. More requests than threads wait their turn, which
/// they do for the file anyway.
const BOUNDS: Bounds = Bounds { request_line_bytes_max: 1024 * 1024, blocking_threads_max: 2 };

/// Serves MCP over standard input and output until standard input is closed.
///
/// Standard output carries MCP only. A start that fails is said in one sentence on standard error
/// and ends with code 2.
pub fn main(args: Args) -> ExitCode {
    main_of_host(args, None)
}

/// The same for a host that is this program too, and lets its agent propose changes of its own file
/// of heartbeats (`--heartbeats`).
pub fn main_of_host(args: Args, grammar: Option<HeartbeatGrammar>) -> ExitCode {
    match run(&args, grammar) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{SERVER_NAME}: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Why the server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("--heartbeats is for hosts that say how their file is written; leave it out")]
    NoGrammar,
    #[error(transparent)]
    Open(#[from] schedule::OpenError),
    #[error("the clock cannot be watched: {0}")]
    Timer(std::io::Error),
    #[error(transparent)]
    Serve(#[from] ServeError),
}

fn run(args: &Args, grammar: Option<HeartbeatGrammar>) -> Result<(), StartError> {
    let heartbeats = match (&args.heartbeats, grammar) {
        (None, _) => None,
        (Some(_), None) => return Err(StartError::NoGrammar),
        (Some(path), Some(grammar)) => Some(Heartbeats::new(path.clone(), grammar)),
    };
    let schedule = schedule::Schedule::open(args)?;
    let shared = tools::SharedSchedule::new(schedule);
    let news = waker::start(shared.clone()).map_err(StartError::Timer)?;
    stdio::serve(server::Server::new(shared, heartbeats, news), &BOUNDS)?;
    Ok(())
}

/// When a cron pattern fires in a zone, as seconds since 1970, behind `from` and up to `to`. For
/// comparisons with other programs.
///
/// # Errors
/// The sentence with which the pattern or the zone is refused.
pub fn firings(pattern: &str, zone: &str, from: i64, to: i64) -> Result<Vec<i64>, String> {
    let zone = zone::Zone::named(zone).map_err(|error| error.to_string())?;
    let pattern = when::Pattern::read(pattern).map_err(|error| error.to_string())?;
    let next = |after: i64| when::next_of(&pattern, &zone, after).filter(|at| *at <= to);
    Ok(std::iter::successors(next(from), |at| next(*at)).collect())
}
