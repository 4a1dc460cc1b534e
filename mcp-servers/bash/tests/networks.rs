//! What commands reach over the network at each level, tried from inside. The same words with all
//! of the network are the control, and have to get there.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use claw_test_kit::skipped;
use common::{House, Server, box_or_skip};
use serde_json::{Value, json};

/// A service of this machine that nobody in the box may reach unnamed. Counts who came.
struct Service {
    port: u16,
    came: Arc<AtomicUsize>,
}

impl Service {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let came = Arc::new(AtomicUsize::new(0));
        let counted = came.clone();
        let datagrams = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        let heard = came.clone();
        thread::spawn(move || {
            while datagrams.recv_from(&mut [0; 64]).is_ok() {
                heard.fetch_add(1, Ordering::SeqCst);
            }
        });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || answer(stream));
            }
        });
        Self { port, came }
    }

    fn came(&self) -> usize {
        self.came.swap(0, Ordering::SeqCst)
    }
}

fn answer(mut stream: TcpStream) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request);
    let _ =
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello");
}

fn run(server: &mut Server, arguments: Value) -> Value {
    server.call(arguments)
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// Without it there is nothing to hold, and `levels` tries what holds then.
fn networks_or_skip(server: &mut Server) -> bool {
    let label = server.run("true")["box"].clone();
    let held = label.as_str().unwrap().contains("networks");
    if !held {
        skipped("this system gives commands no network of their own");
    }
    held
}

#[test]
fn below_level_network_there_is_a_loopback_of_the_commands_own_and_nothing_else() {
    let house = House::new();
    let mut server = house.server();
    if !box_or_skip(4) || !networks_or_skip(&mut server) {
        return;
    }
    let service = Service::start();
    let port = service.port;
    let ways = [
        format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo x >&3"),
        format!("echo x > /dev/udp/127.0.0.1/{port}"),
        format!("exec 3<>/dev/tcp/localhost/{port}"),
        format!("exec 3<>/dev/tcp/::1/{port}"),
        format!("unshare -n true; exec 3<>/dev/tcp/127.0.0.1/{port}"),
        format!("nsenter -t 1 -n true; exec 3<>/dev/tcp/127.0.0.1/{port}"),
        format!("nsenter --net=/proc/1/ns/net bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"),
        format!("curl -s -m 3 http://127.0.0.1:{port}/ || exec 3<>/dev/tcp/127.0.0.1/{port}"),
    ];
    for way in &ways {
        for needs in ["read", "write"] {
            run(&mut server, json!({"command": way, "needs": needs}));
            assert_eq!(service.came(), 0, "{needs}: {way}");
        }
    }
    run(&mut server, json!({"command": ways[0], "needs": "network"}));
    // Whoever is connected has not been counted yet.
    common::eventually("the control gets there", || service.came() > 0);
    let loopback = "grep -c : /proc/net/dev; cat /sys/class/net/lo/operstate 2>/dev/null; exec 3<>/dev/tcp/127.0.0.1/9";
    let said = run(&mut server, json!({"command": loopback, "needs": "write"}));
    assert!(text(&said).contains("refused"), "the loopback is not up: {said}");
}

#[test]
fn a_command_listens_on_its_own_loopback_and_talks_to_itself() {
    let house = House::new();
    let mut server = house.server();
    if !box_or_skip(4) || !networks_or_skip(&mut server) {
        return;
    }
    if !Path::new("/usr/bin/perl").exists() {
        skipped("there is no perl");
        return;
    }
    let program = r#"perl -e '
        use Socket;
        socket(my $s, PF_INET, SOCK_STREAM, 0) or die "socket $!";
        bind($s, sockaddr_in(0, INADDR_LOOPBACK)) or die "bind $!";
        listen($s, 5) or die "listen $!";
        my ($port) = sockaddr_in(getsockname($s));
        if (!fork) {
            socket(my $c, PF_INET, SOCK_STREAM, 0);
            connect($c, sockaddr_in($port, INADDR_LOOPBACK)) or die "connect $!";
            syswrite($c, "talks\n");
            exit;
        }
        accept(my $a, $s); print scalar(<$a>);'"#;
    for needs in ["read", "write"] {
        let said = run(&mut server, json!({"command": program, "needs": needs}));
        assert!(text(&said).contains("talks"), "{needs}: {said}");
    }
}

/// A plain request through the proxy.
fn asks(target: &str) -> String {
    format!(
        "exec 3<>/dev/tcp/127.0.0.1/${{http_proxy##*:}}; printf 'GET http://{target}/ HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"
    )
}

/// A tunnel through the proxy.
fn tunnel(target: &str) -> String {
    format!(
        "exec 3<>/dev/tcp/127.0.0.1/${{http_proxy##*:}}; printf 'CONNECT {target} HTTP/1.1\\r\\n\\r\\nx' >&3; cat <&3"
    )
}

/// Ways to the service at port `q`, which was not named; `p` is the one that was, as `host`.
fn ways_around(host: &str, p: u16, q: u16) -> Vec<String> {
    let mut ways = vec![
        format!("exec 3<>/dev/tcp/127.0.0.1/{q}; echo x >&3"),
        format!("exec 3<>/dev/tcp/127.0.0.1/{p}; echo x >&3"),
        format!("echo x > /dev/udp/127.0.0.1/{q}"),
        format!("echo x > /dev/udp/127.0.0.1/{p}"),
        format!(
            "unset http_proxy https_proxy all_proxy; curl -s -m 3 --noproxy '*' http://127.0.0.1:{p}/"
        ),
        format!("curl -s -m 3 --noproxy '*' http://localhost:{q}/"),
        format!("curl -s -m 3 -x '' http://localhost:{q}/"),
        format!("curl -s -m 3 --resolve {host}:127.0.0.1 http://localhost:{q}/"),
        format!("curl -s -m 3 -H 'Host: {host}' http://localhost:{q}/"),
        format!("curl -s -m 3 --socks5 127.0.0.1:${{http_proxy##*:}} http://localhost:{q}/"),
        format!("curl -s -m 3 -x socks4a://127.0.0.1:${{http_proxy##*:}} http://localhost:{q}/"),
        "exec 3<>/dev/udp/127.0.0.53/53; echo x >&3".to_owned(),
        "exec 3<>/dev/udp/8.8.8.8/53; echo x >&3; timeout 1 cat <&3".to_owned(),
        "exec 3<>/dev/tcp/169.254.169.254/80".to_owned(),
        format!("unshare -n bash -c 'exec 3<>/dev/tcp/127.0.0.1/{q}'"),
        format!("nsenter -t 1 -n bash -c 'exec 3<>/dev/tcp/127.0.0.1/{q}'"),
        format!("nsenter --net=/proc/$PPID/ns/net bash -c 'exec 3<>/dev/tcp/127.0.0.1/{q}'"),
        format!(
            "ip link set lo down; ip addr add 127.0.0.2/8 dev lo; exec 3<>/dev/tcp/127.0.0.2/{q}"
        ),
        format!("ip route add default dev lo; exec 3<>/dev/tcp/10.0.0.1/{q}"),
    ];
    for target in targets(host, p, q) {
        ways.extend([tunnel(&target), asks(&target)]);
    }
    ways
}

/// What a proxy can be asked for, and must not take for the host that was named.
fn targets(host: &str, p: u16, q: u16) -> Vec<String> {
    let names = [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:0:0:1]",
        "localhost%00.example.com",
        "localhost.localdomain",
        "ip6-localhost",
        "[fe80::1%25lo]",
    ];
    let mut targets: Vec<String> = names.iter().map(|name| format!("{name}:{q}")).collect();
    targets.extend([
        format!("{host}@localhost:{q}"),
        format!("localhost:{q}@{host}"),
        format!("localhost:{q}#{host}"),
        format!("localhost:{q}?@{host}"),
        format!("localhost:{q}/{host}"),
        format!("{host}.localhost:{q}"),
        format!("localhost:0{q}"),
        format!("localhost:{p}:{q}"),
        format!("localhost: {q}"),
    ]);
    targets
}

