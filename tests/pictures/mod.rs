//! The pictures of the manual, made of what the real program shows: the phone in the README, and
//! panes of a terminal. Each is compared with the file in `docs/pictures/`; `UPDATE_PICTURES=1`
//! writes it. Must not know how a picture is drawn (`svg.rs`).
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod svg;

use std::fs;
use std::path::PathBuf;

use claw_test_kit::root;
use serde_json::json;

use crate::program::House;
use crate::pty::Pty;
use crate::telegram_model::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use svg::{Moment, phone, terminal};

/// Compares a picture with the one that the manual shows.
#[track_caller]
fn is_in_the_manual(name: &str, picture: &str) {
    let file: PathBuf = root().join("docs/pictures").join(name);
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        fs::write(&file, picture).unwrap();
    }
    let shown = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        shown == picture,
        "{} is not what the program shows now; look at it after `UPDATE_PICTURES=1 cargo test \
         --workspace --test whole pictures::`",
        file.display()
    );
}

/// What stands on the phone now, without what differs from run to run.
fn screen(rig: &Rig) -> String {
    let screen = rig.telegram.screen(rig.anna.id);
    // Late in the evening a question is open until tomorrow, which is written with its date.
    let time = regex::Regex::new(r"\b(?:[A-Z][a-z]{2} \d{4}-\d\d-\d\d )?\d\d:\d\d\b").unwrap();
    let screen = time.replace_all(&screen, "09:41").replace("until 09:41", "until 13:41");
    // A call that takes longer than a second, as any can on a busy machine, is shown meanwhile.
    let slow = regex::Regex::new("(?m)^claw: (⏳ running: |✓ )filesystem/edit_file.*\n").unwrap();
    let screen = slow.replace_all(&screen, "");
    let from = screen.find("Anna: Rent").unwrap();
    screen[from..].to_owned()
}

#[test]
fn the_phone_shows_a_question_a_tap_and_the_end() {
    let edit = json!({
        "path": "budget.md",
        "edits": [{"old_text": "Rent      780", "new_text": "Rent      820"}],
    });
    let rig = Rig::new([
        Answer::Turn(Turn::calls(&[Call::new("1", "filesystem__edit_file", &edit.to_string())])),
        Answer::text("Done: rent is 820 from now on. That leaves 410 a month."),
    ]);
    fs::create_dir_all(rig.house.workspace()).unwrap();
    let budget = "# Budget\nIncome   1900\nRent      780\nFood      400\n";
    fs::write(rig.house.workspace().join("budget.md"), budget).unwrap();
    let gateway = rig.start();
    rig.says("Rent is 820 from now on, put it into the budget");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    let asked = screen(&rig);
    rig.anna.taps(rig.anna.private(), "Allow once");
    rig.hears("Done: rent is 820");
    rig.telegram.wait_for("the question shows how it ended", |world| {
        let ended = |message: &crate::botapi::Message| message.text.starts_with("Allowed once");
        world.messages(rig.anna.private()).any(ended).then_some(())
    });
    rig.telegram.wait_for_button(rig.anna.id, "Undo 1 file");
    let done = screen(&rig);
    let said = asked.lines().next().unwrap();
    let moments = [
        Moment { seconds: 3, screen: said, tapped: None },
        Moment { seconds: 8, screen: &asked, tapped: None },
        Moment { seconds: 2, screen: &asked, tapped: Some("Allow once") },
        Moment { seconds: 7, screen: &done, tapped: None },
    ];
    is_in_the_manual("phone.svg", &phone(&moments));
    drop(gateway);
}

/// A pane from what the person typed on. What stands above tells of the stand-in for a model and of
/// the folder of the test, which mean nothing to a reader.
fn from_the_message(pane: &str) -> &str {
    let at = pane.find("\n> ").unwrap();
    &pane[at + 1..]
}

/// What a command shows in a terminal, with names in place of what differs from run to run. The
/// terminal is wide, so that no folder's name is broken before it is replaced.
fn pane(house: &House, typed: &str, shown: &str) -> String {
    let workspace = house.workspace().display().to_string();
    let shown = shown.replace('\r', "").replace(&workspace, "~/.claw/workspace");
    // A question's id may have no digit, so only its place tells it from a word.
    let question = regex::Regex::new(r"(?m)^\? ([a-z0-9]{10}) ").unwrap();
    let shown = match question.captures(&shown) {
        Some(found) => shown.replace(&found[1], "k3p9x2m7q1"),
        None => shown,
    };
    format!("$ {typed}\n{shown}")
}

#[test]
fn the_terminal_shows_an_undo() {
    let house = House::new();
    house.ask_parks("write notes/today.md: bread and milk");
    house.claw(&["approve", &house.waiting()]).expect(0);
    let mut undo = Pty::sized(&house, &["undo"], 24, 200);
    undo.shows("Do it?").types("y\n");
    let shown = undo.ends(0);
    is_in_the_manual("undo.svg", &terminal(&pane(&house, "claw undo", &shown)));
}

#[test]
fn the_terminal_shows_twelve_moves_as_one_question() {
    let moves: Vec<Call> = (1..=12)
        .map(|n| {
            let (from, to) = (format!("scan-{n}.pdf"), format!("{}/scan-{n}.pdf", 2014 + n / 4));
            let arguments = json!({"source": from, "destination": to}).to_string();
            Call::new(&n.to_string(), "filesystem__move", &arguments)
        })
        .collect();
    let provider = Threaded::start(Wire::OpenAi, [Answer::Turn(Turn::calls(&moves))]);
    let house = House::at("openai-compatible", &provider.base_url);
    for n in 1..=12 {
        house.write(&format!("workspace/scan-{n}.pdf"), "a scan");
    }
    house.claw(&["ask", "Sort these twelve scans by year"]).expect(3);
    let shown = Pty::sized(&house, &["approvals"], 40, 80).ends(0);
    is_in_the_manual("list.svg", &terminal(&pane(&house, "claw approvals", &shown)));
}

#[test]
fn the_panes_of_the_manual_are_those_that_the_console_is_compared_with() {
    for (name, pane) in [("question", "question-open-80"), ("difference", "diff-question-80")] {
        let file = root().join("tests/screens").join(format!("{pane}.txt"));
        let text = fs::read_to_string(file).unwrap();
        is_in_the_manual(&format!("{name}.svg"), &terminal(from_the_message(&text)));
    }
}
