//! Whether everything that claw had to say is on the screens once, in order, and nowhere else. A
//! message that came twice must have been on its way when claw was killed. Judged are the texts as
//! they stand at the end, however they came to be there. Must not know questions.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::{COMMAND_ANSWERS_MAY_REPEAT, Counts, Evidence, letters, own_words};
use crate::acts::{Act, Asked, Order, button_of};
use crate::botapi::{Call, Message, Outcome};
use crate::killing::findings::Findings;
use crate::killing::model::answer_to;
use crate::seat::Seat;
use crate::store::OutboxRow;

/// Texts of more letters may go out in parts.
const WHOLE_LETTERS_MAX: usize = 2_500;
/// What is shorter may stand in a long text by chance.
const PART_LETTERS_MIN: usize = 20;
/// Far more than the commit of a row takes.
const COMMIT_MS_MAX: i64 = 1_000;

pub fn judge(evidence: &Evidence<'_>, findings: &mut Findings, counts: &mut Counts) {
    let known = |row: &&OutboxRow| evidence.seats().iter().any(|seat| seat.session == row.session);
    for row in evidence.outbox.iter().filter(|row| !known(row)) {
        findings
            .other
            .push(format!("something was to be said in {}, where nobody is", row.session));
    }
    for seat in evidence.seats() {
        let rows: Vec<&OutboxRow> =
            evidence.outbox.iter().filter(|row| row.session == seat.session).collect();
        let screen = evidence.screen(seat);
        counts.sent += screen.len();
        rows_are_on_the_screen(evidence, seat, &rows, &screen, findings, counts);
        turns_are_answered(evidence, seat, &rows, findings);
        tasks_are_answered(evidence, seat, &rows, &screen, findings, counts);
        commands_are_answered(evidence, seat, &rows, findings, counts);
        in_order(evidence, seat, &rows, findings);
    }
}

fn text(row: &OutboxRow) -> &str {
    row.body["text"].as_str().unwrap_or_default()
}

/// The letters of a row as a person reads them: what was cut off by a stop or an end says so.
fn shown_as(row: &OutboxRow) -> String {
    let cut = if row.body["partial"] == true { "interrupted" } else { "" };
    letters(text(row)) + cut
}

/// How many kills came while one of these rows had a part on its way.
fn window(evidence: &Evidence<'_>, rows: &[&OutboxRow]) -> usize {
    let on_its_way = |id: &i64| rows.iter().any(|row| row.id == *id);
    evidence.seen.left.iter().flat_map(|left| &left.sending).filter(|id| on_its_way(id)).count()
}

fn rows_are_on_the_screen(
    evidence: &Evidence<'_>,
    seat: &Seat,
    rows: &[&OutboxRow],
    screen: &[Message],
    findings: &mut Findings,
    counts: &mut Counts,
) {
    let worded: Vec<(&Message, String)> =
        screen.iter().map(|message| (message, letters(own_words(&message.text)))).collect();
    let mut shown: HashMap<&str, usize> = HashMap::new();
    worded.iter().for_each(|(_, words)| *shown.entry(words).or_default() += 1);
    let mut wanted: BTreeMap<String, Vec<&OutboxRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.body["type"] != "question") {
        wanted.entry(shown_as(row)).or_default().push(row);
    }
    for (said, rows) in wanted {
        let is_long = said.len() > WHOLE_LETTERS_MAX;
        let copies = if !is_long {
            shown.get(said.as_str()).copied().unwrap_or_default()
        } else {
            let as_files = evidence.files(screen).iter().filter(|file| **file == said).count();
            match copies_of_parts(&said, &worded) {
                // Its beginning and the whole as a file.
                Err(_) if as_files > 0 => as_files,
                Ok(surplus) => rows.len() + surplus,
                Err(missing) => {
                    findings.lost.push(format!("{}: of a long answer {missing}", seat.session));
                    continue;
                }
            }
        };
        let (first, kills) =
            (text(rows[0]).lines().next().unwrap_or_default(), window(evidence, &rows));
        // A draft can show the whole before there is a row of it, and of a long one a whole part.
        let drafts = worded.iter().filter(|(_, words)| {
            *words == said
                || is_long && words.len() > PART_LETTERS_MIN && said.contains(words.as_str())
        });
        let allowed =
            kills + drafts.filter(|(message, _)| cut_off(evidence, seat, message)).count();
        if copies < rows.len() {
            findings.lost.push(format!(
                "{}: {} × {first:?}, and it is there {copies} times",
                seat.session,
                rows.len()
            ));
        } else if copies > rows.len() + allowed {
            let text = format!(
                "{}: {} × {first:?}, and it is there {copies} times; {kills} kills came while it was on its way",
                seat.session,
                rows.len()
            );
            findings.doubled.push(text);
        } else {
            counts.duplicates += copies - rows.len();
        }
    }
}

