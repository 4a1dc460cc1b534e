//! What is special about the experimental tasks of revision 2025-11-25: which tools are called so,
//! what a task asks over the stream of its result, and a server that takes no cancel.

use rustix::process::Signal;
use serde_json::Value;

use crate::program::eventually;
use crate::pty::Pty;
use crate::task_house::{followed, house, result};
use crate::task_rig::{EXTENSION, Garden, RELATED, Revision};

#[test]
fn a_tool_is_called_as_a_task_only_where_its_server_wants_that() {
    // Over HTTP a server lives on without claw, so that a task is worth it where it is optional.
    for (tool, tasks) in [("dig", 1), ("maybe", 1), ("plain", 0)] {
        let garden = Garden::new(Revision::R2025);
        let server = garden.serve();
        let (house, _provider) = house(&server, tool);
        house.claw(&["ask", "dig"]).expect(0);
        assert!(result(&house).contains("dug a hole"), "{tool}: {}", result(&house));
        garden.did(tasks, 1);
        house.is_whole();
    }
}

/// The question comes with the stream on which the result comes later.
#[test]
fn a_task_asks_and_the_answer_names_it() {
    let garden = Garden::new(Revision::R2025);
    let server = garden.serve();
    let (house, _provider) = house(&server, "asks");
    let asking = house.start(&["ask", "dig"]);
    let mut id = String::new();
    eventually("it asks", || {
        let open = house.claw(&["approvals", "--json"]).expect(0).rows();
        open.first().map(|row| id = row["id"].as_str().unwrap().to_owned()).is_some()
    });
    house.claw(&["approve", &id, "--value", "yes"]);
    asking.ends();
    let heard = garden.noted("heard ");
    assert!(heard.len() == 1 && heard[0].contains("accept"), "{heard:?}");
    assert!(heard[0].contains(RELATED) && !heard[0].contains(EXTENSION), "{heard:?}");
    assert_eq!(garden.noted("related "), ["\"asks-0\""]);
    assert!(result(&house).contains("dug a hole"), "{}", result(&house));
    garden.did(1, 1);
    house.is_whole();
}

/// The question is closed with the connection; the task is looked at again, and asks once more.
#[test]
fn after_a_kill_in_the_middle_of_its_question_the_task_asks_again() {
    let garden = Garden::new(Revision::R2025);
    let server = garden.serve();
    let (house, _provider) = house(&server, "asks");
    let open = || house.claw(&["approvals", "--json"]).expect(0).rows();
    let asking = house.start(&["ask", "dig"]);
    eventually("it asks", || open().len() == 1);
    // A question that the log does not have yet is found by the next process, and stays.
    let is_parked = |event: &Value| event["type"] == "call.parked";
    eventually("the log has it", || house.events("main").iter().any(is_parked));
    let first = open()[0]["id"].clone();
    asking.signal(Signal::KILL);
    drop(asking);
    let asking = house.start(&["ask", "and now?"]);
    eventually("it asks again", || open().iter().any(|row| row["id"] != first));
    let id = open()[0]["id"].as_str().unwrap().to_owned();
    assert!(open().len() == 1 && id != first, "the first one is closed");
    house.claw(&["approve", &id, "--value", "yes"]);
    asking.ends();
    assert_eq!(garden.noted("heard ").len(), 1);
    assert!(result(&house).contains("dug a hole"), "{}", result(&house));
    garden.did(1, 1);
    house.is_whole();
}

#[test]
fn a_server_that_takes_no_cancel_gets_none_and_its_owner_reads_so() {
    let garden = Garden::without_cancel();
    let server = garden.serve();
    let (house, _provider) = house(&server, "forever");
    let asking = followed(&house, &garden);
    asking.signal(Signal::INT);
    let ran = asking.ends().expect(130);
    assert!(ran.err.contains("its server cannot be told to cancel it"), "{ran:?}");
    assert!(garden.noted("cancel ").is_empty());
    garden.did(1, 0);
    house.is_whole();
}

/// The token of the call counts as long as its task lives.
#[test]
fn progress_under_the_token_of_the_call_is_shown_while_its_task_runs() {
    let garden = Garden::new(Revision::R2025);
    let server = garden.serve();
    let (house, _provider) = house(&server, "measured");
    let shown = Pty::sized(&house, &["ask", "dig"], 24, 80).ends(0);
    assert!(shown.contains("░ 3/10"), "{shown:?}");
    assert!(result(&house).contains("dug a hole"), "{}", result(&house));
    garden.did(1, 1);
    house.is_whole();
}
