//! Strangers: who they are is put to the owner once, and one tap lets them in or leaves them alone.
//! Must not know how a stranger is drawn, or what a guest may do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::house::House;
use super::notify;
use super::postman::until_sent;
use crate::config::Pairing;
use crate::domain::{Outbound, OutboundBody, telegram_principal};
use crate::doors::telegram::api::fault::Fault;
use crate::doors::telegram::api::incoming::Tapped;
use crate::doors::telegram::api::pace::Urgency;
use crate::doors::telegram::api::place::Place;
use crate::doors::telegram::render::knock::{self, Knock, Shown};
use crate::mail::{Guest, MailError, STRANGERS_DAY_MAX, StrangerRow};

/// Strangers are looked for this often without a bell.
const LOOK: Duration = Duration::from_secs(60);
/// How soon an owner who could not be told is told again.
const TRY_AGAIN: Duration = Duration::from_secs(600);

/// Is done with the update of somebody who may not talk. They get silence: an answer would tell
/// that somebody is here.
pub(super) async fn knocked(house: &House, update: i64, body: &str) -> Result<(), MailError> {
    let bot = house.me.id;
    let knock = knock::read(body);
    if let Some(Knock { chat, user, .. }) = knock
        && house.is_news(user)
    {
        tracing::warn!(chat, user, "a stranger wrote; CLAW_ALLOWED_CHATS lets a chat in by its id");
    }
    let too_many = format!(
        "More than {STRANGERS_DAY_MAX} strangers have written to claw within a day. The others are not announced; the log \
         names them."
    );
    let wanted = house.telegram.pairing == Pairing::Ask;
    let (Some(knock), Some(too_many)) = (knock.filter(|_| wanted), notify::notice(house, too_many))
    else {
        return house.mail.finish_update(bot, update, "stranger").await.map(drop);
    };
    let body = serde_json::to_string(&knock)?;
    house.mail.knock((bot, update), knock.chat, body, too_many).await.map(drop)
}

/// An owner's answer. It counts once, and only under the message on record.
pub(super) async fn tap(
    house: &House,
    tapped: &Tapped,
    chat: i64,
    let_in: bool,
) -> anyhow::Result<&'static str> {
    let row = house.mail.stranger(house.me.id, chat)?;
    let here = |row: &StrangerRow| {
        tapped.at.as_ref().is_some_and(|(place, message)| {
            row.message == *message && row.address == place.address()
        })
    };
    let Some(row) = row.filter(here) else { return Ok("This button does nothing any more.") };
    let by = telegram_principal(tapped.user);
    let done = if let_in {
        let guest = Place { bot: house.me.id, chat, thread: None };
        let text =
            "You may talk to claw now. What changes something is decided by its owner.".to_owned();
        let welcome = Outbound {
            session: guest.session()?,
            to: guest.address(),
            body: OutboundBody::Notice { text },
        };
        let name = serde_json::from_str::<Knock>(&row.body)?.title();
        house.mail.let_in(house.me.id, Guest { chat, name }, &by, welcome).await?
    } else {
        house.mail.ignore_stranger(house.me.id, chat, &by).await?
    };
    Ok(match (done, let_in) {
        (false, _) => "This was already answered.",
        (true, true) => "Let in.",
        (true, false) => "Ignored. You are not asked again.",
    })
}

/// Keeps the owner's screen in step with what the store says of strangers.
pub(super) async fn keep(house: Arc<House>) {
    let mut ear = house.ear();
    let mut failed: HashMap<i64, Instant> = HashMap::new();
    loop {
        failed.retain(|_, at| at.elapsed() < TRY_AGAIN);
        match house.mail.strangers_to_show(house.me.id) {
            Ok(rows) => {
                for row in rows {
                    if !failed.contains_key(&row.chat)
                        && let Err(error) = show(&house, &row).await
                    {
                        tracing::error!(
                            error = format!("{error:#}"),
                            "a stranger could not be shown to the owner"
                        );
                        failed.insert(row.chat, Instant::now());
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the strangers cannot be read"),
        }
        ear.listen(LOOK).await;
    }
}

async fn show(house: &House, row: &StrangerRow) -> anyhow::Result<()> {
    let (knock, clock, bot) =
        (serde_json::from_str::<Knock>(&row.body)?, house.clock(), house.me.id);
    if row.state == "new" {
        let Some(place) = house.notify_place().filter(|place| !house.is_blocked(place.chat)) else {
            return Ok(());
        };
        let (part, keyboard) = (knock.part(Shown::Asked, &clock), knock.keyboard());
        let sent = until_sent(house, &place, Urgency::Message, || {
            house.api.send(&place, &part, &keyboard)
        })
        .await;
        match sent {
            Ok(sent) => {
                house.mail.stranger_told(bot, row.chat, place.address(), sent.message).await?
            }
            Err(Fault::Forbidden(why)) => notify::blocked(house, &place, &why).await?,
            Err(fault) => return Err(fault.into()),
        }
        return Ok(());
    }
    if let Some(place) = Place::of(&row.address) {
        let (by, at_ms) = (house.known_as(&place, &row.decided_by), row.decided_ms);
        let by = by.as_str();
        let shown = if row.state == "let_in" {
            Shown::LetIn { by, at_ms }
        } else {
            Shown::Ignored { by, at_ms }
        };
        let part = knock.part(shown, &clock);
        let edit = || house.api.edit(&place, row.message, &part, &[]);
        if let Err(fault) = until_sent(house, &place, Urgency::Message, edit).await {
            tracing::warn!(%fault, "a message about a stranger could not be changed");
        }
    }
    Ok(house.mail.stranger_shown(bot, row.chat).await?)
}
