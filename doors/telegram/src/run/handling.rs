//! What becomes of one update: a message for a session, a command, a tap, or nothing. Owns who may
//! do which; must not know how an update got here or how an answer goes out.

use std::sync::Arc;

use claw_kit::counted::counted_with;

use super::context::GatewayContext;
use super::message_text::text_of;
use super::{group, intake, notify, pairing, reactions, taps, words};
use crate::api::access_request::{Standing, standing};
use crate::api::incoming::{ChatMessage, Incoming};
use crate::api::place::Place;
use crate::api::unusable::{self, Unusable};
use crate::chat_commands::{AnswerTo, PromptLine, order_of};
use crate::domain::{
    Block, ChatCommand, Origin, Outbound, OutboundBody, SessionId, named_in, telegram_principal,
};
use crate::doors::commands::{DoorKind, Parsed, help_markdown, near, parse_for_bot};
use crate::doors::questions;
use crate::mail::MailError;
use crate::router::{UpdateMessage, Visitor};

/// So many open questions are shown again by `/approvals`.
const QUESTIONS_AGAIN_MAX: usize = 10;

/// Handles one update, or those of an album, to their end. An error means that it has to be tried
/// again.
pub(super) async fn handle(
    ctx: Arc<GatewayContext>,
    ids: Vec<i64>,
    incoming: Incoming,
) -> anyhow::Result<()> {
    let first = ids.first().copied().unwrap_or_default();
    match incoming {
        Incoming::Nothing(how) => {
            let body = ctx.mail.kept_update(ctx.me.id, first)?.unwrap_or_default();
            if let Some((chat, now)) = standing(&body) {
                moved(&ctx, first, ctx.api.known_chat(chat), now).await?;
            } else if let Some(unusable) = unusable::read(&body, &ctx.me) {
                told_unusable(&ctx, first, unusable).await?;
            } else {
                tracing::debug!(update = first, how, "an update that is no message");
                finish(&ctx, &ids, how).await?;
            }
        }
        // It is done with when it is answered.
        Incoming::Tap(tapped) => taps::tap(&ctx, &tapped, first).await?,
        Incoming::Reaction(reacted) => reactions::reacted(&ctx, &reacted, first).await?,
        Incoming::Message(msg) => {
            crate::killpoint::bug("CLAW_BUG_IN_HANDLER", &msg.text);
            message(&ctx, &ids, *msg).await?;
        }
    }
    ctx.shared.wake();
    Ok(())
}

async fn finish(ctx: &GatewayContext, ids: &[i64], how: &'static str) -> Result<(), MailError> {
    for id in ids {
        ctx.mail.finish_update(ctx.me.id, *id, how).await?;
    }
    Ok(())
}

/// Something that claw cannot use gets a word, so that nobody waits for an answer.
async fn told_unusable(
    ctx: &GatewayContext,
    update: i64,
    unusable: Unusable,
) -> anyhow::Result<()> {
    let place = Place { chat: ctx.api.known_chat(unusable.place.chat), ..unusable.place };
    let for_us = unusable.private || unusable.to_bot;
    if !for_us || !may_talk(ctx, place.chat)? {
        return Ok(finish(ctx, &[update], "unusable").await?);
    }
    let text =
        format!("I cannot use {}, so nothing comes of it. {}", unusable.what, unusable.instead);
    let body = OutboundBody::Notice { text };
    let outbound = Outbound { session: place.session()?, to: place.address(), body };
    ctx.mail.answer_update(ctx.me.id, update, "unusable", outbound).await?;
    Ok(())
}

/// The bot was let into a chat, or sent away.
async fn moved(ctx: &GatewayContext, id: i64, chat: i64, now: Standing) -> anyhow::Result<()> {
    match now {
        // A group that has become a supergroup is left by being moved.
        Standing::Out if ctx.api.chat_now(chat) == chat && may_talk(ctx, chat)? => {
            let place = Place { bot: ctx.me.id, chat, thread: None };
            notify::blocked(ctx, &place, "the bot was blocked or removed").await?;
        }
        Standing::Out => {}
        Standing::Welcome => notify::unblocked(ctx, chat).await?,
    }
    // Whoever starts the bot in private says so by a message; a group may be silent for long.
    if now == Standing::Welcome && chat < 0 && !may_talk(ctx, chat)? {
        return access_requested(ctx, &[id]).await;
    }
    Ok(finish(ctx, &[id], "member").await?)
}

