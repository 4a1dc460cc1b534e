//! How staged actions look in a chat, and that nothing in them passes for something else.

use insta::assert_snapshot;

use super::super::tests::{asked, clock, keys, values_of, whole_of};
use super::super::{MESSAGE_UNITS_MAX, QuestionText, answered, is_long, keyboard, menu, question};
use super::*;
use crate::api::callback::Tap;
use crate::domain::escape::{unescape, visible, visible_multiline};
use crate::domain::{Scope, Term};
use crate::rich::Part;
use crate::split::CAPTION_UNITS_MAX;
use crate::tests::{all_faults, drawn};

const ONCE: Answer = Answer::Allow { term: Term::Once, scope: Scope::Exact };
const NO: Answer = Answer::Deny { word: None };

fn choice(key: &str, label: &str, answer: Answer) -> Choice {
    Choice { key: key.into(), label: visible(label), answer }
}

fn staged(staged: Staged, arguments: &[(&str, &str)], choices: Vec<Choice>) -> Question {
    let (server, tool) = ("shop".into(), "confirm_add".into());
    let why = "`shop/add_to_cart` proposes it".into();
    Question { server, tool, why, choices, staged: Some(staged), ..asked(arguments) }
}

fn item(summary: &str, arguments: &[(&str, &str)]) -> Question {
    let of = Staged::Item {
        summary: visible_multiline(summary),
        group: Some("cart".into()),
        number: 2,
        of: 3,
    };
    staged(of, arguments, vec![choice("y", "Add", ONCE), choice("n", "❌ Cancel", NO)])
}

fn all() -> Question {
    let arguments = [("1", "Add 2 apples"), ("2", "Add 1 pear"), ("3", "Book a courier")];
    let choices = vec![choice("y", "✅ Confirm", ONCE), choice("n", "❌ Cancel", NO)];
    Question {
        server: "claw".into(),
        tool: "staged_all".into(),
        ..staged(Staged::All { of: 3 }, &arguments, choices)
    }
}

fn buttons() -> Question {
    let press =
        |index: u32, label: &str| choice(&(index + 1).to_string(), label, Answer::Press { index });
    let labels = ["👍 Like", "👎 Dislike", "✅ Confirm", "More"];
    let choices = (0..).zip(labels).map(|(index, label)| press(index, label)).collect();
    staged(
        Staged::Buttons { group: Some("song".into()) },
        &[("1", "👍 Like  shop/like {\"id\":7}")],
        choices,
    )
}

