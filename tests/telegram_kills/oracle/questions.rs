//! Whether every question was seen, asked again as often as claw was restarted and no oftener,
//! answered once, by whom it was answered, and what came of it. Must not know messages that are no
//! questions.

use std::collections::{BTreeMap, BTreeSet};

use super::{Counts, Evidence};
use crate::acts::{Act, button_of, is_allowing, number_of};
use crate::botapi::{MessageId, Outcome};
use crate::killing::findings::Findings;
use crate::killing::remembered::is_order;
use crate::seat::Seat;
use crate::store::Question;

const ASKS_FOR_REASON: &str = "Denied once you have replied";
/// How a message begins whose question is over.
const CLOSED: [&str; 10] = [
    "Allowed",
    "Denied",
    "Answered",
    "Closed",
    "Expired",
    "Asked again",
    "✅ Confirmed",
    "❌ Cancelled",
    "✅ Remember",
    "❌ Skipped",
];

/// A message that showed a question, as it was sent.
struct Shown {
    call: usize,
    chat: i64,
    thread: Option<i64>,
    message: MessageId,
}

pub fn judge(
    evidence: &Evidence<'_>,
    findings: &mut Findings,
    counts: &mut Counts,
) -> rusqlite::Result<()> {
    let shown = shown(evidence);
    counts.questions = evidence.questions.len();
    // What is ordered by a command asks nobody.
    for question in evidence.questions.iter().filter(|one| !is_order(&one.call)) {
        let Some(seat) = evidence.seats().iter().find(|seat| seat.session == question.session)
        else {
            findings.other.push(format!(
                "the question {} is of the session {}",
                question.id, question.session
            ));
            continue;
        };
        let sent = shown.get(&question.id).map_or(&[][..], Vec::as_slice);
        was_seen(evidence, seat, question, sent, findings, counts);
        was_answered(evidence, seat, question, findings);
    }
    let found_open: usize = evidence.seen.left.iter().map(|left| left.posted.len()).sum();
    counts.found_open = found_open;
    what_was_asked_for_ran(evidence, findings);
    answers_are_audited(evidence, findings)?;
    looks_closed(evidence, &shown, findings, counts)?;
    reasons_were_asked_for(evidence, findings, counts);
    Ok(())
}

fn shown(evidence: &Evidence<'_>) -> BTreeMap<String, Vec<Shown>> {
    let mut found: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    for (index, call) in evidence.calls.iter().enumerate() {
        let sends = call.is("sendMessage") || call.is("sendDocument");
        let (Outcome::Done(result) | Outcome::CutAfter(result)) = &call.outcome else { continue };
        let buttons = call.params["reply_markup"]["inline_keyboard"].to_string();
        let Some((approval, _)) = buttons.split('"').find_map(button_of).filter(|_| sends) else {
            continue;
        };
        let number =
            |value: &serde_json::Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
        found.entry(approval.to_owned()).or_default().push(Shown {
            call: index,
            chat: call.chat.unwrap_or_default(),
            thread: number(&call.params["message_thread_id"]),
            message: number(&result["message_id"])
                .and_then(|id| id.try_into().ok())
                .unwrap_or_default(),
        });
    }
    found
}

/// In its own place; in each life of the gateway no oftener than there was a reason for.
fn was_seen(
    evidence: &Evidence<'_>,
    seat: &Seat,
    question: &Question,
    sent: &[Shown],
    findings: &mut Findings,
    counts: &mut Counts,
) {
    let thread = seat.place.topic.map(i64::from);
    if sent.iter().any(|one| one.chat != seat.place.chat || one.thread != thread) {
        findings.other.push(format!(
            "the question {} was shown to others than {}",
            question.id, seat.session
        ));
    }
    let asked =
        |row: &crate::store::OutboxRow| row.body["question"]["approval"] == question.id.as_str();
    let rows = evidence.outbox.iter().filter(|row| asked(row)).count();
    if question.number.is_some() {
        // Its list asks it.
        if rows > 0 || !sent.is_empty() {
            findings.doubled.push(format!(
                "the question {} was shown by itself, and in the list {:?}",
                question.id, question.list
            ));
        }
        return;
    }
    if rows > 1 {
        findings
            .doubled
            .push(format!("the question {} is in the outbox {rows} times", question.id));
    }
    // A standing answer that came first leaves nothing to ask; so does a newer form of the call.
    let answered_unasked = question.state == "superseded" || question.by.starts_with("grant ");
    if sent.is_empty() && (rows > 0 || !answered_unasked) {
        findings
            .lost
            .push(format!("the question {} ({}) was never shown", question.id, question.state));
    }
    let mut from = 0;
    for life in 0..=evidence.seen.left.len() {
        let until = evidence.seen.left.get(life).map_or(usize::MAX, |left| left.calls);
        let before = life.checked_sub(1).and_then(|earlier| evidence.seen.left.get(earlier));
        let again =
            before.and_then(|left| left.posted.get(&question.id)).copied().unwrap_or_default();
        let unasked = before.is_some_and(|left| left.unasked.contains(&question.id));
        let earlier = sent.iter().filter(|one| one.call < from).count();
        let now = sent.iter().filter(|one| (from..until).contains(&one.call)).count();
        let allowed = again + usize::from(unasked || earlier == 0);
        if now > allowed {
            let text = format!(
                "the question {} was shown {now} times in one life of claw, {allowed} are explained",
                question.id
            );
            findings.doubled.push(text);
        }
        counts.asked_again += now.min(again);
        counts.duplicates += usize::from(unasked && earlier > 0 && now > again);
        from = until;
    }
}