/// Somebody who may not talk. An album is one request.
async fn access_requested(ctx: &GatewayContext, ids: &[i64]) -> anyhow::Result<()> {
    let Some((first, others)) = ids.split_first() else { return Ok(()) };
    finish(ctx, others, "unknown user").await?;
    if let Some(body) = ctx.mail.kept_update(ctx.me.id, *first)? {
        pairing::access_requested(ctx, *first, &body).await?;
    }
    Ok(())
}

pub(super) fn may_talk(ctx: &GatewayContext, chat: i64) -> Result<bool, MailError> {
    let now = ctx.api.chat_now(chat);
    if [chat, now].iter().any(|chat| ctx.telegram.allowed_chats.contains(chat))
        || ctx.is_owner(chat)
    {
        return Ok(true);
    }
    ctx.mail.is_allowed_user(ctx.me.id, chat)
}

async fn message(ctx: &GatewayContext, ids: &[i64], msg: ChatMessage) -> anyhow::Result<()> {
    let Some(visitor) = visitor(ctx, &msg)? else { return access_requested(ctx, ids).await };
    notify::unblocked(ctx, msg.place.chat).await?;
    // It was taken out of the update before that was written.
    if let Some(told) = ctx.shared.context.chat_commands.login_answer(&visitor, &msg.text).await {
        return answer(ctx, &visitor, &msg, ids, "login", told).await;
    }
    let parsed = commanded(&msg, &ctx.me.username);
    // A command is one whatever it replies to, and a reply without words, a voice message perhaps,
    // is a message.
    if matches!(parsed, Parsed::Message)
        && let Some(asked) = taps::word_for(ctx, &msg, &visitor)?.filter(|_| !msg.text.is_empty())
    {
        let told = taps::deny(ctx, &visitor, &asked, &msg.text).await?;
        return answer(ctx, &visitor, &msg, ids, "answer", told).await;
    }
    let session = msg.place.session()?;
    // An album is several, but never a command.
    let key = (ctx.me.id, ids.first().copied().unwrap_or_default());
    match parsed {
        Parsed::NotForUs => Ok(finish(ctx, ids, "not ours").await?),
        Parsed::Command(command, words) => {
            command_of(ctx, &msg, &visitor, &session, (command, &words), key).await
        }
        Parsed::Unknown(text) => answer(ctx, &visitor, &msg, ids, "command", text).await,
        Parsed::Foreign(otherwise) => foreign(ctx, ids, &msg, visitor, (&session, otherwise)).await,
        Parsed::Message if !msg.private && !msg.addressed => {
            finish(ctx, ids.get(1..).unwrap_or_default(), "not addressed").await?;
            Ok(group::overhear(ctx, key.1, &msg, &visitor).await?)
        }
        Parsed::Message => match words::read(ctx, &msg, &visitor, &session, key).await? {
            words::Meant::Answered => Ok(()),
            words::Meant::ToNothing(why) => answer(ctx, &visitor, &msg, ids, "answer", why).await,
            words::Meant::Message(told) => {
                taken_in(ctx, ids, &msg, visitor, (&session, told)).await
            }
        },
    }
}

/// A prompt of a server, or nothing that anybody knows.
async fn foreign(
    ctx: &GatewayContext,
    ids: &[i64],
    msg: &ChatMessage,
    visitor: Visitor,
    (session, otherwise): (&SessionId, String),
) -> anyhow::Result<()> {
    // Telegram sends this when a person opens the bot for the first time.
    let otherwise = if msg.text.starts_with("/start") { welcome() } else { otherwise };
    let commands = &ctx.shared.context.chat_commands;
    let text = match commands.prompt_of(&visitor, &msg.text, near(&msg.text)).await {
        PromptLine::None => otherwise,
        PromptLine::Wrong(why) => why,
        PromptLine::Runs(prompt) => {
            let blocks = vec![Block::Text { text: msg.text.clone() }];
            let message = UpdateMessage { blocks, named: vec![prompt], ..UpdateMessage::default() };
            return submit(ctx, ids, msg, &visitor, (session, message)).await;
        }
    };
    answer(ctx, &visitor, msg, ids, "command", text).await
}

