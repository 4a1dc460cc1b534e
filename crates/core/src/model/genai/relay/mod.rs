//! Between `genai` and a provider: a socket of this process, at which `genai` leaves its requests.
//! They are sent on as they are, and of the answer `genai` is handed whole events only, because it
//! copies all that it has of an unfinished one with each piece that comes. Owns which requests are
//! under way, and why one broke. Must not know what an event means.

mod request_head;
mod serve;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod whole_events;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use self::whole_events::{EVENT_BYTES_MAX, Framing};
use super::target::{Target, Wire};
use super::{failure, reading, receive};
use crate::model::ModelError;

/// The header that says which request this is. It never leaves the process.
pub(super) const ERRAND: &str = "x-claw-errand";
/// The wait after a connection that could not be accepted, because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

type Errands = Arc<Mutex<HashMap<u64, Arc<Errand>>>>;

/// The socket and what comes by it. It lives as long as the process.
pub(super) struct Relay {
    /// An abstract name, so that no file is left behind.
    name: String,
    errands: Errands,
    last: AtomicU64,
}

/// One request under way. It ends with its [`Passage`].
struct Errand {
    upstream: reqwest::Client,
    base: reqwest::Url,
    framing: Framing,
    /// The longest silence in the middle of an answer.
    timeout: Duration,
    broken: Mutex<Option<Broken>>,
    ended: CancellationToken,
}

/// Why `genai` sees its connection break.
enum Broken {
    Http(reqwest::Error),
    Silent,
    /// One event has more than [`EVENT_BYTES_MAX`].
    TooLong,
}

/// Held by whoever waits for the answer. Dropping it gives the request up.
pub(super) struct Passage {
    number: u64,
    base_url: String,
    errand: Arc<Errand>,
    errands: Errands,
}

impl Relay {
    /// `None` if there is no such socket: outside of Linux, or where the system gives none. `genai`
    /// then asks by itself, and only long events are dearer.
    pub(super) fn get() -> Option<&'static Self> {
        static RELAY: OnceLock<Option<Relay>> = OnceLock::new();
        let start = || {
            Self::start()
                .inspect_err(|error| tracing::warn!(%error, "requests to models have no relay"))
                .ok()
        };
        RELAY.get_or_init(start).as_ref()
    }

    fn start() -> io::Result<Self> {
        let runtime = reading::runtime().ok_or(io::ErrorKind::WouldBlock)?;
        let (name, listener) = bind()?;
        let errands = Errands::default();
        runtime.spawn(accept(listener, errands.clone()));
        Ok(Self { name, errands, last: AtomicU64::new(0) })
    }

    /// The client by which `genai` leaves its requests here.
    pub(super) fn client(&self) -> Result<reqwest::Client, reqwest::Error> {
        reqwest::Client::builder()
            .unix_socket(self.name.as_str())
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .tls_certs_only([])
            .build()
    }

    /// Makes way for one request; `upstream` is who sends it on. `None` if the address is none.
    pub(super) fn open(&self, upstream: &reqwest::Client, target: &Target) -> Option<Passage> {
        let errand = Arc::new(Errand {
            upstream: upstream.clone(),
            base: reqwest::Url::parse(&target.base_url).ok()?,
            framing: if target.wire == Wire::Ollama { Framing::Lines } else { Framing::Events },
            timeout: target.timeout,
            broken: Mutex::default(),
            ended: CancellationToken::new(),
        });
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        locked(&self.errands).insert(number, errand.clone());
        // What `genai` says to the socket needs no TLS.
        let base_url = match target.base_url.strip_prefix("https://") {
            Some(rest) => format!("http://{rest}"),
            None => target.base_url.clone(),
        };
        Some(Passage { number, base_url, errand, errands: self.errands.clone() })
    }
}

impl Passage {
    /// What [`ERRAND`] says.
    pub(super) fn number(&self) -> String {
        self.number.to_string()
    }

    /// Where `genai` is to think the provider is.
    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// What broke between here and the provider, if anything did.
    pub(super) fn error(&self, target: &Target) -> Option<ModelError> {
        Some(match &*locked(&self.errand.broken) {
            None => return None,
            Some(Broken::Http(error)) => failure::of_stream(error, target),
            Some(Broken::Silent) => ModelError::transient(receive::silence(target)),
            Some(Broken::TooLong) => failure::malformed(
                &format!("an event of more than {} MiB", EVENT_BYTES_MAX >> 20),
                target,
            ),
        })
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        locked(&self.errands).remove(&self.number);
        self.errand.ended.cancel();
    }
}

impl Errand {
    fn broke(&self, why: Broken) {
        locked(&self.broken).get_or_insert(why);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name that reqwest takes for a path, and the socket that listens at it.
#[cfg(target_os = "linux")]
fn bind() -> io::Result<(String, std::os::unix::net::UnixListener)> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener};
    let name = format!("claw-models-{}", std::process::id());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    listener.set_nonblocking(true)?;
    Ok((format!("\0{name}"), listener))
}

#[cfg(not(target_os = "linux"))]
fn bind() -> io::Result<(String, std::os::unix::net::UnixListener)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Takes requests of this process, and of no other: whoever else finds the name is sent away
/// unread.
async fn accept(listener: std::os::unix::net::UnixListener, errands: Errands) {
    let Ok(listener) = UnixListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            Ok((stream, _)) if is_ours(&stream) => {
                let errands = errands.clone();
                claw_kit::task::spawn(async move { serve::request(stream, &errands).await });
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "a request to a model waits to be taken");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_ours(stream: &UnixStream) -> bool {
    let ours = i32::try_from(std::process::id()).ok();
    stream.peer_cred().is_ok_and(|peer| peer.pid().is_some() && peer.pid() == ours)
}
