//! What becomes of one update: a message for a session, a command, a tap, or nothing. Owns who may do which; must not know
//! how an update got here or how an answer goes out.

use std::sync::Arc;

use super::house::House;
use super::{live, questions};
use crate::app::telegram_principal;
use crate::desk::order_of;
use crate::domain::{Answer, ChatCommand, Origin, Outbound, OutboundBody, SessionId};
use crate::gateway::clock::Clock;
use crate::gateway::commands::{Door, Parsed, help_markdown, parse_for_bot};
use crate::gateway::telegram::callback::Callback;
use crate::gateway::telegram::incoming::{Incoming, Said, read};
use crate::router::Visitor;
use crate::store::StoreError;

/// A message that is older than this when it is handled carries its time, in seconds.
const OLD_S: i64 = 60;
/// How much of a message that is replied to is given to the model, in characters.
const QUOTED_CHARS_MAX: usize = 2_000;

/// Handles one update to its end. An error means that it has to be tried again.
pub(super) async fn handle(house: Arc<House>, id: i64, body: String) -> anyhow::Result<()> {
    match read(&body, &house.me) {
        Incoming::Nothing(how) => {
            tracing::debug!(update = id, how, "an update that is no message");
            finish(&house, id, how).await?;
        }
        Incoming::Tap(tapped) => {
            let said = match Callback::parse(&tapped.data) {
                Some(Callback::Stop(_)) => live::tap_stop(&house, &tapped, (house.me.id, id)).await?,
                _ => questions::tap(&house, &tapped).await?,
            };
            if let Err(fault) = house.api.answer_tap(&tapped.query, &said).await {
                // The button shows a clock for a while; what was decided is decided.
                tracing::debug!(%fault, "a tap could not be answered");
            }
            finish(&house, id, "tap").await?;
        }
        Incoming::Message(said) => message(&house, id, said).await?,
    }
    house.ring();
    Ok(())
}

async fn finish(house: &House, id: i64, how: &'static str) -> Result<(), StoreError> {
    house.app.mail.finish_update(house.me.id, id, how).await.map(drop)
}

async fn message(house: &House, id: i64, said: Said) -> anyhow::Result<()> {
    let Some(visitor) = visitor(house, &said) else {
        // Silence: an answer would tell a stranger that somebody is here.
        if house.is_news(said.user) {
            let (chat, user) = (said.place.chat, said.user);
            tracing::warn!(chat, user, "a stranger wrote; CLAW_ALLOWED_CHATS lets a chat in by its id");
        }
        return Ok(finish(house, id, "stranger").await?);
    };
    if let Some(word) = questions::word_for(house, &said, &visitor)? {
        let answer = Answer::Deny { word: Some(said.text.clone()) };
        let told = questions::decide(house, &visitor, &word, &answer).await?;
        tell(house, &visitor, &said, &told).await?;
        return Ok(finish(house, id, "answer").await?);
    }
    let session = said.place.session()?;
    let key = (house.me.id, id);
    match parse_for_bot(&said.text, &house.me.username) {
        Parsed::NotForUs => Ok(finish(house, id, "not ours").await?),
        Parsed::Command(command, words) => command_of(house, &said, &visitor, &session, (command, &words), key).await,
        Parsed::Unknown(text) => {
            // Telegram sends this when a person opens the bot for the first time.
            let text = if said.text.starts_with("/start") { welcome() } else { text };
            tell(house, &visitor, &said, &text).await?;
            Ok(finish(house, id, "command").await?)
        }
        Parsed::Message if !said.private && !said.addressed => Ok(finish(house, id, "not addressed").await?),
        Parsed::Message => {
            let text = text_of(&said);
            match house.app.router.message_of_update(&visitor, &session, &text, key).await {
                Err(error @ StoreError::QueueFull(_)) => {
                    tell(house, &visitor, &said, &format!("{error}. Your message was not taken in.")).await?;
                    Ok(finish(house, id, "queue full").await?)
                }
                taken => Ok(taken.map(drop)?),
            }
        }
    }
}

fn welcome() -> String {
    format!("I am claw. Write me what to do; I ask before I change anything.\n\n{}", help_markdown(Door::Telegram))
}

/// Who it is, if they may talk here. An owner may in private and in the groups that are allowed; a member of such a group may
/// talk, and decides nothing.
fn visitor(house: &House, said: &Said) -> Option<Visitor> {
    let owner = house.telegram.owners.contains(&said.user);
    let allowed = house.telegram.allowed_chats.contains(&said.place.chat) || (said.private && owner);
    let origin = if owner && !said.forwarded { Origin::Owner } else { Origin::Forwarded };
    let from = said.place.address();
    allowed.then(|| Visitor { from, principal: telegram_principal(said.user), origin })
}

async fn command_of(
    house: &House,
    said: &Said,
    visitor: &Visitor,
    session: &SessionId,
    (command, words): (ChatCommand, &str),
    key: (i64, i64),
) -> anyhow::Result<()> {
    if let Some(order) = order_of(command) {
        // In one transaction with the update, so that one order is carried out once.
        return Ok(house.app.router.order_of_update(visitor, session, order, key).await.map(drop)?);
    }
    let text = match command {
        ChatCommand::Help => Some(help_markdown(Door::Telegram)),
        command => house.desk.command(visitor, session, command, words).await?,
    };
    if let Some(text) = text {
        tell(house, visitor, said, &text).await?;
    }
    Ok(finish(house, key.1, "command").await?)
}

/// Words of claw itself, by the outbox.
async fn tell(house: &House, visitor: &Visitor, said: &Said, text: &str) -> anyhow::Result<()> {
    let body = OutboundBody::Notice { text: text.to_owned() };
    house.app.mail.post(Outbound { session: said.place.session()?, to: visitor.from.clone(), body }).await?;
    Ok(())
}

/// The message as the model gets it: who, when if that is long ago, what it replies to, what came with it.
fn text_of(said: &Said) -> String {
    let mut text = String::new();
    let clock = Clock::system();
    if clock.now_ms / 1000 - said.at_s > OLD_S {
        text.push_str(&format!("[written at {}]\n", clock.at(said.at_s * 1000)));
    }
    if said.forwarded {
        text.push_str("[forwarded: somebody else wrote this]\n");
    }
    if said.edited {
        text.push_str("[a new version of an earlier message]\n");
    }
    if let Some((_, quoted)) = said.reply.as_ref().filter(|(_, quoted)| !quoted.is_empty()) {
        let quoted: String = quoted.chars().take(QUOTED_CHARS_MAX).collect();
        quoted.lines().for_each(|line| text.push_str(&format!("> {line}\n")));
        text.push('\n');
    }
    if !said.private {
        text.push_str(&format!("{}: ", said.name));
    }
    text.push_str(&said.text);
    if let Some(what) = said.attached {
        text.push_str(&format!("\n[{what} came with it, which claw cannot fetch from Telegram yet]"));
    }
    text
}
