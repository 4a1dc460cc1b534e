//! How fast a bot may send:
//! <https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this>. Owns whose
//! turn it is, and the pauses that Telegram has asked for. Must not know what is sent.
//!
//! Telegram says: about one message a second in a chat, where short bursts pass; 20 a minute in a
//! group; about 30 a second over all. Each is a window in which so many messages were sent. What is
//! more urgent may fill a window further, so that an answer to a person finds room even when there
//! is much else to say.
//!
//! A message counts from the moment its request begins until one span after Telegram has answered
//! it. It came to Telegram at some moment between the two, so no span of Telegram's own clock holds
//! more than a window allows, however slow the way is.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::place::Place;

/// What is sent, from the least to the most urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// The change of a message that will be changed again.
    Edit,
    Message,
    /// A question, or what answers a tap.
    Answer,
}

/// At most so many in a span of time, by urgency.
struct Window {
    span: Duration,
    most: [usize; 3],
}

const CHAT: Window = Window { span: Duration::from_secs(5), most: [4, 5, 6] };
const GROUP: Window = Window { span: Duration::from_secs(60), most: [14, 18, 20] };
const OVERALL: Window = Window { span: Duration::from_secs(1), most: [20, 27, 30] };
/// A pause is at least this long, whatever Telegram says.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// When so many chats are paused at the same time, it is the bot that Telegram slows down: a
/// refusal does not say which it is.
const PAUSED_CHATS_MAX: usize = 3;
/// Chats in which nothing was sent for a while are forgotten when there are more than this.
const CHATS_MAX: usize = 256;

/// What counts in one place.
#[derive(Default)]
struct Sent {
    under_way: usize,
    /// When each of the others was answered, in order.
    done: VecDeque<Instant>,
}

#[derive(Default)]
struct Chat {
    sent: Sent,
    /// As Telegram has asked; another chat goes on.
    paused_until: Option<Instant>,
}

#[derive(Default)]
struct State {
    overall: Sent,
    /// For all chats together.
    paused_until: Option<Instant>,
    chats: HashMap<i64, Chat>,
}

/// Why nothing may be sent now.
enum Full {
    /// There may be room then.
    Until(Instant),
    /// So much is under way that there is no room before some of it is answered.
    UnderWay,
}

/// The pace of one bot.
pub struct Pace {
    /// Without, only the pauses that Telegram asks for are kept.
    limits: bool,
    /// What is under way and was sent, for as long as a limit looks back.
    state: Mutex<State>,
    /// Told when something under way was answered.
    answered: Notify,
}

/// Somebody's turn to send one message; to be dropped when Telegram has answered.
#[must_use = "a turn is over when it is dropped"]
pub struct Turn<'a> {
    pace: &'a Pace,
    chat: i64,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.pace.state().end(self.chat, Instant::now());
        self.pace.answered.notify_waiters();
    }
}

impl Pace {
    pub fn new(limits: bool) -> Self {
        Self { limits, state: Mutex::default(), answered: Notify::new() }
    }

