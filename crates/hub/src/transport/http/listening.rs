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

/// A stream that lived so long did not break at its beginning.
const STABLE_AFTER: Duration = Duration::from_secs(60);

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
        let why = match shared.get(&bookmark).await {
            Ok(response) => {
                shared.session().note_answer();
                shared.streams.fetch_add(1, Ordering::SeqCst);
                shared.hears.store(true, Ordering::SeqCst);
                let since = Instant::now();
                let pause = shared.read_events(response, &mut bookmark, None).await;
                shared.hears.store(false, Ordering::SeqCst);
                let (why, heard) = match pause {
                    Pause::Cut { why, heard } => (why, heard),
                    Pause::TooLong | Pause::Answered => {
                        bookmark = Bookmark::default();
                        shared.deliver(Received::TooLong { answers: Some(NOBODY) }).await;
                        ("it sent too long a message".to_owned(), false)
                    }
                };
                if heard || since.elapsed() >= STABLE_AFTER {
                    tries = 0;
                }
                why
            }
            Err(Failure::Forgotten(why)) => {
                shared.session().forget();
                return shared.end(why);
            }
            // It offers none, or no longer.
            Err(Failure::Refused(_) | Failure::GivenUp | Failure::TooLong) => return,
            Err(Failure::Unreachable(why) | Failure::Broken(why)) => why,
        };
        if tries >= TRIES_MAX {
            if shared.under_way().is_empty() {
                shared.end(why);
            }
            return;
        }
        sleep(bookmark.wait(tries, shared.times.again)).await;
        tries += 1;
    }
}