#[test]
fn a_command_that_names_hosts_reaches_these_alone() {
    let (named, other) = (Service::start(), Service::start());
    let house = House::new();
    let host = format!("localhost:{}", named.port);
    let mut server = house.server_with(&["--private-host", &host]);
    if !box_or_skip(4) || !networks_or_skip(&mut server) {
        return;
    }
    let hosts = [host.clone()];
    let said =
        run(&mut server, json!({"command": asks(&host), "needs": "network", "hosts": hosts}));
    assert!(text(&said).contains("hello") && named.came() == 1, "{said}");
    assert!(text(&said).contains(&format!("reached {host}")), "{said}");
    let away = format!("localhost:{}", other.port);
    let both = format!("({}); ({})", asks(&host), asks(&away));
    let said = run(&mut server, json!({"command": both, "needs": "network", "hosts": hosts}));
    let account = &said["structuredContent"]["network"];
    let of =
        |port: u16| account.as_array().unwrap().iter().find(|one| one["port"] == port).unwrap();
    let (reached, refused) = (of(named.port), of(other.port));
    assert_eq!((reached["connections"].as_u64(), &reached["refused"]), (Some(1), &Value::Null));
    assert!(reached["bytes"].as_u64() > Some(0), "{said}");
    assert_eq!(refused["connections"], 0, "{said}");
    assert_eq!(refused["refused"], "not among the hosts that were named", "{said}");
    assert_eq!((named.came(), other.came()), (1, 0));
    let said = run(&mut server, json!({"command": "true", "needs": "network"}));
    assert_eq!(said["structuredContent"]["network"], Value::Null, "no host was named: {said}");
    let ways = ways_around(&host, named.port, other.port);
    for way in &ways {
        let call = json!({"command": way, "needs": "network", "hosts": hosts, "timeout_s": 10});
        let said = run(&mut server, call);
        assert_eq!(other.came(), 0, "{way}: {said}");
    }
    eprintln!("{} ways around the proxy, 0 got there", ways.len());
    assert!(ways.len() >= 60, "{}", ways.len());
}

