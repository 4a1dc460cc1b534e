//! The daily digest: what ran without a question and by what, danger first, and taking a grant back
//! from it. Owns its words, and that a day is told once. Must not know when a day is told, or how a
//! door shows it.

use std::borrow::Cow;

use claw_kit::counted::counted;
use futures::future::BoxFuture;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::{AnswerTo, ChatCommands, ChatCommandsParts, code_of, grants, when};
use crate::domain::{Address, BELIEVED, Outbound, OutboundBody, SessionId, UnixMillis, rule_words};
use crate::gate::Gate;
use crate::store::{LastDailyDigest, Store, StoreError, Tx, now_ms};

pub const NOTHING_RAN: &str = "Nothing ran without a question in the last 24 hours.";

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The longest stretch of time that a digest tells of.
const TOLD_OF_MS_MAX: i64 = 7 * DAY_MS;
/// Two days are told at least so far apart, by the time that the system is up: no setting of the
/// clock makes them more.
const DAYS_APART_MS: i64 = 12 * HOUR_MS;
/// So many of the newest calls of each grant and rule are looked at for danger.
const LOOKED_AT_MAX: u32 = 500;
/// How much of what a grant says stands in a line, in characters.
const SAYS_CHARS_MAX: usize = 100;

/// A digest as it was sent. It stays so; only what became of its grants is looked up again.
#[derive(Serialize, Deserialize)]
struct StoredDigest {
    /// From when on, in words.
    since: String,
    calls: u64,
    /// Danger first, then what is the owner's to take back, then the busiest.
    lines: Vec<DigestLine>,
}

/// Calls that the same rule or grant has let run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DigestLine {
    pub calls: u64,
    pub danger: bool,
    pub rule: String,
    /// The grant that it is.
    pub grant: Option<i64>,
    /// What the grant says; empty for a rule.
    pub says: String,
    /// Whether it was in force when this was counted.
    pub in_force: bool,
}

/// The digest of one day, for the chat that is told of it.
pub struct DigestOfDay {
    /// As year, month and day, where the owner lives.
    pub day: String,
    pub zone: TimeZone,
    pub session: SessionId,
    pub to: Address,
}

/// What came of a tap on a button of a digest.
pub struct TakenBack {
    /// For whoever tapped.
    pub words: String,
    /// What the message says now; `None` if the digest is too old to be kept.
    pub shown: Option<OutboundBody>,
}

impl ChatCommands {
    /// Tells the digest of a day, unless that was done, or nothing ran. True if it goes out.
    pub fn digest_of_day(&self, of: DigestOfDay) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let parts = self.parts();
            let last = parts.store.read(|tx| tx.last_daily_digest())?;
            if last.as_ref().is_some_and(|last| last.day == of.day) {
                return Ok(false);
            }
            if last.as_ref().is_some_and(is_too_soon) {
                tracing::info!(
                    day = of.day,
                    "it is too soon after the last digest for one of this day"
                );
                return Ok(false);
            }
            parts.gate.calls().find_out_box_of_open_calls().await;
            let tell = move |tx: &Tx<'_>| {
                let (now, last) = (now_ms(), tx.last_daily_digest()?);
                // A day behind the last one: the clock was put back. It begins anew tomorrow.
                let is_behind = last.as_ref().is_some_and(|last| last.day > of.day);
                let after = last.map_or(now - DAY_MS, |last| last.until_ms);
                let after =
                    if after > now { now - DAY_MS } else { after.max(now - TOLD_OF_MS_MAX) };
                let digest =
                    StoredDigest::count(tx, &parts.gate, (after, now), since(after, &of.zone))?;
                let Some(number) = tx.add_daily_digest(Some(&of.day), now, &digest.text()?)? else {
                    return Ok(false);
                };
                if is_behind || digest.lines.is_empty() {
                    return Ok(false);
                }
                let body = digest.body(tx, number, &parts)?;
                tx.add_outbound(&Outbound { session: of.session, to: of.to, body })?;
                Ok(true)
            };
            self.parts().store.write(tell).await
        })
    }

    /// The digest of the last 24 hours, for an owner who asks for it.
    pub(super) async fn digest_now(&self, to: &AnswerTo) -> Result<Option<String>, StoreError> {
        let parts = self.parts();
        let store = parts.store.clone();
        parts.gate.calls().find_out_box_of_open_calls().await;
        let count = move |tx: &Tx<'_>| asked_for(tx, &parts);
        to.body_once(&store, count).await
    }

    /// Takes a grant back that a digest names, in the name of `by`, a principal. What is so already
    /// is said.
    pub fn take_back<'a>(
        &'a self,
        digest: i64,
        grant: i64,
        by: &'a str,
    ) -> BoxFuture<'a, Result<TakenBack, StoreError>> {
        Box::pin(async move {
            let (parts, by) = (self.parts(), by.to_owned());
            let store = parts.store.clone();
            let take_back = move |tx: &Tx<'_>| {
                let is_new = grants::revoke_in(tx, &grant.to_string(), &by)?.is_some();
                let words = match tx.grant_said(grant)? {
                    None => format!("There is no grant {grant}."),
                    Some(_) if is_new => format!("Grant {grant} is taken back."),
                    Some(said) => match said.revoked_ms {
                        Some(at) => {
                            let at = when(at, &parts.zone);
                            format!("Grant {grant} has ended already, {at}.")
                        }
                        None => format!("Grant {grant} has ended already."),
                    },
                };
                let stored = tx.daily_digest(digest)?;
                let stored =
                    stored.map(|text| serde_json::from_str::<StoredDigest>(&text)).transpose()?;
                let shown = stored.map(|stored| stored.body(tx, digest, &parts));
                Ok(TakenBack { words, shown: shown.transpose()? })
            };
            store.write(take_back).await
        })
    }
}

