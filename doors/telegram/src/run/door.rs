//! Telegram as the parts that all doors share see it: which place an address is, what a text is
//! sent as, and what a refusal means. Must not know when anything is shown.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::context::GatewayContext;
use super::handling::may_talk;
use super::pacing::{self, in_turn};
use super::{
    digest_button, elsewhere, moves, notify, outgoing, question_message, reactions,
    reminder_button, undo_button, updates,
};
use crate::Part;
use crate::api::callback::{Button, stop_button};
use crate::api::fault::ApiFault;
use crate::api::incoming::Incoming;
use crate::api::pace::Urgency;
use crate::api::place::{DOOR, Place};
use crate::domain::{
    Address, ApprovalId, LiveSink, Outbound, OutboundBody, Question, SessionId, client_of_call,
    telegram_principal,
};
use crate::doors::chat_door::{ChatDoor, DoorPiece, File, Paint, UndoButton};
use crate::doors::door::{Closed, Door, DoorFault, QuestionMessage};
use crate::doors::live;
use crate::doors::shared::DoorState;
use crate::mail::{AskedQuestion, MailError, PostedQuestion};
use claw_telegram_render::markdown::render_prefix;
use claw_telegram_render::running;

/// Telegram shows "typing…" for five seconds (Bot API, `sendChatAction`).
const TYPING_EVERY: Duration = Duration::from_secs(4);
/// How often a private chat is changed. Telegram allows about one message a second.
const EVERY: Duration = Duration::from_secs(1);
/// The same for a group, where Telegram allows 20 a minute.
const EVERY_IN_GROUP: Duration = Duration::from_secs(3);

/// The place behind an address of this door.
fn place(address: &Address) -> Result<Place, DoorFault> {
    Place::of(address)
        .ok_or_else(|| DoorFault::Refused(format!("{address} is no chat at Telegram")))
}

impl Paint<Part> for GatewayContext {
    fn beginning(markdown: &str) -> Vec<Part> {
        render_prefix(markdown)
    }

    fn running(title: &str, progress: &str) -> Part {
        running::running(title, progress)
    }

    fn ended(title: &str, ok: bool, summary: &str) -> Part {
        running::ended(title, ok, summary)
    }

    const HAS_BUTTONS: bool = true;

    fn with_undo_button(part: Part, to: &Address, undo: UndoButton) -> Part {
        let thread = Place::of(to).and_then(|place| place.thread);
        Part { buttons: undo_button::button(thread, undo).into_iter().collect(), ..part }
    }

    fn with_grant_buttons(part: Part, digest: i64, grants: &[i64]) -> Part {
        Part { buttons: digest_button::buttons(digest, grants), ..part }
    }

    fn with_reminder_buttons(part: Part, firing: &str) -> Part {
        Part { buttons: reminder_button::buttons(firing), ..part }
    }
}

impl Door for GatewayContext {
    const NAME: &'static str = DOOR;

    type Text = Part;

    async fn send(&self, to: &Address, part: &Part) -> Result<i64, DoorFault> {
        let place = place(to)?;
        let sent = in_turn(self, &place, Urgency::Message, || pacing::send(self, &place, part));
        Ok(sent.await?.message)
    }

    async fn ask(
        &self,
        to: &Address,
        _: u64,
        question: &Question,
    ) -> Result<QuestionMessage, DoorFault> {
        let place = place(to)?;
        let send = || question_message::send(self, &place, question);
        Ok(in_turn(self, &place, Urgency::Answer, send).await?)
    }

    async fn show_answered(
        &self,
        posted: &PostedQuestion,
        question: &Question,
    ) -> Result<(), DoorFault> {
        let place = place(&posted.address)?;
        let edit = || question_message::show_answered(self, &place, posted, question);
        Ok(in_turn(self, &place, Urgency::Message, edit).await?)
    }

    async fn close(
        &self,
        posted: &PostedQuestion,
        question: &Question,
        how: &Closed,
    ) -> Result<(), DoorFault> {
        let place = place(&posted.address)?;
        let part = question_message::closed(self, &place, posted, question, how);
        let edit = || question_message::edit(self, &place, posted, question, &part);
        Ok(in_turn(self, &place, Urgency::Message, edit).await?)
    }

    fn glimpses(self: &Arc<Self>, session: &SessionId, to: &Address) -> LiveSink {
        live::show(self, session, to)
    }
}

impl ChatDoor for GatewayContext {
    fn shared(&self) -> &DoorState<Part> {
        &self.shared
    }

    /// Of another bot's chats this gateway knows nothing; their rows wait for that bot. Those of a
    /// chat that has blocked the bot wait until it writes again.
    fn writes_to(&self, to: &Address) -> bool {
        Place::of(to).is_some_and(|place| place.bot == self.me.id && !self.is_blocked(place.chat))
    }

    /// What needs a human may go to a chat that may not talk.
    fn may_read(&self, to: &Address) -> bool {
        let Some(chat) = Place::of(to).map(|place| place.chat) else { return true };
        let is_told = self.notify_place().is_some_and(|place| place.chat == chat);
        // A store that cannot be read sends nobody away.
        is_told || may_talk(self, chat).unwrap_or(true)
    }

