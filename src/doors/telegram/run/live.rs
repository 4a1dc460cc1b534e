//! Shows a turn in its chat while it runs: the answer as it is written, the calls that run, each
//! with a button to stop it. Owns how often, and what is noted of it. Nothing here is needed for
//! anything to arrive: the outbox brings it all.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::beat::Beat;
use super::context::GatewayContext;
use super::notify;
use super::pacing::until_sent;
use crate::domain::{Live, LiveSink, SessionId};
use crate::doors::patience::pause_after;
use crate::doors::telegram::api::callback::{Button, stop_button};
use crate::doors::telegram::api::fault::ApiFault;
use crate::doors::telegram::api::pace::Urgency;
use crate::doors::telegram::api::place::Place;
use crate::doors::telegram::render::draft::{DraftChange, Drafts, Slot};
use crate::doors::telegram::render::running::ended;
use crate::mail::{DraftRow, RunningRow};

/// How often a private chat is changed. Telegram allows about one message a second.
const EVERY: Duration = Duration::from_secs(1);
/// The same for a group, where Telegram allows 20 a minute.
const EVERY_IN_GROUP: Duration = Duration::from_secs(3);
/// How long after the end of a turn the message of a call is tried to be changed. The next start
/// does it otherwise.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// What shows one session while it runs.
struct Show {
    ctx: Arc<GatewayContext>,
    session: SessionId,
    place: Place,
    drafts: Drafts,
    /// How often in a row Telegram could not be reached.
    failures: u32,
}

/// A sink for glimpses of the session; dropping it ends the show.
pub(super) fn show(ctx: &Arc<GatewayContext>, session: &SessionId, place: Place) -> LiveSink {
    let (sender, glimpses) = mpsc::unbounded_channel();
    let show = Show {
        ctx: ctx.clone(),
        session: session.clone(),
        place,
        drafts: Drafts::default(),
        failures: 0,
    };
    tokio::spawn(show.run(glimpses));
    Arc::new(move |live| {
        // A show that has ended early has nothing more to show.
        let _ = sender.send(live);
    })
}

impl Show {
    async fn run(mut self, mut glimpses: mpsc::UnboundedReceiver<Live>) {
        let every = if self.place.chat < 0 { EVERY_IN_GROUP } else { EVERY };
        let mut beat = Beat::new(every);
        loop {
            let idle = !self.drafts.changed();
            tokio::select! {
                live = glimpses.recv() => match live {
                    Some(live) => {
                        let call = matches!(live, Live::CallStarted { .. });
                        self.take(live);
                        if call {
                            beat.call(Instant::now());
                        } else if self.drafts.changed() {
                            beat.words(Instant::now());
                        }
                    }
                    None => break,
                },
                () = tokio::time::sleep_until(beat.next()), if !idle => {
                    let pause = self.change(every).await;
                    beat.shown(Instant::now(), pause);
                }
            }
        }
        self.drafts.close();
        let last = Instant::now() + LAST_WORDS;
        while self.drafts.changed() && beat.next() < last {
            tokio::time::sleep_until(beat.next()).await;
            let pause = self.change(every).await;
            beat.shown(Instant::now(), pause);
        }
    }

    fn take(&mut self, live: Live) {
        if let Live::Server { text } = live {
            let ctx = self.ctx.clone();
            tokio::spawn(async move { notify::about_a_server(&ctx, &text).await });
            return;
        }
        let is_text = matches!(live, Live::StepStarted { .. } | Live::Text { .. });
        if is_text && !self.ctx.telegram.stream {
            return;
        }
        if let Some((turn_seq, step)) = self.drafts.take(live) {
            match self.ctx.mail.drafts(&self.place.address(), &self.session, turn_seq, step) {
                Ok(messages) => self.drafts.adopt(messages),
                Err(error) => tracing::warn!(%error, "the drafts of an earlier run cannot be read"),
            }
        }
    }

