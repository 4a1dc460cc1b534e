//! Ctrl-C for commands. For one-shot commands: once stops the turn durably and kills what runs,
//! twice leaves. Must not know turns.

use std::future::Future;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{ask, out};
use crate::app::App;
use crate::domain::SessionId;
use crate::router::Visitor;

/// Presses of Ctrl-C, from here on. One that comes while nobody waits for it, such as while a line
/// is printed, counts for who waits next; `tokio::signal::ctrl_c` knows only those that come while
/// it is waited for.
pub struct Presses(Signal);

impl Presses {
    /// # Errors
    /// The system takes no handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::interrupt())?))
    }

    pub async fn next(&mut self) {
        // The end of the stream does not come while the process lives.
        let _ = self.0.recv().await;
    }
}

/// Runs `work`. `None` when the person left with a second Ctrl-C; the turn then goes on from its
/// log next time.
pub async fn stoppable<T>(
    app: &App,
    visitor: &Visitor,
    session: &SessionId,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<Option<T>> {
    let mut pressed = 0;
    let mut presses = Presses::listen()?;
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => {
                // Nothing moves any more.
                out::err_row_away();
                return done.map(Some);
            }
            () = presses.next() => {
                pressed += 1;
                if pressed > 1 {
                    out::err_row_away();
                    return Ok(None);
                }
                out::err_line("Stopping… (Ctrl-C again leaves at once)");
                ask::stop(app, visitor, session).await?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_press_that_comes_while_nobody_waits_counts_for_who_waits_next() {
        let mut presses = Presses::listen().unwrap();
        let mut of_another = Presses::listen().unwrap();
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::INT).unwrap();
        // Now it has come.
        of_another.next().await;
        assert!(futures::FutureExt::now_or_never(presses.next()).is_some());
    }
}
