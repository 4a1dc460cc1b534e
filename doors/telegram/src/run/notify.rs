//! What needs a human and no conversation is about: told in `telegram.notify_chat`, in words, each
//! kind not too often. A notice that cannot be told is in the log, and nothing is told of that.
//! Must not know how it is sent.

use std::sync::Arc;
use std::time::Duration;

use super::context::GatewayContext;
use crate::api::fault::ApiFault;
use crate::api::place::{DOOR, Place};
use crate::chat_commands::{DigestOfDay, WordOfDay};
use crate::domain::canonical::sha256_hex;
use crate::domain::{Outbound, OutboundBody, escape};
use crate::mail::MailError;
use claw_telegram_render::markdown::render;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// A key that is refused stays so until somebody does something.
const KEY_EVERY_MS: i64 = 6 * HOUR_MS;
/// A chat that blocks and unblocks the bot again and again.
const BLOCKED_EVERY_MS: i64 = 24 * HOUR_MS;
/// A gateway that is ended again and again.
const CRASH_EVERY_MS: i64 = 10 * MINUTE_MS;
/// A server that fails in the same way at every start of claw.
const SERVER_EVERY_MS: i64 = 6 * HOUR_MS;
/// The head of the audit, if the owner wants to be told.
const HEAD: &str = "audit.head";
const HEAD_EVERY_MS: i64 = 24 * HOUR_MS;
/// What waits is looked for this often without a wake-up.
const LOOK: Duration = Duration::from_secs(30);
/// How many calls are named.
const CALLS_NAMED_MAX: usize = 10;

/// Passes on what other parts of claw have noted for a human.
pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    let mut wake_ups = ctx.shared.wake_ups();
    loop {
        if let Err(error) = pass_on(&ctx).await {
            tracing::error!(%error, "what needs a human cannot be read");
        }
        wake_ups.wait(LOOK).await;
    }
}

async fn pass_on(ctx: &GatewayContext) -> Result<(), MailError> {
    if let Some((session, text)) = ctx.mail.key_refused()? {
        let here = ctx.notify_place().and_then(|place| place.session().ok());
        // Whoever was answered with it there knows it.
        if here.is_none_or(|here| here.as_str() != session) {
            let text = format!(
                "**The model cannot be asked.** {text} Until then every message is answered like \
                 this."
            );
            tell(ctx, "key", KEY_EVERY_MS, text).await;
        }
        ctx.mail.key_refusal_passed_on().await?;
    }
    head_of_the_audit(ctx).await?;
    digest_of_the_day(ctx).await?;
    proposals_of_the_day(ctx).await?;
    clients_of_today(ctx).await;
    budget_of_today(ctx).await
}

/// What the owner's chat holds cannot be changed by anybody at this machine.
async fn head_of_the_audit(ctx: &GatewayContext) -> Result<(), MailError> {
    if !(ctx.shared.context.settings.tells_audit_head)()
        || ctx.mail.told_within(HEAD, HEAD_EVERY_MS)?
    {
        return Ok(());
    }
    let (number, digest) = ctx.mail.audit_head()?;
    if number > 0 {
        let text = format!(
            "The audit ends with row {number} today. Its head: `{number}:{digest}`. `{} audit \
             verify --head` with it says whether that is still so.",
            ctx.shared.context.claw()
        );
        tell(ctx, HEAD, HEAD_EVERY_MS, text).await;
    }
    Ok(())
}

/// Tells what ran without a question, once its time of the day has come.
async fn digest_of_the_day(ctx: &GatewayContext) -> Result<(), MailError> {
    let (clock, at) = (ctx.clock(), (ctx.shared.context.settings.digest_at)());
    let (Some(at), Some(to)) = (at, ctx.notify_place()) else { return Ok(()) };
    let Ok(session) = to.session() else { return Ok(()) };
    let day = clock.date(clock.now_ms);
    if !clock.is_after(at) || !ctx.digest_is_due(&day) {
        return Ok(());
    }
    let of = DigestOfDay { day: day.clone(), zone: clock.zone, session, to: to.address() };
    if ctx.shared.context.chat_commands.digest_of_day(of).await? {
        ctx.shared.wake();
    }
    ctx.digest_is_told(day);
    Ok(())
}