    /// Makes one change, and says how long to wait for the next one.
    async fn change(&mut self, every: Duration) -> Duration {
        if self.ctx.is_blocked(self.place.chat) {
            return every;
        }
        let Some(change) = self.drafts.next_change() else { return every };
        let chat = self.ctx.shared.chats.at(&self.place.address());
        // While the outbox writes to the chat there is something better to read.
        let Ok(mut delivered) = chat.try_lock() else { return every };
        if let Slot::Text { turn_seq, step, .. } = change.slot
            && delivered.reaches(&self.session, turn_seq, step)
        {
            self.drafts.give_up(&change.slot);
            return Duration::ZERO;
        }
        let Some(_turn) = self.ctx.pace.try_turn(&self.place) else { return every };
        match self.send(&change).await {
            Ok(message) => {
                self.failures = 0;
                if matches!(change.slot, Slot::Text { .. }) {
                    delivered.shows(message, change.part.clone());
                }
                self.note(&change, message).await;
                let pause = if change.is_new_call() { Duration::ZERO } else { every };
                self.drafts.made(change, message);
                pause
            }
            Err(ApiFault::Wait(pause)) => {
                self.ctx.pace.pause(&self.place, pause);
                every
            }
            Err(ApiFault::Unreachable(why)) => {
                tracing::debug!(why, "a draft could not be shown; trying again");
                self.failures += 1;
                pause_after(self.failures).max(every)
            }
            Err(fault) => {
                tracing::warn!(%fault, "a draft could not be shown; the whole comes when it is finished");
                self.drafts.give_up(&change.slot);
                every
            }
        }
    }

    async fn send(&self, change: &DraftChange) -> Result<i64, ApiFault> {
        let stop = change.has_button().then(|| stop_button("turn")).flatten();
        let keyboard: Vec<Vec<Button>> = stop.into_iter().map(|button| vec![button]).collect();
        match change.message {
            None => self
                .ctx
                .api
                .send(&self.place, &change.part, &keyboard)
                .await
                .map(|sent| sent.message),
            Some(message) => {
                self.ctx.api.edit(&self.place, message, &change.part, &keyboard).await?;
                Ok(message)
            }
        }
    }

    /// So that a later process, and a tap, find the message again.
    async fn note(&self, change: &DraftChange, message: i64) {
        let (address, session) = (self.place.address(), self.session.clone());
        let mail = &self.ctx.mail;
        let noted = match (&change.slot, &change.running) {
            (Slot::Text { turn_seq, step, part }, _) if change.message.is_none() => {
                let (turn_seq, step, part) = (*turn_seq, *step, *part as u32);
                mail.drafted(DraftRow { address, message, session, turn_seq, step, part }).await
            }
            (Slot::Call(_), Some(title)) if change.message.is_none() => {
                mail.call_shown(RunningRow { address, message, session, title: title.clone() })
                    .await
            }
            (Slot::Call(_), None) => mail.call_ended(&address, message).await,
            _ => Ok(()),
        };
        if let Err(error) = noted {
            tracing::error!(%error, "a message that will change could not be noted");
        }
    }
}

/// Calls of an earlier process that are still shown as running: they are not, and nobody may look
/// for their button.
pub(super) async fn end_what_ran(ctx: Arc<GatewayContext>) {
    let shown = ctx.mail.calls_shown().unwrap_or_else(|error| {
        tracing::error!(%error, "the calls on the screen cannot be read");
        Vec::new()
    });
    for row in shown {
        let Some(place) = Place::of(&row.address).filter(|place| place.bot == ctx.me.id) else {
            continue;
        };
        let part = ended(&row.title, false, "claw was ended while it ran");
        let edited = until_sent(&ctx, &place, Urgency::Message, || {
            ctx.api.edit(&place, row.message, &part, &[])
        })
        .await;
        if let Err(fault) = edited {
            tracing::warn!(%fault, "a call that has ended is still shown as running");
        }
        if let Err(error) = ctx.mail.call_ended(&row.address, row.message).await {
            tracing::error!(%error, "the store could not be written");
        }
    }
}
