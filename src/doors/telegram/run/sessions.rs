//! Keeps every session of the door going, and those of other doors whose process has gone. Must not
//! know what a turn does.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::context::GatewayContext;
use super::live;
use crate::domain::{ApprovalId, Question, SessionId, unseen};
use crate::doors::telegram::api::place::{DOOR, Place};
use crate::mail::MailError;
use crate::session::Ran;

/// How long another door's own process has for what waits in its session, in milliseconds.
const OTHERS_FIRST_MS: i64 = 3_000;
/// How often questions are looked at whose time may be over.
const LOOK: Duration = Duration::from_secs(2);
/// Telegram shows "typing…" for five seconds (Bot API, `sendChatAction`).
const TYPING_EVERY: Duration = Duration::from_secs(4);
/// A session whose question is over is tried again after this time.
const TRY_AGAIN: Duration = Duration::from_secs(60);
/// After a turn that failed in claw itself.
const AFTER_FAULT: Duration = Duration::from_secs(5);

pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    let mut wake_ups = ctx.wake_ups();
    // What an earlier process left in the middle.
    let open = ctx.mail.sessions_with_open_turn();
    let open = open.unwrap_or_else(|error| {
        tracing::error!(%error, "the interrupted turns cannot be read");
        Vec::new()
    });
    for session in open.into_iter().filter(|session| session.as_str().starts_with(&prefix())) {
        launch(&ctx, session);
    }
    let mut tried = HashMap::new();
    let mut looked: Option<Instant> = None;
    while !ctx.closing.is_cancelled() {
        // What time brings is looked for now and then, not at every wake-up.
        let all = looked.is_none_or(|at| at.elapsed() >= LOOK);
        if all {
            looked = Some(Instant::now());
        }
        match waiting(&ctx, &mut tried, all) {
            Ok(sessions) => sessions.into_iter().for_each(|session| launch(&ctx, session)),
            Err(error) => tracing::error!(%error, "the sessions cannot be read"),
        }
        wake_ups.wait(LOOK).await;
    }
}

fn prefix() -> String {
    format!("{DOOR}.")
}

/// The sessions with something to take in, and those with a question whose time is over. Each of
/// the latter is tried now and then, because a question that its session does not know any more
/// would otherwise keep it busy for ever.
fn waiting(
    ctx: &GatewayContext,
    tried: &mut HashMap<ApprovalId, Instant>,
    all: bool,
) -> Result<Vec<SessionId>, MailError> {
    let (mail, now_ms) = (&ctx.mail, ctx.clock().now_ms);
    let mut sessions = mail.sessions_with_work(&prefix(), now_ms - OTHERS_FIRST_MS)?;
    let mut kept = Vec::new();
    for session in sessions {
        // Messages wait behind an open question. What ends that is an answer, an order, or time.
        if !ctx.is_parked(&session) || !mail.only_messages_queued(&session)? {
            kept.push(session);
        }
    }
    sessions = kept;
    if !all {
        return Ok(sessions);
    }
    let open = mail.open_questions(None)?;
    tried.retain(|_, at| at.elapsed() < TRY_AGAIN);
    for row in open.into_iter().filter(|row| row.expires_ms <= now_ms) {
        if tried.insert(row.id.clone(), Instant::now()).is_none() {
            sessions.extend(row.question.session);
        }
    }
    Ok(sessions)
}

fn launch(ctx: &Arc<GatewayContext>, session: SessionId) {
    if ctx.begin(&session) {
        tokio::spawn(run(ctx.clone(), session));
    }
}

/// Marks a session as free, however its run ends.
struct Running {
    ctx: Arc<GatewayContext>,
    session: SessionId,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ctx.end(&self.session);
    }
}

async fn run(ctx: Arc<GatewayContext>, session: SessionId) {
    let _running = Running { ctx: ctx.clone(), session: session.clone() };
    let live =
        place_of(&ctx, &session).map_or_else(unseen, |place| live::show(&ctx, &session, place));
    let settled = {
        let settle = ctx.door.worker.settle(&session, &live);
        let typing = typing(&ctx, &session);
        tokio::select! {
            settled = settle => settled,
            () = typing => return,
        }
    };
    ctx.set_parked(&session, matches!(settled, Ok(Ran::Parked)));
    if let Err(error) = settled {
        // What was committed is still there; the next look tries again.
        tracing::error!(%session, error = format!("{error:#}"), "a turn failed");
        tokio::time::sleep(AFTER_FAULT).await;
    }
}

/// Shows that claw is at work, for as long as it is polled.
async fn typing(ctx: &GatewayContext, session: &SessionId) {
    let place = place_of(ctx, session);
    loop {
        if let Some(place) = &place
            && let Err(fault) = ctx.api.typing(place).await
        {
            tracing::debug!(%fault, "typing could not be shown");
        }
        tokio::time::sleep(TYPING_EVERY).await;
    }
}

/// Where the session of a question has its conversation, if it has one here.
pub(super) fn place_of_question(ctx: &GatewayContext, question: &Question) -> Option<Place> {
    question.session.as_ref().and_then(|session| place_of(ctx, session))
}

/// The place whose session this is.
pub(super) fn place_of(ctx: &GatewayContext, session: &SessionId) -> Option<Place> {
    let rest = session.as_str().strip_prefix(&prefix())?;
    let mut parts = rest.split('.');
    let bot = parts.next()?.parse().ok().filter(|bot| *bot == ctx.me.id)?;
    let chat = parts.next()?.parse().ok()?;
    Some(Place { bot, chat, thread: parts.next().and_then(|thread| thread.parse().ok()) })
}
