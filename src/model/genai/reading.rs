//! Reads a provider's stream on a thread of its own. `genai` copies all that it has of a frame with
//! each piece that comes, so one long line takes seconds of computing, which the one thread of the
//! gateway must not pay. Must not know what an event means.

use std::sync::Arc;

use ::genai::chat::{ChatStream, ChatStreamEvent};
use futures::StreamExt as _;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver};

use super::witness::Witness;

/// So many events wait for whoever takes them before the reading waits, too.
const EVENTS_MAX: usize = 64;

pub(super) type Event = Result<ChatStreamEvent, ::genai::Error>;

/// The events of `stream`, in their order. The thread ends with the stream, behind a frame that
/// must not be used, or when the receiver is dropped.
pub(super) fn begin(mut stream: ChatStream, witness: Arc<Witness>) -> Receiver<Event> {
    let (send, events) = mpsc::channel(EVENTS_MAX);
    // The connection stays with the runtime of the caller, and so do all clocks.
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        runtime.block_on(async move {
            loop {
                let event = tokio::select! {
                    biased;
                    () = send.closed() => return,
                    event = stream.next() => event,
                };
                let Some(event) = event else { return };
                let is_last = witness.seen().malformed.is_some();
                if send.send(event).await.is_err() || is_last {
                    return;
                }
            }
        });
    });
    events
}