/// How many messages hold a part of a long text and are not needed to show it whole: a part that
/// came again, or a beginning that was shown before a kill. `Err` says what is missing. A long
/// answer is unlike any other.
fn copies_of_parts(said: &str, screen: &[(&Message, String)]) -> Result<usize, String> {
    let parts: Vec<&str> = screen
        .iter()
        .map(|(_, words)| words.as_str())
        .filter(|part| part.len() > PART_LETTERS_MIN && said.contains(part))
        .collect();
    // How far the text can be read, part by part in the order of the screen, and by how many parts.
    let mut read = BTreeMap::from([(0, 0)]);
    for part in &parts {
        for (end, used) in read.clone() {
            if said[end..].starts_with(part) {
                let most: &mut usize = read.entry(end + part.len()).or_default();
                *most = (used + 1).max(*most);
            }
        }
    }
    match read.get(&said.len()) {
        Some(used) => Ok(parts.len() - used),
        None => {
            let farthest = read.keys().next_back().copied().unwrap_or_default();
            Err(format!("{farthest} of {} letters are there", said.len()))
        }
    }
}

/// One reply for each turn that has ended.
fn turns_are_answered(
    evidence: &Evidence<'_>,
    seat: &Seat,
    rows: &[&OutboxRow],
    findings: &mut Findings,
) {
    let started = evidence.events(seat).iter().filter(|(_, event)| event["type"] == "turn.started");
    for (seq, _) in started {
        let replies = rows
            .iter()
            .filter(|row| row.body["type"] == "reply" && row.body["turn_seq"] == *seq)
            .count();
        match replies {
            1 => {}
            0 => findings.lost.push(format!("{}: the reply to the turn {seq}", seat.session)),
            times => findings
                .doubled
                .push(format!("{}: the turn {seq} has {times} replies", seat.session)),
        }
    }
}

/// A message whose turn was answered has its answer in one reply, and on the screen of its own chat
/// alone.
fn tasks_are_answered(
    evidence: &Evidence<'_>,
    seat: &Seat,
    rows: &[&OutboxRow],
    screen: &[Message],
    findings: &mut Findings,
    counts: &mut Counts,
) {
    let events = evidence.events(seat);
    for name in seat
        .acts
        .iter()
        .filter_map(|act| if let Act::Task { name } = act { Some(name) } else { None })
    {
        let answer = answer_to(name);
        let with: Vec<&OutboxRow> =
            rows.iter().copied().filter(|row| text(row).contains(&answer)).collect();
        if with.is_empty() && end_of_turn_of(name, events) == Some("answered") {
            findings.lost.push(format!("the answer to {name}"));
        }
        if with.len() > 1 {
            findings.doubled.push(format!("the message {name} was answered {} times", with.len()));
        }
        let times = screen.iter().filter(|message| message.text.contains(&answer)).count();
        let allowed = with.len() + window(evidence, &with);
        let begun = || {
            screen.iter().filter(|message| {
                message.text.contains(&answer) && cut_off(evidence, seat, message)
            })
        };
        if times > allowed && times > allowed + begun().count() {
            findings.doubled.push(format!(
                "the answer to {name} is in {times} messages, {allowed} are explained"
            ));
        }
        counts.begun += times.saturating_sub(allowed);
    }
    let mine = format!("ANSWER:s{:02}n", seat.number);
    for message in screen {
        if let Some(at) = message
            .text
            .match_indices("ANSWER:s")
            .find(|(at, _)| !message.text[*at..].starts_with(&mine))
        {
            findings
                .other
                .push(format!("{} got {:?}, which is not meant for it", seat.session, at));
        }
    }
}

