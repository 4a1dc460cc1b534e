//! The hosts that a command names, as they are written and as they are compared. Pure. Must not
//! know addresses or connections.

use std::fmt;

/// Hosts of one command.
pub const HOSTS_MAX: usize = 20;
/// RFC 1035, section 2.3.4.
const NAME_BYTES_MAX: usize = 253;
/// The ports of a host that is named without one: HTTPS and HTTP.
const USUAL_PORTS: [u16; 2] = [443, 80];

/// `crates.io`, `*.crates.io` or `example.com:8443`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    name: String,
    /// Names below it, and not itself.
    below: bool,
    port: Option<u16>,
}

impl HostRule {
    /// Reads one; the error tells a model what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            let shown: String = text.chars().take(100).collect();
            format!(
                "the host {shown:?} {why}. Write a name such as crates.io, *.crates.io or example.com:8443"
            )
        };
        if text.contains("://") || text.contains('/') || text.contains('@') {
            return Err(wrong("is an address with more than a host"));
        }
        let (host, port) = split_port(text).ok_or_else(|| wrong("has no port that can be"))?;
        let (below, name) = host.strip_prefix("*.").map_or((false, host), |name| (true, name));
        let name = normal(name).ok_or_else(|| wrong("is no name of a host"))?;
        if below && (!name.contains('.') || is_numeric(&name)) {
            return Err(wrong("covers too much"));
        }
        Ok(Self { name, below, port })
    }

    /// Whether a command that has named this may connect there.
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let Some(host) = normal(host) else { return false };
        let named = if self.below {
            host.strip_suffix(&self.name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        } else {
            host == self.name
        };
        named && self.port.map_or(USUAL_PORTS.contains(&port), |own| own == port)
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.below {
            f.write_str("*.")?;
        }
        f.write_str(&self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The host and the port behind it. `None` for a port that there is not.
pub fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    // An IPv6 address stands in brackets (RFC 3986, section 3.2.2).
    let (host, rest) = match text.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => text.find(':').map_or((text, ""), |at| text.split_at(at)),
    };
    let port = match rest.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse().ok().filter(|port| *port > 0)?)
        }
        None if rest.is_empty() => None,
        _ => return None,
    };
    Some((host, port))
}

/// Small letters, without the dot of the root. `None` for what is neither a name in ASCII (RFC
/// 1123, with the underscore that is in use; others come as Punycode) nor an address.
fn normal(host: &str) -> Option<String> {
    if let Ok(address) = host.parse::<std::net::Ipv6Addr>() {
        return Some(address.to_string());
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    (host.len() <= NAME_BYTES_MAX && host.split('.').all(is_label))
        .then(|| host.to_ascii_lowercase())
}

fn is_numeric(name: &str) -> bool {
    name.split('.').all(|label| label.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_covers_itself_on_the_usual_ports_and_nothing_that_looks_like_it() {
        let rule = HostRule::parse("Crates.IO").unwrap();
        for (host, port) in [("crates.io", 443), ("CRATES.io", 80), ("crates.io.", 443)] {
            assert!(rule.covers(host, port), "{host}:{port}");
        }
        for (host, port) in [
            ("crates.io", 22),
            ("crates.io", 8443),
            ("www.crates.io", 443),
            ("crates.io.evil.com", 443),
            ("evilcrates.io", 443),
            ("crates.io..", 443),
            ("crates.io\0.evil.com", 443),
            ("crates.io%00", 443),
            ("crаtes.io", 443),
            ("", 443),
            (".", 443),
        ] {
            assert!(!rule.covers(host, port), "{host}:{port}");
        }
        let port = HostRule::parse("example.com:8443").unwrap();
        assert!(port.covers("example.com", 8443) && !port.covers("example.com", 443));
    }

    #[test]
    fn a_wildcard_covers_what_lies_below_and_not_the_name_itself() {
        let rule = HostRule::parse("*.crates.io").unwrap();
        assert!(rule.covers("static.crates.io", 443) && rule.covers("a.b.crates.io", 443));
        for host in ["crates.io", ".crates.io", "xcrates.io", "crates.io.evil.com"] {
            assert!(!rule.covers(host, 443), "{host}");
        }
        assert_eq!(rule.to_string(), "*.crates.io");
    }

    #[test]
    fn what_is_no_host_is_refused_with_a_sentence() {
        for odd in [
            "",
            "*",
            "*.io",
            "*.168.1.1",
            "https://crates.io",
            "crates.io/x",
            "me@crates.io",
            "a b",
            "crates.io:0",
            "crates.io:70000",
            "crates.io:x",
            "crates.io:443:443",
            "[::1",
            "-a.io",
            "ä.io",
            "a..b",
        ] {
            let why = HostRule::parse(odd).unwrap_err();
            assert!(why.contains("*.crates.io"), "{odd}: {why}");
        }
        assert!(HostRule::parse("[2606:4700::1111]:443").is_ok());
    }
}
