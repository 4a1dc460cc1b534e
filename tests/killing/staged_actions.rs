//! Whether what servers staged ran at most once, after a yes and never without one, and whether
//! nothing that was proposed got lost. Must not know who said yes, or by which door.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::effects::proposed_by;
use super::findings::Findings;
use super::log::Use;
use super::look::{Approval, Look};
use super::remembered;

/// A staged action, with what the log says of it.
pub struct Action {
    pub call: String,
    /// Of the effect.
    pub id: String,
    /// The call of the question about all of its list.
    list: String,
    /// `None` in one of them: it expired.
    answers: Vec<Value>,
    outcomes: Vec<Value>,
}

impl Action {
    /// What came of it, if anything has.
    pub fn outcome(&self) -> Option<&Value> {
        self.outcomes.first()
    }

    /// It may or may not have run.
    pub fn is_unknown(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome["kind"] == "unknown")
    }
}

/// Everything that was staged. `logs` are all events of all sessions.
pub fn actions<'e>(
    look: &Look,
    logs: impl Iterator<Item = &'e (i64, Value)> + Clone,
) -> rusqlite::Result<Vec<Action>> {
    let of = |kind: &str, call: &str, field: &str| -> Vec<Value> {
        let events = logs.clone().map(|(_, event)| event).filter(|event| event["type"] == kind);
        events
            .filter(|event| name(&event["call"]) == call)
            .map(|event| event[field].clone())
            .collect()
    };
    let rows = look.staged()?.into_iter().map(|row| Action {
        answers: of("action.answered", &row.call, "answer"),
        outcomes: of("action.result", &row.call, "outcome"),
        call: row.call,
        id: row.id,
        list: row.list,
    });
    Ok(rows.collect())
}

/// A call as the store names it.
fn name(call: &Value) -> String {
    call.as_str().unwrap_or_default().to_owned()
}

/// `said_yes`: whether somebody has said yes to a question, as they remember it themselves.
pub fn judge(
    look: &Look,
    uses: &[Use],
    actions: &[Action],
    effects: &BTreeMap<String, usize>,
    said_yes: impl Fn(&Approval) -> bool,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    everything_was_staged(uses, actions, findings);
    let approvals = look.approvals()?;
    let audit = look.audit()?;
    for action in actions {
        let Action { id, call, list, .. } = action;
        let questions =
            || approvals.iter().filter(|approval| approval.call == *call || approval.call == *list);
        let happened = effects.contains_key(id);
        // What an owner orders by a command is confirmed with it.
        if happened && !remembered::is_order(call) && !questions().any(&said_yes) {
            findings.other.push(format!("the staged action {id} ran, and nobody has confirmed it"));
        }
        let at = |kind: &str| audit.iter().position(|row| row.kind == kind && row.call == *call);
        let times =
            |kind: &str| audit.iter().filter(|row| row.kind == kind && row.call == *call).count();
        match (at("answered"), at("started")) {
            (Some(answered), Some(started)) if answered < started => {}
            (_, None) if !happened => {}
            _ => findings.other.push(format!(
                "the audit does not know a yes before the staged action {id} was started"
            )),
        }
        if times("started") > 1 || times("ended") > 1 {
            findings.doubled.push(format!(
                "the audit says that the staged action {id} was started more than once"
            ));
        }
        ended_as_told(action, questions(), happened, findings);
    }
    Ok(())
}

/// What calls have proposed stands in the list once, and nothing else does.
fn everything_was_staged(uses: &[Use], actions: &[Action], findings: &mut Findings) {
    let mut wanted = BTreeSet::new();
    for one in uses {
        let [outcome] = one.outcomes.as_slice() else { continue };
        if outcome["kind"] == "ended" && outcome["output"]["is_error"] == false {
            wanted.extend(proposed_by(&one.id));
        }
    }
    for id in &wanted {
        match actions.iter().filter(|action| action.id == *id).count() {
            0 => findings.lost.push(format!("the proposed action {id} was never staged")),
            1 => {}
            times => findings.doubled.push(format!("the action {id} is staged {times} times")),
        }
    }
    for action in actions
        .iter()
        .filter(|action| !wanted.contains(&action.id) && !remembered::is_without_a_use(&action.id))
    {
        findings.other.push(format!(
            "the action {} is staged, and no call of the log has proposed it",
            action.id
        ));
    }
}

/// One answer and, after a yes, one result, which is what really happened.
fn ended_as_told<'a>(
    action: &Action,
    mut questions: impl Iterator<Item = &'a Approval>,
    happened: bool,
    findings: &mut Findings,
) {
    let Action { id, answers, outcomes, .. } = action;
    let state = questions
        .find(|approval| approval.call == action.call)
        .map_or("", |approval| approval.state.as_str());
    if answers.len() > 1 || outcomes.len() > 1 {
        let text = format!(
            "the staged action {id} has {} answers and {} results",
            answers.len(),
            outcomes.len()
        );
        findings.doubled.push(text);
    }
    let (answer, outcome) = (answers.first(), outcomes.first());
    let ended = outcome.is_some_and(|outcome| outcome["kind"] == "ended");
    match (state, answer, outcome.map(|outcome| outcome["kind"].as_str().unwrap_or_default())) {
        ("approved", Some(_), Some("ended" | "unknown" | "denied")) => {}
        ("denied", Some(answer), None) if !answer.is_null() => {}
        ("expired", Some(Value::Null), None) => {}
        (_, None, _) => {
            let lost = format!("what became of the staged action {id}, which is {state}");
            findings.lost.push(lost)
        }
        ("approved", _, None) => {
            let lost = format!("the staged action {id}, which was confirmed");
            findings.lost.push(lost)
        }
        (state, answer, outcome) => findings.other.push(format!(
            "the staged action {id} is {state}, its answer is {answer:?}, and its result is {outcome:?}"
        )),
    }
    let unknown = action.is_unknown();
    if ended && outcome.is_some_and(|outcome| outcome["output"]["is_error"] != false) {
        findings.other.push(format!("the staged action {id} failed: {outcome:?}"));
    } else if ended && !happened {
        findings.lost.push(format!("the staged action {id}, which was reported as done"));
    } else if happened && !ended && !unknown {
        findings.other.push(format!("the staged action {id} ran, and its result is {outcome:?}"));
    }
    findings.seen.unknown += usize::from(unknown);
    findings.seen.staged += 1;
    findings.seen.staged_run += usize::from(happened);
}
