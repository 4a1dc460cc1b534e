//! What is remembered, over the whole program: proposals and the tap, an owner's orders, the notes
//! at the command line, and whose word counts.

use crate::program;
use std::fs;

use crate::program::{House, SERVER_WAIT, eventually};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use serde_json::{Value, json};

fn proposes(arguments: Value) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("1", "memory__propose", &arguments.to_string())]))
}

fn fact(subject: &str, text: &str) -> [Answer; 2] {
    [proposes(json!({"subject": subject, "text": text})), Answer::text("Noted, if you say so.")]
}

fn note(house: &House, name: &str) -> String {
    fs::read_to_string(house.home().join("memory").join(name)).unwrap_or_default()
}

fn notes(house: &House) -> Vec<Value> {
    house.claw(&["memory", "list", "--json"]).expect(0).rows()
}

#[test]
fn the_demo_remembers_by_a_tap_in_a_new_home() {
    let house = House::new();
    let asked = house.claw(&["ask", "remember that Anna lives in Graz"]).expect(0);
    assert!(asked.err.contains("Remember about “Anna”"), "{asked:?}");
    assert!(asked.err.contains("+Anna lives in Graz"), "{asked:?}");
    assert!(notes(&house).is_empty(), "nothing is remembered yet");
    let id = house.waiting();
    let tapped = house.claw(&["approve", &id]).expect(0);
    assert!(tapped.err.contains("Remembered: Anna, in anna.md"), "{tapped:?}");
    let file = note(&house, "anna.md");
    for line in ["Anna lives in Graz", "source: owner", "source_session: main", "source_turn: "] {
        assert!(file.contains(line), "{line}: {file}");
    }
    let known = house.claw(&["ask", "what do you know about Anna?"]).expect(0);
    assert!(known.out.contains("Anna lives in Graz"), "{known:?}");
    // No tool of ours enters the folder.
    let read = house.claw(&["ask", "show ../memory/anna.md"]).expect(0);
    assert!(!read.out.contains("lives in Graz"), "{read:?}");
    house.is_whole();
}

#[test]
fn what_was_skipped_is_not_asked_again_and_nothing_is_stored() {
    let house = House::new();
    house.claw(&["ask", "remember that Anna lives in Graz"]).expect(0);
    let id = house.waiting();
    let skipped = house.claw(&["deny", &id]).expect(0);
    assert!(skipped.err.contains("Skipped: "), "{skipped:?}");
    let again = house.claw(&["ask", "remember that Anna lives in Graz"]).expect(0);
    assert!(again.out.contains("not asked about this a second time"), "{again:?}");
    let open = house.claw(&["memory", "list", "--proposals", "--json"]).expect(0);
    assert_eq!(open.out, "", "the memory knows of the no");
    let asked = fs::read_to_string(house.home().join("memory-state/asked.jsonl")).unwrap();
    assert!(asked.contains("closed_at"), "{asked}");
    assert_eq!(house.claw(&["approvals"]).expect(0).out, "");
    assert!(notes(&house).is_empty());
    house.is_whole();
}

/// A sign or a single letter can be all that tells two facts apart.
#[test]
fn what_only_looks_like_a_note_is_remembered_beside_it() {
    let house = House::new();
    let facts = [
        ["Blood type: B", "Blood type: A"],
        ["Heating limit: -5 degrees", "Heating limit: 5 degrees"],
        ["Language of Ben: C", "Language of Ben: C++"],
    ];
    for fact in facts.as_flattened() {
        let added = house.claw(&["memory", "add", fact]).expect(0);
        assert!(added.out.starts_with("Remembered: "), "{fact}: {added:?}");
        let again = house.claw(&["memory", "add", &format!("{fact}.")]).expect(0);
        assert!(again.out.starts_with("Remembered already"), "{fact}: {again:?}");
    }
    assert_eq!(notes(&house).len(), 6);
    house.is_whole();
}

#[test]
fn the_owners_own_hands_at_the_command_line() {
    let house = House::new();
    let added = house.claw(&["memory", "add", "Anna's phone:", "0664 1234"]).expect(0);
    assert!(added.out.starts_with("Remembered: Anna's phone, in anna-s-phone.md"), "{added:?}");
    let id = notes(&house)[0]["id"].as_str().unwrap().to_owned();
    let shown = house.claw(&["memory", "show", &id]).expect(0);
    assert!(shown.out.contains("0664 1234") && shown.out.contains("from owner"), "{shown:?}");
    house.claw(&["memory", "show", "m404"]).expect_mistake(&["m404"]);
    house.claw(&["memory", "edit", &id]).expect_mistake(&["EDITOR", "anna-s-phone.md"]);
    let editor = house.user_home().join("editor.sh");
    fs::write(&editor, "sed -i s/1234/9999/ \"$1\"\n").unwrap();
    let mut edit = house.command(&["memory", "edit", &id]);
    let edited = house.begin({
        edit.env("EDITOR", format!("sh {}", editor.display()));
        edit
    });
    assert!(edited.ends().expect(0).out.starts_with("Changed: Anna's phone"));
    assert!(note(&house, "anna-s-phone.md").contains("0664 9999"));
    house.claw(&["memory", "forget", &id]).expect(0);
    assert!(notes(&house).is_empty());
    assert_eq!(house.claw(&["memory", "list", "--trash", "--json"]).expect(0).rows().len(), 1);
    house.claw(&["memory", "restore", &id]).expect(0);
    assert_eq!(house.claw(&["memory", "list", "phone", "--json"]).expect(0).rows().len(), 1);
    let check = house.claw(&["memory", "check"]).expect(0);
    assert!(check.out.contains("1 note in") && check.out.contains("equals the files"), "{check:?}");
    let file = house.user_home().join("AGENTS.md");
    fs::write(&file, "# Build\n\n- run cargo test\n- never push\n").unwrap();
    let file = file.to_str().unwrap();
    let shown = house.claw(&["memory", "import", file]).expect(3);
    assert!(shown.err.contains("• never push (Build)") && notes(&house).len() == 1, "{shown:?}");
    house.claw(&["memory", "import", file, "--yes"]).expect(0);
    assert_eq!(notes(&house).len(), 3);
    let again = house.claw(&["memory", "import", file, "--yes"]).expect(0);
    assert!(again.out.contains("Remembered: 0 notes; 2 were known already."), "{again:?}");
}

