//! What a tool proposes with its result: `_meta["claw/actions"]`, checked when it is made. All of
//! it is staged, or nothing and the model is told why. Must not know how it is shown or answered.

use claw_kit::counted::{counted, counted_with};
use serde_json::Value;

use super::Calls;
use crate::domain::canonical::canonical_json;
use crate::domain::{
    CallId, Origin, Proposal, Staged, ToolCall, ToolHints, ToolOutput, client_of, rule_words,
};
use crate::policy::Verdict;
use crate::redact;
use crate::store::PinRow;

const LABEL_CHARS_MAX: usize = 32;
const SUMMARY_CHARS_MAX: usize = 500;
const GROUP_CHARS_MAX: usize = 64;
/// As canonical JSON.
const ARGUMENTS_BYTES_MAX: usize = 16 * 1024;
const TTL_S_MIN: u64 = 10;
const TTL_S_MAX: u64 = 7 * 86_400;

impl Calls {
    /// The result of `call` with what it proposes. `raw` is a stranger's; what it proposes has
    /// passed every check that can be made now, and is judged again when it is confirmed.
    pub(super) fn propose(
        &self,
        call: &ToolCall,
        mut output: ToolOutput,
        raw: Option<Value>,
    ) -> ToolOutput {
        let Some(raw) = raw else { return output };
        let read = if output.is_error {
            Err("a result that is an error proposes nothing, so what came with it is left out"
                .to_owned())
        } else {
            read(&raw).and_then(|proposals| self.checked(call, proposals))
        };
        match read {
            Ok(proposals) => output.actions = proposals,
            Err(why) => refuse(&mut output, &why),
        }
        output
    }

    /// Leaves out what a result proposes if its turn has staged `before` actions already and would
    /// have too many with it.
    pub fn limit_staged(&self, before: usize, output: &mut ToolOutput) {
        let (max, here) = (self.limits().staged_actions_max, output.actions.len());
        if here > 0 && before + here > max {
            output.actions.clear();
            refuse(
                output,
                &format!(
                    "{} refused: this turn has staged {before}, and may stage {max} \
                     (limits.staged_actions_max)",
                    actions_are(here)
                ),
            );
        }
    }

    fn checked(&self, call: &ToolCall, proposals: Vec<Proposal>) -> Result<Vec<Proposal>, String> {
        let max = self.limits().staged_actions_max;
        if proposals.len() > max {
            return Err(format!(
                "{} refused: a turn may stage {max} (limits.staged_actions_max)",
                actions_are(proposals.len())
            ));
        }
        self.room_of_client(call, proposals.len())?;
        let pins = self.store.read(|tx| tx.pins(Some(&call.server)));
        let pins = pins.map_err(|error| {
            format!("the proposed actions are refused: the pins cannot be read ({error})")
        })?;
        for (index, proposal) in proposals.iter().enumerate() {
            let refused = |why: String| format!("proposed action {} is refused: {why}", index + 1);
            size(proposal).and_then(|()| self.allowed(call, proposal, &pins)).map_err(refused)?;
        }
        Ok(proposals)
    }

    /// A client has no turn whose end would bound what it proposes: what waits for its owner does.
    fn room_of_client(&self, call: &ToolCall, here: usize) -> Result<(), String> {
        let CallId::Client { principal, .. } = &call.id else { return Ok(()) };
        let session = client_of(principal).and_then(|client| client.staged_session());
        let Some(session) = session else { return Ok(()) };
        let open = self.store.read(|tx| tx.open_approvals(Some(&session)));
        let open = open.map_err(|error| {
            format!("the proposed actions are refused: the questions cannot be read ({error})")
        })?;
        let waits = open
            .iter()
            .filter(|row| matches!(row.question.staged, Some(Staged::Item { .. })))
            .count();
        let max = self.limits().staged_actions_max;
        if waits + here > max {
            let wait = if waits == 1 { "waits" } else { "wait" };
            return Err(format!(
                "{} refused: {waits} of this client {wait} for its owner, and {max} may \
                 (limits.staged_actions_max)",
                actions_are(here)
            ));
        }
        Ok(())
    }

