//! Whether every call that is in doubt, or was not forwarded, has something that cut it off, and
//! whether a server that was killed was up again for the next call. Must not know who struck.
//!
//! A call that was in hand when its server died is unknown; one that its server has had in hand is
//! never told as not run; and once claw has told of a death, the next call finds the server.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::effects::server_of;
use super::findings::Findings;
use super::log::Use;
use super::look::{Audited, Look};
use super::staged_actions::Action;
use super::strike::Struck;

/// The longest that claw may take to see that a server is gone, on a machine that is busy.
const NOTICE_MS_MAX: i64 = 5_000;

/// What cut a call off whose end nobody knows, by claw's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    ClawEnded,
    ServerEnded,
    /// By a person, or with the turn.
    Stopped,
    /// The server did not answer any more after another call that was stopped, and was ended.
    StoppedElsewhere,
    Other,
}

impl Cause {
    pub fn of(outcome: &Value) -> Self {
        let reason = outcome["reason"].as_str().unwrap_or_default();
        let begins = |starts: &[&str]| starts.iter().any(|start| reason.starts_with(start));
        match () {
            () if reason.contains("it was told to give up a call") => Self::StoppedElsewhere,
            () if begins(&["claw was ended while it ran"]) => Self::ClawEnded,
            () if begins(&["the server ended before it answered"]) => Self::ServerEnded,
            () if begins(&[
                "it was stopped while it ran",
                "it was running when the turn ended",
            ]) =>
            {
                Self::Stopped
            }
            () => Self::Other,
        }
    }
}

/// What claw says of a call that its server never got, because there was no server.
const WITHOUT_SERVER: [&str; 5] = [
    "did not start",
    "did not list its tools",
    "times in a row and is left alone",
    "the server ended before the call was sent",
    "the server was not ready in time",
];

fn is_not_forwarded(outcome: &Value) -> bool {
    let reason = outcome["reason"].as_str().unwrap_or_default();
    outcome["kind"] == "denied" && WITHOUT_SERVER.iter().any(|said| reason.contains(said))
}

/// A call with its end, whatever made it.
struct Ended<'a> {
    id: &'a str,
    call: &'a str,
    outcome: &'a Value,
}

/// When a call last began, or went on, and when it ended: its place in the audit, and the time.
#[derive(Clone, Copy)]
struct Span {
    started: (usize, i64),
    ended: (usize, i64),
}

/// What the calls of a run are judged by.
pub struct Doubts<'a> {
    ends: Vec<Ended<'a>>,
    spans: BTreeMap<String, Span>,
    /// When the stop switch was turned on, which ends the servers: its places in the audit, and the
    /// times.
    switched: Vec<(usize, i64)>,
    struck: &'a [Struck],
}

impl<'a> Doubts<'a> {
    pub fn new(
        look: &Look,
        uses: &'a [Use],
        actions: &'a [Action],
        struck: &'a [Struck],
    ) -> rusqlite::Result<Self> {
        let of_uses = uses.iter().filter_map(|one| {
            Some(Ended { id: &one.id, call: &one.call, outcome: one.outcomes.first()? })
        });
        let of_actions = actions.iter().filter_map(|one| {
            Some(Ended { id: &one.id, call: &one.call, outcome: one.outcome()? })
        });
        let ends = of_uses.chain(of_actions).collect();
        let audit = look.audit()?;
        let on = audit.iter().enumerate().filter(|(_, entry)| entry.kind == "panic.on");
        let switched = on.map(|(place, entry)| (place, entry.at_ms)).collect();
        Ok(Self { ends, spans: spans(&audit), switched, struck })
    }

    /// Every call in doubt, with what cut it off.
    pub fn unknown(&self) -> impl Iterator<Item = (&'a str, &'a str, Cause)> {
        let unknown = self.ends.iter().filter(|end| end.outcome["kind"] == "unknown");
        unknown.map(|end| (end.id, end.call, Cause::of(end.outcome)))
    }

    /// Whether a call ended for its server's sake without having been sent.
    pub fn was_not_forwarded(&self, call: &str) -> bool {
        self.ends.iter().any(|end| end.call == call && is_not_forwarded(end.outcome))
    }

    /// Judges what a death of a server leaves. `in_hand` are the calls that the server of effects
    /// has got.
    pub fn judge(&self, in_hand: &BTreeSet<String>, findings: &mut Findings) {
        for end in &self.ends {
            let Ended { id, outcome, .. } = end;
            if outcome["kind"] == "denied" && in_hand.contains(*id) {
                findings.other.push(format!(
                    "{id} was reported as not run ({}), and its server had it in hand",
                    outcome["reason"]
                ));
            }
            if !self.ended_with_its_server(end) {
                continue;
            }
            // The stop switch ends servers by itself, whether somebody has struck as well or not.
            if self.was_switched_off(end) {
                continue;
            }
            let by = self.strikes(end);
            if by.is_empty() {
                let reason = &outcome["reason"];
                findings.other.push(format!("{id}: {reason}, and nobody has killed its server"));
            } else if by.iter().all(|strike| self.was_told(*strike, end)) {
                let reason = &outcome["reason"];
                findings.other.push(format!("{id}: the server was not up again for it ({reason})"));
            }
        }
    }

    fn ended_with_its_server(&self, end: &Ended<'_>) -> bool {
        let is_unknown = end.outcome["kind"] == "unknown";
        (is_unknown && Cause::of(end.outcome) == Cause::ServerEnded)
            || is_not_forwarded(end.outcome)
    }

    /// The stop switch came between its beginning and its end.
    fn was_switched_off(&self, end: &Ended<'_>) -> bool {
        let Some(Span { started, ended }) = self.spans.get(end.call) else { return false };
        // A server that the switch has ended is seen to be gone a little later, also by a call that
        // begins when the switch is off again.
        let is_late = is_not_forwarded(end.outcome);
        self.switched.iter().any(|(place, at_ms)| {
            (started.0..=ended.0).contains(place)
                || (is_late && (*at_ms..=at_ms + NOTICE_MS_MAX).contains(&started.1))
        })
    }

    /// The kills that can have cut this call off.
    fn strikes(&self, end: &Ended<'_>) -> Vec<usize> {
        let Some(Span { started, ended }) = self.spans.get(end.call) else { return Vec::new() };
        let cuts = |struck: &Struck| {
            struck.server == server_of(end.id)
                && struck.before_ms <= ended.1
                && started.1 <= struck.after_ms + NOTICE_MS_MAX
        };
        (0..self.struck.len()).filter(|index| cuts(&self.struck[*index])).collect()
    }

    /// Claw has told of this death before this call was started.
    fn was_told(&self, strike: usize, of: &Ended<'_>) -> bool {
        let Some(span) = self.spans.get(of.call) else { return false };
        self.ends.iter().any(|earlier| {
            self.ended_with_its_server(earlier)
                && !self.was_switched_off(earlier)
                && self.strikes(earlier) == [strike]
                && self.spans.get(earlier.call).is_some_and(|one| one.ended.0 < span.started.0)
        })
    }
}

fn spans(audit: &[Audited]) -> BTreeMap<String, Span> {
    let mut spans: BTreeMap<String, Span> = BTreeMap::new();
    for (index, row) in audit.iter().enumerate() {
        let at = (index, row.at_ms);
        match row.kind.as_str() {
            // A call that never started can still have waited for its server.
            "received" | "answered" | "started" => {
                spans.insert(row.call.clone(), Span { started: at, ended: at });
            }
            "ended" => {
                spans.entry(row.call.clone()).and_modify(|span| span.ended = at);
            }
            _ => {}
        }
    }
    spans
}
