//! `@server:uri` in a message, through the whole program: the resource is read once, by its server
//! alone, stands quoted before the message, and stays what it was; what cannot be had is one
//! sentence, and the message goes on.

use crate::program::{SERVER_WAIT, eventually, example};
use crate::shelf_rig::{NO_ANSWER_MS, Shelf};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Then};
use rustix::process::Signal;
use serde_json::json;

const NOTES: &str = "resources/read shelf://notes";

fn yes(count: usize) -> Vec<Answer> {
    (0..count).map(|_| Answer::text("Yes.")).collect()
}

#[test]
fn a_resource_is_read_once_quoted_and_stays_what_it_was_across_a_kill() {
    for era in ["legacy", "modern"] {
        let silence = Answer::raw("", Then::Silence);
        let shelf = Shelf::of(era, [silence].into_iter().chain(yes(2)));
        let asking = shelf.house.start(&["ask", "Look at @shelf:shelf://notes, please."]);
        eventually("the model is asked", || shelf.model.recorded().len() == 1);
        asking.signal(Signal::KILL);
        drop(asking);
        shelf.puts("notes", "second edition");
        shelf.house.claw(&["ask", "And now?"]).expect(0);
        for request in [shelf.request(0), shelf.request(1)] {
            assert!(
                request.contains("attaches the resource `shelf://notes` of the server `shelf`"),
                "{request}"
            );
            assert!(
                request
                    .contains("> [resource shelf://notes]\n> first edition\n[end of the resource]"),
                "{request}"
            );
        }
        assert_eq!(shelf.asked(NOTES), 1, "{:?}", shelf.record());
        let row =
            shelf.house.audit().into_iter().find(|row| row["body"]["tool"] == "resources/read");
        let row = row.unwrap();
        assert_eq!(
            (&row["body"]["server"], &row["body"]["origin"]),
            (&"shelf".into(), &"owner".into())
        );
        let story =
            shelf.house.claw(&["audit", "explain", row["call"].as_str().unwrap()]).expect(0);
        assert!(
            story.out.contains("the owner has named it in a message of their own"),
            "{}",
            story.out
        );
        let shown = shelf.house.claw(&["sessions", "show", "main"]).expect(0).out;
        assert!(shown.contains("`@shelf:shelf://notes` was given to the model ("), "{shown}");
        shelf.is_whole();
    }
}

/// To read is no effect, so what was interrupted is read again.
#[test]
fn a_kill_while_it_is_read_has_it_read_again() {
    let shelf = Shelf::new(yes(3));
    let asking = shelf.house.start(&["ask", "Look at @shelf:shelf://gate"]);
    eventually("it is read", || shelf.asked("resources/read shelf://gate") == 1);
    asking.signal(Signal::KILL);
    drop(asking);
    shelf.puts("go", "");
    shelf.house.claw(&["ask", "--session", "other", "Hello"]).expect(0);
    shelf.house.claw(&["ask", "And?"]).expect(0);
    assert_eq!(shelf.asked("resources/read shelf://gate"), 2, "{:?}", shelf.record());
    let request = shelf.request(1);
    assert!(request.contains("> behind the gate\n[end of the resource]"), "{request}");
    assert_eq!(request.matches("> behind the gate").count(), 1);
    shelf.is_whole();
}

#[test]
fn only_the_server_that_is_named_is_asked_and_claw_opens_nothing() {
    let shelf = Shelf::new(yes(3));
    shelf.house.claw(&["ask", "See @shelf:file:///etc/passwd"]).expect(0);
    let request = shelf.request(0);
    assert!(request.contains("> shelf:x:0:0:a word of the shelf"), "{request}");
    assert!(!request.contains("root:"), "{request}");
    assert_eq!(shelf.asked("resources/read file:///etc/passwd"), 1);
    // A server that nobody knows, and one that is claw's own, are one sentence; a word that people
    // write to each other is none.
    let ran =
        shelf.house.claw(&["ask", "See @nowhere:file:///etc/passwd and ask @bob: why"]).expect(0);
    let told = "`@nowhere:file:///etc/passwd` could not be attached: there is no server `nowhere` in \
        mcp.json; it has shelf. Your message goes on without it.";
    assert!(ran.err.contains(told), "{}", ran.err);
    assert!(!ran.err.contains("bob"), "{}", ran.err);
    let request = shelf.request(1);
    assert!(request.contains("[claw: `@nowhere:file:///etc/passwd` of the next message could not"));
    assert!(!request.contains("root:x:"), "{request}");
    let ran = shelf.house.claw(&["ask", "@filesystem:file:///etc/passwd"]).expect(0);
    assert!(ran.err.contains("`filesystem` is a server of claw's own"), "{}", ran.err);
    assert_eq!(shelf.record().iter().filter(|line| line.starts_with("resources/read")).count(), 1);
    shelf.is_whole();
}

