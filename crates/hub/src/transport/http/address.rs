//! Where a server over HTTP is, and to which addresses claw connects for it. Owns the refusal of
//! private addresses, which is decided on the resolved address that is then connected to. Must not
//! know what is sent.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Gives the addresses of a name. The system's, but for tests.
pub(crate) type Lookup =
    Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// What the system says about a name.
pub(crate) fn system_lookup() -> Lookup {
    Arc::new(|host| {
        Box::pin(async move { Ok(tokio::net::lookup_host((host.as_str(), 0)).await?.collect()) })
    })
}

/// The URL of a server, and what its host may be.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    pub(crate) url: Url,
    reach: Reach,
}

/// To which addresses the host of a URL may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// An address, or a name that the owner has listed.
    Named,
    /// `localhost`.
    Loopback,
    Public,
}

impl Destination {
    /// # Errors
    /// Why claw does not connect there, in words for the owner of `mcp.json`.
    pub(crate) fn new(text: &str, private_hosts: &[String]) -> Result<Self, String> {
        let mut url = Url::parse(text.trim())
            .map_err(|error| format!("its `url` is no address ({error}): write https://…"))?;
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme();
            return Err(format!("its `url` begins with {scheme}: write https://… or http://…"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("its `url` holds a name or a password: write them into `headers`, as \
                        \"Authorization\""
                .to_owned());
        }
        url.set_fragment(None);
        let reach = reach(&url, private_hosts)?;
        Ok(Self { url, reach })
    }

    /// Where somebody else than the owner sends claw, for a login to this server. The server's own
    /// host and `private_hosts` count as named; every other address has to be public, and reached
    /// over TLS.
    ///
    /// # Errors
    /// Why claw does not connect there, for the owner.
    pub(crate) fn leads_to(&self, text: &str, private_hosts: &[String]) -> Result<Self, String> {
        let named = |why: &str| format!("its login leads to {text}, {why}");
        let mut to = Self::new(text, private_hosts)
            .map_err(|why| named(&format!("where claw does not go: {why}")))?;
        let is_listed = private_hosts.iter().any(|host| host.eq_ignore_ascii_case(to.host()));
        let is_own = to.host().eq_ignore_ascii_case(self.host());
        let is_here = to.is_loopback() && self.is_loopback();
        if is_own {
            to.reach = self.reach;
        } else if !is_listed && !is_here {
            let ip = to.host().parse::<IpAddr>();
            if to.reach == Reach::Loopback || ip.is_ok_and(|ip| !is_public(ip)) {
                return Err(named(
                    "which is not on the public internet: if it is meant, add the host to \
                     `private_hosts` of its entry in mcp.json",
                ));
            }
        }
        let is_plain = |destination: &Self| destination.url.scheme() == "http";
        let may_be_plain = is_listed || is_here || (is_own && is_plain(self));
        if is_plain(&to) && !may_be_plain {
            return Err(named("without TLS: everybody on the way could read the tokens"));
        }
        Ok(to)
    }

    /// The host as the URL has it, without brackets.
    pub(crate) fn host(&self) -> &str {
        bare(&self.url)
    }

    /// This machine, by a name or an address that says so.
    pub(crate) fn is_loopback(&self) -> bool {
        self.reach == Reach::Loopback
            || self.host().parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || is_any(ip))
    }

    /// Those of the addresses of a name that may be connected to.
    fn admitted(&self, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, NotAdmitted> {
        let (admitted, refused): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|address| match self.reach {
                Reach::Named => true,
                Reach::Loopback => address.ip().is_loopback(),
                Reach::Public => is_public(address.ip()),
            });
        match refused.first() {
            Some(first) if admitted.is_empty() => {
                Err(NotAdmitted { host: self.host().to_owned(), ip: first.ip() })
            }
            _ => Ok(admitted),
        }
    }
}

/// A name that leads only to addresses that claw does not connect to for it.
#[derive(Debug)]
pub(super) struct NotAdmitted {
    host: String,
    ip: IpAddr,
}

