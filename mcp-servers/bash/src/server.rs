//! The MCP face, for both eras of the protocol: what the server says about itself, the list of its
//! tools, and which call is whose. Must not know processes, or what a tool does.

mod calls;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use claw_server_kit::serving::Streams;
use claw_server_kit::tools::{LIST_TTL_MS, discovered, introduced};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomNotification, DiscoverResult,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::args::{Limits, Settings};
use crate::background::Background;
use crate::cgroup::Folder;
use crate::confine::Enforcement;
use crate::eof::EofSignal;
use crate::error::StartError;
use crate::kept::Shelf;
use crate::opened_to_call::OpenedToCall;
use crate::progress::Progress;
use crate::queue::{Queue, Turn};
use crate::refusals::Refusals;
use crate::run::{Apart, Machine, Runner};
use crate::services::{CLOSED, Service};
use crate::{job_tools, tool};
use calls::refusal;

/// How long the end of the server waits for the ends of its jobs, which take milliseconds.
const LAST_JOBS_PATIENCE: Duration = Duration::from_secs(7);

/// Lives until stdin closes. What is not said to change is the same from the start of the server to
/// its end; clones share the rest.
#[derive(Clone)]
struct BashServer {
    /// Starts the jobs. [`serve`] holds it, too, and clears up behind the last one.
    runner: Arc<Runner>,
    workspace: PathBuf,
    limits: Limits,
    /// What the box holds, as it was closed.
    enforcement: Enforcement,
    /// Open to every call that names it.
    open: Vec<Service>,
    tools: Arc<[Tool]>,
    /// What to say of a refusal.
    refusals: Arc<Refusals>,
    /// What the owner has opened, for a model.
    opened: Option<String>,
    /// What can never be opened.
    protect: Vec<PathBuf>,
    /// The jobs that outlive their call. They end with the server.
    background: Arc<Background>,
    /// Shared with every output that is being written.
    shelf: Arc<Shelf>,
    /// A place for each call of `run`, and given back with it.
    queue: Queue,
    /// Each until it is concluded. The end of the server waits for them.
    jobs: TaskTracker,
    /// Cancelled when stdin closes.
    closed: CancellationToken,
}

/// What there is for commands, found out before the runtime was made.
pub struct Serving {
    pub output_dir: PathBuf,
    pub machine: Machine,
    pub enforcement: Enforcement,
    /// Where commands get cgroups of their own.
    pub folder: Option<Folder>,
    /// How they get namespaces of their own.
    pub apart: Option<Apart>,
    /// The user's programs that a model is told of.
    pub programs: Vec<String>,
}

/// Serves until stdin closes. When it returns, no job is alive.
pub async fn serve(settings: Settings, serving: Serving) -> Result<(), StartError> {
    let Serving { output_dir, machine, enforcement, folder, apart, programs } = serving;
    let closed = CancellationToken::new();
    let jobs = TaskTracker::new();
    let limits = settings.limits;
    let shelf = Arc::new(Shelf::new(output_dir, limits.kept_bytes_max));
    let workspace = settings.workspace.clone();
    let given = &machine.given;
    let refusals = Arc::new(Refusals::new(&workspace, given, &settings.protect));
    let opened = given.opened.words();
    let runner = Arc::new(
        Runner::new(workspace, machine, limits.command, folder, enforcement, apart)?
            .reaching(settings.private_hosts),
    );
    let server = BashServer {
        runner: runner.clone(),
        workspace: settings.workspace,
        limits,
        enforcement,
        open: settings.open,
        tools: tools(&limits, enforcement, &programs).map_err(StartError::Handshake)?,
        refusals,
        opened,
        protect: settings.protect,
        background: Arc::new(Background::new(limits, shelf.clone())),
        shelf,
        queue: Queue::new(limits.jobs_max),
        jobs: jobs.clone(),
        closed: closed.clone(),
    };
    #[cfg(feature = "http")]
    let served = if settings.http {
        claw_server_kit::http::serve(move || server.clone())
            .await
            .map_err(|error| StartError::Handshake(error.to_string()))
    } else {
        over_stdio(server, &closed).await
    };
    #[cfg(not(feature = "http"))]
    let served = over_stdio(server, &closed).await;
    closed.cancel();
    jobs.close();
    let _ = timeout(LAST_JOBS_PATIENCE, jobs.wait()).await;
    runner.clear();
    served
}

async fn over_stdio(server: BashServer, closed: &CancellationToken) -> Result<(), StartError> {
    let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
    let jobs = server.background.running();
    let begun = Streams::new(EofSignal::new(stdin, closed.clone()), stdout).serve(server).await;
    if let Some(running) = begun.map_err(|error| StartError::Handshake(error.to_string()))? {
        tokio::spawn(tell_of_jobs(running.peer().clone(), jobs));
        let _ = running.waiting().await;
    }
    Ok(())
}

