//! Asks the linker for packed relocations where the system's loader understands them: the file is
//! smaller, and so is the memory that every start touches. Owns no other setting; the profile is in
//! `Cargo.toml`.

use std::process::Command;

/// The first glibc whose loader reads `DT_RELR` (its release notes, 2.36).
const LOADER_READS_RELR: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let set = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let native = std::env::var("HOST").ok() == std::env::var("TARGET").ok();
    // A program that is built for another machine may meet an older loader there, which refuses it.
    if native
        && set("CARGO_CFG_TARGET_OS", "linux")
        && set("CARGO_CFG_TARGET_ENV", "gnu")
        && loader_reads_relr()
    {
        println!("cargo:rustc-link-arg-bin=claw=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether this system's glibc is new enough. One that cannot be asked counts as old.
#[expect(clippy::disallowed_methods, reason = "a build script has no other way to ask the system")]
fn loader_reads_relr() -> bool {
    let Ok(answer) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let text = String::from_utf8_lossy(&answer.stdout);
    let mut numbers = text.trim().trim_start_matches("glibc ").split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= LOADER_READS_RELR,
        _ => false,
    }
}
