//! How questions look, and that they show exactly what would run.

mod whole;

use insta::assert_snapshot;
use jiff::tz::TimeZone;

use super::*;
use crate::api::callback::{Callback, Tap};
use crate::domain::escape::{visible, visible_multiline};
use crate::domain::{ApprovalId, CallId, Choice, Effect, Scope, SessionId, Term};
use crate::tests::{all_faults, drawn};

pub(super) fn clock() -> Clock {
    Clock { now_ms: 1_000_000_000_000, zone: TimeZone::UTC }
}

pub(super) fn asked(arguments: &[(&str, &str)]) -> Question {
    let allow = |term, scope| Answer::Allow { term, scope };
    let below = || Scope::Below { path: "src/bin".into() };
    let choice =
        |key: &str, label: &str, answer| Choice { key: key.into(), label: label.into(), answer };
    let exactly = "allow filesystem/write_file with exactly these arguments";
    let any = "allow filesystem/write_file for any path at or below src/bin, whatever its other arguments";
    Question {
        approval: ApprovalId("k3v9q0m2xz".into()),
        call: CallId::Reply { session: SessionId::new("main").unwrap(), reply_seq: 3, block: 0 },
        session: Some(SessionId::new("main").unwrap()),
        server: "filesystem".into(),
        tool: "write_file".into(),
        arguments: arguments
            .iter()
            .map(|(name, value)| (visible(name), visible_multiline(value)))
            .collect(),
        why: "it changes files, and no rule allows it".into(),
        effect: None,
        expires_at_ms: clock().now_ms + 4 * 3_600_000,
        staged: None,
        list: None,
        input: None,
        choices: vec![
            choice("y", "allow this one call", allow(Term::Once, Scope::Exact)),
            choice(
                "10m",
                &format!("{exactly}, for 10 minutes"),
                allow(Term::TenMinutes, Scope::Exact),
            ),
            choice(
                "s",
                &format!("{exactly}, until this session ends or /new"),
                allow(Term::Session, Scope::Exact),
            ),
            choice(
                "a",
                &format!("{exactly}, until you revoke it"),
                allow(Term::Always, Scope::Exact),
            ),
            choice(
                "sb",
                &format!("{any}, until this session ends or /new"),
                allow(Term::Session, below()),
            ),
            choice("ab", &format!("{any}, until you revoke it"), allow(Term::Always, below())),
            choice("n", "deny this one call", Answer::Deny { word: None }),
            choice(
                "n WORDS",
                "deny this one call and tell the model WORDS",
                Answer::Deny { word: None },
            ),
            choice(
                "never",
                "deny filesystem/write_file with exactly these arguments, now and always",
                Answer::Never,
            ),
        ],
    }
}

pub(super) fn whole_of(text: QuestionText) -> Part {
    match text {
        QuestionText::Whole(part) => part,
        QuestionText::Long { .. } => panic!("the question is long"),
    }
}

