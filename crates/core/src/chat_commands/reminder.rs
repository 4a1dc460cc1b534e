//! What an owner answers to a reminder that was told: it is done, or it shall be said again. Each
//! reminder is answered once, by a button or by `/remind again`. Owns what is said of that; must
//! not know buttons, or how a time is read.

use futures::future::BoxFuture;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::own::shortened;
use super::schedule::SCHEDULER;
use super::{ChatCommands, Given};
use crate::calls::{FrozenOrder, Order};
use crate::domain::{ReminderAnswer, SessionId, spoken_time};
use crate::router::Visitor;
use crate::store::{SaidFiring, StoreError, Tx};

/// As an answer is kept that was typed.
const TYPED: &str = "typed";
const AGAIN: &str = "again";

/// What comes of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReminderTold {
    /// For whoever tapped.
    pub words: String,
    /// What the message of the reminder says from now on, in Markdown. `None` where nobody knows
    /// the reminder any more.
    pub shown: Option<String>,
}

impl ChatCommands {
    /// Takes an owner's tap on a reminder: marks it, or orders one new reminder, once, whoever taps
    /// how often. `zone` is where the owner lives.
    pub fn answer_reminder<'a>(
        &'a self,
        visitor: &'a Visitor,
        session: &'a SessionId,
        firing: &'a str,
        answer: ReminderAnswer,
        zone: &'a TimeZone,
    ) -> BoxFuture<'a, Result<ReminderTold, StoreError>> {
        Box::pin(async move {
            let store = self.parts().store.clone();
            let Some(said) = store.read(|tx| tx.said_firing(firing))? else {
                let words =
                    "Nobody knows this reminder any more; /remind makes a new one.".to_owned();
                return Ok(ReminderTold { words, shown: None });
            };
            if let Some(before) = &said.answer {
                return Ok(told(&said, before, false));
            }
            let order = match fields(answer, &said, zone) {
                None => None,
                Some(fields) => match self.reminder(visitor, session, fields, &said.said).await? {
                    Ok(order) => Some(order),
                    Err(words) => return Ok(ReminderTold { words, shown: None }),
                },
            };
            let id = firing.to_owned();
            let write = move |tx: &Tx<'_>| {
                let is_new = answered(tx, &id, answer.as_str(), order.as_ref())?;
                Ok((is_new, tx.said_firing(&id)?.and_then(|said| said.answer)))
            };
            let (is_new, kept) = store.write(write).await?;
            Ok(told(&said, kept.as_deref().unwrap_or(answer.as_str()), is_new))
        })
    }

    /// `/remind again 10m`: the newest reminder of this conversation that nobody has answered.
    /// `None` if the words are not that.
    pub(super) async fn remind_again(
        &self,
        given: Given<'_>,
    ) -> Result<Option<Option<String>>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let Some(when) = words.trim().strip_prefix(AGAIN).filter(|rest| is_apart(rest)) else {
            return Ok(None);
        };
        let store = self.parts().store.clone();
        let said = store.read(|tx| tx.newest_said_firing(session))?;
        let Some((firing, said)) = said.filter(|(_, said)| said.answer.is_none()) else {
            let none = "No reminder of this conversation waits for an answer; `/remind 20m call mum` \
                        makes a new one.";
            return to.say(&store, none.to_owned()).await.map(Some);
        };
        let fields = match spoken_time::read(&format!("{when} {AGAIN}")) {
            Ok(read) => read.fields,
            Err(_) => {
                let usage =
                    "When? For example `/remind again 10m` or `/remind again tomorrow 9:00`.";
                return to.say(&store, usage.to_owned()).await.map(Some);
            }
        };
        match self.reminder(visitor, session, fields, &said.said).await? {
            Err(why) => to.say(&store, why).await.map(Some),
            Ok(order) => {
                let write = move |tx: &Tx<'_>| answered(tx, &firing, TYPED, Some(&order)).map(drop);
                to.silently(&store, write).await.map(Some)
            }
        }
    }

    /// The same words once more, frozen. The inner error is a sentence.
    async fn reminder(
        &self,
        visitor: &Visitor,
        session: &SessionId,
        mut fields: Map<String, Value>,
        said: &str,
    ) -> Result<Result<FrozenOrder, String>, StoreError> {
        let parts = self.parts();
        fields.insert("say".to_owned(), json!(said));
        fields.insert("session".to_owned(), json!(session.as_str()));
        let order = Order {
            session: session.clone(),
            builtin: SCHEDULER.builtin,
            tool: "schedule",
            arguments: Value::Object(fields),
            summary: format!("Remind: {}", shortened(said)),
            origin: visitor.origin,
            by: visitor.principal.clone(),
            to: visitor.from.clone(),
        };
        parts.gate.calls().at(&parts.granted_in(session)?).freeze_order(order).await
    }
}

/// Keeps the answer and what it orders, unless there is one already.
fn answered(
    tx: &Tx<'_>,
    firing: &str,
    answer: &str,
    order: Option<&FrozenOrder>,
) -> Result<bool, StoreError> {
    if !tx.answer_firing(firing, answer)? {
        return Ok(false);
    }
    order.map_or(Ok(()), |order| order.write(tx))?;
    Ok(true)
}

/// When it is said again. Tomorrow means the same time of day.
fn fields(
    answer: ReminderAnswer,
    said: &SaidFiring,
    zone: &TimeZone,
) -> Option<Map<String, Value>> {
    let fields = match answer {
        ReminderAnswer::Done => return None,
        ReminderAnswer::InTenMinutes => json!({ "in_minutes": 10 }),
        ReminderAnswer::Tomorrow => {
            let at = Timestamp::from_millisecond(said.at_ms).unwrap_or_default();
            let time = at.to_zoned(zone.clone()).strftime("%H:%M").to_string();
            let mut fields = json!({ "at_local": time, "date": "tomorrow" });
            if let Some(name) = zone.iana_name().filter(|name| *name != "Etc/Unknown") {
                fields["zone"] = json!(name);
            }
            fields
        }
    };
    fields.as_object().cloned()
}

fn told(said: &SaidFiring, answer: &str, is_new: bool) -> ReminderTold {
    let what = match ReminderAnswer::parse(answer) {
        Some(ReminderAnswer::Done) => "Done.",
        Some(ReminderAnswer::InTenMinutes) => "Said again in 10 minutes.",
        Some(ReminderAnswer::Tomorrow) => "Said again tomorrow.",
        None => "Said again.",
    };
    let words = if is_new { what.to_owned() } else { format!("This was answered already: {what}") };
    ReminderTold { words, shown: Some(format!("⏰ {}\n\n*{what}*", said.said)) }
}

fn is_apart(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(char::is_whitespace)
}
