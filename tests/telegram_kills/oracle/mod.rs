//! The findings over a round at rest, from outside: what people did, what Telegram's stand-in
//! recorded, the effects that happened, what the model was sent, and plain SQL. What came twice is
//! explained by what a kill left behind, or is wrong. Must not know how kills are chosen.

mod files;
mod questions;
mod said;
mod taken;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::acts::{Act, Asked};
use crate::botapi::{Call, Message};
use crate::killing::doubt::{Cause, Doubts};
use crate::killing::findings::{Findings, Tally};
use crate::killing::log::{
    Orders, Use, audit_is_true, calls_are_true, log_is_whole, the_switch_is_obeyed, uses,
};
use crate::killing::look::{Approval, Look};
use crate::killing::{lists, recalled, staged_actions, standing, whole, window};
use crate::round::{Round, Seen};
use crate::seat::Seat;
use crate::store;

/// The answers to `/status` and its like are put into the outbox in one transaction and the update
/// is ended in the next, so a kill in between repeats them. They are counted by themselves until
/// that is one transaction; then this is `false`.
const COMMAND_ANSWERS_MAY_REPEAT: bool = false;

/// What a round came to, beside the findings. Nothing here is wrong by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub updates: usize,
    pub messages: usize,
    pub calls: usize,
    pub questions: usize,
    pub taps: usize,
    /// Of the bot, over all chats.
    pub sent: usize,
    /// Questions that were open when claw was killed, counted at each kill.
    pub found_open: usize,
    /// Questions that were shown again after a restart, as they should be.
    pub asked_again: usize,
    /// Messages that came twice because claw was killed between "sending" and "sent".
    pub duplicates: usize,
    /// Messages that show the beginning of an answer that is in another one as well: claw was
    /// killed before it knew their number.
    pub begun: usize,
    /// Questions that still look open and are not: claw was killed before it knew in which message
    /// they were.
    pub orphans: usize,
    /// Answers to commands that were given twice; see [`COMMAND_ANSWERS_MAY_REPEAT`].
    pub repeated: usize,
    /// Taps that Telegram had forgotten when claw came back.
    pub forgotten_taps: usize,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        self.updates += other.updates;
        self.messages += other.messages;
        self.calls += other.calls;
        self.questions += other.questions;
        self.taps += other.taps;
        self.sent += other.sent;
        self.found_open += other.found_open;
        self.asked_again += other.asked_again;
        self.duplicates += other.duplicates;
        self.begun += other.begun;
        self.orphans += other.orphans;
        self.repeated += other.repeated;
        self.forgotten_taps += other.forgotten_taps;
    }
}

/// All that there is to see, for the parts of the oracle.
struct Evidence<'r> {
    seen: &'r Seen,
    bot: i64,
    calls: Vec<Call>,
    outbox: Vec<store::OutboxRow>,
    questions: Vec<store::Question>,
    look: Look,
    logs: BTreeMap<String, Vec<(i64, Value)>>,
    round: &'r Round,
}

impl Evidence<'_> {
    fn seats(&self) -> &[Seat] {
        &self.seen.people.seats
    }

    /// What the bot has said at a place, as it stands now.
    fn screen(&self, seat: &Seat) -> Vec<Message> {
        let sent = self.round.telegram.sent(seat.place.chat);
        sent.into_iter()
            .filter(|message| message.topic == seat.place.topic && !message.deleted)
            .collect()
    }

    /// The letters of every file among messages.
    fn files(&self, screen: &[Message]) -> Vec<String> {
        let media = screen.iter().filter_map(|message| message.media.as_ref());
        let bytes = media.map(|media| self.round.telegram.file(&media.file_id));
        bytes.map(|bytes| letters(own_words(&String::from_utf8_lossy(&bytes)))).collect()
    }

    fn events(&self, seat: &Seat) -> &[(i64, Value)] {
        self.logs.get(&seat.session).map_or(&[], Vec::as_slice)
    }

    fn uses(&self) -> Vec<Use> {
        self.logs.iter().flat_map(|(session, events)| uses(session, events)).collect()
    }

    /// How many kills came while this update was kept and not yet handled to its end.
    fn kills_while_kept(&self, update: Option<i32>) -> usize {
        let Some(update) = update else { return 0 };
        self.seen.left.iter().filter(|left| left.kept.contains(&i64::from(update))).count()
    }
}

/// A message or a file without the quiet line behind it that tells of calls that ran by a grant or
/// were denied, by the stop switch for example.
fn own_words(shown: &str) -> &str {
    let is_quiet = |line: &str| {
        let line = line.trim_start_matches('*');
        line.starts_with("Denied by ") || line.starts_with("Without a question, by ")
    };
    shown.rsplit_once("\n\n").filter(|(_, line)| is_quiet(line)).map_or(shown, |(words, _)| words)
}

/// Letters and digits alone: the same before and after the rendering of Markdown.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