    /// Waits until something may be sent there, and counts it. A pause or a full window of one chat
    /// holds up no other.
    pub async fn turn(&self, to: &Place, urgency: Urgency) -> Turn<'_> {
        loop {
            // Enabled before looking, so that no answer is missed between looking and waiting.
            let mut answered = std::pin::pin!(self.answered.notified());
            answered.as_mut().enable();
            // The lock is let go before the wait.
            let taken = self.state().take(to.chat, urgency, self.limits, Instant::now());
            match taken {
                Ok(()) => return Turn { pace: self, chat: to.chat },
                Err(Full::Until(room_at)) => sleep_until(room_at).await,
                Err(Full::UnderWay) => answered.await,
            }
        }
    }

    /// For something that can as well be left out: a turn if it may be sent there now.
    pub fn try_turn(&self, to: &Place) -> Option<Turn<'_>> {
        let taken = self.state().take(to.chat, Urgency::Edit, self.limits, Instant::now());
        taken.is_ok().then(|| Turn { pace: self, chat: to.chat })
    }

    /// Nothing is sent there for this time (Bot API, "ResponseParameters", `retry_after`). A longer
    /// pause stays. When several chats are paused, nothing is sent anywhere before the first of
    /// their pauses is over.
    pub fn pause(&self, to: &Place, time: Duration) {
        let now = Instant::now();
        let mut state = self.state();
        let chat = state.chats.entry(to.chat).or_default();
        chat.paused_until = chat.paused_until.max(Some(now + time.max(PAUSE_MIN)));
        let pauses = || {
            state.chats.values().filter_map(|chat| chat.paused_until.filter(|until| *until > now))
        };
        if pauses().count() >= PAUSED_CHATS_MAX {
            let first = pauses().min();
            if state.paused_until.is_none_or(|until| until <= now) {
                tracing::warn!(
                    "Telegram slows the bot down; nothing is sent until it takes messages again"
                );
            }
            state.paused_until = state.paused_until.max(first);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts one more message, or says when there may be room for it.
    fn take(
        &mut self,
        chat: i64,
        urgency: Urgency,
        limits: bool,
        now: Instant,
    ) -> Result<(), Full> {
        if self.chats.len() > CHATS_MAX {
            self.chats.retain(|_, chat| chat.is_live(now));
        }
        let (place, overall) = (self.chats.entry(chat).or_default(), &mut self.overall);
        if let Some(until) = place.paused_until.max(self.paused_until).filter(|until| *until > now)
        {
            return Err(Full::Until(until));
        }
        if limits {
            CHAT.room(&place.sent, urgency, now)?;
            // Groups have negative ids.
            if chat < 0 {
                GROUP.room(&place.sent, urgency, now)?;
            }
            OVERALL.room(overall, urgency, now)?;
        }
        place.sent.under_way += 1;
        overall.under_way += 1;
        Ok(())
    }

    fn end(&mut self, chat: i64, now: Instant) {
        let place = self.chats.entry(chat).or_default();
        for (sent, span) in [(&mut place.sent, GROUP.span), (&mut self.overall, OVERALL.span)] {
            sent.under_way = sent.under_way.saturating_sub(1);
            sent.done.push_back(now);
            while sent.done.front().is_some_and(|first| *first + span <= now) {
                sent.done.pop_front();
            }
        }
    }
}

impl Chat {
    fn is_live(&self, now: Instant) -> bool {
        self.sent.under_way > 0
            || self.paused_until.is_some_and(|until| until > now)
            || self.sent.done.back().is_some_and(|last| *last + GROUP.span > now)
    }
}

impl Window {
    fn room(&self, sent: &Sent, urgency: Urgency, now: Instant) -> Result<(), Full> {
        let most = self.most[urgency as usize];
        let Some(done_max) = most.checked_sub(sent.under_way + 1) else {
            return Err(Full::UnderWay);
        };
        // There is room for one more when at most so many of those that are done still count.
        let oldest =
            sent.done.len().checked_sub(done_max + 1).and_then(|index| sent.done.get(index));
        match oldest.map(|at| *at + self.span).filter(|at| *at > now) {
            Some(at) => Err(Full::Until(at)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(chat: i64) -> Place {
        Place { bot: 7, chat, thread: None }
    }

    /// How long so many messages take, with nothing else going on.
    async fn time_of(pace: &Pace, count: usize, to: impl Fn(usize) -> Place) -> Duration {
        let began = Instant::now();
        for index in 0..count {
            drop(pace.turn(&to(index), Urgency::Message).await);
        }
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_chat_takes_a_small_burst_and_then_one_a_second() {
        let pace = Pace::new(true);
        assert_eq!(time_of(&pace, 5, |_| chat(1)).await, Duration::ZERO);
        assert_eq!(time_of(&pace, 20, |_| chat(1)).await, Duration::from_secs(20));
        assert_eq!(
            time_of(&pace, 5, |_| chat(2)).await,
            Duration::ZERO,
            "another chat has its own"
        );
        assert_eq!(time_of(&Pace::new(false), 500, |_| chat(1)).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn no_minute_of_a_group_has_more_than_twenty() {
        let pace = Pace::new(true);
        let mut sent = Vec::new();
        for index in 0..100 {
            let urgency = if index % 2 == 0 { Urgency::Answer } else { Urgency::Message };
            drop(pace.turn(&chat(-5), urgency).await);
            sent.push(Instant::now());
        }
        let busiest = sent.iter().map(|from| {
            sent.iter().filter(|at| *at >= from && **at < *from + Duration::from_secs(60)).count()
        });
        assert!(busiest.max().unwrap() <= 20);
        assert!(time_of(&pace, 1, |_| chat(5)).await.is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn all_chats_together_keep_the_limit_and_answers_go_first() {
        let pace = std::sync::Arc::new(Pace::new(true));
        let began = Instant::now();
        let wait = |to: i64, urgency| {
            let pace = pace.clone();
            async move {
                drop(pace.turn(&chat(to), urgency).await);
                (urgency == Urgency::Answer, began.elapsed())
            }
        };
        let many = (1..=270).map(|to| wait(to, Urgency::Message));
        let times = futures::future::join_all(
            many.chain((1001..=1003).map(|to| wait(to, Urgency::Answer))),
        )
        .await;
        let last = |answer: bool| {
            times.iter().filter(|(is, _)| *is == answer).map(|(_, at)| *at).max().unwrap()
        };
        assert!(last(true).is_zero(), "there is room left for answers");
        assert!(last(false) >= Duration::from_secs(9) && last(false) < Duration::from_secs(11));
        for (_, from) in &times {
            let within = times
                .iter()
                .filter(|(_, at)| at >= from && *at < *from + Duration::from_secs(1))
                .count();
            assert!(within <= 30, "{within} in a second");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_up_its_own_chat_alone() {
        for pace in [Pace::new(true), Pace::new(false)] {
            pace.pause(&chat(1), Duration::from_secs(30));
            pace.pause(&chat(1), Duration::from_secs(2));
            assert!(pace.try_turn(&chat(1)).is_none() && pace.try_turn(&chat(2)).is_some());
            assert!(time_of(&pace, 1, |_| chat(2)).await.is_zero());
            assert_eq!(
                time_of(&pace, 1, |_| chat(1)).await,
                Duration::from_secs(30),
                "the longer pause counts"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_of_several_chats_hold_up_all_of_them() {
        let pace = Pace::new(true);
        pace.pause(&chat(1), Duration::from_secs(30));
        pace.pause(&chat(2), Duration::from_secs(10));
        assert!(pace.try_turn(&chat(9)).is_some(), "two chats may just be busy");
        pace.pause(&chat(3), Duration::from_secs(20));
        assert_eq!(
            time_of(&pace, 1, |_| chat(9)).await,
            Duration::from_secs(10),
            "then it is tried again"
        );
        assert_eq!(time_of(&pace, 1, |_| chat(3)).await, Duration::from_secs(10));
        assert_eq!(time_of(&pace, 1, |_| chat(1)).await, Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn edits_leave_room_for_messages() {
        let pace = Pace::new(true);
        let edits = (0..10).filter(|_| pace.try_turn(&chat(1)).is_some()).count();
        assert_eq!(edits, 4);
        assert!(time_of(&pace, 1, |_| chat(1)).await.is_zero());
    }

    /// What is on a slow way counts until it is answered, and a span longer: it may have come to
    /// Telegram at its end.
    #[tokio::test(start_paused = true)]
    async fn what_is_under_way_counts() {
        let pace = Pace::new(true);
        let began = Instant::now();
        let mut turns = Vec::new();
        for to in 1..=27 {
            turns.push(pace.turn(&chat(to), Urgency::Message).await);
        }
        let slow = async {
            tokio::time::sleep(Duration::from_secs(7)).await;
            turns.clear();
        };
        let another = chat(100);
        let ((), last) = tokio::join!(slow, pace.turn(&another, Urgency::Message));
        drop(last);
        assert_eq!(began.elapsed(), Duration::from_secs(8));
    }

    #[tokio::test(start_paused = true)]
    async fn chats_are_forgotten_when_they_are_quiet() {
        let pace = Pace::new(true);
        time_of(&pace, 2_000, |index| chat(index as i64 + 1)).await;
        tokio::time::advance(Duration::from_secs(120)).await;
        assert!(pace.try_turn(&chat(1)).is_some());
        assert!(pace.state().chats.len() <= CHATS_MAX);
        assert!(pace.state().overall.done.len() <= OVERALL.most[2]);
    }
}
