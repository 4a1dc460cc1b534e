//! Standard outputs that take nothing, and a command that writes to one. Must not know commands.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

use std::fs::File;
use std::process::Stdio;

use crate::program::{House, Ran};

/// Runs a command whose standard output is this, with these lines as its input.
pub fn into(house: &House, args: &[&str], stdout: Stdio, input: &[u8]) -> Ran {
    let kept = house.user_home().join("input");
    std::fs::write(&kept, input).unwrap();
    let mut command = house.command(args);
    command.stdin(File::open(kept).unwrap()).stdout(stdout).stderr(Stdio::piped());
    let ended = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: ended.status.code(), out: text(&ended.stdout), err: text(&ended.stderr) }
}

/// A disk without room.
pub fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// A pipe that nobody reads any more.
pub fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[track_caller]
pub fn no_panic(ran: &Ran) {
    assert!(!ran.err.contains("panicked"), "{ran:?}");
}
