//! A result that the model has seen is known after a kill: the whole program, killed just when the
//! model's answer to it came.

use crate::program;
use crate::program::House;
use rustix::process::Signal;

#[test]
fn a_result_that_the_model_has_answered_to_is_on_the_disk() {
    let house = House::new();
    // The demo's second reply is about what the tool said, and comes at once.
    let mut command = house.command(&["ask", "list"]);
    command.env("CLAW_KILL_AT", "turn.model.after:2");
    let ran = house.begin(command).ends();
    assert_eq!(ran.code, None, "it was not killed by {:?}: {ran:?}", Signal::KILL);
    let (state, results): (String, i64) = {
        let db = house.db();
        let state = db.query_row("SELECT state FROM calls", [], |row| row.get(0)).unwrap();
        let results =
            "SELECT count(*) FROM events WHERE type = 'tool.result' AND body LIKE '%\"ended\"%'";
        (state, db.query_row(results, [], |row| row.get(0)).unwrap())
    };
    assert_eq!((state.as_str(), results), ("ended", 1));
    house.claw(&["ask", "help"]).expect(0);
    let outcomes = program::outcomes(&house.events("main"));
    assert!(outcomes.iter().all(|outcome| outcome["kind"] == "ended"), "{outcomes:?}");
    house.is_whole();
}
