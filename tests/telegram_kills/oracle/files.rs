//! Whether every file arrived once, whole, and where it was meant to be: what people sent, in the
//! workspace and in their message; what a reply handed over, in its chat. Must not know how a file
//! is fetched or sent.

use std::collections::BTreeSet;

use super::{Counts, Evidence};
use crate::acts::{Act, paper_of};
use crate::botapi::Message;
use crate::killing::findings::Findings;
use crate::killing::kept::{files_below, judge as kept_files, made, made_path};
use crate::seat::Seat;
use crate::store::OutboxRow;

pub fn judge(
    evidence: &Evidence<'_>,
    findings: &mut Findings,
    counts: &mut Counts,
) -> rusqlite::Result<()> {
    papers_came_in_once(evidence, findings);
    for seat in evidence.seats() {
        replies_handed_over(evidence, seat, findings, counts);
    }
    kept_files(&evidence.round.house, &evidence.look, &evidence.uses(), findings)
}

/// One file in the inbox of the workspace for each that was sent, which its message names.
fn papers_came_in_once(evidence: &Evidence<'_>, findings: &mut Findings) {
    let workspace = evidence.round.house.path("work");
    let folder = workspace.join("inbox");
    let read = |path: &std::path::PathBuf| std::fs::read(path).unwrap_or_default();
    let there: Vec<_> = files_below(&folder).into_iter().map(|path| (read(&path), path)).collect();
    for seat in evidence.seats() {
        for name in seat
            .acts
            .iter()
            .filter_map(|act| if let Act::Paper { name } = act { Some(name) } else { None })
        {
            findings.seen.kept += 1;
            let paper = paper_of(name);
            let copies: Vec<_> =
                there.iter().filter(|(bytes, _)| *bytes == paper).map(|(_, path)| path).collect();
            match copies.as_slice() {
                [] => findings.lost.push(format!("the file of {name} is not in the workspace")),
                [path] => {
                    let path = path.strip_prefix(&workspace).unwrap_or(path).to_string_lossy();
                    let wanted = format!("TASK {name} ");
                    let mut said = evidence
                        .events(seat)
                        .iter()
                        .filter_map(|(_, event)| event["blocks"][0]["text"].as_str());
                    if !said.any(|text| text.contains(&wanted) && text.contains(&*path)) {
                        findings
                            .lost
                            .push(format!("the message {name} does not name its file {path}"));
                    }
                }
                more => findings
                    .doubled
                    .push(format!("the file of {name} is in the workspace {} times", more.len())),
            }
        }
    }
    let whole: BTreeSet<Vec<u8>> =
        evidence.seats().iter().flat_map(|seat| &seat.acts).filter_map(paper).collect();
    let half = |bytes: &[u8]| {
        bytes.is_empty() || (bytes.starts_with(b"the paper of ") && !whole.contains(bytes))
    };
    for (_, path) in there.iter().filter(|(bytes, _)| half(bytes)) {
        findings.other.push(format!("{} is no whole file of anybody", path.display()));
    }
}

fn paper(act: &Act) -> Option<Vec<u8>> {
    if let Act::Paper { name } = act { Some(paper_of(name)) } else { None }
}

/// Each file that a reply links is in its chat once, whole, or a sentence says why it is not.
fn replies_handed_over(
    evidence: &Evidence<'_>,
    seat: &Seat,
    findings: &mut Findings,
    counts: &mut Counts,
) {
    let screen = evidence.screen(seat);
    let replies = evidence
        .outbox
        .iter()
        .filter(|row| row.session == seat.session && row.body["type"] == "reply");
    let mut wanted = BTreeSet::new();
    for row in replies {
        for id in linked(row) {
            findings.seen.kept += 1;
            wanted.insert(format!("{id}.txt"));
            arrived(evidence, row, &id, &screen, findings, counts);
        }
    }
    let is_stray = |name: &str| name.starts_with("make-") && !wanted.contains(name);
    for media in screen
        .iter()
        .filter_map(|message| message.media.as_ref())
        .filter(|media| is_stray(&media.name))
    {
        findings.other.push(format!(
            "{} got the file {}, which no reply hands over",
            seat.session, media.name
        ));
    }
}

/// The ids of the calls whose files a reply links.
fn linked(row: &OutboxRow) -> Vec<String> {
    let text = row.body["text"].as_str().unwrap_or_default();
    let links = text.split("](gifts/").skip(1).filter_map(|rest| rest.split_once(".txt)"));
    links.map(|(id, _)| id.to_owned()).collect()
}

fn arrived(
    evidence: &Evidence<'_>,
    row: &OutboxRow,
    id: &str,
    screen: &[Message],
    findings: &mut Findings,
    counts: &mut Counts,
) {
    let named = format!("{id}.txt");
    let copies: Vec<Vec<u8>> = screen
        .iter()
        .filter_map(|message| message.media.as_ref())
        .filter(|media| media.name == named)
        .map(|media| evidence.round.telegram.file(&media.file_id))
        .collect();
    if copies.iter().any(|bytes| *bytes != made(id)) {
        findings.other.push(format!("the file {named} arrived as something else"));
    }
    let refused = format!("{} was not sent", made_path(id));
    let was_made = evidence.round.house.path("work").join(made_path(id)).exists();
    let told = screen.iter().filter(|message| message.text.contains(&refused)).count();
    // Of a reply to many messages at once, ten files come and a sentence names the others.
    let too_many = "Not sent, because a reply hands over 10 files at most: ";
    let left_out = screen
        .iter()
        .filter_map(|message| message.text.strip_prefix(too_many))
        .filter(|names| names.split(", ").any(|name| name == made_path(id)))
        .count();
    let kills = evidence.seen.left.iter().filter(|left| left.sending.contains(&row.id)).count();
    match copies.len() + told + left_out {
        0 => findings.lost.push(format!("the file {named}, and nobody was told")),
        _ if told > 0 && was_made => {
            let lost = format!("the file {named}, which is there to be handed over");
            findings.lost.push(lost)
        }
        times if times > 1 + kills => findings
            .doubled
            .push(format!("the file {named} arrived {times} times; {kills} kills came while its reply was on its way")),
        times => counts.duplicates += times - 1,
    }
}