/// Whether a message was the last that claw wrote to its place before it was killed: the beginning
/// of an answer that was not yet noted, so that nobody could finish it.
fn cut_off(evidence: &Evidence<'_>, seat: &Seat, message: &Message) -> bool {
    let thread = seat.place.topic.map(i64::from);
    let writes = |call: &Call| {
        let of_thread = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
        call.is("sendMessage")
            && call.chat == Some(seat.place.chat)
            && of_thread(&call.params["message_thread_id"]) == thread
    };
    let sent = |call: &Call| match &call.outcome {
        Outcome::Done(result) | Outcome::CutAfter(result) => result["message_id"] == message.id,
        _ => false,
    };
    let Some(at) = evidence.calls.iter().position(|call| writes(call) && sent(call)) else {
        return false;
    };
    let Some(end) = evidence.seen.left.iter().map(|left| left.calls).find(|end| at < *end) else {
        return false;
    };
    !evidence.calls[at + 1..end].iter().any(writes)
}

/// How the turn ended that a message came into.
fn end_of_turn_of<'e>(name: &str, events: &'e [(i64, Value)]) -> Option<&'e str> {
    let wanted = format!("TASK {name} ");
    let mut inside = false;
    for (_, event) in events {
        match event["type"].as_str() {
            Some("user.message") => {
                inside |=
                    event["blocks"][0]["text"].as_str().is_some_and(|text| text.contains(&wanted));
            }
            Some("turn.ended") if inside => return event["end"]["kind"].as_str(),
            _ => {}
        }
    }
    None
}

/// What kind of command a notice answers.
fn asked(notice: &str) -> Option<Asked> {
    Some(match notice {
        _ if notice.contains("- queued messages: ") => Asked::Status,
        _ if notice.starts_with("**Today, all sessions**") => Asked::Usage,
        _ if notice.starts_with("The model is ") => Asked::Model,
        _ if notice.starts_with("- `/new`") => Asked::Help,
        _ if notice.starts_with("There is no command") => Asked::Unknown,
        _ if notice.starts_with("**The stop switch is on**")
            || notice.starts_with("The stop switch is off") =>
        {
            Asked::Switch
        }
        _ if notice.starts_with("Mode `edits`: ") => Asked::Mode,
        _ if notice == "Denied."
            || notice.starts_with("Denied all ")
            || notice.starts_with("this question") =>
        {
            Asked::Reason
        }
        _ => return None,
    })
}

fn commands_are_answered(
    evidence: &Evidence<'_>,
    seat: &Seat,
    rows: &[&OutboxRow],
    findings: &mut Findings,
    counts: &mut Counts,
) {
    let notices = || rows.iter().filter(|row| row.body["type"] == "notice").map(|row| text(row));
    for kind in [
        Asked::Status,
        Asked::Usage,
        Asked::Model,
        Asked::Help,
        Asked::Switch,
        Asked::Mode,
        Asked::Unknown,
        Asked::Reason,
    ] {
        let updates: Vec<Option<i32>> = seat
            .acts
            .iter()
            .filter_map(|act| match act {
                Act::Command { asked, update } if *asked == kind => Some(*update),
                Act::Reason { update, .. } if kind == Asked::Reason => Some(*update),
                _ => None,
            })
            .collect();
        let answers = notices().filter(|notice| asked(notice) == Some(kind)).count();
        let kept: usize = updates.iter().map(|update| evidence.kills_while_kept(*update)).sum();
        let said = format!("{}: {} × {kind:?}, and {answers} answers", seat.session, updates.len());
        match answers.checked_sub(updates.len()) {
            None => findings.lost.push(said),
            Some(0) => {}
            Some(surplus) if COMMAND_ANSWERS_MAY_REPEAT && surplus <= kept => {
                counts.repeated += surplus
            }
            Some(_) => findings.doubled.push(said),
        }
    }
    for (order, starts) in [
        (Order::Clear, &["A new conversation."][..]),
        (
            Order::Compact,
            &["The oldest exchanges will be summarised", "There is nothing to summarise yet"][..],
        ),
        (
            Order::Undo,
            &["Dropped from the context", "There is nothing to undo", "A turn is running or waits"]
                [..],
        ),
    ] {
        let given = seat
            .acts
            .iter()
            .filter(|act| matches!(act, Act::Order { order: one } if *one == order))
            .count();
        let told =
            notices().filter(|notice| starts.iter().any(|start| notice.starts_with(start))).count();
        if told != given {
            let list = if told < given { &mut findings.lost } else { &mut findings.doubled };
            list.push(format!(
                "{}: {given} × {}, and {told} answers",
                seat.session,
                order.command()
            ));
        }
    }
}

