//! What `[box]` in `claw.toml` opens to commands, through the whole program: a folder at the level
//! that fits and at no lower one, and what cannot be opened.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]

use crate::program;
use std::fs;
use std::os::unix::fs::symlink;

use crate::program::{House, eventually, outcomes};

const ALLOW: &str =
    "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";

/// A home with folders in it, of which some are opened.
fn house() -> House {
    let house = House::new();
    for name in ["Documents", "Downloads", "far", "closed", ".ssh"] {
        fs::create_dir(house.user_home().join(name)).unwrap();
        fs::write(house.user_home().join(name).join("letter"), format!("the {name} letter\n"))
            .unwrap();
    }
    symlink("far", house.user_home().join("near")).unwrap();
    house.write("policy.toml", ALLOW);
    house
}

/// What the command printed and what is said of it. `at` is a level in the words of the demo.
fn run(house: &House, command: &str, at: &str) -> String {
    house.claw(&["ask", &format!("run `{command}`{at}")]).expect(0);
    let outcome = outcomes(&house.events("main")).pop().unwrap();
    assert_eq!(outcome["kind"], "ended", "the command did not even run: {outcome}");
    outcome["output"]["text"].as_str().unwrap().to_owned()
}

const READ: &str = " to look";
const WRITE: &str = "";

#[test]
fn an_opened_folder_is_read_at_every_level_and_changed_from_write_on_if_it_was_opened_for_that() {
    let house = house();
    house.write(
        "claw.toml",
        "[box]\nopen_read = [\"~/Documents\", \"~/near\"]\nopen_write = [\"~/Downloads\"]\n",
    );
    if !house.is_boxed() {
        return;
    }
    let at = house.user_home().display().to_string();
    for at in [READ, WRITE] {
        let said = run(&house, "cat ~/Documents/letter ~/Downloads/letter ~/near/letter", at);
        for name in ["Documents", "Downloads", "far"] {
            assert!(said.contains(&format!("the {name} letter")), "{at}: {said}");
        }
    }
    // By the real path, too.
    assert!(run(&house, &format!("cat {at}/far/letter"), READ).contains("the far letter"));
    let said = run(&house, "echo x > ~/Downloads/new", READ);
    assert!(said.contains("needs: \"write\""), "{said}");
    assert!(!house.user_home().join("Downloads/new").exists());
    run(&house, "echo x > ~/Downloads/new", WRITE);
    assert_eq!(fs::read_to_string(house.user_home().join("Downloads/new")).unwrap(), "x\n");
    let said = run(&house, &format!("echo x > {at}/Documents/new"), WRITE);
    assert!(said.contains("for reading alone") && said.contains("open_write"), "{said}");
    assert!(!house.user_home().join("Documents/new").exists());
    // Nothing else has opened with them, and what would open it is said.
    for path in ["~/closed/letter", &format!("{at}/closed/letter")] {
        let said = run(&house, &format!("cat {path}"), WRITE);
        assert!(!said.contains("the closed letter"), "{said}");
        assert!(said.contains("open_read = [\"~/closed\"]"), "{said}");
    }
    let said = run(&house, &format!("cat {at}/.ssh/letter"), WRITE);
    assert!(!said.contains("the .ssh letter") && said.contains("cannot be opened"), "{said}");
}

#[test]
fn an_undo_leaves_an_opened_folder_as_it_is() {
    let house = house();
    house.write("claw.toml", "[box]\nopen_write = [\"~/Downloads\"]\n");
    if !house.is_boxed() {
        return;
    }
    run(&house, "echo x > ~/Downloads/new; echo x > inside", WRITE);
    assert!(house.workspace().join("inside").exists());
    house.claw(&["undo", "--yes"]).expect(0);
    assert!(!house.workspace().join("inside").exists());
    assert!(house.user_home().join("Downloads/new").exists());
}

