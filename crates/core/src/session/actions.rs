//! Staged actions in a session: asked about at the end of a turn, run when they are confirmed, told
//! when they are over. Must not know doors, how a proposal is checked, or what an answer changes in
//! the store.

use claw_kit::counted::counted;

use super::drive::Drive;
use super::for_user::words_for_user;
use super::watch::By;
use super::worker::SessionError;
use crate::calls::{Proposed, job_words};
use crate::domain::{
    Action, Address, Answer, CallId, EventBody, InboundBody, Outbound, OutboundBody, Outcome,
    OwnServerName, STOP_ALL_JOBS, ToolOutput, escape,
};
use crate::store::InboxRow;

/// How much of a result the person reads, in characters. The session's log has the whole.
const HEAD_CHARS_MAX: usize = 1500;
const HEAD_LINES_MAX: usize = 30;
/// Of the command of a job that was ended, in characters.
const JOB_CHARS_MAX: usize = 120;
/// How our own memory server begins where an id is no note's. What it advises is for a model.
const NO_NOTE: &str = "there is no note `";
/// Why what was confirmed is not run after a stop.
const STOPPED: &str = "the owner has stopped it before it ran";

/// What became of an inbox row that may be an answer to something staged.
pub(super) enum Taken {
    NoAction,
    Done,
    /// The action has to run first.
    InHand,
}