async fn submit(
    ctx: &GatewayContext,
    ids: &[i64],
    msg: &ChatMessage,
    visitor: &Visitor,
    (session, message): (&SessionId, UpdateMessage),
) -> anyhow::Result<()> {
    match ctx.router.message_of_updates(visitor, session, message, (ctx.me.id, ids)).await {
        Err(error) if error.is_queue_full() => {
            let text = format!("{error}.");
            answer(ctx, visitor, msg, ids, "queue full", text).await
        }
        taken => Ok(taken.map(drop)?),
    }
}

async fn taken_in(
    ctx: &GatewayContext,
    ids: &[i64],
    msg: &ChatMessage,
    mut visitor: Visitor,
    (session, told): (&SessionId, Option<String>),
) -> anyhow::Result<()> {
    let fetched = intake::of_reply(ctx, msg).await;
    let context = group::context(ctx, &visitor)?;
    let quotes_elsewhere = msg.elsewhere.as_ref().is_some_and(|quoted| !quoted.is_empty());
    let is_of_another = fetched.as_ref().is_some_and(|fetched| fetched.is_of_another);
    if context.is_some() || quotes_elsewhere || is_of_another {
        // What others have said goes in with it, so it is trusted no more than they are.
        visitor.origin = Origin::Forwarded;
    }
    let mut text = context.clone().unwrap_or_default();
    text.push_str(&text_of(ctx, msg));
    let mut message = intake::message_of(ctx, msg, text, fetched).await;
    message.with_overheard = context.is_some();
    message.notices.extend(told);
    // What others have written with it names nothing.
    message.named = named_in(&msg.text);
    submit(ctx, ids, msg, &visitor, (session, message)).await
}

/// What a message is, as far as commands go. A caption is none, or its file would be lost.
pub(super) fn commanded(msg: &ChatMessage, username: &str) -> Parsed {
    if msg.files.is_empty() { parse_for_bot(&msg.text, username) } else { Parsed::Message }
}

fn welcome() -> String {
    format!(
        "I am claw. Write me what to do; I ask before I change anything.\n\n{}",
        help_markdown(DoorKind::Chat)
    )
}

/// Who it is, if they may talk here. An owner may in private and in the groups that are allowed; a
/// member of such a group may talk, and decides nothing, and so may whoever was let in.
fn visitor(ctx: &GatewayContext, msg: &ChatMessage) -> Result<Option<Visitor>, MailError> {
    let owner = ctx.is_owner(msg.user);
    let allowed = may_talk(ctx, msg.place.chat)?;
    let origin = if owner && !msg.forwarded { Origin::Owner } else { Origin::Forwarded };
    let from = msg.place.address();
    Ok(allowed.then(|| Visitor { from, principal: telegram_principal(msg.user), origin }))
}

async fn command_of(
    ctx: &GatewayContext,
    msg: &ChatMessage,
    visitor: &Visitor,
    session: &SessionId,
    (command, words): (ChatCommand, &str),
    key: (i64, i64),
) -> anyhow::Result<()> {
    if let Some(refused) = not_for_members(ctx, msg, visitor, session, command)? {
        return answer(ctx, visitor, msg, &[key.1], "command", refused.to_owned()).await;
    }
    if let Some(order) = order_of(command) {
        // In one transaction with the update, so that one order is carried out once.
        return Ok(ctx.router.order_of_update(visitor, session, order, key).await.map(drop)?);
    }
    if command == ChatCommand::Help {
        return answer(ctx, visitor, msg, &[key.1], "command", help_markdown(DoorKind::Chat)).await;
    }
    if command == ChatCommand::Approvals && visitor.origin == Origin::Owner {
        return open_questions(ctx, msg, visitor, session, key).await;
    }
    let to = AnswerTo::Update {
        bot: key.0,
        update: key.1,
        session: session.clone(),
        to: visitor.from.clone(),
    };
    match ctx.shared.context.chat_commands.answer(visitor, session, command, words, &to).await? {
        Some(text) => answer(ctx, visitor, msg, &[key.1], "command", text).await,
        // The answer is in the outbox, and the update is done with.
        None => Ok(()),
    }
}

