//! A turn that is deadly, whatever the cause, is not begun again and again: after two deaths in the
//! same step the owner is asked. Whole runs of the gateway, killed while the model thinks.

use crate::program;
use crate::program::{Running, eventually};
use crate::telegram_model::Rig;
use crate::wires;
use crate::wires::{Answer, Then};
use rustix::process::Signal;

fn silent() -> Answer {
    Answer::raw("", Then::Silence)
}

/// Starts the gateway, waits until the model was asked this often in all, and ends it by `signal`.
fn dies(rig: &Rig, asked: usize, signal: Signal) {
    let gateway = rig.start();
    eventually("the model is asked", || rig.model.recorded().len() == asked);
    ends(gateway, signal);
}

fn ends(gateway: Running, signal: Signal) {
    gateway.signal(signal);
    drop(gateway);
}

#[test]
fn a_turn_that_was_under_way_at_two_deaths_is_parked_and_told_and_goes_on_by_a_tap() {
    let rig = Rig::new([silent(), silent(), Answer::text("Survived.")]);
    rig.anna.starts();
    rig.says("poison");
    dies(&rig, 1, Signal::KILL);
    dies(&rig, 2, Signal::KILL);
    let gateway = rig.start();
    let question = rig.waits_for("ended unexpectedly 2 times");
    assert!(question.text.contains("limits.deaths_of_turn_max"), "{}", question.text);
    assert_eq!(rig.model.recorded().len(), 2, "it was asked a third time without a yes");
    assert!(rig.house.claw(&["approvals"]).expect(0).out.contains("go_on"));
    let doctor = rig.house.claw(&["doctor", "--json"]).expect(1).rows();
    let parked =
        doctor.iter().find(|row| row["id"].as_str().unwrap().starts_with("turn:")).unwrap();
    let (id, said) = (rig.house.waiting(), parked["text"].as_str().unwrap());
    let session = parked["id"].as_str().unwrap().trim_start_matches("turn:");
    let named = [
        &format!("turn {session}:1 "),
        "ended unexpectedly 2 times",
        &format!("claw approve {id}"),
    ];
    assert!(parked["ok"] == false && named.iter().all(|part| said.contains(*part)), "{parked}");
    rig.anna.taps(rig.anna.private(), "Allow once");
    rig.waits_for("Survived.");
    let doctor = rig.house.claw(&["doctor", "--json"]).rows();
    assert!(
        !doctor.iter().any(|row| row["id"].as_str().unwrap().starts_with("turn:")),
        "{doctor:?}"
    );
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn an_end_in_order_is_no_death_and_one_death_asks_nothing() {
    let rig = Rig::new([silent(), silent(), silent(), Answer::text("Here I am.")]);
    rig.anna.starts();
    rig.says("wait");
    dies(&rig, 1, Signal::KILL);
    let gateway = rig.start();
    eventually("the model is asked again", || rig.model.recorded().len() == 2);
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    dies(&rig, 3, Signal::KILL);
    let gateway = rig.start();
    rig.waits_for("Here I am.");
    assert_eq!(
        rig.telegram
            .sent(rig.anna.id)
            .iter()
            .filter(|one| one.text.contains("unexpectedly"))
            .count(),
        0
    );
    drop(gateway);
    rig.house.is_whole();
}

/// `claw ask` with more than the window says so, sends nothing, and the next message is a small one
/// again.
#[test]
fn a_message_over_the_window_is_refused_before_it_is_sent_and_nothing_is_lost() {
    let model = wires::threaded::Threaded::start(wires::Wire::OpenAi, [Answer::text("Hello.")]);
    let house = program::House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", "[limits]\nwindow_tokens = 2000\n");
    let long = format!("needle {}", "many words ".repeat(2000));
    let ran = house.claw(&["ask", &long]);
    let said = format!("{}{}", ran.out, ran.err);
    for words in ["not sent", "limits.window_tokens", "log of the session `main`", "file"] {
        assert!(said.contains(words), "`{words}` is missing in {said}");
    }
    assert_eq!(model.recorded().len(), 0, "it was sent");
    assert!(
        house.claw(&["sessions", "show", "main"]).expect(0).out.contains("needle"),
        "it is lost"
    );
    assert!(house.claw(&["ask", "hello"]).expect(0).out.contains("Hello."));
    assert!(
        !model.recorded()[0].body.to_string().contains("needle"),
        "it went along with the next one"
    );
    house.is_whole();
}

/// Nor does it go along with a turn that is under way: it has a turn of its own, in which it is
/// refused, and what is said behind it comes behind it.
#[test]
fn a_message_over_the_window_joins_no_turn() {
    let write = serde_json::json!({"path": "a", "content": "x"});
    let script = [
        Answer::calls(&[("filesystem__write_file", write)]),
        Answer::text("As you like."),
        Answer::text("Hello."),
    ];
    let model = wires::threaded::Threaded::start(wires::Wire::OpenAi, script);
    let house = program::House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", "[limits]\nwindow_tokens = 2000\n");
    let question = house.ask_parks("write a file");
    let long = format!("needle {}", "many words ".repeat(2000));
    house.claw(&["ask", &long]).expect(3);
    house.claw(&["ask", "a thimble"]).expect(3);
    let denied = house.claw(&["deny", &question, "no"]);
    let hello = house.claw(&["ask", "hello"]);
    let told = format!("{denied:?}{hello:?}");
    assert!(told.contains("As you like.") && told.contains("at most 2,000 go at once"), "{told}");
    let sent: Vec<String> = model.recorded().iter().map(|one| one.body.to_string()).collect();
    assert!(sent.iter().all(|body| !body.contains("needle")), "it was sent");
    let first = sent.iter().position(|body| body.contains("thimble"));
    assert_eq!(first, Some(2), "what came behind it overtook it, or was lost");
    let kept = house.claw(&["sessions", "show", "main"]).expect(0).out;
    assert!(kept.contains("needle") && kept.find("needle") < kept.find("thimble"), "it is lost");
    house.is_whole();
}
