//! What a model had written when its turn was stopped in the middle of a reply, through the whole
//! program: it stays on the screen and in the log, and the next request has it, marked as cut.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{House, eventually};
use crate::pty::Pty;
use crate::telegram_model::Rig;
use crate::wires::openai::chunk;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Then, Wire};

/// A paragraph, and the beginning of another one.
const WRITTEN: &str = "I shall explain it.\n\nFirst of all";

const WRITTEN_LAST: &str = "First of all";

/// Begins to write, and then nothing comes any more; the next reply is whole.
fn answers() -> [Answer; 2] {
    let begun = chunk(json!({"role": "assistant", "content": WRITTEN}), Value::Null);
    [Answer::raw(&begun, Then::Silence), Answer::text("Something else.")]
}

/// The log of a session has what was written, and the model has read it with the next message.
#[track_caller]
fn is_kept(house: &House, session: &str, model: &Threaded) {
    let events = house.events(session);
    let of_type = |kind: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["type"] == kind).collect()
    };
    let partial = of_type("model.partial");
    assert!(partial.len() == 1 && partial[0]["text"] == WRITTEN, "{events:#?}");
    let ends: Vec<&Value> =
        of_type("turn.ended").iter().map(|event| &event["end"]["kind"]).collect();
    assert_eq!(ends, ["stopped", "answered"]);
    let shown = house.claw(&["sessions", "show", session]).expect(0).out;
    assert!(shown.contains("(stopped while it wrote) I shall explain it."), "{shown}");
    let requests = model.recorded();
    assert_eq!(requests.len(), 2);
    let read = requests[1].body["messages"].as_array().unwrap();
    let own: Vec<&Value> = read
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| &message["content"])
        .collect();
    assert_eq!(own, [&json!(format!("{WRITTEN}\n[stopped here]"))]);
    assert_eq!(model.faults(), [""; 0]);
    house.is_whole();
}

#[test]
fn what_was_written_before_a_stop_at_the_console_is_shown_once_kept_and_read_again() {
    let model = Threaded::start(Wire::OpenAi, answers());
    let house = House::at("openai-compatible", &model.base_url);
    let mut chat = house.start(&["chat"]);
    chat.types(b"explain it\n");
    eventually("it begins", || chat.out().contains("I shall explain it."));
    chat.types(b"/stop\n");
    eventually("it is stopped", || chat.out().contains("Stopped."));
    chat.types(b"and now?\n");
    eventually("it answers", || chat.out().contains("Something else."));
    let shown = chat.ends().expect(0).out;
    let order = ["I shall explain it.", "First of all", "Stopped.", "Something else."];
    let places: Vec<usize> = order.iter().filter_map(|words| shown.find(words)).collect();
    assert!(places.len() == order.len() && places.is_sorted(), "{shown}");
    assert!(order.iter().all(|words| shown.matches(words).count() == 1), "{shown}");
    is_kept(&house, "main", &model);
}

#[test]
fn what_was_written_before_ctrl_c_of_one_question_is_printed_once_kept_and_read_again() {
    let model = Threaded::start(Wire::OpenAi, answers());
    let house = House::at("openai-compatible", &model.base_url);
    let mut ask = Pty::start(&house, &["ask", "explain it"]);
    ask.shows("writing …").signals(Signal::INT).shows("Stopping…");
    let shown = ask.shows(WRITTEN_LAST).shows("Stopped.").ends(130);
    for words in ["I shall explain it.", WRITTEN_LAST] {
        assert_eq!(shown.matches(words).count(), 1, "{shown}");
    }
    assert_eq!(house.claw(&["ask", "and now?"]).expect(0).out, "Something else.\n");
    is_kept(&house, "main", &model);
}

#[test]
fn what_was_written_before_a_stop_in_telegram_stays_in_its_message_with_a_word_that_it_was_cut() {
    let rig = Rig::new(answers());
    let gateway = rig.start();
    rig.says("explain it");
    let draft = rig.waits_for("First of all");
    rig.says("/stop");
    rig.hears("Stopped.");
    let kept = rig.telegram.message(draft.chat, draft.id).text;
    assert!(kept.starts_with(WRITTEN) && kept.ends_with("[interrupted]"), "{kept}");
    rig.says("and now?");
    rig.hears("Something else.");
    assert_eq!(rig.count(rig.anna.id, "First of all"), 1, "it is said once");
    drop(gateway);
    is_kept(&rig.house, &rig.session(&rig.anna), &rig.model);
}
