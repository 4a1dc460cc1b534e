//! `claw audit explain`.

use crate::keeping::write_called;
use crate::program::House;

#[test]
fn a_call_is_explained_by_its_id_its_question_or_a_row() {
    let house = House::new();
    let id = write_called(&house, "notes.txt");
    let waits = house.claw(&["audit", "explain", &id]).expect(0).out;
    for part in [
        "filesystem/write_file",
        "path: notes.txt",
        "demo asked for it",
        "“write notes.txt: hello”",
        "waits for an answer",
    ] {
        assert!(waits.contains(part), "{part}: {waits}");
    }
    house.claw(&["approve", &id]).expect(0);
    let row = house.audit().into_iter().find(|row| row["kind"] == "started").unwrap();
    let (call, number) = (row["call"].as_str().unwrap().to_owned(), row["id"].to_string());
    let story = house.claw(&["audit", "explain", &call]).expect(0).out;
    for part in
        ["allowed this one call", "exactly as it was shown", "with a result of", "it ran once"]
    {
        assert!(story.contains(part), "{part}: {story}");
    }
    assert_eq!(house.claw(&["audit", "explain", &id]).expect(0).out, story);
    assert_eq!(house.claw(&["audit", "explain", &number]).expect(0).out, story);
    assert_eq!(house.claw(&["audit", "explain", &number, "--json"]).expect(0).json()["id"], call);
    let id = write_called(&house, "b.txt");
    house.claw(&["deny", &id, "not", "there"]).expect(0);
    let story = house.claw(&["audit", "explain", &id]).expect(0).out;
    assert!(
        story.contains("with the word “not there”") && story.contains("it did not run"),
        "{story}"
    );
    for unknown in ["nonsense", "4711", "main:99:0"] {
        house.claw(&["audit", "explain", unknown]).expect_mistake(&[unknown, "claw audit"]);
    }
}

#[test]
fn times_are_the_owners() {
    let house = House::new();
    house.write("claw.toml", "time_zone = \"Pacific/Kiritimati\"\n");
    house.claw(&["ask", "list"]).expect(0);
    let row = house.audit().into_iter().find(|row| row["kind"] == "received").unwrap();
    let at = jiff::Timestamp::from_millisecond(row["at_ms"].as_i64().unwrap()).unwrap();
    let there = at.in_tz("Pacific/Kiritimati").unwrap().strftime("%Y-%m-%d %H:%M:%S").to_string();
    let story = house.claw(&["audit", "explain", row["call"].as_str().unwrap()]).expect(0).out;
    assert!(story.contains(&there), "{there}: {story}");
}
