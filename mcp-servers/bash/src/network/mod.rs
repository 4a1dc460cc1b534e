//! The network of one command: none, all of it, or a proxy that reaches the hosts that were named.
//! Must not know MCP, or who is asked about a host.
//!
//! A command without the whole network gets an empty network namespace with a loopback of its own,
//! where the system gives one (`own`). The only way out of it is a listening socket that the
//! command's supervisor makes in there and hands to the server, which answers on it as an HTTP
//! proxy (`proxy`). So what a program makes of its proxy variables decides nothing: past the proxy
//! there is no route.

mod address;
mod head;
mod hosts;
#[cfg(target_os = "linux")]
pub mod own;
mod proxy;
mod reached;

use serde::{Deserialize, Serialize};
#[cfg(target_os = "linux")]
use tokio::io::Interest;
use tokio::net::{TcpListener, UnixStream};

pub use hosts::{HOSTS_MAX, HostRule};
pub use proxy::Proxy;
pub use reached::{HostAccount, Reached};

use crate::confine::Enforcement;
use crate::level::Level;

/// What a command reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// No socket at all: there is no namespace to put the command into.
    Refused,
    /// A loopback of its own, and nothing else.
    Own,
    /// The same, with a proxy on it.
    Proxied,
    /// The network of the machine.
    Whole,
}

impl Access {
    /// Where the system gives no network namespace, it is all or nothing, and nobody
    /// can name hosts.
    pub fn of(level: Level, is_kept_to_hosts: bool, enforcement: Enforcement) -> Self {
        match (level.has_network(), enforcement.own_networks) {
            (true, true) if is_kept_to_hosts => Self::Proxied,
            (true, _) => Self::Whole,
            (false, true) => Self::Own,
            (false, false) => Self::Refused,
        }
    }

    /// Whether it needs a namespace of its own.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Own | Self::Proxied)
    }
}

/// How programs are told of the proxy. Loopback is the command's own, so nothing there goes through
/// it.
pub fn variables(port: u16) -> Vec<(&'static str, String)> {
    let proxy = format!("http://127.0.0.1:{port}");
    let mut variables: Vec<(&str, String)> =
        ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
            .map(|name| (name, proxy.clone()))
            .into();
    let own = "localhost,127.0.0.1,::1".to_owned();
    variables.extend([("no_proxy", own.clone()), ("NO_PROXY", own)]);
    // Node.js looks at the variables above only when it is told to.
    variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    variables
}

/// The socket that the supervisor has made in the network of its command and hands out, if one is
/// awaited. `None` also where it says something else, or nothing.
#[cfg(target_os = "linux")]
pub async fn handed_out(line: &UnixStream, is_awaited: bool) -> Option<TcpListener> {
    if !is_awaited {
        return None;
    }
    let taken = line.async_io(Interest::READABLE, || own::take_in(line)).await;
    taken.and_then(TcpListener::from_std).ok()
}

#[cfg(not(target_os = "linux"))]
pub async fn handed_out(_line: &UnixStream, _is_awaited: bool) -> Option<TcpListener> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_held_where_there_is_a_namespace_and_nothing_is_open_below_level_network() {
        let with = Enforcement { own_networks: true, ..Enforcement::NONE };
        let without = Enforcement::NONE;
        for level in [Level::Read, Level::Write] {
            assert_eq!(Access::of(level, true, with), Access::Own);
            assert_eq!(Access::of(level, true, without), Access::Refused);
        }
        assert_eq!(Access::of(Level::Network, true, with), Access::Proxied);
        assert_eq!(Access::of(Level::Network, false, with), Access::Whole);
        assert_eq!(Access::of(Level::Network, true, without), Access::Whole);
    }
}
