//! From the house to Telegram: every row of the outbox, chat by chat, in order, at least once. Must not know who decides what
//! is said, or how it is rendered.

use std::collections::HashSet;
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
            Ok(chats) => {
                // Of another bot's chats this gateway knows nothing; their rows wait for that bot.
                let mine = |to: &Address| Place::of(to).is_some_and(|place| place.bot == house.me.id);
                for to in chats.into_iter().filter(mine) {
                    if busy.lock().unwrap_or_else(PoisonError::into_inner).insert(to.clone()) {
                        tokio::spawn(write_to(house.clone(), busy.clone(), to));
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the outbox cannot be read"),
        }
        ear.listen(LOOK).await;
    }
}

async fn write_to(house: Arc<House>, busy: Busy, to: Address) {
    if let Some(place) = Place::of(&to)
        && let Err(error) = write_all(&house, &place, &to).await
    {
        tracing::error!(%error, "the outbox cannot be read or written; it is tried again");
        tokio::time::sleep(RETRY).await;
    }
    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&to);
    house.ring();
}

async fn write_all(house: &House, place: &Place, to: &Address) -> Result<(), StoreError> {
    for row in house.app.mail.waiting(to)? {
        write(house, place, &row).await?;
    }
    Ok(())
}

async fn write(house: &House, place: &Place, row: &OutboxRow) -> Result<(), StoreError> {
    if row.sending {
        tracing::warn!(row = row.id, "claw was ended while this was sent, so it may appear twice");
    }
    match &row.outbound.body {
        OutboundBody::Reply { text, .. } | OutboundBody::Notice { text } => write_text(house, place, row, text).await,
        OutboundBody::Question { question, .. } => {
            house.app.mail.sending(row.id, 0).await?;
            let sent = until_sent(|| questions::send(house, place, question)).await;
            match sent {
                Ok(message) => {
                    let (approval, address) = (question.approval.clone(), place.address());
                    house.app.mail.asked(row.id, PostedRow { approval, address, message, state: "open".into() }).await
                }
                Err(fault) => give_up(house, row, &fault).await,
            }
        }
    }
}

async fn write_text(house: &House, place: &Place, row: &OutboxRow, text: &str) -> Result<(), StoreError> {
    let parts = render(text);
    for (index, part) in parts.iter().enumerate().skip(row.parts_sent as usize) {
        house.app.mail.sending(row.id, index as u32).await?;
        let sent = until_sent(|| send(house, place, part)).await;
        if let Err(fault) = sent {
            return give_up(house, row, &fault).await;
        }
    }
    house.app.mail.shown(row.id).await
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
async fn give_up(house: &House, row: &OutboxRow, fault: &Fault) -> Result<(), StoreError> {
    tracing::error!(row = row.id, to = %row.outbound.to, %fault, "a message cannot be sent; its session keeps it");
    house.app.mail.shown(row.id).await
}
