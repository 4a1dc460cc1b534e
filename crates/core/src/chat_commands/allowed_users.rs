//! The chats that an owner has let in by a tap: the list for a chat, and sending one away, with its
//! audit row. Must not know how somebody gets in.

use serde_json::json;

use super::{code, when};
use crate::store::{AllowedUserRow, AuditEntry, StoreError, Tx};

/// `configured` is where those stand who may talk by configuration.
pub(super) fn markdown(tx: &Tx<'_>, configured: &str) -> Result<String, StoreError> {
    let users = tx.allowed_users()?;
    if users.is_empty() {
        return Ok(format!(
            "Nobody was let in by a button. Who may talk by configuration is in `{configured}`."
        ));
    }
    let mut text: String = users.iter().map(row).collect();
    text.push_str("\nThey may talk and decide nothing. `/guests remove ID` sends one away.");
    Ok(text)
}

fn row(user: &AllowedUserRow) -> String {
    format!(
        "- `{}` {}: let in by {} at {}\n",
        user.chat,
        code(&user.name),
        code(&user.by),
        when(user.at_ms)
    )
}

pub(super) fn remove_in(
    tx: &Tx<'_>,
    (id, by): (&str, &str),
    configured: &str,
) -> Result<String, StoreError> {
    let removed = match id.parse::<i64>() {
        Ok(chat) if tx.remove_allowed_user(chat)? => Some(chat),
        _ => None,
    };
    let Some(chat) = removed else {
        return Ok(format!("Nobody with the id {} was let in; `/guests` lists them.", code(id)));
    };
    let body = json!({"chat": chat, "by": by});
    tx.audit(&AuditEntry { kind: "guest.out", call: String::new(), body })?;
    Ok(format!(
        "The chat `{chat}` may not talk any more, and you are not asked about it again; \
         `{configured}` lets it in."
    ))
}
