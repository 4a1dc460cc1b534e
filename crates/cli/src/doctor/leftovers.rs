//! What earlier runs have left in a home: locks, files without a row, rows without a file, logs
//! that are torn, turns without an end. Looks, and changes nothing.

use std::collections::HashSet;
use std::time::Duration;

use claw_kit::counted::counted;

use super::Report;
use super::repair::Repair;
use crate::app::App;
use crate::domain::{CallId, PauseCause, Question};
use crate::durable;
use crate::mail::Instance;
use crate::store::{RowAt, RowFault, Store, kept_copies, now_ms};
use crate::whose::claw;
use crate::{backup, retention};

/// How many copies from before updates are worth keeping; the doctor offers to remove older ones,
/// and nobody else removes any.
const COPIES_KEPT: usize = 3;
/// A file that is younger may be about to be named by a row that is not on the disk yet.
const SETTLED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

pub fn look(app: &App, report: &mut Report) {
    if let Err(error) = locks(app, report) {
        report.bad("locks", format!("{error:#}"));
    }
    if let Err(error) = copies(app, report) {
        report.bad("copies", format!("{error:#}"));
    }
    if let Err(error) = artifacts(app, report) {
        report.bad("artifacts", format!("{error:#}"));
    }
    if let Err(error) = retention(app, report) {
        report.bad("retention", format!("{error:#}"));
    }
    snapshots(app, report);
    look_at_rows(&app.store, report);
    if let Err(error) = turns(app, report) {
        report.bad("logs", format!("{error:#}"));
    }
}

fn locks(app: &App, report: &mut Report) -> anyhow::Result<()> {
    let left = Instance::left_over(&app.config.home.locks())?;
    if !left.is_empty() {
        let text = match left.len() {
            1 => "1 lock file of a door that was killed lies in locks; it holds nothing up"
                .to_owned(),
            many => format!(
                "{many} lock files of doors that were killed lie in locks; they hold nothing up"
            ),
        };
        report.left("locks", text, Repair::RemoveLocks(left));
    }
    let left = backup::left_drafts(&app.config.home);
    if !left.is_empty() {
        let text = match left.len() {
            1 => "1 unfinished file is left by a claw that was killed; it may hold secrets"
                .to_owned(),
            many => format!(
                "{many} unfinished files are left by claws that were killed; they may hold secrets"
            ),
        };
        report.left("drafts", text, Repair::RemoveFiles(left));
    }
    let left = if app.config.home.is_agents() {
        Vec::new()
    } else {
        backup::restore::left_drafts(&app.config.home)
    };
    if let Some(first) = left.first() {
        let first = first.display();
        let text = match left.len() {
            1 => format!(
                "1 copy of a whole home, with its secrets, is left by a restore that was killed: \
                 {first}"
            ),
            many => format!(
                "{many} copies of a whole home, with its secrets, are left by restores that were \
                 killed; the first is {first}"
            ),
        };
        report.left("restores", text, Repair::RemoveFolders(left));
    }
    Ok(())
}

/// What turns have changed, and undos that a kill has cut.
fn snapshots(app: &App, report: &mut Report) {
    let snapshots = app.gate.snapshots();
    let bytes = snapshots.bytes();
    if bytes > 0 {
        let text = format!(
            "what turns have changed takes {bytes} bytes; `{} undo --list` names the turns",
            claw(app)
        );
        report.good("snapshots", text);
    }
    for workspace in snapshots.cut() {
        let text = format!(
            "an undo in {} was cut in the middle; the next start of `claw chat`, `ask`, `undo` or \
             the gateway finishes it, and says what was put back",
            workspace.display()
        );
        report.bad("undo", text);
    }
}

/// The stores as they were before updates.
fn copies(app: &App, report: &mut Report) -> anyhow::Result<()> {
    let mut kept = kept_copies(app.store.path())?;
    let Some(newest) = kept.first() else { return Ok(()) };
    let bytes: u64 = kept.iter().map(|copy| copy.bytes).sum();
    let text = format!(
        "{} of the store from before updates, {bytes} bytes in all; the newest is {}",
        counted(kept.len(), "copy"),
        newest.path.display()
    );
    if kept.len() <= COPIES_KEPT {
        report.good("copies", text);
        return Ok(());
    }
    let old = kept.split_off(COPIES_KEPT).into_iter().map(|copy| copy.path).collect();
    report.left("copies", text, Repair::RemoveCopies(old));
    Ok(())
}

