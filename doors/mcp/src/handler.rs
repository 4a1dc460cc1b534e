//! MCP's requests to the agent, in both eras: who claw is, which tools there are, and who does a
//! call. Must not know over what a request comes.

use std::sync::Arc;

use claw_kit::counted::counted;
use claw_server_kit::tools::discovered;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, DiscoverResult, ErrorData, GetPromptRequestMethod,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use super::caller::Caller;
use super::gated::{self, Called};
use super::tools::{ALL, AgentTool, refused};
use super::{catalog, prompts, resources, tasks};

/// How long a client may keep the list of tools, where servers may bring others meanwhile.
const LIST_TTL_MS: u64 = 60_000;

const INSTRUCTIONS: &str = "The personal agent of this machine's owner. Give it tasks with `ask`; \
    it works with its own tools, in its own workspace, and asks its owner before it acts. What \
    takes longer is fetched with `ask_result`.";

const INSTRUCTIONS_OF_TOOLS: &str = " The tools whose names hold `__` are those of its servers; \
    you may call them yourself. A call may need the owner's yes, which nobody gives here: the \
    owner is asked elsewhere. If a result says that a call waits, make exactly the same call again \
    later.";

/// One connection, or one request where there are none.
#[derive(Clone)]
pub struct Handler {
    caller: Arc<Caller>,
}

impl Handler {
    pub fn new(caller: Caller) -> Self {
        Self { caller: Arc::new(caller) }
    }

    /// Whether its owner has not revoked it.
    fn is_welcome(&self) -> Result<(), ErrorData> {
        let welcome = self.caller.clients().is_welcome(&self.caller.client);
        welcome.map_err(|why| ErrorData::invalid_request(why.to_string(), None))
    }

    /// Whether one more call of this client is taken now.
    fn may_call(&self) -> Result<(), String> {
        let caller = &*self.caller;
        let minute_max = caller.clients().settings().requests_minute_max;
        // Over HTTP each request was counted when it came in.
        if caller.front.is_some()
            && let Err(left) = caller.serving.rate.take(&caller.client, minute_max)
        {
            return Err(format!(
                "the client `{}` has made {} within a minute (serve.requests_minute_max); make \
                 this one again in {} s",
                caller.client,
                counted(minute_max, "call"),
                left.as_secs() + 1
            ));
        }
        caller.clients().is_welcome(&caller.client).map_err(|why| why.to_string())
    }

    /// What this client is offered, in an order that depends on the names alone.
    async fn tools(&self) -> Result<Vec<Tool>, ErrorData> {
        let mut tools: Vec<Tool> = ALL.into_iter().map(AgentTool::definition).collect();
        if self.caller.is_offered_tools() {
            let gated = self.caller.clients().tools().await;
            let gated =
                gated.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            match gated.len() > catalog::LISTED_MAX {
                true => tools.extend(catalog::definitions()),
                false => tools.extend(gated.into_iter().map(gated::offered)),
            }
        }
        Ok(tools)
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        capabilities.resources = resources::are_offered(&self.caller).then(Default::default);
        capabilities.prompts = prompts::are_offered(&self.caller).then(Default::default);
        let mut info = ServerConfig::new(capabilities);
        info.server_info =
            Implementation::new("claw", env!("CARGO_PKG_VERSION")).with_title("claw");
        let more = if self.caller.is_offered_tools() { INSTRUCTIONS_OF_TOOLS } else { "" };
        info.instructions = Some(format!("{INSTRUCTIONS}{more}"));
        info
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        Ok(discovered(self, CacheScope::Private))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().await?)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = &*self.caller;
        if let Err(why) = self.may_call() {
            return Ok(refused(&why).into());
        }
        let (name, arguments) = (&*request.name, request.arguments.unwrap_or_default());
        if let Some(tool) = AgentTool::named(name) {
            let result = tool.call(caller, arguments, &context).await;
            let as_task = tool == AgentTool::Ask && tasks::are_known(&context);
            return Ok(match tasks::of_result(caller, &result).filter(|_| as_task) {
                Some(task) => CallToolResponse::Task(task),
                None => result.into(),
            });
        }
        if !caller.is_offered_tools() {
            return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None));
        }
        // Whatever is listed, both ways lead to a tool: a list that a client has kept stays true.
        let (state, responses) =
            (request.request_state.as_deref(), request.input_responses.as_ref());
        let called = Called { name, arguments, state, responses };
        match catalog::has(name) {
            true => catalog::call(caller, called, &context).await,
            false => gated::call(caller, called, &context).await,
        }
    }

    /// What is not declared is not there, not even empty.
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if !prompts::are_offered(&self.caller) {
            return Err(ErrorData::method_not_found::<ListPromptsRequestMethod>());
        }
        self.is_welcome()?;
        Ok(prompts::list(&self.caller).await)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !prompts::are_offered(&self.caller) {
            return Err(ErrorData::method_not_found::<GetPromptRequestMethod>());
        }
        self.may_call().map_err(|why| ErrorData::invalid_request(why, None))?;
        prompts::get(&self.caller, request, &context).await
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.is_welcome()?;
        resources::list(&self.caller)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(&self.caller))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.is_welcome()?;
        Ok(resources::read(&self.caller, &request.uri)?.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.is_welcome()?;
        tasks::get(&self.caller, &request)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.is_welcome()?;
        tasks::cancel(&self.caller, &request).await
    }
}