#[test]
fn a_folder_that_vanishes_keeps_no_command_from_running() {
    let house = house();
    house.write("claw.toml", "[box]\nopen_write = [\"~/Downloads\"]\nopen_read = [\"~/far\"]\n");
    if !house.is_boxed() {
        return;
    }
    let ended = || -> i64 {
        let count = "SELECT count(*) FROM calls WHERE state = 'ended'";
        house.db().query_row(count, [], |row| row.get(0)).unwrap()
    };
    house.claw(&["ask", "hello"]).expect(0);
    let mut chat = house.start(&["chat"]);
    chat.types(b"run `mkdir a`\n");
    eventually("the first command has ended", || ended() == 1);
    for name in ["Downloads", "far"] {
        fs::remove_dir_all(house.user_home().join(name)).unwrap();
    }
    for (number, command) in ["run `mkdir b`", "run `ls` to look"].iter().enumerate() {
        chat.types(format!("{command}\n").as_bytes());
        eventually("the next command has ended", || ended() == number as i64 + 2);
    }
    assert!(house.workspace().join("b").exists());
    chat.closes_input();
    drop(chat.ends());
    house.claw(&["ask", "hello"]).expect_mistake(&["far", "there is no such folder"]);
    for name in ["Downloads", "far"] {
        fs::create_dir(house.user_home().join(name)).unwrap();
    }
    for outcome in &outcomes(&house.events("main"))[1..] {
        let said = outcome["output"]["text"].as_str().unwrap();
        assert!(said.contains("exit code 0"), "{said}");
        assert!(
            said.contains("Downloads is open to commands, and is not there any more"),
            "{said}"
        );
    }
}

#[test]
fn what_cannot_be_opened_stops_the_start_with_one_sentence_and_a_next_step() {
    let house = house();
    house.claw(&["ask", "hello"]).expect(0);
    let inside = house.workspace().join("below").display().to_string();
    fs::create_dir(&inside).unwrap();
    for (section, named) in [
        ("open_read = [\"~/gone\"]", &["box.open_read", "no such folder", "Make the folder"][..]),
        ("open_write = [\"~/.ssh\"]", &["box.open_write", "credentials", "Name another folder"]),
        ("open_read = [\"~\"]", &["your whole home", "Name the folders in it"]),
        ("open_read = [\"~/.claw\"]", &["credentials or of claw", "Name another folder"]),
        ("open_read = [\"Documents\"]", &["no absolute path", "~/FOLDER"]),
        (&format!("open_write = [\"{inside}\"]"), &["workspace", "Take it out"]),
        ("open_raed = []", &["open_raed", "line 2"]),
    ] {
        house.write("claw.toml", &format!("[box]\n{section}\n"));
        let refused = house.claw(&["ask", "hello"]).expect_mistake(named);
        assert_eq!(refused.err.trim_end().lines().count(), 1, "{refused:?}");
        let doctor = house.claw(&["doctor"]).expect(1);
        assert!(named.iter().all(|word| doctor.out.contains(word)), "{doctor:?}");
    }
    house.write("claw.toml", "[box]\nopen_read = [\"~/near\"]\nopen_write = [\"~/Downloads\"]\n");
    let doctor = house.claw(&["doctor"]).out;
    for words in ["~/near: every command reads it", "~/Downloads: every command", "box.open_write"]
    {
        assert!(doctor.contains(words), "{doctor}");
    }
}

/// A chat that stays, so that one server of commands sees what is opened and closed.
struct Talk<'a> {
    house: &'a House,
    chat: program::Running,
    ended: i64,
}

impl<'a> Talk<'a> {
    fn begin(house: &'a House) -> Self {
        house.claw(&["ask", "hello"]).expect(0);
        Self { house, chat: house.start(&["chat"]), ended: 0 }
    }

    /// What became of the command, in the same process as all before it.
    fn run(&mut self, command: &str, at: &str) -> String {
        self.chat.types(format!("run `{command}`{at}\n").as_bytes());
        self.ended += 1;
        let count = "SELECT count(*) FROM calls WHERE state = 'ended'";
        let ended = || -> i64 { self.house.db().query_row(count, [], |row| row.get(0)).unwrap() };
        eventually("the command has ended", || ended() == self.ended);
        eventually("its result is in the log", || {
            outcomes(&self.house.events("main")).len() as i64 == self.ended
        });
        let outcome = outcomes(&self.house.events("main")).pop().unwrap();
        outcome["output"]["text"].as_str().unwrap().to_owned()
    }
}

/// Where no folder can be opened, that is said.
fn opens_folders(house: &House) -> bool {
    let opens = house.holds_every_level();
    if !opens {
        house.claw(&["open", "~/Documents"]).expect_mistake(&["no namespaces", "[box]"]);
    }
    opens
}

