//! `claw chat` that is stopped by Ctrl-Z and continued by its shell, which has set the terminal its
//! own way meanwhile.

use crate::program::{House, eventually};
use crate::pty::Pty;

#[test]
fn a_chat_that_goes_on_has_its_prompt_and_its_keys_and_the_question_stays_open() {
    let house = House::new();
    let mut shell = Pty::shell(&house);
    let claw = house.command(&[]).get_program().display().to_string();
    shell.types(&format!("'{claw}' chat")).shows("lists the commands").shows("> ");
    shell.types("write notes/a.md: hello").shows(" yes").shows("> ");
    for _ in 0..2 {
        shell.keys("\x1a").shows("Stopped").types("fg").shows("chat").shows("> ");
        eventually("the shell's line editing is in force no more", || !shell.echoes());
        // Ctrl-C takes away what was typed, and stops no turn. Behind that the terminal is given
        // back and taken again for the next line: before, a prompt may be that of the old line.
        shell.keys("half").shows("half").keys("\x03").shows("\x1b[?2004l").shows("> ");
    }
    eventually("it is answered, and the file is written", || {
        shell.types("y");
        house.in_workspace("notes/a.md").contains("hello")
    });
    assert!(!shell.text().contains("was closed"), "{}", shell.text());
    shell.types("/quit").shows("$ ");
    house.is_whole();
}
