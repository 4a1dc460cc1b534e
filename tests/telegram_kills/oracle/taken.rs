//! Whether everything that people sent was taken in once: updates, messages, orders, taps. Must not
//! know what claw said.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{Counts, Evidence};
use crate::acts::{Act, Order};
use crate::killing::findings::Findings;
use crate::seat::Seat;
use crate::store::{self, InboxRow};

/// What a tap that counts is answered with.
const DECIDES: [&str; 6] =
    ["Allowed.", "Denied.", "Confirmed.", "Cancelled.", "Remembered.", "Skipped."];

pub fn judge(
    evidence: &Evidence<'_>,
    findings: &mut Findings,
    counts: &mut Counts,
) -> rusqlite::Result<()> {
    updates_were_kept(evidence, findings, counts)?;
    messages_came_in_once(evidence, findings, counts)?;
    taps_were_answered(evidence, findings, counts);
    unknown_users_heard_nothing(evidence, findings);
    Ok(())
}

/// What Telegram was told to forget is on the disk, and handled.
fn updates_were_kept(
    evidence: &Evidence<'_>,
    findings: &mut Findings,
    counts: &mut Counts,
) -> rusqlite::Result<()> {
    let kept = store::updates(&evidence.look)?;
    for update in evidence.round.telegram.updates() {
        counts.updates += 1;
        match kept.get(&i64::from(update.id)).map(String::as_str) {
            _ if update.expired && update.kind == "callback_query" => {}
            None if update.confirmed => {
                findings.lost.push(format!(
                    "the {} {}, which Telegram was told to forget",
                    update.kind, update.id
                ));
            }
            None => {
                findings.lost.push(format!("the {} {} was never confirmed", update.kind, update.id))
            }
            Some(state @ ("kept" | "failed" | "unreadable" | "queue full" | "unknown")) => {
                findings.other.push(format!("the {} {} is {state}", update.kind, update.id));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn messages_came_in_once(
    evidence: &Evidence<'_>,
    findings: &mut Findings,
    counts: &mut Counts,
) -> rusqlite::Result<()> {
    let inbox = store::inbox(&evidence.look)?;
    let mut explained = BTreeSet::new();
    for seat in evidence.seats() {
        for name in seat
            .acts
            .iter()
            .filter_map(|act| if let Act::Task { name } = act { Some(name) } else { None })
        {
            counts.messages += 1;
            let wanted = format!("TASK {name} ");
            let rows: Vec<_> = inbox
                .iter()
                .filter(|row| row.kind == "message" && row.text.contains(&wanted))
                .collect();
            explained.extend(rows.iter().map(|row| row.id));
            match rows.as_slice() {
                [] => findings.lost.push(format!("the message {name} is not in the inbox")),
                [one] if one.session != seat.session => {
                    findings
                        .other
                        .push(format!("the message {name} is in the session {}", one.session));
                }
                [one] => {
                    let said = evidence.events(seat).iter();
                    let times = said.filter(|(_, event)| {
                        event["type"] == "user.message" && event["inbox_id"] == one.id
                    });
                    match times.count() {
                        0 => findings.lost.push(format!("the message {name} is not in the log")),
                        1 => {}
                        times => findings
                            .doubled
                            .push(format!("the message {name} is in the log {times} times")),
                    }
                }
                more => findings
                    .doubled
                    .push(format!("the message {name} is in the inbox {} times", more.len())),
            }
        }
        orders_came_in_once(&inbox, seat, findings);
        was_remembered(evidence, seat, findings)?;
    }
    for row in inbox.iter().filter(|row| row.kind == "message" && !explained.contains(&row.id)) {
        findings
            .other
            .push(format!("this went to the model, and nobody meant it to: {:?}", row.text));
    }
    Ok(())
}

/// Each `/remember` of a seat was frozen once, or its person was told that nothing was done.
fn was_remembered(
    evidence: &Evidence<'_>,
    seat: &Seat,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let staged = evidence.look.staged()?;
    let refused = |row: &&store::OutboxRow| {
        let text = row.body["text"].as_str().unwrap_or_default();
        // A gateway that is told to end while its memory starts says so, too.
        let why = text.strip_prefix("Nothing was done: ").unwrap_or_default();
        let why = why.strip_prefix("the start of ").unwrap_or(why);
        row.session == seat.session && why.starts_with("the server `memory`")
    };
    let mut refused = evidence.outbox.iter().filter(refused).count();
    for act in &seat.acts {
        let Act::Remember { word } = act else { continue };
        match staged.iter().filter(|row| row.id == *word).count() {
            0 if refused > 0 => refused -= 1,
            0 => findings.lost.push(format!("the order to remember {word}")),
            1 => {}
            times => findings.doubled.push(format!("{word} was ordered {times} times")),
        }
    }
    Ok(())
}

/// Each `/new`, `/stop`, `/undo` and `/compact` of a seat is in the inbox as often as it was given.
fn orders_came_in_once(inbox: &[InboxRow], seat: &Seat, findings: &mut Findings) {
    for order in [Order::Clear, Order::Stop, Order::Undo, Order::Compact] {
        let is_it = |act: &&Act| matches!(act, Act::Order { order: one } if *one == order);
        let given = seat.acts.iter().filter(is_it).count();
        let rows = inbox.iter().filter(|row| row.session == seat.session);
        let taken = rows.filter(|row| row.kind == order.kind()).count();
        let command = order.command();
        let text = format!("{}: {given} × {command}, and {taken} in the inbox", seat.session);
        match taken.cmp(&given) {
            Ordering::Less => findings.lost.push(text),
            Ordering::Greater => findings.doubled.push(text),
            Ordering::Equal => {}
        }
    }
}

/// Each tap has its answer, unless Telegram had forgotten it.
fn taps_were_answered(evidence: &Evidence<'_>, findings: &mut Findings, counts: &mut Counts) {
    let answer = |query: &str| {
        evidence
            .round
            .telegram
            .look(|world| world.taps.get(query).and_then(|tapped| tapped.answer.clone()))
    };
    for (seat, act) in
        evidence.seats().iter().flat_map(|seat| seat.acts.iter().map(move |act| (seat, act)))
    {
        let Act::Tap { tap, approval, code, old, at } = act else { continue };
        counts.taps += 1;
        match answer(&tap.query) {
            Some((words, _))
                if *old
                    && (DECIDES.contains(&words.as_str()) || words.starts_with("Allowed all")) =>
            {
                findings
                    .other
                    .push(format!("a tap `{code}` on an old message of {approval} counted"));
            }
            Some(_) => {}
            None if evidence.seen.absences.iter().any(|absence| absence > at) => {
                counts.forgotten_taps += 1
            }
            None => findings.lost.push(format!(
                "a tap `{code}` on {approval} in {} was never answered",
                seat.session
            )),
        }
    }
    for tap in &evidence.seen.people.unknown_user.taps {
        if let Some((words, _)) =
            answer(&tap.query).filter(|(words, _)| words != "Only the owner can answer this.")
        {
            findings.other.push(format!("an unknown user's tap was answered with {words:?}"));
        }
    }
}

fn unknown_users_heard_nothing(evidence: &Evidence<'_>, findings: &mut Findings) {
    let unknown_user = &evidence.seen.people.unknown_user.user;
    for message in evidence.round.telegram.sent(unknown_user.id) {
        findings.other.push(format!("an unknown user was told {:?}", message.text));
    }
}
