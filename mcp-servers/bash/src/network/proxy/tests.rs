//! Connections through the proxy, to services of this machine.

use super::*;

/// A server on this machine that answers each connection with what it was sent, and a
/// proxy in front of it.
async fn echo() -> (u16, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    (port, served)
}

struct Rig {
    proxy: Arc<Proxy>,
    address: SocketAddr,
    _served: tokio::task::JoinHandle<()>,
}

async fn rig(hosts: &[String], private: &[String]) -> Rig {
    let rules =
        |hosts: &[String]| hosts.iter().map(|host| HostRule::parse(host).unwrap()).collect();
    let proxy = Proxy::new(rules(hosts), rules(private));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = proxy.clone();
    let served = tokio::spawn(async move { serving.serve(listener).await });
    Rig { proxy, address, _served: served }
}

impl Rig {
    /// Sends all of this, ends its side, and reads to the end.
    async fn says(&self, text: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}

#[tokio::test]
async fn a_named_host_is_reached_through_a_tunnel_and_by_a_plain_request() {
    let (port, _echo) = echo().await;
    let here = [format!("localhost:{port}")];
    let rig = rig(&here, &here).await;
    let tunnel = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\nhello through it");
    assert_eq!(
        rig.says(tunnel.as_bytes()).await,
        "HTTP/1.1 200 Connection established\r\n\r\nhello through it"
    );
    let plain =
        format!("POST http://LOCALHOST:{port}/x HTTP/1.1\r\nProxy-Authorization: y\r\n\r\nbody");
    assert_eq!(
        rig.says(plain.as_bytes()).await,
        format!("POST /x HTTP/1.1\r\nhost: LOCALHOST:{port}\r\nconnection: close\r\n\r\nbody")
    );
    let said = rig.proxy.sentences().join(" ");
    assert!(said.contains(&format!("reached LOCALHOST:{port}")), "{said}");
}

#[tokio::test]
async fn what_was_not_named_is_refused_and_told() {
    let (port, _echo) = echo().await;
    let rig = rig(&["example.com".to_owned()], &[]).await;
    for target in [
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        "example.com:22".to_owned(),
        "example.com.evil.org:443".to_owned(),
    ] {
        let answer = rig.says(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{target}: {answer}");
        assert!(answer.contains("not among the hosts that were named"), "{answer}");
    }
    let said = rig.proxy.sentences().join(" ");
    assert!(said.contains("no connection to") && said.contains("example.com:22"), "{said}");
    assert!(said.contains("in `hosts`"), "{said}");
    assert!(!said.contains("reached"), "{said}");
}

#[tokio::test]
async fn a_named_host_whose_address_lies_inside_is_refused() {
    let (port, _echo) = echo().await;
    let names = ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0"];
    let hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
    let hosts =
        [hosts, vec![format!("[::1]:{port}"), format!("[::ffff:127.0.0.1]:{port}")]].concat();
    let rig = rig(&hosts, &[]).await;
    for host in &hosts {
        let answer = rig.says(format!("CONNECT {host} HTTP/1.1\r\n\r\nx").as_bytes()).await;
        let refused = answer.starts_with("HTTP/1.1 403") || answer.starts_with("HTTP/1.1 502");
        assert!(refused && !answer.contains("200"), "{host}: {answer}");
    }
    assert!(!rig.proxy.sentences().join(" ").contains("reached"));
}

#[tokio::test]
async fn what_is_no_request_to_a_proxy_is_refused() {
    let rig = rig(&["example.com".to_owned()], &[]).await;
    for odd in
        [&b"\x05\x01\x00"[..], b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", b"\r\n\r\n\0\r\n"]
    {
        let answer = rig.says(odd).await;
        assert!(answer.starts_with("HTTP/1.1 400") || answer.is_empty(), "{answer}");
    }
}