impl Drive<'_> {
    /// Takes in an answer about something staged, in or outside of a turn. The row of a confirmed
    /// one stays where it is until there is a result, so that whoever comes after a kill finds it.
    pub(super) async fn absorb_action(&mut self, row: &InboxRow) -> Result<Taken, SessionError> {
        let InboundBody::Answered { approval, answer, by } = &row.inbound.body else {
            return Ok(Taken::NoAction);
        };
        let gate = &self.worker.gate;
        let Some(tapped) = gate.calls().tapped(approval, answer.as_ref())? else {
            return Ok(if gate.calls().is_staged(approval)? {
                Taken::Done
            } else {
                Taken::NoAction
            });
        };
        let (call, action) = (tapped.call, tapped.action);
        if !self.log.has_answer_to(&call) {
            let own = self.is_of_notes(&action);
            if let Some(mut text) = without_a_run(&action, answer.as_ref(), own) {
                if own {
                    match self.close_proposal(&action, answer.is_none(), by).await? {
                        Some(why) => {
                            text.push_str(&format!(" {}", literal(&escape::visible(&why))));
                        }
                        None if answer.is_some() => text.push_str(RESTS),
                        None => {}
                    }
                }
                self.tell_all(&tapped.told, &OutboundBody::Notice { text });
            }
            let (call, approval, answer, by) =
                (call.clone(), approval.clone(), answer.clone(), by.clone());
            let action = Box::new(action);
            self.push(EventBody::ActionAnswered { call, approval, action, answer, by });
        }
        if !self.log.confirmed().iter().any(|(id, _)| *id == call) {
            return Ok(Taken::Done);
        }
        self.acting.insert(call, row.id);
        Ok(Taken::InHand)
    }

    /// Finds the rows of what was confirmed and has no result yet, as a kill has left it. An order
    /// in front of such a row ends the action, and the row with it.
    pub(super) fn find_acting(&mut self, rows: &[InboxRow]) -> Result<(), SessionError> {
        let open = self.log.confirmed();
        for row in rows.iter().filter(|row| !open.is_empty() && !self.absorbed.contains(&row.id)) {
            let InboundBody::Answered { approval, answer, .. } = &row.inbound.body else {
                continue;
            };
            let tapped = self.worker.gate.calls().tapped(approval, answer.as_ref())?;
            if let Some(tapped) =
                tapped.filter(|tapped| open.iter().any(|(call, _)| *call == tapped.call))
            {
                self.acting.insert(tapped.call, row.id);
            }
        }
        Ok(())
    }

    /// Runs the first of them. The others are looked at again, because a stop may have come
    /// meanwhile.
    pub(super) async fn act(&mut self, actions: Vec<(CallId, Action)>) -> Result<(), SessionError> {
        let Some((call, action)) = actions.into_iter().next() else { return Ok(()) };
        let worker = self.worker;
        // What a tap does is no part of the turn that it falls into, and has a time of its own.
        let (end, time_ms) =
            (worker.ending().no_running_call(), self.settings.turn_time_s as i64 * 1000);
        // Its changes are undone alone, under the number of its result.
        let around = self.around_for(end, time_ms, self.log.next_seq());
        if self.is_of_notes(&action) {
            // A yes may change a file of the persona: what it was until now stays in its history.
            let _ = (self.settings.runner.personas.now)(None);
        }
        let acted = self.settings.runner.act(&call, &around);
        let outcome =
            worker.interruptible(&self.session, &around.cancel, By::StopOrPanic, acted).await;
        if around.cancel.is_cancelled() {
            worker.gate.obey_panic().await?;
        }
        worker.gate.snapshots().note(&around.turn).await;
        match outcome {
            Outcome::Left => Ok(()),
            outcome => self.acted(call, action, outcome),
        }
    }

    /// A stop, or `/new`: what was confirmed and has not run is not run any more. Whether there was
    /// something.
    pub(super) async fn stop_actions(&mut self) -> Result<bool, SessionError> {
        let open = self.log.confirmed();
        let some = !open.is_empty();
        for (call, action) in open {
            let outcome = self.worker.gate.abandon(&call, STOPPED).await?;
            self.acted(call, action, outcome)?;
        }
        Ok(some)
    }

    /// The end of an action: in the log, told to everybody, and what it proposes in turn is asked
    /// about at once.
    fn acted(
        &mut self,
        call: CallId,
        action: Action,
        outcome: Outcome,
    ) -> Result<(), SessionError> {
        let told = self.worker.gate.calls().told_of(&call)?;
        let text = match self.worker.gate.hub().builtin(&action.server) {
            Some(OwnServerName::Memory) => {
                words_of_notes(self.worker.gate.calls().claw(), &action, &outcome)
            }
            Some(OwnServerName::Scheduler) => {
                job_words::of_order(&action.tool, &action.arguments, &outcome).map_or_else(
                    || words(&action, &outcome),
                    |words| literal(&escape::visible(&words)),
                )
            }
            Some(OwnServerName::Bash) if action.tool == STOP_ALL_JOBS => {
                ended_jobs(&outcome).unwrap_or_else(|| words(&action, &outcome))
            }
            _ => words(&action, &outcome),
        };
        self.tell_all(&told, &OutboundBody::Notice { text });
        if let Some(row) = self.acting.remove(&call) {
            self.absorbed.insert(row);
            self.pending.absorbed.push(row);
        }
        let proposals = match &outcome {
            Outcome::Ended { output } => output.actions.clone(),
            _ => Vec::new(),
        };
        let tool = format!("{}/{}", action.server, action.tool);
        let claw = self.worker.gate.calls().claw();
        let for_user = words_for_user(&tool, claw, self.session.as_str(), &outcome);
        if let Some(text) = for_user {
            self.tell_all(&told, &OutboundBody::Notice { text });
        }
        let (action, outcome) = (Box::new(action), Box::new(outcome));
        let seq = self.push(EventBody::ActionResult { call: call.clone(), action, outcome });
        let proposed = (0..).zip(proposals).map(|(index, proposal)| Proposed {
            source: call.clone(),
            session: self.session.clone(),
            result_seq: seq,
            index,
            proposal,
        });
        let proposed: Vec<_> = proposed.collect();
        self.stage(proposed, &told, 0)
    }

    /// Whether it is one of our own memory server, whose words are claw's.
    fn is_of_notes(&self, action: &Action) -> bool {
        self.worker.gate.hub().builtin(&action.server) == Some(OwnServerName::Memory)
    }

    /// At the end of a turn, whatever end: everything that its calls have proposed. It goes out
    /// behind the reply, and is written with the end.
    pub(super) fn stage_of_turn(&mut self) -> Result<(), SessionError> {
        let mut proposed = Vec::new();
        for ended in self.turn().results {
            let Outcome::Ended { output } = ended.outcome else { continue };
            for (index, proposal) in (0..).zip(&output.actions) {
                proposed.push(Proposed {
                    source: ended.call.clone(),
                    session: self.session.clone(),
                    result_seq: ended.seq,
                    index,
                    proposal: proposal.clone(),
                });
            }
        }
        // In the order in which the model asked for the calls, not as their results came in.
        proposed.sort_by(|one, other| (&one.source, one.index).cmp(&(&other.source, other.index)));
        let (told, turn_seq) = (self.addresses(), self.turn_seq());
        self.stage(proposed, &told, turn_seq)
    }

    pub(super) fn stage(
        &mut self,
        proposed: Vec<Proposed>,
        told: &[Address],
        turn_seq: u64,
    ) -> Result<(), SessionError> {
        if proposed.is_empty() {
            return Ok(());
        }
        let mut list = self.worker.gate.calls().stage(proposed, told)?;
        for text in std::mem::take(&mut list.left_out) {
            self.tell_all(told, &OutboundBody::Notice { text: literal(&text) });
        }
        for question in std::mem::take(&mut list.questions) {
            self.tell_all(told, &OutboundBody::Question { turn_seq, question: Box::new(question) });
        }
        if !list.is_empty() {
            self.pending.actions.push(list);
        }
        Ok(())
    }

    /// A turn stages only so many actions; what would be more is the failure of the call that
    /// proposes it.
    pub(super) fn within_limit(&self, outcome: Outcome) -> Outcome {
        let Outcome::Ended { mut output } = outcome else { return outcome };
        let turn = self.turn();
        let before = turn.results.iter().map(|ended| match ended.outcome {
            Outcome::Ended { output } => output.actions.len(),
            _ => 0,
        });
        self.worker.gate.calls().limit_staged(before.sum(), &mut output);
        Outcome::Ended { output }
    }

    pub(super) fn tell_all(&mut self, told: &[Address], body: &OutboundBody) {
        for to in told {
            let outbound =
                Outbound { session: self.session.clone(), to: to.clone(), body: body.clone() };
            self.pending.outbound.push(outbound);
        }
    }
}

