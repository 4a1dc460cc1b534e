//! A server over HTTP that makes a task of a call, through the whole program, in both spellings: it
//! is followed with progress, killed and found again, away and back, lost, stopped, and left to the
//! next process.

use rustix::process::Signal;
use serde_json::json;

use crate::program::{House, Ran, eventually, outcomes};
use crate::serve_rig::{Client, Era};
use crate::task_house::{followed, house, result};
use crate::task_rig::{BOTH, Garden, Revision};
use crate::telegram_rig::Rig;

/// Whoever comes next finds the turn, and its end.
fn next(house: &House) -> Ran {
    house.claw(&["ask", "and now?"])
}

#[test]
fn it_is_followed_to_its_result() {
    for revision in BOTH {
        let garden = Garden::new(revision);
        let server = garden.serve();
        let (house, _provider) = house(&server, "dig");
        let ran = house.claw(&["ask", "dig"]).expect(0);
        assert_eq!(ran.out, "done\n");
        assert!(result(&house).contains("dug a hole"), "{}", result(&house));
        garden.did(1, 1);
        // Claw takes no tasks itself, and declares none.
        assert!(garden.noted("declared ").iter().all(|it| !it.contains("tasks")));
        house.is_whole();
    }
}

#[test]
fn after_a_kill_the_same_task_is_found_again() {
    for revision in BOTH {
        let garden = Garden::new(revision);
        let server = garden.serve();
        let (house, _provider) = house(&server, "forever");
        let asking = followed(&house, &garden);
        asking.signal(Signal::KILL);
        drop(asking);
        garden.note("enough");
        next(&house);
        assert!(result(&house).contains("dug a hole"), "{revision:?}: {}", result(&house));
        garden.did(1, 1);
        house.is_whole();
    }
}

/// It is started again with what it knew, and without the sessions that it had.
#[test]
fn a_server_that_is_away_for_a_while_is_asked_again() {
    for revision in BOTH {
        let garden = Garden::new(revision);
        let server = garden.serve();
        let (house, _provider) = house(&server, "forever");
        let rig = Rig::with(house);
        let gateway = rig.start();
        rig.anna.says(rig.anna.private(), "dig");
        eventually("it is looked at", || !garden.noted("look ").is_empty());
        drop(server);
        eventually("claw notices", || gateway.err().contains("cannot be reached"));
        garden.forgets_sessions();
        garden.note("enough");
        let _server = garden.serve();
        rig.telegram.wait_for_text(rig.anna.id, "done");
        let results = outcomes(&rig.house.events(&rig.session(&rig.anna)));
        assert!(results[0].to_string().contains("dug a hole"), "{revision:?}: {results:?}");
        garden.did(1, 1);
        rig.wait_handled();
        rig.wait_delivered();
        rig.stop(gateway);
    }
}

#[test]
fn a_session_that_is_forgotten_is_no_end_of_the_task() {
    let garden = Garden::new(Revision::R2025);
    let server = garden.serve();
    let (house, _provider) = house(&server, "forever");
    let asking = followed(&house, &garden);
    garden.forgets_sessions();
    eventually("it opens another one", || !garden.noted("session ").is_empty());
    garden.note("enough");
    asking.ends().expect(0);
    assert!(result(&house).contains("dug a hole"), "{}", result(&house));
    assert_eq!((garden.noted("task ").len(), garden.noted("effect").len()), (1, 1));
    house.is_whole();
}

#[test]
fn a_server_that_has_lost_it_leaves_the_call_unknown_and_is_not_called_again() {
    for revision in BOTH {
        let garden = Garden::new(revision);
        let server = garden.serve();
        let (house, _provider) = house(&server, "forever");
        let asking = followed(&house, &garden);
        asking.signal(Signal::KILL);
        drop(asking);
        garden.forgets_tasks();
        let ran = next(&house);
        let lost = "its server does not know its task any more (error -32602)";
        assert!(ran.err.contains(lost) && !ran.err.contains("it went well"), "{ran:?}");
        assert!(result(&house).contains("unknown"), "{}", result(&house));
        garden.did(0, 0);
        house.is_whole();
    }
}

