//! The MCP side: introduces the server, lists the tools and runs one. Owns the protocol; must not
//! know what a tool does.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    DiscoverResult, ErrorData, Implementation, JsonObject, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use crate::SERVER_NAME;
use crate::args::Limits;
use crate::cancel::Cancel;
use crate::error::ToolError;
use crate::root::Root;
use crate::tools::{self, Reply, ToolDef, Workspace};

/// The key in `_meta` by which a host keeps one call off files and folders of some names, whatever
/// path leads to them. Its value is a list of names.
const KEEP_OFF: &str = "claw/keep_off";

/// The list of tools is part of the program, so clients may keep it for an hour.
const LIST_TTL_MS: u64 = 3_600_000;

#[cfg_attr(feature = "http", derive(Clone))]
pub struct Server {
    workspace: Workspace,
    tools: Vec<Arc<ToolDef>>,
    by_name: HashMap<String, usize>,
    instructions: String,
}

impl Server {
    /// `workspace` is where relative paths lead.
    pub fn new(workspace: Root, further: Vec<Root>, limits: Limits) -> Self {
        let instructions = instructions(&workspace, &further);
        let tools: Vec<Arc<ToolDef>> = tools::all().into_iter().map(Arc::new).collect();
        let by_name = tools
            .iter()
            .enumerate()
            .map(|(index, def)| (def.tool.name.to_string(), index))
            .collect();
        Self { workspace: Workspace::new(workspace, further, limits), tools, by_name, instructions }
    }
}

fn instructions(workspace: &Root, further: &[Root]) -> String {
    let at = |root: &Root| format!("`{}`", root.whole(Path::new("")).display());
    let mut text = format!(
        "Works on the files of one workspace ({}). Paths are relative to it; nothing outside of it can be reached",
        at(workspace)
    );
    if !further.is_empty() {
        let further: Vec<String> = further.iter().map(at).collect();
        text.push_str(&format!(
            ", apart from {}, whose files are named by their absolute paths",
            further.join(", ")
        ));
    }
    text.push('.');
    let fixed: BTreeSet<String> = std::iter::once(workspace)
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
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info =
            Implementation::new(SERVER_NAME, env!("CARGO_PKG_VERSION")).with_title("Files");
        info.instructions = Some(self.instructions.clone());
        info
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result =
            DiscoverResult::from_server_info(versions, self.get_info()).with_ttl_ms(LIST_TTL_MS);
        // The instructions name the workspace, which is one user's.
        result.cache_scope = CacheScope::Private;
        Ok(result)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(|def| def.tool.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(def) =
            self.by_name.get(request.name.as_ref()).and_then(|index| self.tools.get(*index))
        else {
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`", request.name),
                None,
            ));
        };
        let keep_off = keep_off(&context.meta)?;
        let (def, workspace) = (Arc::clone(def), self.workspace.keeping_off(keep_off));
        let cancel = Cancel::new(context.ct.clone());
        let arguments = request.arguments.unwrap_or_default();
        // File work blocks; here it does not hold up other requests.
        let outcome =
            tokio::task::spawn_blocking(move || (def.run)(&workspace, arguments, &cancel))
                .await
                .map_err(|error| {
                    ErrorData::internal_error(format!("the tool ended abnormally: {error}"), None)
                })?;
        Ok(result_of(outcome).into())
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

fn result_of(outcome: Result<Reply<Value>, ToolError>) -> CallToolResult {
    match outcome {
        Ok(reply) => {
            let images = reply
                .images
                .into_iter()
                .map(|image| ContentBlock::image(BASE64.encode(image.bytes), image.mime));
            let content = reply.text.into_iter().map(ContentBlock::text).chain(images).collect();
            let mut result = CallToolResult::success(content);
            result.structured_content = Some(reply.structured);
            result
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    }
}
