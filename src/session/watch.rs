//! Watches for what must interrupt a running step: a stop from the owner, or the stop switch. Must not know the step.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::domain::SessionId;
use crate::store::Store;

/// How often another process's write is looked for. `PRAGMA data_version` costs microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What may interrupt a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A stop of the owner.
    Stop,
    /// A stop of the owner, or the stop switch. Only what acts is ended by the switch; a model may still speak.
    StopOrPanic,
}

/// Runs `step`, and cancels `cancel` as soon as something asks to interrupt it. The step is always awaited to its end: it
/// ends itself, so that nothing is left half done.
pub(super) async fn interruptible<T>(
    store: &Store,
    session: &SessionId,
    cancel: &CancellationToken,
    by: By,
    step: impl Future<Output = T>,
) -> T {
    let watch = async {
        let mut seen = None;
        loop {
            match store.data_version() {
                Ok(version) if seen != Some(version) => {
                    seen = Some(version);
                    if must_stop(store, session, by) {
                        cancel.cancel();
                        return;
                    }
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look for a stop"),
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let watch_for_ever = async {
        watch.await;
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        biased;
        value = step => value,
        never = watch_for_ever => match never {},
    }
}

fn must_stop(store: &Store, session: &SessionId, by: By) -> bool {
    let asked = store.read(|tx| Ok(tx.stop_queued(session)? || (by == By::StopOrPanic && tx.panic()?.is_some())));
    asked.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot look for a stop");
        false
    })
}