impl fmt::Display for NotAdmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, ip } = self;
        write!(
            f,
            "`{host}` is the address {ip}, which is not on the public internet: if it is yours, \
             add \"private_hosts\": [\"{host}\"] to its entry in mcp.json"
        )
    }
}

impl std::error::Error for NotAdmitted {}

fn reach(url: &Url, private_hosts: &[String]) -> Result<Reach, String> {
    let host = bare(url);
    if private_hosts.iter().any(|named| named.eq_ignore_ascii_case(host)) {
        return Ok(Reach::Named);
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        // Nobody serves tools there, but clouds hand out keys there.
        if is_link_local(ip) {
            return Err(format!(
                "its `url` leads to {ip}, where machines of a cloud find their keys: if you mean \
                 it, add \"private_hosts\": [\"{host}\"] to its entry"
            ));
        }
        return Ok(Reach::Named);
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let is_loopback = name == "localhost" || name.ends_with(".localhost");
    Ok(if is_loopback { Reach::Loopback } else { Reach::Public })
}

fn bare(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

fn is_any(ip: IpAddr) -> bool {
    ip.is_unspecified()
}

/// Where clouds have their metadata services.
fn is_link_local(ip: IpAddr) -> bool {
    const AWS_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    const ALIBABA: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
    match ip {
        IpAddr::V4(ip) => ip.is_link_local() || ip == ALIBABA,
        IpAddr::V6(ip) => {
            ip.is_unicast_link_local()
                || ip == AWS_V6
                || inner_v4(ip).is_some_and(|ip| is_link_local(IpAddr::V4(ip)))
        }
    }
}

/// Neither this machine, nor its networks, nor what is reserved.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            let is_reserved = a == 0 || a >= 240 || (a, b, c) == (192, 0, 0);
            let is_test = a == 198 && (b & 0xfe) == 18;
            !(ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_multicast()
                || is_shared
                || is_reserved
                || is_test)
        }
        IpAddr::V6(ip) => match inner_v4(ip) {
            Some(inner) => is_public(IpAddr::V4(inner)),
            // Of what remains only 2000::/3 is given out; Teredo and 6to4 lead to other addresses.
            None => {
                let [first, second, ..] = ip.segments();
                (first & 0xe000) == 0x2000 && first != 0x2002 && !(first == 0x2001 && second == 0)
            }
        },
    }
}

/// The older address inside of one that stands for it: mapped, compatible, translated (NAT64).
fn inner_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = ip.segments();
    let is_nat64 = (a, b, c, d, e, f) == (0x64, 0xff9b, 0, 0, 0, 0);
    let is_mapped = (a, b, c, d, e) == (0, 0, 0, 0, 0) && (f == 0xffff || f == 0);
    (is_nat64 || (is_mapped && high != 0)).then(|| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    })
}