#[test]
fn a_backup_holds_the_notes() {
    let house = House::new();
    house.claw(&["memory", "add", "Anna's phone: 0664 1234"]).expect(0);
    house.write("memory/people/bob.md", "Bob sails.\n");
    house.write("memory/.git/x.md", "no note");
    let file = house.user_home().join("home.tar");
    house.claw(&["backup", file.to_str().unwrap()]).expect(0);
    fs::remove_dir_all(house.home()).unwrap();
    house.claw(&["restore", file.to_str().unwrap()]).expect(0);
    assert_eq!(notes(&house).len(), 2);
    assert_eq!(note(&house, "people/bob.md"), "Bob sails.\n");
    assert!(note(&house, "anna-s-phone.md").contains("0664 1234"));
}

#[test]
fn a_home_without_a_memory_server_is_told_how_to_have_one() {
    let house = House::new();
    house.write(
        "mcp.json",
        r#"{"mcpServers": {"bash": {"command": "claw", "args": ["server", "bash"]}}}"#,
    );
    house.claw(&["memory", "list"]).expect_mistake(&["mcp.json", "\"memory\""]);
    let doctor = house.claw(&["doctor"]);
    assert!(doctor.out.contains("claw remembers nothing"), "{doctor:?}");
    assert!(!fs::read_to_string(house.home().join("mcp.json")).unwrap().contains("memory"));
}

#[test]
fn on_the_phone_a_tap_remembers_and_the_words_are_the_stored_ones() {
    let first = fact("Anna", "Lives in Graz.");
    let second = proposes(json!({"subject": "Anna", "text": "Lives in Graz, near the park."}));
    let third = proposes(json!({"subject": "Anna", "text": "Plays the cello."}));
    let rig = Rig::new(first.into_iter().chain([
        second,
        Answer::text("More of her."),
        third,
        Answer::text("And this."),
    ]));
    let gateway = rig.start();
    rig.says("Anna lives in Graz");
    rig.telegram.wait_for_button(rig.anna.id, "✅ Remember");
    assert!(notes(&rig.house).is_empty());
    rig.anna.taps(rig.anna.id, "✅ Remember");
    rig.hears("Remembered: Anna");
    assert!(note(&rig.house, "anna.md").contains("Lives in Graz."));
    let forwarded = rig.anna.writes(rig.anna.private()).text("near the park").forwarded_from("Bob");
    forwarded.send();
    rig.hears("More of her.");
    rig.telegram.wait_for_button(rig.anna.id, "✅ Remember");
    let screen = rig.telegram.screen(rig.anna.id);
    for line in ["-Lives in Graz.", "+Lives in Graz, near the park.", "not yours"] {
        assert!(screen.contains(line), "{line}: {screen}");
    }
    rig.anna.taps(rig.anna.id, "✅ Remember");
    rig.hears("Remembered: Anna, in anna.md");
    eventually("it was merged", || note(&rig.house, "anna.md").contains("near the park"));
    assert!(note(&rig.house, "anna.md").contains("source: forwarded"));
    assert_eq!(notes(&rig.house).len(), 1);
    rig.says("she plays");
    rig.hears("And this.");
    rig.telegram.wait_for_button(rig.anna.id, "❌ Skip");
    rig.says("/status");
    rig.hears("1 proposal waits for your tap");
    let shown = rig.telegram.screen(rig.anna.id);
    assert!(shown.contains("Also noted, and stays: Lives in Graz, near the park."), "{shown}");
    rig.anna.taps(rig.anna.id, "❌ Skip");
    rig.hears("Skipped: ");
    assert_eq!(notes(&rig.house).len(), 1);
    drop(gateway);
    rig.house.is_whole();
}

