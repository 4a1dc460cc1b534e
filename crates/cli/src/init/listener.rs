//! Listens to what is written to a bot without taking anything away from it: nothing is confirmed,
//! so that whatever others have written is still there for the gateway. Must not know who is asked
//! about it.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::Value;

use crate::bot_api::access_request::{self, AccessRequest};
use crate::bot_api::fault::ApiFault;
use crate::bot_api::{Api, UPDATES_MAX};
use crate::out;

/// What waits unconfirmed is handed out at once and again and again, so there is a pause between
/// two looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How soon Telegram is asked again after a fault.
const RETRY: Duration = Duration::from_secs(5);

/// Somebody's message in a private chat.
pub struct Heard {
    pub who: AccessRequest,
    /// Empty for anything but text.
    pub text: String,
}

pub struct Listener<'a> {
    api: &'a Api,
    ignored: HashSet<i64>,
    /// Number and writer of everything that was handed out at the last look, in order.
    seen: Vec<(i64, Option<i64>)>,
    /// What was told, so that it is told once.
    told: Option<String>,
}

impl<'a> Listener<'a> {
    pub fn new(api: &'a Api) -> Self {
        Self { api, ignored: HashSet::new(), seen: Vec::new(), told: None }
    }

    /// What this user writes is not heard any more.
    pub fn ignore(&mut self, user: i64) {
        self.ignored.insert(user);
    }

    /// The next message of somebody who is not ignored. May be dropped and asked again.
    pub async fn next(&mut self) -> Heard {
        loop {
            let pause = match self.api.updates(0, true).await {
                Ok(updates) => {
                    self.seen =
                        updates.iter().map(|update| (number(update), writer(update))).collect();
                    let new = updates
                        .iter()
                        .filter_map(heard)
                        .find(|heard| !self.ignored.contains(&heard.who.user));
                    if let Some(heard) = new {
                        return heard;
                    }
                    if updates.len() >= UPDATES_MAX as usize {
                        self.tell(
                            "More messages wait at this bot than can be looked through; type your \
                             numeric id instead.",
                        );
                    }
                    // An empty answer took as long as Telegram lets one wait.
                    if updates.is_empty() { Duration::ZERO } else { LOOK_EVERY }
                }
                Err(ApiFault::Wait(pause)) => pause,
                Err(fault) => {
                    self.tell(&format!("No messages come in: {fault}. I go on trying."));
                    RETRY
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Up to where all that waits is this user's; `None` if the first is somebody else's.
    pub fn below_of(&self, user: i64) -> Option<i64> {
        let own = self.seen.iter().take_while(|(_, writer)| *writer == Some(user));
        own.last().map(|(number, _)| number + 1)
    }

    fn tell(&mut self, sentence: &str) {
        if self.told.as_deref() != Some(sentence) {
            out::err_line(&out::clean(sentence));
            self.told = Some(sentence.to_owned());
        }
    }
}

fn number(update: &Value) -> i64 {
    update.get("update_id").and_then(Value::as_i64).unwrap_or_default()
}

/// Whose private message it is, if it is one.
fn writer(update: &Value) -> Option<i64> {
    heard(update).map(|heard| heard.who.user)
}

fn heard(update: &Value) -> Option<Heard> {
    let message = update.get("message")?;
    let who = access_request::read(&update.to_string())?;
    let is_person = message.pointer("/from/is_bot") != Some(&Value::Bool(true));
    // In a private chat the chat has the user's own id.
    let is_private = who.group.is_none() && who.chat == who.user && who.user > 0;
    let text = message.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    (is_person && is_private).then_some(Heard { who, text })
}
