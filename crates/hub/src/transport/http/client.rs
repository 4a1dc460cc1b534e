//! The HTTP client of one server, and the headers of its entry. Owns TLS, proxies, and that no
//! redirect is followed by itself. Must not know what is sent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::Times;
use super::address::{Destination, Guard, Lookup};
use super::words;

/// Many servers close a connection that has been idle for 5 s; a request must not meet that.
const IDLE_MAX: Duration = Duration::from_secs(4);
const IDLE_CONNECTIONS_MAX: usize = 4;
/// Whether whoever is silent is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// `for_calls`: each request gets a connection of its own. One that was kept may have died
/// unseen, and what is written to it then is neither sent nor certain not to be.
///
/// # Errors
/// The system's certificates cannot be read.
pub(crate) fn client(
    destination: &Destination,
    times: &Times,
    lookup: Lookup,
    for_calls: bool,
) -> Result<Client, String> {
    // An error means that the process has a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let guard = Guard { destination: destination.clone(), lookup };
    let builder = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        // A few kilobytes could be gigabytes once they are unpacked.
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .dns_resolver(Arc::new(guard))
        .connect_timeout(times.connect)
        .pool_idle_timeout(IDLE_MAX)
        .pool_max_idle_per_host(if for_calls { 0 } else { IDLE_CONNECTIONS_MAX })
        .tcp_keepalive(KEEPALIVE)
        .tcp_nodelay(true)
        // A connection for each stream: one that breaks takes no other one with it.
        .http1_only()
        .user_agent(concat!("claw/", env!("CARGO_PKG_VERSION")));
    // A proxy's own loopback is another machine's.
    let builder = if destination.is_loopback() { builder.no_proxy() } else { builder };
    // To load the system's certificates takes longer than all else.
    let is_plain = destination.url.scheme() == "http";
    let builder = if is_plain { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| {
        format!("the system's certificates cannot be used ({})", words::root_cause(&error))
    })
}

/// The headers of an entry. What claw says itself is left out; the manifest warns of that.
///
/// # Errors
/// A name or a value that no header can have. Values are not repeated.
pub(super) fn headers(written: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        if is_claws(name) {
            continue;
        }
        let parsed = HeaderName::try_from(name.trim())
            .map_err(|_| format!("`{name}` in its `headers` cannot be the name of a header"))?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
            format!("the value of its header `{name}` holds what no header can: is a line broken?")
        })?;
        value.set_sensitive(true);
        headers.insert(parsed, value);
    }
    Ok(headers)
}

/// Headers that an entry cannot set.
pub(crate) fn is_claws(name: &str) -> bool {
    const CLAWS: [&str; 12] = [
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "last-event-id",
        "te",
        "transfer-encoding",
        "upgrade",
    ];
    let name = name.trim().to_ascii_lowercase();
    CLAWS.contains(&name.as_str()) || name.starts_with("mcp-")
}
