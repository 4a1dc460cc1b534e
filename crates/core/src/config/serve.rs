//! The `[serve]` section of `claw.toml`: what MCP clients that call claw are offered, over what,
//! and how much each may take. Must not know who answers them.

use std::net::SocketAddr;

use serde::Deserialize;

use super::range::within;
use crate::domain::ClientName;

/// `[serve]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeSection {
    /// Whether clients are offered the tools of claw's servers, behind the gate.
    pub tools: bool,
    /// Where the gateway listens, `127.0.0.1:8484` for example. Without it it does not.
    pub http: Option<SocketAddr>,
    /// Values of `Host` that are taken beside those of the loopback interface, such as
    /// `claw.example.org`.
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin` that are taken, such as `https://app.example.org`. Without one no web
    /// page is answered.
    pub allowed_origins: Vec<String>,
    /// The clients in which the owner may answer questions, too.
    pub approve_in_client: Vec<ClientName>,
    /// Whether sessions and the audit can be read as resources.
    pub resources: bool,
    /// Calls of one client in one day of the owner.
    pub calls_day_max: u64,
    /// Tokens in and out of the turns of one client in one day of the owner.
    pub tokens_day_max: u64,
    /// Calls of one client that have no end yet, those that wait for the owner's answer included.
    pub calls_open_max: u32,
    /// Connections at once.
    pub clients_max: u32,
    /// Requests of one client in one minute.
    pub requests_minute_max: u32,
    /// Bytes of one request.
    pub body_bytes_max: u64,
    /// Seconds that a request waits for its answer, before the client is told to ask again.
    pub answer_wait_s: u64,
}

const MIB: u64 = 1024 * 1024;

impl Default for ServeSection {
    fn default() -> Self {
        Self {
            tools: false,
            http: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            approve_in_client: Vec::new(),
            resources: false,
            calls_day_max: 500,
            tokens_day_max: 300_000,
            calls_open_max: 16,
            clients_max: 32,
            requests_minute_max: 120,
            body_bytes_max: 4 * MIB,
            answer_wait_s: 45,
        }
    }
}

impl ServeSection {
    /// Whether a key of this section counts from the next start alone.
    pub(super) fn is_for_starts(key: &str) -> bool {
        ["approve_in_client", "http", "clients_max"].contains(&key)
    }

    /// The first key outside of its range, and what is wrong with it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        within(
            "serve",
            [
                ("calls_day_max", self.calls_day_max, 1, 1_000_000),
                ("tokens_day_max", self.tokens_day_max, 1000, 1_000_000_000_000),
                ("calls_open_max", u64::from(self.calls_open_max), 1, 1000),
                ("clients_max", u64::from(self.clients_max), 1, 1000),
                ("requests_minute_max", u64::from(self.requests_minute_max), 1, 100_000),
                ("body_bytes_max", self.body_bytes_max, 1024, 64 * MIB),
                ("answer_wait_s", self.answer_wait_s, 1, 600),
            ],
        )?;
        if let Some(http) = self.http.filter(|http| !http.ip().is_loopback()) {
            let message = format!(
                "`serve.http` is {http}, which others can reach without TLS; use 127.0.0.1 and a \
                 reverse proxy in front of it"
            );
            return Err(("http", message));
        }
        let origin = |text: &&String| {
            !reqwest::Url::parse(text).is_ok_and(|url| url.origin().ascii_serialization() == **text)
        };
        if let Some(odd) = self.allowed_origins.iter().find(origin) {
            let message = format!(
                "`serve.allowed_origins`: `{odd}` is no origin; write it as \
                 `https://app.example.org`, without a path"
            );
            return Err(("allowed_origins", message));
        }
        let host = |text: &&String| text.is_empty() || text.contains(['/', '*', ' ', '@']);
        if let Some(odd) = self.allowed_hosts.iter().find(host) {
            let message = format!(
                "`serve.allowed_hosts`: `{odd}` is no name of a host; write it as \
                 `claw.example.org`"
            );
            return Err(("allowed_hosts", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ServeSection {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn nothing_is_open_by_default_and_every_limit_is_on() {
        let section = ServeSection::default();
        assert_eq!(section.check(), Ok(()));
        assert_eq!(read(""), section);
        assert!(!section.tools && !section.resources && section.http.is_none());
        assert!(section.allowed_hosts.is_empty() && section.allowed_origins.is_empty());
        assert!(section.approve_in_client.is_empty());
    }

    #[test]
    fn a_value_out_of_range_and_an_address_for_all_are_named() {
        for (text, key) in [
            ("calls_day_max = 0", "calls_day_max"),
            ("answer_wait_s = 601", "answer_wait_s"),
            ("body_bytes_max = 1", "body_bytes_max"),
            ("http = '0.0.0.0:8484'", "http"),
            ("http = '192.168.1.7:8484'", "http"),
            ("allowed_origins = ['https://a.example/']", "allowed_origins"),
            ("allowed_origins = ['*']", "allowed_origins"),
            ("allowed_hosts = ['*']", "allowed_hosts"),
        ] {
            assert_eq!(read(text).check().unwrap_err().0, key, "{text}");
        }
        for good in ["http = '127.0.0.1:8484'", "http = '[::1]:1'", "allowed_hosts = ['a:1']"] {
            assert_eq!(read(good).check(), Ok(()), "{good}");
        }
        for bad in ["http = 'x'", "approve_in_client = ['Laptop']", "tool = true"] {
            assert!(toml::from_str::<ServeSection>(bad).is_err(), "{bad}");
        }
    }
}
