//! What each tool does with a call: a command that somebody waits for, and the jobs in the
//! background. Must not know the protocol, or how a command is run.

use std::time::Duration;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::BashServer;
use crate::capture::Capture;
use crate::level::{self, Level, Scope, ScopeRequest};
use crate::obeyed::ObeyedEnd;
use crate::opened_to_call::OpenedToCall;
use crate::progress::Progress;
use crate::refusals::Refusals;
use crate::run::RunRequest;
use crate::services::Service;
use crate::shell_end::ShellEnd;
use crate::shell_folder::is_plain;
use crate::shell_variables::VariablesLeft;
use crate::shown::CommandOutput;
use crate::tool::Ending;
use crate::{job_tools, tool};

/// How long a job that has just been started is watched before its number is given back.
const FIRST_LOOK: Duration = Duration::from_millis(200);

impl BashServer {
    /// What a call may reach: what it says it needs, with what is open to it. The error tells a
    /// model what to change.
    fn scope(
        &self,
        needs: Option<Level>,
        hosts: Option<&[String]>,
        opens: Option<&[Service]>,
        opened: OpenedToCall,
    ) -> Result<Scope, String> {
        let OpenedToCall { services, folders, keep_off } = opened;
        let asked = ScopeRequest { needs, hosts, opens, opened: &services, keep_off };
        Ok(Scope::parse(asked, self.enforcement)?.with_folders(folders))
    }

    pub(super) async fn run(
        &self,
        arguments: tool::RunArguments,
        opened: OpenedToCall,
        progress: Option<Progress>,
        stop: &CancellationToken,
    ) -> CallToolResult {
        let (hosts, opens) = (arguments.hosts.as_deref(), arguments.opens.as_deref());
        let scope = match self.scope(arguments.needs, hosts, opens, opened) {
            Ok(scope) => scope,
            Err(why) => return refused(why),
        };
        let level = scope.level;
        let keeps_obeyed = scope.keeps_obeyed;
        let opens: Vec<Service> = scope.opens.iter().map(|opened| opened.service).collect();
        let refusals = self.refusals.with(&scope.folders);
        let cwd = arguments.cwd.unwrap_or_default();
        let variables = arguments.variables.unwrap_or_default();
        let began_in = Some(cwd.clone()).filter(|cwd| !matches!(cwd.as_str(), "" | "."));
        let request = RunRequest {
            command: arguments.command,
            cwd: cwd.into(),
            timeout: Some(Duration::from_secs(
                arguments.timeout_s.unwrap_or(self.limits.timeout_s),
            )),
            scope,
            variables,
        };
        let capture = Capture::new(
            self.shelf.clone(),
            self.limits.output_bytes_max,
            self.limits.file_bytes_max,
        );
        let (notes, shell, obeyed) = (Vec::new(), ShellEnd::default(), ObeyedEnd::default());
        let mut shown = CommandOutput { capture, progress, notes, network: None, shell, obeyed };
        let started = Instant::now();
        let ending = self.runner.run(request, stop, &mut shown).await;
        let took = started.elapsed();
        if let Some(progress) = shown.progress {
            progress.finish().await;
        }
        let mut output = shown.capture.finish();
        output.notes.splice(..0, shown.notes);
        // Git goes on where it could not replace a file, and may end as if it had.
        let of_git = keeps_obeyed && level::is_refused_by_git(&output.text);
        let has_failed =
            matches!(ending, Ending::Exited(1..)) || (ending == Ending::Exited(0) && of_git);
        if has_failed && self.enforcement.holds(level) {
            let said = refusal_of(&refusals, (level, keeps_obeyed), &opens, &output.text);
            output.notes.extend(said);
        }
        let is_in_part =
            shown.obeyed.has_set_aside || (keeps_obeyed && level::is_in_part(&output.text));
        let moved = shown.obeyed.moved_head.filter(|_| is_in_part);
        output.notes.extend(moved.map(|head| level::half_switched(&head)));
        output.set_aside = shown.obeyed.for_owner;
        output.network = shown.network;
        output.notes.extend(match &shown.shell.folder {
            Some(folder) => folder.sentence(),
            None => began_in
                .filter(|folder| is_plain(folder))
                .map(|folder| format!("It ran in `{folder}`.")),
        });
        let variables = shown.shell.variables.as_ref();
        output.notes.extend(variables.and_then(VariablesLeft::sentence));
        output.shell = shown.shell;
        tool::result(&ending, took, output, self.enforcement, level)
    }

