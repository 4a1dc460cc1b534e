//! How fast a bot may send: <https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this>. Owns whose
//! turn it is, and the pauses that Telegram has asked for. Must not know what is sent.
//!
//! Telegram says: about one message a second in a chat, where short bursts pass; 20 a minute in a group; about 30 a second
//! over all. Each is a window in which so many messages were sent. What is more urgent may fill a window further, so that an
//! answer to a person finds room even when there is much else to say.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
/// Chats in which nothing was sent for a while are forgotten when there are more than this.
const CHATS_MAX: usize = 256;

#[derive(Default)]
struct Chat {
    sent: VecDeque<Instant>,
    paused_until: Option<Instant>,
}

#[derive(Default)]
struct State {
    overall: VecDeque<Instant>,
    chats: HashMap<i64, Chat>,
}

/// The pace of one bot.
pub struct Pace {
    /// Without, only the pauses that Telegram asks for are kept.
    limits: bool,
    state: Mutex<State>,
}

impl Pace {
    pub fn new(limits: bool) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Waits until something may be sent there, and counts it. A pause or a full window of one chat holds up no other.
    pub async fn turn(&self, to: &Place, urgency: Urgency) {
        loop {
            // The guard is gone before the sleep.
            let taken = self.state().take(to.chat, urgency, self.limits, Instant::now());
            match taken {
                Ok(()) => return,
                Err(room_at) => sleep_until(room_at).await,
            }
        }
    }

    /// Whether something that can as well be left out may be sent there now; if so, it is counted.
    pub fn try_turn(&self, to: &Place) -> bool {
        self.state().take(to.chat, Urgency::Edit, self.limits, Instant::now()).is_ok()
    }

    /// Nothing is sent there for this time (Bot API, "ResponseParameters", `retry_after`). A longer pause stays.
    pub fn pause(&self, to: &Place, time: Duration) {
        let until = Instant::now() + time.max(PAUSE_MIN);
        let mut state = self.state();
        let chat = state.chats.entry(to.chat).or_default();
        chat.paused_until = chat.paused_until.max(Some(until));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts one more message, or says when there may be room for it.
    fn take(&mut self, chat: i64, urgency: Urgency, limits: bool, now: Instant) -> Result<(), Instant> {
        if self.chats.len() > CHATS_MAX {
            self.chats.retain(|_, chat| chat.is_live(now));
        }
        let (place, overall) = (self.chats.entry(chat).or_default(), &mut self.overall);
        let paused = place.paused_until.filter(|until| *until > now);
        if !limits {
            return paused.map_or(Ok(()), Err);
        }
        // Groups have negative ids.
        let group = if chat < 0 { GROUP.room_at(&place.sent, urgency, now) } else { None };
        let room = [paused, CHAT.room_at(&place.sent, urgency, now), group, OVERALL.room_at(overall, urgency, now)];
        if let Some(at) = room.into_iter().flatten().max() {
            return Err(at);
        }
        for (sent, span) in [(&mut place.sent, GROUP.span), (overall, OVERALL.span)] {
            sent.push_back(now);
            while sent.front().is_some_and(|first| *first + span <= now) {
                sent.pop_front();
            }
        }
        Ok(())
    }
}

impl Chat {
    fn is_live(&self, now: Instant) -> bool {
        self.paused_until.is_some_and(|until| until > now)
            || self.sent.back().is_some_and(|last| *last + GROUP.span > now)
    }
}

impl Window {
    /// When there is room for one more, if there is none now.
    fn room_at(&self, sent: &VecDeque<Instant>, urgency: Urgency, now: Instant) -> Option<Instant> {
        let most = self.most[urgency as usize];
        let oldest = sent.len().checked_sub(most).and_then(|index| sent.get(index))?;
        Some(*oldest + self.span).filter(|at| *at > now)
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
            pace.turn(&to(index), Urgency::Message).await;
        }
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_chat_takes_a_small_burst_and_then_one_a_second() {
        let pace = Pace::new(true);
        assert_eq!(time_of(&pace, 5, |_| chat(1)).await, Duration::ZERO);
        assert_eq!(time_of(&pace, 20, |_| chat(1)).await, Duration::from_secs(20));
        assert_eq!(time_of(&pace, 5, |_| chat(2)).await, Duration::ZERO, "another chat has its own");
        assert_eq!(time_of(&Pace::new(false), 500, |_| chat(1)).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn no_minute_of_a_group_has_more_than_twenty() {
        let pace = Pace::new(true);
        let mut sent = Vec::new();
        for index in 0..100 {
            let urgency = if index % 2 == 0 { Urgency::Answer } else { Urgency::Message };
            pace.turn(&chat(-5), urgency).await;
            sent.push(Instant::now());
        }
        let busiest = sent
            .iter()
            .map(|from| sent.iter().filter(|at| *at >= from && **at < *from + Duration::from_secs(60)).count());
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
                pace.turn(&chat(to), urgency).await;
                (urgency == Urgency::Answer, began.elapsed())
            }
        };
        let many = (1..=270).map(|to| wait(to, Urgency::Message));
        let times = futures::future::join_all(many.chain((1001..=1003).map(|to| wait(to, Urgency::Answer)))).await;
        let last = |answer: bool| times.iter().filter(|(is, _)| *is == answer).map(|(_, at)| *at).max().unwrap();
        assert!(last(true).is_zero(), "there is room left for answers");
        assert!(last(false) >= Duration::from_secs(9) && last(false) < Duration::from_secs(11));
        for (_, from) in &times {
            let within = times.iter().filter(|(_, at)| at >= from && *at < *from + Duration::from_secs(1)).count();
            assert!(within <= 30, "{within} in a second");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_up_its_own_chat_alone() {
        for pace in [Pace::new(true), Pace::new(false)] {
            pace.pause(&chat(1), Duration::from_secs(30));
            pace.pause(&chat(1), Duration::from_secs(2));
            assert!(!pace.try_turn(&chat(1)) && pace.try_turn(&chat(2)));
            assert!(time_of(&pace, 1, |_| chat(2)).await.is_zero());
            assert_eq!(time_of(&pace, 1, |_| chat(1)).await, Duration::from_secs(30), "the longer pause counts");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn edits_leave_room_for_messages() {
        let pace = Pace::new(true);
        let edits = (0..10).filter(|_| pace.try_turn(&chat(1))).count();
        assert_eq!(edits, 4);
        assert!(time_of(&pace, 1, |_| chat(1)).await.is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn chats_are_forgotten_when_they_are_quiet() {
        let pace = Pace::new(true);
        time_of(&pace, 2_000, |index| chat(index as i64 + 1)).await;
        tokio::time::advance(Duration::from_secs(120)).await;
        assert!(pace.try_turn(&chat(1)));
        assert!(pace.state().chats.len() <= CHATS_MAX);
        assert!(pace.state().overall.len() <= OVERALL.most[2]);
    }
}