#[test]
fn a_network_command_cannot_be_used_as_a_relay_by_another() {
    let service = Service::start();
    let house = House::new();
    let host = format!("localhost:{}", service.port);
    let mut server = house.server_with(&["--private-host", &host]);
    if !box_or_skip(4) || !networks_or_skip(&mut server) {
        return;
    }
    let waits = "echo ${http_proxy##*:} > port; sleep 60";
    let start = json!({"command": waits, "needs": "network", "hosts": [host]});
    let job = server.request("tools/call", json!({"name": "start", "arguments": start}));
    assert!(job["result"]["isError"] != true, "{job}");
    let port = house.workspace().join("port");
    common::eventually("the job has a proxy", || {
        std::fs::read_to_string(&port).is_ok_and(|text| text.ends_with('\n'))
    });
    let relay = format!(
        "exec 3<>/dev/tcp/127.0.0.1/$(cat port); printf 'GET http://localhost:{}/ HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3",
        service.port
    );
    for needs in ["read", "write"] {
        let said = run(&mut server, json!({"command": relay, "needs": needs}));
        assert_eq!(service.came(), 0, "{needs}: {said}");
    }
}

#[test]
fn hosts_are_refused_where_they_mean_nothing() {
    let house = House::new();
    let mut server = house.server();
    if !networks_or_skip(&mut server) {
        return;
    }
    for (arguments, word) in [
        (
            json!({"command": "true", "needs": "write", "hosts": ["crates.io"]}),
            "needs: \"network\"",
        ),
        (json!({"command": "true", "needs": "network", "hosts": ["*.io"]}), "covers too much"),
        (
            json!({"command": "true", "needs": "network", "hosts": ["https://x.org/"]}),
            "*.crates.io",
        ),
    ] {
        let said = run(&mut server, arguments);
        assert!(said["isError"] == true && text(&said).contains(word), "{said}");
        assert!(text(&said).contains("Nothing was run"), "{said}");
    }
}

#[test]
fn a_command_has_no_power_over_networks() {
    let house = House::new();
    let mut server = house.server();
    for arguments in
        [json!({"needs": "read"}), json!({"needs": "write"}), json!({"needs": "network"})]
    {
        let mut call = json!({"command": "grep -E '^Cap(Inh|Amb)' /proc/self/status; unshare -n true && echo made one"});
        call.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let said = run(&mut server, call);
        let zero = "0000000000000000";
        assert!(!text(&said).contains("made one"), "{said}");
        assert_eq!(text(&said).matches(zero).count(), 2, "{said}");
    }
}

#[test]
fn where_no_command_has_a_network_of_its_own_nobody_can_name_hosts() {
    let house = House::new();
    let mut server = house.server_with(&["--without-namespaces"]);
    let said = run(
        &mut server,
        json!({"command": "touch ran", "needs": "network", "hosts": ["crates.io"]}),
    );
    assert!(said["isError"] == true && text(&said).contains("all of the network"), "{said}");
    assert!(!house.workspace().join("ran").exists());
    let tools = server.request("tools/list", json!({}));
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert!(tool["inputSchema"]["properties"]["hosts"].is_null(), "{tool}");
    }
}
