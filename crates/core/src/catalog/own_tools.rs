//! The tools of claw's own, which a model calls by a plain name: which there are, what a use of
//! each means, and by what such a call is judged. Must not know rules, or who calls.

use serde_json::Value;

use super::besides::RESOURCES;
use super::no_such_tool::no_such_tool;
use super::pinning::Tool;
use super::{Catalog, tool_search};
use crate::domain::{OwnServer, TOOL_SEARCH, ToolHints, Trust};
use crate::hub::Method;

/// No server's tool is offered by such a name, which has no separator in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnTool {
    /// Finds tools. Claw answers it.
    Search,
    /// Reads and lists what servers have besides tools. A server answers, by a method of MCP.
    Resources,
}

impl OwnTool {
    pub(super) fn named(offered: &str) -> Option<Self> {
        match offered {
            TOOL_SEARCH => Some(Self::Search),
            RESOURCES => Some(Self::Resources),
            _ => None,
        }
    }
}

impl Catalog {
    /// The server, the tool there and the arguments that a model means by an offered name. `Err` is
    /// the reason for a denial.
    pub async fn meant(&self, name: &str, input: Value) -> Result<(String, String, Value), String> {
        if OwnTool::named(name) == Some(OwnTool::Resources) {
            let (server, method, arguments) = self.resource_use(&input)?;
            return Ok((server, method.as_str().to_owned(), arguments));
        }
        match self.resolve(name).await {
            Some((server, tool)) => Ok((server, tool, input)),
            None => Err(no_such_tool(name, &self.offered_names().await)),
        }
    }

    /// By what a call is judged that a use of claw's own tools means. `None`: it is a call of a
    /// server's tool. `Err` is the reason for a denial.
    pub(super) async fn own(&self, server: &str, tool: &str) -> Option<Result<Tool, String>> {
        if let Some(method) = Method::named(tool) {
            return Some(self.method(server, method).await);
        }
        OwnServer::is_claw_itself(server, tool).then(|| Ok(tool_search::judged()))
    }
}

/// Such a call has no hints and no trust of its own: the owner's rules and classes decide alone.
pub(super) fn judged(pin: String, input_schema: Value, title: Option<&str>) -> Tool {
    Tool {
        pin,
        input_schema,
        hints: ToolHints::default(),
        trust: Trust::Ask,
        title: title.map(str::to_owned),
        env_names: String::new(),
        hidden: false,
    }
}
