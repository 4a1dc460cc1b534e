//! The tool `run` as a model and a host see it: name, description, schemas, annotations, and the
//! words of a result. Must not know how a job is run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use claw_kit::{signals, variables};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::args::Limits;
use crate::capture::Captured;
use crate::confine::Enforcement;
use crate::description;
use crate::level::Level;
use crate::network::HostAccount;
use crate::schema;
use crate::services::Service;
use crate::shell_folder::EndedIn;
use crate::shell_variables::VariablesLeft;

pub const NAME: &str = "run";
/// Linux takes 128 KiB for one argument of a program.
pub const COMMAND_BYTES_MAX: usize = 100 * 1024;

/// What a model may say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunArguments {
    /// The command line, as you would type it into bash. Standard input is empty.
    pub command: String,
    /// Seconds after which the command is killed. Default and maximum are in the tool's
    /// description.
    #[serde(default)]
    pub timeout_s: Option<u64>,
    /// Directory to run in, inside the workspace and relative to it. Default: the workspace itself.
    #[serde(default)]
    pub cwd: Option<String>,
    /// What the command has to do; say the least that it needs. `read`: look. `write`: also change
    /// files of the workspace. `network`: also reach the network. Default: read.
    #[serde(default)]
    pub needs: Option<Level>,
    /// With `needs: network`, the hosts that it has to reach: `crates.io`, `*.crates.io`,
    /// `example.com:8443`. It then reaches these alone, through a proxy that HTTP_PROXY and
    /// HTTPS_PROXY name. Left out: all of the network.
    #[serde(default)]
    pub hosts: Option<Vec<String>>,
    /// With `needs: network`, what of the owner's services it uses, if the owner has opened it:
    /// `ssh-agent` for `ssh` and `git push` over ssh (name the host with its port, such as
    /// `github.com:22`), `docker` for Docker (DOCKER_HOST leads there).
    #[serde(default)]
    pub opens: Option<Vec<Service>>,
    /// Environment variables for this command, by name, on top of those that every command has: at
    /// most 64, 4 KiB each, 16 KiB in all.
    #[serde(default)]
    pub variables: Option<BTreeMap<String, String>>,
}

/// The structured result of a command that was started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunResult {
    /// The exit code; null if a signal ended the command.
    pub exit_code: Option<i32>,
    /// The signal that ended it, for example SIGKILL.
    pub signal: Option<String>,
    pub duration_ms: u64,
    /// Whether it was killed because its time was up.
    pub timed_out: bool,
    /// Whether `output` leaves out a part of the output.
    pub truncated: bool,
    /// Size of the whole output.
    pub output_bytes: u64,
    /// Standard output and standard error in the order in which they came; head and tail if
    /// truncated.
    pub output: String,
    /// The file with the whole output, if there is one: an absolute path, which commands can read.
    pub output_file: Option<String>,
    /// What became of the network, by host and port; null where no hosts were named. With all of
    /// the network, only what went over `ssh` is counted.
    pub network: Option<Vec<HostAccount>>,
    /// Where a next command begins that goes on where this one has left its shell: a directory
    /// relative to the workspace, `.` for the workspace itself. Null where the shell has ended
    /// where it began, and where its end was not seen.
    pub moved_to: Option<String>,
    /// What has become of the exported variables, for a next command that goes on with the shell of
    /// this one. Null where none has changed, and where the end of the shell was not seen.
    pub variables_left: Option<VariablesLeft>,
    /// For the owner: what other programs run or obey on sight and was new or replaced when the
    /// command had ended, so that it was set aside, or put back as it was. Null where there is
    /// nothing to say.
    pub set_aside: Option<String>,
    /// Whether nothing was run because `cwd` cannot be used.
    pub cwd_refused: bool,
    /// What the command was allowed: read, write or network.
    pub level: Level,
    /// Whether the operating system kept the command to its level.
    pub confined: bool,
    /// How: Landlock's ABI and seccomp, or none.
    #[serde(rename = "box")]
    pub box_level: String,
}

/// How a job ended, for the words of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    Signaled(i32),
    TimedOut {
        timeout_s: u64,
    },
    Cancelled,
    /// Killed, because it took more of the machine than it may; a note says of what.
    OverLimit,
    /// Nothing ran.
    NotStarted(String),
    /// It ran, but nobody saw how it ended.
    Lost(String),
}

pub fn tool(
    limits: &Limits,
    enforcement: Enforcement,
    programs: &[String],
) -> Result<Tool, String> {
    let description = description::tool(limits, enforcement);
    let mut input = arguments::<RunArguments>(enforcement)?;
    let schema = Arc::make_mut(&mut input);
    schema::describe(schema, "command", description::command(programs));
    if let Some(words) = description::needs(enforcement) {
        schema::describe(schema, "needs", words);
    }
    let annotations = ToolAnnotations::with_title("Run a shell command")
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true);
    Ok(Tool::new(NAME, description, input)
        .with_title("Run a shell command")
        .with_raw_output_schema(schema::output::<RunResult>())
        .with_annotations(annotations))
}

/// The arguments of a tool that runs a command. No system without network namespaces can keep it to
/// hosts, so there nobody can name any.
pub fn arguments<T: JsonSchema + 'static>(
    enforcement: Enforcement,
) -> Result<Arc<JsonObject>, String> {
    if enforcement.own_networks {
        schema::input::<T>()
    } else {
        schema::input_without::<T>("hosts")
    }
}

