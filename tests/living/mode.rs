//! The prompt of the console says which mode the session has.

use super::program::House;
use super::pty::Pty;

#[test]
fn the_prompt_says_the_mode() {
    let house = House::new();
    let mut pty = Pty::start(&house, &["chat"]);
    pty.shows("lists the commands").shows("> ");
    pty.types("/mode edits").shows("deleting asks");
    // The line that is open keeps its prompt; the next one has the new one.
    pty.types("").shows("edits> ");
    pty.types("/mode ask").shows("each change asks.");
    pty.types("/quit").ends(0);
    let mut again = Pty::start(&house, &["chat", "--mode", "work"]);
    again.shows("work> ").types("/quit").ends(0);
}
