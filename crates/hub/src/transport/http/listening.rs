//! The stream for what a server with a session says by itself: asked for once after the handshake,
//! and again when it breaks. Must not know what is said.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Shared;
use super::exchange::Failure;
use super::stream::{Bookmark, Pause, TRIES_MAX};
use crate::transport::Received;

/// A stream that lived so long did not break at its beginning. What stands between cuts one that
/// says nothing, often after 30 s.
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// No request has this id: what is too long on this stream answers none.
const NOBODY: i64 = -1;

/// Asks for the stream. A server that gives none is listed again before use.
pub(super) fn begin(shared: &Arc<Shared>) {
    let listening = shared.clone();
    shared.tasks.spawn(async move {
        let closing = listening.closing.clone();
        closing.run_until_cancelled(listen(&listening)).await;
    });
}

async fn listen(shared: &Shared) {
    let (mut bookmark, mut tries) = (Bookmark::default(), 0);
    loop {
        let gone = match shared.get(&bookmark).await {
            Ok(response) => {
                shared.session().note_answer();
                shared.streams.fetch_add(1, Ordering::SeqCst);
                shared.hears.store(true, Ordering::SeqCst);
                let since = Instant::now();
                let pause = shared.read_events(response, &mut bookmark, None).await;
                shared.hears.store(false, Ordering::SeqCst);
                let heard = match pause {
                    Pause::Cut { heard, .. } => heard,
                    Pause::TooLong | Pause::Answered => {
                        bookmark = Bookmark::default();
                        shared.deliver(Received::TooLong { answers: Some(NOBODY) }).await;
                        false
                    }
                };
                if heard || since.elapsed() >= STABLE_AFTER {
                    tries = 0;
                }
                None
            }
            Err(Failure::Unreachable(why)) => Some(why),
            Err(Failure::Broken(_)) => None,
            // It offers none, or no longer.
            Err(
                Failure::Refused(_) | Failure::Forgotten(_) | Failure::GivenUp | Failure::TooLong,
            ) => return,
        };
        if tries >= TRIES_MAX {
            // Whoever is there may know the session all the same: messages go another way.
            shared.session().doubt();
            if let Some(why) = gone.filter(|_| shared.under_way().is_empty()) {
                shared.end(why);
            }
            return;
        }
        sleep(bookmark.wait(tries, shared.times.again)).await;
        tries += 1;
    }
}
