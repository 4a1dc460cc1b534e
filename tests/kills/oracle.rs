//! The findings over a run at rest, from outside: the effects that happened, what the model was
//! sent, what was printed, and plain SQL. Must not know what was killed.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::killing::doubt::{Cause, Doubts};
use crate::killing::findings::{Findings, Tally};
use crate::killing::house::House;
use crate::killing::log::{
    Orders, Use, audit_is_true, calls_are_true, log_is_whole, the_switch_is_obeyed, uses,
};
use crate::killing::look::{Approval, Look, SESSION};
use crate::killing::model::{StandIn, answer_to};
use crate::killing::{kept, lists, recalled, remembered, staged_actions, standing, whole, window};
use crate::play::Seen;

pub async fn judge(house: &House, stand_in: &StandIn, seen: &Seen) -> anyhow::Result<Findings> {
    let mut findings = Findings {
        malformed: stand_in.faults(),
        seen: Tally { requests: stand_in.requests().len(), ..Tally::default() },
        ..Findings::default()
    };
    for wrong in &seen.wrong {
        let list =
            if wrong.starts_with("lost: ") { &mut findings.lost } else { &mut findings.other };
        list.push(wrong.trim_start_matches("lost: ").to_owned());
    }
    let look = Look::open(&house.db())?;
    let events = look.events(SESSION)?;
    log_is_whole(&events, Orders::None, &mut findings);
    messages_are_answered(&look, &events, seen, &mut findings)?;
    let uses = uses(SESSION, &events);
    let (actions, effects) = (staged_actions::actions(&look, events.iter())?, house.counted());
    calls_are_true(&look, &uses, &actions, &effects, &mut findings)?;
    let said_yes = |approval: &Approval| seen.said_yes.contains(&approval.id);
    the_switch_is_obeyed(&look, &uses, &mut findings)?;
    window::judge(&events, &window::known_in(&stand_in.requests()), &mut findings);
    for id in effects.keys().filter(|id| seen.held.contains(*id)) {
        findings
            .other
            .push(format!("{id}, which waited its turn, ran while the stop switch was on"));
    }
    findings.other.extend(seen.torn.iter().map(|torn| format!("at some moment {torn}")));
    lists::judge(&look, &mut findings)?;
    if findings.seen.panics == 0 {
        remembered::judge(&look, &house.path("notes"), &mut findings)?;
    }
    recalled::judge(&look, SESSION, &events, &mut findings)?;
    standing::judge(&look, &uses, |id| gave(seen, id), &mut findings)?;
    kept::judge(house, &look, &uses, &mut findings)?;
    staged_actions::judge(&look, &uses, &actions, &effects, said_yes, &mut findings)?;
    let doubts = Doubts::new(&look, &uses, &actions, &seen.struck)?;
    doubts.judge(&house.in_hand(), &mut findings);
    doubts_have_a_cause(&doubts, &uses, seen, &mut findings);
    questions_are_answered_once(&look, &uses, &doubts, seen, &mut findings)?;
    audit_is_true(&look, &uses, &effects, &mut findings)?;
    whole::judge(house, &look, &mut findings).await?;
    Ok(findings)
}

/// Every message is in the log once, answered by the model once, and the answer was shown.
fn messages_are_answered(
    look: &Look,
    events: &[(i64, Value)],
    seen: &Seen,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let of_type = |wanted: &'static str| {
        events.iter().filter(move |(_, event)| event["type"] == wanted).map(|(_, event)| event)
    };
    for (id, inbound, state) in look.messages()? {
        let times = of_type("user.message").filter(|event| event["inbox_id"] == id).count();
        if times == 0 {
            findings.lost.push(format!(
                "the message {} ({state}) is not in the log",
                inbound["body"]["blocks"]
            ));
        } else if times > 1 {
            findings.doubled.push(format!(
                "the message {} is in the log {times} times",
                inbound["body"]["blocks"]
            ));
        }
    }
    let replies: String = of_type("model.reply").map(|event| event["blocks"].to_string()).collect();
    for task in &seen.tasks {
        let answer = answer_to(task);
        match replies.matches(&answer).count() {
            0 => findings.lost.push(format!("the message {task} was never answered")),
            1 => {}
            times => {
                findings.doubled.push(format!("the message {task} was answered {times} times"))
            }
        }
        if !seen.printed.contains(&answer) {
            findings.lost.push(format!("the answer to {task} was never shown"));
        }
    }
    Ok(())
}

