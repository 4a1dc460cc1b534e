//! The tools that a client is offered: those of all servers, as pinned. Must not know
//! who calls them.

use futures::future::BoxFuture;
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
    pub fn tools(&self) -> BoxFuture<'_, Result<Vec<ClientTool>, ClientRefusal>> {
        Box::pin(async move {
            let catalog = self.shared.gate.catalog();
            let pinned = catalog.definitions().await?;
            let tool =
                |(name, server, tool, definition)| ClientTool { name, server, tool, definition };
            Ok(pinned.into_iter().map(tool).collect())
        })
    }

    /// Those of them that fit a few words, the best first, at most so many.
    pub fn found<'a>(
        &'a self,
        words: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<ClientTool>, ClientRefusal>> {
        Box::pin(async move {
            let found = self.shared.gate.catalog().found(words, most).await;
            let names = found.map_err(|error| {
                ClientRefusal::Odd(format!("the tools could not be searched: {error}"))
            })?;
            let mut tools = self.tools().await?;
            // Nobody's place is taken by one that is gone by now.
            let found = names.iter().filter_map(|name| {
                let place = tools.iter().position(|tool| tool.name == *name)?;
                Some(tools.swap_remove(place))
            });
            Ok(found.collect())
        })
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