/// What a tap that decides is answered with, and what the question then is.
const DECIDED: [(&str, &str); 7] = [
    ("Allowed.", "approved"),
    ("Allowed all", "approved"),
    ("Denied", "denied"),
    ("Confirmed.", "approved"),
    ("Cancelled.", "denied"),
    ("Remembered.", "approved"),
    ("Skipped.", "denied"),
];

/// The taps of a seat on messages of a question that showed the button, as (query, code).
fn taps_on<'s>(seat: &'s Seat, question: &str) -> impl Iterator<Item = (&'s str, &'s str)> {
    seat.acts.iter().filter_map(move |act| match act {
        Act::Tap { tap, approval, code, old: false, .. } if approval == question => {
            Some((tap.query.as_str(), code.as_str()))
        }
        _ => None,
    })
}

/// By its own people, once, as they meant it.
fn was_answered(
    evidence: &Evidence<'_>,
    seat: &Seat,
    question: &Question,
    findings: &mut Findings,
) {
    // What is staged is answered by its own message, or by the one about all of its list.
    let of_list = question.list.iter().flat_map(|list| taps_on(seat, list));
    let taps: Vec<(&str, &str)> = taps_on(seat, &question.id).chain(of_list).collect();
    let is_meant = |id: &String| *id == question.id || question.list.as_ref() == Some(id);
    let reasons: Vec<&str> = seat
        .acts
        .iter()
        .filter_map(|act| match act {
            Act::Reason { approval, text, .. } if is_meant(approval) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let answer = |query: &str| {
        evidence
            .round
            .telegram
            .look(|world| world.taps.get(query).and_then(|tapped| tapped.answer.clone()))
    };
    let own =
        taps_on(seat, &question.id).filter_map(|(query, _)| answer(query)).map(|(words, _)| words);
    // Single calls of a list may be answered one after the other.
    let is_part = |words: &String| question.is_list && words.contains("till open");
    let own = own.filter(|words| !is_part(words));
    let decided: Vec<String> =
        own.filter(|words| DECIDED.iter().any(|(said, _)| words.starts_with(said))).collect();
    if decided.len() > 1 {
        findings.doubled.push(format!("of the question {} it was said {decided:?}", question.id));
    }
    let fits = match (question.state.as_str(), &question.answer["kind"]) {
        ("approved", _) => taps.iter().any(|(_, code)| {
            is_allowing(code) || (question.number.is_some() && number_of(code) == question.number)
        }),
        ("denied", kind) if kind == "never" => taps.iter().any(|(_, code)| *code == "=never"),
        ("denied", _) => match question.answer["word"].as_str() {
            Some(word) => reasons.contains(&word),
            None => taps.iter().any(|(_, code)| *code == "=n"),
        },
        ("superseded", _) => true,
        ("expired", _) => evidence.seen.expired.contains(&question.id),
        _ => false,
    };
    // A number that was tapped is a yes to that call, and claw has said so.
    let by_number = |(query, code): &(&str, &str)| {
        question.number.is_some()
            && number_of(code) == question.number
            && answer(query).is_some_and(|(words, _)| words.starts_with("Allowed "))
    };
    if question.state == "denied" && taps.iter().any(by_number) {
        let text = format!("the question {} is denied, and its number was allowed", question.id);
        findings.other.push(text);
    }
    let owner = format!("telegram:{}", seat.user.id);
    // What a standing answer has answered is judged with those.
    let by_grant = question.by.starts_with("grant ");
    let decided_by = by_grant || question.by == owner;
    let is_decided = ["approved", "denied"].contains(&question.state.as_str());
    if !(fits || by_grant) || (is_decided && !decided_by) {
        let text = format!(
            "the question {} is {} by {} ({}), ",
            question.id, question.state, question.by, question.answer
        );
        findings.other.push(format!("{text}and {owner} has tapped {taps:?} and said {reasons:?}"));
    }
    let said = decided.first().map_or("", String::as_str);
    if DECIDED.iter().any(|(start, state)| said.starts_with(start) && question.state != *state) {
        findings.other.push(format!(
            "of the question {} it was said {said:?}, and it is {}",
            question.id, question.state
        ));
    }
}

/// What was not allowed did not happen; what was asked about did not happen without a yes.
fn what_was_asked_for_ran(evidence: &Evidence<'_>, findings: &mut Findings) {
    let effects = evidence.round.house.counted();
    let mut allowed = BTreeSet::new();
    let mut calls = BTreeMap::new();
    for question in &evidence.questions {
        calls.entry(question.call.as_str()).or_insert_with(Vec::new).push(question);
        if question.state == "approved" {
            allowed.insert(question.call.as_str());
        }
    }
    for one in evidence.uses().iter().filter(|one| one.id.starts_with("ask-")) {
        let ran = one.outcomes.iter().any(|outcome| outcome["kind"] != "denied");
        let happened = effects.contains_key(&one.id);
        if (ran || happened) && !allowed.contains(one.call.as_str()) {
            findings.other.push(format!("{} ran, and nobody has allowed it", one.id));
        }
    }
}

fn answers_are_audited(evidence: &Evidence<'_>, findings: &mut Findings) -> rusqlite::Result<()> {
    let mut audited: BTreeMap<String, usize> = BTreeMap::new();
    for row in evidence.look.audit()?.into_iter().filter(|row| row.kind == "answered") {
        *audited
            .entry(row.body["approval"].as_str().unwrap_or_default().to_owned())
            .or_default() += 1;
    }
    for question in &evidence.questions {
        let times = audited.get(&question.id).copied().unwrap_or_default();
        let wanted = usize::from(["approved", "denied"].contains(&question.state.as_str()));
        if times < wanted {
            findings.lost.push(format!("the audit does not know the answer to {}", question.id));
        } else if times > 1 {
            findings.doubled.push(format!("the audit has {times} answers to {}", question.id));
        }
    }
    Ok(())
}

/// No button is left, except under messages that claw never got to know.
fn looks_closed(
    evidence: &Evidence<'_>,
    shown: &BTreeMap<String, Vec<Shown>>,
    findings: &mut Findings,
    counts: &mut Counts,
) -> rusqlite::Result<()> {
    let on_record: BTreeSet<(String, i64)> = evidence
        .look
        .all("SELECT address, message FROM posted", |row| Ok((row.get(0)?, row.get(1)?)))?
        .into_iter()
        .collect();
    for (approval, sent) in shown {
        for one in sent {
            let thread = one.thread.map(|thread| format!("/{thread}")).unwrap_or_default();
            let address = format!("telegram/{}/{}{thread}", evidence.bot, one.chat);
            let known = on_record.contains(&(address, i64::from(one.message)));
            let message = evidence.round.telegram.message(one.chat, one.message);
            let closed = message.buttons.is_empty()
                && CLOSED.iter().any(|start| message.text.starts_with(start));
            match (known, closed) {
                (_, true) => {}
                (false, false) if cut_off(evidence, approval, one.call) => counts.orphans += 1,
                _ => findings.other.push(format!(
                    "the message {} still shows {approval}: {:?}",
                    one.message, message.text
                )),
            }
        }
    }
    Ok(())
}

/// Whether claw was killed in the life in which this message was sent, and could not have noted its
/// number: it was being asked, or asked again.
fn cut_off(evidence: &Evidence<'_>, approval: &str, call: usize) -> bool {
    let lives = &evidence.seen.left;
    let Some(life) = lives.iter().position(|left| call < left.calls) else { return false };
    let began_with = life.checked_sub(1).and_then(|before| lives.get(before));
    lives[life].unasked.contains(approval)
        || began_with.is_some_and(|left| left.posted.contains_key(approval))
}

/// One message that asks for a reason for each tap that promised one.
fn reasons_were_asked_for(evidence: &Evidence<'_>, findings: &mut Findings, counts: &mut Counts) {
    for seat in evidence.seats() {
        let asked = evidence
            .screen(seat)
            .iter()
            .filter(|message| message.text.starts_with(ASKS_FOR_REASON))
            .count();
        let (mut taps, mut kills) = (0, 0);
        for act in &seat.acts {
            if let Act::Tap { tap, code, .. } = act
                && code == "w"
            {
                taps += 1;
                kills += evidence.kills_while_kept(tap.update);
            }
        }
        if asked > taps + kills {
            findings.doubled.push(format!(
                "{}: {taps} taps promised a reason, and {asked} messages ask for one",
                seat.session
            ));
        }
        counts.duplicates += asked.saturating_sub(taps);
    }
}
