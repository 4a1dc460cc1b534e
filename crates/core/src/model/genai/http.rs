//! The HTTP client. Owns TLS, proxies and redirects. Must not know what is sent.

use std::time::Duration;

/// The longest wait for a TCP and TLS connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// The client for a base URL.
///
/// Redirects are not followed: the key travels in a header that only its own provider may see.
/// Plain `http` gets a client without any certificates, because loading the system's takes many
/// times longer than all else about it.
pub(in crate::model) fn client_for(base_url: &str) -> Result<reqwest::Client, reqwest::Error> {
    let builder = builder().connect_timeout(CONNECT_TIMEOUT);
    if base_url.starts_with("http://") {
        return builder.no_proxy_on_loopback(base_url).tls_certs_only([]).build();
    }
    builder.build()
}

/// A client for probing loopback addresses: no TLS, no proxy, bounded waits.
pub(in crate::model) fn plain_client(
    connect: Duration,
    whole: Duration,
) -> Result<reqwest::Client, reqwest::Error> {
    builder().no_proxy().tls_certs_only([]).connect_timeout(connect).timeout(whole).build()
}

fn builder() -> reqwest::ClientBuilder {
    // An error means that the process has a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .user_agent(concat!("claw/", env!("CARGO_PKG_VERSION")))
}

trait NoProxyOnLoopback {
    fn no_proxy_on_loopback(self, base_url: &str) -> Self;
}

impl NoProxyOnLoopback for reqwest::ClientBuilder {
    /// A proxy's own loopback is another machine's.
    fn no_proxy_on_loopback(self, base_url: &str) -> Self {
        let host =
            reqwest::Url::parse(base_url).ok().and_then(|url| url.host_str().map(str::to_owned));
        if host.is_some_and(|host| is_loopback(&host)) { self.no_proxy() } else { self }
    }
}

/// Whether a host of a URL names this machine.
pub(in crate::model) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