pub async fn judge(round: &Round, seen: &Seen) -> anyhow::Result<(Findings, Counts)> {
    let mut findings = Findings {
        malformed: round.model.faults(),
        seen: Tally { requests: round.model.requests().len(), ..Tally::default() },
        ..Findings::default()
    };
    findings.other.extend(seen.watched.wrong.iter().cloned());
    findings
        .lost
        .extend(seen.restless.iter().map(|what| format!("it never comes to rest: {what}")));
    let look = Look::open(&round.house.db())?;
    let sessions: Vec<String> =
        look.all("SELECT DISTINCT session FROM events", |row| row.get(0))?;
    let logs = sessions.into_iter().map(|session| Ok((session.clone(), look.events(&session)?)));
    let evidence = Evidence {
        seen,
        bot: round.telegram.bot_id(),
        calls: round.telegram.calls(),
        outbox: store::outbox(&look)?,
        questions: store::questions(&look)?,
        logs: logs.collect::<anyhow::Result<_>>()?,
        look,
        round,
    };
    let mut counts = Counts::default();
    taken::judge(&evidence, &mut findings, &mut counts)?;
    said::judge(&evidence, &mut findings, &mut counts);
    questions::judge(&evidence, &mut findings, &mut counts)?;
    calls_happened_once(&evidence, &mut findings, &mut counts)?;
    files::judge(&evidence, &mut findings, &mut counts)?;
    the_house_is_whole(&evidence, &mut findings).await?;
    Ok((findings, counts))
}

fn calls_happened_once(
    evidence: &Evidence<'_>,
    findings: &mut Findings,
    counts: &mut Counts,
) -> anyhow::Result<()> {
    let known = window::known_in(&evidence.round.model.requests());
    for (session, events) in &evidence.logs {
        log_is_whole(events, Orders::Given, findings);
        recalled::judge(&evidence.look, session, events, findings)?;
        window::judge(events, &known, findings);
    }
    let (uses, effects) = (evidence.uses(), evidence.round.house.counted());
    counts.calls = uses.len();
    let actions = staged_actions::actions(&evidence.look, evidence.logs.values().flatten())?;
    calls_are_true(&evidence.look, &uses, &actions, &effects, findings)?;
    let said_yes =
        |approval: &Approval| evidence.seats().iter().any(|seat| seat.has_said_yes(&approval.id));
    the_switch_is_obeyed(&evidence.look, &uses, findings)?;
    let torn = evidence.seen.torn.iter();
    findings.other.extend(torn.map(|torn| format!("at a kill {torn}")));
    lists::judge(&evidence.look, findings)?;
    let gave = |question: &str| evidence.seats().iter().any(|seat| seat.has_answered(question));
    standing::judge(&evidence.look, &uses, gave, findings)?;
    staged_actions::judge(&evidence.look, &uses, &actions, &effects, said_yes, findings)?;
    audit_is_true(&evidence.look, &uses, &effects, findings)?;
    let doubts = Doubts::new(&evidence.look, &uses, &actions, &evidence.seen.watched.struck)?;
    doubts.judge(&evidence.round.house.in_hand(), findings);
    for (id, _, cause) in
        doubts.unknown().filter(|(_, call, cause)| !has_a_cause(evidence, call, *cause))
    {
        findings.other.push(format!("{id} is unknown ({cause:?}), and nothing has cut it off"));
    }
    were_told(evidence, &uses, findings);
    Ok(())
}

/// A call may only be in doubt if it was cut off: by a kill while it ran, or by somebody who
/// stopped the turn.
fn has_a_cause(evidence: &Evidence<'_>, call: &str, cause: Cause) -> bool {
    let seats = evidence.seats();
    let is_switch = |act: &Act| matches!(act, Act::Command { asked: Asked::Switch, .. });
    let killed = evidence.seen.left.iter().any(|left| left.started.contains(call));
    let of_call = |seat: &&Seat| call.starts_with(&format!("{}:", seat.session));
    let is_order = |act: &Act| matches!(act, Act::Order { .. });
    let ordered = seats.iter().find(of_call).is_some_and(|seat| seat.acts.iter().any(is_order));
    match cause {
        // Judged with the servers.
        Cause::ServerEnded => true,
        Cause::ClawEnded => killed,
        Cause::Stopped => {
            killed || ordered || seats.iter().any(|seat| seat.acts.iter().any(is_switch))
        }
        // The call of somebody else, whose server did not answer after that.
        Cause::StoppedElsewhere => {
            let stops = |act: &Act| is_order(act) || is_switch(act);
            seats.iter().any(|seat| seat.acts.iter().any(stops))
        }
        Cause::Other => false,
    }
}

/// Whoever has asked for a call that is unknown was told so, once.
fn were_told(evidence: &Evidence<'_>, uses: &[Use], findings: &mut Findings) {
    for one in uses.iter().filter(|one| one.is_unknown()) {
        let reports = evidence.outbox.iter().filter(|row| {
            row.body["text"].as_str().is_some_and(|text| {
                text.starts_with(&format!("The call {} was interrupted", one.call))
            })
        });
        match reports.count() {
            1 => {}
            0 => findings
                .lost
                .push(format!("nobody was told that {} may or may not have run", one.id)),
            times => findings
                .doubled
                .push(format!("that {} may or may not have run was said {times} times", one.id)),
        }
    }
}

async fn the_house_is_whole(
    evidence: &Evidence<'_>,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let house = &evidence.round.house;
    whole::judge(house, &evidence.look, findings).await?;
    if house.path("work/stolen.txt").exists() {
        findings.other.push("an unknown user was obeyed".to_owned());
    }
    Ok(())
}
