//! The MCP face, for both eras of the protocol: what the server says about itself, the list of its
//! tools, and calls. Must not know processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    CustomNotification, DiscoverResult, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::args::{Limits, Settings};
use crate::background::Background;
use crate::capture::Capture;
use crate::cgroup::Folder;
use crate::confine::Enforcement;
use crate::eof::EofSignal;
use crate::error::StartError;
use crate::kept::Shelf;
use crate::level::{self, Asked, Scope};
use crate::opened_to_call::OpenedToCall;
use crate::progress::Progress;
use crate::queue::{Queue, Turn};
use crate::refusals::Refusals;
use crate::run::{Apart, Machine, RunRequest, Runner};
use crate::services::{CLOSED, Service};
use crate::shown::Shown;
use crate::tool::Ending;
use crate::{job_tools, tool};

/// Nothing about this server changes while it runs.
const CACHE_TTL_MS: u64 = 60 * 60 * 1000;
/// How long the end of the server waits for the ends of its jobs, which take milliseconds.
const LAST_JOBS_PATIENCE: Duration = Duration::from_secs(7);

/// How long a job that has just been started is watched before its number is given back.
const FIRST_LOOK: Duration = Duration::from_millis(200);

#[derive(Clone)]
struct BashServer {
    runner: Arc<Runner>,
    workspace: PathBuf,
    limits: Limits,
    enforcement: Enforcement,
    /// Open to every call that names it.
    open: Vec<Service>,
    tools: Arc<[Tool]>,
    refusals: Arc<Refusals>,
    /// What the owner has opened, for a model.
    opened: Option<String>,
    /// What can never be opened.
    protect: Vec<PathBuf>,
    background: Arc<Background>,
    shelf: Arc<Shelf>,
    queue: Queue,
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
    match server.serve((EofSignal::new(stdin, closed.clone()), stdout)).await {
        Ok(running) => {
            tokio::spawn(tell_of_jobs(running.peer().clone(), jobs));
            let _ = running.waiting().await;
            Ok(())
        }
        // Nobody said anything: that is how a host looks whether a program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StartError::Handshake(error.to_string())),
    }
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
        let name =
            Implementation::new("claw-mcp-bash", env!("CARGO_PKG_VERSION")).with_title("Bash");
        let told = self.enforcement.held().told();
        let capabilities =
            ServerCapabilities::builder().enable_experimental_with(told).enable_tools().build();
        let mut info = ServerConfig::new(capabilities).with_instructions(format!(
            "Runs shell commands in {}. {}.{}",
            self.workspace.display(),
            self.enforcement,
            self.opened.as_ref().map(|words| format!(" {words}")).unwrap_or_default()
        ));
        info.server_info = name;
        info
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
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
        Ok(ListToolsResult::with_all_items(self.tools.to_vec())
            .with_ttl_ms(CACHE_TTL_MS)
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

    async fn run(
        &self,
        arguments: tool::RunArguments,
        opened: OpenedToCall,
        progress: Option<Progress>,
        stop: &CancellationToken,
    ) -> CallToolResult {
        let scope = match Scope::parse(
            Asked {
                needs: arguments.needs,
                hosts: arguments.hosts.as_deref(),
                opens: arguments.opens.as_deref(),
                opened: &opened.services,
                keep_off: opened.keep_off,
            },
            self.enforcement,
        ) {
            Ok(scope) => scope.with_folders(opened.folders),
            Err(why) => return refused(why),
        };
        let level = scope.level;
        let is_kept = scope.keeps_obeyed && level.has_network();
        let opens: Vec<Service> = scope.opens.iter().map(|opened| opened.service).collect();
        let refusals = self.refusals.with(&scope.folders);
        let cwd = arguments.cwd.unwrap_or_default();
        let began_in = Some(cwd.clone()).filter(|cwd| !matches!(cwd.as_str(), "" | "."));
        let request = RunRequest {
            command: arguments.command,
            cwd: cwd.into(),
            timeout: Some(Duration::from_secs(
                arguments.timeout_s.unwrap_or(self.limits.timeout_s),
            )),
            scope,
        };
        let capture = Capture::new(
            self.shelf.clone(),
            self.limits.output_bytes_max,
            self.limits.file_bytes_max,
        );
        let mut shown =
            Shown { capture, progress, notes: Vec::new(), network: None, left_in: None };
        let started = Instant::now();
        let ending = self.runner.run(request, stop, &mut shown).await;
        let took = started.elapsed();
        if let Some(progress) = shown.progress {
            progress.finish().await;
        }
        let mut output = shown.capture.finish();
        output.notes.splice(..0, shown.notes);
        if matches!(ending, Ending::Exited(1..)) && self.enforcement.holds(level) {
            let of_obeyed = || level::refusal_of_obeyed(&output.text).filter(|_| is_kept);
            let said = refusals.sentence(level, &opens, &output.text);
            output.notes.extend(said.or_else(|| of_obeyed().map(str::to_owned)));
        }
        output.network = shown.network;
        output.notes.extend(match &shown.left_in {
            Some(left_in) => left_in.sentence(),
            None => began_in.map(|folder| format!("It ran in `{folder}`.")),
        });
        output.left_in = shown.left_in;
        tool::result(&ending, took, output, self.enforcement, level)
    }

    async fn start(&self, arguments: Option<JsonObject>, opened: OpenedToCall) -> CallToolResponse {
        let arguments = match job_tools::parse_start(arguments) {
            Ok(arguments) => arguments,
            Err(why) => return refusal(why),
        };
        let scope = match Scope::parse(
            Asked {
                needs: arguments.needs,
                hosts: arguments.hosts.as_deref(),
                opens: arguments.opens.as_deref(),
                opened: &opened.services,
                keep_off: opened.keep_off,
            },
            self.enforcement,
        ) {
            Ok(scope) => scope.with_folders(opened.folders),
            Err(why) => return refusal(why),
        };
        let job = match self.background.add(&arguments.command, self.closed.child_token()) {
            Ok(job) => job,
            Err(why) => return refusal(why),
        };
        let (runner, running) = (self.runner.clone(), job.clone());
        let cwd = arguments.cwd.unwrap_or_default().into();
        self.jobs.spawn(async move { running.run(&runner, cwd, scope).await });
        // What cannot even begin, or ends at once, is told at once.
        job.wait(FIRST_LOOK).await;
        job_tools::result(job.look(true)).into()
    }

    async fn output(
        &self,
        arguments: Option<JsonObject>,
        cancelled: &CancellationToken,
    ) -> CallToolResponse {
        let (job, wait_s) = match job_tools::parse_output(arguments) {
            Ok(arguments) => (arguments.job, arguments.wait_s),
            Err(why) => return refusal(why),
        };
        let Some(job) = self.background.job(job) else { return no_job(job) };
        tokio::select! {
            () = job.wait(Duration::from_secs(wait_s)) => {}
            () = cancelled.cancelled() => {}
        }
        job_tools::result(job.look(true)).into()
    }

    async fn stop(&self, arguments: Option<JsonObject>) -> CallToolResponse {
        let number = match job_tools::parse::<job_tools::StopArguments>(arguments) {
            Ok(arguments) => arguments.job,
            Err(why) => return refusal(why),
        };
        let Some(job) = self.background.job(number) else { return no_job(number) };
        job.end().await;
        job_tools::result(job.look(true)).into()
    }

    fn list(&self, arguments: Option<JsonObject>) -> CallToolResponse {
        if let Err(why) = job_tools::parse::<job_tools::ListArguments>(arguments) {
            return refusal(why);
        }
        job_tools::list(self.background.all().iter().map(|job| job.look(false)).collect()).into()
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

fn no_job(number: u32) -> CallToolResponse {
    refusal(format!("there is no job {number}; the tool `list` names those that there are"))
}

/// For the model: what was wrong with the request. Not a protocol error, which hosts hide from it.
fn refusal(why: String) -> CallToolResponse {
    refused(why).into()
}

fn refused(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}
