//! The program that the tests of the other packages start: cargo builds it for this file, and it is
//! the one that they find. Must not know what it does.

#![expect(clippy::disallowed_methods, reason = "a test starts the program")]

use std::path::Path;
use std::process::Command;

#[test]
fn the_program_that_is_started_is_the_one_that_was_built() {
    let built = Path::new(env!("CARGO_BIN_EXE_claw"));
    assert_eq!(
        built.canonicalize().unwrap(),
        Path::new(claw_test_kit::claw_exe()).canonicalize().unwrap()
    );
    let said = Command::new(built).arg("--version").output().unwrap();
    let version = concat!("claw ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8(said.stdout).unwrap(), version);
}
