//! What a person has to know of a web page before they open it. Pure. Must not know who
//! asks for it.

use reqwest::Url;

/// The host of an address of a web page. `None` for any other address, and for one with a user in
/// front of the host, who could pass for it. Letters beyond ASCII are in the form of IDNA
/// (`xn--…`).
pub fn host_of_page(address: &str) -> Option<String> {
    let parsed = Url::parse(address).ok()?;
    let is_web = matches!(parsed.scheme(), "https" | "http");
    let is_plain = parsed.username().is_empty() && parsed.password().is_none();
    let host = parsed.host_str().filter(|host| !host.is_empty())?;
    (is_web && is_plain).then(|| host.to_owned())
}
