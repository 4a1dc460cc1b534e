//! Heartbeats in `claw schedule list` and `/schedule`, and those of another agent that
//! are taken in.

use crate::program::House;
use crate::telegram_model::Rig;
use serde_json::json;

const MORNING: &str = "time_zone = \"Europe/Berlin\"\n";
const ENTRY: &str = "[morning]\nat = [\"07:30\"]\nprompt = \"What matters *today*?\"\n";

fn of_others() -> String {
    json!({"heartbeats": [
        {"name": "Inbox watch", "schedule": "*/30 8-21 * * *", "prompt": "Look at the mail.",
         "model": "tiny"},
        {"name": "rent", "cron": "0 9 1 * *", "prompt": "Pay the rent."},
        {"name": "morning", "cron": "0 8 * * *", "prompt": "Another one."},
        {"name": "old", "every": "1h", "prompt": "x", "enabled": false},
    ]})
    .to_string()
}

#[test]
fn what_comes_by_itself_is_listed_with_its_zone_and_what_is_left_of_its_day() {
    let rig = Rig::new([]);
    rig.house.write("claw.toml", MORNING);
    rig.house.write("heartbeats.toml", ENTRY);
    let listed = rig.house.claw(&["schedule", "list"]).expect(0);
    let lines: Vec<&str> = listed.out.lines().collect();
    assert_eq!(lines[0], "heartbeat morning: What matters *today*?");
    assert!(lines[1].ends_with(" 07:30 (Europe/Berlin), at 07:30"), "{}", lines[1]);
    assert_eq!(lines[2].trim(), "left today: 20 requests, 200000 tokens");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:?}");
    assert!(!listed.err.contains("Nothing is scheduled"), "{}", listed.err);
    let row = rig.house.claw(&["schedule", "list", "--json"]).expect(0).json();
    assert_eq!((&row["heartbeat"], &row["requests_left"]), (&json!("morning"), &json!(20)));
    let gateway = rig.start();
    rig.says("/schedule");
    let told = rig.waits_for("Heartbeats");
    for words in ["Nothing is scheduled.", "morning: ", " 07:30 (Europe/Berlin), at 07:30; left"] {
        assert!(told.text.contains(words), "{words}: {}", told.text);
    }
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn heartbeats_of_others_are_shown_taken_in_and_what_is_lost_is_named() {
    let house = House::new();
    house.write("claw.toml", MORNING);
    house.write("heartbeats.toml", ENTRY);
    let file = house.home().join("heartbeats.json");
    std::fs::write(&file, of_others()).unwrap();
    let file = file.display().to_string();
    let before = std::fs::read_to_string(house.home().join("heartbeats.toml")).unwrap();
    let asked = house.claw(&["schedule", "import-heartbeats", &file]);
    assert!(asked.err.contains("nobody can be asked here"), "{}", asked.err);
    let now = || std::fs::read_to_string(house.home().join("heartbeats.toml")).unwrap();
    assert_eq!(now(), before, "nothing without a yes");
    let done = house.claw(&["schedule", "import-heartbeats", &file, "--yes"]).expect(0);
    for words in [
        "Inbox watch:",
        "every = \"30m\"",
        "left out: `model` has no counterpart here",
        "rent: not taken in, because its pattern `0 9 1 * *` names days of the month",
        "`claw schedule add --cron '0 9 1 * *' --text …` makes a job of it",
        "morning: not taken in, because `heartbeats.toml` has a `[morning]` already",
        "old: not taken in, because it is switched off there",
    ] {
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
    assert!(done.out.contains("Taken in: 1 of 4 heartbeats"), "{}", done.out);
    assert!(now().starts_with(before.trim_end()), "what was there stays: {}", now());
    let listed = house.claw(&["schedule", "list"]).expect(0).out;
    assert!(listed.contains("heartbeat inbox-watch: Look at the mail."), "{listed}");
    assert!(listed.contains("every 30 min, from 08:00 to 22:00"), "{listed}");
    house.write("odd.json", "{\"a\": 1}");
    let odd = house.home().join("odd.json").display().to_string();
    let refused = house.claw(&["schedule", "import-heartbeats", &odd, "--yes"]).expect(2);
    assert!(refused.err.contains("it has no heartbeats"), "{}", refused.err);
}