/// Why a member of a group may not give this order: the conversation is everybody's. A turn is
/// stopped by whoever has begun it.
fn not_for_members(
    ctx: &GatewayContext,
    msg: &ChatMessage,
    visitor: &Visitor,
    session: &SessionId,
    command: ChatCommand,
) -> Result<Option<&'static str>, MailError> {
    if msg.private || visitor.origin == Origin::Owner {
        return Ok(None);
    }
    Ok(match command {
        ChatCommand::New | ChatCommand::Undo => {
            Some("Only an owner may do that here: this conversation is the group's.")
        }
        ChatCommand::Stop => {
            let begun_by = ctx.mail.turn_begun_by(session)?;
            let others = begun_by.is_some_and(|by| by != visitor.principal);
            others.then_some(
                "Somebody else's request is running. Only they and an owner may stop it.",
            )
        }
        _ => None,
    })
}

/// The list of what waits, and behind it each question of this chat once more, with its buttons.
async fn open_questions(
    ctx: &GatewayContext,
    msg: &ChatMessage,
    visitor: &Visitor,
    session: &SessionId,
    key: (i64, i64),
) -> anyhow::Result<()> {
    let mut rows = ctx.mail.open_questions(None)?;
    let (all, here) = (rows.len(), msg.place.address());
    rows.retain(|row| questions::is_asked_in(ctx, &here, row));
    // A group reads how many wait elsewhere, and its owner alone what they say.
    let text = if msg.private {
        let commands = &ctx.shared.context.chat_commands;
        commands.command(visitor, session, ChatCommand::Approvals, "").await?.unwrap_or_default()
    } else {
        list_of_group(rows.len(), all - rows.len())
    };
    let left = rows.len().saturating_sub(QUESTIONS_AGAIN_MAX);
    rows.truncate(QUESTIONS_AGAIN_MAX);
    let follow = match (rows.len(), left) {
        (0, _) => String::new(),
        (_, 0) => "Those of this chat follow, with their buttons.".to_owned(),
        (shown, left) => format!(
            "The first {shown} of this chat follow, with their buttons; {left} more when these are \
             answered."
        ),
    };
    let parts: Vec<_> = [text, follow].into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join("\n\n");
    let questions = rows
        .into_iter()
        .map(|row| OutboundBody::Question { turn_seq: 0, question: Box::new(row.question) });
    let bodies = std::iter::once(OutboundBody::Notice { text }).chain(questions);
    let answers =
        bodies.map(|body| Outbound { session: session.clone(), to: visitor.from.clone(), body });
    ctx.mail.answer_update_with(key.0, key.1, "command", answers.collect()).await?;
    Ok(())
}

/// What stands above the questions of a group. What waits in other chats is nothing for its
/// members.
fn list_of_group(here: usize, elsewhere: usize) -> String {
    let nothing = (here == 0).then(|| "Nothing of this chat waits for an answer.".to_owned());
    let elsewhere = (elsewhere > 0).then(|| {
        format!(
            "{} elsewhere; `/approvals` in your private chat with claw lists what.",
            counted_with(elsewhere, "question", "waits", "wait")
        )
    });
    nothing.into_iter().chain(elsewhere).collect::<Vec<_>>().join(" ")
}

/// Words of claw itself, by the outbox, in one transaction with the end of the update: said once,
/// whenever claw is ended.
async fn answer(
    ctx: &GatewayContext,
    visitor: &Visitor,
    msg: &ChatMessage,
    updates: &[i64],
    how: &'static str,
    text: String,
) -> anyhow::Result<()> {
    let Some((update, others)) = updates.split_first() else { return Ok(()) };
    finish(ctx, others, how).await?;
    let body = OutboundBody::Notice { text };
    let outbound = Outbound { session: msg.place.session()?, to: visitor.from.clone(), body };
    ctx.mail.answer_update(ctx.me.id, *update, how, outbound).await?;
    Ok(())
}
