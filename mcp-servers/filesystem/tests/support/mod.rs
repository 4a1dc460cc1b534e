//! A folder to try things in, and the real server on it. Must not know the tools.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![allow(dead_code, clippy::allow_attributes, reason = "each test program uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

pub use claw_test_kit::mcp::Server;

/// A workspace below a temporary directory, so that there is an outside: `outside/canary`.
pub struct Room {
    pub temp: tempfile::TempDir,
    pub root: PathBuf,
    pub outside: PathBuf,
}

pub const CANARY: &str = "the canary sings\n";

impl Room {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        // macOS: the temporary directory is itself behind a link.
        let base = temp.path().canonicalize().unwrap();
        let (root, outside) = (base.join("ws"), base.join("outside"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("canary"), CANARY).unwrap();
        Self { temp, root, outside }
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub fn link(&self, target: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(target, self.root.join(path)).unwrap();
    }

    /// Nothing outside was changed, made or removed.
    pub fn assert_outside_untouched(&self) {
        assert_eq!(std::fs::read_to_string(self.outside.join("canary")).unwrap(), CANARY);
        assert_eq!(std::fs::read_dir(&self.outside).unwrap().count(), 1);
    }

    pub fn start(&self, arguments: &[&str]) -> Server {
        let mut server = spawn(&self.root, arguments);
        server.initialize("2025-11-25");
        server
    }
}

/// The server on a folder, to which nothing was said yet.
pub fn spawn(root: &Path, arguments: &[&str]) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-filesystem"));
    Server::start(command.arg("--workspace").arg(root).args(arguments))
}