/// Tells what waits for a tap to be remembered, once its time of the day has come.
async fn proposals_of_the_day(ctx: &GatewayContext) -> Result<(), MailError> {
    let at = (ctx.shared.context.settings.proposals_at)();
    let (Some(at), Some(to)) = (at, ctx.notify_place()) else { return Ok(()) };
    let (Ok(session), Some(now)) = (to.session(), ctx.clock().now()) else { return Ok(()) };
    // A group reads how many there are, and its owner alone what they say.
    let is_private = to.chat > 0;
    let of = WordOfDay { now, at, session, to: to.address(), is_private };
    if ctx.shared.context.chat_commands.word_of_day(of).await? {
        ctx.shared.wake();
    }
    Ok(())
}

/// Says once a day of each MCP client that it has used its budget up.
async fn clients_of_today(ctx: &GatewayContext) {
    let Some(to) = ctx.notify_place() else { return };
    let Ok(session) = to.session() else { return };
    match ctx.shared.context.clients.tell_owner(&session, &to.address()).await {
        Ok(true) => ctx.shared.wake(),
        Ok(false) => {}
        Err(error) => tracing::error!(%error, "what MCP clients have used cannot be read"),
    }
}

/// Says once a day that hardly anything of the day's budget is left.
async fn budget_of_today(ctx: &GatewayContext) -> Result<(), MailError> {
    let Some(used) = (ctx.shared.context.settings.nearly_spent)()? else { return Ok(()) };
    if !ctx.tokens_are_news(&used.day) {
        return Ok(());
    }
    let now = ctx.clock();
    let text = format!(
        "**{} % of today's budget are used**: {}. Each conversation asks before it goes on; at \
         the limit turns stop until midnight.",
        used.percent, used.text
    );
    // What was told before midnight was told of another day.
    tell(ctx, "tokens", now.now_ms - now.midnight_ms(), text).await;
    Ok(())
}

/// Passes on what came up about a tool server while some conversation went on. It was given out
/// once; the same words again are worth telling only after a while.
pub(super) async fn about_a_server(ctx: &GatewayContext, text: &str) {
    let kind = format!("server.{}", sha256_hex(text).get(..16).unwrap_or_default());
    // It may quote the server, so nothing in it is Markdown.
    let shown = escape::visible(text).replace('`', "'");
    tell(ctx, &kind, SERVER_EVERY_MS, format!("**A tool server.** `{shown}`")).await;
}

/// Puts a notice into the outbox. What cannot be told is in the log.
pub(super) async fn tell(ctx: &GatewayContext, kind: &str, every_ms: i64, text: String) {
    let Some(notice) = notice(ctx, text) else { return };
    match ctx.mail.notify(kind, every_ms, notice).await {
        Ok(true) => ctx.shared.wake(),
        Ok(false) => tracing::debug!(
            kind,
            "a notice is left out: one of its kind was told a short while ago"
        ),
        Err(error) => tracing::error!(kind, %error, "a notice could not be stored"),
    }
}

/// A notice to the chat that is configured for it.
pub(super) fn notice(ctx: &GatewayContext, text: String) -> Option<Outbound> {
    let place = ctx.notify_place()?;
    let session = place.session().ok()?;
    Some(Outbound { session, to: place.address(), body: OutboundBody::Notice { text } })
}

/// Applies changes of the files of settings, and tells of each in the chat.
pub(super) async fn watch_settings(ctx: Arc<GatewayContext>) {
    loop {
        for told in (ctx.shared.context.settings.changes)().await {
            // It may quote the file, so nothing in it is Markdown.
            let shown = escape::visible(&told).replace('`', "'");
            let kind = format!("settings.{}", sha256_hex(&told).get(..16).unwrap_or_default());
            tell(&ctx, &kind, 0, format!("**Settings.** `{shown}`")).await;
        }
    }
}

