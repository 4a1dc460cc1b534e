//! From the outbox to Telegram: every row of the outbox, chat by chat, in order, at least once. Must
//! not know who decides what is said, or how it is rendered.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::context::GatewayContext;
use super::outgoing::Piece;
use super::{asking, elsewhere, moves, notify, outgoing};
use crate::domain::{Address, OutboundBody, Question, SessionId};
use crate::doors::telegram::api::fault::{Fault, pause_after};
use crate::doors::telegram::api::pace::Urgency;
use crate::doors::telegram::api::place::{DOOR, Place};
use crate::doors::telegram::render::markdown::plain;
use crate::doors::telegram::{Part, Sent};
use crate::mail::{MailError, OutboxRow};

/// After a fault of the store.
const RETRY: Duration = Duration::from_secs(5);
/// How long a message is tried before it is given up; then it is in the log.
const GIVE_UP_AFTER: Duration = Duration::from_secs(24 * 3600);
/// Rows are looked for this often without a wake-up.
const LOOK: Duration = Duration::from_secs(30);

/// Chats that are being written to. One at a time each, so that messages stay in order; none waits
/// for another.
type Busy = Arc<Mutex<HashSet<Address>>>;

pub(super) async fn deliver(ctx: Arc<GatewayContext>) {
    let busy = Busy::default();
    let mut wake_ups = ctx.wake_ups();
    loop {
        match ctx.mail.waiting_at(DOOR) {
            Ok(chats) => {
                for to in chats.into_iter().filter(|to| goes_out(&ctx, to)) {
                    if busy.lock().unwrap_or_else(PoisonError::into_inner).insert(to.clone()) {
                        tokio::spawn(write_to(ctx.clone(), busy.clone(), to));
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the outbox cannot be read"),
        }
        wake_ups.wait(LOOK).await;
    }
}

/// Waits until nothing is left to be sent.
pub(super) async fn all_sent(ctx: &Arc<GatewayContext>) {
    let mut wake_ups = ctx.wake_ups();
    loop {
        match ctx.mail.waiting_at(DOOR) {
            Ok(chats) if !chats.iter().any(|to| goes_out(ctx, to)) => return,
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the outbox cannot be read"),
        }
        wake_ups.wait(LOOK).await;
    }
}

/// Of another bot's chats this gateway knows nothing; their rows wait for that bot. Those of a chat
/// that has blocked the bot wait until it writes again.
fn goes_out(ctx: &GatewayContext, to: &Address) -> bool {
    Place::of(to).is_some_and(|place| place.bot == ctx.me.id && !ctx.is_blocked(place.chat))
}

async fn write_to(ctx: Arc<GatewayContext>, busy: Busy, to: Address) {
    if let Some(place) = Place::of(&to)
        && let Err(error) = write_all(&ctx, &place, &to).await
    {
        tracing::error!(%error, "the outbox cannot be read or written; it is tried again");
        notify::store_failed(&ctx, &error);
        tokio::time::sleep(RETRY).await;
    }
    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&to);
    ctx.wake();
}

async fn write_all(ctx: &GatewayContext, place: &Place, to: &Address) -> Result<(), MailError> {
    for row in ctx.mail.waiting(to)? {
        if ctx.is_blocked(place.chat) {
            break;
        }
        write(ctx, place, &row).await?;
    }
    Ok(())
}

async fn write(ctx: &GatewayContext, place: &Place, row: &OutboxRow) -> Result<(), MailError> {
    if row.sending {
        tracing::warn!(row = row.id, "claw was ended while this was sent, so it may appear twice");
    }
    let chat = ctx.chats.at(&row.outbound.to);
    let mut delivered = chat.lock().await;
    let shown = delivered.take_shown();
    match &row.outbound.body {
        OutboundBody::Notice { text } => {
            if write_text(ctx, place, row, text, &Drafted::default()).await? {
                ctx.mail.shown(row.id).await?;
            }
            Ok(())
        }
        OutboundBody::Reply { turn_seq, step, text } => {
            delivered.begin(&row.outbound.session, *turn_seq, None);
            let text = &with_quiet_line(ctx, place, &row.outbound.session, *turn_seq, text)?;
            if write_said(ctx, place, row, (*turn_seq, *step), text, shown).await? {
                forget_drafts(ctx, place, row, (*turn_seq, *step), None).await?;
                ctx.mail.said(row, *turn_seq, None).await?;
            }
            Ok(())
        }
        OutboundBody::Said { partial, .. } if !ctx.telegram.stream && !partial => {
            ctx.mail.shown(row.id).await
        }
        OutboundBody::Said { turn_seq, step, text, partial } => {
            delivered.begin(&row.outbound.session, *turn_seq, Some(*step));
            let text = if *partial {
                format!("{}\n\n*[interrupted]*", text.trim_end())
            } else {
                text.clone()
            };
            if write_said(ctx, place, row, (*turn_seq, *step), &text, shown).await? {
                forget_drafts(ctx, place, row, (*turn_seq, *step), Some(*step)).await?;
                ctx.mail.said(row, *turn_seq, Some(*step)).await?;
            }
            Ok(())
        }
        OutboundBody::Question { question, .. } if ctx.is_without_owner(place) => {
            let told = match asking::asked_elsewhere(question) {
                Some(text) => write_text(ctx, place, row, &text, &Drafted::default()).await?,
                None => true,
            };
            if told {
                ctx.mail.shown(row.id).await?;
            }
            Ok(())
        }
        OutboundBody::Question { question, .. } => ask(ctx, place, row, question).await,
    }
}

/// Puts a question to the person. One that cannot be put is given up and told.
async fn ask(
    ctx: &GatewayContext,
    place: &Place,
    row: &OutboxRow,
    question: &Question,
) -> Result<(), MailError> {
    ctx.mail.sending(row.id, 0).await?;
    let sent = until_sent(ctx, place, Urgency::Answer, || asking::send(ctx, place, question)).await;
    match sent {
        Ok(asked) => {
            let posted = asked.posted(&question.approval, place);
            let older = ctx.mail.asked(row.id, posted).await?;
            ctx.outdated(&older);
        }
        Err(fault) if give_up(ctx, place, row, &fault).await? => {
            ctx.mail.shown(row.id).await?;
        }
        Err(_) => {}
    }
    Ok(())
}

/// The words of one step of the model, in the messages that show them already, and in more if they
/// are longer.
async fn write_said(
    ctx: &GatewayContext,
    place: &Place,
    row: &OutboxRow,
    (turn_seq, step): (u64, u32),
    text: &str,
    shown: HashMap<i64, Part>,
) -> Result<bool, MailError> {
    let messages = ctx.mail.drafts(&row.outbound.to, &row.outbound.session, turn_seq, step)?;
    write_text(ctx, place, row, text, &Drafted { messages, shown }).await
}

/// The messages that are drafts of a text, in its order.
#[derive(Default)]
struct Drafted {
    messages: Vec<i64>,
    /// What they show, as far as this process has seen it.
    shown: HashMap<i64, Part>,
}

impl Drafted {
    /// Makes them what they were to become, the end first, because that is what a reader waits for.
    /// One that is so already is left alone. Gives back the places of those that Telegram does not
    /// change: they come as new messages.
    async fn finish(
        &self,
        ctx: &GatewayContext,
        place: &Place,
        pieces: &[Piece],
    ) -> HashSet<usize> {
        let mut lost = HashSet::new();
        for (index, (message, piece)) in self.messages.iter().zip(pieces).enumerate().rev() {
            let Piece::Message(part) = piece else {
                lost.insert(index);
                continue;
            };
            if self.shown.get(message) == Some(part) {
                continue;
            }
            if let Err(fault) =
                until_sent(ctx, place, Urgency::Message, || finish(ctx, place, *message, part))
                    .await
            {
                tracing::info!(%fault, "a draft cannot be finished where it is; it comes as a new message");
                lost.insert(index);
            }
        }
        lost
    }
}

/// Changes the messages that are drafts of it, which can be done twice, and sends the rest. False
/// if the row was put back.
async fn write_text(
    ctx: &GatewayContext,
    place: &Place,
    row: &OutboxRow,
    text: &str,
    drafts: &Drafted,
) -> Result<bool, MailError> {
    let pieces = outgoing::pieces(&row.outbound.body, text);
    let lost = drafts.finish(ctx, place, &pieces).await;
    for (index, piece) in pieces.iter().enumerate() {
        let is_finished = index < drafts.messages.len() && !lost.contains(&index);
        if is_finished || index < row.parts_sent as usize {
            continue;
        }
        ctx.mail.sending(row.id, index as u32).await?;
        let sent =
            until_sent(ctx, place, Urgency::Message, || outgoing::send(ctx, place, piece)).await;
        if let Err(fault) = sent {
            return give_up(ctx, place, row, &fault).await;
        }
    }
    let messages = pieces.iter().take_while(|piece| matches!(piece, Piece::Message(_))).count();
    for left in drafts.messages.iter().skip(messages) {
        take_away(ctx, place, *left).await;
    }
    Ok(true)
}

/// Takes away the beginnings of words that were never finished: a step that was interrupted and
/// repeated has said something else, or nothing at all. What this row has made final stays.
async fn forget_drafts(
    ctx: &GatewayContext,
    place: &Place,
    row: &OutboxRow,
    (turn_seq, step): (u64, u32),
    through: Option<u32>,
) -> Result<(), MailError> {
    let (to, session) = (&row.outbound.to, &row.outbound.session);
    let written = ctx.mail.drafts(to, session, turn_seq, step)?;
    for left in ctx.mail.drafts_through(to, session, turn_seq, through)? {
        if !written.contains(&left) {
            take_away(ctx, place, left).await;
        }
    }
    Ok(())
}

async fn take_away(ctx: &GatewayContext, place: &Place, message: i64) {
    if let Err(fault) =
        until_sent(ctx, place, Urgency::Message, || ctx.api.delete(place, message)).await
    {
        tracing::warn!(%fault, "a draft that is not needed any more stays in the chat");
    }
}

/// Makes a draft what it was to become, formatted, or as it is where Telegram does not take the
/// formatting.
async fn finish(
    ctx: &GatewayContext,
    place: &Place,
    message: i64,
    part: &Part,
) -> Result<(), Fault> {
    match ctx.api.edit(place, message, part, &[]).await {
        Err(Fault::Formatting(why)) => {
            tracing::warn!(why, "Telegram refused a formatting; the text goes without");
            let bare = part.plain();
            ctx.api.edit(place, message, &bare, &[]).await
        }
        edited => edited,
    }
}

/// Formatted, or as it is where Telegram does not take the formatting: the answer has to arrive.
pub(super) async fn send(ctx: &GatewayContext, place: &Place, part: &Part) -> Result<Sent, Fault> {
    match ctx.api.send(place, part, &[]).await {
        Err(Fault::Formatting(why)) => {
            tracing::warn!(why, "Telegram refused a formatting; the text goes without");
            let mut last = Err(Fault::Formatting(why));
            for part in plain(&part.text) {
                last = ctx.api.send(place, &part, &[]).await;
            }
            last
        }
        sent => sent,
    }
}

/// Tries until it is sent, or will never be, at the pace that Telegram allows: pauses that it asks
/// for are kept, in that chat alone, and what may pass is waited out.
pub(super) async fn until_sent<T, F: Future<Output = Result<T, Fault>>>(
    ctx: &GatewayContext,
    place: &Place,
    urgency: Urgency,
    mut send: impl FnMut() -> F,
) -> Result<T, Fault> {
    let began = Instant::now();
    let mut failures = 0;
    loop {
        let turn = ctx.pace.turn(place, urgency).await;
        let sent = send().await;
        drop(turn);
        match sent {
            Err(Fault::Wait(pause)) => ctx.pace.pause(place, pause),
            Err(Fault::Moved(now)) if ctx.api.chat_now(place.chat) != now => {
                moves::note(ctx, place.chat, now).await;
            }
            Err(fault @ (Fault::Unreachable(_) | Fault::Token))
                if began.elapsed() < GIVE_UP_AFTER =>
            {
                failures += 1;
                if failures == 1 {
                    tracing::warn!(%fault, "a message could not be sent; it is tried again, after a while every 5 s");
                }
                tokio::time::sleep(pause_after(failures)).await;
            }
            done => return done,
        }
    }
}

/// Nothing is lost without a word: what a chat does not let in waits for it, and then this is
/// false; what Telegram refuses goes where somebody reads it. Only if there is no such place the
/// log alone says so, and the session has the text.
async fn give_up(
    ctx: &GatewayContext,
    place: &Place,
    row: &OutboxRow,
    fault: &Fault,
) -> Result<bool, MailError> {
    if let Fault::Forbidden(why) = fault {
        ctx.mail.put_back(row.id).await?;
        notify::blocked(ctx, place, why).await?;
        return Ok(false);
    }
    let told = elsewhere::told(ctx, place, &row.outbound, fault);
    if !told.is_empty() {
        tracing::warn!(row = row.id, to = %row.outbound.to, %fault, "a message is refused; it goes to another chat");
        ctx.mail.sent_elsewhere(row.id, told).await?;
        ctx.wake();
        return Ok(true);
    }
    tracing::error!(row = row.id, to = %row.outbound.to, %fault, "a message cannot be sent; its session keeps it");
    Ok(true)
}

/// An answer with the quiet line of its turn under it. Allowed users who are no owners are not told of it.
fn with_quiet_line(
    ctx: &GatewayContext,
    place: &Place,
    session: &SessionId,
    turn_seq: u64,
    text: &str,
) -> Result<String, MailError> {
    if ctx.is_without_owner(place) {
        return Ok(text.to_owned());
    }
    Ok(match ctx.door.chat_commands.quiet_line(session, turn_seq)? {
        Some(line) => format!("{}\n\n{line}", text.trim_end()),
        None => text.to_owned(),
    })
}
