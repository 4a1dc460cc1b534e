//! MCP on a pair of streams, of one type for all servers: what the protocol takes is compiled here
//! once, and not once more in each of them. Must not know tools, or whose streams they are.

use std::future::Future;
use std::pin::Pin;

use rmcp::service::{DynService, RunningService, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};

/// A server with its type hidden.
pub(crate) type AnyServer = Box<dyn DynService<RoleServer>>;
/// A server that has greeted its client, and answers it.
pub type Running = RunningService<RoleServer, AnyServer>;
/// What the greeting comes to: nothing, if the client has closed the streams without a word, as a
/// host does that looks whether a program starts.
pub type Begun = Result<Option<Running>, ServerInitializeError>;

/// A pair of streams to a client.
pub struct Streams {
    input: Box<dyn AsyncRead + Send + Unpin>,
    output: Box<dyn AsyncWrite + Send + Unpin>,
    line_bytes_max: Option<usize>,
}

impl Streams {
    pub fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self { input: Box::new(input), output: Box::new(output), line_bytes_max: None }
    }

    /// The longest line of JSON-RPC that is read, in bytes.
    pub fn with_line_bytes_max(mut self, bytes: usize) -> Self {
        self.line_bytes_max = Some(bytes);
        self
    }

    /// Greets the client, and answers it from then on.
    pub fn serve(self, server: impl ServerHandler) -> Pin<Box<dyn Future<Output = Begun> + Send>> {
        self.serve_boxed(server.into_dyn())
    }

    // A future is compiled where it is boxed. Out of line and without a type parameter, that is
    // here, and not once more in each server.
    #[inline(never)]
    pub(crate) fn serve_boxed(
        self,
        server: AnyServer,
    ) -> Pin<Box<dyn Future<Output = Begun> + Send>> {
        Box::pin(self.serve_any(server))
    }

    async fn serve_any(self, server: AnyServer) -> Begun {
        let transport = AsyncRwTransport::new_server(self.input, self.output);
        let transport = match self.line_bytes_max {
            Some(bytes) => transport.with_max_line_length(bytes),
            None => transport,
        };
        match server.serve(transport).await {
            Ok(running) => Ok(Some(running)),
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