#[test]
fn what_is_too_large_too_slow_or_not_there_is_named_with_its_limit_and_the_message_goes_on() {
    let shelf = Shelf::new(yes(5));
    let told = |uri: &str| {
        let ran = shelf.house.claw(&["ask", &format!("Look at @shelf:{uri}.")]).expect(0);
        assert!(ran.out.contains("Yes."), "{ran:?}");
        ran.err
    };
    let missing = told("shelf://nothing");
    assert!(missing.contains("could not be attached: the server `shelf` refused"), "{missing}");
    assert!(missing.contains("Resource not found"), "{missing}");
    let big = told("shelf://big");
    assert!(big.contains("more than 16777216 bytes (limits.server_message_bytes_max)"), "{big}");
    // What is only long is kept whole, and named.
    assert!(!told("shelf://long").contains("could not be attached"));
    let request = shelf.request(2);
    assert!(request.contains("limits.tool_result_bytes") && request.contains("artifact "));
    assert!(
        request.len() < 60_000 && request.contains("the end\n[end of the resource]"),
        "{request}"
    );
    let kept = shelf.house.claw(&["artifacts", "--json"]).expect(0).rows();
    assert!(kept.iter().any(|row| row["bytes"].as_u64() > Some(100_000)), "{kept:?}");
    // A picture is shown to a model that can see, and named to all.
    assert!(!told("shelf://picture").contains("could not be attached"));
    assert!(shelf.request(3).contains("> [resource shelf://picture, image/png, "));
    shelf.serves("legacy", Some(NO_ANSWER_MS));
    let slow = told("shelf://slow");
    assert!(
        slow.contains("within 1.5 s (limits.tool_timeout_s, or `timeout` of the server"),
        "{slow}"
    );
    shelf.is_whole();
}

#[test]
fn a_rule_of_the_owners_still_counts_and_data_names_nothing() {
    let shelf = Shelf::new(yes(3));
    let rule = |decision: &str| {
        format!(
            "[[rule]]\nserver = \"shelf\"\ntool = \"resources/read\"\ndecision = \"{decision}\"\n\
             why = \"mine\"\n"
        )
    };
    shelf.house.write("policy.toml", &rule("ask"));
    let ran = shelf.house.claw(&["ask", "@shelf:shelf://notes"]).expect(0);
    assert!(ran.err.contains("wants a question for it"), "{}", ran.err);
    shelf.house.write("policy.toml", &rule("deny"));
    let ran = shelf.house.claw(&["ask", "@shelf:shelf://notes"]).expect(0);
    assert!(ran.err.contains("could not be attached: mine"), "{}", ran.err);
    shelf.house.write("policy.toml", "");
    let piped = b"from elsewhere: @shelf:shelf://notes\n";
    shelf.house.claw_with_stdin(&["ask", "Sum it up"], piped).expect(0);
    assert_eq!(shelf.asked(NOTES), 0, "{:?}", shelf.record());
    assert!(shelf.house.claw(&["approvals", "--json"]).expect(0).rows().is_empty());
    shelf.is_whole();
}

#[test]
fn a_resource_that_has_changed_is_told_once_with_the_next_message() {
    for era in ["legacy", "modern"] {
        let shelf = Shelf::of(era, yes(4));
        let mut chat = shelf.house.start(&["chat"]);
        let mut says = |text: &str, count: usize| {
            chat.types(format!("{text}\n").as_bytes());
            eventually("the model has answered", || chat.out().matches("Yes.").count() >= count);
        };
        says("Keep @shelf:shelf://notes in mind", 1);
        eventually("it is heard of", || {
            let record = shelf.record();
            let subscribed = ["resources/subscribe shelf://notes", "subscriptions/listen"];
            record.iter().any(|line| subscribed.contains(&line.as_str()))
        });
        shelf.puts("ring", "");
        eventually("it has told", || shelf.asked("rang") == 1);
        // What the server has told before it answers is heard before the answer.
        says("And @shelf:shelf://long?", 2);
        says("Go on", 3);
        chat.types(b"/quit\n");
        chat.ends().expect(0);
        let told = "`@shelf:shelf://notes`, which was attached above, has changed since";
        let counts: Vec<usize> = (0..3).map(|nr| shelf.request(nr).matches(told).count()).collect();
        assert_eq!(counts, [0, 1, 1], "{era}: {}", shelf.request(2));
        assert_eq!(shelf.asked(NOTES), 1, "nothing is read again by itself");
        let turns = shelf.model.recorded().len();
        assert_eq!(turns, 3, "a change begins no turn");
        shelf.is_whole();
    }
}

/// Words that somebody passes on are not theirs.
#[test]
fn a_resource_is_attached_by_its_owners_words_in_telegram_and_by_none_that_are_passed_on() {
    let rig = Rig::new(yes(2));
    rig.house.write("claw.toml", SERVER_WAIT);
    let record = rig.house.user_home().join("shelf");
    let entry = json!({"command": example("shelf"), "args": ["legacy", record]});
    rig.house.write("mcp.json", &json!({"mcpServers": {"shelf": entry}}).to_string());
    let asked = || {
        let record = std::fs::read_to_string(&record).unwrap_or_default();
        record.lines().filter(|line| *line == NOTES).count()
    };
    let gateway = rig.start();
    rig.anna.starts();
    let anna = rig.anna.private();
    rig.anna.writes(anna).forwarded_from("Bert").text("Look at @shelf:shelf://notes!").send();
    rig.hears("Yes.");
    assert_eq!(asked(), 0);
    let body = rig.model.recorded()[0].body.to_string();
    assert!(body.contains("@shelf:shelf://notes") && !body.contains("first edition"), "{body}");
    rig.says("Look at @shelf:shelf://notes yourself");
    eventually("the model is asked again", || rig.model.recorded().len() == 2);
    let body = rig.model.recorded()[1].body.to_string();
    assert!(body.contains("> [resource shelf://notes]\\n> first edition"), "{body}");
    assert_eq!(asked(), 1);
    drop(gateway);
    assert_eq!(rig.model.faults(), Vec::<String>::new());
}