    pub(super) async fn start(
        &self,
        arguments: Option<JsonObject>,
        opened: OpenedToCall,
    ) -> CallToolResponse {
        let arguments = match job_tools::parse_start(arguments) {
            Ok(arguments) => arguments,
            Err(why) => return refusal(why),
        };
        let (hosts, opens) = (arguments.hosts.as_deref(), arguments.opens.as_deref());
        let scope = match self.scope(arguments.needs, hosts, opens, opened) {
            Ok(scope) => scope,
            Err(why) => return refusal(why),
        };
        let job = match self.background.add(&arguments.command, self.closed.child_token()) {
            Ok(job) => job,
            Err(why) => return refusal(why),
        };
        let (runner, running) = (self.runner.clone(), job.clone());
        let cwd = arguments.cwd.unwrap_or_default().into();
        let variables = arguments.variables.unwrap_or_default();
        self.jobs.spawn(async move { running.run(&runner, cwd, scope, variables).await });
        // What cannot even begin, or ends at once, is told at once.
        job.wait(FIRST_LOOK).await;
        job_tools::result(job.look(true)).into()
    }

    pub(super) async fn output(
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

    pub(super) async fn stop(&self, arguments: Option<JsonObject>) -> CallToolResponse {
        let number = match job_tools::parse::<job_tools::StopArguments>(arguments) {
            Ok(arguments) => arguments.job,
            Err(why) => return refusal(why),
        };
        let Some(job) = self.background.job(number) else { return no_job(number) };
        job.end().await;
        job_tools::result(job.look(true)).into()
    }

    pub(super) async fn stop_all(&self, arguments: Option<JsonObject>) -> CallToolResponse {
        if let Err(why) = job_tools::parse::<job_tools::ListArguments>(arguments) {
            return refusal(why);
        }
        let mut running = self.background.all();
        running.retain(|job| job.look(false).ending.is_none());
        running.iter().for_each(|job| job.begin_to_end());
        for job in &running {
            job.end().await;
        }
        job_tools::list(running.iter().map(|job| job.look(false)).collect()).into()
    }

    pub(super) fn list(&self, arguments: Option<JsonObject>) -> CallToolResponse {
        if let Err(why) = job_tools::parse::<job_tools::ListArguments>(arguments) {
            return refusal(why);
        }
        job_tools::list(self.background.all().iter().map(|job| job.look(false)).collect()).into()
    }
}

/// What a command seems to have met, and what would allow it.
fn refusal_of(
    refusals: &Refusals,
    (level, keeps_obeyed): (Level, bool),
    opens: &[Service],
    output: &str,
) -> Option<String> {
    let of_home = keeps_obeyed.then(|| refusals.of_command_home(level, output)).flatten();
    let said = of_home.or_else(|| refusals.sentence(level, opens, output));
    let is_kept = keeps_obeyed && level.has_network();
    let of_obeyed = || level::refusal_of_obeyed(output).filter(|_| is_kept);
    said.or_else(|| of_obeyed().map(str::to_owned))
}

fn no_job(number: u32) -> CallToolResponse {
    refusal(format!("there is no job {number}; the tool `list` names those that there are"))
}

/// For the model: what was wrong with the request. Not a protocol error, which hosts hide from it.
pub(super) fn refusal(why: String) -> CallToolResponse {
    refused(why).into()
}

fn refused(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}
