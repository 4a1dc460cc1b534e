//! The same server over streamable HTTP on a loopback port, for checkers that speak nothing else
//! (feature `http`). Must not know the tools. Not for use: it asks nobody who they are.

use std::io::{self, Write as _};
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

/// Serves until standard input closes. The first line on standard output is the address. A server
/// from `make` is one session's, or one request's where the protocol has no sessions.
pub async fn serve<S: ServerHandler + Send + 'static>(
    make: impl Fn() -> S + Send + Sync + 'static,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    // A page of somebody's browser that comes under another name may not talk to it.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*"]);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(make()), sessions, config);
    let router = axum::Router::new().nest_service("/mcp", service);
    let served = axum::serve(listener, router);
    tokio::select! {
        served = async { served.await } => served,
        _ = async { tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await } => Ok(()),
    }
}
