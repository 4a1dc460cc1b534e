//! Whether a server still knows the session of a connection: asked before something is sent that
//! must not be lost. Must not know what that is.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{ClientRequest, PingRequest};
use rmcp::service::{PeerRequestOptions, ServiceError};
use tokio::time::timeout;

use super::connection::Connection;
use super::rpc::era::Era;
use super::rpc::{REQUEST_FAILED, REQUEST_REFUSED};

/// Until a server has said whether it knows the session.
const KNOWN_TIMEOUT: Duration = Duration::from_secs(10);

impl Connection {
    /// Asks a server that may have forgotten its session. One that has is left, so that the next
    /// need opens another one, and so is one that gives no answer while it has no call to work on.
    #[expect(clippy::disallowed_methods, reason = "a ping is no action")]
    pub(super) async fn ask_whether_known(&self) {
        if !self.transport.is_doubtful() || self.era == Era::Modern {
            return;
        }
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let known = async {
            let sent = self.peer.send_request_with_option(ping, PeerRequestOptions::no_options());
            match sent.await {
                Ok(handle) => handle.await_response().await,
                Err(error) => Err(error),
            }
        };
        let refused = match timeout(KNOWN_TIMEOUT, known).await {
            Ok(Ok(_)) => return,
            Ok(Err(ServiceError::McpError(error))) => {
                // Whoever does not know `ping` knows the session.
                if ![REQUEST_REFUSED, REQUEST_FAILED].contains(&error.code) {
                    return;
                }
                error.code == REQUEST_REFUSED
            }
            Ok(Err(_)) | Err(_) => false,
        };
        if refused {
            self.ending.store(true, Ordering::SeqCst);
        } else if self.state.has_calls() {
            // What it is busy with may be somebody else's call, which would end with it.
            return;
        }
        self.request_end();
        let _ = timeout(KNOWN_TIMEOUT, self.transport.ended().cancelled()).await;
    }
}
