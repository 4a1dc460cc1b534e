//! What is asked and what is not: near-duplicates, contradictions, what was asked before, the
//! limits of a turn and a day, and whose word counts as the source.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::{Value, json};
use support::{Room, Server};

/// A proposal out of a turn, as claw says it.
fn propose(server: &mut Server, turn: i64, origin: &str, subject: &str, text: &str) -> Value {
    let arguments = json!({"subject": subject, "text": text, "source": {"who": "owner"}});
    propose_as(server, json!({"origin": origin, "session": "main", "turn": turn}), arguments)
}

fn propose_as(server: &mut Server, source: Value, arguments: Value) -> Value {
    let id = server.begin(
        "tools/call",
        json!({"name": "propose", "arguments": arguments, "_meta": {"claw/source": source}}),
    );
    server.end(id)["result"].clone()
}

fn action(result: &Value) -> &Value {
    &result["_meta"]["claw/actions"][0]
}

fn is_asked(result: &Value) -> bool {
    assert_eq!(result["structuredContent"]["is_proposed"] == true, !action(result).is_null());
    !action(result).is_null()
}

fn tap(server: &mut Server, result: &Value) -> Value {
    server.ok("promote", action(result)["arguments"].clone()).0
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn what_adds_to_a_note_is_merged_by_the_same_tap_and_what_is_known_is_not_asked() {
    let room = Room::new();
    let mut server = room.start();
    let first = propose(&mut server, 1, "owner", "Anna", "Lives in Graz.");
    let anna = tap(&mut server, &first);
    let known = propose(&mut server, 2, "owner", "anna", "lives in Graz");
    assert!(!is_asked(&known) && text_of(&known).contains("remembered already"), "{known}");
    let more = propose(&mut server, 3, "forwarded", "Anna", "Lives in Graz, near the park.");
    assert_eq!(action(&more)["arguments"]["instead_of"], "Lives in Graz.");
    assert!(more["structuredContent"]["replaces"].is_null(), "the note is the owner's: {more}");
    assert!(!text_of(&more).contains("It would add to"), "{more}");
    let merged = tap(&mut server, &more);
    assert_eq!(merged["id"], anna["id"], "the note keeps its id");
    assert_eq!(std::fs::read_dir(&room.notes).unwrap().count(), 1);
    let file = room.read("anna.md");
    assert!(file.contains("near the park") && file.contains("source: forwarded"), "{file}");
    // Once more does no harm.
    assert_eq!(tap(&mut server, &more)["id"], anna["id"]);
    let (trash, _) = server.ok("list", json!({"what": "trash"}));
    assert_eq!(trash["notes"].as_array().unwrap().len(), 1, "what it was is kept: {trash}");
    assert_eq!(trash["closed_proposals"], 2, "{trash}");
    assert!(room.check().0);
}

#[test]
fn a_contradiction_is_shown_and_both_stay() {
    let room = Room::new();
    let mut server = room.start();
    let first = propose(&mut server, 1, "owner", "Anna", "Lives in Graz.");
    tap(&mut server, &first);
    let other = propose(&mut server, 2, "owner", "Anna", "Lives in Wien.");
    let arguments = &action(&other)["arguments"];
    assert!(
        arguments["beside"][0].as_str().unwrap().starts_with("Lives in Graz. ("),
        "{arguments}"
    );
    assert_eq!(arguments["instead_of"], Value::Null);
    assert!(text_of(&other).contains("`replaces`"), "{other}");
    tap(&mut server, &other);
    let (hits, _) = server.ok("recall", json!({"query": "lives"}));
    assert_eq!(hits["hits"].as_array().unwrap().len(), 2);
}

#[test]
fn what_was_shown_is_what_is_stored_also_in_place_of_another_note() {
    let room = Room::new();
    let mut server = room.start();
    let first = propose(&mut server, 1, "owner", "Anna", "Lives in Graz.");
    let mut lie = action(&first)["arguments"].clone();
    lie["text"] = json!("Lives in Wien.");
    assert!(server.err("promote", lie).contains("not what was shown"));
    let anna = tap(&mut server, &first);
    let wanted = json!({"subject": "Anna", "text": "Lives in Linz.", "replaces": anna["id"]});
    let source = json!({"origin": "owner", "session": "main", "turn": 2});
    let change = propose_as(&mut server, source, wanted.clone());
    // By hand, between the question and the tap.
    room.write("anna.md", room.read("anna.md").replace("Graz", "Graz, and I like it"));
    let refused = server.err("promote", action(&change)["arguments"].clone());
    assert!(refused.contains("was changed since it was shown"), "{refused}");
    assert!(refused.contains("this proposal is over"), "{refused}");
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 0, "it has ended");
    assert!(room.read("anna.md").contains("and I like it"));
    assert_eq!(std::fs::read_dir(&room.notes).unwrap().count(), 1);
    // Nobody has said no.
    let source = json!({"origin": "owner", "session": "main", "turn": 3});
    assert!(is_asked(&propose_as(&mut server, source, wanted)));
}