    fn place_of(&self, session: &SessionId) -> Option<Address> {
        let mut parts = session.as_str().strip_prefix(DOOR)?.strip_prefix('.')?.split('.');
        let bot = parts.next()?.parse().ok().filter(|bot| *bot == self.me.id)?;
        let chat = parts.next()?.parse().ok()?;
        let thread = parts.next().and_then(|thread| thread.parse().ok());
        Some(Place { bot, chat, thread }.address())
    }

    fn owners_place(&self) -> Option<Address> {
        self.notify_place().map(|place| place.address())
    }

    fn has_an_owner(&self, to: &Address) -> bool {
        Place::of(to).is_some_and(|place| !self.is_without_owner(&place))
    }

    fn is_owner(&self, principal: &str) -> bool {
        self.telegram.owners.iter().any(|owner| telegram_principal(*owner) == principal)
    }

    /// A client has no place where its owner would be asked.
    fn asks_for_others(&self, question: &AskedQuestion) -> bool {
        self.telegram.console_questions || client_of_call(&question.call).is_some()
    }

    fn answers_on_the_way(&self, of: &[ApprovalId]) -> Result<HashSet<ApprovalId>, MailError> {
        let kept = self.mail.kept_updates(self.me.id, 0)?;
        let is_tapped = |id: &ApprovalId| {
            let data = format!("\"q:{id}:");
            kept.iter().any(|update| update.body.contains(&data))
        };
        let mut answered: HashSet<_> = of.iter().filter(|id| is_tapped(id)).cloned().collect();
        for update in kept.iter().filter(|update| update.body.contains("\"message_reaction\"")) {
            let incoming = moves::at_its_chat(self, updates::read_alone(&update.body, &self.me));
            if let Incoming::Reaction(reacted) = incoming {
                let posted = reactions::posted_of(self, &reacted)?;
                answered.extend(posted.map(|posted| posted.approval));
            }
        }
        Ok(answered)
    }

    fn pieces(&self, body: &OutboundBody, text: &str) -> Vec<DoorPiece<Part>> {
        outgoing::pieces(body, text)
    }

    async fn file(&self, to: &Address, file: &File) -> Result<(), DoorFault> {
        let place = place(to)?;
        let send = || outgoing::send_file(self, &place, file);
        Ok(in_turn(self, &place, Urgency::Message, send).await?)
    }

    /// Formatted, or as it is where Telegram does not take the formatting.
    async fn edit(&self, to: &Address, message: i64, part: &Part) -> Result<(), DoorFault> {
        let place = place(to)?;
        let edit = || async {
            match self.api.edit(&place, message, part, &[]).await {
                Err(ApiFault::Formatting(why)) => {
                    tracing::warn!(why, "Telegram refused a formatting; the text goes without");
                    self.api.edit(&place, message, &part.plain(), &[]).await
                }
                edited => edited,
            }
        };
        Ok(in_turn(self, &place, Urgency::Message, edit).await?)
    }

    async fn take_away(&self, to: &Address, message: i64) -> Result<(), DoorFault> {
        let place = place(to)?;
        let delete = || self.api.delete(&place, message);
        Ok(in_turn(self, &place, Urgency::Message, delete).await?)
    }

    async fn glimpse(
        &self,
        to: &Address,
        message: Option<i64>,
        part: &Part,
        stops: bool,
    ) -> Result<Option<i64>, DoorFault> {
        let place = place(to)?;
        let Some(_turn) = self.pace.try_turn(&place) else { return Ok(None) };
        let stop = stops.then(|| stop_button("turn")).flatten();
        let keyboard: Vec<Vec<Button>> = stop.into_iter().map(|button| vec![button]).collect();
        let shown = match message {
            None => self.api.send(&place, part, &keyboard).await.map(|sent| sent.message),
            Some(message) => {
                self.api.edit(&place, message, part, &keyboard).await.map(|()| message)
            }
        };
        match shown {
            Err(ApiFault::Wait(pause)) => {
                self.pace.pause(&place, pause);
                Ok(None)
            }
            shown => Ok(Some(shown?)),
        }
    }

    fn glimpse_every(&self, to: &Address) -> Duration {
        let in_group = Place::of(to).is_some_and(|place| place.chat < 0);
        if in_group { EVERY_IN_GROUP } else { EVERY }
    }

    fn about_a_server(self: &Arc<Self>, text: String) {
        let ctx = self.clone();
        claw_kit::task::spawn(async move { notify::about_a_server(&ctx, &text).await });
    }

    fn shows_words_before_acts(&self) -> bool {
        self.telegram.stream
    }

    async fn working(&self, to: &Address) {
        let Ok(place) = place(to) else { return };
        loop {
            if let Err(fault) = self.api.typing(&place).await {
                tracing::debug!(%fault, "typing could not be shown");
            }
            tokio::time::sleep(TYPING_EVERY).await;
        }
    }

    fn instead(&self, refused: &Outbound, fault: &DoorFault) -> Vec<Outbound> {
        elsewhere::instead(self, refused, fault)
    }

    async fn blocked(&self, to: &Address, why: &str) -> Result<(), MailError> {
        match Place::of(to) {
            Some(place) => notify::blocked(self, &place, why).await,
            None => Ok(()),
        }
    }

    fn store_failed(self: &Arc<Self>, error: &MailError) {
        notify::store_failed(self, error);
    }
}