/// What the memory keeps to once it knows of a no.
const RESTS: &str = " It is not proposed again for a week.";

/// What the person reads of an answer after which nothing runs.
fn without_a_run(action: &Action, answer: Option<&Answer>, own: bool) -> Option<String> {
    match answer {
        None if own => Some(format!(
            "Expired: {}. Nobody said yes in time, and nothing was remembered.",
            name_of_note(action)
        )),
        Some(Answer::Deny { .. } | Answer::Never) if own => {
            Some(format!("Skipped: {}.", name_of_note(action)))
        }
        None => Some(format!(
            "Expired: {}. Nobody confirmed it in time, and nothing was done.",
            name(action)
        )),
        Some(Answer::Deny { .. } | Answer::Never) => Some(format!("Cancelled: {}.", name(action))),
        // Values are for no staged action.
        Some(
            Answer::Allow { .. }
            | Answer::Press { .. }
            | Answer::Pick { .. }
            | Answer::Give { .. }
            | Answer::Skip,
        ) => None,
    }
}

/// What the person reads of an action's end.
fn words(action: &Action, outcome: &Outcome) -> String {
    let name = name(action);
    match outcome {
        Outcome::Ended { output } if output.is_error => {
            format!("Failed: {name}.{}", quoted(output))
        }
        Outcome::Ended { output } => format!("Done: {name}.{}", quoted(output)),
        Outcome::Denied { reason, .. } => {
            format!("Not run: {name}. {}", literal(&capitalised(&escape::visible(reason))))
        }
        Outcome::Unknown { reason } => {
            format!(
                "Interrupted: {name}. It may or may not have run ({}). It will not be repeated.",
                literal(&escape::visible(reason))
            )
        }
        Outcome::Parked { .. } | Outcome::Left => format!("Not run: {name}."),
    }
}