/// All lines of the last 24 hours, for a terminal.
pub async fn digest_lines(store: &Store, gate: &Gate) -> Result<Vec<DigestLine>, StoreError> {
    gate.calls().find_out_box_of_open_calls().await;
    let now = now_ms();
    Ok(store.read(|tx| StoredDigest::count(tx, gate, (now - DAY_MS, now), String::new()))?.lines)
}

/// Less time has passed since than a day told needs, whatever the clock says.
fn is_too_soon(last: &LastDailyDigest) -> bool {
    last.up_since_ms.is_some_and(|up| (0..DAYS_APART_MS).contains(&up))
}

fn asked_for(tx: &Tx<'_>, parts: &ChatCommandsParts) -> Result<OutboundBody, StoreError> {
    let now = now_ms();
    let digest =
        StoredDigest::count(tx, &parts.gate, (now - DAY_MS, now), "the last 24 hours".to_owned())?;
    if digest.lines.is_empty() {
        return Ok(OutboundBody::Notice { text: NOTHING_RAN.to_owned() });
    }
    let number = tx.add_daily_digest(None, now, &digest.text()?)?.unwrap_or_default();
    digest.body(tx, number, parts)
}

/// `Fri 20:00`, or with the date where that is more than a week ago.
fn since(at_ms: UnixMillis, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(at_ms).map(|at| at.to_zoned(zone.clone()));
    at.map_or_else(|_| when(at_ms, zone), |at| at.strftime("%a %H:%M").to_string())
}

impl StoredDigest {
    fn count(
        tx: &Tx<'_>,
        gate: &Gate,
        (after_ms, until_ms): (UnixMillis, UnixMillis),
        since: String,
    ) -> Result<Self, StoreError> {
        let mut lines = Vec::new();
        for (rule, calls) in tx.ran_without_question(after_ms, until_ms)? {
            let grant = rule.strip_prefix("grant.").and_then(|id| id.parse().ok());
            let only_looks = matches!(rule.as_str(), LEVEL_READ | CLASS_SAFE);
            let danger = !only_looks && {
                let ran = tx.ran_by(&rule, after_ms, until_ms, LOOKED_AT_MAX)?;
                gate.calls().is_any_dangerous(tx, &ran)?
            };
            let says = grant.map(|id| says(tx, id)).transpose()?.unwrap_or_default();
            let in_force = grant.map_or(Ok(false), |id| tx.grant_holds(id))?;
            lines.push(DigestLine { calls, danger, rule, grant, says, in_force });
        }
        lines.sort_by_key(|line| (!line.danger, line.grant.is_none()));
        let calls = lines.iter().map(|line| line.calls).sum();
        Ok(Self { since, calls, lines })
    }

