//! Where a browser ends after a login to a tool server, and which words may hold that address with
//! its code. Must not know whose login it is, or what is done with it.

/// The host of the address, with the sign before its port.
pub const LOGIN_HOST: &str = "127.0.0.1:";
/// What stands in a text instead of the address, before the name of the answer.
pub const LOGIN_MARK: &str = "[login answer ";
/// The path of the address.
pub const LOGIN_PATH: &str = "/callback";

/// Whether a text may hold such an address. Nothing that may is written anywhere before it was
/// looked at.
pub fn may_hold_login_answer(text: &str) -> bool {
    text.contains(LOGIN_HOST) && text.contains(LOGIN_PATH)
}
