//! Which conversation a job of the command line is for. Must not know what a job is.

use secrecy::ExposeSecret as _;

use crate::app::App;
use crate::bot_api::place::Place;
use crate::bot_api::settings::Telegram;
use crate::domain::SessionId;
use crate::fail::UserError;

/// A conversation that a job is for.
pub(super) struct ForWhom {
    pub session: String,
    /// As a person is told.
    pub named: String,
}

/// The conversation that was named, or the owner's own.
///
/// # Errors
/// No such name or chat, with what would work.
pub(super) fn for_whom(
    app: &App,
    chat: Option<i64>,
    session: Option<&str>,
) -> anyhow::Result<ForWhom> {
    if let Some(session) = session {
        let session = SessionId::new(session)?;
        let named = format!("session {session}");
        return Ok(ForWhom { session: session.to_string(), named });
    }
    let Some(telegram) = &Telegram::of(&app.config.doors)? else {
        if chat.is_some() {
            return Err(UserError::because(
                "no bot is set up, so there is no chat; leave out --chat",
            ));
        }
        return Ok(ForWhom {
            session: crate::config::MAIN.to_owned(),
            named: "session main".to_owned(),
        });
    };
    let known = &telegram.allowed_chats;
    let Some(number) = chat.or(telegram.notify_chat) else {
        return Err(UserError::because(
            "there is no chat of an owner; name one with --chat NUMBER",
        ));
    };
    if !known.contains(&number) && telegram.notify_chat != Some(number) {
        let known: Vec<String> = known.iter().map(i64::to_string).collect();
        return Err(UserError::because(format!(
            "{number} is none of the chats of this bot; it has {}",
            known.join(", ")
        )));
    }
    // A token is the bot's number, a colon and the secret.
    let token = telegram.token.expose_secret();
    let bot = token.split_once(':').and_then(|(bot, _)| bot.parse().ok()).ok_or_else(|| {
        UserError::because(format!("{} is no token of a bot", telegram.token_source))
    })?;
    let place = Place { bot, chat: number, thread: None };
    Ok(ForWhom { session: place.session()?.to_string(), named: format!("Telegram chat {number}") })
}
