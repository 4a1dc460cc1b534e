//! Who somebody is, as it is frozen with a call and compared with who may answer. Must not know who
//! may do what.

use super::Address;

/// Whether nobody but this person reads what is said at an address: they sit at this machine, or in
/// the private chat with a bot, which has the number of its user (`telegram/BOT/USER`, perhaps with
/// a topic behind it). What claw knows only of one of them must not be said anywhere else. An
/// address of a door that is not known here is nobody's alone.
pub fn is_alone_with_claw(principal: &str, at: &Address) -> bool {
    match principal.split_once(':') {
        Some(("console", _)) => true,
        Some(("telegram", user)) => {
            let mut parts = at.0.split('/');
            parts.next() == Some("telegram") && parts.nth(1) == Some(user)
        }
        _ => false,
    }
}

/// The principal of a Telegram user, by the number that Telegram has given them.
pub fn telegram_principal(user: i64) -> String {
    format!("telegram:{user}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_chat_and_the_own_machine_are_private() {
        let alone = |principal: &str, at: &str| is_alone_with_claw(principal, &Address(at.into()));
        assert!(alone("console:uid:1000", "console/1"));
        assert!(alone(&telegram_principal(7), "telegram/99/7"));
        assert!(alone(&telegram_principal(7), "telegram/99/7/3"));
        for (principal, at) in [
            ("telegram:7", "telegram/99/-7"),
            ("telegram:7", "telegram/7/8"),
            ("telegram:7", "telegram/99"),
            ("telegram:7", "console/99/7"),
            ("anna", "lines/anna"),
            ("mcp:laptop", "mcp/laptop"),
        ] {
            assert!(!alone(principal, at), "{principal} at {at}");
        }
    }
}
