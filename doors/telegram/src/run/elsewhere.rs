//! Where a message goes that Telegram refuses at its own place: from a topic that is gone to the
//! group itself, from a chat that is gone to whoever gets what needs a human. Owns the words that
//! say so; must not know how anything is sent.

use super::context::GatewayContext;
use crate::api::place::Place;
use crate::chat_commands::without_buttons;
use crate::domain::{Outbound, OutboundBody, escape};
use crate::doors::asking::from_elsewhere;
use crate::doors::door::DoorFault;

/// What is sent instead, whole. Empty if nobody is left to read it, or if it may still arrive.
pub(super) fn instead(
    ctx: &GatewayContext,
    refused: &Outbound,
    fault: &DoorFault,
) -> Vec<Outbound> {
    let (DoorFault::Gone(why) | DoorFault::Refused(why) | DoorFault::Formatting(why)) = fault
    else {
        return Vec::new();
    };
    let Some(place) = Place::of(&refused.to) else { return Vec::new() };
    let why = escape::visible(why).replace('`', "'");
    let group = Place { thread: None, ..place.clone() };
    let (to, lead) = match (fault, ctx.notify_place()) {
        (DoorFault::Gone(_), _) if place.thread.is_some() => {
            let topic = place.thread.unwrap_or_default();
            (
                group,
                format!(
                    "**This belongs to the topic {topic}**, which takes no messages any more (`{why}`)."
                ),
            )
        }
        (_, Some(notify)) if notify != place && !ctx.is_blocked(notify.chat) => {
            let chat = place.chat;
            (notify, format!("**This could not be delivered to the chat `{chat}`** (`{why}`)."))
        }
        _ => return Vec::new(),
    };
    let bodies = match &refused.body {
        OutboundBody::Notice { text }
        | OutboundBody::Reminder { text, .. }
        | OutboundBody::Reply { text, .. }
        | OutboundBody::Said { text, .. } => {
            vec![OutboundBody::Notice { text: format!("{lead}\n\n{text}") }]
        }
        // Its buttons are of no use in another chat than the owner's.
        OutboundBody::Digest { .. } => {
            let text = format!("{lead}\n\n{}", without_buttons(&refused.body));
            vec![OutboundBody::Notice { text }]
        }
        OutboundBody::Question { turn_seq, question } => {
            let question = Box::new(from_elsewhere(question));
            vec![
                OutboundBody::Notice { text: lead },
                OutboundBody::Question { turn_seq: *turn_seq, question },
            ]
        }
    };
    let address = to.address();
    bodies
        .into_iter()
        .map(|body| Outbound { session: refused.session.clone(), to: address.clone(), body })
        .collect()
}
