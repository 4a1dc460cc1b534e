//! The prompt of the console says which mode the session has.

use crate::program::{House, eventually};
use crate::pty::Pty;

#[test]
fn the_prompt_says_the_mode() {
    let house = House::new();
    let mut pty = Pty::start(&house, &["chat"]);
    pty.shows("lists the commands").shows("> ");
    pty.types("/mode edits").shows("deleting asks").shows("edits> ");
    // Somebody else sets it while the prompt waits, which has room for the shorter one.
    house.claw_with_stdin(&["chat"], b"/mode ask\n").expect(0);
    pty.shows("Mode ask from now on: each change asks.").shows("     > ");
    pty.types("write a.txt: 1").shows("all edits, this session");
    answers(&mut pty, "e");
    pty.shows("Allowed: writing, editing and moving files").shows("edits> ");
    pty.shows("Created");
    pty.types("/mode ask").shows("each change asks.").shows("> ");
    pty.types("/quit").ends(0);
    let mut again = Pty::start(&house, &["chat", "--mode", "work"]);
    again.shows("work> ").types("/quit").ends(0);
}

/// Types an answer until it is not too soon for anybody to have read the question.
fn answers(pty: &mut Pty, key: &str) {
    let soon = |pty: &Pty| pty.text().matches("has only just come up").count();
    let taken = |pty: &Pty| pty.text().contains("Allowed: writing");
    loop {
        let before = soon(pty);
        pty.types(key);
        eventually("the answer is read", || taken(pty) || soon(pty) > before);
        if taken(pty) {
            return;
        }
    }
}
