//! The chats that an owner has let in by a tap: the list for a chat, sending one away, with its
//! audit row and with what it has asked for, and being asked again about one that was ignored. Must
//! not know how somebody gets in.

use jiff::tz::TimeZone;
use serde_json::json;

use super::{code, when};
use crate::domain::{Address, Inbound, InboundBody, Origin, OwnerAnswer, telegram_session};
use crate::store::{AllowedUserRow, AuditEntry, StoreError, Tx};

/// So many chats that were ignored are named.
const IGNORED_MAX: usize = 10;

/// `configured` is where those stand who may talk by configuration.
pub(super) fn markdown(
    tx: &Tx<'_>,
    configured: &str,
    zone: &TimeZone,
) -> Result<String, StoreError> {
    let users = tx.allowed_users()?;
    let mut text: String = users.iter().map(|user| row(user, zone)).collect();
    text.push_str(&match users.is_empty() {
        true => format!(
            "Nobody was let in by a button. Who may talk by configuration is in `{configured}`."
        ),
        false => "\nThey may talk and decide nothing. `/guests remove ID` sends one away.".into(),
    });
    text.push_str(&ignored(&tx.ignored_chats()?));
    Ok(text)
}

fn row(user: &AllowedUserRow, zone: &TimeZone) -> String {
    format!(
        "- `{}` {}: let in by {} at {}\n",
        user.chat,
        code(&user.name),
        code(&user.by),
        when(user.at_ms, zone)
    )
}

fn ignored(chats: &[i64]) -> String {
    if chats.is_empty() {
        return String::new();
    }
    let named: Vec<_> = chats.iter().take(IGNORED_MAX).map(|chat| format!("`{chat}`")).collect();
    let more = match chats.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "\n\nYou have ignored {}{more}. After `/guests ask ID` you are asked when one of them \
         writes again.",
        named.join(", ")
    )
}

/// Sends a chat away. What it has asked for ends with that; what waits for it is put aside when it
/// is to be sent.
pub(super) fn remove_in(tx: &Tx<'_>, (id, by): (&str, &str)) -> Result<String, StoreError> {
    let chat = id.parse().unwrap_or_default();
    let bots = tx.remove_allowed_user(chat)?;
    if bots.is_empty() {
        return Ok(format!("Nobody with the id {} was let in; `/guests` lists them.", code(id)));
    }
    for bot in bots {
        stop_in(tx, (bot, chat), by)?;
    }
    tx.forget_access_request(chat, OwnerAnswer::LetIn)?;
    let body = json!({"chat": chat, "by": by});
    tx.audit(&AuditEntry { kind: "guest.out", call: String::new(), body })?;
    Ok(format!(
        "The chat `{chat}` may not talk any more, and what it has asked for is stopped. If it \
         writes again, you are asked about it as the first time."
    ))
}

/// Ends the turns of a chat and of its topics, and takes no message in that waits for one.
fn stop_in(tx: &Tx<'_>, (bot, chat): (i64, i64), by: &str) -> Result<(), StoreError> {
    let Ok(session) = telegram_session(bot, chat) else { return Ok(()) };
    for session in tx.sessions_below(&session)? {
        let left = tx.leave_messages(&session)?;
        if left == 0 && !tx.turn_open(&session)? {
            continue;
        }
        let from = Address(session.as_str().replace('.', "/"));
        let (principal, origin) = (by.to_owned(), Origin::Owner);
        // Stops are never too many.
        tx.add_inbound(&Inbound { session, from, principal, origin, body: InboundBody::Stop }, 0)?;
    }
    Ok(())
}

/// Has the owner asked again about a chat that was ignored.
pub(super) fn ask_in(tx: &Tx<'_>, id: &str) -> Result<String, StoreError> {
    let chat: i64 = id.parse().unwrap_or_default();
    if !tx.forget_access_request(chat, OwnerAnswer::Ignore)? {
        return Ok(format!("No chat with the id {} was ignored; `/guests` lists them.", code(id)));
    }
    Ok(format!("You are asked about the chat `{chat}` when it writes again."))
}
