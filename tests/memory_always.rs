//! What every message brings along (`MEMORY.md`), over the whole program: proposed and
//! tapped like a note, in the words that are shown, told when it is full, and never without
//! its earlier version.

use std::fs;

use crate::program::{House, eventually};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use serde_json::{Value, json};

fn proposes(arguments: Value) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("1", "memory__propose", &arguments.to_string())]))
}

fn always(text: &str, line: Option<&str>) -> Answer {
    let mut arguments = json!({"subject": "tea", "text": text, "where": "always"});
    if let Some(line) = line {
        arguments["replaces_line"] = json!(line);
    }
    proposes(arguments)
}

fn memory(house: &House) -> String {
    fs::read_to_string(house.home().join("persona/MEMORY.md")).unwrap_or_default()
}

/// Taps, and gives what the person reads at once.
fn taps(rig: &Rig, label: &str) -> String {
    let tap = rig.anna.taps(rig.anna.id, label);
    rig.telegram.wait_answered(&tap).0
}

#[test]
fn a_line_comes_changes_and_goes_by_a_tap_and_what_it_was_stays_in_the_history() {
    let rig = Rig::new([
        always("Likes green tea.", None),
        Answer::text("First."),
        always("Likes black tea.", Some("Likes green tea.")),
        Answer::text("Second."),
        always("", Some("By hand.")),
        Answer::text("Third."),
    ]);
    rig.house.write("persona/MEMORY.md", "- By hand.\n");
    let gateway = rig.start();
    rig.says("I like green tea");
    rig.hears("First.");
    rig.telegram.wait_for_button(rig.anna.id, "✅ Remember");
    let screen = rig.telegram.screen(rig.anna.id);
    for line in ["+Likes green tea.", "MEMORY.md is then 30 of 4096 bytes full"] {
        assert!(screen.contains(line), "{line}: {screen}");
    }
    assert_eq!(memory(&rig.house), "- By hand.\n", "nothing without a tap");
    assert_eq!(taps(&rig, "✅ Remember"), "Remembered.");
    rig.hears("Remembered for every prompt");
    assert_eq!(memory(&rig.house), "- By hand.\n- Likes green tea.\n");
    rig.says("no, black tea");
    rig.hears("Second.");
    let asked = json!(rig.model.recorded().last().unwrap().body).to_string();
    assert!(asked.contains("Likes green tea."), "every prompt holds it: {asked}");
    rig.telegram.wait_for_button(rig.anna.id, "✅ Remember");
    let screen = rig.telegram.screen(rig.anna.id);
    for line in ["-Likes green tea.", "+Likes black tea.", "Change a line that every prompt holds"]
    {
        assert!(screen.contains(line), "{line}: {screen}");
    }
    // What nobody has in a request before it is changed is kept, too.
    let by_hand = "- By hand.\n- Likes green tea.\n- Later.\n";
    assert_eq!(taps(&rig, "✅ Remember"), "Remembered.");
    eventually("the line is another one", || {
        memory(&rig.house) == "- By hand.\n- Likes black tea.\n"
    });
    rig.house.write("persona/MEMORY.md", by_hand);
    rig.says("/remember --always Sails on Sundays.");
    rig.hears("Sails on Sundays.");
    assert_eq!(memory(&rig.house), format!("{by_hand}- Sails on Sundays.\n"));
    rig.says("/remember —always sails on sundays");
    rig.hears("Remembered already");
    rig.says("forget what I wrote by hand");
    rig.hears("Third.");
    rig.telegram.wait_for_button(rig.anna.id, "✅ Take it out");
    assert_eq!(taps(&rig, "✅ Take it out"), "Taken out.");
    rig.hears("Taken out of MEMORY.md");
    assert!(!memory(&rig.house).contains("By hand."));
    drop(gateway);
    let history = rig.house.claw(&["persona", "history", "--json"]).expect(0).rows();
    let versions: Vec<String> = history
        .iter()
        .filter(|row| row["name"] == "MEMORY.md" || row["file"] == "MEMORY.md")
        .map(|row| row["version"].as_str().unwrap().to_owned())
        .map(|digest| rig.house.claw(&["persona", "show", &digest]).expect(0).out)
        .collect();
    for was in ["- By hand.\n- Likes green tea.", by_hand.trim()] {
        assert!(versions.iter().any(|text| text.trim() == was), "{was}: {versions:?}");
    }
    rig.house.is_whole();
}

#[test]
fn a_full_file_is_told_to_the_owner_when_it_happens_and_a_skip_is_told() {
    let rig = Rig::new([
        always("Likes green tea.", None),
        always("Likes black tea.", None),
        Answer::text("No room, it seems."),
        proposes(json!({"subject": "Bob", "text": "Sails."})),
        Answer::text("And this."),
    ]);
    rig.house.write("persona/MEMORY.md", &format!("- {}\n", "x".repeat(4090)));
    let gateway = rig.start();
    rig.says("I like green tea");
    rig.hears("No room, it seems.");
    let screen = rig.telegram.screen(rig.anna.id);
    assert_eq!(screen.matches("MEMORY.md is full").count(), 1, "once a turn: {screen}");
    rig.says("/remember --always Sails.");
    rig.waits_for("Not done: Remember in every prompt: Sails.");
    rig.says("Bob sails");
    rig.hears("And this.");
    rig.telegram.wait_for_button(rig.anna.id, "❌ Skip");
    assert_eq!(taps(&rig, "❌ Skip"), "Skipped.");
    rig.hears("Skipped: ");
    assert_eq!(memory(&rig.house).len(), 4093);
    drop(gateway);
    rig.house.is_whole();
}

/// A change by hand between the question and the tap ends the proposal, and says so.
#[test]
fn what_changed_since_it_was_shown_ends_the_proposal_and_the_command_line_adds_a_line() {
    let rig = Rig::new([always("Likes tea.", None), Answer::text("Asked.")]);
    let house = &rig.house;
    house.claw(&["ask", "I like tea"]).expect(0);
    house.write("persona/MEMORY.md", "- By hand.\n");
    let refused = house.claw(&["approve", &house.waiting()]);
    assert!(refused.err.contains("changed by somebody"), "{refused:?}");
    assert!(refused.err.contains("this proposal is over"), "{refused:?}");
    assert_eq!(house.claw(&["memory", "list", "--proposals", "--json"]).expect(0).out, "");
    assert_eq!(memory(house), "- By hand.\n");
    let added = house.claw(&["memory", "add", "--always", "Likes", "tea."]).expect(0);
    assert!(added.out.starts_with("Remembered for every prompt, in MEMORY.md"), "{added:?}");
    assert_eq!(memory(house), "- By hand.\n- Likes tea.\n");
    let shown = house.claw(&["persona", "history"]).expect(0);
    assert!(shown.out.contains("MEMORY.md"), "{shown:?}");
    eventually("the notes have nothing of it", || {
        house.claw(&["memory", "list", "--json"]).expect(0).out.is_empty()
    });
    house.is_whole();
}