    fn text(&self) -> Result<String, StoreError> {
        Ok(serde_json::to_string(self)?)
    }

    /// As it is shown now.
    fn body(
        &self,
        tx: &Tx<'_>,
        number: i64,
        parts: &ChatCommandsParts,
    ) -> Result<OutboundBody, StoreError> {
        let (most, zone) = (parts.digest_lines_max, &parts.zone);
        let calls = counted(self.calls, "call");
        let mut text = format!("**Without a question, since {}: {calls}.**\n\n", self.since)
            .replace("since the last", "in the last");
        let mut in_force = Vec::new();
        for line in self.lines.iter().take(most) {
            let danger = if line.danger { "⚠ " } else { "" };
            text.push_str(&format!(
                "- {danger}{} {}",
                counted(line.calls, "call"),
                line.markdown()
            ));
            match line.grant {
                Some(grant) if tx.grant_holds(grant)? => in_force.push(grant),
                Some(grant) => {
                    text.push_str(&match tx.grant_said(grant)?.and_then(|it| it.revoked_ms) {
                        Some(at) => format!(" *(ended {})*", when(at, zone)),
                        None => " *(ended)*".to_owned(),
                    })
                }
                None => {}
            }
            text.push('\n');
        }
        if self.lines.len() > most {
            let rest = self.lines.iter().skip(most).map(|line| line.calls).sum::<u64>();
            let lines = counted((self.lines.len() - most) as u64, "more line");
            text.push_str(&format!(
                "- and {lines} with {}; `{} digest` shows all, `limits.digest_lines_max` how many\n",
                counted(rest, "call"),
                parts.gate.calls().claw()
            ));
        }
        Ok(OutboundBody::Digest { number, text, grants: in_force })
    }
}

const LEVEL_READ: &str = "builtin.level-read";
const CLASS_SAFE: &str = "class.safe";

impl DigestLine {
    /// What let them run.
    pub fn by(&self) -> String {
        self.by_with(str::to_owned)
    }

    fn markdown(&self) -> String {
        self.by_with(|text| code_of(text, SAYS_CHARS_MAX))
    }

    fn by_with(&self, quoted: impl Fn(&str) -> String) -> String {
        match (self.grant, self.rule.as_str()) {
            (Some(id), _) => format!("by grant {id}: {}", quoted(&self.says)),
            (None, LEVEL_READ) => "at level read, which could only look".to_owned(),
            (None, CLASS_SAFE) => "of tools that only read or propose".to_owned(),
            (None, BELIEVED) => "by their server's hint that they only read".to_owned(),
            // A rule of the owner's is called as it stands in their file.
            (None, rule) if rule.starts_with("builtin.") || rule.starts_with("class.") => {
                format!("by {}", quoted(&rule_words(rule)))
            }
            (None, rule) => format!("by {}", quoted(rule)),
        }
    }
}

fn says(tx: &Tx<'_>, grant: i64) -> Result<String, StoreError> {
    let Some(said) = tx.grant_said(grant)? else { return Ok(String::new()) };
    // What a mode lets through is the same for all of its kind, and stands in `/mode`.
    let is_mode = said.name == ("claw".to_owned(), "mode".to_owned());
    let end = if is_mode { said.says.find(": ") } else { None };
    Ok(said.says[..end.unwrap_or(said.says.len())].to_owned())
}

/// What is shown where there are no buttons.
pub fn without_buttons(body: &OutboundBody) -> Cow<'_, str> {
    match body {
        OutboundBody::Digest { text, grants, .. } if !grants.is_empty() => {
            format!("{text}\n`/grants revoke ID` takes a grant back.").into()
        }
        OutboundBody::Reminder { text, .. } => {
            format!("{text}\n\n`/remind again 10m` says it again.").into()
        }
        OutboundBody::Digest { text, .. } | OutboundBody::Notice { text } => text.into(),
        _ => "".into(),
    }
}
