//! The head of a request to the proxy: where it goes, and what is sent on. Pure. Must not know
//! which hosts are allowed.

use super::hosts::split_port;

/// A head that is longer is refused.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
const HEADERS_MAX: usize = 128;

/// Headers about one connection, which end at the proxy (RFC 9110, section 7.6.1).
const OF_THE_CONNECTION: &[&str] = &[
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-authenticate",
    "te",
    "upgrade",
    "host",
];

#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    pub host: String,
    pub port: u16,
    /// What the other side gets first; `None` for a tunnel (`CONNECT`, RFC 9110, section 9.3.6).
    pub forward: Option<Vec<u8>>,
    /// The length of the head itself.
    pub bytes: usize,
}

/// Reads a head. `None` while it is not complete; the error is the reason of a refusal.
pub fn parse(bytes: &[u8]) -> Result<Option<Head>, &'static str> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(httparse::Status::Partial) => return Err("the head of the request is too long"),
        Err(_) => return Err("this is no request to a proxy"),
    };
    let (method, target) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
    if method == "CONNECT" {
        let (host, port) = split_port(target).ok_or("the target is no host and port")?;
        let port = port.ok_or("the target has no port")?;
        return Ok(Some(Head { host: host.to_owned(), port, forward: None, bytes: length }));
    }
    let rest = target
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("http://"))
        .map(|_| &target[7..])
        .ok_or("the target is no http:// address")?;
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    if authority.contains('@') {
        return Err("the target holds a name or password");
    }
    let (host, port) = split_port(authority).ok_or("the target is no host and port")?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut forward =
        format!("{method} {slash}{path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n")
            .into_bytes();
    for header in request.headers.iter() {
        if OF_THE_CONNECTION.iter().any(|name| header.name.eq_ignore_ascii_case(name)) {
            continue;
        }
        forward.extend_from_slice(header.name.as_bytes());
        forward.extend_from_slice(b": ");
        forward.extend_from_slice(header.value);
        forward.extend_from_slice(b"\r\n");
    }
    forward.extend_from_slice(b"\r\n");
    let port = port.unwrap_or(80);
    Ok(Some(Head { host: host.to_owned(), port, forward: Some(forward), bytes: length }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        parse(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_tunnel_names_its_host_and_port() {
        let head = head("CONNECT crates.io:443 HTTP/1.1\r\nHost: other.org\r\n\r\n");
        assert_eq!((head.host.as_str(), head.port, head.forward), ("crates.io", 443, None));
        for odd in [
            "CONNECT crates.io HTTP/1.1\r\n\r\n",
            "CONNECT crates.io:x HTTP/1.1\r\n\r\n",
            "CONNECT crates.io:0 HTTP/1.1\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: crates.io\r\n\r\n",
            "GET https://crates.io/ HTTP/1.1\r\n\r\n",
            "GET http://me:word@crates.io/ HTTP/1.1\r\n\r\n",
            "GET ftp://crates.io/ HTTP/1.1\r\n\r\n",
            "\x05\x01\x00",
            "SSH-2.0-x\r\n\r\n",
        ] {
            assert!(parse(odd.as_bytes()).is_err(), "{odd:?}");
        }
    }

    #[test]
    fn a_plain_request_goes_to_the_host_of_its_target_and_nowhere_else() {
        let head = head(
            "GET http://Example.com:8080/a?b HTTP/1.1\r\nHost: evil.com\r\nProxy-Connection: keep-alive\r\nX: y\r\n\r\nbody",
        );
        assert_eq!((head.host.as_str(), head.port), ("Example.com", 8080));
        let sent = String::from_utf8(head.forward.unwrap()).unwrap();
        assert_eq!(
            sent,
            "GET /a?b HTTP/1.1\r\nhost: Example.com:8080\r\nconnection: close\r\nX: y\r\n\r\n"
        );
    }

    #[test]
    fn a_head_without_an_end_is_waited_for_up_to_a_length() {
        assert_eq!(parse(b"CONNECT crates.io:443 HTTP/1.1\r\nHost:"), Ok(None));
        let mut long = b"CONNECT crates.io:443 HTTP/1.1\r\nX: ".to_vec();
        long.resize(HEAD_BYTES_MAX, b'a');
        assert!(parse(&long).is_err());
    }
}
