//! The check of a heartbeat: one call through the gate that only looks, before any model is asked.
//! Owns what of its result is new. Must not know what becomes of that.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Heartbeats;
use crate::config::{Heartbeat, HeartbeatCheck};
use crate::domain::canonical::{canonical_json, sha256_hex};
use crate::domain::{
    CallId, DeniedBy, Origin, Outcome, OwnServerName, ToolCall, ToolOutput, heartbeat_job,
    job_principal, rule_words,
};
use crate::gate::CallContext;
use crate::store::StoreError;

const RUN: &str = "run";
/// The longest that a check may take.
const TIME: Duration = Duration::from_secs(60);
/// Of a reason, in characters.
const WHY_CHARS_MAX: usize = 200;

/// What came of it.
#[derive(Debug)]
pub(super) enum Checked {
    /// The same as the last time, or nothing at all.
    Nothing,
    New {
        text: String,
        digest: String,
    },
    /// Half a sentence.
    Fault(String),
    /// Somebody has stopped everything.
    Stopped,
}

impl Heartbeats {
    /// `last` is the digest of what it gave before.
    pub(super) async fn check(
        &self,
        heartbeat: &Heartbeat,
        check: &HeartbeatCheck,
        last: Option<&str>,
    ) -> Checked {
        let call = match self.call(heartbeat, check) {
            Ok(Some(call)) => call,
            Ok(None) => {
                let why = "its check is a command, and `mcp.json` has no bash server of claw's own";
                return Checked::Fault(why.to_owned());
            }
            Err(error) => return Checked::Fault(error.to_string()),
        };
        let unseen = CallContext::unseen(CancellationToken::new(), TIME);
        // Where the heartbeat tells what it finds, others may read it.
        let context = CallContext { heard_by_others: true, ..unseen };
        let why = match self.0.gate.call(call, context).await {
            Outcome::Ended { output } => match found(check, &output) {
                Ok(text) => return new(text, last),
                Err(why) => why,
            },
            Outcome::Denied { by: Some(DeniedBy::StopSwitch | DeniedBy::Stop), .. } => {
                return Checked::Stopped;
            }
            Outcome::Denied { by: Some(DeniedBy::Unasked { rule }), .. } => format!(
                "{} wants a question for its check, and a check asks none; let it name a tool that \
                 only looks",
                rule_words(&rule)
            ),
            other => beginning(&other.into_reason()),
        };
        Checked::Fault(why)
    }

    /// The owner has written this call into a file that no tool can write, so it is the
    /// owner's own, and may do what is done for the owner without a question. `None`:
    /// there is no such server.
    fn call(
        &self,
        heartbeat: &Heartbeat,
        check: &HeartbeatCheck,
    ) -> Result<Option<ToolCall>, StoreError> {
        let (server, tool, arguments) = match check {
            HeartbeatCheck::Tool { server, tool, arguments } => {
                (server.clone(), tool.clone(), Value::Object(arguments.clone()))
            }
            HeartbeatCheck::Command(command) => {
                let Some(server) = self.0.gate.calls().own_server(OwnServerName::Bash) else {
                    return Ok(None);
                };
                (server, RUN.to_owned(), json!({"command": command, "needs": "read"}))
            }
        };
        Ok(Some(ToolCall {
            id: self.0.gate.calls().free_id(|number| CallId::Heartbeat { number })?,
            server,
            tool,
            arguments,
            origin: Origin::Owner,
            principal: job_principal(&heartbeat_job(&heartbeat.name), heartbeat.revision),
        }))
    }
}

fn new(text: String, last: Option<&str>) -> Checked {
    if text.trim().is_empty() {
        return Checked::Nothing;
    }
    let digest = sha256_hex(text.trim());
    if last == Some(digest.as_str()) { Checked::Nothing } else { Checked::New { text, digest } }
}

/// What it has found; empty is nothing. An error is half a sentence.
fn found(check: &HeartbeatCheck, output: &ToolOutput) -> Result<String, String> {
    if output.is_error {
        return Err(format!("its check failed: {}", beginning(&output.text)));
    }
    match (check, &output.structured) {
        (HeartbeatCheck::Command(_), Some(Value::Object(said))) => of_command(said),
        (_, structured) if output.text.trim().is_empty() => {
            Ok(structured.as_ref().map(canonical_json).unwrap_or_default())
        }
        _ => Ok(output.text.clone()),
    }
}

/// The words around the output hold how long the command took, which is always new. A command that
/// fails without a word has found nothing, as `grep` and `test` say it.
fn of_command(said: &Map<String, Value>) -> Result<String, String> {
    let output = said.get("output").and_then(Value::as_str).unwrap_or_default();
    match said.get("exit_code").and_then(Value::as_i64) {
        Some(0) => Ok(output.to_owned()),
        Some(_) if output.trim().is_empty() => Ok(String::new()),
        Some(code) => Err(format!("its check ended with exit code {code}: {}", beginning(output))),
        None => Err("its check was ended by a signal, or took too long".to_owned()),
    }
}

fn beginning(text: &str) -> String {
    let line =
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given");
    line.trim_end_matches('.').chars().take(WHY_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_finds_what_it_says_and_not_how_long_it_took() {
        let check = HeartbeatCheck::Command("x".into());
        let output = |code: Value, output: &str, took: u64| ToolOutput {
            text: format!("exit code {code} after {took} s\n{output}"),
            structured: Some(json!({"exit_code": code, "output": output, "duration_ms": took})),
            ..ToolOutput::default()
        };
        let found = |code: Value, text: &str, took| found(&check, &output(code, text, took));
        assert_eq!(found(json!(0), "2 mails\n", 1), found(json!(0), "2 mails\n", 2));
        assert_eq!(found(json!(0), "2 mails\n", 1), Ok("2 mails\n".to_owned()));
        assert_eq!(found(json!(1), " \n", 1), Ok(String::new()));
        assert_eq!(
            found(json!(2), "\ngrep: no such file.\n", 1),
            Err("its check ended with exit code 2: grep: no such file".to_owned())
        );
        assert!(found(json!(null), "", 1).is_err());
    }

    #[test]
    fn only_another_result_is_new() {
        assert!(matches!(new(" \n".into(), None), Checked::Nothing));
        let Checked::New { digest, .. } = new("a".into(), None) else { panic!() };
        assert!(matches!(new("a\n".into(), Some(&digest)), Checked::Nothing));
        assert!(matches!(new("b".into(), Some(&digest)), Checked::New { .. }));
    }
}
