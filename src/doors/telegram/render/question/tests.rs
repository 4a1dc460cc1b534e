//! How questions look, and that they show exactly what would run.

use insta::assert_snapshot;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::domain::escape::{unescape, visible, visible_multiline};
use crate::domain::{ApprovalId, CallId, Choice, Effect, SessionId};
use crate::doors::telegram::api::callback::{Tap, parse_data};
use crate::doors::telegram::render::tests::{all_faults, covered, drawn};

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

pub(super) fn keys(rows: &[Vec<crate::doors::telegram::api::callback::Button>]) -> String {
    let row = |row: &Vec<crate::doors::telegram::api::callback::Button>| {
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
        .map(|button| parse_data(&button.data).expect("our own data").1)
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

#[test]
fn what_is_too_long_is_attached_whole() {
    let body = "line of text\n".repeat(400);
    let asked = asked(&[("content", body.as_str()), ("path", "src/bin/a.rs")]);
    let QuestionText::Long { summary, document, file_name } = question(&asked, &clock()) else {
        panic!("it fits")
    };
    assert_eq!(file_name, "question-k3v9q0m2xz.txt");
    assert_eq!(document.matches("│ line of text\n").count(), 399);
    assert!(document.contains("│ line of text\\n\n"));
    assert_eq!(all_faults(std::slice::from_ref(&summary), CAPTION_UNITS_MAX), []);
    assert_snapshot!(drawn(&[summary]), @r"
    <b>May filesystem/write_file run this?</b>
    <i>Why: it changes files, and no rule allows it</i>
    <b>path</b> <code>src/bin/a.rs</code>
    <b>content</b>
    <pre>line of text
    line of text
    line of text</pre>
    <i>… 397 more lines</i>

    The whole call is in the file question-k3v9q0m2xz.txt.
    Open until 05:46 (4 h)
    ");
    let end = answered(&asked, &Closed::AskedAgain, is_long(&asked), &clock());
    assert_eq!(all_faults(std::slice::from_ref(&end), CAPTION_UNITS_MAX), []);
    assert_snapshot!(drawn(&[end]), @r"
    <b>Asked again</b>
    The buttons are under a newer message.

    filesystem/write_file
    The whole call is in the file question-k3v9q0m2xz.txt.
    ");
}

/// Many arguments have more entities than a message may.
#[test]
fn many_arguments_are_attached() {
    let names: Vec<String> = (0..60).map(|n| format!("a{n}")).collect();
    let asked = asked(&names.iter().map(|name| (name.as_str(), "x")).collect::<Vec<_>>());
    assert!(matches!(question(&asked, &clock()), QuestionText::Long { .. }));
}

fn values() -> impl Strategy<Value = Vec<(String, String)>> {
    let text = || {
        prop_oneof![
            any::<String>(),
            "[ \\n\\\\a\\u{30a}\\u{333}\\u{200d}\\u{fffc}\\u{2800}👩│]{0,20}",
            "[a-z \\n]{0,3000}",
            "\\PC{0,900}",
        ]
    };
    prop::collection::vec((".{0,12}", text()), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// A person sees exactly what runs: only visible characters, and they read back to the
    /// arguments.
    #[test]
    fn what_is_shown_reads_back(values in values()) {
        let pairs: Vec<(&str, &str)> = values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let asked = asked(&pairs);
        let first = match question(&asked, &clock()) {
            QuestionText::Whole(part) => all_faults(&[part], MESSAGE_UNITS_MAX),
            QuestionText::Long { summary, .. } => all_faults(&[summary], CAPTION_UNITS_MAX),
        };
        prop_assert_eq!(first, vec![]);
        let text = whole_question(&asked, &clock());
        let shown: Vec<String> = match &text {
            QuestionText::Whole(part) => {
                prop_assert_eq!(all_faults(std::slice::from_ref(part), MESSAGE_UNITS_MAX), vec![]);
                let is_pre = |index: &usize| matches!(
                    part.entities[*index].kind, teloxide_core::types::MessageEntityKind::Pre { .. }
                );
                (0..part.entities.len()).filter(is_pre).map(|index| covered(part, index)).collect()
            }
            QuestionText::Long { summary, document, .. } => {
                prop_assert_eq!(all_faults(std::slice::from_ref(summary), CAPTION_UNITS_MAX), vec![]);
                values_of(document)
            }
        };
        let empty_too = matches!(text, QuestionText::Long { .. });
        let wanted: Vec<&str> =
            values.iter().map(|(_, value)| value.as_str()).filter(|value| empty_too || !value.is_empty()).collect();
        let read: Vec<String> = shown.iter().map(|shown| unescape(shown).unwrap()).collect();
        prop_assert_eq!(read, wanted);
        let is_visible = |c: char| matches!(c, '\n' | '\\') || !visible(&format!("a{c}")).contains('\\');
        for shown in &shown {
            prop_assert!(shown.chars().all(is_visible), "{}", shown);
        }
        for how in [Closed::AskedAgain, Closed::Superseded { at_ms: 0, why: String::new() }] {
            let units_max = if empty_too { CAPTION_UNITS_MAX } else { MESSAGE_UNITS_MAX };
            prop_assert_eq!(all_faults(&[answered(&asked, &how, is_long(&asked), &clock())], units_max), vec![]);
        }
    }
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