#[test]
fn nobody_is_asked_the_same_twice_in_a_week_and_a_call_that_is_made_again_asks_once() {
    let room = Room::new();
    let mut server = room.start();
    let first = propose(&mut server, 1, "owner", "Anna", "Lives in Graz.");
    let again = propose(&mut server, 1, "owner", "Anna", "Lives in Graz.");
    assert_eq!(action(&first)["arguments"], action(&again)["arguments"]);
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 1);
    // Another turn, and near enough.
    let later = propose(&mut server, 2, "owner", "Anna's home", "lives in the Graz");
    assert!(
        !is_asked(&later) && text_of(&later).contains("not asked about this a second time"),
        "{later}"
    );
    // Also by another server on the same folder, and after the proposal was dropped.
    drop(server);
    let mut server = room.start();
    server.ok("forget", json!({"id": action(&first)["arguments"]["id"]}));
    assert!(!is_asked(&propose(&mut server, 3, "schedule", "Anna", "Lives in Graz.")));
    // A week later it is asked again.
    let path = room.temp.path().join("memory-state/asked.jsonl");
    let asked: Value =
        serde_json::from_str(std::fs::read_to_string(&path).unwrap().trim()).unwrap();
    let long_ago = asked["at"].as_i64().unwrap() - 8 * 86_400;
    let mut asked = asked;
    asked["at"] = json!(long_ago);
    std::fs::write(&path, format!("{asked}\n")).unwrap();
    assert!(is_asked(&propose(&mut server, 4, "owner", "Anna", "Lives in Graz.")));
}

#[test]
fn a_turn_and_a_day_have_so_many_proposals_and_the_refusal_says_what_else_works() {
    let room = Room::new();
    let mut server = room.start();
    for (turn, fact) in (0..9).map(|n| (n / 3, n)) {
        let result =
            propose(&mut server, turn, "owner", &format!("f{fact}"), &format!("fact {fact}"));
        assert_eq!(is_asked(&result), fact < 8, "{result}");
    }
    let room = Room::new();
    let mut server = room.start();
    for fact in 0..4 {
        let result = propose(&mut server, 1, "owner", &format!("f{fact}"), &format!("fact {fact}"));
        let is_refused = result["isError"] == true;
        assert_eq!(is_refused, fact == 3, "{result}");
        assert!(!is_refused || text_of(&result).contains("/remember"), "{result}");
    }
}

#[test]
fn the_host_says_who_asks_and_the_model_does_not() {
    let room = Room::new();
    let mut server = room.start();
    let result = propose(&mut server, 7, "forwarded", "Code", "The code is 4711.");
    let file = result["structuredContent"]["text"].as_str().unwrap().to_owned();
    for line in ["source: forwarded", "source_session: main", "source_turn: 7"] {
        assert!(file.contains(line), "{file}");
    }
    tap(&mut server, &result);
    assert_eq!(room.read("code.md"), file);
    let bad = server.begin(
        "tools/call",
        json!({"name": "propose", "arguments": {"subject": "x", "text": "y"}, "_meta": {"claw/source": 7}}),
    );
    assert!(server.end(bad)["error"]["message"].as_str().unwrap().contains("claw/source"));
}

#[test]
fn an_order_is_remembered_at_once_and_twice_is_once() {
    let room = Room::new();
    let mut server = room.start();
    let (note, said) = server.ok("remember", json!({"text": "Anna's phone: 0664 1234"}));
    assert!(said.starts_with("Remembered: Anna's phone, in anna-s-phone.md"), "{said}");
    assert_eq!(note["subject"], "Anna's phone");
    let (again, said) = server.ok("remember", json!({"text": "Anna's phone: 0664 1234"}));
    assert!(said.starts_with("Remembered already"), "{said}");
    assert_eq!((&again["id"], &again["was_known"]), (&note["id"], &json!(true)));
    let (other, said) = server.ok("remember", json!({"text": "Anna's phone: 0664 9999"}));
    assert_ne!(other["id"], note["id"]);
    assert!(said.contains("Also noted about it") && said.contains("0664 1234"), "{said}");
    let (more, _) = server.ok("remember", json!({"text": "Anna's phone: 0664 9999 at night"}));
    assert_eq!(more["id"], other["id"], "it adds to the note that says the same");
    assert!(room.check().0);
}