/// Rows of a chat come in the order in which they were written, by when each was first there whole.
/// One that was whole before its row was on the disk came as a draft, while its turn went on, and
/// keeps the place that it had then.
fn in_order(evidence: &Evidence<'_>, seat: &Seat, rows: &[&OutboxRow], findings: &mut Findings) {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut long: Vec<(usize, String)> = Vec::new();
    let mut again: HashSet<String> = HashSet::new();
    for (index, call) in evidence.calls.iter().enumerate() {
        let writes =
            ["sendMessage", "sendDocument", "editMessageText"].iter().any(|method| call.is(method));
        if !writes || !call.took_effect() || call.chat != Some(seat.place.chat) {
            continue;
        }
        let buttons = call.params["reply_markup"]["inline_keyboard"].to_string();
        if let Some((approval, _)) = buttons.split('"').find_map(button_of) {
            first.entry(format!("question {approval}")).or_insert(index);
            continue;
        }
        let said = letters(call.params["text"].as_str().unwrap_or_default());
        if said.len() > 1_000 {
            long.push((index, said.clone()));
        }
        if let Some(_earlier) = first.get(&said) {
            again.insert(said);
        } else {
            first.insert(said, index);
        }
    }
    let key = |row: &OutboxRow| match row.body["question"]["approval"].as_str() {
        Some(approval) => format!("question {approval}"),
        None => shown_as(row),
    };
    let mut often: HashMap<String, usize> = HashMap::new();
    evidence.outbox.iter().for_each(|row| *often.entry(key(row)).or_default() += 1);
    let mut last = (0, String::new());
    for row in rows {
        let key = key(row);
        if often.get(&key).copied() != Some(1) {
            continue;
        }
        let begins =
            || long.iter().find(|(_, said)| key.starts_with(said)).map(|(index, _)| *index);
        let Some(at) = first.get(&key).copied().or_else(begins) else { continue };
        // A row has its time before its commit. A draft that came meanwhile, and a kill behind it:
        // then the row came once more.
        let committed_ms = row.at_ms + if again.contains(&key) { COMMIT_MS_MAX } else { 0 };
        if evidence.calls[at].at_ms < committed_ms || was_a_draft(evidence, at) {
            continue;
        }
        if at < last.0 {
            let head: String = key.chars().take(60).collect();
            findings.other.push(format!(
                "{}: {head:?} came before {:?}, which is older",
                seat.session, last.1
            ));
        }
        last = (at, key.chars().take(60).collect());
    }
}

/// Whether a message was edited after this call: then it was sent while its turn went on, though it
/// may have arrived when the row was there.
fn was_a_draft(evidence: &Evidence<'_>, at: usize) -> bool {
    let (Outcome::Done(sent) | Outcome::CutAfter(sent)) = &evidence.calls[at].outcome else {
        return false;
    };
    let (chat, message) = (evidence.calls[at].chat, &sent["message_id"]);
    evidence.calls[at + 1..].iter().any(|call| {
        call.is("editMessageText") && call.chat == chat && call.params["message_id"] == *message
    })
}
