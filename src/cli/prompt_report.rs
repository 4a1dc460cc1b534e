//! `claw sessions show NAME --prompt TURN`: what the model was given in a turn, part by part, which
//! notes of the memory, and what did not go in whole. Must not know how a request is packed.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::fail::{self, UserError};
use super::out;
use super::sessions::{events, note_words};
use crate::app::App;
use crate::domain::{Event, EventBody, PromptAccount, RecalledNote, SessionId, TurnId, Usage};
use crate::turn::prompt::{self, Shares};
use crate::turn::{Log, Turn};

/// The word for the turn that began last.
const NEWEST: &str = "newest";

/// The last request of a turn: it begins with all that the ones before it held.
struct Given<'a> {
    turn: TurnId,
    requests: usize,
    /// The first event that a model saw.
    from_seq: u64,
    through_seq: u64,
    shares: Shares,
    /// `None` in a log of a claw that noted none.
    beside: Option<PromptAccount>,
    /// The model that answered it, and what it counted.
    answer: Option<(&'a str, Usage)>,
    notes: Vec<RecalledNote>,
    cut: Vec<String>,
}

pub fn run(app: &App, name: &str, which: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let session = SessionId::new(name)?;
    let events = events(app, name)?;
    let turn = turn_of(&session, &events, which)?;
    let Some(given) = given(&session, &events, turn) else {
        return Err(UserError::because(format!(
            "the model was not asked in the turn {session}:{}; `claw sessions show {session}` has \
             what happened in it",
            turn.first().map_or(0, |event| event.seq)
        )));
    };
    if as_json {
        out::line(&given.json().to_string())?;
    } else {
        given.lines().iter().try_for_each(|line| out::line(&out::clean(line)))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

/// The events of the turn that holds the event with this number, or of the newest turn.
fn turn_of<'a>(
    session: &SessionId,
    events: &'a [Event],
    which: &str,
) -> anyhow::Result<&'a [Event]> {
    let begins = |event: &Event| matches!(event.body, EventBody::TurnStarted { .. });
    let number = match which.strip_prefix(&format!("{session}:")).unwrap_or(which) {
        NEWEST => events.last().map_or(0, |event| event.seq),
        number => number.parse().map_err(|_| {
            UserError::because(format!(
                "`{which}` is no turn; give the number of one of its events, such as 12, or \
                 `{NEWEST}`"
            ))
        })?,
    };
    let until = events.iter().take_while(|event| event.seq <= number).count();
    let head = events.get(..until).unwrap_or_default();
    let is_there = events.last().is_some_and(|event| number <= event.seq);
    let Some(first) = head.iter().rposition(begins).filter(|_| is_there) else {
        return Err(UserError::because(format!(
            "no turn of the session `{session}` holds an event {number}; \
             `claw sessions show {session}` lists them"
        )));
    };
    let of_turn = events.get(first..).unwrap_or_default();
    let length = of_turn.iter().skip(1).take_while(|event| !begins(event)).count() + 1;
    Ok(of_turn.get(..length).unwrap_or_default())
}

fn given<'a>(session: &'a SessionId, events: &'a [Event], turn: &'a [Event]) -> Option<Given<'a>> {
    let is_request = |event: &&Event| matches!(event.body, EventBody::PromptPacked { .. });
    let last = turn.iter().rfind(is_request)?;
    let mut log = Log::new(session.clone(), Vec::new(), 0);
    for event in events.iter().take_while(|event| event.seq < last.seq) {
        log.follow(event.clone());
    }
    let shares = prompt::shares(&log);
    let from_seq = log.events().first().map_or(last.seq, |event| event.seq);
    let cut = cut_of(&log, turn);
    log.follow(last.clone());
    let whole = Turn::of(session, turn);
    let answer = whole.replies.iter().find(|reply| reply.seq > last.seq);
    let recalled = turn.iter().filter_map(|event| match &event.body {
        EventBody::TurnRecalled { notes, .. } => Some(notes),
        _ => None,
    });
    Some(Given {
        turn: TurnId { session: session.clone(), seq: whole.seq },
        requests: turn.iter().filter(is_request).count(),
        from_seq,
        through_seq: last.seq.saturating_sub(1),
        shares,
        beside: prompt::beside(&log).cloned(),
        answer: answer.map(|reply| (reply.model, *reply.usage)),
        notes: recalled.flatten().cloned().collect(),
        cut,
    })
}

