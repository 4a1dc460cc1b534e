//! The MCP side: introduces the server, lists the tools and runs one. Owns the protocol; must not
//! know what a tool does.

use std::collections::BTreeSet;
use std::path::Path;

use claw_server_kit::tools::{Tools, discovered, introduced};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, DiscoverResult, ErrorData, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use crate::SERVER_NAME;
use crate::cancel::Cancel;
use crate::root::Root;
use crate::tools::{self, Call, Workspace};

/// The key in `_meta` by which a host keeps one call off files and folders of some names, whatever
/// path leads to them. Its value is a list of names.
const KEEP_OFF: &str = "claw/keep_off";

#[cfg_attr(feature = "http", derive(Clone))]
pub struct Server {
    workspace: Workspace,
    tools: Tools<Call>,
    instructions: String,
}

impl Server {
    pub fn new(workspace: Workspace) -> Self {
        let instructions = instructions(&workspace);
        let tools = Tools::new(tools::all(workspace.artifacts().is_some()));
        Self { workspace, tools, instructions }
    }
}

fn instructions(workspace: &Workspace) -> String {
    let (root, further) = workspace.roots();
    let at = |root: &Root| format!("`{}`", root.whole(Path::new("")).display());
    let mut text = format!(
        "Works on the files of one workspace ({}). Paths are relative to it; nothing outside of it can be reached",
        at(root)
    );
    if !further.is_empty() {
        let further: Vec<String> = further.iter().map(at).collect();
        text.push_str(&format!(
            ", apart from {}, whose files are named by their absolute paths",
            further.join(", ")
        ));
    }
    text.push('.');
    let fixed: BTreeSet<String> = std::iter::once(root)
        .chain(further)
        .flat_map(|root| {
            root.read_only.iter().map(|place| format!("`{}`", root.whole(place).display()))
        })
        .collect();
    if !fixed.is_empty() {
        let fixed: Vec<String> = fixed.into_iter().collect();
        text.push_str(&format!(" These can be read and never changed: {}.", fixed.join(", ")));
    }
    text.push_str(" Read a file before you edit it.");
    text
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        introduced(
            ServerCapabilities::builder().enable_tools().build(),
            SERVER_NAME,
            "Files",
            self.instructions.clone(),
        )
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        // The instructions name the workspace, which is one user's.
        Ok(discovered(self, CacheScope::Private))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(self.tools.list())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let keep_off = keep_off(&context.meta)?;
        let workspace = self.workspace.keeping_off(keep_off);
        let call = Call { workspace, cancel: Cancel::new(context.ct.clone()) };
        self.tools.call(&request.name, call, request.arguments).await
    }
}

/// The names that this call may not change. Only the host writes `_meta`; a model's words are the
/// arguments.
///
/// # Errors
/// What is not understood is refused: the call would change more than it was meant to.
fn keep_off(meta: &JsonObject) -> Result<Vec<String>, ErrorData> {
    let Some(names) = meta.get(KEEP_OFF) else { return Ok(Vec::new()) };
    serde_json::from_value(names.clone()).map_err(|error| {
        ErrorData::invalid_params(
            format!("`_meta` holds a `{KEEP_OFF}` that this server does not know: {error}"),
            None,
        )
    })
}
