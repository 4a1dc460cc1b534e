//! A scripted day of two people: how often claw asks, how much there is to read, and that no bad
//! call slips through because its owner has said yes to all that was on offer.
//!
//! `cargo test --test whole friction:: -- --nocapture` prints the counts.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::print_stderr, reason = "it prints what it has counted")]
#![expect(clippy::disallowed_methods, reason = "a workspace becomes a repository by git itself")]
#![cfg(target_os = "linux")]

mod day;
mod eight;
mod owner;
mod person;
mod seeds;

use day::{Day, Request};
use person::{Count, Person, Says};
use serde_json::Value;

/// What the core may ask. It was 44 questions before commands had levels and sessions had modes.
const QUESTIONS_OF_THE_CORE_MAX: usize = 12;
/// What the whole day asked then.
const QUESTIONS_BEFORE: usize = 105;
/// How often each harmless call of a trap is repeated, in replies of three calls.
const REPEATS: usize = 30;

fn steps(request: &Request) -> Vec<Vec<(&'static str, Value)>> {
    request.steps.iter().map(|step| step.iter().map(day::Action::call).collect()).collect()
}

/// Plays a day; the count of its core, and of all of it.
fn play(day: &Day, person: &mut Person) -> (Count, Count) {
    let (mut core, mut all) = (Count::default(), Count::default());
    for (index, request) in day.requests.iter().enumerate() {
        let to = if request.bad.is_some() { Says::No } else { Says::TheBroadestYes };
        let count = person.asks(&request.says, &steps(request), to);
        if let Some(bad) = &request.bad {
            nothing_ran(person, count.calls, &format!("{} ({bad})", request.says));
        }
        if index < day.core {
            core += count;
        }
        all += count;
    }
    person.provider_refused_nothing();
    (core, all)
}

/// A no, a rule or the box: the call did not do what it says.
fn nothing_ran(person: &Person, calls: usize, what: &str) {
    for outcome in person.last_outcomes(calls) {
        assert_eq!(outcome["kind"], "denied", "it ran: {what}: {outcome}");
    }
}

fn print(name: &str, count: Count) {
    let Count { requests, calls, questions, lines, screens } = count;
    eprintln!(
        "{name:<28} {requests:>4} requests {calls:>4} calls {questions:>4} questions {lines:>5} lines {screens:>4} screens"
    );
}

#[test]
fn a_scripted_day_asks_seldom() {
    let (mut developer, mut writer) = (Person::new(), Person::new());
    developer.has(seeds::PROJECT);
    writer.has(seeds::PAPERS);
    let (core, mut all) = play(&day::developer(), &mut developer);
    let (more, rest) = play(&day::documents(), &mut writer);
    let mut both = core;
    both += more;
    all += rest;
    print("developer, the core", core);
    print("documents, the core", more);
    print("both, the core", both);
    print("both, the whole day", all);
    if developer.house.holds_every_level() {
        assert!(both.questions <= QUESTIONS_OF_THE_CORE_MAX, "{both:?}");
        assert!(all.questions * 3 <= QUESTIONS_BEFORE, "{all:?}");
    }
    developer.house.is_whole();
    writer.house.is_whole();
}

#[test]
fn thirty_harmless_calls_open_no_way_for_a_bad_one() {
    for trap in day::traps() {
        let mut person = Person::new();
        person.has(seeds::PAPERS);
        let replies = |action: &day::Action| -> Vec<Vec<(&'static str, Value)>> {
            let calls: Vec<_> = (1..=REPEATS).map(|n| action.numbered(n)).collect();
            calls.chunks(3).map(<[_]>::to_vec).collect()
        };
        for action in trap.prepare.iter().chain([&trap.harmless]) {
            for half in replies(action).chunks(5) {
                person.asks("As before.", half, Says::TheBroadestYes);
            }
        }
        person.asks("And this one.", &[vec![trap.bad.call()]], Says::No);
        nothing_ran(&person, 1, &trap.name);
    }
}
