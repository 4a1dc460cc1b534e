//! Where in Telegram a conversation is: bot, chat, topic. Owns its address and the name of its
//! session; must not know who is there.

use crate::domain::{Address, InvalidSessionId, SessionId, telegram_session};

/// The door's name in addresses.
pub const DOOR: &str = "telegram";

/// A chat, or one topic of a forum.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub bot: i64,
    pub chat: i64,
    /// `message_thread_id` of a forum topic.
    pub thread: Option<i64>,
}

impl Place {
    /// `telegram/BOT/CHAT` or `telegram/BOT/CHAT/THREAD`.
    pub fn address(&self) -> Address {
        let thread = self.thread.map(|thread| format!("/{thread}")).unwrap_or_default();
        Address(format!("{DOOR}/{}/{}{thread}", self.bot, self.chat))
    }

    /// `None` for an address of another door.
    pub fn of(address: &Address) -> Option<Self> {
        let mut parts = address.0.split('/');
        if parts.next() != Some(DOOR) {
            return None;
        }
        let place = Self {
            bot: parts.next()?.parse().ok()?,
            chat: parts.next()?.parse().ok()?,
            thread: parts.next().map(str::parse).transpose().ok()?,
        };
        parts.next().is_none().then_some(place)
    }

    /// The session of this conversation.
    pub fn session(&self) -> Result<SessionId, InvalidSessionId> {
        let chat = telegram_session(self.bot, self.chat)?;
        self.thread.map_or(Ok(chat.clone()), |thread| SessionId::new(format!("{chat}.{thread}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_and_topics_are_apart() {
        let chat = Place { bot: 77, chat: -100_123, thread: None };
        let topic = Place { thread: Some(5), ..chat.clone() };
        for place in [&chat, &topic] {
            assert_eq!(Place::of(&place.address()).as_ref(), Some(place));
        }
        assert_ne!(chat.session().unwrap(), topic.session().unwrap());
        for other in
            ["console/1/2", "telegram/x/2", "telegram/1", "telegram/1/2/3/4", "telegram/1/2/x"]
        {
            assert_eq!(Place::of(&Address(other.into())), None, "{other}");
        }
    }
}