#[test]
fn slash_stop_cancels_it() {
    for revision in BOTH {
        let garden = Garden::new(revision);
        let server = garden.serve();
        let (house, _provider) = house(&server, "forever");
        let asking = followed(&house, &garden);
        house.claw_with_stdin(&["chat"], b"/stop\n").expect(0);
        asking.ends().expect(130);
        assert_eq!(garden.noted("cancel "), garden.noted("task "));
        assert!(result(&house).contains("its server was told to cancel it"), "{}", result(&house));
        garden.did(1, 0);
        house.is_whole();
    }
}

/// Nobody follows it when the stop comes.
#[test]
fn a_stop_before_it_is_picked_up_again_cancels_it() {
    for revision in BOTH {
        let garden = Garden::new(revision);
        let server = garden.serve();
        let (house, _provider) = house(&server, "forever");
        let asking = followed(&house, &garden);
        asking.signal(Signal::KILL);
        drop(asking);
        house.claw_with_stdin(&["chat"], b"/stop\n").expect(0);
        assert_eq!(garden.noted("cancel "), garden.noted("task "), "{revision:?}");
        assert!(result(&house).contains("its server was told to cancel it"), "{}", result(&house));
        garden.did(1, 0);
        house.is_whole();
    }
}

#[test]
fn the_stop_switch_before_it_is_picked_up_again_cancels_it() {
    for revision in BOTH {
        let garden = Garden::new(revision);
        let server = garden.serve();
        let (house, _provider) = house(&server, "forever");
        let asking = followed(&house, &garden);
        asking.signal(Signal::KILL);
        drop(asking);
        house.claw(&["panic", "on"]).expect(0);
        let ran = next(&house);
        assert_eq!(garden.noted("cancel "), garden.noted("task "), "{revision:?}: {ran:?}");
        assert!(result(&house).contains("its server was told to cancel it"), "{}", result(&house));
        garden.did(1, 0);
    }
}

/// `systemctl restart`, twice: while the task is followed, and while its server is away.
#[test]
fn an_orderly_end_leaves_it_to_the_next_start_also_while_its_server_is_away() {
    let garden = Garden::new(Revision::R2026);
    let server = garden.serve();
    let (house, _provider) = house(&server, "forever");
    let rig = Rig::with(house);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "dig");
    eventually("it is looked at", || !garden.noted("look ").is_empty());
    rig.stop(gateway);
    drop(server);
    let gateway = rig.start();
    eventually("it is tried", || gateway.err().contains("cannot be reached"));
    rig.stop(gateway);
    let session = rig.session(&rig.anna);
    assert_eq!(outcomes(&rig.house.events(&session)), [json!(null); 0]);
    garden.note("enough");
    let _server = garden.serve();
    let gateway = rig.start();
    rig.telegram.wait_for_text(rig.anna.id, "done");
    let results = outcomes(&rig.house.events(&session));
    assert!(results.len() == 1 && results[0].to_string().contains("dug a hole"), "{results:?}");
    assert_eq!(garden.noted("cancel "), [""; 0]);
    garden.did(1, 1);
    rig.wait_handled();
    rig.wait_delivered();
    rig.stop(gateway);
}

/// The call of an MCP client is driven by whoever serves next; the client sees how far it is.
#[test]
fn a_clients_task_is_left_to_the_process_that_serves_next() {
    for revision in BOTH {
        let garden = Garden::new(revision);
        let server = garden.serve();
        let (house, _provider) = house(&server, "forever");
        house.claw(&["tools"]).expect(0);
        let serve = ["--client", "laptop", "--tools"];
        let mut client = Client::start(&house, &serve, Era::Legacy);
        let _begun = client.begin("garden__forever", &json!({"to": "Rome"}));
        let open = || house.claw(&["approvals", "--json"]).expect(0).rows();
        eventually("its owner is asked", || open().len() == 1);
        house.claw(&["approve", open()[0]["id"].as_str().unwrap()]).expect(0);
        eventually("the client sees it", || client.progress().iter().any(|it| it == "half way"));
        client.signal(Signal::TERM);
        client.ended();
        assert_eq!(garden.noted("cancel "), [""; 0]);
        garden.note("enough");
        let _client = Client::start(&house, &serve, Era::Legacy);
        eventually("the next one goes on", || !garden.noted("effect").is_empty());
        garden.did(1, 1);
    }
}