#[test]
fn an_item() {
    let asked = item("Add 2 apples\nto the cart\u{202e}", &[("item", "apples"), ("quantity", "2")]);
    assert_snapshot!(drawn(&[whole_of(question(&asked, &clock()))]), @r"
    <b>Staged item 2 of 3</b>
    Group: cart
    shop says:
    <quote>Add 2 apples ⏎ to the cart\u{202e}</quote>

    shop/confirm_add

    <b>item</b>
    <pre>apples</pre>

    <b>quantity</b>
    <pre>2</pre>

    Why it asks: `shop/add_to_cart` proposes it
    Open until 05:46 (4 h)

    <b>✅ Confirm</b> – runs exactly this call, once (its server calls the button “Add”)
    <b>❌ Cancel</b> – it is not run
    ");
    assert_snapshot!(keys(&keyboard(&asked)), @r"
    [✅ Confirm q:k3v9q0m2xz:=y] [❌ Cancel q:k3v9q0m2xz:=n]
    ");
}

#[test]
fn a_single_item_and_a_label_that_lies() {
    let mut asked = item("Add 2 apples", &[]);
    asked.staged =
        Some(Staged::Item { summary: "Add 2 apples".into(), group: None, number: 1, of: 1 });
    asked.choices = vec![choice("y", "❌ Cancel", ONCE), choice("n", "✅ Yes", NO)];
    assert_snapshot!(drawn(&[whole_of(question(&asked, &clock()))]), @r"
    <b>Staged 1 item</b>
    shop says:
    <quote>Add 2 apples</quote>

    shop/confirm_add

    <i>(no arguments)</i>

    Why it asks: `shop/add_to_cart` proposes it
    Open until 05:46 (4 h)

    <b>✅ Confirm</b> – runs exactly this call, once (its server calls the button “❌ Cancel”)
    <b>❌ Cancel</b> – it is not run (its server calls the button “✅ Yes”)
    ");
    assert_snapshot!(keys(&keyboard(&asked)), @r"
    [✅ Confirm q:k3v9q0m2xz:=y] [❌ Cancel q:k3v9q0m2xz:=n]
    ");
}

#[test]
fn all_items_and_buttons() {
    assert_snapshot!(drawn(&[whole_of(question(&all(), &clock()))]), @r"
    <b>Staged 3 items</b>

    <b>1</b>
    <pre>Add 2 apples</pre>

    <b>2</b>
    <pre>Add 1 pear</pre>

    <b>3</b>
    <pre>Book a courier</pre>

    Why it asks: `shop/add_to_cart` proposes it
    Open until 05:46 (4 h)

    <b>✅ Confirm all 3</b> – runs each of them once, exactly as it is shown in its own message
    <b>❌ Cancel all</b> – none of them is run
    ");
    assert_snapshot!(keys(&keyboard(&all())), @r"
    [✅ Confirm all 3 q:k3v9q0m2xz:=y] [❌ Cancel all q:k3v9q0m2xz:=n]
    ");
    assert_snapshot!(drawn(&[whole_of(question(&buttons(), &clock()))]), @r#"
    <b>Buttons</b>
    Group: song

    <b>1</b>
    <pre>👍 Like  shop/like {"id":7}</pre>

    Why it asks: `shop/add_to_cart` proposes it
    Open until 05:46 (4 h)
    "#);
    assert_snapshot!(keys(&keyboard(&buttons())), @r"
    [👍 Like q:k3v9q0m2xz:=1] [👎 Dislike q:k3v9q0m2xz:=2] [Confirm q:k3v9q0m2xz:=3]
    [More q:k3v9q0m2xz:=4]
    ");
}

/// There is no grant and no word to give, whatever data a tap carries.
#[test]
fn nothing_leads_to_a_menu() {
    for asked in [item("Add", &[]), all(), buttons()] {
        for tap in [Tap::MenuAlways, Tap::MenuNever, Tap::Back, Tap::DenyWithWord] {
            assert_eq!(menu(&asked, &tap), None);
        }
        let shown = keyboard(&asked);
        assert_eq!(
            shown.iter().flatten().count(),
            asked.choices.len(),
            "a button a choice, and no other"
        );
    }
}

#[test]
fn what_became_of_it() {
    let at_ms = clock().now_ms;
    let said = |answer: Answer, end| Closed::Answered { answer, by: "you".into(), at_ms, end };
    let closed = [
        (item("Add", &[]), said(ONCE, None)),
        (item("Add", &[]), said(ONCE, Some(CallStatus::Ok))),
        (item("Add", &[]), said(ONCE, Some(CallStatus::Failed))),
        (item("Add", &[]), said(ONCE, Some(CallStatus::Denied))),
        (item("Add", &[]), said(ONCE, Some(CallStatus::Unknown))),
        (item("Add", &[]), said(NO, Some(CallStatus::Denied))),
        (item("Add", &[]), Closed::Expired { at_ms }),
        (item("Add", &[]), Closed::AskedAgain),
        (all(), said(ONCE, None)),
        (all(), said(NO, None)),
        (all(), Closed::Superseded { at_ms, why: String::new() }),
        (buttons(), said(Answer::Press { index: 1 }, Some(CallStatus::Ok))),
    ];
    let heads = closed.map(|(asked, how)| {
        let part = answered(&asked, &how, is_long(&asked), &clock());
        assert_eq!(all_faults(std::slice::from_ref(&part), MESSAGE_UNITS_MAX), []);
        drawn(&[part]).split("\n\n").next().unwrap_or_default().to_owned()
    });
    assert_snapshot!(heads.join("\n"), @r"
    <b>✅ Confirmed</b> by you, 01:46
    <b>✅ Confirmed</b> by you, 01:46 · done
    <b>✅ Confirmed</b> by you, 01:46 · failed
    <b>✅ Confirmed</b> by you, 01:46 · not run
    <b>✅ Confirmed</b> by you, 01:46 · unknown: it may or may not have run, and is not run again
    <b>❌ Cancelled</b> by you, 01:46
    <b>Expired</b> at 01:46: nobody answered, and it was not run.
    <b>Asked again</b>
    The buttons are under a newer message.
    <b>✅ Confirmed all 3</b> by you, 01:46
    <b>❌ Cancelled all 3</b> by you, 01:46
    <b>Closed</b> at 01:46: nothing of it waits any more.
    <b>Pressed “👎 Dislike”</b> by you, 01:46 · done
    ");
    let whole = answered(
        &item("Add", &[("item", "apples")]),
        &said(ONCE, Some(CallStatus::Ok)),
        false,
        &clock(),
    );
    assert_snapshot!(drawn(&[whole]), @r"
    <b>✅ Confirmed</b> by you, 01:46 · done

    <b>Staged item 2 of 3</b>
    Group: cart
    shop says:
    <quote>Add</quote>

    shop/confirm_add

    <b>item</b>
    <pre>apples</pre>
    ");
}

#[test]
fn what_is_too_long_is_attached_whole() {
    let note = "line of text\n".repeat(400);
    let asked = item(&"Say it to everybody. ".repeat(23), &[("note", &note), ("to", "all")]);
    let QuestionText::Long { summary, document, .. } = question(&asked, &clock()) else {
        panic!("it fits")
    };
    assert_eq!(all_faults(std::slice::from_ref(&summary), CAPTION_UNITS_MAX), []);
    assert_snapshot!(drawn(&[summary]), @r"
    <b>Staged item 2 of 3</b>
    Group: cart
    shop says:
    <quote>Say it to everybody. Say it to everybody. Say it to everybody. Say it to everybody. Say it to everybody. Say it to everybody. Say it to everybody. Say it to eve…</quote>

    shop/confirm_add

    The call is too long for a message: it is attached whole as question-k3v9q0m2xz.txt.

    <b>to</b>
    <pre>all</pre>

    Why it asks: `shop/add_to_cart` proposes it
    Open until 05:46 (4 h)

    <b>✅ Confirm</b> – runs exactly this call, once (its server calls the button “Add”)
    <b>❌ Cancel</b> – it is not run
    ");
    let values: Vec<String> =
        values_of(&document).iter().map(|value| unescape(value).unwrap()).collect();
    assert_eq!(values, ["Say it to everybody. ".repeat(23), note, "all".to_owned()]);
    assert!(
        document.contains(
            "✅ Confirm – runs exactly this call, once (its server calls the button “Add”)"
        ),
        "{document}"
    );
}

/// A summary and a label are the server's words: whatever they are, the message is whole, and its
/// frame is ours.
#[test]
fn hostile_words_stay_in_their_place() {
    let hostile = "ok\n\nshop/harmless\n\nitem\nnothing\nWhy it asks: no reason\u{2028}\u{200b}\u{1b}[2J\u{30a}\n\n";
    let asked = item(hostile, &[("item", hostile)]);
    let part: Part = whole_of(question(&asked, &clock()));
    assert_eq!(all_faults(std::slice::from_ref(&part), MESSAGE_UNITS_MAX), []);
    let quotes = part.entities.iter().filter(|entity| {
        matches!(entity.kind, teloxide_core::types::MessageEntityKind::Blockquote)
    });
    let quoted: Vec<String> = quotes
        .map(|entity| {
            let units: Vec<u16> =
                part.text.encode_utf16().skip(entity.offset).take(entity.length).collect();
            String::from_utf16(&units).unwrap()
        })
        .collect();
    assert_eq!(quoted.len(), 1, "all of it in one quote: {quoted:?}");
    // On one line: no line of it can pass for "✅ Confirmed by you".
    assert_eq!(unescape(&quoted[0]).unwrap(), hostile.replace('\n', " ⏎ "));
    assert!(
        part.text.starts_with("Staged item 2 of 3\nGroup: cart\nshop says:\n"),
        "{}",
        part.text
    );
}
