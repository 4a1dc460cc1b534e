//! A tool with what it takes and gives, and the list of all tools of a server. Owns how arguments
//! are read and results written; must not know what a tool does.

use std::fmt::Display;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult, ErrorData,
    Implementation, JsonObject, ListToolsResult, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::schema::{self, Nulls};

/// The list of tools is part of the program, so clients may keep it for an hour.
pub const LIST_TTL_MS: u64 = 3_600_000;

/// What a tool is and honestly does. No tool that is defined here leaves the folders of its
/// server, so `openWorldHint` is always false.
pub struct About {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub effect: Effect,
}

/// What a call does to what is there.
pub enum Effect {
    ReadOnly,
    /// Something new, beside what there is.
    Adds,
    /// Changes what is there. `destructive`: what it was is lost, or only in a trash afterwards.
    /// `idempotent`: once more changes nothing more.
    Changes {
        destructive: bool,
        idempotent: bool,
    },
}

impl Effect {
    fn hints(&self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().open_world(false);
        match *self {
            Self::ReadOnly => hints.read_only(true).destructive(false).idempotent(true),
            Self::Adds => hints.read_only(false).destructive(false).idempotent(false),
            Self::Changes { destructive, idempotent } => {
                hints.read_only(false).destructive(destructive).idempotent(idempotent)
            }
        }
    }
}

/// What a tool gives back: content for a model, and the same for a program.
pub struct Reply<O> {
    pub content: Vec<ContentBlock>,
    pub structured: O,
    /// For the host.
    pub meta: JsonObject,
}

/// Where MCP Apps say who may call a tool (`_meta.ui.visibility`).
const FOR_THE_HOST: &str = "app";

type Run<C> = dyn Fn(&C, JsonObject) -> CallToolResult + Send + Sync;

/// A tool with its types hidden. `C` is what a call works on.
pub struct ToolDef<C> {
    name: &'static str,
    /// Made when the tools are listed, which happens once a connection: the schemas of a dozen
    /// tools take more memory than all else of a small server.
    described: Box<dyn Fn() -> Tool + Send + Sync>,
    is_for_hosts: bool,
    run: Box<Run<C>>,
}

impl About {
    /// The tool that `run` does. What `run` refuses is an error for the model, not of the protocol:
    /// hosts hide the latter from it.
    pub fn tool<C, I, O, E>(
        self,
        run: impl Fn(&C, I) -> Result<Reply<O>, E> + Send + Sync + 'static,
    ) -> ToolDef<C>
    where
        C: 'static,
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
        E: Display,
    {
        let name = self.name;
        // The schema of a struct is always an object; the tests of the servers list every tool.
        let input = || schema::input::<I>(Nulls::LeftOut).unwrap_or_default();
        let described = move || self.described(input(), schema::output::<O>(Nulls::LeftOut));
        let run = move |context: &C, arguments: JsonObject| match serde_json::from_value(
            Value::Object(arguments),
        ) {
            Ok(input) => match run(context, input) {
                Ok(Reply { content, structured, meta }) => {
                    result(content, serde_json::to_value(structured), meta)
                }
                Err(error) => refused(error.to_string()),
            },
            Err(error) => wrong_arguments(&error, &input()),
        };
        ToolDef { name, described: Box::new(described), is_for_hosts: false, run: Box::new(run) }
    }

    fn described(&self, input: JsonObject, output: Arc<JsonObject>) -> Tool {
        Tool::new(self.name, self.description, Arc::new(input))
            .with_title(self.title)
            .with_annotations(self.effect.hints())
            .with_raw_output_schema(output)
    }
}

impl<C> ToolDef<C> {
    /// The same for hosts alone: those that know MCP Apps do not offer it to a model.
    pub fn for_hosts(mut self) -> Self {
        self.is_for_hosts = true;
        self
    }

    fn tool(&self) -> Tool {
        let tool = (self.described)();
        if !self.is_for_hosts {
            return tool;
        }
        let ui = ("ui".to_owned(), serde_json::json!({"visibility": [FOR_THE_HOST]}));
        tool.with_meta(JsonObject::from_iter([ui]).into())
    }
}

fn result(
    content: Vec<ContentBlock>,
    structured: serde_json::Result<Value>,
    meta: JsonObject,
) -> CallToolResult {
    match structured {
        Ok(structured) => {
            let mut result = CallToolResult::success(content);
            result.structured_content = Some(structured);
            result.meta = (!meta.is_empty()).then(|| meta.into());
            result
        }
        Err(error) => refused(format!("the result cannot be written as JSON: {error}")),
    }
}

fn wrong_arguments(error: &serde_json::Error, input: &JsonObject) -> CallToolResult {
    let names = argument_names(input);
    refused(format!("wrong arguments: {error}. The arguments are: {names}."))
}

fn refused(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

/// All tools of a server, in the order in which they are listed, which never changes between
/// connections.
pub struct Tools<C>(Vec<Arc<ToolDef<C>>>);

impl<C> Clone for Tools<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<C: Send + 'static> Tools<C> {
    pub fn new(tools: Vec<ToolDef<C>>) -> Self {
        Self(tools.into_iter().map(Arc::new).collect())
    }

    pub fn list(&self) -> ListToolsResult {
        let tools = self.0.iter().map(|def| def.tool()).collect();
        ListToolsResult::with_all_items(tools)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public)
    }

    /// Does what a tool does, where it holds up no other request.
    ///
    /// # Errors
    /// There is no such tool, or it has panicked.
    pub async fn call(
        &self,
        name: &str,
        context: C,
        arguments: Option<JsonObject>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(def) = self.0.iter().find(|def| def.name == name).map(Arc::clone) else {
            return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None));
        };
        let arguments = arguments.unwrap_or_default();
        let done = tokio::task::spawn_blocking(move || (def.run)(&context, arguments)).await;
        done.map(Into::into).map_err(|error| {
            ErrorData::internal_error(format!("the tool ended abnormally: {error}"), None)
        })
    }
}

/// How a server introduces itself.
pub fn introduced(
    capabilities: ServerCapabilities,
    name: &str,
    title: &str,
    instructions: impl Into<String>,
) -> ServerConfig {
    let mut info = ServerConfig::new(capabilities).with_instructions(instructions);
    info.server_info = Implementation::new(name, env!("CARGO_PKG_VERSION")).with_title(title);
    info
}

/// The answer to `server/discover`.
pub fn discovered(server: &impl ServerHandler, scope: CacheScope) -> DiscoverResult {
    let versions = server.supported_protocol_versions().into_owned();
    let mut result =
        DiscoverResult::from_server_info(versions, server.get_info()).with_ttl_ms(LIST_TTL_MS);
    result.cache_scope = scope;
    result
}

fn argument_names(schema: &JsonObject) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| {
            let need = if required.contains(&name.as_str()) { "required" } else { "optional" };
            format!("{name} ({need})")
        })
        .collect();
    names.join(", ")
}