    /// Whether the proposed call could be run at all, and, if it asks no question, without one.
    fn allowed(&self, call: &ToolCall, proposal: &Proposal, pins: &[PinRow]) -> Result<(), String> {
        let (server, tool) = (&call.server, &proposal.tool);
        let pin = self.catalog.pin_for(server, tool, pins)?;
        if let Some(name) = self.redactor.contains_secret(&proposal.arguments) {
            return Err(format!("its arguments hold the secret {name}"));
        }
        if redact::contains_mark(&proposal.arguments) {
            return Err("its arguments hold a `[redacted:…]` mark in place of a secret".to_owned());
        }
        let tapped = tapped(call, proposal);
        let facts = self.facts(&tapped, ToolHints::of(&pin.raw).destructive);
        let never = self
            .standing_refusal(&tapped)
            .map_err(|error| format!("the grants cannot be read ({error})"))?;
        match self.policy().judge(&facts) {
            Verdict::Deny { rule, why, .. } => Err(format!("{why} ({})", rule_words(&rule))),
            _ if let Some((_, never)) = never => {
                Err(format!("{} ({})", never.why, rule_words(&never.rule)))
            }
            Verdict::Ask { rule, why } if proposal.summary.is_none() => Err(format!(
                "without a `summary` it is a button that asks no question, and those are only for \
                 tools that run without one: {why} ({})",
                rule_words(&rule)
            )),
            Verdict::Ask { .. } | Verdict::Allow { .. } => Ok(()),
        }
    }

    /// The words of a proposal go where a tool's text goes.
    pub(super) fn redact_words(&self, proposal: &mut Proposal) {
        let Proposal { summary, label, cancel_label, group, .. } = proposal;
        for words in [summary, label, cancel_label, group].into_iter().flatten() {
            *words = self.redactor.redact(words).into_owned();
        }
    }
}

/// The call that a tap would make, for a first judgement. It has no id of its own yet.
fn tapped(call: &ToolCall, proposal: &Proposal) -> ToolCall {
    ToolCall {
        id: call.id.clone(),
        server: call.server.clone(),
        tool: proposal.tool.clone(),
        arguments: proposal.arguments.clone(),
        origin: Origin::Button,
        principal: call.principal.clone(),
    }
}

/// The beginning of a refusal.
fn actions_are(count: usize) -> String {
    counted_with(count, "proposed action", "is", "are")
}

fn refuse(output: &mut ToolOutput, why: &str) {
    let why = why.trim_end_matches('.');
    output.is_error = true;
    output.text.push_str(&format!(
        "\n\n[claw: the call has run, but {why}. Nothing of this result was staged.]"
    ));
}

fn read(raw: &Value) -> Result<Vec<Proposal>, String> {
    let Value::Array(entries) = raw else {
        return Err(
            "what it proposes is refused: `_meta[\"claw/actions\"]` is not a list".to_owned()
        );
    };
    let entry = |(index, entry): (usize, &Value)| {
        serde_json::from_value::<Proposal>(entry.clone())
            .map_err(|error| format!("proposed action {} is refused: {error}", index + 1))
    };
    entries.iter().enumerate().map(entry).collect()
}

/// Whether everything has its size.
fn size(proposal: &Proposal) -> Result<(), String> {
    if !proposal.arguments.is_object() {
        return Err("its `arguments` are not an object".to_owned());
    }
    let bytes = canonical_json(&proposal.arguments).len();
    if bytes > ARGUMENTS_BYTES_MAX {
        return Err(format!(
            "its `arguments` have {bytes} bytes, and may have {ARGUMENTS_BYTES_MAX}"
        ));
    }
    for (name, words, max) in [
        ("summary", &proposal.summary, SUMMARY_CHARS_MAX),
        ("label", &proposal.label, LABEL_CHARS_MAX),
        ("cancel_label", &proposal.cancel_label, LABEL_CHARS_MAX),
        ("group", &proposal.group, GROUP_CHARS_MAX),
    ] {
        let Some(words) = words else { continue };
        let chars = words.chars().count();
        if words.trim().is_empty() || chars > max {
            return Err(format!(
                "its `{name}` has {}, and must have 1 to {max} and not only spaces",
                counted(chars, "character")
            ));
        }
    }
    match proposal.ttl_s {
        Some(ttl_s) if !(TTL_S_MIN..=TTL_S_MAX).contains(&ttl_s) => Err(format!(
            "its `ttl_s` is {ttl_s}, and must be from {TTL_S_MIN} to {TTL_S_MAX} seconds"
        )),
        _ => Ok(()),
    }
}
