//! Questions in an editor: what one shows, what answers it, and what does not.

use super::*;

#[test]
fn a_question_carries_the_difference_the_file_and_its_kind() {
    let desk = desk([writes("a.txt", "one\nthree\n"), Answer::text("It is done.")]);
    fs::write(desk.house.workspace().join("a.txt"), "one\ntwo\n").unwrap();
    let file = desk.house.workspace().join("a.txt");
    desk.prompts("Change it");
    let asked = desk.editor.waits_asked(&desk.session, "a.txt");
    let fields = &asked.tool_call.fields;
    assert_eq!((fields.kind, fields.status), (Some(ToolKind::Edit), Some(ToolCallStatus::Pending)));
    assert_eq!(fields.locations.as_ref().unwrap()[0].path, file);
    let diffs = differences(fields.content.as_ref().unwrap());
    assert_eq!(diffs, [(file.clone(), Some("one\ntwo".to_owned()), "one\nthree".to_owned())]);
    let keys = keys(&asked);
    assert!(["y", "e", "n"].iter().all(|key| keys.contains(&(*key).to_owned())), "{keys:?}");
    desk.editor.answers(&desk.session, "a.txt", Some("y"));
    assert_eq!(desk.editor.ends(&desk.session, 1), StopReason::EndTurn);
    desk.shows("It is done.");
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\nthree\n");
    desk.editor.thread(&desk.session, |thread| {
        let call = thread.last_call().unwrap();
        assert_eq!((call.status, call.kind), (ToolCallStatus::Completed, ToolKind::Edit));
        assert_eq!(differences(&call.content).len(), 1);
        let calls = thread.items.iter().filter(|item| matches!(item, Item::Call(_))).count();
        assert_eq!(calls, 1, "the call takes the place of its question");
    });
}

fn differences(content: &[ToolCallContent]) -> Vec<(PathBuf, Option<String>, String)> {
    let diffs = content.iter().filter_map(|part| match part {
        ToolCallContent::Diff(diff) => {
            Some((diff.path.clone(), diff.old_text.clone(), diff.new_text.clone()))
        }
        _ => None,
    });
    diffs.collect()
}

#[test]
fn an_answer_from_elsewhere_takes_the_request_back_and_a_late_one_does_not_count() {
    let desk = desk([runs(EFFECT), Answer::text("Then not.")]);
    desk.editor.ignores_withdrawals();
    desk.asked();
    let id = desk.house.waiting();
    desk.house.claw(&["deny", &id]).expect(0);
    eventually("the request is taken back", || {
        desk.editor.thread(&desk.session, |thread| thread.asked.iter().all(|one| one.withdrawn))
    });
    desk.shows("was denied, from another terminal");
    // The person had not seen that, and says yes to the dialog that is still there.
    desk.editor.answers(&desk.session, EFFECT, Some("y"));
    desk.shows("Your answer did not count");
    assert_eq!(desk.editor.ends(&desk.session, 1), StopReason::EndTurn);
    assert_eq!(desk.effects(), 0);
    desk.editor.thread(&desk.session, |thread| {
        assert_eq!(thread.last_call().unwrap().status, ToolCallStatus::Failed);
    });
}

#[test]
fn nothing_but_an_offered_answer_to_the_request_itself_approves() {
    let desk = desk([runs(EFFECT), Answer::text("It is done.")]);
    let offered = desk.asked();
    let has = "SELECT count(*) FROM approvals WHERE state = 'waiting'";
    for text in ["yes", "Y!", "ok"] {
        let told =
            || desk.editor.text(&desk.session).matches("A written yes allows nothing").count();
        let before = told();
        desk.prompts(text);
        eventually("a written yes is refused", || told() > before);
    }
    // An answer that the question has and the request does not.
    for key in ["s", "a", "10m", "never", "Y", ""] {
        assert!(!offered.contains(&key.to_owned()), "{offered:?}");
        desk.editor.waits_asked(&desk.session, EFFECT);
        desk.editor.answers(&desk.session, EFFECT, Some(key));
        desk.shows("was not among those offered");
        assert_eq!((desk.effects(), desk.asks(has)), (0, 1), "{key}");
        // The next message asks again.
        desk.prompts("yes");
    }
    desk.editor.waits_asked(&desk.session, EFFECT);
    desk.editor.answers(&desk.session, EFFECT, Some("y"));
    desk.shows("It is done.");
    assert_eq!(desk.effects(), 1);
}

#[test]
fn a_question_about_several_calls_says_each_once_and_is_over_with_its_answer() {
    let call = |id: &str| {
        let arguments = json!({"path": format!("{id}.txt"), "content": "bread\n"}).to_string();
        Call::new(id, "filesystem__write_file", &arguments)
    };
    let both = Answer::Turn(Turn::calls(&[call("apple"), call("pear")]));
    let desk = desk([both, Answer::text("It is done.")]);
    desk.prompts("Go ahead");
    let asked = desk.editor.waits_asked(&desk.session, "pear.txt");
    let text = format!("{:?}", asked.tool_call.fields.content);
    assert_eq!(
        (text.matches("apple.txt").count(), text.matches("bread").count()),
        (1, 2),
        "{text}"
    );
    let offered = keys(&asked);
    assert!(offered.iter().all(|key| !key.contains(' ')), "{offered:?}");
    desk.editor.answers(&desk.session, "pear.txt", Some("y"));
    assert_eq!(desk.editor.ends(&desk.session, 1), StopReason::EndTurn);
    desk.shows("It is done.");
    assert_eq!(desk.house.in_workspace("pear.txt"), "bread\n");
    desk.editor.thread(&desk.session, |thread| {
        let calls = thread.items.iter().filter_map(|item| match item {
            Item::Call(call) => Some(call.status),
            _ => None,
        });
        assert_eq!(calls.collect::<Vec<_>>(), [ToolCallStatus::Completed; 3]);
    });
}

#[test]
fn a_dialog_that_is_closed_leaves_the_question_open_and_the_editor_free() {
    let desk = desk([runs(EFFECT), Answer::text("It is done.")]);
    desk.asked();
    desk.editor.answers(&desk.session, EFFECT, None);
    assert_eq!(desk.editor.ends(&desk.session, 1), StopReason::EndTurn);
    desk.shows("The question stays open.");
    let open = "SELECT count(*) FROM approvals WHERE state = 'waiting'";
    assert_eq!((desk.effects(), desk.asks(open)), (0, 1));
    desk.prompts("And now?");
    desk.editor.waits_asked(&desk.session, EFFECT);
    desk.editor.answers(&desk.session, EFFECT, Some("y"));
    desk.shows("It is done.");
    assert_eq!(desk.effects(), 1);
}
