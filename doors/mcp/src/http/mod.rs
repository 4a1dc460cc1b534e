//! Clients over HTTP, on a loopback address: one path, no sessions, a token for each client. TLS is
//! a reverse proxy's. Must not know what is called.

mod guard;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use http_body_util::combinators::BoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::caller::Caller;
use super::handler::Handler;
use super::serving::Serving;
/// The one path.
pub const PATH: &str = "/mcp";
/// Connections at once, of whoever. Requests of clients have a bound of their own.
const CONNECTIONS_MAX: usize = 256;
/// The head of a request is there within this time.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The head of a request is no longer than this.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// After a fault of the listener.
const RETRY: Duration = Duration::from_secs(1);

/// What is sent back.
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A listener of which nobody was told yet.
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
}

impl Http {
    /// # Errors
    /// The address is not free, or not this machine's.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where clients find it.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Answers until the door closes. `tools`: clients are offered the gated tools whatever is
    /// configured.
    pub fn serve(self, serving: Arc<Serving>, tools: bool) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
            loop {
                let accepted = tokio::select! {
                    accepted = self.listener.accept() => accepted,
                    () = serving.door.shared.closing.cancelled() => return,
                };
                let stream = match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::error!(%error, "a client could not connect over HTTP");
                        tokio::time::sleep(RETRY).await;
                        continue;
                    }
                };
                let Ok(place) = room.clone().try_acquire_owned() else {
                    tracing::warn!("{CONNECTIONS_MAX} connections are open; one more was closed");
                    continue;
                };
                let serving = serving.clone();
                claw_kit::task::spawn(async move {
                    let _place = place;
                    connection(serving, tools, stream).await;
                });
            }
        })
    }
}

async fn connection(serving: Arc<Serving>, tools: bool, stream: TcpStream) {
    let closing = serving.door.shared.closing.clone();
    let answer = move |request| {
        let serving = serving.clone();
        async move { Ok::<_, Infallible>(answer(&serving, tools, request).await) }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    tokio::pin!(connection);
    tokio::select! {
        done = &mut connection => {
            if let Err(error) = done {
                tracing::debug!(%error, "a connection has ended");
            }
            return;
        }
        () = closing.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ended = connection.await;
}

/// One request, from its head to its answer.
async fn answer(serving: &Arc<Serving>, tools: bool, request: Request<Incoming>) -> Answer {
    let clients = &serving.door.shared.context.clients;
    let settings = clients.settings();
    let allowed = match guard::look(&settings, request.uri(), request.headers()) {
        Ok(allowed) => allowed,
        Err(refused) => return *refused,
    };
    if request.method() == Method::OPTIONS {
        return guard::preflight(&allowed);
    }
    let answered = match guard::client(serving, request.headers(), &settings) {
        Ok((client, place)) => {
            let caller = Caller {
                serving: serving.clone(),
                client,
                tools,
                front: None,
                _place: Some(Arc::new(place)),
            };
            mcp(caller, settings.body_bytes_max, request).await
        }
        Err(refused) => *refused,
    };
    guard::for_page(&allowed, answered)
}

/// Hands a request on whose client is known.
async fn mcp(caller: Caller, bytes_max: u64, request: Request<Incoming>) -> Answer {
    // Host and Origin were looked at. Without sessions there is nothing to guess and nothing that a
    // restart could lose.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_cancellation_token(caller.serving.door.shared.closing.child_token())
        .with_max_request_body_bytes(usize::try_from(bytes_max).unwrap_or(usize::MAX));
    let handler = Handler::new(caller);
    let make = move || Ok(handler.clone());
    StreamableHttpService::new(make, Arc::new(NeverSessionManager::default()), config)
        .handle(request)
        .await
}
