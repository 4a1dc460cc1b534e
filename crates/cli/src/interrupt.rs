//! Ctrl-C for one-shot commands: once stops the turn durably and kills what runs, twice leaves.
//! Must not know turns.

use std::future::Future;

use super::{ask, out};
use crate::app::App;
use crate::domain::SessionId;
use crate::router::Visitor;

/// Runs `work`. `None` when the person left with a second Ctrl-C; the turn then goes on from its
/// log next time.
pub async fn stoppable<T>(
    app: &App,
    visitor: &Visitor,
    session: &SessionId,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<Option<T>> {
    let mut presses = 0;
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => {
                // Nothing moves any more.
                out::err_row_away();
                return done.map(Some);
            }
            pressed = tokio::signal::ctrl_c() => {
                pressed?;
                presses += 1;
                if presses > 1 {
                    out::err_row_away();
                    return Ok(None);
                }
                out::err_line("Stopping… (Ctrl-C again leaves at once)");
                ask::stop(app, visitor, session).await?;
            }
        }
    }
}