/// Tells the one client of this process how many jobs run. One task sends, so that the newest
/// number is the last one told.
async fn tell_of_jobs(client: Peer<RoleServer>, mut jobs: watch::Receiver<usize>) {
    while jobs.changed().await.is_ok() {
        let running = *jobs.borrow_and_update();
        if client.send_notification(job_tools::running(running)).await.is_err() {
            // The client is gone, and the server ends.
            return;
        }
    }
}

impl ServerHandler for BashServer {
    fn get_info(&self) -> ServerConfig {
        let told = self.enforcement.held().told();
        let capabilities =
            ServerCapabilities::builder().enable_experimental_with(told).enable_tools().build();
        let instructions = format!(
            "Runs shell commands in {}. {}.{}",
            self.workspace.display(),
            self.enforcement,
            self.opened.as_ref().map(|words| format!(" {words}")).unwrap_or_default()
        );
        introduced(capabilities, "claw-mcp-bash", "Bash", instructions)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        Ok(discovered(self, CacheScope::Private))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec())
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    /// The host closes what it has opened.
    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleServer>,
    ) {
        if notification.method != CLOSED {
            return;
        }
        // One that this server cannot read may mean anything it has.
        match notification.params_as() {
            Ok(Some(closed)) => self.runner.services().closings().close(closed),
            Ok(None) | Err(_) => self.runner.services().closings().close_all(),
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // First of all: what the host closes from now on is closed to this call, too.
        let opened = self.opened_to(&context.meta)?;
        let arguments = match request.name.as_ref() {
            tool::NAME => request.arguments,
            job_tools::START => return Ok(self.start(request.arguments, opened).await),
            job_tools::OUTPUT => return Ok(self.output(request.arguments, &context.ct).await),
            job_tools::STOP => return Ok(self.stop(request.arguments).await),
            job_tools::LIST => return Ok(self.list(request.arguments)),
            job_tools::STOP_ALL => return Ok(self.stop_all(request.arguments).await),
            other => {
                let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_ref()).collect();
                let text = format!("there is no tool `{other}`, only {}", names.join(", "));
                return Err(ErrorData::invalid_params(text, None));
            }
        };
        let arguments = match tool::parse(arguments, &self.limits) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(refusal(why)),
        };
        let slot = match self.place(&context).await {
            Ok(slot) => slot,
            Err(why) => return Ok(refusal(why)),
        };
        let stop = self.closed.child_token();
        // The job has a task of its own, so that whatever happens to this request it is brought to
        // its end.
        let _stop_when_dropped = stop.clone().drop_guard();
        let progress = context
            .meta
            .get_progress_token()
            .map(|token| Progress::start(context.peer.clone(), token));
        let server = self.clone();
        let job_stop = stop.clone();
        let mut job = self.jobs.spawn(async move {
            let result = server.run(arguments, opened, progress, &job_stop).await;
            drop(slot);
            result
        });
        let result = tokio::select! {
            result = &mut job => result,
            () = context.ct.cancelled() => {
                stop.cancel();
                job.await
            }
        };
        result
            .map(Into::into)
            .map_err(|error| ErrorData::internal_error(format!("the job broke: {error}"), None))
    }
}

impl BashServer {
    fn opened_to(&self, meta: &JsonObject) -> Result<OpenedToCall, ErrorData> {
        let closings = self.runner.services().closings();
        OpenedToCall::read(meta, &self.open, closings, (&self.workspace, &self.protect))
    }

    /// A place to run in. Whoever waits for it is told that.
    async fn place(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<OwnedSemaphorePermit, String> {
        let waiting = match self.queue.enter() {
            Turn::Now(place) => return Ok(place),
            Turn::Refused(why) => return Err(why),
            Turn::Later(waiting) => waiting,
        };
        if let Some(token) = context.meta.get_progress_token() {
            let waits =
                ProgressNotificationParam::new(token, 0.0).with_message(waiting.words.clone());
            // A client that is gone is noticed by the end of the request.
            let _ = context.peer.notify_progress(waits).await;
        }
        let stopped = || "It was stopped while it waited for its turn. Nothing was run.".to_owned();
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(stopped()),
            () = context.ct.cancelled() => Err(stopped()),
            place = waiting.place() => place.ok_or_else(stopped),
        }
    }
}

fn tools(
    limits: &Limits,
    enforcement: Enforcement,
    programs: &[String],
) -> Result<Arc<[Tool]>, String> {
    let mut tools = vec![tool::tool(limits, enforcement, programs)?];
    tools.extend(job_tools::tools(limits, enforcement)?);
    Ok(tools.into())
}
