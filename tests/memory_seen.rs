//! What its owner sees of the memory where something is not as it should be: two notes of one name,
//! files that have to be mended, an endpoint that is away, and input that cannot be taken.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;

use crate::endpoint::MODEL;
use crate::program::House;
use crate::pty::Pty;
use crate::remembering::{note, remembers};
use crate::telegram_model::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};

const COPY: &str = "good.sync-conflict-20261123-101112-ABCDEFG.md";

/// A note that is in order, and one of each kind that is not.
fn files(house: &House) {
    fs::create_dir_all(house.home().join("memory")).unwrap();
    house.write("memory/good.md", "---\nid: m1\n---\nThe boiler is blue.\n");
    house.write(&format!("memory/{COPY}"), "---\nid: m1\n---\nThe boiler is red.\n");
    house.write("memory/torn.md", "---\nid: m2\nsubject: [\n---\nThe boiler is old.\n");
    house.write("memory/large.md", &"x".repeat(70_000));
}

/// An endpoint at a port on which nobody listens.
fn endpoint_that_is_away(house: &House) {
    let url = "http://127.0.0.1:1/v1";
    let toml = format!("[memory.embeddings]\nurl = \"{url}\"\nmodel = \"{MODEL}\"\n");
    house.write("claw.toml", &toml);
}

#[test]
fn two_notes_of_one_name_are_a_list_to_choose_from() {
    let rig = Rig::new([]);
    let gateway = rig.start();
    for text in ["Anna: Lives in Graz.", "Anna: Plays chess."] {
        rig.house.claw(&["memory", "add", text]).expect(0);
    }
    rig.says("/memory Anna");
    let heard = rig.hears("2 notes are named").text;
    for part in ["Lives in Graz.", "Plays chess.", "/memory ID"] {
        assert!(heard.contains(part), "{part}: {heard}");
    }
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn what_has_to_be_mended_is_marked_in_every_list_and_named_by_the_doctor() {
    let rig = Rig::new([]);
    files(&rig.house);
    let gateway = rig.start();
    rig.says("/memory");
    let heard = rig.hears("To be mended by hand").text;
    for part in [COPY, "a conflict copy", "large.md", "70000 bytes", "torn.md", "line 3"] {
        assert!(heard.contains(part), "{part}: {heard}");
    }
    drop(gateway);
    let listed = rig.house.claw(&["memory"]).expect(0).out;
    for part in ["! a conflict copy, which", "! mend it by hand: it has 70000 bytes", "no YAML"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    assert_eq!(listed.matches("  ! ").count(), 3, "{listed}");
    for columns in [40_u16, 80] {
        let shown = Pty::sized(&rig.house, &["memory"], 40, columns).ends(0);
        assert!(shown.lines().all(|line| line.trim_end().chars().count() <= columns.into()));
        assert_eq!(shown.matches("  ! ").count(), 3, "{shown}");
    }
    let found = rig.house.claw(&["doctor", "--json"]).rows();
    let memory = found.iter().find(|row| row["id"] == "memory").unwrap();
    assert_eq!((&memory["ok"], &memory["warning"]), (&true.into(), &true.into()), "{memory}");
    let text = memory["text"].as_str().unwrap();
    assert!(text.contains("`claw memory check` names 2 more."), "{text}");
}

#[test]
fn an_endpoint_that_is_away_is_named_by_the_doctor_and_below_a_search() {
    let house = House::new();
    files(&house);
    for name in ["torn.md", "large.md", COPY] {
        fs::remove_file(house.home().join("memory").join(name)).unwrap();
    }
    endpoint_that_is_away(&house);
    let found = house.claw(&["doctor", "--json"]).rows();
    let memory = found.iter().find(|row| row["id"] == "memory").unwrap();
    assert_eq!(memory["warning"], true, "{memory}");
    assert!(memory["text"].as_str().unwrap().contains("cannot be reached"), "{memory}");
    // Words find it, and its reader is told that nothing else has looked.
    house.write("claw.toml", &{
        let toml = fs::read_to_string(house.home().join("claw.toml")).unwrap();
        format!("{toml}use = \"always\"\n")
    });
    let listed = house.claw(&["memory", "list", "boiler"]).expect(0);
    assert!(listed.out.contains("The boiler is blue."), "{listed:?}");
    assert!(listed.err.contains("Found by words alone: "), "{listed:?}");
}

#[test]
fn a_setting_is_named_where_it_stands() {
    let house = House::new();
    files(&house);
    let toml = format!("[memory.embeddings]\nurl = \"http://10.1.2.3/v1\"\nmodel = \"{MODEL}\"\n");
    house.write("claw.toml", &toml);
    let said = house.claw(&["memory", "check"]).expect(0).out;
    assert!(said.contains("`allow_http = true` in `[memory.embeddings]` of claw.toml"), "{said}");
    assert!(!said.contains("--embeddings"), "{said}");
}

#[test]
fn input_that_cannot_be_taken_is_refused_whole() {
    let house = House::new();
    let large = vec![b'x'; 1024 * 1024 + 1];
    let refused = house.claw_with_stdin(&["memory", "add", "-"], &large).expect_mistake(&["1 MiB"]);
    assert!(refused.err.contains("nothing was remembered"), "{refused:?}");
    house.claw_with_stdin(&["memory", "add", "-"], b"\xff\xfe").expect_mistake(&["not UTF-8"]);
    house.claw_with_stdin(&["memory", "add", "-"], b"The boiler is blue.").expect(0);
    let file = house.user_home().join("empty.md");
    let name = file.display().to_string();
    for (text, why) in [("", "it is empty"), ("# Only a heading\n", "only headings or comments")] {
        fs::write(&file, text).unwrap();
        house.claw(&["memory", "import", &name]).expect_mistake(&[why, "nothing to remember"]);
    }
    assert_eq!(house.claw(&["memory", "list", "--json"]).expect(0).rows().len(), 1);
}

#[test]
fn the_notes_that_a_turn_was_given_stand_in_its_prompt() {
    let model = Threaded::start(Wire::OpenAi, ["Hello.", "In Graz."].map(Answer::text));
    let house = House::at("openai-compatible", &model.base_url);
    remembers(&house);
    note(&house, "anna", "kind: person\nsource: owner\n", "Lives in Graz.");
    house.claw(&["ask", "Hello!"]).expect(0);
    house.claw(&["ask", "Where did Anna used to live?"]).expect(0);
    let of = |turn: &str| {
        let args = ["sessions", "show", "main", "--prompt", turn, "--json"];
        house.claw(&args).expect(0).json()
    };
    assert_eq!(of("1")["notes"].as_array().unwrap().len(), 0, "{}", of("1"));
    let second = of("newest");
    assert_eq!(second["notes"][0]["id"], "anna", "{second}");
    assert_eq!(second["notes"][0]["why"], "it holds anna, live", "no word of the question itself");
    assert!(second["conversation"]["notes"].as_u64().unwrap() > 0, "{second}");
    let shown = house.claw(&["sessions", "show", "main", "--prompt", "newest"]).expect(0).out;
    assert!(
        shown.contains("1 new in this turn") && shown.contains("Notes of the memory:"),
        "{shown}"
    );
    assert!(shown.contains("anna"), "{shown}");
    house.is_whole();
}
