//! What claw recalls for a message, through the whole program, with the real memory server: what a
//! note says reaches the request, behind the bytes of the request before, once, and only for the
//! owner; and a memory that fails stops nothing.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program;
use crate::program::House;
use crate::remembering;
use crate::remembering::{MARK, PATIENT, note, remembers, servers};
use crate::telegram_model::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
use serde_json::{Value, json};

fn house(answers: usize) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, (0..answers).map(|_| Answer::text("Yes.")));
    let house = House::at("openai-compatible", &model.base_url);
    remembers(&house);
    (house, model)
}

/// The messages of each request, as bytes without the end of the list.
fn messages(model: &Threaded) -> Vec<String> {
    let text = |mut body: Value| {
        let mut messages = body["messages"].take();
        // Of the system prompt another test says that it stays what it was.
        messages.as_array_mut().unwrap().remove(0);
        let messages = messages.to_string();
        messages.strip_suffix(']').unwrap().to_owned()
    };
    model.recorded().into_iter().map(|one| text(one.body)).collect()
}

fn recalls(house: &House) -> Vec<Value> {
    let is_recall = |row: &Value| row["kind"] == "received" && row["body"]["tool"] == "recall";
    house.audit().into_iter().filter(is_recall).collect()
}

#[test]
fn a_note_reaches_the_model_once_behind_what_was_sent_before_and_the_audit_says_why() {
    let (house, model) = house(4);
    note(&house, "anna", "kind: person\nsource: owner\n", "Lives in Graz.");
    house.claw(&["ask", "Hello!"]).expect(0);
    house.claw(&["ask", "Where does Anna live?"]).expect(0);
    house.claw(&["ask", "Say it again: where does Anna live?"]).expect(0);
    note(&house, "anna", "kind: person\nsource: owner\n", "Lives in Linz.");
    house.claw(&["ask", "And now, Anna?"]).expect(0);
    let asked = messages(&model);
    for pair in asked.windows(2) {
        assert!(pair[1].starts_with(&pair[0]), "{}\n{}", pair[0], pair[1]);
    }
    let marks: Vec<usize> = asked.iter().map(|text| text.matches(MARK).count()).collect();
    assert_eq!(marks, [0, 1, 1, 2], "{asked:?}");
    assert!(asked[1].contains("> Lives in Graz."), "{}", asked[1]);
    assert!(asked[1].contains("[anna] person anna;") && asked[1].contains("from owner"));
    assert!(asked[3].contains("> Lives in Linz.") && asked[3].contains("it has changed since"));

    let recall = &recalls(&house)[1];
    let (origin, principal) = (&recall["body"]["origin"], &recall["body"]["principal"]);
    assert_eq!(origin, "owner");
    assert!(principal.as_str().unwrap().starts_with("console:uid:"), "{principal}");
    let call = recall["call"].as_str().unwrap();
    assert!(call.ends_with(":recall"), "{call}");
    let story = house.claw(&["audit", "explain", call]).expect(0).out;
    assert!(story.contains("for the message “Where does Anna live?”"), "{story}");
    assert!(story.contains("given these notes with it:\n  anna (anna; "), "{story}");
    assert!(story.contains("from owner): it holds anna"), "{story}");
    let shown = house.claw(&["sessions", "show", "main"]).expect(0).out;
    assert_eq!(shown.matches("from the memory:\n").count(), 2, "{shown}");
    house.is_whole();
}

/// Who keeps no notes pays for no memory: no process is started and no call is made.
#[test]
fn an_empty_folder_of_notes_is_not_asked_about() {
    let (house, model) = house(2);
    house.claw(&["ask", "Where does Anna live?"]).expect(0);
    assert!(recalls(&house).is_empty());
    note(&house, "anna", "", "Lives in Graz.");
    house.claw(&["ask", "Where does Anna live?"]).expect(0);
    assert_eq!(recalls(&house).len(), 1);
    assert!(messages(&model)[1].contains("> Lives in Graz."));
}

#[test]
fn what_is_superseded_comes_only_when_the_past_is_asked_about() {
    let (house, model) = house(3);
    note(&house, "flat", "supersedes: old-flat\nvalid_from: 2025-01-01\n", "Anna lives in Linz.");
    note(&house, "old-flat", "valid_from: 2020-01-01\n", "Anna lives in Graz.");
    house.claw(&["ask", "--session", "a", "Where does Anna live?"]).expect(0);
    house
        .claw(&["ask", "--session", "b", "Where did Anna live? She used to be far away."])
        .expect(0);
    house.claw(&["ask", "--session", "c", "As of 2022-02-02, where does Anna live?"]).expect(0);
    let asked = messages(&model);
    let holds = |text: &str| asked.iter().map(|one| one.contains(text)).collect::<Vec<_>>();
    assert_eq!(holds("Linz"), [true, true, false], "{asked:?}");
    assert_eq!(holds("Graz"), [false, true, true], "{asked:?}");
    assert_eq!(holds("NO LONGER SO, [flat] is right instead"), [false, true, false]);
    house.is_whole();
}

