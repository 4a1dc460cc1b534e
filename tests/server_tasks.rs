//! A server that makes a task of a call, through the whole program: it is followed to its end,
//! stopped, killed at each named point and resumed, lost, and a hostile one gets nowhere.

use std::fs;
use std::io::Write as _;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{House, Running, SERVER_WAIT, eventually, example, outcomes};
use crate::rounds::points;
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";

/// A house with the server, whose calls end within so many seconds, and a model that calls its tool
/// once and then says `done`.
fn house(tool: &str, timeout_s: u32) -> (House, Threaded) {
    let call = Call::new("a", &format!("garden__{tool}"), r#"{"to": "Rome"}"#);
    // More than it needs: a turn that is stopped is followed by the next message.
    let answers = [Answer::Turn(Turn::calls(&[call])), Answer::text("done"), Answer::text("done")];
    let provider = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &provider.base_url);
    // Two kills in a row are no reason to ask whether the turn may go on.
    house.write("claw.toml", &format!("{SERVER_WAIT}deaths_of_turn_max = 9\n"));
    house.write("policy.toml", ALLOW);
    let entry = json!({"command": example("tasking-server"), "args": [record(&house)],
        "timeout": timeout_s * 1000});
    house.write("mcp.json", &json!({"mcpServers": {"garden": entry}}).to_string());
    (house, provider)
}

fn record(house: &House) -> std::path::PathBuf {
    house.user_home().join("record")
}

/// What the server has noted behind this word.
fn noted(house: &House, word: &str) -> Vec<String> {
    let text = fs::read_to_string(record(house)).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
}

fn result(house: &House) -> Value {
    let results = outcomes(&house.events("main"));
    assert_eq!(results.len(), 1, "{results:?}");
    results[0].clone()
}

/// A call whose task is looked at.
fn followed(house: &House) -> Running {
    let asking = house.start(&["ask", "dig"]);
    eventually("it is looked at", || !noted(house, "look ").is_empty());
    asking
}

#[test]
fn a_task_is_followed_to_its_result() {
    let (house, _provider) = house("dig", 60);
    let ran = house.claw(&["ask", "dig"]).expect(0);
    assert_eq!(ran.out, "done\n");
    assert_eq!(noted(&house, "look ").len(), 3);
    assert!(result(&house).to_string().contains("dug a hole"), "{}", result(&house));
    assert_eq!(noted(&house, "effect").len(), 1);
    // The words of its server speak for nobody else.
    assert!(!ran.err.contains('\u{1b}') && !ran.err.contains("\nclaw: the owner"), "{}", ran.err);
    house.is_whole();
}

/// The form of a task is the round that every call may have, and one answer is sent once.
#[test]
fn a_task_asks_and_goes_on_from_another_process() {
    let (house, _provider) = house("asks", 60);
    let id = house.ask_parks("dig");
    assert!(noted(&house, "effect").is_empty());
    let ran = house.claw(&["approve", &id, "--value", "yes"]).expect(0);
    assert_eq!(ran.out, "done\n");
    let heard = noted(&house, "heard ");
    assert!(heard.len() == 1 && heard[0].contains("accept"), "{heard:?}");
    assert_eq!((noted(&house, "task ").len(), noted(&house, "effect").len()), (1, 1));
    house.is_whole();
}

#[test]
fn ctrl_c_cancels_the_task() {
    let (house, _provider) = house("forever", 60);
    let asking = followed(&house);
    asking.signal(Signal::INT);
    asking.ends().expect(130);
    assert_eq!(noted(&house, "cancel "), noted(&house, "task "));
    assert!(result(&house).to_string().contains("its server was told to cancel it"));
    house.is_whole();
}

#[test]
fn after_a_kill_the_task_is_found_again_by_its_id() {
    let (house, _provider) = house("dig", 60);
    let asking = followed(&house);
    asking.signal(Signal::KILL);
    drop(asking);
    // Whoever comes next finds the turn, and its end.
    house.claw(&["ask", "and now?"]);
    assert!(result(&house).to_string().contains("dug a hole"), "{}", result(&house));
    assert_eq!((noted(&house, "task ").len(), noted(&house, "effect").len()), (1, 1));
    house.is_whole();
}

#[test]
fn a_task_that_its_server_has_forgotten_is_unknown_and_not_begun_again() {
    let (house, _provider) = house("forever", 60);
    let asking = followed(&house);
    asking.signal(Signal::KILL);
    drop(asking);
    fs::write(record(&house), "forgotten\n").unwrap();
    let ran = house.claw(&["ask", "and now?"]);
    assert!(
        ran.err.contains("its server does not know its task any more (error -32602)"),
        "{ran:?}"
    );
    // Its server's words are not in claw's.
    assert!(!ran.err.contains("it went well"), "{}", ran.err);
    assert!(result(&house).to_string().contains("unknown"), "{}", result(&house));
    assert!(noted(&house, "task ").is_empty());
    house.is_whole();
}

#[test]
fn an_error_that_passes_is_no_end() {
    let (house, _provider) = house("ails", 60);
    house.claw(&["ask", "dig"]).expect(0);
    assert!(result(&house).to_string().contains("dug a hole"), "{}", result(&house));
    assert_eq!((noted(&house, "task ").len(), noted(&house, "effect").len()), (1, 1));
}

