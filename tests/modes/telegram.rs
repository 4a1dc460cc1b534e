//! Modes in Telegram: set by a command, by a button, and by an answer to a question.

use super::*;

#[test]
fn in_telegram_a_mode_is_set_shown_and_used() {
    let rig = Rig::new();
    let gateway = rig.start();
    let home = rig.anna.private();
    rig.anna.says(home, "/mode edits");
    rig.telegram.wait_for_text(rig.anna.id, "Mode edits:");
    rig.anna.says(home, WRITE);
    eventually("it ran unasked", || rig.house.in_workspace("a.txt").trim() == "hello");
    rig.anna.says(home, "/status");
    rig.telegram.wait_for_text(rig.anna.id, "mode: edits");
    rig.stop(gateway);
}

#[test]
fn a_button_gives_the_session_the_mode() {
    let rig = Rig::new();
    let gateway = rig.start();
    let home = rig.anna.private();
    rig.anna.says(home, WRITE);
    let asked = rig.telegram.wait_for("a question with the mode", |world| {
        let mut asked = world.messages(home);
        asked.find(|one| one.button("This session: all edits").is_some()).cloned()
    });
    rig.anna.taps_on(home, asked.id, "This session: all edits");
    rig.wait_edited(&asked, "mode edits");
    rig.anna.says(home, "write b.txt: 2");
    eventually("it ran unasked", || rig.house.in_workspace("b.txt").trim() == "2");
    rig.anna.says(home, "/new");
    rig.telegram.wait_for_text(rig.anna.id, "A new conversation");
    rig.anna.says(home, "write c.txt: 3");
    rig.telegram.wait_for("a question after /new", |world| {
        let mut asked = world.messages(home);
        asked.find(|one| one.button("Allow once").is_some() && one.text.contains("c.txt")).cloned()
    });
    rig.stop(gateway);
}

/// The calls of a step that the mode covers ask once, and each keeps its own row.
#[test]
fn a_mode_given_as_an_answer_answers_the_open_questions_that_it_covers() {
    let house = House::new();
    // Too long for a list, so each is asked about by itself.
    let text = "1".repeat(600);
    let writes = ["a.txt", "b.txt", "c.txt"].map(|file| format!("write {file}: {text}"));
    let asks = format!("{} and run `touch d` with write", writes.join(" and "));
    house.claw(&["ask", &asks]).expect(3);
    house.claw(&["ask", "--session", "other", "write e.txt: 5"]).expect(3);
    let open = house.claw(&["approvals", "--json"]).expect(0).rows();
    assert_eq!(open.len(), 5, "{open:?}");
    // Side by side, the calls are asked about in any order.
    let is_write = |row: &&Value| row["tool"] == "write_file" && row["session"] == "main";
    let first = open.iter().find(is_write).and_then(|row| row["id"].as_str()).unwrap_or_default();
    let answered = house.claw(&["approve", first, "--mode", "edits"]).expect(3);
    assert!(answered.err.contains("It also answers 2 other open questions."), "{answered:?}");
    for file in ["a.txt", "b.txt", "c.txt"] {
        assert_eq!(house.in_workspace(file), text);
    }
    let left = house.claw(&["approvals", "--json"]).expect(0).rows();
    let tools: Vec<_> = left.iter().map(|row| (&row["session"], &row["tool"])).collect();
    let wanted = [(json!("main"), json!("run")), (json!("other"), json!("write_file"))];
    assert_eq!(tools.len(), 2, "{left:?}");
    assert!(wanted.iter().all(|(session, tool)| tools.contains(&(session, tool))), "{left:?}");
    let mode = live_grants(&house).remove(0);
    assert_eq!(mode["uses"], 2, "{mode}");
    assert!(mode["last_used_ms"].as_i64() >= mode["created_ms"].as_i64(), "{mode}");
    let listed = house.claw(&["grants"]).expect(0).out;
    assert!(listed.contains("; saved 2 questions, last 20"), "{listed}");
    let covered = house.audit().into_iter().filter(|row| row["body"]["covered_by"].is_object());
    let calls: Vec<String> = covered.map(|row| row["call"].to_string()).collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    let why = house.claw(&["audit", "explain", calls[0].trim_matches('"')]).expect(0).out;
    assert!(why.contains("gave at this moment, covered it: mode edits"), "{why}");
    house.is_whole();
}

#[test]
fn a_mode_given_by_a_command_closes_the_messages_of_the_questions_that_it_covers() {
    let rig = Rig::new();
    let gateway = rig.start();
    let home = rig.anna.private();
    let long = "1".repeat(600);
    rig.anna.says(home, &format!("write a.txt: {long} and write b.txt: {long}"));
    let about = |file: &str| {
        rig.telegram.wait_for("a question about each", |world| {
            let mut asked = world.messages(home).filter(|one| one.button("Allow once").is_some());
            asked.find(|one| one.text.contains(file)).cloned()
        })
    };
    let asked = [about("a.txt"), about("b.txt")];
    eventually("both are on record", || rig.number("SELECT count(*) FROM posted") == 2);
    rig.anna.says(home, "/mode edits");
    for message in &asked {
        let now = rig.wait_edited(message, "ran: ok");
        let by = "Allowed for this session: mode edits\nby grant 1 at ";
        assert!(now.text.contains(by), "{}", now.text);
    }
    assert_eq!(["a.txt", "b.txt"].map(|file| rig.house.in_workspace(file)), [&*long, &*long]);
    rig.anna.says(home, "/grants");
    rig.telegram.wait_for_text(rig.anna.id, "saved 2 questions, last");
    rig.stop(gateway);
}
