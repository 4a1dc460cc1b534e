//! What the small server that misbehaves does with processes and pipes: it leaves some behind,
//! never ends, and floods. Must not know MCP.

use std::io::{BufRead as _, Write};
use std::time::Duration;

pub fn sleep_forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// A process of the same group that outlives its parent and holds its pipes.
#[expect(clippy::disallowed_methods, reason = "a test's helper shows what servers do")]
pub fn grandchild() -> u32 {
    std::process::Command::new("sleep").arg("1000").spawn().unwrap().id()
}

/// A process that has left its parent, its group and its session, and holds no pipe.
#[expect(clippy::disallowed_methods, reason = "a test's helper shows what servers do")]
pub fn daemon() -> u32 {
    use std::process::{Command, Stdio};
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(own);
    command.arg("orphan").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut said = String::new();
    std::io::BufReader::new(command.spawn().unwrap().stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    said.trim().parse().unwrap()
}

/// What [`daemon`] starts: leaves, and says so.
pub fn orphan() -> ! {
    rustix::process::setsid().unwrap();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", std::process::id()).unwrap();
    sleep_forever()
}

/// Passes lines between claw and a test that listens at this socket, and ends when the test hangs
/// up.
pub fn relay(socket: &str) -> ! {
    let test = std::os::unix::net::UnixStream::connect(socket).unwrap();
    let mut to_test = test.try_clone().unwrap();
    std::thread::spawn(move || {
        // Either side may be gone first.
        let _ = pass(&mut std::io::stdin().lock(), &mut to_test);
        let _ = to_test.shutdown(std::net::Shutdown::Write);
    });
    let _ = pass(&mut &test, &mut std::io::stdout().lock());
    std::process::exit(3)
}

/// Not `io::copy`, which splices: a splice that waits for input locks the pipe behind stdout, and
/// claw's read of that pipe waits in the kernel.
fn pass(from: &mut impl std::io::Read, to: &mut impl Write) -> std::io::Result<()> {
    let mut chunk = [0; 8 * 1024];
    loop {
        let count = from.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&chunk[..count])?;
        to.flush()?;
    }
}

/// No word of the protocol, without an end.
pub fn babble() -> ! {
    let mut out = std::io::stdout().lock();
    loop {
        writeln!(out, "bla {}", "bla ".repeat(1000)).unwrap();
    }
}

/// 200 MB on stderr.
pub fn torrent() {
    let piece = format!("{}\n", "x".repeat(1023)).repeat(1000);
    for _ in 0..200 {
        std::io::stderr().write_all(piece.as_bytes()).unwrap();
    }
}
