//! What a model was given in a turn, read from the log: the parts of its last request, the notes of
//! the memory, and what did not go in whole. Pure. Must not know who shows it.

use super::{Shares, beside, shares};
use crate::domain::{Event, EventBody, ProjectFile, PromptAccount, RecalledNote, SessionId, Usage};
use crate::turn::{Log, Turn, project};
use claw_kit::counted::counted;

/// The last request of a turn: it begins with all that the ones before it held.
#[derive(Clone, Debug)]
pub struct LastRequest {
    /// The number of the turn.
    pub seq: u64,
    pub requests: usize,
    /// The first event that the model saw.
    pub from_seq: u64,
    pub through_seq: u64,
    pub shares: Shares,
    /// `None` in a log of a claw that noted none.
    pub beside: Option<PromptAccount>,
    /// The model that answered it, and what its provider counted.
    pub answer: Option<(String, Usage)>,
    /// What was recalled in this turn.
    pub notes: Vec<RecalledNote>,
    /// The workspace's own files, as the model was told of them last.
    pub project: Vec<ProjectFile>,
    /// What did not go in whole, a line each.
    pub cut: Vec<String>,
}

/// Why there is nothing to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotGiven {
    /// No turn holds an event with this number.
    NoTurn,
    /// The model was not asked in this turn, which begins with this event.
    NotAsked { seq: u64 },
}

impl LastRequest {
    /// Of the turn that holds the event with this number; without one, of the newest. `events` is
    /// the whole log.
    pub fn of(
        session: &SessionId,
        events: &[Event],
        number: Option<u64>,
    ) -> Result<Self, NotGiven> {
        let turn = turn_of(events, number).ok_or(NotGiven::NoTurn)?;
        let whole = Turn::of(session, turn);
        let is_request = |event: &&Event| matches!(event.body, EventBody::PromptPacked { .. });
        let Some(last) = turn.iter().rfind(is_request) else {
            return Err(NotGiven::NotAsked { seq: whole.seq });
        };
        let mut log = Log::new(session.clone(), Vec::new(), 0);
        for event in events.iter().take_while(|event| event.seq < last.seq) {
            log.follow(event.clone());
        }
        let (shares, mut cut) = (shares(&log), cut_of(&log, turn));
        let from_seq = log.events().first().map_or(last.seq, |event| event.seq);
        log.follow(last.clone());
        let beside = beside(&log).cloned();
        let project = project::standing(&log).unwrap_or_default().to_vec();
        cut.extend(
            project
                .iter()
                .filter(|file| file.is_cut)
                .map(|file| format!("{}: its beginning of {} bytes", file.name, file.bytes)),
        );
        let beside_cut = beside.iter().flat_map(|account| &account.cut);
        cut.extend(beside_cut.map(|cut| format!("{}: {}", cut.what, cut.why)));
        let answer = whole.replies.iter().find(|reply| reply.seq > last.seq);
        let recalled = turn.iter().filter_map(|event| match &event.body {
            EventBody::TurnRecalled { notes, .. } => Some(notes),
            _ => None,
        });
        Ok(Self {
            seq: whole.seq,
            requests: turn.iter().filter(is_request).count(),
            from_seq,
            through_seq: last.seq.saturating_sub(1),
            shares,
            beside,
            answer: answer.map(|reply| (reply.model.to_owned(), *reply.usage)),
            notes: recalled.flatten().cloned().collect(),
            project,
            cut,
        })
    }

    /// Estimated tokens of all of it.
    pub fn tokens(&self) -> u64 {
        self.shares.tokens() + self.beside.as_ref().map_or(0, PromptAccount::tokens)
    }
}