#[test]
fn nothing_is_asked_when_it_is_off_or_nobody_remembers() {
    let (house, model) = house(3);
    note(&house, "anna", "", "Lives in Graz.");
    house.write("claw.toml", "[memory]\nrecall = false\n");
    house.claw(&["ask", "Where does Anna live?"]).expect(0);
    house.write("claw.toml", PATIENT);
    servers(&house, json!({}));
    house.claw(&["ask", "Where does Anna live?"]).expect(0);
    let notes = remembering::notes_of(&house).display().to_string();
    // A stranger is not asked, whatever it is called.
    servers(&house, json!({"memory": {"command": "true", "args": ["--notes", notes]}}));
    let ran = house.claw(&["ask", "Where does Anna live?"]).expect(0);
    assert!(!ran.err.contains("could not be asked"), "{}", ran.err);
    assert!(messages(&model).iter().all(|text| !text.contains(MARK)));
    assert!(recalls(&house).is_empty());
    house.is_whole();
}

#[test]
fn a_memory_that_is_down_is_told_once_and_once_more_when_it_fails_again() {
    let (house, model) = house(5);
    note(&house, "anna", "", "Lives in Graz.");
    let whole = house.user_home().join("whole");
    std::fs::rename(remembering::notes_of(&house), &whole).unwrap();
    std::fs::write(remembering::notes_of(&house), "no folder").unwrap();
    let told = |text: &str| {
        let ran = house.claw(&["ask", text]).expect(0);
        (ran.out + &ran.err).matches("The memory (the server `memory`) could not be asked").count()
    };
    assert_eq!(told("Where does Anna live?"), 1);
    assert_eq!(told("Where does Anna live?"), 0);
    std::fs::remove_file(remembering::notes_of(&house)).unwrap();
    std::fs::rename(&whole, remembering::notes_of(&house)).unwrap();
    assert_eq!(told("Where does Anna live?"), 0);
    // A rule that wants a question has none asked: nobody has asked for the call.
    let rule =
        "[[rule]]\nserver = \"memory\"\ntool = \"recall\"\ndecision = \"ask\"\nwhy = \"mine\"\n";
    house.write("policy.toml", rule);
    assert_eq!(told("Where does Anna really live?"), 1);
    assert_eq!(told("Where does Anna really live?"), 0);
    let asked = messages(&model);
    let marks: Vec<usize> = asked.iter().map(|text| text.matches(MARK).count()).collect();
    assert_eq!(marks, [0, 0, 1, 1, 1]);
    assert!(house.claw(&["approvals", "--json"]).expect(0).rows().is_empty(), "nobody is asked");
    house.is_whole();
}

#[test]
fn neither_guest_nor_group_nor_what_others_wrote_gets_the_owners_notes() {
    let rig = Rig::new((0..5).map(|_| Answer::text("Noted.")));
    let bob = rig.telegram.user("Bob");
    let group = rig.telegram.supergroup("Rent", &[&rig.anna, &bob]);
    remembers(&rig.house);
    note(&rig.house, "flat", "", "The flat costs 900 a month.");
    let toml = format!("{PATIENT}[telegram]\nallowed_chats = [{}, {group}]\n", rig.anna.id);
    rig.house.write("claw.toml", &toml);
    let gateway = rig.house.start_for_listed_chats();
    let asked = |count: usize| {
        program::eventually("the model is asked", || rig.model.recorded().len() == count);
        rig.telegram.wait_all_confirmed();
    };
    bob.says(group, "@claw_test_bot what does the flat cost?");
    asked(1);
    rig.anna.says(group, "@claw_test_bot what does the flat cost?");
    asked(2);
    rig.anna.writes(rig.anna.private()).text("the flat is too dear").forwarded_from("Eve").send();
    asked(3);
    assert!(recalls(&rig.house).is_empty(), "{:?}", recalls(&rig.house));
    rig.anna.says(rig.anna.private(), "what does the flat cost?");
    asked(4);
    drop(gateway);
    // The owner speaks at the console, and the group would read the answer that is asked for later.
    let session = format!("telegram.{}.{group}", rig.telegram.bot_id());
    rig.house.claw(&["ask", "--session", &session, "what does the flat cost?"]).expect(0);
    let bodies = messages(&rig.model);
    let marks: Vec<usize> = bodies.iter().map(|text| text.matches(MARK).count()).collect();
    assert_eq!(marks, [0, 0, 0, 1, 0], "{bodies:?}");
    assert_eq!(recalls(&rig.house).len(), 1);
    rig.house.is_whole();
}

/// The look for an empty folder goes where `mcp.json` says now.
#[test]
fn notes_that_move_while_claw_runs_are_asked_about_where_they_are() {
    let rig = Rig::new((0..2).map(|_| Answer::text("Noted.")));
    remembers(&rig.house);
    let gateway = rig.start();
    rig.says("Where does Anna live?");
    rig.hears("Noted.");
    let moved = rig.house.user_home().join("moved");
    std::fs::create_dir(&moved).unwrap();
    std::fs::write(moved.join("anna.md"), "Lives in Graz.\n").unwrap();
    let moved = moved.display().to_string();
    let memory = json!({"command": "claw", "args": ["server", "memory", "--notes", moved]});
    servers(&rig.house, json!({ "memory": memory }));
    rig.waits_for("mcp.json changed: changed: memory");
    rig.says("And where does Anna live now?");
    program::eventually("the model is asked", || rig.model.recorded().len() == 2);
    assert!(messages(&rig.model)[1].contains("> Lives in Graz."), "{:?}", messages(&rig.model));
    drop(gateway);
    rig.house.is_whole();
}
