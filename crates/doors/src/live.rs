//! Shows a turn in its chat while it runs: the answer as it is written, the calls that run, each
//! with a button to stop it. Owns how often, and what is noted of it. Nothing here is needed for
//! anything to arrive: the outbox brings it all.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::beat::Beat;
use super::chat_door::ChatDoor;
use super::door::DoorFault;
use super::drafts::{DraftChange, Drafts, Slot};
use super::patience::{patiently, pause_after};
use crate::domain::{Address, Live, LiveSink, SessionId};
use crate::mail::{DraftMessage, RunningCall};

/// How long after the end of a turn the message of a call is tried to be changed. The next start
/// does it otherwise.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// Rows of calls that an earlier process has shown are looked at this often without a wake-up.
const LOOK: Duration = Duration::from_secs(30);

/// What shows one session while it runs.
struct Show<D: ChatDoor> {
    door: Arc<D>,
    session: SessionId,
    to: Address,
    drafts: Drafts<D::Text>,
    /// How often in a row the chat could not be reached.
    failures: u32,
}

/// What a door for chats gives as its [`Door::glimpses`](super::Door::glimpses).
pub fn show<D: ChatDoor>(door: &Arc<D>, session: &SessionId, to: &Address) -> LiveSink {
    let (sender, glimpses) = mpsc::unbounded_channel();
    let show = Show {
        door: door.clone(),
        session: session.clone(),
        to: to.clone(),
        drafts: Drafts::default(),
        failures: 0,
    };
    claw_kit::task::spawn(show.run(glimpses));
    Arc::new(move |live| {
        // A show that has ended early has nothing more to show.
        let _ = sender.send(live);
    })
}

impl<D: ChatDoor> Show<D> {
    async fn run(mut self, mut glimpses: mpsc::UnboundedReceiver<Live>) {
        let every = self.door.glimpse_every(&self.to);
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
            self.door.about_a_server(text);
            return;
        }
        let is_text = matches!(live, Live::StepStarted { .. } | Live::Text { .. });
        if is_text && !self.door.shows_words_before_acts() {
            return;
        }
        if let Some((turn_seq, step)) = self.drafts.take(live) {
            match self.door.shared().mail().drafts(&self.to, &self.session, turn_seq, step) {
                Ok(messages) => self.drafts.adopt(messages),
                Err(error) => tracing::warn!(%error, "the drafts of an earlier run cannot be read"),
            }
        }
    }

    /// Makes one change, and says how long to wait for the next one.
    async fn change(&mut self, every: Duration) -> Duration {
        if !self.door.writes_to(&self.to) {
            return every;
        }
        let Some(change) = self.drafts.next_change::<D>() else { return every };
        let chat = self.door.shared().chats.at(&self.to);
        // While the outbox writes to the chat there is something better to read.
        let Ok(mut delivered) = chat.try_lock() else { return every };
        if let Slot::Text { turn_seq, step, .. } = change.slot
            && delivered.reaches(&self.session, turn_seq, step)
        {
            self.drafts.give_up(&change.slot);
            return Duration::ZERO;
        }
        match self.door.glimpse(&self.to, change.message, &change.text, change.has_button()).await {
            Ok(None) => every,
            Ok(Some(message)) => {
                self.failures = 0;
                if matches!(change.slot, Slot::Text { .. }) {
                    delivered.shows(message, change.text.clone());
                }
                self.note(&change, message).await;
                let pause = if change.is_new_call() { Duration::ZERO } else { every };
                self.drafts.made(change, message);
                pause
            }
            // A new message that may be there already is not sent a second time.
            Err(DoorFault::Unanswered(why)) if change.message.is_none() => {
                tracing::debug!(why, "nobody said whether a draft was shown; it is left");
                self.drafts.give_up(&change.slot);
                every
            }
            Err(DoorFault::MayPass(why) | DoorFault::Unanswered(why)) => {
                tracing::debug!(why, "a draft could not be shown; trying again");
                self.failures += 1;
                pause_after(self.failures).max(every)
            }
            Err(fault) => {
                tracing::warn!(%fault, "a draft could not be shown; the whole comes when it is \
                    finished");
                self.drafts.give_up(&change.slot);
                every
            }
        }
    }

    /// So that a later process, and a tap, find the message again.
    async fn note(&self, change: &DraftChange<D::Text>, message: i64) {
        let (address, session) = (self.to.clone(), self.session.clone());
        let mail = self.door.shared().mail();
        let noted = match (&change.slot, &change.running) {
            (Slot::Text { turn_seq, step, part }, _) if change.message.is_none() => {
                let (turn_seq, step, part) = (*turn_seq, *step, *part as u32);
                mail.drafted(DraftMessage { address, message, session, turn_seq, step, part }).await
            }
            (Slot::Call(_), Some(title)) if change.message.is_none() => {
                mail.call_shown(RunningCall { address, message, session, title: title.clone() })
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
/// for their button. Those of a chat that cannot be written to wait until it can.
pub async fn end_what_ran<D: ChatDoor>(door: Arc<D>) {
    let mail = door.shared().mail();
    let mut left = mail.calls_shown().unwrap_or_else(|error| {
        tracing::error!(%error, "the calls on the screen cannot be read");
        Vec::new()
    });
    let mut wake_ups = door.shared().wake_ups();
    while !left.is_empty() && !door.shared().closing.is_cancelled() {
        let (now, later): (Vec<_>, _) =
            left.into_iter().partition(|row| door.writes_to(&row.address));
        left = later;
        for row in now {
            let text = D::ended(&row.title, false, "claw was ended while it ran");
            let edited = patiently(|| door.edit(&row.address, row.message, &text)).await;
            if let Err(fault) = edited {
                tracing::warn!(%fault, "a call that has ended is still shown as running");
            }
            if let Err(error) = mail.call_ended(&row.address, row.message).await {
                tracing::error!(%error, "the store could not be written");
            }
        }
        wake_ups.wait(LOOK).await;
    }
}

/// Equal but for white space: the reply joins its blocks with blank lines, the stream does not.
pub fn same_words(a: &str, b: &str) -> bool {
    a.chars().filter(|c| !c.is_whitespace()).eq(b.chars().filter(|c| !c.is_whitespace()))
}

#[cfg(test)]
mod tests;