/// Whoever reads a proposal along can neither remember nor drop it, and cannot order anything.
#[test]
fn a_member_of_a_group_cannot_tap_what_is_proposed_there() {
    let rig = Rig::new(fact("Anna", "Lives in Graz."));
    let bert = rig.telegram.user("Bert");
    let group = rig.telegram.group("Family", &[&rig.anna, &bert]);
    let chats = format!("[telegram]\nallowed_chats = [{}, {group}]\n", rig.anna.id);
    rig.house.write("claw.toml", &format!("{SERVER_WAIT}{chats}"));
    let gateway = rig.house.start_for_listed_chats();
    bert.says(group, "@claw_test_bot Anna lives in Graz");
    rig.telegram.wait_for_text(group, "Noted, if you say so.");
    let asked = rig.telegram.wait_for_button(group, "✅ Remember");
    for label in ["✅ Remember", "❌ Skip"] {
        let tap = bert.taps_on(group, asked.id, label);
        assert_eq!(rig.telegram.wait_answered(&tap).0, "Only the owner can answer this.");
    }
    bert.says(group, "/remember@claw_test_bot The code is 4711");
    rig.telegram.wait_for_text(group, "Only an owner may do that");
    assert!(notes(&rig.house).is_empty());
    assert!(!rig.house.waiting().is_empty(), "it waits still");
    let tap = rig.anna.taps_on(group, asked.id, "✅ Remember");
    assert_eq!(rig.telegram.wait_answered(&tap).0, "Remembered.");
    rig.telegram.wait_for_text(group, "Remembered: Anna");
    assert_eq!(notes(&rig.house).len(), 1);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn orders_in_a_chat_are_carried_out_once_without_a_model() {
    let rig = Rig::new([]);
    let gateway = rig.start();
    rig.says("/remember The boiler: it is in the cellar");
    rig.hears("Remembered: The boiler");
    let id = notes(&rig.house)[0]["id"].as_str().unwrap().to_owned();
    rig.says("/memory");
    rig.hears("it is in the cellar");
    rig.says("/memory where is the boiler");
    rig.hears("The boiler");
    rig.says(&format!("/forget {id}"));
    rig.hears("Forgotten: ");
    assert!(notes(&rig.house).is_empty());
    rig.says("/remember");
    rig.hears("remembers it at once");
    rig.says("/memory nothing such");
    rig.hears("Nothing is remembered about");
    drop(gateway);
    let rows = rig.house.claw(&["audit", "--rows", "--json", "--limit", "1000"]).expect(0).rows();
    let of = |kind: &str, tool: &str| {
        rows.iter().filter(|row| row["kind"] == kind && row["body"]["tool"] == tool).count()
    };
    assert_eq!((of("received", "remember"), of("received", "forget")), (1, 1), "{rows:?}");
    let is_order = |row: &&Value| row["kind"] == "received" && row["body"]["tool"] == "remember";
    let order = rows.iter().find(is_order).unwrap();
    assert_eq!(order["body"]["origin"], "owner");
    rig.house.is_whole();
}

/// Told by the gateway, once a day, whatever was restarted, and also without a digest.
#[test]
fn what_waits_is_told_once_a_day() {
    let rig = Rig::new(fact("Anna", "Lives in Graz.").into_iter().chain(fact("Bob", "Sails.")));
    let at_midnight = "[memory]\nproposals_at = \"00:00\"\n";
    rig.house.write("claw.toml", &format!("{SERVER_WAIT}{at_midnight}"));
    rig.house.claw(&["ask", "Anna lives in Graz"]).expect(0);
    rig.house.claw(&["ask", "Bob sails"]).expect(0);
    let told = |gateway: program::Running, asked: i64, times: i64| {
        rig.says("/status");
        eventually("it is answered", || {
            rig.telegram.screen(rig.anna.id).matches("tap; `/approvals`").count() as i64 == asked
        });
        // Until this is noted, a gateway that ends says it once more when it comes back.
        eventually("its delivery is noted", || {
            let left = "SELECT count(*) FROM outbox WHERE state <> 'sent'";
            rig.house.db().query_row(left, [], |row| row.get::<_, i64>(0)) == Ok(0)
        });
        drop(gateway);
        let words = "SELECT count(*) FROM outbox WHERE body LIKE '%**To remember: 2%'";
        let count: i64 = rig.house.db().query_row(words, [], |row| row.get(0)).unwrap();
        assert_eq!(count, times);
    };
    // The chat is there.
    rig.anna.starts();
    let gateway = rig.start();
    rig.waits_for("To remember: 2 proposals wait for your tap.");
    rig.waits_for("“Anna”: Lives in Graz.");
    told(gateway, 1, 1);
    told(rig.start(), 2, 1);
    let yesterday = "UPDATE meta SET value = '2001-01-01' WHERE key = 'proposals.told'";
    assert_eq!(rig.house.db().execute(yesterday, []).unwrap(), 1);
    let gateway = rig.start();
    eventually("the next day is told", || {
        rig.telegram.screen(rig.anna.id).matches("To remember: 2 proposals").count() == 2
    });
    told(gateway, 3, 2);
    let wrong = House::new();
    wrong.write("claw.toml", "[memory]\nproposals_at = \"evening\"\n");
    wrong.claw(&["memory"]).expect_mistake(&["claw.toml, line 2", "such as \"20:00\""]);
}