fn artifacts(app: &App, report: &mut Report) -> anyhow::Result<()> {
    let artifacts = app.artifacts();
    let rows = app.store.read(|tx| tx.artifacts())?;
    let files = artifacts.files()?;
    let known: HashSet<&str> = rows.iter().map(|row| row.digest.as_str()).collect();
    let settled = |modified: std::io::Result<std::time::SystemTime>| {
        modified.ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= SETTLED_AFTER)
    };
    let nameless = files.iter().filter(|(name, file)| {
        !durable::is_part(name) && !known.contains(name.as_str()) && settled(file.modified())
    });
    let nameless: HashSet<String> = nameless.map(|(name, _)| name.clone()).collect();
    // An image is named by its log alone.
    let named = if nameless.is_empty() {
        HashSet::new()
    } else {
        app.store.read(|tx| tx.named_digests(&nameless))?
    };
    let mut orphans: Vec<_> =
        nameless.difference(&named).map(|name| artifacts.path(name)).collect();
    orphans.sort();
    if !orphans.is_empty() {
        let belong = if orphans.len() == 1 { "belongs" } else { "belong" };
        let files = counted(orphans.len(), "file");
        let text = format!("{files} in artifacts {belong} to nothing on record");
        report.left("artifacts", text, Repair::RemoveFiles(orphans));
    }
    let there: HashSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let lost = rows
        .into_iter()
        .filter(|row| row.removed.is_none() && !there.contains(row.digest.as_str()));
    let lost: Vec<String> = lost.map(|row| row.digest).collect();
    if let Some(first) = lost.first() {
        let text = match lost.len() {
            1 => format!("the file of the artifact {first} is gone; a backup may have it"),
            many => format!(
                "the files of {many} artifacts are gone, the first is {first}; a backup may have \
                 them"
            ),
        };
        report.repairable("artifacts:lost", text, Repair::NoteLost(lost));
    }
    Ok(())
}

fn retention(app: &App, report: &mut Report) -> anyhow::Result<()> {
    if let Some(doubt) = retention::doubt(app)? {
        report.repairable("clock", doubt, Repair::BelieveClock);
    }
    let overdue = retention::overdue(app)?;
    if !overdue.is_empty() {
        let (are, they_go) = if overdue.is_one() { ("is", "it goes") } else { ("are", "they go") };
        let text = format!(
            "{} {are} older or more than [retention] allows; {they_go} when a door is open for a \
             day",
            overdue.words()
        );
        report.good("retention", text);
    }
    if overdue.needed_bytes > 0 {
        let bytes = overdue.needed_bytes;
        report.good(
            "retention:needed",
            format!(
                "{bytes} bytes of artifacts stay over the limit: conversations still show them"
            ),
        );
    }
    Ok(())
}

/// What is told of a turn that goes on only when a person says so, because claw ended unexpectedly
/// in it. One that waits because of the day's budget has nothing wrong with it.
fn parked_after_deaths(app: &App, question: &Question) -> Option<String> {
    let claw = claw(app);
    let Question { approval, call, why, .. } = question;
    let CallId::Pause { session, turn_seq, cause: PauseCause::Deaths, .. } = call else {
        return None;
    };
    Some(format!(
        "turn {session}:{turn_seq} is parked: {why} `{claw} approve {approval}` tries once \
         more, `{claw} deny {approval}` ends the turn"
    ))
}

/// Rows that hold somebody up. Needs nothing but the store, because they may hold up all the rest.
pub fn look_at_rows(store: &Store, report: &mut Report) {
    if let Err(error) = rows(store, report) {
        report.bad("rows", format!("{error:#}"));
    }
}

fn rows(store: &Store, report: &mut Report) -> anyhow::Result<()> {
    for row in store.read(|tx| tx.damaged_rows())? {
        let id = match &row.at {
            RowAt::Event { session, seq } => format!("log:{session}:{seq}"),
            RowAt::Inbox(id) => format!("inbox:{id}"),
            RowAt::Outbox(id) => format!("outbox:{id}"),
            RowAt::Approval(id) => format!("approval:{id}"),
            RowAt::Call(id) => format!("call:{}", String::from_utf8_lossy(id)),
            RowAt::Grant(id) => format!("grant:{id}"),
            RowAt::Update(nr) => format!("update:{nr}"),
            RowAt::Overheard(nr) => format!("overheard:{nr}"),
            RowAt::Audit(id) => format!("audit:{id}"),
            RowAt::Sequence(table) => format!("sequence:{table}"),
            RowAt::Row { table, key } => {
                let key: Vec<String> = key.iter().map(ToString::to_string).collect();
                format!("{table}:{}", key.join(":"))
            }
        };
        let text = match &row.at {
            RowAt::Sequence(_) => format!("{} is too high for another row to follow", row.at),
            at if row.fault == RowFault::Missing => format!("{at} is missing"),
            at => format!("{at} cannot be read: {}", row.fault),
        };
        report.repairable(id, text, Repair::PutAside(row));
    }
    Ok(())
}

fn turns(app: &App, report: &mut Report) -> anyhow::Result<()> {
    let waiting = app.store.read(|tx| tx.open_approvals(None))?;
    for session in app.store.read(|tx| tx.sessions_with_open_turn())? {
        let questions = || {
            waiting
                .iter()
                .map(|row| &row.question)
                .filter(|question| question.session.as_ref() == Some(&session))
        };
        if let Some(text) = questions().find_map(|question| parked_after_deaths(app, question)) {
            report.bad(format!("turn:{session}"), text);
            continue;
        }
        let in_time = questions().any(|question| question.expires_at_ms > now_ms());
        let text = match (in_time, questions().count()) {
            (true, _) => format!(
                "a turn of `{session}` waits for an answer; `{} approvals` shows the question",
                claw(app)
            ),
            (false, 0) => format!(
                "a turn of `{session}` is under way, or goes on when its door is opened again"
            ),
            (false, _) => format!(
                "a turn of `{session}` has waited for an answer until the time of its question was \
                 over; it goes on when its door is opened again"
            ),
        };
        report.good(format!("turn:{session}"), text);
    }
    Ok(())
}
