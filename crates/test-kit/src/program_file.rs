//! A program that a test writes and then starts. Must not know what it does.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a script that can be started at once. Another process writes it: what this one holds open
/// for writing, each program that another test starts meanwhile holds open for a moment, too, and
/// the system starts no file that is open for writing (execve(2), `ETXTBSY`).
#[expect(clippy::disallowed_methods, reason = "a program of a test's, which has ended on return")]
pub fn write_program(path: &Path, script: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success(), "{} was not written", path.display());
}
