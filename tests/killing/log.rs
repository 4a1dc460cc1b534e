//! What every log must be like, and whether it tells what really happened: the effects, the calls,
//! the audit. Must not know what was killed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::effects::{has_effect, id_in};
use super::findings::Findings;
use super::look::{CallRow, Look};
use super::recalled::is_recall;
use super::remembered;
use super::staged_actions::Action;

/// A tool use of the log.
pub struct Use {
    pub call: String,
    /// Of the effect.
    pub id: String,
    pub outcomes: Vec<Value>,
}

impl Use {
    pub fn is_unknown(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome["kind"] == "unknown")
    }
}

/// In which ways a turn may end in a script, and what may happen between turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// Nobody gives any: every turn is answered.
    None,
    /// `/stop`, `/new` and `/undo`.
    Given,
}

/// No gap, one open turn at a time, everything inside of a turn.
pub fn log_is_whole(events: &[(i64, Value)], orders: Orders, findings: &mut Findings) {
    let mut open = false;
    for (index, (seq, event)) in events.iter().enumerate() {
        if *seq != index as i64 + 1 {
            findings.other.push(format!("the log has event {seq} at place {}", index + 1));
            return;
        }
        match event["type"].as_str() {
            Some("turn.started") if open => {
                findings.other.push(format!("event {seq} starts a turn within a turn"))
            }
            Some("turn.started") => open = true,
            Some("turn.ended") if !open => {
                findings.other.push(format!("event {seq} ends a turn that is not open"))
            }
            Some("turn.ended") => {
                open = false;
                let may_stop = orders == Orders::Given && event["end"]["kind"] == "stopped";
                if event["end"]["kind"] != "answered" && !may_stop {
                    findings
                        .other
                        .push(format!("a turn ended without an answer: {}", event["end"]));
                }
            }
            // A tap needs no turn.
            Some("action.answered" | "action.result") => {}
            // `/compact` needs none either.
            Some(
                "compact.requested" | "results.cut" | "compaction.failed" | "summary"
                | "window.dropped",
            ) => {}
            Some("session.cleared" | "exchange.dropped") if orders == Orders::Given && !open => {}
            _ if !open => {
                findings.other.push(format!("event {seq} is outside of a turn: {}", event["type"]))
            }
            _ => {}
        }
    }
    if open {
        findings.lost.push("the end of the last turn".to_owned());
    }
}

/// The tool uses of a session's log, with what came of each.
pub fn uses(session: &str, events: &[(i64, Value)]) -> Vec<Use> {
    let mut outcomes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (_, event) in events.iter().filter(|(_, event)| event["type"] == "tool.result") {
        let call = &event["call"];
        let id = format!(
            "{}:{}:{}",
            call["session"].as_str().unwrap_or_default(),
            call["reply_seq"],
            call["block"]
        );
        outcomes.entry(id).or_default().push(event["outcome"].clone());
    }
    let mut found = Vec::new();
    for (seq, event) in events.iter().filter(|(_, event)| event["type"] == "model.reply") {
        for (index, block) in event["blocks"].as_array().into_iter().flatten().enumerate() {
            if block["type"] == "tool_use" {
                let call = format!("{session}:{seq}:{index}");
                let outcomes = outcomes.remove(&call).unwrap_or_default();
                found.push(Use {
                    id: id_in(&block["input"]).unwrap_or_default().to_owned(),
                    call,
                    outcomes,
                });
            }
        }
    }
    found
}

/// Each tool use has one result, and the result is what really happened. Everything else that ran
/// was staged.
pub fn calls_are_true(
    look: &Look,
    uses: &[Use],
    actions: &[Action],
    effects: &BTreeMap<String, usize>,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    findings.seen.effects = effects.len();
    for (id, times) in effects {
        if *times > 1 {
            findings.doubled.push(format!("the effect {id} happened {times} times"));
        }
        if !uses.iter().any(|one| one.id == *id) && !actions.iter().any(|action| action.id == *id) {
            findings
                .other
                .push(format!("the effect {id} happened, and no tool use of the log asked for it"));
        }
    }
    for Use { call, id, outcomes } in uses {
        let happened = effects.contains_key(id);
        match outcomes.as_slice() {
            [] => findings.lost.push(format!(
                "the tool use {id} ({call}) has no result in the log; it happened: {happened}"
            )),
            [outcome] => match outcome["kind"].as_str() {
                Some("ended") if outcome["output"]["is_error"] != false => {
                    findings.other.push(format!("{id} failed: {}", outcome["output"]["text"]));
                }
                Some("ended") if !happened && has_effect(id) => {
                    findings.lost.push(format!("the effect {id}, which was reported as done"));
                }
                Some("denied") if happened => {
                    findings.other.push(format!(
                        "{id} was reported as not run ({}), and it happened",
                        outcome["reason"]
                    ));
                }
                Some("ended" | "denied") => {}
                Some("unknown") => findings.seen.unknown += 1,
                _ => findings.other.push(format!("{id} has the outcome {outcome}")),
            },
            more => findings
                .doubled
                .push(format!("the tool use {id} has {} results in the log", more.len())),
        }
    }
    let by_claw = |row: &CallRow| is_recall(&row.id) || remembered::is_claws_own(row);
    for row in look.calls()?.into_iter().filter(|row| !by_claw(row)) {
        if !["ended", "denied", "unknown"].contains(&row.state.as_str()) {
            findings.other.push(format!("the call {} is still {}", row.id, row.state));
        }
        let is_staged = row.server == "claw" || actions.iter().any(|action| action.call == row.id);
        if !is_staged && !uses.iter().any(|one| one.call == row.id) {
            findings.other.push(format!(
                "the call {} is in the store, and no tool use of the log is it",
                row.id
            ));
        }
    }
    Ok(())
}

/// While the stop switch is on no call starts, and none that was under way when it came has an end
/// but that it was cut.
pub fn the_switch_is_obeyed(
    look: &Look,
    uses: &[Use],
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let mut on = false;
    for row in look.audit()? {
        match row.kind.as_str() {
            "panic.on" => {
                (on, findings.seen.panics) = (true, findings.seen.panics + usize::from(!on))
            }
            "panic.off" => on = false,
            "started" if on => findings
                .other
                .push(format!("the call {} was started while the switch was on", row.call)),
            _ => {}
        }
    }
    for one in uses.iter().filter(|one| one.id.starts_with("slow-")) {
        if one.outcomes.iter().any(|outcome| outcome["kind"] == "ended") {
            findings.other.push(format!("{} went on to its end through the stop switch", one.id));
        }
    }
    Ok(())
}

/// What happened is in the audit, before it happened, once.
pub fn audit_is_true(
    look: &Look,
    uses: &[Use],
    effects: &BTreeMap<String, usize>,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let audit = look.audit()?;
    for one in uses {
        let times = |kind: &str| {
            audit.iter().filter(|row| row.kind == kind && row.call == one.call).count()
        };
        let (started, ended) = (times("started"), times("ended"));
        // A proposal is asked for again after a kill, and gives the same one.
        let may_repeat = one.id.starts_with("note-");
        if (started > 1 && !may_repeat) || ended > 1 {
            findings.doubled.push(format!(
                "the audit says that {} was started {started} and ended {ended} times",
                one.id
            ));
        }
        if started == 0 && effects.contains_key(&one.id) {
            findings.lost.push(format!("the audit does not know that {} was started", one.id));
        }
    }
    Ok(())
}
