//! The tools that a client is offered: those of all servers, as pinned. Must not know who calls them.

use serde_json::Value;

use super::{ClientRefusal, Clients};

/// A tool behind the gate.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientTool {
    /// The name under which it is offered, the same that a model has: `server__tool`.
    pub name: String,
    pub server: String,
    pub tool: String,
    /// The definition of its server, word for word, as it was accepted.
    pub definition: Value,
}

impl Clients {
    /// The tools behind the gate, in an order that depends on their names alone.
    pub async fn tools(&self) -> Result<Vec<ClientTool>, ClientRefusal> {
        let catalog = self.shared.gate.catalog();
        let pinned = catalog.definitions().await?;
        let tool = |(name, server, tool, definition)| ClientTool { name, server, tool, definition };
        Ok(pinned.into_iter().map(tool).collect())
    }

    /// Server and tool behind a name.
    pub(super) async fn resolve(&self, name: &str) -> Result<(String, String), ClientRefusal> {
        let catalog = self.shared.gate.catalog();
        if let Some(found) = catalog.resolve(name).await {
            return Ok(found);
        }
        let names = catalog.offered_names().await;
        let near = names.iter().map(|known| (strsim::osa_distance(known, name), known));
        let close = near.filter(|(far, _)| *far <= CLOSE_MAX).min();
        let close =
            close.map_or_else(String::new, |(_, name)| format!(" (did you mean `{name}`?)"));
        Err(ClientRefusal::NoTool { name: crate::domain::escape::visible(name), close })
    }
}

/// The most letters that a name may be wrong in to be meant.
const CLOSE_MAX: usize = 3;
