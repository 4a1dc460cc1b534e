//! The bot and its owner: the token is tried with `getMe`, the owner's id is learnt from a message
//! that he says is his. Must not know how messages are waited for, or where the answers are
//! written.

use secrecy::{ExposeSecret as _, SecretString};

use super::listener::{Heard, Listener};
use super::person::Person;
use crate::bot_api::Part;
use crate::bot_api::fault::ApiFault;
use crate::bot_api::place::Place;
use crate::bot_api::settings::{self, FoundSetting};
use crate::bot_api::{Api, Me};
use crate::config::ExistingSettings;
use crate::domain::escape;
use crate::fail::UserError;
use crate::mail::Instance;
use crate::out;

const HELLO: &str =
    "This is your claw bot now. It answers here as soon as `claw gateway` or its service runs.";
/// The most characters of a message that are shown.
const SHOWN_CHARS: usize = 60;

/// A bot that works, and what is new about it.
pub struct Bot {
    api: Api,
    me: Me,
    pub new_token: Option<SecretString>,
    /// A user id.
    pub new_owner: Option<i64>,
    /// Telegram may forget what lies below this: it was all the owner's, and is answered by hello.
    heard_below: Option<i64>,
}

impl Bot {
    /// What is to be written, without the token.
    pub fn summary(&self) -> Option<String> {
        let token = self
            .new_token
            .as_ref()
            .map(|_| format!("the token of @{}", escape::visible(&self.me.username)));
        let owner = self.new_owner.map(|owner| format!("{owner} is its owner"));
        let parts: Vec<String> = token.into_iter().chain(owner).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Says in the owner's chat that it is his. What does not go well is told, and is no fault.
    pub async fn says_hello(self) -> Result<(), out::Unwritten> {
        let Some(owner) = self.new_owner else { return Ok(()) };
        let place = Place { bot: self.me.id, chat: owner, thread: None };
        let hello = Part { text: HELLO.to_owned(), ..Part::default() };
        if let Err(fault) = self.api.send(&place, &hello, &[]).await {
            return out::line(&format!(
                "@{} cannot write to {owner} yet ({}): press Start in your chat with it.",
                escape::visible(&self.me.username),
                out::clean(&fault.to_string())
            ));
        }
        if let Some(below) = self.heard_below
            && let Err(fault) = self.api.confirm(below).await
        {
            out::line(&format!(
                "Your message will be answered by the gateway, too: {}.",
                out::clean(&fault.to_string())
            ))?;
        }
        Ok(())
    }
}

/// `None` without Telegram.
pub async fn ask(person: &mut Person, all: &ExistingSettings) -> anyhow::Result<Option<Bot>> {
    let seen = &settings::ExistingBot::of(&all.doors)?;
    let base = seen.bot_api()?;
    let Some(mut bot) = bot(person, seen, &base).await? else { return Ok(None) };
    // A new bot with the old bot's people is a usual choice: it is asked about as well.
    if let Some(FoundSetting { value, place, is_variable }) = seen.allowed_chats()? {
        let who = value.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        if is_variable {
            out::line(&format!("Who may talk to it is said by {place}: {who}."))?;
            return Ok(Some(bot));
        }
        let who = format!("Who may talk to it ({place}): {who}{}. Keep that?", beside(seen));
        if person.agrees(&who, true).await? {
            return Ok(Some(bot));
        }
    } else if !beside(seen).is_empty() {
        out::line(&format!(
            "Nobody may talk to it yet{}: whom you name now is in their place.",
            beside(seen)
        ))?;
    }
    let (owner, below) = owner(person, all, &bot).await?;
    (bot.new_owner, bot.heard_below) = (Some(owner), below);
    Ok(Some(bot))
}

/// Who has a part in it without being one of those who may talk: they stay and go with them.
fn beside(seen: &settings::ExistingBot<'_>) -> String {
    let owners = seen.further_owners().iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let owners = if owners.is_empty() {
        owners
    } else {
        format!("; who may decide as well (`owners`): {owners}")
    };
    let told = seen
        .notify_chat()
        .map(|chat| format!("; who is told (`notify_chat`): {chat}"))
        .unwrap_or_default();
    owners + &told
}

async fn bot(
    person: &mut Person,
    seen: &settings::ExistingBot<'_>,
    base: &str,
) -> anyhow::Result<Option<Bot>> {
    if let Some(FoundSetting { value, place, is_variable }) = seen.bot_token() {
        let tried = tried(&value, base).await;
        match &tried {
            Ok((_, me)) => {
                out::line(&format!("Telegram now: @{} ({place}).", escape::visible(&me.username)))?
            }
            Err(why) => out::line(&format!(
                "The bot that is set ({place}) does not work: {}.",
                out::clean(why)
            ))?,
        };
        match tried {
            Ok((api, me)) if person.agrees("Keep this bot?", true).await? => {
                return Ok(Some(Bot {
                    api,
                    me,
                    new_token: None,
                    new_owner: None,
                    heard_below: None,
                }));
            }
            _ if is_variable => {
                return Err(UserError::because(format!(
                    "{place} goes before claw.toml, so nothing that is written would count: unset \
                     or correct it and run `claw init` again"
                )));
            }
            _ => {}
        }
    }
    loop {
        let question = "The token of your bot, from @BotFather (it is not shown; Enter: no \
            Telegram for now): ";
        let token = person.ask_secret(question).await?;
        if token.expose_secret().is_empty() {
            if seen.bot_token().is_some() {
                out::line(
                    "The bot that is set stays as it is; remove `token` from claw.toml to have \
                     none.",
                )?;
            }
            return Ok(None);
        }
        if !is_a_token(token.expose_secret()) {
            out::line(
                "That is no token: one looks like 123456789:AAF…, numbers, a colon and at least \
                 30 letters.",
            )?;
            continue;
        }
        match tried(&token, base).await {
            Ok((api, me)) => {
                out::line(&format!("It is the token of @{}.", escape::visible(&me.username)))?;
                return Ok(Some(Bot {
                    api,
                    me,
                    new_token: Some(token),
                    new_owner: None,
                    heard_below: None,
                }));
            }
            Err(why) => out::line(&format!("That does not work: {}.", out::clean(&why)))?,
        };
    }
}

/// What would be part of an address must not be anything else.
fn is_a_token(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.split_once(':').is_some_and(|(id, secret)| {
        !id.is_empty()
            && id.chars().all(|c| c.is_ascii_digit())
            && secret.len() >= 30
            && secret.chars().all(fits)
    })
}

async fn tried(token: &SecretString, base: &str) -> Result<(Api, Me), String> {
    let api = Api::new(token, base).map_err(|fault| fault.to_string())?;
    match api.me().await {
        Ok(me) => Ok((api, me)),
        Err(ApiFault::Token) => {
            Err("Telegram does not know this token; compare it with what @BotFather says"
                .to_owned())
        }
        Err(fault) => Err(fault.to_string()),
    }
}

/// The owner's id, and up to where what was heard is the owner's alone.
async fn owner(
    person: &mut Person,
    seen: &ExistingSettings,
    bot: &Bot,
) -> anyhow::Result<(i64, Option<i64>)> {
    let _alone = nobody_else_polls(seen)?;
    webhook(person, &bot.api).await?;
    let name = escape::visible(&bot.me.username);
    person.forget_typed();
    out::line(&format!(
        "Now send your bot any message: https://t.me/{name}. I wait for it, and learn from it who \
         you are. (Or type your numeric id.)"
    ))?;
    let mut listener = Listener::new(&bot.api);
    loop {
        let heard = tokio::select! {
            heard = listener.next() => heard,
            line = person.line() => match line?.parse::<i64>() {
                Ok(id) if id > 0 => return Ok((id, None)),
                _ => {
                    out::line("That is no numeric id of a person; it is a number above zero. I go \
                        on waiting.")?;
                    continue;
                }
            },
        };
        // A `y` that was typed too early must not let an unknown user in.
        person.forget_typed();
        out::line(&said(&heard))?;
        if person.agrees("Is this you?", false).await? {
            return Ok((heard.who.user, listener.below_of(heard.who.user)));
        }
        listener.ignore(heard.who.user);
        out::line("Then somebody else writes to your bot. I go on waiting.")?;
    }
}

fn said(heard: &Heard) -> String {
    let who = &heard.who;
    let username = who
        .username
        .as_ref()
        .map(|name| format!(", @{} (unproven)", escape::visible(name)))
        .unwrap_or_default();
    let text: String = heard.text.chars().take(SHOWN_CHARS).collect();
    let more = if text.len() < heard.text.len() { "…" } else { "" };
    let text = if text.is_empty() {
        "something without text".to_owned()
    } else {
        format!("“{}{more}”", escape::visible(&text))
    };
    format!("{}, id {}{username}, wrote {text}.", escape::visible(&who.name), who.user)
}

/// The lock of this home's gateway, which would take every message away, and would lose some to us.
fn nobody_else_polls(seen: &ExistingSettings) -> anyhow::Result<Option<Instance>> {
    let locks = seen.home.locks();
    if !locks.is_dir() {
        return Ok(None);
    }
    match Instance::only(&locks, "gateway")? {
        Some(held) => Ok(Some(held)),
        None => Err(UserError::because(
            "the gateway of this home is running and takes the messages: stop it first \
             (`systemctl --user stop claw`, or Ctrl-C where it runs), then run `claw init` again",
        )),
    }
}

/// While there is one, Telegram hands out nothing (Bot API, `setWebhook`).
async fn webhook(person: &mut Person, api: &Api) -> anyhow::Result<()> {
    // What keeps this from being known comes up again while messages are waited for.
    let Ok(Some(host)) = api.webhook().await else { return Ok(()) };
    let question = format!(
        "This bot has a webhook: its messages go to {}, and claw gets none. Take the webhook \
         away? Messages that wait are kept.",
        escape::visible(&host)
    );
    if !person.agrees(&question, false).await? {
        return Err(UserError::because(
            "nothing was written; a bot with a webhook cannot be used by claw: run `claw init` \
             again with a bot of claw's own",
        ));
    }
    match api.remove_webhook().await {
        Ok(()) => out::line("The webhook is gone.")?,
        Err(fault) => out::line(&format!(
            "The webhook could not be taken away: {}.",
            out::clean(&fault.to_string())
        ))?,
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_a_token;

    #[test]
    fn only_what_looks_like_a_token_is_sent_as_one() {
        assert!(is_a_token("123456789:AAF-abcdefghijklmnopqrstuvwxyz_0123"));
        for bad in [
            "",
            "1:short",
            "x:AAF-abcdefghijklmnopqrstuvwxyz_0123",
            "1:AAF-abcdefghijklmnopqrstuvwxyz/0123?",
            "/start",
        ] {
            assert!(!is_a_token(bad), "{bad}");
        }
    }
}