/// At the start: says what an earlier run that did not end in order has left in the middle.
pub(super) async fn began(ctx: &GatewayContext) {
    let left = match ctx.mail.begin_gateway(format!("{DOOR}.")).await {
        Ok(left) => left,
        Err(error) => return tracing::error!(%error, "how the last run ended cannot be read"),
    };
    let Some((turns, calls)) = left else { return };
    tracing::warn!(turns, calls = calls.len(), "the last run of the gateway did not end in order");
    if turns == 0 && calls.is_empty() {
        return;
    }
    let mut text = String::from("**claw is back.** It was ended in the middle");
    text.push_str(&match turns {
        0 => ".".to_owned(),
        1 => "; 1 conversation goes on from where it was.".to_owned(),
        more => format!("; {more} conversations go on from where they were."),
    });
    if !calls.is_empty() {
        text.push_str(
            "\n\nThese calls may or may not have run, and are not repeated unless they \
            only read:\n",
        );
        for call in calls.iter().take(CALLS_NAMED_MAX) {
            text.push_str(&format!("\n- `{}`", escape::visible(call).replace('`', "'")));
        }
        if calls.len() > CALLS_NAMED_MAX {
            text.push_str(&format!(
                "\n- and {} more; `{} audit` has them all",
                calls.len() - CALLS_NAMED_MAX,
                ctx.shared.context.claw()
            ));
        }
    }
    tell(ctx, "crash", CRASH_EVERY_MS, text).await;
}

/// The store cannot be written, so this cannot go through it: it is sent at once, or never.
pub(super) fn store_failed(ctx: &Arc<GatewayContext>, error: &MailError) {
    if error.is_about_one_row() || !ctx.store_failure_is_news() {
        return;
    }
    let Some(place) = ctx.notify_place() else { return };
    let text = format!(
        "**claw cannot store anything:** {error}.\n\nNothing that you write is lost, Telegram \
         keeps it for 24 hours; make room on the disk or let claw write to its home, and it goes \
         on by itself."
    );
    let ctx = ctx.clone();
    claw_kit::task::spawn(async move {
        for part in render(&text) {
            if let Err(fault) = ctx.api.send(&place, &part, &[]).await {
                tracing::error!(%fault, "nobody could be told that the store cannot be written");
            }
        }
    });
}

/// A chat does not let the bot write: its rows wait, and somebody is told, once.
pub(super) async fn blocked(
    ctx: &GatewayContext,
    place: &Place,
    why: &str,
) -> Result<(), MailError> {
    let chat = place.chat;
    ctx.set_blocked(chat, true);
    if !ctx.mail.block_chat(ctx.me.id, chat, why).await? {
        return Ok(());
    }
    tracing::warn!(
        chat,
        why,
        "this chat does not let claw write; what it should get waits until it writes again"
    );
    if ctx.telegram.notify_chat != Some(chat) {
        let text = format!(
            "The chat `{chat}` does not let claw write any more ({}). What it should get is kept \
             until it writes again.",
            escape::visible(why)
        );
        tell(ctx, &format!("blocked.{chat}"), BLOCKED_EVERY_MS, text).await;
    }
    Ok(())
}

/// A chat has written, or lets the bot in again: what waited for it goes out.
pub(super) async fn unblocked(ctx: &GatewayContext, chat: i64) -> Result<(), MailError> {
    if ctx.is_blocked(chat) {
        ctx.mail.unblock_chat(ctx.me.id, chat).await?;
        ctx.set_blocked(chat, false);
        tracing::info!(chat, "this chat lets claw write again");
        ctx.shared.wake();
    }
    Ok(())
}

/// What somebody wrote or tapped has met a bug, and nothing comes of it.
pub(super) async fn bug_in_update(ctx: &GatewayContext) {
    let text = "**Something that was written or tapped here was passed over**, because of a bug \
        in claw; its log says which. Please send it again, perhaps in other words. Everything \
        else goes on.";
    tell(ctx, "bug", HOUR_MS, text.to_owned()).await;
}

/// A part of the agent's gateway has ended by itself, and the agent was started again.
pub(super) async fn part_ended(ctx: &GatewayContext) {
    let text = "**A part of claw has ended by itself**, because of a bug; its log says which. It \
        was started again, and goes on from where it was.";
    tell(ctx, "part", HOUR_MS, text.to_owned()).await;
}

/// Nobody's messages come in: another program polls the bot, or the token is refused.
pub(super) async fn no_messages(ctx: &GatewayContext, fault: &ApiFault, why: &str) {
    let kind = if *fault == ApiFault::Conflict { "conflict" } else { "token" };
    tell(ctx, kind, HOUR_MS, format!("**No messages come in:** {why}.")).await;
}