#[test]
fn a_folder_is_open_for_a_time_to_what_starts_meanwhile_and_closed_again() {
    let house = house();
    if !opens_folders(&house) {
        return;
    }
    let mut talk = Talk::begin(&house);
    let closed = talk.run("cat ~/Documents/letter", READ);
    assert!(closed.contains("claw open ~/Documents --for 1h"), "{closed}");
    let opened = house.claw(&["open", "~/Documents", "--for", "30m"]).expect(0).out;
    assert!(opened.contains("every command reads it") && opened.contains("claw close"), "{opened}");
    house.claw(&["open", "~/Downloads", "--write"]).expect(0);
    for words in [&["open"][..], &["grants"], &["doctor"]] {
        let listed = house.claw(words).out;
        assert!(
            listed.contains("Documents") && listed.contains("every command reads it"),
            "{listed}"
        );
    }
    // The server of commands is the same as before.
    for at in [READ, WRITE] {
        let said = talk.run("cat ~/Documents/letter ~/Downloads/letter", at);
        assert!(said.contains("the Documents letter\nthe Downloads letter"), "{at}: {said}");
    }
    let said = talk.run("echo x > ~/Downloads/new", READ);
    assert!(said.contains("needs: \"write\""), "{said}");
    talk.run("echo x > ~/Downloads/new", WRITE);
    assert_eq!(fs::read_to_string(house.user_home().join("Downloads/new")).unwrap(), "x\n");
    let documents = house.user_home().join("Documents").display().to_string();
    let change = format!("chmod 777 {documents}/letter; echo x > {documents}/new");
    let said = talk.run(&change, WRITE);
    assert!(said.contains("for reading alone"), "{said}");
    assert!(!house.user_home().join("Documents/new").exists());
    // Nothing has opened with them.
    assert!(!talk.run("cat ~/closed/letter", WRITE).contains("the closed letter"));
    house.claw(&["close", "~/Downloads"]).expect(0);
    let said =
        talk.run("cat ~/Downloads/letter; echo y > ~/Downloads/new; cat ~/Documents/letter", WRITE);
    assert!(
        !said.contains("the Downloads letter") && said.contains("the Documents letter"),
        "{said}"
    );
    let over = "UPDATE grants SET expires_ms = 1 WHERE revoked_ms IS NULL AND tool = 'opening'";
    assert_eq!(house.db().execute(over, []).unwrap(), 1);
    assert!(!talk.run("cat ~/Documents/letter", WRITE).contains("the Documents letter"));
    assert_eq!(fs::read_to_string(house.user_home().join("Downloads/new")).unwrap(), "x\n");
    talk.chat.ends().expect(0);
    house.claw(&["close", "~/Documents"]).expect_mistake(&["~/Documents is not open"]);
    house.claw(&["open", "~/Documents"]).expect(0);
    house.claw(&["panic", "on"]).expect(0);
    house.claw(&["panic", "off"]).expect(0);
    assert_eq!(house.claw(&["open"]).expect(0).out, "", "the stop switch closes it");
    house.is_whole();
}

#[test]
fn what_must_stay_closed_cannot_be_opened_for_a_time_either() {
    let house = house();
    if !opens_folders(&house) {
        return;
    }
    house.claw(&["ask", "hello"]).expect(0);
    symlink(".ssh", house.user_home().join("keys")).unwrap();
    for (folder, named) in [
        ("~/.ssh", "credentials or of claw"),
        ("~/keys", "credentials or of claw"),
        ("~/.claw", "credentials or of claw"),
        ("~/.claw/workspace", "holds the workspace or lies in it"),
        ("~", "your whole home"),
        ("/", "your whole home"),
        ("~/gone", "no such folder"),
        ("./Documents/letter", "no such folder"),
    ] {
        house.claw(&["open", folder]).expect_mistake(&[named]);
    }
    house.claw(&["open", "docker", "--write"]).expect_mistake(&["--write is for folders"]);
    house.claw(&["open", "Documents"]).expect(2);
    house.claw(&["close", "~/far"]).expect_mistake(&["~/far is not open"]);
    house.write("claw.toml", "[box]\nopen_read = [\"~/near\"]\n");
    house.claw(&["close", "~/near"]).expect_mistake(&["box.open_read"]);
    // A folder that became a place of credentials meanwhile is refused when it is used.
    house.claw(&["open", "~/closed"]).expect(0);
    fs::remove_dir_all(house.user_home().join("closed")).unwrap();
    symlink(".ssh", house.user_home().join("closed")).unwrap();
    let said = run(&house, "cat ~/closed/letter", READ);
    assert!(!said.contains("the .ssh letter"), "{said}");
    assert!(said.contains("closed is open for a time, and this command has it not"), "{said}");
    fs::remove_file(house.user_home().join("closed")).unwrap();
    symlink("Documents", house.user_home().join("closed")).unwrap();
    let said = run(&house, "cat ~/Documents/letter", READ);
    assert!(!said.contains("the Documents letter") && said.contains("leads elsewhere"), "{said}");
}