/// Resolves for one destination. A proxy of the owner is resolved as it is.
pub(super) struct Guard {
    pub(super) destination: Destination,
    pub(super) lookup: Lookup,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (destination, found) = (self.destination.clone(), (self.lookup)(name.as_str().into()));
        Box::pin(async move {
            let found = found.await?;
            let is_proxy = !name.as_str().eq_ignore_ascii_case(destination.host());
            let admitted = if is_proxy { found } else { destination.admitted(found)? };
            let admitted: Addrs = Box::new(admitted.into_iter());
            Ok(admitted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(url: &str, hosts: &[&str], ips: &[&str]) -> Result<Vec<String>, String> {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let destination = Destination::new(url, &hosts)?;
        let found = ips.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect();
        let admitted = destination.admitted(found).map_err(|refused| refused.to_string())?;
        Ok(admitted.iter().map(|address| address.ip().to_string()).collect())
    }

    #[test]
    fn a_name_leads_to_public_addresses_alone() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00:ec2::254",
            "fc00::1",
            "ff02::1",
            "::ffff:169.254.169.254",
            "::ffff:127.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001:0:1::",
            "::10.0.0.1",
            "100::1",
        ] {
            let refused = admits("https://mcp.example/mcp", &[], &[private]).unwrap_err();
            assert!(refused.contains("private_hosts"), "{private}: {refused}");
            // What is named is reached, as it is.
            let named = admits("https://mcp.example/mcp", &["MCP.example"], &[private]);
            assert_eq!(named.unwrap().len(), 1, "{private}");
        }
        for public in ["93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8"] {
            assert_eq!(admits("https://mcp.example/mcp", &[], &[public]).unwrap().len(), 1);
        }
        // One of both: only the public one is connected to.
        let both = admits("https://mcp.example/", &[], &["10.0.0.1", "93.184.216.34"]).unwrap();
        assert_eq!(both, ["93.184.216.34"]);
    }

    #[test]
    fn an_address_in_the_url_names_itself_but_for_those_of_a_cloud() {
        for url in ["http://127.0.0.1:3/mcp", "http://[::1]:3", "http://10.0.0.1", "http://0.0.0.0"]
        {
            Destination::new(url, &[]).unwrap();
        }
        for url in [
            "http://169.254.169.254/latest",
            "http://[fd00:ec2::254]/",
            "http://100.100.100.200",
            "http://[::ffff:169.254.169.254]/",
            "http://2852039166/",
            "http://0xa9fea9fe/",
        ] {
            assert!(Destination::new(url, &[]).unwrap_err().contains("cloud"), "{url}");
        }
        Destination::new("http://169.254.169.254/", &["169.254.169.254".into()]).unwrap();
    }

    #[test]
    fn localhost_is_this_machine_and_nothing_else() {
        assert_eq!(admits("http://localhost:3", &[], &["127.0.0.1", "::1"]).unwrap().len(), 2);
        assert!(admits("http://localhost:3", &[], &["93.184.216.34"]).is_err());
        assert!(admits("http://a.localhost:3", &[], &["10.0.0.1"]).is_err());
        assert!(Destination::new("http://localhost:3", &[]).unwrap().is_loopback());
    }

    #[test]
    fn others_may_send_claw_to_the_public_internet_over_tls_alone() {
        let entry = Destination::new("https://mcp.example/mcp", &[]).unwrap();
        let hosts = ["sso.corp".to_owned()];
        for good in ["https://login.example/t", "https://8.8.8.8/", "http://sso.corp/t"] {
            entry.leads_to(good, &hosts).unwrap();
        }
        for bad in [
            "http://login.example/t",
            "http://mcp.example/t",
            "https://localhost/t",
            "https://a.localhost/t",
            "https://127.0.0.1/t",
            "https://0.0.0.0/t",
            "https://[::1]/t",
            "https://10.0.0.1/t",
            "https://[::ffff:10.0.0.1]/t",
            "https://167772161/t",
            "https://169.254.169.254/t",
            "https://[fd00:ec2::254]/t",
            "file:///etc/passwd",
        ] {
            assert!(entry.leads_to(bad, &hosts).is_err(), "{bad}");
        }
        // A name is judged by its address, and one that is listed, as it is.
        let private = || vec![SocketAddr::new("10.0.0.1".parse().unwrap(), 0)];
        let led = |url: &str| entry.leads_to(url, &hosts).unwrap().admitted(private());
        assert!(led("https://login.example/t").is_err() && led("https://mcp.example/t").is_err());
        assert!(led("https://sso.corp/t").is_ok());
        // A server of this machine may have its login here.
        let here = Destination::new("http://127.0.0.1:3/mcp", &[]).unwrap();
        assert!(here.leads_to("http://localhost:4/t", &[]).is_ok());
        assert!(here.leads_to("http://10.0.0.1/t", &[]).is_err());
    }

    #[test]
    fn what_is_no_address_of_a_server_is_said() {
        for (url, part) in [
            ("mcp.example/mcp", "https://"),
            ("ftp://mcp.example", "begins with ftp"),
            ("https://me:pw@mcp.example", "headers"),
        ] {
            let refused = Destination::new(url, &[]).unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
    }
}
