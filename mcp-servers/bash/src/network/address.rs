//! Which addresses are somebody's on the open internet. Pure. Must not know names or ports.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is public: not this machine, not its networks, not the metadata service of a
/// cloud, and nothing that a translator would turn into one of these (IANA's registries of special
/// addresses; RFC 6890).
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // This network, private, loopback, link-local with the metadata service.
        (0 | 10 | 127, _, _) | (169, 254, _) | (192, 168, _) => true,
        (172, 16..=31, _) => true,
        // Shared by carriers (RFC 6598), protocol assignments, the old 6to4 relays.
        (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) => true,
        // Documentation and benchmarks.
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) | (198, 18..=19, _) => true,
        // Multicast, reserved, broadcast.
        (224.., _, _) => true,
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let s = address.segments();
    // Global unicast alone; what lies outside is loopback, local, multicast, or a form of IPv4.
    if s[0] & 0xe000 != 0x2000 {
        // The well-known prefix of NAT64 (RFC 6052) leads to the IPv4 address in its last 32 bits.
        let nat64 = s[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
        return nat64 && is_public_v4(low_v4(s[6], s[7]));
    }
    match s[0] {
        // Protocol assignments, Teredo, benchmarks and documentation lie in 2001::/23 and beside.
        0x2001 if s[1] < 0x200 || s[1] == 0xdb8 => false,
        // 6to4 carries an IPv4 address.
        0x2002 => is_public_v4(low_v4(s[1], s[2])),
        0x3ffe | 0x3fff => false,
        _ => true,
    }
}

fn low_v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_on_the_open_internet_is_not_public() {
        for inside in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "192.88.99.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::a00:1",
            "100::1",
            "2001::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.0",
            "172.32.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2002:808:808::1",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }
}
