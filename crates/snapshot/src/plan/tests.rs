//! A turn's changes planned from three trees.

use std::path::PathBuf;

use super::*;
use crate::tree::{LeftOut, Why};

fn path(text: &str) -> RelPath {
    RelPath::from(PathBuf::from(text))
}

/// `a` is a file with that content, `d/` a folder, `l>t` a link.
fn tree(rows: &[(&str, &str)]) -> Tree {
    let entry = |kind: &str| match kind.split_once('>') {
        Some((_, target)) => Entry::Link { target: path(target) },
        None if kind == "/" => Entry::Folder { mode: 0o755 },
        None => Entry::File { digest: kind.to_owned(), bytes: 1, mode: 0o644 },
    };
    let entries = rows.iter().map(|(at, kind)| (path(at), entry(kind))).collect();
    Tree { entries, ..Tree::default() }
}

fn changed(plan: &Plan) -> Vec<&str> {
    plan.changes.iter().map(|change| change.path.as_path().to_str().unwrap()).collect()
}

fn kept(plan: &Plan) -> Vec<(&str, KeptBecause)> {
    plan.kept.iter().map(|kept| (kept.path.as_path().to_str().unwrap(), kept.why)).collect()
}

#[test]
fn what_the_turn_made_changed_and_deleted_is_put_back_and_nothing_else() {
    let before = tree(&[("changed", "1"), ("deleted", "1"), ("same", "1")]);
    let after = tree(&[("changed", "2"), ("made", "1"), ("same", "1")]);
    let mut now = after.clone();
    now.entries.insert(path("by somebody"), Entry::Folder { mode: 0o755 });
    let plan = Plan::new(&before, &after, &now);
    assert_eq!(changed(&plan), ["changed", "deleted", "made"]);
    assert!(plan.kept.is_empty());
}

#[test]
fn what_others_have_changed_since_is_kept_and_what_is_back_already_is_no_change() {
    let before = tree(&[("a", "1"), ("b", "1"), ("c", "1")]);
    let after = tree(&[("a", "2"), ("b", "2"), ("d", "2")]);
    let now = tree(&[("a", "3"), ("b", "1"), ("c", "9")]);
    let plan = Plan::new(&before, &after, &now);
    assert_eq!(changed(&plan), [""; 0]);
    assert_eq!(kept(&plan), [("a", KeptBecause::ChangedSince), ("c", KeptBecause::ChangedSince)]);
}

#[test]
fn a_folder_that_the_turn_made_stays_while_somebody_elses_file_is_in_it() {
    let before = tree(&[]);
    let after = tree(&[("d", "/"), ("d/e", "/"), ("d/e/own", "1")]);
    let mut now = after.clone();
    now.entries
        .insert(path("d/e/other"), Entry::File { digest: "x".into(), bytes: 1, mode: 0o644 });
    let plan = Plan::new(&before, &after, &now);
    assert_eq!(changed(&plan), ["d/e/own"]);
    assert_eq!(kept(&plan), [("d", KeptBecause::NotEmpty), ("d/e", KeptBecause::NotEmpty)]);
}

#[test]
fn a_file_that_became_a_folder_is_put_back_only_if_the_folder_can_go() {
    let before = tree(&[("x", "1")]);
    let after = tree(&[("x", "/"), ("x/own", "1")]);
    assert_eq!(changed(&Plan::new(&before, &after, &after)), ["x", "x/own"]);
    let mut now = after.clone();
    now.left_out.push(LeftOut { path: path("x/big"), why: Why::TooLarge { bytes: 1 } });
    let plan = Plan::new(&before, &after, &now);
    assert_eq!(changed(&plan), ["x/own"]);
    assert_eq!(kept(&plan), [("x", KeptBecause::NotEmpty)]);
}

#[test]
fn what_was_below_a_folder_that_is_a_file_now_is_kept() {
    let before = tree(&[("d", "/"), ("d/a", "1")]);
    let after = tree(&[]);
    let now = tree(&[("d", "9")]);
    let plan = Plan::new(&before, &after, &now);
    assert!(plan.changes.is_empty());
    assert_eq!(
        kept(&plan),
        [("d", KeptBecause::ChangedSince), ("d/a", KeptBecause::NoFolderAbove)]
    );
}

#[test]
fn what_the_snapshot_does_not_have_is_named_and_not_touched() {
    let mut before = tree(&[("small", "1")]);
    before.left_out.push(LeftOut { path: path("big"), why: Why::TooLarge { bytes: 9 } });
    let after = tree(&[("big", "1"), ("small", "2")]);
    let plan = Plan::new(&before, &after, &after);
    assert_eq!(changed(&plan), ["small"]);
    assert_eq!(kept(&plan), [("big", KeptBecause::NotRemembered)]);
}
