//! The MCP side: introduces the server, lists and runs the tools, and gives `schedule://due`, a
//! resource that can be subscribed to in both eras. Owns the protocol; must not know what a tool
//! does.

use std::sync::{Arc, Mutex, PoisonError};

use claw_server_kit::tools::{Tools, discovered, introduced};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, DiscoverResult, ErrorData,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::SERVER_NAME;
use crate::caller::Caller;
use crate::heartbeats::Heartbeats;
use crate::tools::{self, SharedSchedule};

/// The firings that are due, with a cursor.
pub const DUE: &str = "schedule://due";

/// The jobs that there are, each with its revision.
pub const JOBS: &str = "schedule://jobs";

const INSTRUCTIONS: &str = "Knows what is due when, and runs nothing itself. Fill the fields of `schedule`; the server computes the times. \
    Read back the next firings from the answer. A host takes each firing that is due with `take`, once.";

/// Lives as long as the connection of its one client.
#[derive(Clone)]
pub struct Server {
    /// A handle of the jobs, which the waker has, too.
    shared: SharedSchedule,
    /// The same from the start to the end.
    tools: Tools<SharedSchedule>,
    /// The newest firing there is, from the waker.
    news: watch::Receiver<i64>,
    /// Tells the one client of this connection, since it has subscribed (until 2025-11-25). Aborted
    /// when it subscribes anew or no longer wants to hear; it ends by itself when the client goes.
    teller: Arc<Mutex<Option<AbortHandle>>>,
}

impl Server {
    pub fn new(
        shared: SharedSchedule,
        heartbeats: Option<Heartbeats>,
        news: watch::Receiver<i64>,
    ) -> Self {
        Self { shared, tools: Tools::new(tools::all(heartbeats)), news, teller: Arc::default() }
    }

    /// What a new subscriber is to hear of: also what has been due before it came.
    fn heard_from_now(&self) -> watch::Receiver<i64> {
        let mut news = self.news.clone();
        if self.shared.with(|schedule| tools::is_any_due(schedule)).unwrap_or(true) {
            news.mark_changed();
        } else {
            news.mark_unchanged();
        }
        news
    }

    fn stop_telling(&self) {
        let mut teller = self.teller.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = teller.take() {
            before.abort();
        }
    }
}

/// Says "look", without content, whenever something has become due.
async fn tell(peer: Peer<RoleServer>, mut news: watch::Receiver<i64>) {
    while news.changed().await.is_ok() {
        let updated = ResourceUpdatedNotificationParam::new(DUE);
        if peer.notify_resource_updated(updated).await.is_err() {
            return;
        }
    }
}

/// Behind `schedule://due`, in what is read: only firings behind this cursor.
const AFTER: &str = "?after=";

/// The cursor of a resource that is read: `schedule://due`, or a later page of it.
fn page_of(uri: &str) -> Result<i64, ErrorData> {
    let after = uri.strip_prefix(DUE).and_then(|rest| rest.strip_prefix(AFTER));
    match after.and_then(|after| after.parse().ok()) {
        Some(after) => Ok(after),
        None => known(uri).map(|()| 0),
    }
}

fn known(uri: &str) -> Result<(), ErrorData> {
    if uri == DUE {
        return Ok(());
    }
    // Clients know by the address which of their requests it is about.
    Err(ErrorData::resource_not_found(
        format!(
            "there is no resource `{uri}` here; `{DUE}` can be read and followed, `{JOBS}` read"
        ),
        Some(serde_json::json!({ "uri": uri })),
    ))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        introduced(capabilities, SERVER_NAME, "Scheduler", INSTRUCTIONS)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        Ok(discovered(self, CacheScope::Public))
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
        let caller =
            Caller::of(&context.meta).map_err(|why| ErrorData::invalid_params(why, None))?;
        // SQLite blocks: the call works on a thread of its own.
        self.tools.call(&request.name, self.shared.asked_by(caller), request.arguments).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let due = Resource::new(DUE, "due")
            .with_title("Firings that are due")
            .with_description("The firings that wait to be taken, as the tool `due` gives them.")
            .with_mime_type("application/json");
        let jobs = Resource::new(JOBS, "jobs")
            .with_title("Jobs")
            .with_description("The ids of the jobs that there are, with their revisions.")
            .with_mime_type("application/json");
        Ok(ListResourcesResult::with_all_items(vec![due, jobs])
            .with_ttl_ms(claw_server_kit::tools::LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let shared = self.shared.clone();
        let read = if request.uri == JOBS {
            tokio::task::spawn_blocking(move || tools::jobs_as_json(&shared)).await
        } else {
            let after = page_of(&request.uri)?;
            tokio::task::spawn_blocking(move || tools::due_as_json(&shared, after)).await
        };
        let text = match read {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => return Err(ErrorData::internal_error(error.to_string(), None)),
            Err(error) => return Err(ErrorData::internal_error(error.to_string(), None)),
        };
        let contents = ResourceContents::text(text, request.uri).with_mime_type("application/json");
        // It is old as soon as a firing is taken.
        let result = ReadResourceResult::new(vec![contents])
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private);
        Ok(result.into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let ours = SubscriptionFilter::builder().resource_subscription(DUE).build();
        Some(requested.intersection(&ours))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut news = self.heard_from_now();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = news.changed() => {
                    // Without the waker nothing more can be told; `due` still works.
                    if changed.is_err() || context.sink().notify_resource_updated(DUE).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Clients until 2025-11-25.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        known(&request.uri)?;
        self.stop_telling();
        let told = tokio::spawn(tell(context.peer, self.heard_from_now()));
        *self.teller.lock().unwrap_or_else(PoisonError::into_inner) = Some(told.abort_handle());
        Ok(())
    }

    /// Clients until 2025-11-25.
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        known(&request.uri)?;
        self.stop_telling();
        Ok(())
    }
}
