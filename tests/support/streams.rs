//! What a misbehaving server does to its own standard streams. Not part of the product.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use serde_json::Value;

use super::{Stranger, sleep_forever};

impl Stranger {
    /// Answers, and then does what its mode says.
    pub(super) fn misuse_streams(&self, id: &Value) {
        self.text(id, "said");
        match self.mode.as_str() {
            "holds-stdin" => hold_stdin(),
            "holds-stdout" => hold_stdout(),
            _ => {
                rustix::stdio::dup2_stdin(File::open("/dev/null").unwrap()).unwrap();
                sleep_forever();
            }
        }
    }
}

/// Keeps the kernel's lock of stdin: a splice(2) into a full socket, which `io::copy` is.
fn hold_stdin() {
    let (mut full, _far) = UnixStream::pair().unwrap();
    full.set_nonblocking(true).unwrap();
    for size in [4096, 1] {
        while full.write(&vec![0; size]).is_ok() {}
    }
    full.set_nonblocking(false).unwrap();
    let mut stdin = File::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    std::io::copy(&mut stdin, &mut full).unwrap();
}

/// The same with stdout: out of an idle socket.
fn hold_stdout() {
    let (mut idle, _far) = UnixStream::pair().unwrap();
    let mut stdout = File::from(std::io::stdout().as_fd().try_clone_to_owned().unwrap());
    std::io::copy(&mut idle, &mut stdout).unwrap();
}
