//! That a question shows all of what would run, as a file where it has no room, and reads back to
//! it.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::super::*;
use super::{asked, clock, values_of};
use crate::domain::escape::{unescape, visible};
use crate::tests::{all_faults, covered, drawn};

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
