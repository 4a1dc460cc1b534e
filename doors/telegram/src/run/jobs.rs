//! Where a bot tells what its jobs say. Must not know what is due, or how it is sent.

use std::sync::Arc;

use super::context::GatewayContext;
use super::handling::may_talk;
use crate::api::place::{DOOR, Place};
use crate::domain::SessionId;
use crate::doors::ChatDoor as _;
use crate::jobs::{JobCallbacks, JobPlace, Spot};

/// Sees to the jobs of the home until the bot ends. A turn that its end has cut off goes on at the
/// next start, and a task that waits behind it does so still.
pub(super) async fn keep(ctx: Arc<GatewayContext>) {
    let (placing, waking) = (ctx.clone(), ctx.clone());
    let callbacks = JobCallbacks {
        place_of: Arc::new(move |session| place_of(&placing, session)),
        written: Arc::new(move || waking.shared.wake()),
    };
    tokio::select! {
        biased;
        () = ctx.shared.closing.cancelled() => {}
        () = ctx.shared.context.jobs.clone().keep(callbacks) => {}
    }
    // A part that ends before it is dropped counts as a fault.
    std::future::pending().await
}

fn place_of(ctx: &GatewayContext, session: Option<&SessionId>) -> JobPlace {
    let owner = ctx.notify_place().filter(|place| !ctx.is_blocked(place.chat)).and_then(spot);
    let Some(session) = session else {
        return owner.map_or(JobPlace::NotMine, JobPlace::Here);
    };
    let Some(at) = ctx.place_of(session) else {
        let is_chat = session.as_str().starts_with(&format!("{DOOR}."));
        return match owner {
            Some(tell) if is_chat => {
                JobPlace::Gone { why: format!("its chat `{session}` is another bot's"), tell }
            }
            Some(instead) => JobPlace::OfAnotherDoor { instead },
            None => JobPlace::NotMine,
        };
    };
    let chat = Place::of(&at).map(|place| place.chat);
    let is_allowed = chat.is_some_and(|chat| may_talk(ctx, chat).unwrap_or(true));
    if ctx.writes_to(&at) && is_allowed {
        return JobPlace::Here(Spot { session: session.clone(), at });
    }
    match owner.filter(|owner| owner.at != at) {
        Some(tell) => {
            let why = if is_allowed { "does not let the bot write" } else { "is not allowed" };
            JobPlace::Gone { why: format!("its chat `{session}` {why} any more"), tell }
        }
        None => JobPlace::NotMine,
    }
}

fn spot(place: Place) -> Option<Spot> {
    Some(Spot { session: place.session().ok()?, at: place.address() })
}
