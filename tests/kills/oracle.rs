//! The verdict over a run at rest, from outside: the effects that happened, what the model was sent, what was printed, and
//! plain SQL. Must not know what was killed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::effects;
use crate::house::{House, Kill};
use crate::look::Look;
use crate::play::Seen;
use crate::standin::{StandIn, answer_to};

/// What a run came to. Everything but `unknown` and `effects` must be empty.
#[derive(Debug, Default)]
pub struct Verdict {
    pub lost: Vec<String>,
    pub doubled: Vec<String>,
    pub malformed: Vec<String>,
    pub other: Vec<String>,
    /// Calls that were reported as "may or may not have run".
    pub unknown: usize,
    pub effects: usize,
    pub requests: usize,
}

impl Verdict {
    pub fn wrong(&self) -> Vec<String> {
        let named = |what: &str, list: &[String]| list.iter().map(|one| format!("{what}: {one}")).collect::<Vec<_>>();
        let all = [
            named("LOST", &self.lost),
            named("DOUBLED", &self.doubled),
            named("MALFORMED", &self.malformed),
            named("WRONG", &self.other),
        ];
        all.concat()
    }
}

/// A tool use of the log.
struct Use {
    call: String,
    id: String,
    outcomes: Vec<Value>,
}

pub async fn judge(house: &House, stand_in: &StandIn, seen: &Seen) -> anyhow::Result<Verdict> {
    let mut verdict =
        Verdict { malformed: stand_in.faults(), requests: stand_in.requests().len(), ..Verdict::default() };
    for wrong in &seen.wrong {
        let list = if wrong.starts_with("lost: ") { &mut verdict.lost } else { &mut verdict.other };
        list.push(wrong.trim_start_matches("lost: ").to_owned());
    }
    let look = Look::open(&house.db())?;
    let events = look.events()?;
    log_is_whole(&events, &mut verdict);
    messages_are_answered(&look, &events, seen, &mut verdict)?;
    let uses = uses(&events);
    calls_are_true(&look, &uses, &effects::counted(&house.effects()), &mut verdict)?;
    questions_are_answered_once(&look, &uses, seen, &mut verdict)?;
    audit_is_true(&look, &uses, &effects::counted(&house.effects()), &mut verdict)?;
    if seen.kills.is_empty() && verdict.unknown > 0 {
        verdict.other.push(format!("{} calls are unknown, and nothing was killed", verdict.unknown));
    }
    let verified = house.claw(&["audit".to_owned(), "verify".to_owned()], &Kill::Not, None).await?;
    if verified.code != Some(0) {
        verdict.other.push(format!("claw audit verify: {}{}", verified.out.trim(), verified.err.trim()));
    }
    let integrity = look.integrity()?;
    if integrity != "ok" {
        verdict.other.push(format!("the database is damaged: {integrity}"));
    }
    let left = house.leftovers().await;
    if !left.is_empty() {
        verdict.other.push(format!("servers outlived claw: {left:?}"));
    }
    Ok(verdict)
}

/// No gap, one open turn at a time, everything inside of a turn.
fn log_is_whole(events: &[(i64, Value)], verdict: &mut Verdict) {
    let mut open = false;
    for (index, (seq, event)) in events.iter().enumerate() {
        if *seq != index as i64 + 1 {
            verdict.other.push(format!("the log has event {seq} at place {}", index + 1));
            return;
        }
        match event["type"].as_str() {
            Some("turn.started") if open => verdict.other.push(format!("event {seq} starts a turn within a turn")),
            Some("turn.started") => open = true,
            Some("turn.ended") if !open => verdict.other.push(format!("event {seq} ends a turn that is not open")),
            Some("turn.ended") => {
                open = false;
                if event["end"]["kind"] != "answered" {
                    verdict.other.push(format!("a turn ended without an answer: {}", event["end"]));
                }
            }
            _ if !open => verdict.other.push(format!("event {seq} is outside of a turn: {}", event["type"])),
            _ => {}
        }
    }
    if open {
        verdict.lost.push("the end of the last turn".to_owned());
    }
}

/// Every message is in the log once, answered by the model once, and the answer was shown.
fn messages_are_answered(
    look: &Look,
    events: &[(i64, Value)],
    seen: &Seen,
    verdict: &mut Verdict,
) -> rusqlite::Result<()> {
    let of_type =
        |wanted: &'static str| events.iter().filter(move |(_, event)| event["type"] == wanted).map(|(_, event)| event);
    for (id, inbound, state) in look.messages()? {
        let times = of_type("user.message").filter(|event| event["inbox_id"] == id).count();
        if times == 0 {
            verdict.lost.push(format!("the message {} ({state}) is not in the log", inbound["body"]["blocks"]));
        } else if times > 1 {
            verdict.doubled.push(format!("the message {} is in the log {times} times", inbound["body"]["blocks"]));
        }
    }
    let replies: String = of_type("model.reply").map(|event| event["blocks"].to_string()).collect();
    for task in &seen.tasks {
        let answer = answer_to(task);
        match replies.matches(&answer).count() {
            0 => verdict.lost.push(format!("the message {task} was never answered")),
            1 => {}
            times => verdict.doubled.push(format!("the message {task} was answered {times} times")),
        }
        if !seen.printed.contains(&answer) {
            verdict.lost.push(format!("the answer to {task} was never shown"));
        }
    }
    Ok(())
}

