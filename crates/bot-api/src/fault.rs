//! What Telegram says when it does not do what it was asked, by what has to be done about it. Must
//! not know what was asked.

use std::time::Duration;

/// Why a request had no effect, or may have had none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiFault {
    /// HTTP 429 (Bot API, "ResponseParameters", `retry_after`).
    #[error("Telegram wants a pause of {} s", .0.as_secs())]
    Wait(Duration),
    /// HTTP 409 on `getUpdates`.
    #[error(
        "another program polls this bot, or it has a webhook: stop the other one, or give claw a \
         bot of its own"
    )]
    Conflict,
    /// HTTP 401 or 404 on any method.
    #[error("Telegram does not know the bot's token: check it against what BotFather says")]
    Token,
    /// HTTP 403: blocked, kicked, or never started.
    #[error("Telegram does not let claw write there: {0}")]
    Forbidden(String),
    /// The formatting was refused; the same text without it may pass.
    #[error("Telegram refused the formatting: {0}")]
    Formatting(String),
    /// The message is already what it should become, so there is nothing to do.
    #[error("the message is unchanged")]
    Unchanged,
    /// The topic of a forum is closed or gone; the group itself may take the message.
    #[error("Telegram refused: {0}")]
    NoTopic(String),
    /// The group has become this supergroup (Bot API, "ResponseParameters", `migrate_to_chat_id`).
    #[error("the group has become the supergroup {0}")]
    Moved(i64),
    /// Any other refusal. Asking again brings the same answer.
    #[error("Telegram refused: {0}")]
    Refused(String),
    #[error("Telegram cannot be reached: {0}")]
    Unreachable(NoAnswer),
}

/// Why there is no answer that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    why: String,
    may_be_done: bool,
}

impl NoAnswer {
    /// It has not come to Telegram, or Telegram could not do it.
    pub fn undone(why: impl Into<String>) -> Self {
        Self { why: why.into(), may_be_done: false }
    }

    /// It may have been done or not.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self { why: why.into(), may_be_done: true }
    }

    pub fn may_be_done(&self) -> bool {
        self.may_be_done
    }
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl crate::domain::Blamed for ApiFault {
    fn blame(&self) -> crate::domain::Blame {
        match self {
            Self::Token | Self::Conflict => crate::domain::Blame::User,
            Self::Wait(_)
            | Self::Forbidden(_)
            | Self::Formatting(_)
            | Self::Unchanged
            | Self::NoTopic(_)
            | Self::Moved(_)
            | Self::Refused(_)
            | Self::Unreachable(_) => crate::domain::Blame::Broken,
        }
    }
}

impl ApiFault {
    /// In words, with the setting that the token comes from.
    pub fn told(&self, token_source: &str) -> String {
        match self {
            Self::Token => {
                format!(
                    "Telegram does not know the bot's token: check {token_source} against what \
                     BotFather says"
                )
            }
            other => other.to_string(),
        }
    }

    /// A refusal that only its words tell from others.
    pub(super) fn of_words(text: String) -> Self {
        if text.contains("message is not modified") {
            Self::Unchanged
        } else if ["message thread not found", "TOPIC_CLOSED", "TOPIC_DELETED"]
            .iter()
            .any(|said| text.contains(said))
        {
            Self::NoTopic(text)
        } else if text.contains("parse entities")
            || text.contains("entity beginning")
            || text.contains("ENTITY")
        {
            Self::Formatting(text)
        } else {
            Self::Refused(text)
        }
    }
}

/// Cuts an address, which holds the token, off the text of an error.
pub(super) fn without_address(text: &str) -> String {
    text.split(" for url (").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_in_an_address_is_not_told() {
        let text = "error sending request for url (http://127.0.0.1:1/bot1:secret/GetMe)";
        assert_eq!(without_address(text), "error sending request");
    }

    #[test]
    fn refusals_are_told_apart_by_what_has_to_be_done() {
        let fault = |text: &str| ApiFault::of_words(text.to_owned());
        assert!(matches!(
            fault("Bad Request: can't parse entities: overlap"),
            ApiFault::Formatting(_)
        ));
        let outside =
            "Bad Request: entity beginning at UTF-16 offset 9 ends after the end of the text";
        assert!(matches!(fault(outside), ApiFault::Formatting(_)));
        assert!(matches!(fault("Bad Request: chat not found"), ApiFault::Refused(_)));
        assert!(matches!(fault("Bad Request: message thread not found"), ApiFault::NoTopic(_)));
        assert!(matches!(fault("Bad Request: TOPIC_CLOSED"), ApiFault::NoTopic(_)));
        let same = "Bad Request: message is not modified: specified new message content";
        assert_eq!(fault(same), ApiFault::Unchanged);
    }
}
