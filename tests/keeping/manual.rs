//! Completions and man pages.

use std::fs;
use std::process::Command;

use crate::keeping::{beside, text};
use crate::program::House;

#[test]
fn completions_and_pages_know_every_command() {
    let house = House::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = house.claw(&["completions", shell]).expect(0).out;
        assert!(
            ["explain", "restore", "replay"].iter().all(|command| script.contains(command)),
            "{shell}"
        );
    }
    let script = house.claw(&["completions", "bash"]).expect(0).out;
    let words =
        "COMP_WORDS=(claw sess); COMP_CWORD=1; _claw claw sess claw; echo \"${COMPREPLY[@]}\"";
    let completed =
        Command::new("bash").args(["-c", &format!("{script}\n{words}")]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&completed.stdout).trim(), "sessions", "{completed:?}");
    house.claw(&["completions", "tcsh"]).expect(2);
    assert!(house.claw(&["man"]).expect(0).out.contains(".TH claw 1"));
    let pages = beside(&house, "pages");
    house.claw(&["man", "--dir", text(&pages)]).expect(0);
    let page = fs::read_to_string(pages.join("claw-audit-explain.1")).unwrap();
    assert!(page.contains("who wanted it"), "{page}");
    assert!(!house.home().exists(), "none of this needs a home");
}