/// What of the conversation did not go in whole, a line each.
fn cut_of(log: &Log, turn: &[Event]) -> Vec<String> {
    let mut lines = Vec::new();
    let stands_for = log.events().iter().rev().find_map(|event| match &event.body {
        EventBody::Summary { through_seq, .. } => Some((*through_seq, "a summary stands for them")),
        EventBody::WindowDropped { through_seq, .. } => {
            Some((*through_seq, "dropped, only rules and names are kept"))
        }
        EventBody::SessionCleared {} => Some((event.seq, "before `/new`")),
        _ => None,
    });
    lines.extend(stands_for.map(|(through, why)| format!("events 1 to {through}: {why}")));
    let (mut results, mut undone) = (0, Vec::new());
    for event in log.events() {
        match &event.body {
            EventBody::ResultsCut { cut, .. } => results += cut.len(),
            EventBody::ExchangeDropped { from_seq, through_seq } => {
                undone.push(format!("events {from_seq} to {through_seq}: undone"));
            }
            _ => {}
        }
    }
    lines.extend(undone);
    if results > 0 {
        lines.push(format!("{}: only head and tail", counted(results as u64, "result")));
    }
    let left_out = turn.iter().map(|event| match &event.body {
        EventBody::TurnRecalled { left_out, .. } => u64::from(*left_out),
        _ => 0,
    });
    match left_out.sum::<u64>() {
        0 => {}
        notes => lines
            .push(format!("{}: no room (memory.recall_tokens_max)", counted(notes, "note"))),
    }
    lines
}

fn counted(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

impl Given<'_> {
    fn parts(&self) -> Vec<(&'static str, u64, String)> {
        let mut parts = Vec::new();
        if let Some(beside) = &self.beside {
            let (persona, tools) = (&beside.persona, &beside.tools);
            parts.push(("persona", persona.tokens, persona.digest.clone()));
            parts.push(("rules", beside.rules.tokens, beside.rules.digest.clone()));
            let count = counted(beside.tools_count, "tool");
            parts.push(("tools", tools.tokens, format!("{} {count}", tools.digest)));
        }
        let Shares { summary, messages, results, recalled, told } = self.shares;
        let notes = match self.notes.len() {
            0 => String::new(),
            some => format!("{} new in this turn", some),
        };
        let events = format!("events {} to {}", self.from_seq, self.through_seq);
        parts.extend([
            ("summary", summary, String::new()),
            ("messages", messages, events),
            ("results", results, String::new()),
            ("notes", recalled, notes),
            ("told", told, String::new()),
        ]);
        parts
    }

    fn cut(&self) -> Vec<String> {
        let beside = self.beside.iter().flat_map(|account| &account.cut);
        beside.map(|cut| format!("{}: {}", cut.what, cut.why)).chain(self.cut.clone()).collect()
    }

    fn tokens(&self) -> u64 {
        self.shares.tokens() + self.beside.as_ref().map_or(0, PromptAccount::tokens)
    }

    fn lines(&self) -> Vec<String> {
        let (tokens, requests) = (self.tokens(), self.requests);
        let which = match requests {
            1 => "one request".to_owned(),
            many => format!("the last of {many} requests"),
        };
        let mut lines =
            vec![format!("Turn {}, {which}:", self.turn), format!("about {tokens} tokens")];
        for (name, tokens, note) in self.parts() {
            lines.push(format!("  {name:<9}{tokens:>8}  {note}").trim_end().to_owned());
        }
        if self.beside.is_none() {
            lines.push("  Persona, rules and tools: not noted then".to_owned());
        }
        lines.extend(self.answer.map(|(model, usage)| counts(model, &usage)));
        if let Some(beside) = &self.beside {
            lines.push("Persona:".to_owned());
            let text = |text: &crate::domain::PromptText| {
                format!("  {:<12} {}", text.name, text.digest)
            };
            lines.extend(beside.texts.iter().map(text));
        }
        let list = |head: &str, items: Vec<String>| {
            let some = (!items.is_empty()).then(|| head.to_owned());
            some.into_iter().chain(items.into_iter().map(|item| format!("  {item}")))
        };
        lines.extend(list("Notes of the memory:", self.notes.iter().map(note_words).collect()));
        lines.extend(list("Not in it, or not whole:", self.cut()));
        lines
    }

    fn json(&self) -> Value {
        let Shares { summary, messages, results, recalled, told } = self.shares;
        let answer = self.answer.as_ref().map(|(model, usage)| json!({"model": model, "usage": usage}));
        json!({
            "turn": self.turn.to_string(),
            "requests": self.requests,
            "estimated_tokens": self.tokens(),
            "beside": self.beside,
            "conversation": {
                "from_seq": self.from_seq, "through_seq": self.through_seq, "summary": summary,
                "messages": messages, "results": results, "notes": recalled, "told": told,
            },
            "answer": answer,
            "notes": self.notes,
            "cut": self.cut(),
        })
    }
}

/// What the provider counted. One that reports no cache is not said to have none.
fn counts(model: &str, usage: &Usage) -> String {
    let cached = match usage.cached_tokens {
        0 => String::new(),
        cached => format!(", {cached} of them cached"),
    };
    format!("{model} counted {} tokens{cached}", usage.input_tokens)
}