/// Far behind the words that are shown, and in a host that does not send them back.
#[test]
fn a_replaced_note_is_compared_as_a_whole() {
    for sends in [true, false] {
        let room = Room::new();
        let long = "Lives in Graz. ".repeat(200);
        room.write("anna.md", format!("---\nid: m1\nsubject: Anna\n---\n{long}And likes tea.\n"));
        let mut server = room.start();
        let change = json!({"subject": "Anna", "text": "Lives in Linz.", "replaces": "m1"});
        let source = json!({"origin": "owner", "session": "main", "turn": 2});
        let change = propose_as(&mut server, source.clone(), change);
        let mut tap = action(&change)["arguments"].clone();
        if !sends {
            tap.as_object_mut().unwrap().remove("instead_of");
        }
        let tagged = room.read("anna.md").replace("subject", "tags: [x]\nsubject");
        room.write("anna.md", tagged.replace("tea", "coffee"));
        let refused = server.err("promote", tap.clone());
        assert!(refused.contains("was changed since it was shown"), "{refused}");
        assert_eq!(std::fs::read_dir(&room.notes).unwrap().count(), 1);
        room.write("anna.md", &tagged);
        // The refusal has ended it, and it is asked about what is there now.
        assert!(server.err("promote", tap).contains("there is no proposal"));
        let change = json!({"subject": "Anna", "text": "Lives in Linz.", "replaces": "m1"});
        let change = propose_as(&mut server, source, change);
        let mut tap = action(&change)["arguments"].clone();
        if !sends {
            tap.as_object_mut().unwrap().remove("instead_of");
        }
        // Keys that are not the note's words may change meanwhile.
        room.write("anna.md", tagged.replace("tags: [x]", "tags: [y]"));
        let (note, _) = server.ok("promote", tap);
        assert_eq!(note["supersedes"], "m1");
        let file = room.read(note["path"].as_str().unwrap());
        assert!(file.contains("supersedes: m1") && !file.contains("digest"), "{file}");
    }
}

/// The path of what went to the trash for this reason.
fn in_trash(room: &Room, why: &str) -> String {
    let folders = std::fs::read_dir(room.temp.path().join("memory-state/trash")).unwrap();
    let mut names = folders.map(|one| one.unwrap().file_name().into_string().unwrap());
    let name = names.find(|name| name.ends_with(why.trim_end_matches('/'))).unwrap();
    let file = room.temp.path().join("memory-state/trash").join(&name);
    let file = std::fs::read_dir(file).unwrap().next().unwrap().unwrap().file_name();
    format!("{name}/{}", file.into_string().unwrap())
}

/// Moves what is written of the last question into the past.
fn days_pass(room: &Room, days: i64) {
    let path = room.temp.path().join("memory-state/asked.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut asked: Value = serde_json::from_str(text.trim()).unwrap();
    for key in ["at", "closed_at"] {
        if let Some(at) = asked[key].as_i64() {
            asked[key] = json!(at - days * 86_400);
        }
    }
    std::fs::write(&path, format!("{asked}\n")).unwrap();
}

#[test]
fn what_its_owner_skips_rests_for_a_week_from_the_no_and_cannot_come_back_without_a_yes() {
    for expired in [false, true] {
        let room = Room::new();
        let mut server = room.start();
        let first = propose(&mut server, 1, "owner", "Anna", "Lives in Graz.");
        let arguments = action(&first)["arguments"].clone();
        let id = arguments["id"].clone();
        // Six days are nothing: what counts is when the owner said no.
        days_pass(&room, 6);
        let skip = json!({"id": id, "expired": expired});
        let (closed, said) = server.ok("skip", skip.clone());
        assert_eq!(closed["was_open"], true, "{said}");
        assert_eq!(server.ok("skip", skip).0["was_open"], false);
        assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 0);
        assert!(server.err("promote", arguments).contains("there is no proposal"));
        server.err("restore", json!({"id": id}));
        // What is listed can come back, and what cannot is counted; nor does its path help.
        let (trash, _) = server.ok("list", json!({"what": "trash"}));
        assert_eq!((&trash["notes"], &trash["closed_proposals"]), (&json!([]), &json!(1)));
        let why = if expired { "-expired/" } else { "-skipped/" };
        let path = in_trash(&room, why);
        server.err("restore", json!({"id": path}));
        assert_eq!(std::fs::read_dir(&room.notes).unwrap().count(), 0);
        days_pass(&room, 6);
        let again = propose(&mut server, 2, "owner", "Anna", "Lives in Graz.");
        assert!(!is_asked(&again), "{again}");
        days_pass(&room, 2);
        assert!(is_asked(&propose(&mut server, 3, "owner", "Anna", "Lives in Graz.")));
    }
    let mut server = Room::new().start();
    assert_eq!(server.ok("skip", json!({"id": "m404"})).0["was_open"], false);
}

