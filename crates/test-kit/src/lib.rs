//! What the tests of several crates of ours stand on: the programs that they start, and how they
//! wait for something outside of their process. Not part of the product.

#![expect(clippy::unwrap_used, reason = "a test's helpers may fail loudly")]

pub mod mcp;
pub mod mortal;
pub mod plans;
mod port;
mod program_file;
mod question;
mod skipped;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub use port::{KeptPort, stop_listening};
pub use program_file::write_program;
pub use question::question;
pub use skipped::skipped;

/// Whatever a test waits for must come in this time; long, because a busy machine is no fault.
pub const SOON: Duration = Duration::from_secs(60);

/// The folder of the whole repository.
pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap())
}

/// The text of one file of the repository.
pub fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The program `claw`, beside this test's own binary, for tests whose package does not depend on
/// it. `cargo test --workspace` builds it before a test runs, also with `--test whole`; with `-p`
/// it would stay as it was built last.
pub fn claw_exe() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let exe = test.parent().unwrap().parent().unwrap().join("claw");
        assert!(exe.exists(), "{} is missing: run `cargo test --workspace`", exe.display());
        exe.into_os_string().into_string().unwrap()
    })
}

/// An example's program, beside this test's own binary. `cargo test --workspace` builds examples,
/// but `cargo test --test NAME` does not: one that is older than its sources is built then.
pub fn example_exe(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let exe = profile.join("examples").join(name);
    if is_stale(&exe) {
        BUILT.get_or_init(|| build("--examples", profile.parent().unwrap()));
    }
    assert!(exe.exists(), "{} is missing: run `cargo build --examples`", exe.display());
    exe
}

/// The program of one of our own servers, beside this test's own binary. `cargo test --workspace`
/// builds it, for the tests of its own crate.
pub fn program_exe(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let exe = profile.join(name);
    if is_stale(&exe) {
        BUILT.get_or_init(|| build("--bins", profile.parent().unwrap()));
    }
    assert!(exe.exists(), "{} is missing: run `cargo build --workspace --bins`", exe.display());
    exe
}

/// Whether a program is not there, or older than one of the sources that cargo names beside it.
fn is_stale(exe: &Path) -> bool {
    let written = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let Some(built) = written(exe) else { return true };
    // A rule of make: the program, a colon, its sources; a space in a name stands behind
    // a backslash.
    let rule = std::fs::read_to_string(exe.with_extension("d")).unwrap_or_default();
    let sources = rule.split_once(": ").map_or("", |(_, sources)| sources).replace("\\ ", "\0");
    let mut sources = sources.split_whitespace().map(|source| source.replace('\0', " "));
    sources.any(|source| written(Path::new(&source)).is_none_or(|changed| changed > built))
}

/// The variables by which cargo tells a test whose it is.
const OF_THIS_TEST: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// With `--workspace`, as the whole suite: other features of a dependency would build it again.
#[expect(clippy::disallowed_methods, reason = "the tests build the program that they need")]
fn build(what: &str, target: &Path) {
    let mut build = std::process::Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--offline", "--workspace", what]);
    build.arg("--manifest-path").arg(root().join("Cargo.toml")).arg("--target-dir").arg(target);
    // What cargo has set for this test would build again what depends on it: `ring` does.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| OF_THIS_TEST.iter().any(|of| name.starts_with(of))) {
            build.env_remove(name);
        }
    }
    assert!(build.status().unwrap().success());
}

/// Waits for something outside of this process, with a deadline.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_stale_when_it_is_gone_or_older_than_a_source() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let written = |name: &str, ago_s: u64| {
            let file = std::fs::File::create(at(name)).unwrap();
            let when = std::time::SystemTime::now() - Duration::from_secs(ago_s);
            file.set_modified(when).unwrap();
        };
        written("a.rs", 30);
        written("b c.rs", 20);
        let rule = format!(
            "{}: {} {}\\ c.rs\n",
            at("it").display(),
            at("a.rs").display(),
            at("b").display()
        );
        std::fs::write(at("it.d"), rule).unwrap();
        assert!(is_stale(&at("it")), "it is not there");
        written("it", 10);
        assert!(!is_stale(&at("it")));
        written("b c.rs", 5);
        assert!(is_stale(&at("it")));
        written("it", 0);
        assert!(!is_stale(&at("it")));
        std::fs::remove_file(at("a.rs")).unwrap();
        assert!(is_stale(&at("it")));
    }
}