/// What nobody knows was cut off by a kill of claw or of a server, or by the stop switch, and the
/// person was told.
fn doubts_have_a_cause(doubts: &Doubts<'_>, uses: &[Use], seen: &Seen, findings: &mut Findings) {
    for (id, call, cause) in doubts.unknown() {
        let killed = !seen.kills.is_empty();
        let explained = match cause {
            Cause::ClawEnded => killed,
            // Judged with the servers.
            Cause::ServerEnded => true,
            // The switch cuts the slow calls. What a killed claw had started in a turn that the
            // switch has ended is told in the same words.
            Cause::Stopped => killed || (findings.seen.panics > 0 && id.starts_with("slow-")),
            Cause::StoppedElsewhere => findings.seen.panics > 0,
            Cause::Other => false,
        };
        if !explained {
            findings.other.push(format!("{id} is unknown ({cause:?}), and nothing has cut it off"));
        }
        // What became of a staged action is told in its message.
        let is_use = uses.iter().any(|one| one.call == call);
        if is_use && !seen.printed.contains(&format!("The call {call} was interrupted")) {
            findings.lost.push(format!("nobody was told that {id} may or may not have run"));
        }
    }
}

/// Whether somebody has given a standing yes by this question, or by a command.
fn gave(seen: &Seen, question: &str) -> bool {
    if question.is_empty() { seen.gave_mode } else { seen.said_yes.contains(question) }
}

/// Whether somebody has meant what became of a question: by its own id, by its number, with all of
/// its list while it waited, or by a standing answer, which is judged by itself.
fn is_meant(seen: &Seen, question: &Approval) -> bool {
    let said = match question.state.as_str() {
        "approved" => &seen.said_yes,
        "denied" => &seen.said_no,
        _ => return true,
    };
    said.contains(&question.id) || question.by.starts_with("grant ")
}

/// Whether the call of a question has another one, which decides.
fn asked_again(approvals: &[Approval], question: &Approval) -> bool {
    approvals.iter().any(|other| {
        other.call == question.call && other.id != question.id && other.state != "superseded"
    })
}

/// One answer a question; what was allowed ran or is unknown, what was not allowed did not run.
fn questions_are_answered_once(
    look: &Look,
    uses: &[Use],
    doubts: &Doubts<'_>,
    seen: &Seen,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let audit = look.audit()?;
    let approvals = look.approvals()?;
    for question in &approvals {
        let said = seen.answers.get(&question.id).map_or(&[][..], Vec::as_slice);
        let audited = audit
            .iter()
            .filter(|row| row.kind == "answered" && row.body["approval"] == *question.id)
            .count();
        if said.len() > 1 || audited > 1 {
            let text = format!(
                "the question {} was answered {} times, {audited} of them audited",
                question.id,
                said.len()
            );
            findings.doubled.push(text);
        }
        if question.staged || question.is_list() {
            // A list is over with the last of its items; what came of those is judged by itself.
            continue;
        }
        if !is_meant(seen, question) {
            let (id, state) = (&question.id, &question.state);
            findings.other.push(format!("the question {id} is {state}, and nobody has said so"));
        }
        let id = uses.iter().find(|one| one.call == question.call);
        let outcome =
            id.and_then(|one| one.outcomes.first()).and_then(|outcome| outcome["kind"].as_str());
        let id = id.map_or("", |one| &one.id);
        match (question.state.as_str(), said.first().copied(), outcome) {
            ("approved", None | Some("Allowed"), Some("ended" | "unknown")) => {}
            // Its server was killed before it had got the call.
            ("approved", None | Some("Allowed"), Some("denied"))
                if doubts.was_not_forwarded(&question.call) => {}
            ("denied", None | Some("Denied"), Some("denied")) => {}
            ("superseded" | "expired", None, Some("denied")) => {}
            // A kill came between the question and its line in the log, and its time was over: it
            // was asked again.
            ("superseded", None, _) if asked_again(&approvals, question) => {}
            (state, said, outcome) => findings.other.push(format!(
                "the question {} about {id} is {state}, claw said {said:?}, and the call is {outcome:?}",
                question.id
            )),
        }
    }
    let asked: BTreeSet<&str> = approvals.iter().map(|question| question.call.as_str()).collect();
    for one in
        uses.iter().filter(|one| one.id.starts_with("ask-") && !asked.contains(one.call.as_str()))
    {
        if one.outcomes.iter().any(|outcome| outcome["kind"] != "denied") {
            findings.other.push(format!("{} ran without a question", one.id));
        }
    }
    Ok(())
}