#[test]
fn nobody_reads_what_was_proposed_in_another_chat_or_by_somebody_else() {
    let room = Room::new();
    let mut server = room.start();
    propose(&mut server, 1, "owner", "Anna", "Lives in Graz, with a cat.");
    let here = propose(&mut server, 2, "owner", "Anna", "Lives in Graz.");
    assert!(text_of(&here).contains("with a cat"), "the owner has read it here: {here}");
    let group = json!({"origin": "owner", "session": "group", "turn": 1});
    let forwarded = json!({"origin": "forwarded", "session": "main", "turn": 3});
    for source in [group, forwarded] {
        let near = json!({"subject": "Anna", "text": "Lives in Graz."});
        let near = propose_as(&mut server, source, near);
        assert!(!is_asked(&near) && !near.to_string().contains("with a cat"), "{near}");
        assert!(near["structuredContent"]["asked_on"].is_null(), "{near}");
    }
}

#[test]
fn where_others_read_along_a_question_shows_nothing_that_is_noted_and_replaces_nothing() {
    let room = Room::new();
    let mut server = room.start();
    let first = propose(&mut server, 1, "owner", "Anna", "Lives in Graz.");
    let anna = tap(&mut server, &first);
    propose(&mut server, 1, "owner", "Anna", "Plays the cello.");
    let heard = json!({
        "origin": "owner", "session": "group", "turn": 1, "heard_by_others": true,
    });
    let said = |text: &str| json!({"subject": "Anna", "text": text, "replaces": anna["id"]});
    let more = propose_as(&mut server, heard.clone(), said("Lives in Graz, near the park."));
    let asked = &action(&more)["arguments"];
    assert!(asked["instead_of"].is_null() && asked["beside"].is_null(), "{asked}");
    assert!(action(&more)["summary"].as_str().unwrap().ends_with("near the park."), "{more}");
    let shown = &more["structuredContent"];
    for key in ["replaces", "beside", "similar", "known"] {
        assert!(shown[key].is_null(), "{key}: {more}");
    }
    // A part of what is noted, or was asked, is no way to find it out.
    for part in ["Lives in", "cello"] {
        assert!(is_asked(&propose_as(&mut server, heard.clone(), said(part))), "{part}");
    }
    let known = propose_as(&mut server, heard, said("lives in graz"));
    assert!(!is_asked(&known) && text_of(&known).contains("remembered already"), "{known}");
    tap(&mut server, &more);
    assert!(room.read("anna.md").contains("Lives in Graz.\n"), "it stays as it was");
    let (hits, _) = server.ok("recall", json!({"query": "lives"}));
    assert_eq!(hits["hits"].as_array().unwrap().len(), 2);
}

/// The file of a proposal that nobody has answered goes with the next question.
#[test]
fn a_proposal_that_nobody_answers_is_thrown_away_after_a_week() {
    let room = Room::new();
    let mut server = room.start();
    let first = propose(&mut server, 1, "owner", "Anna", "Lives in Graz.");
    let arguments = action(&first)["arguments"].clone();
    let id = arguments["id"].as_str().unwrap();
    let path = room.temp.path().join(format!("memory-state/proposals/{id}.md"));
    let file = std::fs::read_to_string(&path).unwrap();
    let created = file.lines().find(|line| line.starts_with("created: ")).unwrap();
    std::fs::write(&path, file.replace(created, "created: 2001-01-01T00:00:00Z")).unwrap();
    propose(&mut server, 2, "owner", "Bob", "Sails.");
    assert!(!path.exists(), "it waits forever");
    assert!(server.err("promote", arguments).contains("there is no proposal"));
    assert_eq!(server.ok("list", json!({"what": "proposals"})).0["total"], 1);
}
