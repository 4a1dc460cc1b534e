//! What becomes of one update: a message for a session, a command, a tap, or nothing. Owns who may do which; must not know
//! how an update got here or how an answer goes out.

use std::sync::Arc;

use super::house::House;
use super::{group, intake, questions};
use crate::app::telegram_principal;
use crate::desk::order_of;
use crate::domain::{Answer, ChatCommand, Origin, Outbound, OutboundBody, SessionId};
use crate::gateway::clock::Clock;
use crate::gateway::commands::{Door, Parsed, help_markdown, parse_for_bot};
use crate::gateway::telegram::incoming::{Incoming, Said};
use crate::router::Visitor;
use crate::store::StoreError;

/// A message that is older than this when it is handled carries its time, in seconds.
const OLD_S: i64 = 60;
/// How much of a message that is replied to is given to the model, in characters.
const QUOTED_CHARS_MAX: usize = 2_000;

/// Handles one update, or those of an album, to their end. An error means that it has to be tried again.
pub(super) async fn handle(house: Arc<House>, ids: Vec<i64>, incoming: Incoming) -> anyhow::Result<()> {
    match incoming {
        Incoming::Nothing(how) => {
            tracing::debug!(update = ids.first(), how, "an update that is no message");
            finish(&house, &ids, how).await?;
        }
        Incoming::Tap(tapped) => {
            let said = questions::tap(&house, &tapped).await?;
            if let Err(fault) = house.api.answer_tap(&tapped.query, &said).await {
                // The button shows a clock for a while; what was decided is decided.
                tracing::debug!(%fault, "a tap could not be answered");
            }
            finish(&house, &ids, "tap").await?;
        }
        Incoming::Message(said) => message(&house, &ids, *said).await?,
    }
    house.ring();
    Ok(())
}

async fn finish(house: &House, ids: &[i64], how: &'static str) -> Result<(), StoreError> {
    for id in ids {
        house.app.mail.finish_update(house.me.id, *id, how).await?;
    }
    Ok(())
}

async fn message(house: &House, ids: &[i64], said: Said) -> anyhow::Result<()> {
    let Some(visitor) = visitor(house, &said) else {
        // Silence: an answer would tell a stranger that somebody is here.
        if house.is_news(said.user) {
            let (chat, user) = (said.place.chat, said.user);
            tracing::warn!(chat, user, "a stranger wrote; CLAW_ALLOWED_CHATS lets a chat in by its id");
        }
        return Ok(finish(house, ids, "stranger").await?);
    };
    // A reply without words, a voice message perhaps, is a message.
    if let Some(word) = questions::word_for(house, &said, &visitor)?.filter(|_| !said.text.is_empty()) {
        let answer = Answer::Deny { word: Some(said.text.clone()) };
        let told = questions::decide(house, &visitor, &word, &answer).await?;
        tell(house, &visitor, &said, &told).await?;
        return Ok(finish(house, ids, "answer").await?);
    }
    let session = said.place.session()?;
    // An album is several, but never a command.
    let key = (house.me.id, ids.first().copied().unwrap_or_default());
    match commanded(&said, &house.me.username) {
        Parsed::NotForUs => Ok(finish(house, ids, "not ours").await?),
        Parsed::Command(command, words) => command_of(house, &said, &visitor, &session, (command, &words), key).await,
        Parsed::Unknown(text) => {
            // Telegram sends this when a person opens the bot for the first time.
            let text = if said.text.starts_with("/start") { welcome() } else { text };
            tell(house, &visitor, &said, &text).await?;
            Ok(finish(house, ids, "command").await?)
        }
        Parsed::Message if !said.private && !said.addressed => {
            finish(house, ids.get(1..).unwrap_or_default(), "not addressed").await?;
            Ok(group::overhear(house, key.1, &said, &visitor).await?)
        }
        Parsed::Message => taken_in(house, ids, &said, visitor, &session).await,
    }
}

async fn taken_in(
    house: &House,
    ids: &[i64],
    said: &Said,
    mut visitor: Visitor,
    session: &SessionId,
) -> anyhow::Result<()> {
    let context = group::context(house, &visitor)?;
    if context.is_some() {
        // What others have said goes in with it, so it is trusted no more than they are.
        visitor.origin = Origin::Forwarded;
    }
    let mut text = context.clone().unwrap_or_default();
    text.push_str(&text_of(house, said));
    let mut message = intake::message_of(house, said, text).await;
    message.with_overheard = context.is_some();
    match house.app.router.message_of_updates(&visitor, session, message, (house.me.id, ids)).await {
        Err(error @ StoreError::QueueFull(_)) => {
            tell(house, &visitor, said, &format!("{error}. Your message was not taken in.")).await?;
            Ok(finish(house, ids, "queue full").await?)
        }
        taken => Ok(taken.map(drop)?),
    }
}

/// What a message is, as far as commands go. A caption is none, or its file would be lost.
pub(super) fn commanded(said: &Said, username: &str) -> Parsed {
    if said.files.is_empty() { parse_for_bot(&said.text, username) } else { Parsed::Message }
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
    Ok(finish(house, &[key.1], "command").await?)
}

/// Words of claw itself, by the outbox.
async fn tell(house: &House, visitor: &Visitor, said: &Said, text: &str) -> anyhow::Result<()> {
    let body = OutboundBody::Notice { text: text.to_owned() };
    house.app.mail.post(Outbound { session: said.place.session()?, to: visitor.from.clone(), body }).await?;
    Ok(())
}

/// The message as the model gets it: who, when if that is long ago, what it replies to.
fn text_of(house: &House, said: &Said) -> String {
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
    if let Some(replied) = &said.reply {
        let quoted: String = replied.text.chars().take(QUOTED_CHARS_MAX).collect();
        let held = intake::words_of(house, &said.place, replied);
        let before = text.len();
        let lines = held.iter().map(String::as_str).chain(quoted.lines());
        lines.for_each(|line| text.push_str(&format!("> {line}\n")));
        // In a topic everything replies to the topic's beginning, which says nothing.
        if text.len() > before {
            text.push('\n');
        }
    }
    if !said.private {
        text.push_str(&format!("{}: ", said.name));
    }
    text.push_str(&said.text);
    text
}
