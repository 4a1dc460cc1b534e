//! The MCP face, for both eras of the protocol: what the server says about itself, the list with its one tool, and calls.
//! Must not know processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::args::{Limits, Settings};
use crate::capture::Capture;
use crate::confine::BoxLevel;
use crate::environment::Environment;
use crate::eof::EofSignal;
use crate::error::StartError;
use crate::progress::Progress;
use crate::run::{Runner, Wish};
use crate::tool;

/// Nothing about this server changes while it runs.
const CACHE_TTL_MS: u64 = 60 * 60 * 1000;
/// How long the end of the server waits for the ends of its jobs, which take milliseconds.
const LAST_JOBS_PATIENCE: Duration = Duration::from_secs(7);

#[derive(Clone)]
struct BashServer {
    runner: Arc<Runner>,
    workspace: PathBuf,
    limits: Limits,
    level: BoxLevel,
    tool: Tool,
    slots: Arc<Semaphore>,
    jobs: TaskTracker,
    /// Cancelled when stdin closes.
    closed: CancellationToken,
}

/// Serves until stdin closes. When it returns, no job is alive.
pub async fn serve(settings: Settings, environment: Environment, level: BoxLevel) -> Result<(), StartError> {
    let closed = CancellationToken::new();
    let jobs = TaskTracker::new();
    let limits = settings.limits;
    let server = BashServer {
        runner: Arc::new(Runner::new(settings.workspace.clone(), environment)?),
        workspace: settings.workspace,
        limits,
        level,
        tool: tool::tool(&limits, level).map_err(StartError::Opening)?,
        slots: Arc::new(Semaphore::new(limits.jobs_max)),
        jobs: jobs.clone(),
        closed: closed.clone(),
    };
    let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
    let served = match server.serve((EofSignal::new(stdin, closed.clone()), stdout)).await {
        Ok(running) => {
            let _ = running.waiting().await;
            Ok(())
        }
        // Nobody said anything: that is how a host looks whether a program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StartError::Opening(error.to_string())),
    };
    closed.cancel();
    jobs.close();
    let _ = timeout(LAST_JOBS_PATIENCE, jobs.wait()).await;
    served
}

impl ServerHandler for BashServer {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("claw-mcp-bash", env!("CARGO_PKG_VERSION")).with_title("Bash");
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_instructions(format!("Runs shell commands in {}. {}.", self.workspace.display(), self.level));
        info.server_info = name;
        info
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(CACHE_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()])
            .with_ttl_ms(CACHE_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != tool::NAME {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`, only `run`", request.name), None));
        }
        let arguments = match tool::parse(request.arguments, &self.limits) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(refusal(why)),
        };
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            return Ok(refusal(format!(
                "{} commands are running already; wait for one to end. Nothing was run.",
                self.limits.jobs_max
            )));
        };
        let stop = self.closed.child_token();
        // The job has a task of its own, so that whatever happens to this request it is brought to its end.
        let _stop_when_dropped = stop.clone().drop_guard();
        let progress = context.meta.get_progress_token().map(|token| Progress::start(context.peer.clone(), token));
        let server = self.clone();
        let job_stop = stop.clone();
        let mut job = self.jobs.spawn(async move {
            let result = server.run(arguments, progress, &job_stop).await;
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
        result.map(Into::into).map_err(|error| ErrorData::internal_error(format!("the job broke: {error}"), None))
    }
}

impl BashServer {
    async fn run(
        &self,
        arguments: tool::RunArguments,
        progress: Option<Progress>,
        stop: &CancellationToken,
    ) -> CallToolResult {
        let wish = Wish {
            command: arguments.command,
            cwd: arguments.cwd.unwrap_or_default().into(),
            timeout: Duration::from_secs(arguments.timeout_s.unwrap_or(self.limits.timeout_s)),
        };
        let mut capture =
            Capture::new(self.workspace.clone(), self.limits.output_bytes_max, self.limits.file_bytes_max);
        let started = Instant::now();
        let ending = self.runner.run(wish, stop, progress.as_ref(), &mut capture).await;
        let took = started.elapsed();
        if let Some(progress) = progress {
            progress.finish().await;
        }
        tool::result(&ending, took, capture.finish(), self.level)
    }
}

/// For the model: what was wrong with the wish. Not a protocol error, which hosts hide from it.
fn refusal(why: String) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(why)]).into()
}
