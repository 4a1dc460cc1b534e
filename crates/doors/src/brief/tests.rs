//! What is shown of a question, and that what is missing is counted.

use proptest::prelude::*;

use super::*;
use crate::domain::{ApprovalId, CallId, SessionId};

fn question(effect: Option<Effect>, arguments: Vec<(String, String)>) -> Question {
    let session = SessionId::new("main").unwrap();
    Question {
        approval: ApprovalId("q7f2".into()),
        call: CallId::Reply { session: session.clone(), reply_seq: 3, block: 0 },
        session: Some(session),
        server: "notes".into(),
        tool: "put".into(),
        arguments,
        why: "it changes something".into(),
        effect,
        expires_at_ms: 0,
        choices: vec![],
        staged: None,
        list: None,
        input: None,
    }
}

fn arguments(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn says(text: &str) -> Option<Effect> {
    Some(Effect { says: text.to_owned(), ..Effect::default() })
}

#[test]
fn a_place_is_read_before_what_is_put_there_and_long_text_has_a_head_and_a_tail() {
    let lines: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
    let content = lines.join("\n");
    let asked = question(
        says("Use notes/put"),
        arguments(&[("content", &content), ("mode", "new"), ("path", "a.txt")]),
    );
    let brief = brief(&asked, COLUMNS, 1);
    let names: Vec<&str> = brief.blocks.iter().filter_map(|block| block.name.as_deref()).collect();
    assert_eq!(names, ["path", "mode", "content"]);
    let long = &brief.blocks[2];
    assert_eq!(long.head[0], "line 1");
    assert_eq!(long.tail, ["line 40"]);
    let gap = long.gap.unwrap();
    assert_eq!(gap.lines, 40 - long.head.len() - 1);
    assert_eq!(gap.says(), format!("… {} more lines", gap.lines));
    assert!(brief.left_out);
}

#[test]
fn what_is_told_is_not_shown_again_and_more_arguments_than_rows_are_counted() {
    let effect = Effect { told: vec!["path".into()], ..says("Delete a.txt").unwrap() };
    let one = question(Some(effect), arguments(&[("path", "a.txt")]));
    let shown = brief(&one, COLUMNS, 1);
    assert!(shown.blocks.is_empty() && !shown.left_out, "{shown:?}");
    let many: Vec<(String, String)> =
        (0..30).map(|n| (format!("a{n}"), "value".to_owned())).collect();
    let shown = brief(&question(says("Use notes/put"), many), COLUMNS, 1);
    assert_eq!(shown.blocks.len() + shown.blocks_left_out, 30);
    assert!(shown.left_out && shown.blocks.len() >= BODY_ROWS_MIN);
    assert_eq!(arguments_left_out(1), "… and 1 more argument");
}

#[test]
fn no_escape_is_cut_in_two() {
    for columns in 1..12 {
        let kept = begun(r"a\u{202e}b\\c", columns);
        assert!(crate::domain::escape::unescape(kept).is_ok(), "{columns}: {kept}");
    }
    assert_eq!(Gap { characters: 1, lines: 2 }.says(), "… 1 more character and 2 more lines");
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-z ]{0,90}", 1..60)
}

proptest! {
    /// Whatever the arguments are: the rows fit, and every line is shown or counted.
    #[test]
    fn what_is_missing_is_counted(values in prop::collection::vec(lines(), 0..6), room in 3..12usize) {
        let blocks: Vec<Block> = values
            .iter()
            .enumerate()
            .map(|(n, head)| Block { name: Some(format!("a{n}")), head: head.clone(), gap: None, tail: vec![] })
            .collect();
        let all = blocks.clone();
        let (shown, left_out) = fit(blocks, room, 36);
        let rows: usize = shown.iter().map(|block| block.rows(36)).sum();
        prop_assert!(rows + usize::from(left_out > 0) <= room, "{} of {}: {:?}", rows, room, shown);
        prop_assert_eq!(shown.len() + left_out, all.len());
        for block in shown {
            let whole = all.iter().find(|whole| whole.name == block.name).unwrap();
            let Some(gap) = block.gap else {
                prop_assert_eq!(&block, whole);
                continue;
            };
            let shown = block.head.len() + block.tail.len();
            prop_assert_eq!(shown + gap.lines, whole.head.len());
            let begun = block.head.last().map_or(0, |line| line.chars().count());
            let line = &whole.head[block.head.len().saturating_sub(1)];
            prop_assert_eq!(gap.characters > 0, gap.characters > 0 && line.chars().count() == begun + gap.characters);
            prop_assert!(whole.head.ends_with(&block.tail));
        }
    }
}