fn uses(events: &[(i64, Value)]) -> Vec<Use> {
    let mut outcomes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (_, event) in events.iter().filter(|(_, event)| event["type"] == "tool.result") {
        let call = &event["call"];
        let id = format!("{}:{}:{}", call["session"].as_str().unwrap_or_default(), call["reply_seq"], call["block"]);
        outcomes.entry(id).or_default().push(event["outcome"].clone());
    }
    let mut found = Vec::new();
    for (seq, event) in events.iter().filter(|(_, event)| event["type"] == "model.reply") {
        for (index, block) in event["blocks"].as_array().into_iter().flatten().enumerate() {
            if block["type"] == "tool_use" {
                let call = format!("main:{seq}:{index}");
                let outcomes = outcomes.remove(&call).unwrap_or_default();
                found.push(Use { id: block["input"]["id"].as_str().unwrap_or_default().to_owned(), call, outcomes });
            }
        }
    }
    found
}

/// Each tool use has one result, and the result is what really happened.
fn calls_are_true(
    look: &Look,
    uses: &[Use],
    effects: &BTreeMap<String, usize>,
    verdict: &mut Verdict,
) -> rusqlite::Result<()> {
    verdict.effects = effects.len();
    for (id, times) in effects {
        if *times > 1 {
            verdict.doubled.push(format!("the effect {id} happened {times} times"));
        }
        if !uses.iter().any(|one| one.id == *id) {
            verdict.other.push(format!("the effect {id} happened, and no tool use of the log asked for it"));
        }
    }
    for Use { call, id, outcomes } in uses {
        let happened = effects.contains_key(id);
        match outcomes.as_slice() {
            [] => verdict
                .lost
                .push(format!("the tool use {id} ({call}) has no result in the log; it happened: {happened}")),
            [outcome] => match outcome["kind"].as_str() {
                Some("ended") if outcome["output"]["is_error"] != false => {
                    verdict.other.push(format!("{id} failed: {}", outcome["output"]["text"]));
                }
                Some("ended") if !happened && !id.starts_with("look-") => {
                    verdict.lost.push(format!("the effect {id}, which was reported as done"));
                }
                Some("denied") if happened => {
                    verdict
                        .other
                        .push(format!("{id} was reported as not run ({}), and it happened", outcome["reason"]));
                }
                Some("ended" | "denied") => {}
                Some("unknown") => verdict.unknown += 1,
                _ => verdict.other.push(format!("{id} has the outcome {outcome}")),
            },
            more => verdict.doubled.push(format!("the tool use {id} has {} results in the log", more.len())),
        }
    }
    for row in look.calls()? {
        if !["ended", "denied", "unknown"].contains(&row.state.as_str()) {
            verdict.other.push(format!("the call {} is still {}", row.id, row.state));
        }
        if !uses.iter().any(|one| one.call == row.id) {
            verdict.other.push(format!("the call {} is in the store, and no tool use of the log is it", row.id));
        }
    }
    Ok(())
}

/// One answer a question; what was allowed ran or is unknown, what was not allowed did not run.
fn questions_are_answered_once(look: &Look, uses: &[Use], seen: &Seen, verdict: &mut Verdict) -> rusqlite::Result<()> {
    let audit = look.audit()?;
    let approvals = look.approvals()?;
    for question in &approvals {
        let said = seen.answers.get(&question.id).map_or(&[][..], Vec::as_slice);
        let audited = audit.iter().filter(|row| row.kind == "answered" && row.body["approval"] == *question.id).count();
        if said.len() > 1 || audited > 1 {
            let text =
                format!("the question {} was answered {} times, {audited} of them audited", question.id, said.len());
            verdict.doubled.push(text);
        }
        let id = uses.iter().find(|one| one.call == question.call);
        let outcome = id.and_then(|one| one.outcomes.first()).and_then(|outcome| outcome["kind"].as_str());
        let id = id.map_or("", |one| &one.id);
        match (question.state.as_str(), said.first().copied(), outcome) {
            ("approved", None | Some("Allowed"), Some("ended" | "unknown")) => {}
            ("denied", None | Some("Denied"), Some("denied")) => {}
            ("superseded", None, Some("denied")) => {}
            (state, said, outcome) => verdict.other.push(format!(
                "the question {} about {id} is {state}, claw said {said:?}, and the call is {outcome:?}",
                question.id
            )),
        }
    }
    let asked: BTreeSet<&str> = approvals.iter().map(|question| question.call.as_str()).collect();
    for one in uses.iter().filter(|one| one.id.starts_with("ask-") && !asked.contains(one.call.as_str())) {
        if one.outcomes.iter().any(|outcome| outcome["kind"] != "denied") {
            verdict.other.push(format!("{} ran without a question", one.id));
        }
    }
    Ok(())
}

/// What happened is in the audit, before it happened, once.
fn audit_is_true(
    look: &Look,
    uses: &[Use],
    effects: &BTreeMap<String, usize>,
    verdict: &mut Verdict,
) -> rusqlite::Result<()> {
    let audit = look.audit()?;
    for one in uses {
        let times = |kind: &str| audit.iter().filter(|row| row.kind == kind && row.call == one.call).count();
        let (started, ended) = (times("started"), times("ended"));
        if started > 1 || ended > 1 {
            verdict
                .doubled
                .push(format!("the audit says that {} was started {started} and ended {ended} times", one.id));
        }
        if started == 0 && effects.contains_key(&one.id) {
            verdict.lost.push(format!("the audit does not know that {} was started", one.id));
        }
    }
    Ok(())
}
