//! The tools for jobs in the background as a model and a host see them: names, descriptions,
//! schemas, and the words of a result. Must not know how a job is run or kept.

use std::collections::BTreeMap;

use claw_kit::counted::counted;
use rmcp::model::{
    CallToolResult, ContentBlock, CustomNotification, JsonObject, ServerNotification, Tool,
    ToolAnnotations,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::Limits;
use crate::background::Look;
use crate::confine::Enforcement;
use crate::kept;
use crate::level::Level;
use crate::network::HostAccount;
use crate::schema;
use crate::services::Service;
use crate::tool::{Ending, arguments, check_command, check_variables, ended_words, signal_name};

pub const START: &str = "start";
pub const OUTPUT: &str = "output";
pub const STOP: &str = "stop";
pub const LIST: &str = "list";
/// For hosts alone: an owner's own word ends jobs.
pub const STOP_ALL: &str = "stop_all";

/// Tells the client how many jobs run. A client that does not know it ignores it (JSON-RPC 2.0,
/// section 4.1).
const RUNNING: &str = "notifications/claw/background_jobs";

/// How long `output` may wait, in seconds.
const WAIT_S_MAX: u64 = 60;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartArguments {
    /// The command line, as you would type it into bash. Standard input is empty.
    pub command: String,
    /// Directory to run in, inside the workspace and relative to it. Default: the workspace itself.
    #[serde(default)]
    pub cwd: Option<String>,
    /// What the command has to do, as in `run`. Default: read.
    #[serde(default)]
    pub needs: Option<Level>,
    /// With `needs: network`, the hosts that it has to reach, as in `run`.
    #[serde(default)]
    pub hosts: Option<Vec<String>>,
    /// As for `run`.
    #[serde(default)]
    pub opens: Option<Vec<Service>>,
    /// As for `run`.
    #[serde(default)]
    pub variables: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputArguments {
    /// The number of the job.
    pub job: u32,
    /// Seconds to wait for something new, or for the end; 0 to 60, default 0.
    #[serde(default)]
    pub wait_s: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopArguments {
    /// The number of the job.
    pub job: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArguments {}

/// How a job is doing.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct JobResult {
    pub job: u32,
    pub command: String,
    pub running: bool,
    /// The exit code; null while it runs, and if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, for example SIGKILL.
    pub signal: Option<String>,
    pub duration_ms: u64,
    /// What it has written since the last look: standard output and standard error together.
    pub output: String,
    /// Bytes since the last look that are not in `output`, because there were too many.
    pub left_out_bytes: u64,
    /// Size of everything that it has written.
    pub output_bytes: u64,
    /// The file with the whole output, if there is one: an absolute path, which commands can read.
    pub output_file: Option<String>,
    /// What became of the network, by host and port, once it has ended; null before, and where no
    /// hosts were named.
    pub network: Option<Vec<HostAccount>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The jobs, the oldest first; without their output.
    pub jobs: Vec<JobResult>,
}

pub fn tools(limits: &Limits, enforcement: Enforcement) -> Result<Vec<Tool>, String> {
    let start = format!(
        "Start a shell command (bash) in the background of the workspace, for example a server, a watcher or a long build, and \
         return at once with the number of the job. It is confined like `run`. It lives until it ends, until `stop`, or until \
         claw ends: it does not survive a restart. At most {} run at the same time; all conversations of this claw share them.",
        limits.background_max
    );
    let output = "What a background job has written since the last look, whether it still runs, and how it ended. Can wait for \
                  something new.";
    let changes = |title: &str| {
        ToolAnnotations::with_title(title)
            .read_only(false)
            .destructive(true)
            .idempotent(false)
            .open_world(true)
    };
    let reads = |title: &str| ToolAnnotations::with_title(title).read_only(true).open_world(false);
    let tool =
        |name: &'static str, text: String, input, annotations: ToolAnnotations, title: &str| {
            Tool::new(name, text, input).with_title(title).with_annotations(annotations)
        };
    let job = || schema::output::<JobResult>();
    Ok(vec![
        tool(START, start, arguments::<StartArguments>(enforcement)?, changes("Start a job"), "Start a job")
            .with_raw_output_schema(job()),
        tool(OUTPUT, output.to_owned(), schema::input::<OutputArguments>()?, reads("Look at a job"), "Look at a job")
            .with_raw_output_schema(job()),
        tool(
            STOP,
            "Kill a background job with everything that it started, and return the rest of its output.".to_owned(),
            schema::input::<StopArguments>()?,
            changes("Stop a job"),
            "Stop a job",
        )
        .with_raw_output_schema(job()),
        tool(
            LIST,
            "The background jobs of this server: running ones, and the last that have ended.".to_owned(),
            schema::input::<ListArguments>()?,
            reads("List the jobs"),
            "List the jobs",
        )
        .with_raw_output_schema(schema::output::<ListResult>()),
        tool(
            STOP_ALL,
            "Kill all background jobs that run, with everything that they started. For hosts.".to_owned(),
            schema::input::<ListArguments>()?,
            changes("Stop all jobs"),
            "Stop all jobs",
        )
        .with_raw_output_schema(schema::output::<ListResult>())
        .with_meta(for_hosts().into()),
    ])
}

/// MCP Apps: no model is offered it.
fn for_hosts() -> JsonObject {
    JsonObject::from_iter([("ui".to_owned(), json!({"visibility": ["app"]}))])
}

pub fn running(jobs: usize) -> ServerNotification {
    let params = json!({ "running": jobs });
    ServerNotification::CustomNotification(CustomNotification::new(RUNNING, Some(params)))
}

/// Reads what the model sent; the error tells it what to change.
pub fn parse<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, String> {
    let value = serde_json::Value::Object(arguments.unwrap_or_default());
    serde_json::from_value(value).map_err(|error| format!("The arguments do not fit: {error}."))
}

pub fn parse_start(arguments: Option<JsonObject>) -> Result<StartArguments, String> {
    let arguments: StartArguments = parse(arguments)?;
    check_command(&arguments.command)?;
    check_variables(arguments.variables.as_ref())?;
    Ok(arguments)
}

pub fn parse_output(arguments: Option<JsonObject>) -> Result<OutputArguments, String> {
    let arguments: OutputArguments = parse(arguments)?;
    if arguments.wait_s > WAIT_S_MAX {
        return Err(format!("wait_s must be between 0 and {WAIT_S_MAX}."));
    }
    Ok(arguments)
}

/// A job that has ended is a result like any other; an error is one that was never started.
pub fn result(look: Look) -> CallToolResult {
    if let Some(Ending::NotStarted(why)) = &look.ending {
        return CallToolResult::error(vec![ContentBlock::text(format!("Nothing was run: {why}."))]);
    }
    let mut text = state(&look);
    for note in &look.notes {
        text.push('\n');
        text.push_str(note);
    }
    if look.left_out > 0 {
        let place = kept::place(look.file.as_deref());
        let bytes = counted(look.left_out, "byte");
        text.push_str(&format!("\n[... {bytes} left out here; {place} ...]"));
    }
    text.push_str("\n\n");
    text.push_str(if look.new.is_empty() { "(no new output)" } else { &look.new });
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = serde_json::to_value(facts(look)).ok();
    result
}

pub fn list(looks: Vec<Look>) -> CallToolResult {
    let lines: Vec<String> =
        looks.iter().map(|look| format!("{}\n  {}", state(look), look.command)).collect();
    let text = if lines.is_empty() { "There are no jobs.".to_owned() } else { lines.join("\n") };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    let jobs = looks.into_iter().map(facts).collect();
    result.structured_content = serde_json::to_value(ListResult { jobs }).ok();
    result
}

fn state(look: &Look) -> String {
    let (job, seconds) = (look.number, look.ran.as_secs_f64());
    match &look.ending {
        None => format!(
            "job {job}: running for {seconds:.2} s, {} of output",
            counted(look.bytes, "byte")
        ),
        Some(Ending::Exited(code)) => format!("job {job}: {}", ended_words(Ok(*code), seconds)),
        Some(Ending::Signaled(number)) => {
            format!("job {job}: {}", ended_words(Err(*number), seconds))
        }
        Some(Ending::Cancelled | Ending::TimedOut { .. }) => {
            format!("job {job}: stopped after {seconds:.2} s")
        }
        Some(Ending::OverLimit) => format!("job {job}: killed after {seconds:.2} s"),
        Some(Ending::NotStarted(why) | Ending::Lost(why)) => {
            format!("job {job}: {why} after {seconds:.2} s")
        }
    }
}

fn facts(look: Look) -> JobResult {
    let (exit_code, signal) = match &look.ending {
        Some(Ending::Exited(code)) => (Some(*code), None),
        Some(Ending::Signaled(number)) => (None, Some(signal_name(*number))),
        Some(_) => (None, Some("SIGKILL".to_owned())),
        None => (None, None),
    };
    JobResult {
        job: look.number,
        command: look.command,
        running: look.ending.is_none(),
        exit_code,
        signal,
        duration_ms: u64::try_from(look.ran.as_millis()).unwrap_or(u64::MAX),
        output: look.new,
        left_out_bytes: look.left_out,
        output_bytes: look.bytes,
        output_file: look.file,
        network: look.network,
    }
}