pub(super) fn keys(rows: &[Vec<crate::api::callback::Button>]) -> String {
    let row = |row: &Vec<crate::api::callback::Button>| {
        row.iter()
            .map(|button| format!("[{} {}]", button.label, button.data))
            .collect::<Vec<_>>()
            .join(" ")
    };
    rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn all_of_a_question() {
    let asked = asked(&[
        ("content", "fn main() {\n    go()\u{202e};  \n}\n"),
        ("path", "src/bin/a.rs"),
        ("mode", ""),
    ]);
    assert_snapshot!(drawn(&[whole_of(whole_question(&asked, &clock()))]), @r"
    <b>Allow this?</b>
    filesystem/write_file

    <b>content</b>
    <pre>fn main() {
        go()\u{202e}; \u{20}
    }\n</pre>

    <b>path</b>
    <pre>src/bin/a.rs</pre>

    <b>mode</b>
    <i>(empty)</i>

    Why it asks: it changes files, and no rule allows it
    Open until 05:46 (4 h)

    <b>Allow once</b> – allow this one call
    <b>10 min</b> – allow filesystem/write_file with exactly these arguments, for 10 minutes
    <b>This session</b> – allow filesystem/write_file with exactly these arguments, until this session ends or /new
    <b>Always: exactly these arguments</b> – allow filesystem/write_file with exactly these arguments, until you revoke it
    <b>This session: any path below src/bin</b> – allow filesystem/write_file for any path at or below src/bin, whatever its other arguments, until this session ends or /new
    <b>Always: any path below src/bin</b> – allow filesystem/write_file for any path at or below src/bin, whatever its other arguments, until you revoke it
    <b>Never: exactly these arguments</b> – deny filesystem/write_file with exactly these arguments, now and always
    ");
}

#[test]
fn all_of_a_call_without_arguments() {
    let mut asked = asked(&[]);
    asked.choices.truncate(1);
    assert_snapshot!(drawn(&[whole_of(whole_question(&asked, &clock()))]), @r"
    <b>Allow this?</b>
    filesystem/write_file

    <i>(no arguments)</i>

    Why it asks: it changes files, and no rule allows it
    Open until 05:46 (4 h)

    <b>Allow once</b> – allow this one call
    ");
}

/// A question about a call that is told in words.
fn asked_in_words() -> Question {
    let lines = (1..=60).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let effect = Effect {
        says: "Replace notes/letter.md (3 of 40 lines change). No way back".into(),
        danger: true,
        notes: vec!["It can change files in the workspace; no network".into()],
        asker: Some("Asked for by a schedule".into()),
        difference: "@ line 3\n same\n-old\\u{202e}\n+new  \n".into(),
        told: vec!["path".into(), "content".into()],
        seen: Some("text 1".into()),
        ..Effect::default()
    };
    let path = ("path", "notes/letter.md");
    Question { effect: Some(effect), ..asked(&[path, ("encoding", "utf-8"), ("content", &lines)]) }
}

#[test]
fn a_question() {
    let asked = asked_in_words();
    assert_snapshot!(drawn(&[whole_of(question(&asked, &clock()))]), @r"
    <b>⚠️ Replace</b> <code>notes/letter.md</code> <b>(3 of 40 lines change). No way back</b>
    <i>It can change files in the workspace; no network</i>
    <i>Asked for by a schedule</i>
    <pre diff>@ line 3
     same
    -old\u{202e}
    +new \u{20}</pre>
    <b>encoding</b> <code>utf-8</code>
    Open until 05:46 (4 h)
    ");
    assert!(keys(&keyboard(&asked)).contains("[Show all q:k3v9q0m2xz:i]"));
    let QuestionText::Whole(all) = whole_question(&asked, &clock()) else { panic!("it fits") };
    for part in ["What changes\n@ line 3\n same\n-old\\u{202e}\n+new \\u{20}", "line 37\n"] {
        assert!(all.text.contains(part), "{part}: {}", all.text);
    }
}

#[test]
fn the_buttons() {
    let mut asked = asked(&[]);
    assert_snapshot!(keys(&keyboard(&asked)), @r"
    [Allow once q:k3v9q0m2xz:=y] [10 min q:k3v9q0m2xz:=10m]
    [This session q:k3v9q0m2xz:=s] [Always… q:k3v9q0m2xz:a]
    [This session: any path below src/bin q:k3v9q0m2xz:=sb]
    [Deny q:k3v9q0m2xz:=n] [Never… q:k3v9q0m2xz:n]
    [Deny and say why q:k3v9q0m2xz:w] [? q:k3v9q0m2xz:i]
    ");
    assert_snapshot!(keys(&menu(&asked, &Tap::MenuAlways).unwrap()), @r"
    [Always: exactly these arguments q:k3v9q0m2xz:=a]
    [Always: any path below src/bin q:k3v9q0m2xz:=ab]
    [Back q:k3v9q0m2xz:b]
    ");
    assert_snapshot!(keys(&menu(&asked, &Tap::MenuNever).unwrap()), @r"
    [Never: exactly these arguments q:k3v9q0m2xz:=never]
    [Back q:k3v9q0m2xz:b]
    ");
    assert_eq!(menu(&asked, &Tap::Back), Some(keyboard(&asked)));
    assert_eq!(menu(&asked, &Tap::DenyWithWord), None);
    asked.choices.retain(|choice| matches!(choice.key.as_str(), "y" | "n"));
    assert_snapshot!(keys(&keyboard(&asked)), @r"
    [Allow once q:k3v9q0m2xz:=y]
    [Deny q:k3v9q0m2xz:=n]
    [Deny and say why q:k3v9q0m2xz:w] [? q:k3v9q0m2xz:i]
    ");
    asked.choices.clear();
    assert!(keyboard(&asked).is_empty());
}

/// A question about a command that can be granted by its program and subcommand.
fn asked_about_a_command() -> Question {
    let mut asked = asked(&[("command", "cargo test")]);
    let scope = || Scope::Command { words: vec!["cargo".into(), "test".into()] };
    for choice in &mut asked.choices {
        if let Answer::Allow { scope: found @ Scope::Below { .. }, .. } = &mut choice.answer {
            *found = scope();
            choice.key = choice.key.replace('b', "c");
        }
    }
    let answer = Answer::Allow { term: Term::TenMinutes, scope: scope() };
    asked.choices.insert(4, Choice { key: "10c".into(), label: "…".into(), answer });
    asked
}

#[test]
fn the_buttons_of_a_command() {
    let asked = asked_about_a_command();
    assert_snapshot!(keys(&keyboard(&asked)), @r"
    [Allow once q:k3v9q0m2xz:=y] [10 min q:k3v9q0m2xz:=10m]
    [This session q:k3v9q0m2xz:=s] [Always… q:k3v9q0m2xz:a]
    [10 min: any cargo test q:k3v9q0m2xz:=10c]
    [This session: any cargo test q:k3v9q0m2xz:=sc]
    [Deny q:k3v9q0m2xz:=n] [Never… q:k3v9q0m2xz:n]
    [Deny and say why q:k3v9q0m2xz:w] [? q:k3v9q0m2xz:i]
    ");
    assert_snapshot!(keys(&menu(&asked, &Tap::MenuAlways).unwrap()), @r"
    [Always: exactly these arguments q:k3v9q0m2xz:=a]
    [Always: any cargo test q:k3v9q0m2xz:=ac]
    [Back q:k3v9q0m2xz:b]
    ");
}

/// Whatever can be typed can be tapped, in one of the keyboards.
#[test]
fn every_choice_has_a_button() {
    every_choice_of(&asked(&[]));
    every_choice_of(&asked_about_a_command());
}

fn every_choice_of(asked: &Question) {
    let menus =
        [Tap::Back, Tap::MenuAlways, Tap::MenuNever].iter().filter_map(|tap| menu(asked, tap));
    let taps: Vec<Tap> = menus
        .flatten()
        .flatten()
        .map(|button| match Callback::parse(&button.data) {
            Some(Callback::Question(_, tap)) => tap,
            other => panic!("{other:?} is no tap under a question"),
        })
        .collect();
    for choice in &asked.choices {
        let tap = if choice.key == "n WORDS" {
            Tap::DenyWithWord
        } else {
            Tap::Choice(choice.key.clone())
        };
        assert_eq!(taps.iter().filter(|other| **other == tap).count(), 1, "{}", choice.key);
    }
}

#[test]
fn what_became_of_it() {
    let asked = asked(&[("path", "src/bin/a.rs")]);
    let at_ms = clock().now_ms;
    let said = |answer: Answer, end| Closed::Answered { answer, by: "Ann".into(), at_ms, end };
    let allow = |term, scope| Answer::Allow { term, scope };
    let below = Scope::Below { path: "src/bin".into() };
    let all = [
        said(allow(Term::Once, Scope::Exact), None),
        said(allow(Term::Always, below), Some(CallStatus::Ok)),
        said(allow(Term::Session, Scope::Exact), Some(CallStatus::Failed)),
        said(allow(Term::TenMinutes, Scope::Exact), Some(CallStatus::Unknown)),
        said(
            allow(Term::Always, Scope::Command { words: vec!["cargo".into(), "test".into()] }),
            None,
        ),
        said(Answer::Deny { word: Some("use\ntrash".into()) }, Some(CallStatus::Denied)),
        said(Answer::Never, None),
        Closed::Expired { at_ms },
        Closed::Superseded { at_ms, why: "the call ended".into() },
        Closed::AskedAgain,
    ];
    let parts: Vec<Part> =
        all.iter().map(|how| answered(&asked, how, is_long(&asked), &clock())).collect();
    assert_eq!(all_faults(&parts, MESSAGE_UNITS_MAX), []);
    let call = "\n\n<b>May filesystem/write_file run this?</b>\n<i>Why: it changes files, and no rule allows it</i>\n\
                <b>path</b> <code>src/bin/a.rs</code>";
    let shown: Vec<String> =
        parts.iter().map(|part| drawn(std::slice::from_ref(part)).replace(call, " …")).collect();
    assert_snapshot!(shown.join("\n\n"), @r"
    <b>Allowed once</b>
    by Ann at 01:46 …

    <b>Allowed until revoked: any path at or below src/bin</b>
    by Ann at 01:46
    ran: ok …

    <b>Allowed for this session</b>
    by Ann at 01:46
    ran: failed …

    <b>Allowed for 10 minutes</b>
    by Ann at 01:46
    unknown: it may or may not have run, and is not run again …

    <b>Allowed until revoked: any cargo test</b>
    by Ann at 01:46 …

    <b>Denied</b>
    by Ann at 01:46
    “use trash”
    denied: it did not run …

    <b>Denied, now and always</b>
    by Ann at 01:46 …

    <b>Expired</b>
    at 01:46: nobody answered, and it did not run. …

    <b>Closed</b>
    at 01:46 without an answer: the call ended. …

    <b>Asked again</b>
    The buttons are under a newer message. …
    ");
}

/// The values of a document: runs of lines behind bars.
pub(super) fn values_of(document: &str) -> Vec<String> {
    let mut values: Vec<Vec<&str>> = Vec::new();
    let mut inside = false;
    for line in document.split('\n') {
        match line.strip_prefix("│ ") {
            Some(text) if inside => values.last_mut().unwrap().push(text),
            Some(text) => values.push(vec![text]),
            None => {}
        }
        inside = line.starts_with("│ ");
    }
    values.into_iter().map(|lines| lines.join("\n")).collect()
}