/// Reads what the model sent; the error tells it what to change.
pub fn parse(arguments: Option<JsonObject>, limits: &Limits) -> Result<RunArguments, String> {
    let value = serde_json::Value::Object(arguments.unwrap_or_default());
    let arguments: RunArguments = serde_json::from_value(value)
        .map_err(|error| format!("The arguments do not fit: {error}. Nothing was run."))?;
    check_command(&arguments.command)?;
    check_variables(arguments.variables.as_ref())?;
    if !matches!(arguments.timeout_s, None | Some(1..))
        || arguments.timeout_s > Some(limits.timeout_s_max)
    {
        return Err(format!(
            "timeout_s must be between 1 and {}. Nothing was run.",
            limits.timeout_s_max
        ));
    }
    Ok(arguments)
}

/// Why no program can be given this command.
pub fn check_command(command: &str) -> Result<(), String> {
    if command.trim().is_empty() {
        return Err("The command is empty. Nothing was run.".into());
    }
    if command.contains('\0') {
        return Err(
            "The command holds a NUL character, which no program can be given. Nothing was run."
                .into(),
        );
    }
    if command.len() > COMMAND_BYTES_MAX {
        return Err(format!(
            "The command is longer than {COMMAND_BYTES_MAX} bytes. Write it to a file in the \
             workspace and run that. Nothing was run."
        ));
    }
    Ok(())
}

/// Why no command can be given these variables.
pub fn check_variables(variables: Option<&BTreeMap<String, String>>) -> Result<(), String> {
    let checked = variables.map_or(Ok(()), variables::check);
    checked.map_err(|why| format!("`variables`: {why} Nothing was run."))
}

/// A nonzero exit is a result like any other: the model reads the code. An error is what kept the
/// command from ending by itself, or from starting.
pub fn result(
    ending: &Ending,
    took: Duration,
    output: Captured,
    enforcement: Enforcement,
    level: Level,
) -> CallToolResult {
    let cwd_refused = output.shell.folder == Some(EndedIn::NotThere);
    if let (Ending::NotStarted(why), false) = (ending, cwd_refused) {
        return CallToolResult::error(vec![ContentBlock::text(format!("Nothing was run: {why}."))]);
    }
    let seconds = took.as_secs_f64();
    let (exit_code, signal) = match ending {
        Ending::Exited(code) => (Some(*code), None),
        Ending::Signaled(number) => (None, Some(signal_name(*number))),
        Ending::NotStarted(_) => (None, None),
        _ => (None, Some("SIGKILL".to_owned())),
    };
    let mut text = match ending {
        Ending::Exited(code) => ended_words(Ok(*code), seconds),
        Ending::Signaled(number) => ended_words(Err(*number), seconds),
        Ending::TimedOut { timeout_s } => format!(
            "timed out: killed after {timeout_s} s, with everything that it had started; what it \
             did until then stays done. Give a larger timeout_s, or split the work"
        ),
        Ending::Cancelled => {
            format!("cancelled: killed after {seconds:.2} s; what it did until then stays done")
        }
        Ending::OverLimit => {
            format!(
                "killed after {seconds:.2} s, with everything that it had started; what it did \
                 until then stays done"
            )
        }
        Ending::Lost(why) => {
            format!(
                "{why} after {seconds:.2} s; it may have done its work or not, check before \
                 trying again"
            )
        }
        Ending::NotStarted(why) => format!("Nothing was run: {why}."),
    };
    output.notes.iter().for_each(|note| text.push_str(&format!("\n{note}")));
    if !cwd_refused {
        text.push_str("\n\n");
        text.push_str(if output.text.is_empty() { "(no output)" } else { &output.text });
    }
    let structured = RunResult {
        exit_code,
        signal,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        timed_out: matches!(ending, Ending::TimedOut { .. }),
        truncated: output.truncated,
        output_bytes: output.bytes,
        output: output.text,
        output_file: output.file,
        network: output.network,
        moved_to: output.shell.folder.as_ref().and_then(EndedIn::moved_to),
        variables_left: output.shell.variables,
        set_aside: output.set_aside,
        cwd_refused,
        level,
        confined: enforcement.holds(level),
        box_level: enforcement.label(),
    };
    let ended_by_itself = matches!(ending, Ending::Exited(_) | Ending::Signaled(_));
    let content = vec![ContentBlock::text(text)];
    let mut result = if ended_by_itself {
        CallToolResult::success(content)
    } else {
        CallToolResult::error(content)
    };
    result.structured_content = serde_json::to_value(structured).ok();
    result
}

/// A signal as a structured result has it.
pub fn signal_name(number: i32) -> String {
    signals::name(number).map_or_else(|| format!("signal {number}"), str::to_owned)
}

/// How a command ended by itself, and when. An exit code by which a shell tells of a signal is told
/// as that and no more: a program may give the same code.
pub fn ended_words(ending: Result<i32, i32>, seconds: f64) -> String {
    match ending {
        Ok(code) => match signals::told_by_shell(code.into()) {
            Some(signal) => format!(
                "exit code {code} after {seconds:.2} s, which is how a shell tells of {signal}"
            ),
            None => format!("exit code {code} after {seconds:.2} s"),
        },
        Err(number) => {
            let signal = signals::name(number).map(|name| format!(" ({name})"));
            format!("ended by signal {number}{} after {seconds:.2} s", signal.unwrap_or_default())
        }
    }
}