fn turn_of(events: &[Event], number: Option<u64>) -> Option<&[Event]> {
    let begins = |event: &Event| matches!(event.body, EventBody::TurnStarted { .. });
    let newest = events.last()?.seq;
    let number = number.unwrap_or(newest);
    let until = events.iter().take_while(|event| event.seq <= number).count();
    let first = events.get(..until)?.iter().rposition(begins).filter(|_| number <= newest)?;
    let of_turn = events.get(first..)?;
    let length = of_turn.iter().skip(1).take_while(|event| !begins(event)).count() + 1;
    of_turn.get(..length)
}

/// What of the conversation did not go in whole.
fn cut_of(log: &Log, turn: &[Event]) -> Vec<String> {
    let (mut before, mut undone, mut results, mut notes) = (None, Vec::new(), 0, 0);
    for event in log.events() {
        match &event.body {
            EventBody::Summary { through_seq, .. } => {
                before = Some(format!("events 1 to {through_seq}: a summary stands for them"));
            }
            EventBody::WindowDropped { through_seq, .. } => {
                before =
                    Some(format!("events 1 to {through_seq}: dropped but for rules and names"));
            }
            EventBody::SessionCleared {} => {
                before = Some(format!("events 1 to {}: forgotten by `/new`", event.seq));
            }
            EventBody::ExchangeDropped { from_seq, through_seq } => {
                undone.push(format!("events {from_seq} to {through_seq}: undone"));
            }
            EventBody::ResultsCut { cut, .. } => results += cut.len() as u64,
            _ => {}
        }
    }
    for event in turn {
        if let EventBody::TurnRecalled { left_out, .. } = &event.body {
            notes += u64::from(*left_out);
        }
    }
    let mut lines: Vec<String> = before.into_iter().chain(undone).collect();
    if results > 0 {
        lines.push(format!("{}: only head and tail", counted(results, "result")));
    }
    if notes > 0 {
        lines.push(format!("{}: no room (memory.recall_tokens_max)", counted(notes, "note")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::next::tests::{ended, id, log, result, said, started, summary, text, uses};
    use crate::turn::prompt::packed_event;

    fn events() -> Vec<Event> {
        let mut log = log(vec![started(), said("a")]);
        let mut all = log.events().to_vec();
        let mut then = |log: &mut Log, body: EventBody| all.push(log.push(0, body));
        let packed = packed_event(&log, Some(PromptAccount::default()));
        then(&mut log, packed);
        then(&mut log, uses(&["1"]));
        then(&mut log, result(id(4, 0), "one"));
        let packed = packed_event(&log, Some(PromptAccount::default()));
        then(&mut log, packed);
        then(&mut log, text("done"));
        then(&mut log, ended());
        then(&mut log, summary(8));
        then(&mut log, started());
        then(&mut log, said("b"));
        all
    }

    #[test]
    fn a_turn_is_found_by_any_of_its_events_and_told_as_its_last_request() {
        let (session, events) = (SessionId::new("main").unwrap(), events());
        for number in 1..=8 {
            let given = LastRequest::of(&session, &events, Some(number)).unwrap();
            assert_eq!((given.seq, given.requests, given.through_seq), (1, 2, 5), "{number}");
            assert!(given.beside.is_some() && given.answer.is_some());
            assert!(given.shares.results > 0);
        }
        assert_eq!(LastRequest::of(&session, &events, Some(0)).unwrap_err(), NotGiven::NoTurn);
        assert_eq!(LastRequest::of(&session, &events, Some(99)).unwrap_err(), NotGiven::NoTurn);
        let not_asked = LastRequest::of(&session, &events, None).unwrap_err();
        assert_eq!(not_asked, NotGiven::NotAsked { seq: 10 });
    }

    #[test]
    fn what_a_summary_stands_for_is_said() {
        let (session, mut events) = (SessionId::new("main").unwrap(), events());
        let mut log = Log::new(session.clone(), events.clone(), 11);
        events.push(log.push(0, packed_event(&log.clone(), None)));
        let given = LastRequest::of(&session, &events, None).unwrap();
        assert_eq!(given.cut, ["events 1 to 8: a summary stands for them"]);
        assert_eq!(given.beside, None, "it is not told in this window");
    }
}
