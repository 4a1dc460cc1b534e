//! Notes that agents share, over the whole program: who shares what, whose a note is wherever it is
//! shown, and that nobody else's chat brings them.

use std::fs;

use crate::program::{House, eventually};
use crate::remembering::{MARK, PATIENT};
use crate::telegram_model::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
use serde_json::Value;

/// Two agents share, one keeps its notes to itself.
const SHARED: &str = "shared = true\n[agents.work]\n[agents.alone.memory]\nshared = false\n";

fn shared() -> String {
    format!("{PATIENT}{SHARED}")
}

fn notes(house: &House, agent: &str) -> Vec<Value> {
    house.claw(&["--agent", agent, "memory", "list", "--json"]).expect(0).rows()
}

fn subjects_and_owners(house: &House, agent: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    notes(house, agent).iter().map(|note| (text(&note["subject"]), text(&note["of"]))).collect()
}

#[test]
fn agents_that_share_read_one_folder_and_each_note_says_whose_it_is() {
    let model = Threaded::start(Wire::OpenAi, [Answer::text("0664 1234.")]);
    let house = House::at("openai-compatible", &model.base_url);
    house.claw(&["memory", "add", "Boiler: it is blue"]).expect(0);
    house.write("claw.toml", &shared());
    house.claw(&["memory", "add", "Anna's phone: 0664 1234"]).expect(0);
    house.claw(&["--agent", "work", "memory", "add", "Offer: it is 900"]).expect(0);
    house.claw(&["--agent", "alone", "memory", "add", "Diary: dear diary"]).expect(0);
    let file = fs::read_to_string(house.home().join("memory/offer.md")).unwrap();
    assert!(file.contains("source_agent: work\n"), "{file}");

    let named = |of: &[(&str, &str)]| -> Vec<(String, String)> {
        of.iter().map(|(subject, of)| ((*subject).to_owned(), (*of).to_owned())).collect()
    };
    let of_main = named(&[("Anna's phone", ""), ("Boiler", ""), ("Offer", "work")]);
    assert_eq!(subjects_and_owners(&house, "main"), of_main);
    let of_work = named(&[("Anna's phone", "main"), ("Boiler", "main"), ("Offer", "")]);
    assert_eq!(subjects_and_owners(&house, "work"), of_work);
    assert_eq!(subjects_and_owners(&house, "alone"), named(&[("Diary", "")]));

    let listed = house.claw(&["memory", "list"]).expect(0).out;
    assert!(
        listed.contains("Offer: it is 900, from agent work") && !listed.contains("agent main"),
        "{listed}"
    );
    let id = notes(&house, "main").into_iter().find(|note| note["of"] == "work").unwrap();
    let shown = house.claw(&["memory", "show", id["id"].as_str().unwrap()]).expect(0).out;
    assert!(shown.contains("(today), from agent work"), "{shown}");

    // What a model is given says it, and so does whoever shows what it was given.
    house.claw(&["--agent", "work", "ask", "Which number has Anna's phone?"]).expect(0);
    let asked = model.recorded().pop().unwrap().body["messages"].to_string();
    assert!(asked.contains(MARK) && asked.contains("from owner; from agent main"), "{asked}");
    let told = house.claw(&["--agent", "work", "sessions", "show", "main"]).expect(0).out;
    assert!(told.contains("from agent main"), "{told}");
    house.is_whole();
}

#[test]
fn a_check_says_who_shares_and_what_was_left_behind() {
    let house = House::new();
    house.write("claw.toml", "[agents.work]\n");
    house.claw(&["--agent", "work", "memory", "add", "Offer: it is 900"]).expect(0);
    house.write("claw.toml", &shared());
    assert!(notes(&house, "work").is_empty(), "it is not moved by itself");
    let check = house.claw(&["--agent", "work", "memory", "check"]).expect(0).out;
    assert!(check.contains("shared by the agents main, work; each says whose it is"), "{check}");
    assert!(check.contains("1 file in ") && check.contains("agents/work/memory is"), "{check}");
    let doctor = house.claw(&["doctor"]).out;
    assert!(doctor.contains("shared by the agents main, work"), "{doctor}");
    house.write("claw.toml", "[agents.work]\n");
    assert_eq!(notes(&house, "work").len(), 1, "nothing is lost");
    let check = house.claw(&["--agent", "work", "memory", "check"]).expect(0).out;
    assert!(!check.contains("shared"), "{check}");
}

#[test]
fn nobody_enters_the_notes_of_a_main_agent_that_keeps_its_own() {
    let house = House::new();
    house.write("claw.toml", "[agents.work.memory]\nshared = true\n");
    house.claw(&["memory", "add", "Secret: of main"]).expect(0);
    let refused = house.claw(&["--agent", "work", "memory", "list"]);
    refused.expect_mistake(&["the main agent, which does not share its own", "shared = true"]);
    assert_eq!(notes(&house, "main").len(), 1);
}

/// Sharing begins while the gateway runs, in a chat alone with the owner and in a group.
#[test]
fn a_group_gets_no_note_of_any_agent_and_the_owner_gets_those_of_all() {
    let rig = Rig::new((0..3).map(|_| Answer::text("Noted.")));
    let bob = rig.telegram.user("Bob");
    let group = rig.telegram.supergroup("Rent", &[&rig.anna, &bob]);
    let chats = format!("[telegram]\nallowed_chats = [{}, {group}]\n", rig.anna.id);
    let write = |memory: &str| rig.house.write("claw.toml", &format!("{memory}{chats}"));
    write(&shared());
    let added = ["--agent", "work", "memory", "add", "Flat: the flat costs 900 a month"];
    rig.house.claw(&added).expect(0);
    write(&format!("{PATIENT}[agents.work]\n"));
    let mut gateway = rig.house.command(&["gateway"]);
    gateway.env_remove("CLAW_ALLOWED_CHATS");
    let _gateway = rig.house.begin(gateway);
    rig.anna.says(rig.anna.private(), "hello");
    rig.hears("Noted.");
    write(&shared());
    rig.waits_for("memory.shared now true");
    let asked = |count: usize| {
        eventually("the model is asked", || rig.model.recorded().len() == count);
        rig.telegram.wait_all_confirmed();
    };
    rig.anna.says(group, "@claw_test_bot what does the flat cost?");
    asked(2);
    rig.anna.says(rig.anna.private(), "what does the flat cost?");
    asked(3);
    let bodies: Vec<String> =
        rig.model.recorded().into_iter().map(|one| one.body["messages"].to_string()).collect();
    assert!(!bodies[1].contains("900"), "{}", bodies[1]);
    assert!(
        bodies[2].contains("> Flat: the flat costs 900")
            || bodies[2].contains("> the flat costs 900"),
        "{}",
        bodies[2]
    );
    assert!(bodies[2].contains("from agent work"), "{}", bodies[2]);
    rig.says("/memory flat");
    let listed = rig.hears("from agent").text;
    assert!(listed.contains("from agent work"), "{listed}");
}
