//! What the filter of system calls and the loss of root's powers refuse, tried from inside.

#![expect(clippy::disallowed_methods, reason = "a test starts a process to be attacked")]
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::process::Command;

use claw_test_kit::skipped;
use common::{House, box_or_skip, outside_of_the_box};

#[test]
fn sockets_of_daemons_are_out_of_reach() {
    if !box_or_skip(6) {
        return;
    }
    let house = House::new();
    let mut server = house.server();
    if server.run("command -v python3")["exit_code"] != 0 {
        skipped("no python3 on this machine");
        return;
    }
    // Short paths: a socket's path has room for 107 bytes.
    let (stream, datagram) = (house.tmp().join("s"), house.tmp().join("d"));
    let listener = UnixListener::bind(&stream).unwrap();
    let receiver = UnixDatagram::bind(&datagram).unwrap();
    listener.set_nonblocking(true).unwrap();
    receiver.set_nonblocking(true).unwrap();
    let name = format!("claw-box-test-{}", std::process::id());
    let address =
        <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(
            &name,
        )
        .unwrap();
    let hidden = UnixListener::bind_addr(&address).unwrap();
    hidden.set_nonblocking(true).unwrap();
    let script = format!(
        "import socket as s
def t(what, f):
    try: f(); print(what, 'REACHED')
    except OSError as e: print(what, 'refused', e.errno)
t('stream', lambda: s.socket(s.AF_UNIX, s.SOCK_STREAM).connect('{}'))
t('datagram', lambda: s.socket(s.AF_UNIX, s.SOCK_DGRAM).sendto(b'x', '{}'))
t('pair', lambda: s.socketpair(s.AF_UNIX, s.SOCK_DGRAM)[0].sendto(b'x', '{}'))
t('abstract', lambda: s.socket(s.AF_UNIX, s.SOCK_STREAM).connect('\\0{name}'))
t('bind', lambda: s.socket(s.AF_UNIX, s.SOCK_STREAM).bind('{}/mine'))
t('vsock', lambda: s.socket(40, s.SOCK_STREAM))
t('alg', lambda: s.socket(38, s.SOCK_SEQPACKET))
s.socket(s.AF_INET, s.SOCK_STREAM); s.socketpair(); print('inet and pair work')
",
        stream.display(),
        datagram.display(),
        datagram.display(),
        house.tmp().display()
    );
    fs::write(house.workspace().join("knock.py"), script).unwrap();
    let control = outside_of_the_box(&house, "python3 knock.py");
    for way in ["stream", "datagram", "abstract", "bind", "pair"] {
        assert!(
            control.contains(&format!("{way} REACHED")),
            "`{way}` does not even work outside: {control}"
        );
    }
    while listener.accept().is_ok() {}
    while hidden.accept().is_ok() {}
    while receiver.recv(&mut [0; 8]).is_ok() {}
    let output = server.output("python3 knock.py");
    assert!(!output.contains("REACHED") && output.contains("inet and pair work"), "{output}");
    assert_eq!(output.matches("refused").count(), 7, "{output}");
    assert!(
        listener.accept().is_err()
            && hidden.accept().is_err()
            && receiver.recv(&mut [0; 8]).is_err()
    );
}

#[test]
fn namespaces_io_uring_and_roots_powers_are_gone() {
    if !box_or_skip(3) {
        return;
    }
    let house = House::new();
    let mut server = house.server();
    let status = server
        .output("grep -E '^(CapPrm|CapEff|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'");
    let root = rustix::process::geteuid().is_root();
    let kept = if root {
        u64::from_str_radix(status.split("CapEff:").nth(1).unwrap().split('\n').next().unwrap(), 16)
            .unwrap()
    } else {
        0
    };
    // SYS_ADMIN, SYS_PTRACE, SYS_RAWIO, SYSLOG, MKNOD, DAC_READ_SEARCH.
    for dangerous in [21, 19, 17, 34, 27, 2] {
        assert_eq!(kept >> dangerous & 1, 0, "{status}");
    }
    assert!(status.contains("NoNewPrivs:1") && status.contains("Seccomp:2"), "{status}");
    assert_ne!(server.run("unshare -r true")["exit_code"], 0);
    assert_ne!(server.run("unshare -m true")["exit_code"], 0);
    if server.run("command -v python3")["exit_code"] == 0 {
        let call = |number: i64| {
            format!(
                "python3 -c 'import ctypes as c; l=c.CDLL(None,use_errno=True); print(l.syscall({number},0,0,0,0,0), c.get_errno())'"
            )
        };
        #[cfg(target_arch = "x86_64")]
        for (number, errno) in [
            (425, 38),
            (435, 38),
            (250, 1),
            (165, 1),
            (304, 1),
            (272, 0),
            (0x4000_0000 | 250, 1),
            (0x4000_0000 | 425, 38),
        ] {
            let expected = if errno == 0 { "0 0\n".to_owned() } else { format!("-1 {errno}\n") };
            assert_eq!(server.output(&call(number)), expected, "{number:#x}");
        }
    }
}

/// The same call on a foreign process, on a process of the job and on the caller itself: only the
/// last one is answered.
#[test]
fn limits_priority_and_processors_of_other_processes_are_out_of_reach() {
    if !box_or_skip(3) {
        return;
    }
    let house = House::new();
    let mut server = house.server();
    let mut victim = Command::new("sleep").arg("300").spawn().unwrap();
    let pid = victim.id();
    let before = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let nice = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(16).unwrap().to_owned()
    };
    let nice_before = nice();
    for (tool, other, own) in [
        ("prlimit", "prlimit --pid PID --fsize=0:0", "prlimit --fsize=1000000 true"),
        ("prlimit", "prlimit --pid PID --as=1:1 --nofile=0:0", "prlimit --nofile=20 true"),
        ("renice", "renice -n 19 -p PID", "nice -n 5 true"),
        ("ionice", "ionice -c 3 -p PID", "ionice -c 3 true"),
        ("chrt", "chrt --idle -p 0 PID", "chrt --idle 0 true"),
        ("chrt", "chrt --batch -p 0 PID", "chrt --batch 0 true"),
        ("taskset", "taskset -p 1 PID", "taskset 1 true"),
    ] {
        if server.run(&format!("command -v {tool}"))["exit_code"] != 0 {
            skipped(&format!("no {tool} on this machine"));
            continue;
        }
        for target in [pid.to_string(), "$PPID".to_owned(), "1".to_owned()] {
            let command = other.replace("PID", &target);
            assert_ne!(server.run(&command)["exit_code"], 0, "{command}");
        }
        assert_eq!(server.run(own)["exit_code"], 0, "{own}");
    }
    assert_eq!(fs::read_to_string(format!("/proc/{pid}/limits")).unwrap(), before);
    assert_eq!(nice(), nice_before);
    victim.kill().unwrap();
    victim.wait().unwrap();
}
