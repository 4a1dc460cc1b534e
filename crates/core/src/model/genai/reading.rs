//! Reads providers' streams on a few threads of their own. `genai` copies all that it has of an
//! event with each piece that comes, so a long one takes tenths of a second of computing, which the
//! one thread of the gateway must not pay. Must not know what an event means.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use ::genai::chat::{ChatStream, ChatStreamEvent};
use futures::StreamExt as _;
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::stream_inspector::StreamInspector;

/// So many events wait for whoever takes them before the reading waits, too.
const EVENTS_MAX: usize = 64;
/// A long line holds up the replies that are read beside it, so there is more than one thread, and
/// a thousand replies need no more of them.
const READERS: usize = 2;

/// In a box, because a channel has room for 32 of them from its beginning: 6 KiB for each chat that
/// waits for a model.
pub(super) type StreamEvent = Box<Result<ChatStreamEvent, ::genai::Error>>;

/// A thread that lives as long as the process, and how many replies it reads now.
struct Reader {
    runtime: Handle,
    replies: Arc<AtomicUsize>,
}

impl Reader {
    /// `None` if the system gives no thread or no runtime.
    fn start() -> Option<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name("model-reader".into())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))
            .ok()?;
        Some(Self { runtime: handle, replies: Arc::default() })
    }
}

/// Counts a reply as long as it is read.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn on(reader: &Reader) -> Self {
        reader.replies.fetch_add(1, Ordering::Relaxed);
        Self(reader.replies.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn all() -> &'static [Reader] {
    static ALL: OnceLock<Vec<Reader>> = OnceLock::new();
    ALL.get_or_init(|| (0..READERS).filter_map(|_| Reader::start()).collect())
}

/// A runtime that lives as long as the process, if the system gives a thread for it.
pub(super) fn runtime() -> Option<Handle> {
    all().first().map(|reader| reader.runtime.clone())
}

/// The events of `stream`, in their order. The reading ends with the stream, behind a frame that
/// must not be used, or when the receiver is dropped.
pub(super) fn begin(stream: ChatStream, inspector: Arc<StreamInspector>) -> Receiver<StreamEvent> {
    let (send, events) = mpsc::channel(EVENTS_MAX);
    match all().iter().min_by_key(|reader| reader.replies.load(Ordering::Relaxed)) {
        Some(reader) => {
            let counted = Counted::on(reader);
            reader.runtime.spawn(async move {
                read(stream, inspector, send).await;
                drop(counted);
            });
        }
        // A machine without a thread to spare reads where the request was made.
        None => drop(claw_kit::task::spawn(read(stream, inspector, send))),
    }
    events
}

async fn read(mut stream: ChatStream, inspector: Arc<StreamInspector>, send: Sender<StreamEvent>) {
    loop {
        let event = tokio::select! {
            biased;
            () = send.closed() => return,
            event = stream.next() => event,
        };
        let Some(event) = event else { return };
        let is_last = inspector.seen().malformed.is_some();
        if send.send(Box::new(event)).await.is_err() || is_last {
            return;
        }
    }
}
