//! What the commands say in terminals of 40 and 80 columns: no line runs over, and into a pipe
//! nothing is wrapped. Must not know what is said.

use crate::program::House;
use crate::pty::Pty;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

const WIDTHS: [u16; 2] = [40, 80];
/// What is tried here needs no questions.
const ALLOW: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"a test\"\n";

/// Lines that are wider than the terminal, apart from those that end in a long word: a path or an
/// address is never broken.
pub fn too_wide(text: &str, columns: u16) -> Vec<&str> {
    let columns = usize::from(columns);
    let ends_in_a_long_word =
        |line: &str| line.rsplit(' ').next().is_some_and(|word| word.chars().count() * 2 > columns);
    let is_wide = |line: &&str| line.chars().count() > columns && !ends_in_a_long_word(line);
    // A row that tells of work, which a slow step has, is drawn over and erased within its line.
    let rows = text.split(['\n', '\r']).map(|row| row.trim_start_matches("\u{1b}[K"));
    rows.filter(is_wide).collect()
}

#[track_caller]
fn fits(house: &House, args: &[&str], code: i32) {
    for columns in WIDTHS {
        let shown = Pty::sized(house, args, 40, columns).ends(code);
        let wide = too_wide(&shown, columns);
        assert!(wide.is_empty(), "{args:?} at {columns}: {wide:#?}\n{shown}");
    }
}

#[test]
fn what_a_turn_and_its_undo_say_fits() {
    let house = House::new();
    house.write("policy.toml", ALLOW);
    fits(&house, &["ask", "help"], 0);
    let words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen \
        fifteen sixteen";
    fits(&house, &["ask", &format!("write a.txt: {words} and then show a.txt")], 0);
    fits(&house, &["undo", "--list"], 0);
    fits(&house, &["undo", "--yes", "main:999"], 2);
    // Into a pipe a finding is one line.
    let doctor = house.claw(&["doctor"]);
    assert!(!too_wide(&doctor.out, 80).is_empty(), "{doctor:?}");
    fits(&house, &["doctor"], doctor.code.unwrap());
    let shown = house.claw(&["ask", "show a.txt"]).expect(0).out;
    assert!(shown.contains(words), "{shown}");
}

#[test]
fn what_waits_and_what_comes_back_fits() {
    let house = House::new();
    house.ask_parks("write `one two three` to a-file-with-a-name-of-some-length.txt");
    fits(&house, &["approvals"], 0);
    let id = house.waiting();
    fits(&house, &["approvals", &id], 0);
    house.claw(&["approve", &id]).expect(0);
    for columns in WIDTHS {
        let mut undo = Pty::sized(&house, &["undo"], 40, columns);
        undo.shows("Do it?").types("n\n");
        let shown = undo.ends(3);
        assert!(too_wide(&shown, columns).is_empty(), "at {columns}: {shown}");
    }
}

/// A patch of several files: each of them, and its lines, before there is no more room.
#[test]
fn what_a_patch_of_several_files_asks_fits_and_names_each_file() {
    let part =
        |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1,2 @@\n-old\n+new\n+more\n");
    let files = ["src/turn/transcript.rs", "src/turn/next.rs", "docs/architecture.md", "README.md"];
    let patch =
        files.map(part).concat() + "--- /dev/null\n+++ b/tests/patch.rs\n@@ -0,0 +1 @@\n+//!\n";
    for columns in WIDTHS {
        let call = Call::new("a", "filesystem__apply_patch", &json!({"patch": patch}).to_string());
        let answers = [Answer::Turn(Turn::calls(&[call])), Answer::text("Then not.")];
        let model = Threaded::start(Wire::OpenAi, answers);
        let house = House::at("openai-compatible", &model.base_url);
        let mut asked = Pty::sized(&house, &["ask", "patch them"], 40, columns);
        asked.shows("n no").types("n\n");
        let shown = asked.ends(0);
        assert!(too_wide(&shown, columns).is_empty(), "at {columns}: {shown}");
        let says = "Patch 5 files (9 lines added, 4 removed)";
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert!(words.join(" ").contains(says), "at {columns}: {shown}");
        for file in files {
            assert!(shown.contains(&format!("@ {file} (+2 -1)")), "{file} at {columns}: {shown}");
        }
        assert!(shown.contains("@ tests/patch.rs (new, +1)"), "at {columns}: {shown}");
        // The rest is on demand.
        assert!(shown.contains("more lines") && shown.contains("? all of it"), "{shown}");
    }
}

#[test]
fn what_init_asks_fits() {
    let house = House::bare();
    for columns in WIDTHS {
        let mut init = Pty::sized(&house, &["init"], 40, columns);
        init.shows("Number: ").types("4").shows("openai/v1): ").types("http://127.0.0.1:9/v1");
        init.shows("needs none): ").types("sk-of-nobody-1").shows("all the same: ").keys("\x03");
        let shown = init.ends(130);
        assert!(too_wide(&shown, columns).is_empty(), "at {columns}: {shown}");
    }
}

#[test]
fn what_an_install_into_a_client_asks_fits() {
    let house = House::bare().with("ANTHROPIC_API_KEY", "sk-of-nobody-1");
    let file = house.user_home().join(".cursor/mcp.json");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
    let install = ["serve", "--install", "cursor"];
    for columns in WIDTHS {
        let mut asked = Pty::sized(&house, &install, 40, columns);
        asked.shows("[y/N]").types("n\n");
        let shown = asked.ends(3);
        assert!(too_wide(&shown, columns).is_empty(), "at {columns}: {shown}");
    }
    let mut asked = Pty::sized(&house, &install, 40, 40);
    asked.shows("[y/N]").types("y\n");
    let shown = asked.ends(0);
    assert!(too_wide(&shown, 40).is_empty(), "{shown}");
    fits(&house, &install, 0);
    std::fs::write(&file, "{").expect("it can be written");
    fits(&house, &install, 2);
}
