//! A call as it is frozen: the row that is shown, approved and run, and the digest over all of it.
//! Must not know verdicts.

use serde_json::json;

use super::Calls;
use crate::catalog::Tool;
use crate::domain::canonical::{canonical_json, digest};
use crate::domain::{Approvers, CallState, Effect, ToolCall};
use crate::store::{CallRow, StoreError, now_ms};

/// What freezing adds to a call.
pub(super) struct Freeze<'a> {
    pub(super) state: CallState,
    pub(super) pin: &'a str,
    pub(super) env_names: &'a str,
    pub(super) rule: &'a str,
    /// The digest of what the question shows beside the arguments.
    pub(super) shown: &'a str,
}

impl Calls {
    pub(super) fn freeze(&self, call: &ToolCall, freeze: &Freeze<'_>) -> CallRow {
        let mut row = CallRow {
            id: call.id.clone(),
            server: call.server.clone(),
            tool: call.tool.clone(),
            arguments: canonical_json(&call.arguments),
            origin: call.origin,
            principal: call.principal.clone(),
            state: freeze.state,
            pin: freeze.pin.to_owned(),
            cwd: self.surroundings.workspace.display().to_string(),
            env_names: freeze.env_names.to_owned(),
            policy_version: self.policy().version(),
            shown: freeze.shown.to_owned(),
            digest: String::new(),
            rule: freeze.rule.to_owned(),
            outcome: None,
            received_ms: now_ms(),
            started_ms: None,
            ended_ms: None,
        };
        row.digest = digest_of(&row, &self.surroundings.approvers);
        row
    }

    /// Whether this call by this tool, under the rules in force, is what was frozen.
    pub(super) fn is_still_frozen(&self, row: &CallRow, call: &ToolCall, tool: &Tool) -> bool {
        row.policy_version == self.policy().version()
            && row.pin == tool.pin
            && row.server == call.server
            && row.tool == call.tool
            && row.arguments == canonical_json(&call.arguments)
            && self.is_intact(row)
    }

    /// Why a staged action is not what was frozen any more.
    pub(super) fn what_changed(&self, row: &CallRow, tool: &Tool) -> String {
        if row.policy_version != self.policy().version() {
            "the rules of policy.toml have changed since it was staged".to_owned()
        } else if row.pin != tool.pin {
            format!("the tool `{}/{}` is not what it was when it was staged", row.server, row.tool)
        } else {
            "who may answer, or the stored call, is not what it was when it was staged".to_owned()
        }
    }
}

/// Whether a row is what was frozen, for these approvers. One that was frozen before ids said who
/// made the call has its digest over the id as it was written then.
pub(super) fn is_intact(row: &CallRow, approvers: &Approvers) -> bool {
    let earlier = || row.id.earlier_text();
    row.digest == digest_of(row, approvers)
        || earlier().is_some_and(|id| row.digest == digest_under(&id, row, approvers))
}

/// What of a question is covered by its call's digest, beside the arguments.
pub(super) fn shown_digest(effect: &Effect) -> Result<String, StoreError> {
    Ok(digest(&serde_json::to_value(effect)?))
}

/// The digest over everything that a person approves: what, where, by which tool, under which
/// rules, what was said of it, and who may say so.
pub(crate) fn digest_of(row: &CallRow, approvers: &Approvers) -> String {
    digest_under(&row.id.to_string(), row, approvers)
}

pub(crate) fn digest_under(id: &str, row: &CallRow, approvers: &Approvers) -> String {
    let mut frozen = json!({
        "call": id,
        "server": row.server,
        "tool": row.tool,
        "arguments": row.arguments,
        "origin": row.origin,
        "principal": row.principal,
        "pin": row.pin,
        "cwd": row.cwd,
        "env_names": row.env_names,
        "policy_version": row.policy_version,
        "approvers": approvers.to_string(),
    });
    // A call that shows nothing else has the digest that it always had.
    if !row.shown.is_empty() {
        frozen["shown"] = row.shown.clone().into();
    }
    digest(&frozen)
}
