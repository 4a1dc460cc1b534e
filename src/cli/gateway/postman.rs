//! From the house to Telegram: every row of the outbox, chat by chat, in order, at least once. Must not know who decides what
//! is said, or how it is rendered.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::house::House;
use super::questions;
use crate::domain::{Address, OutboundBody};
use crate::gateway::telegram::Part;
use crate::gateway::telegram::fault::Fault;
use crate::gateway::telegram::markdown::{plain, render};
use crate::gateway::telegram::place::{DOOR, Place};
use crate::mail::PostedRow;
use crate::store::{OutboxRow, StoreError};

/// After a fault of the network or of Telegram's servers.
const RETRY: Duration = Duration::from_secs(5);
/// How long a message is tried before it is given up; then it is in the log.
const GIVE_UP_AFTER: Duration = Duration::from_secs(24 * 3600);
/// Rows are looked for this often without a bell.
const LOOK: Duration = Duration::from_secs(30);

/// Chats that are being written to. One at a time each, so that messages stay in order; none waits for another.
type Busy = Arc<Mutex<HashSet<Address>>>;

pub(super) async fn deliver(house: Arc<House>) {
    let busy = Busy::default();
    let mut ear = house.ear();
    loop {
        match house.app.mail.waiting_at(DOOR) {
            Ok(rows) => {
                let mut chats: BTreeMap<Address, Vec<OutboxRow>> = BTreeMap::new();
                for row in rows.into_iter().filter(|row| is_mine(&house, &row.outbound.to)) {
                    chats.entry(row.outbound.to.clone()).or_default().push(row);
                }
                for (to, rows) in chats {
                    if busy.lock().unwrap_or_else(PoisonError::into_inner).insert(to.clone()) {
                        tokio::spawn(write_to(house.clone(), busy.clone(), to, rows));
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the outbox cannot be read"),
        }
        ear.listen(LOOK).await;
    }
}

/// Waits until nothing is left to be sent.
pub(super) async fn all_sent(house: &Arc<House>) {
    let mut ear = house.ear();
    loop {
        match house.app.mail.waiting_at(DOOR) {
            Ok(rows) if !rows.iter().any(|row| is_mine(house, &row.outbound.to)) => return,
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the outbox cannot be read"),
        }
        ear.listen(LOOK).await;
    }
}

/// Of another bot's chats this gateway knows nothing; their rows wait for that bot.
fn is_mine(house: &House, to: &Address) -> bool {
    Place::of(to).is_some_and(|place| place.bot == house.me.id)
}

async fn write_to(house: Arc<House>, busy: Busy, to: Address, rows: Vec<OutboxRow>) {
    if let Some(place) = Place::of(&to) {
        for row in rows {
            if let Err(error) = write(&house, &place, &row).await {
                tracing::error!(%error, "the outbox cannot be written; it is tried again");
                tokio::time::sleep(RETRY).await;
                break;
            }
        }
    }
    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&to);
    house.ring();
}

async fn write(house: &House, place: &Place, row: &OutboxRow) -> Result<(), StoreError> {
    if row.sending {
        tracing::warn!(row = row.id, "claw was ended while this was sent, so it may appear twice");
    }
    let chat = house.chat(&row.outbound.to);
    let mut said = chat.lock().await;
    match &row.outbound.body {
        OutboundBody::Notice { text } => {
            write_text(house, place, row, text, Vec::new()).await?;
            house.app.mail.shown(row.id).await
        }
        OutboundBody::Reply { turn_seq, step, text } => {
            said.begin(&row.outbound.session, *turn_seq, None);
            write_said(house, place, row, (*turn_seq, *step), text).await?;
            house.app.mail.said(row, *turn_seq, None).await
        }
        OutboundBody::Said { partial, .. } if !house.telegram.stream && !partial => house.app.mail.shown(row.id).await,
        OutboundBody::Said { turn_seq, step, text, partial } => {
            said.begin(&row.outbound.session, *turn_seq, Some(*step));
            let text = if *partial { format!("{}\n\n*[interrupted]*", text.trim_end()) } else { text.clone() };
            write_said(house, place, row, (*turn_seq, *step), &text).await?;
            house.app.mail.said(row, *turn_seq, Some(*step)).await
        }
        OutboundBody::Question { question, .. } => {
            house.app.mail.sending(row.id, 0).await?;
            let sent = until_sent(|| questions::send(house, place, question)).await;
            match sent {
                Ok(message) => {
                    let (approval, address) = (question.approval.clone(), place.address());
                    house.app.mail.asked(row.id, PostedRow { approval, address, message, state: "open".into() }).await
                }
                Err(fault) => {
                    give_up(row, &fault);
                    house.app.mail.shown(row.id).await
                }
            }
        }
    }
}

/// The words of one step of the model, in the messages that show them already, and in more if they are longer.
async fn write_said(
    house: &House,
    place: &Place,
    row: &OutboxRow,
    (turn_seq, step): (u64, u32),
    text: &str,
) -> Result<(), StoreError> {
    let drafts = house.app.mail.drafts(&row.outbound.to, &row.outbound.session, turn_seq, step)?;
    write_text(house, place, row, text, drafts).await
}

/// Changes the messages that are drafts of it, which can be done twice, and sends the rest.
async fn write_text(
    house: &House,
    place: &Place,
    row: &OutboxRow,
    text: &str,
    drafts: Vec<i64>,
) -> Result<(), StoreError> {
    let parts = render(text);
    for (index, part) in parts.iter().enumerate() {
        if let Some(draft) = drafts.get(index) {
            match until_sent(|| finish(house, place, *draft, part)).await {
                Ok(()) => continue,
                Err(fault) => {
                    tracing::info!(%fault, "a draft cannot be finished where it is; it comes as a new message")
                }
            }
        }
        if index < row.parts_sent as usize {
            continue;
        }
        house.app.mail.sending(row.id, index as u32).await?;
        if let Err(fault) = until_sent(|| send(house, place, part)).await {
            give_up(row, &fault);
            return Ok(());
        }
    }
    for left in drafts.iter().skip(parts.len()) {
        if let Err(fault) = until_sent(|| house.api.delete(place, *left)).await {
            tracing::warn!(%fault, "a draft that is not needed any more stays in the chat");
        }
    }
    Ok(())
}

/// Makes a draft what it was to become, formatted, or as it is where Telegram does not take the formatting.
async fn finish(house: &House, place: &Place, message: i64, part: &Part) -> Result<(), Fault> {
    match house.api.edit(place, message, part, &[]).await {
        Err(Fault::Formatting(why)) => {
            tracing::warn!(why, "Telegram refused a formatting; the text goes without");
            let bare = Part { text: part.text.clone(), entities: Vec::new() };
            house.api.edit(place, message, &bare, &[]).await
        }
        edited => edited,
    }
}

/// Formatted, or as it is where Telegram does not take the formatting: the answer has to arrive.
async fn send(house: &House, place: &Place, part: &Part) -> Result<i64, Fault> {
    match house.api.send(place, part, &[]).await {
        Err(Fault::Formatting(why)) => {
            tracing::warn!(why, "Telegram refused a formatting; the text goes without");
            let mut last = Err(Fault::Formatting(why));
            for part in plain(&part.text) {
                last = house.api.send(place, &part, &[]).await;
            }
            last
        }
        sent => sent,
    }
}

/// Tries until it is sent, or will never be: pauses that Telegram asks for are kept, and what may pass is waited out.
pub(super) async fn until_sent<T, F: Future<Output = Result<T, Fault>>>(
    mut send: impl FnMut() -> F,
) -> Result<T, Fault> {
    let began = Instant::now();
    loop {
        let pause = match send().await {
            Err(Fault::Wait(pause)) => pause,
            Err(fault @ (Fault::Unreachable(_) | Fault::Token)) if began.elapsed() < GIVE_UP_AFTER => {
                tracing::warn!(%fault, "a message could not be sent; trying again in {} s", RETRY.as_secs());
                RETRY
            }
            done => return done,
        };
        tokio::time::sleep(pause).await;
    }
}

/// Nothing is dropped silently: the log says which, and the session has the text.
fn give_up(row: &OutboxRow, fault: &Fault) {
    tracing::error!(row = row.id, to = %row.outbound.to, %fault, "a message cannot be sent; its session keeps it");
}
