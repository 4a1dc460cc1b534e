//! Who somebody is, as it is frozen with a call and compared with who may answer. Must not know who
//! may do what.

/// The principal of a Telegram user, by the number that Telegram has given them.
pub fn telegram_principal(user: i64) -> String {
    format!("telegram:{user}")
}
