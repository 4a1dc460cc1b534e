//! Who calls: a client that has proven its name, and how it came. Must not know what it calls.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::serving::Serving;
use super::socket::NUMBER;
use crate::clients::Clients;
use crate::domain::canonical::sha256_hex;
use crate::domain::{ClientName, Origin, SessionId};
use crate::router::Visitor;

/// One client on one connection, or of one request where there are none.
#[derive(Clone)]
pub struct Caller {
    pub serving: Arc<Serving>,
    pub client: ClientName,
    /// Whether it was started to be offered the gated tools, whatever is configured.
    pub tools: bool,
    /// The front behind which it is; `None` over HTTP.
    pub front: Option<String>,
    /// Its place among the connections, which goes with the last who holds it.
    pub _place: Option<Arc<OwnedSemaphorePermit>>,
}

impl Caller {
    pub fn clients(&self) -> &Clients {
        &self.serving.door.shared.context.clients
    }

    /// Whether it is offered the gated tools now. The setting may change while it is connected.
    pub fn is_offered_tools(&self) -> bool {
        self.tools || self.clients().settings().tools
    }

    pub fn visitor(&self) -> Visitor {
        Visitor {
            from: self.client.address(),
            principal: self.client.principal(),
            origin: Origin::McpClient,
        }
    }

    /// One of the client's sessions, by its own name for it.
    pub fn session(&self, own: Option<&str>) -> Result<SessionId, String> {
        self.client.session(own).map_err(|odd| odd.to_string())
    }

    /// How long a request may wait.
    pub fn patience(&self, wait_s: Option<u64>) -> Duration {
        let most = self.clients().settings().answer_wait_s;
        Duration::from_secs(wait_s.unwrap_or(most).min(most))
    }

    /// What makes a request known that the front sends again because claw was restarted: the
    /// front's number of it. Where it has none, its id and its content stand for that.
    pub fn mark_of(&self, context: &RequestContext<RoleServer>, content: &str) -> Option<String> {
        let front = self.front.as_ref()?;
        let request = match context.meta.get(NUMBER).and_then(Value::as_u64) {
            Some(number) => format!("{NUMBER} {number}"),
            None => context.id.to_string(),
        };
        let said = format!("{front}\n{}\n{request}\n{content}", self.client);
        Some(sha256_hex(said.as_bytes()))
    }
}