/// `systemctl restart` is no stop of the turn.
#[test]
fn a_gateway_that_ends_leaves_the_task_to_the_next_one() {
    let (house, _provider) = house("forever", 600);
    let rig = Rig::with(house);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "dig");
    eventually("it is looked at", || !noted(&rig.house, "look ").is_empty());
    rig.stop(gateway);
    assert!(noted(&rig.house, "cancel ").is_empty());
    let session = rig.session(&rig.anna);
    assert!(outcomes(&rig.house.events(&session)).is_empty());
    let looks = noted(&rig.house, "look ").len();
    let gateway = rig.start();
    eventually("it is looked at again", || noted(&rig.house, "look ").len() > looks);
    fs::OpenOptions::new()
        .append(true)
        .open(record(&rig.house))
        .and_then(|mut file| file.write_all(b"enough\n"))
        .unwrap();
    rig.telegram.wait_for_text(rig.anna.id, "done");
    assert_eq!((noted(&rig.house, "task ").len(), noted(&rig.house, "effect").len()), (1, 1));
    let results = outcomes(&rig.house.events(&session));
    assert!(results.len() == 1 && results[0].to_string().contains("dug a hole"), "{results:?}");
    rig.wait_handled();
    rig.wait_delivered();
    rig.stop(gateway);
}

/// It waits for an answer, so that nobody follows it when the turn is stopped.
#[test]
fn a_stop_cancels_a_task_that_nobody_follows() {
    let (house, _provider) = house("asks", 600);
    let rig = Rig::with(house);
    let gateway = rig.start();
    let home = rig.anna.private();
    rig.anna.says(home, "dig");
    rig.telegram.wait_for("its question", |world| {
        world.messages(home).find(|it| it.button("✖ Decline").is_some()).cloned()
    });
    rig.anna.says(home, "/stop");
    eventually("its server hears of it", || {
        noted(&rig.house, "cancel ") == noted(&rig.house, "task ")
    });
    rig.telegram.wait_for_text(rig.anna.id, "its server was told to cancel it");
    assert!(noted(&rig.house, "effect").is_empty());
    rig.wait_handled();
    rig.wait_delivered();
    rig.stop(gateway);
}

#[test]
fn a_hostile_task_ends_with_the_call_and_proves_nothing() {
    // Those that end by themselves have the time that a busy machine needs.
    let unknown = [
        ("forever", 5, "its task had no end within 5 s"),
        ("seldom", 5, "its task had no end within 5 s"),
        ("other", 60, "spoke of another"),
        ("lost", 60, "does not know its task any more"),
        ("given_up", 60, "its server has cancelled its task"),
        ("sly", 60, "gives no result"),
    ];
    for (tool, time_s, why) in unknown {
        let (house, _provider) = house(tool, time_s);
        let ran = house.claw(&["ask", "dig"]).expect(0);
        assert!(ran.err.contains(why), "{tool}: {ran:?}");
        let result = result(&house).to_string();
        assert!(result.contains("unknown") && !result.contains("not yours"), "{tool}: {result}");
        assert_eq!(noted(&house, "task ").len(), 1, "{tool}");
        house.is_whole();
    }
}

#[test]
fn a_task_that_fails_says_so_to_the_model() {
    let (house, _provider) = house("fails", 60);
    house.claw(&["ask", "dig"]).expect(0);
    let result = result(&house).to_string();
    assert!(result.contains("failed: the spade broke (JSON-RPC error -32000)"), "{result}");
}

/// Each named point of a task ends one process; the next one goes on. The effect is there once, or
/// the call is told to be unknown.
#[test]
fn a_kill_at_each_point_of_a_task_does_nothing_twice() {
    let known = points::points_of(points::Rig::Tasks).unwrap();
    let ours: Vec<&String> = known.iter().filter(|point| point.starts_with("task.")).collect();
    assert_eq!(ours.len(), 4, "{known:?}");
    for point in ours {
        let (house, _provider) = house("dig", 60);
        let mut kills = vec![point.as_str()];
        if point.starts_with("task.resumed.") {
            kills.insert(0, "task.begun.after");
        }
        let mut killed = 0;
        for _ in 0..5 {
            let mut command = house.command(&["ask", "dig"]);
            if let Some(kill) = kills.get(killed) {
                command.env("CLAW_KILL_AT", format!("{kill}:1"));
            }
            let ran = house.begin(command).ends();
            killed += usize::from(ran.code.is_none());
            if !outcomes(&house.events("main")).is_empty() {
                break;
            }
        }
        assert_eq!(killed, kills.len(), "{point} was not passed");
        let (tasks, effects) = (noted(&house, "task ").len(), noted(&house, "effect").len());
        let unknown = result(&house).to_string().contains("unknown");
        assert_eq!(tasks, 1, "{point}");
        // Before its id is on the disk, nobody can ask about it.
        assert_eq!(
            (effects, unknown),
            match point.as_str() {
                "task.begun.before" => (0, true),
                _ => (1, false),
            },
            "{point}"
        );
        house.is_whole();
    }
}
