//! Asks git what has changed in the workspace when a message comes in, through the gate, before the
//! message goes into the log. Owns for whom that is done, and the words about what could not be
//! had. Must not know how a command is kept in its box.

use std::time::Duration;

use serde_json::{Value, json};

use super::drive::Drive;
use crate::domain::{CallId, DeniedBy, Outcome, OwnServerName, ToolCall};
use crate::store::InboxRow;
use crate::turn::git_status::{COMMAND, GitStatus};

const RUN: &str = "run";

impl Drive<'_> {
    /// What a model is told of the repository that holds the workspace: whoever writes, the branch;
    /// where the owner is alone with claw, what is under way and what has changed, too. `None`:
    /// there is no repository.
    pub(super) async fn git_state(&mut self, row: &InboxRow) -> Option<String> {
        let seen = self.worker.gate.calls().git().await?;
        let branch = seen.branch();
        let Some(time) = self.settings.runner.git_time else { return Some(branch) };
        // Names of files are shown to nobody but the owner of the workspace.
        if !self.is_alone_with_owner(row) {
            return Some(branch);
        }
        let under_way = seen.repository.operation.map(|operation| {
            let operation = operation.words();
            format!("; {operation} is under way")
        });
        let status = match seen.is_reachable {
            false => Err("its repository does not lie in the workspace".to_owned()),
            true => self.git_status(row, time).await,
        };
        let status = match status {
            Ok(status) => status.words(),
            Err(why) => {
                tracing::debug!(session = %self.session, why, "git did not say what has changed");
                format!("what has changed is not told, because {why}")
            }
        };
        Some(format!("{branch}{}; {status}", under_way.unwrap_or_default()))
    }

    /// The error is a part of a sentence.
    async fn git_status(&mut self, row: &InboxRow, time: Duration) -> Result<GitStatus, String> {
        let too_long = || format!("git takes longer than {} ms", time.as_millis());
        if !self.worker.git_rests.is_over() {
            return Err(too_long());
        }
        let server = self.worker.gate.calls().own_server(OwnServerName::Bash);
        let server = server.ok_or("there is no server that runs commands")?;
        let call = ToolCall {
            id: CallId::Git { session: self.session.clone(), seq: self.log.next_seq() },
            server,
            tool: RUN.to_owned(),
            arguments: json!({"command": COMMAND, "needs": "read"}),
            origin: row.inbound.origin,
            principal: row.inbound.principal.clone(),
        };
        // As for what is recalled: what comes before this number has to be on the disk first.
        self.flush_soon();
        let called = self.call_unseen(call, self.unseen(time)).await;
        match called.outcome {
            Outcome::Ended { output } if !output.is_error => read(output.structured.as_ref()),
            // A server that still starts is there for the next message.
            Outcome::Denied { by: Some(DeniedBy::Limit { .. }), .. } => Err(too_long()),
            _ if called.was_late => {
                self.worker.git_rests.begin();
                Err(too_long())
            }
            Outcome::Denied { by: Some(DeniedBy::Stop | DeniedBy::StopSwitch), .. } => {
                Err("it was stopped".to_owned())
            }
            Outcome::Denied { by: Some(DeniedBy::Unasked { .. }), .. } => {
                Err("commands here are asked about".to_owned())
            }
            Outcome::Denied { .. } => Err("the command was denied".to_owned()),
            Outcome::Ended { .. }
            | Outcome::Unknown { .. }
            | Outcome::Parked { .. }
            | Outcome::Left => Err("the command failed".to_owned()),
        }
    }
}

/// The result of a command, as our server words it.
fn read(result: Option<&Value>) -> Result<GitStatus, String> {
    let field = |name: &str| result.and_then(|result| result.get(name));
    match field("exit_code").and_then(Value::as_i64) {
        Some(0) => {}
        Some(3) => return Err("a filter of the repository cannot be switched off".to_owned()),
        Some(127) => return Err("there is no git here".to_owned()),
        Some(code) => return Err(format!("git could not say it (exit code {code})")),
        None => return Err("git was ended".to_owned()),
    }
    let output = field("output").and_then(Value::as_str).unwrap_or_default();
    GitStatus::parse(output).ok_or_else(|| "git has answered something else".to_owned())
}