/// The same of our own memory server, which says by itself what it has done.
fn words_of_notes(claw: &str, action: &Action, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ended { output } if !output.text.trim().is_empty() => {
            let head: String = output.text.trim().chars().take(HEAD_CHARS_MAX).collect();
            let said = literal(&escape::visible_multiline(&head)).replace('\n', "\n\n");
            match output.is_error {
                true if action.tool == "forget" && head.starts_with(NO_NOTE) => {
                    format!(
                        "Not done: {}. There is no note of that id; `/memory` shows the ids.",
                        name(action)
                    )
                }
                false if action.tool == "forget" => forgotten(claw, output).unwrap_or(said),
                true if action.tool == "promote" => {
                    format!("Not remembered: {}. {}", name_of_note(action), capitalised(&said))
                }
                true => format!("Not done: {}. {}", name(action), capitalised(&said)),
                false => said,
            }
        }
        _ => words(action, outcome),
    }
}

/// Which background jobs an order has ended, by their numbers and commands.
fn ended_jobs(outcome: &Outcome) -> Option<String> {
    let Outcome::Ended { output } = outcome else { return None };
    let jobs = output.structured.as_ref()?.get("jobs")?.as_array()?;
    let lines: Vec<String> = jobs
        .iter()
        .map(|job| {
            let command = job["command"].as_str().unwrap_or_default();
            let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
            let head: String = line.chars().take(JOB_CHARS_MAX).collect();
            let more = if head.len() < line.len() { "…" } else { "" };
            format!("\n- {}: {}{more}", job["job"], literal(&escape::visible(&head)))
        })
        .collect();
    Some(match lines.len() {
        0 => "No background job runs in this folder.".to_owned(),
        count => format!("Ended {}:\n{}", counted(count as u64, "background job"), lines.concat()),
    })
}

/// The owner brings it back by another command than a model.
fn forgotten(claw: &str, output: &ToolOutput) -> Option<String> {
    let note = output.structured.as_ref()?;
    let of = |key: &str| Some(literal(&escape::visible(note.get(key)?.as_str()?)));
    let (subject, id) = (of("subject")?, note.get("id")?.as_str()?);
    let shown = of("id")?;
    let id = escape::visible(id).replace('`', "");
    Some(format!(
        "Forgotten: {subject} \\[{shown}\\]. `{claw} memory restore {id}` brings it back."
    ))
}

fn name(action: &Action) -> String {
    let summary = action.summary.split_whitespace().collect::<Vec<_>>().join(" ");
    literal(&escape::visible(summary.trim_end_matches('.')))
}

/// What would be remembered, without the order to do it.
fn name_of_note(action: &Action) -> String {
    let name = name(action);
    name.strip_prefix("Remember ").map_or(name.clone(), str::to_owned)
}

/// The beginning of a result, in a block of its own: a server's words must not read like claw's.
fn quoted(output: &ToolOutput) -> String {
    let text = output.text.trim();
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().take(HEAD_LINES_MAX).collect();
    let head: String = lines.join("\n").chars().take(HEAD_CHARS_MAX).collect();
    let more = if head.len() < text.len() { "\nThe session's log has the rest." } else { "" };
    let shown = escape::visible_multiline(&head);
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n\n{fence}\n{shown}\n{fence}{more}")
}

/// A stranger's words inside of Markdown, as they are.
fn literal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '~' | '&') {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolOutput, forgotten};

    #[test]
    fn a_note_is_brought_back_by_a_command_of_its_agent() {
        let structured = Some(json!({"subject": "Anna", "id": "m1"}));
        let output = ToolOutput { structured, ..ToolOutput::default() };
        let told = forgotten("claw --agent work", &output).unwrap();
        assert!(told.ends_with("`claw --agent work memory restore m1` brings it back."), "{told}");
    }
}
