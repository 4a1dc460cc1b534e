//! The sentences, each for itself.

use serde_json::json;

use super::*;
use crate::domain::{HeldLevels, OwnServer};

fn facts<'a>(
    builtin: &'static str,
    tool: &'a str,
    arguments: &'a Value,
    origin: Origin,
) -> Facts<'a> {
    Facts {
        client: None,
        server: builtin,
        builtin: OwnServer::named(builtin).map(|own| own.name),
        tool,
        arguments,
        origin,
        destructive_hint: None,
        held: HeldLevels::ALL,
        harmless_variables: &[],
        workspace: std::path::Path::new("/home/claw/workspace"),
        home: std::path::Path::new("/home/claw"),
        user_home: std::path::Path::new("/home"),
    }
}

pub(super) fn effect(
    builtin: &'static str,
    tool: &str,
    arguments: &Value,
    seen: Option<&PathContents>,
) -> Effect {
    effect_of(&facts(builtin, tool, arguments, Origin::Owner), seen, None)
}

fn file(tool: &str, arguments: &Value, seen: Option<&PathContents>) -> String {
    let effect = effect("filesystem", tool, arguments, seen);
    format!("{}{}", if effect.danger { "⚠ " } else { "" }, effect.says)
}

fn text(lines: usize) -> PathContents {
    PathContents::Text((1..=lines).map(|n| format!("line {n}\n")).collect())
}

#[test]
fn writing_says_what_becomes_of_what_is_there() {
    let new = |seen: &PathContents, content: &str| {
        file("write_file", &json!({"path": "a.txt", "content": content}), Some(seen))
    };
    let lines = |n: usize| match text(n) {
        PathContents::Text(text) => text,
        _ => unreachable!(),
    };
    assert_eq!(new(&PathContents::Nothing, &lines(3)), "Create a.txt (3 lines)");
    assert_eq!(
        new(&text(40), &lines(40).replace("line 7\n", "LINE 7\n")),
        "Replace a.txt (1 of 40 lines changes)"
    );
    assert_eq!(new(&text(2), "x\ny\n"), "Replace a.txt (all 2 lines change)");
    assert_eq!(new(&text(2), &lines(4)), "Replace a.txt (2 lines more than its 2)");
    assert_eq!(new(&text(4), &lines(3)), "Replace a.txt (1 of 4 lines goes)");
    assert_eq!(new(&text(4), "x\n"), "Replace a.txt (all 4 lines become 1)");
    assert_eq!(new(&text(2), &lines(2)), "Replace a.txt (no line changes)");
    let bytes = PathContents::Bytes { size: 2_500, changed: (0, 0) };
    assert_eq!(new(&bytes, "x"), "⚠ Replace a.txt (3 kB that cannot be compared) by 1 line");
    let unseen = file("write_file", &json!({"path": "a.txt", "content": "x"}), None);
    assert_eq!(unseen, "Write a.txt (1 line), whatever is there now");
}

#[test]
fn a_file_that_others_act_by_says_who() {
    let write = |path: &str| {
        file("write_file", &json!({"path": path, "content": "x"}), Some(&PathContents::Nothing))
    };
    assert_eq!(
        write(".git/hooks/pre-commit"),
        "⚠ Create .git/hooks/pre-commit (1 line): git runs this file"
    );
    assert_eq!(write("AGENTS.md"), "⚠ Create AGENTS.md (1 line): agents obey this file");
    let go = json!({"source": "a", "destination": ".envrc"});
    assert_eq!(file("move", &go, None), "⚠ Rename a to .envrc: your shell runs .envrc");
    let delete = json!({"path": ".github", "recursive": true});
    assert_eq!(
        file("delete", &delete, None),
        "⚠ Delete .github and everything in it: your CI obeys it"
    );
    assert_eq!(write("a.rs"), "Create a.rs (1 line)");
}

#[test]
fn what_stands_in_a_file_is_shown_by_the_owners_words_alone() {
    let arguments = json!({"path": "a.txt", "content": "new\n"});
    let of = |origin| {
        effect_of(&facts("filesystem", "write_file", &arguments, origin), Some(&text(1)), None)
    };
    assert_eq!(of(Origin::Owner).difference, "-line 1\n+new\n");
    assert!(of(Origin::Owner).tells("content") && of(Origin::Owner).asker.is_none());
    for origin in [Origin::Forwarded, Origin::Schedule, Origin::McpClient, Origin::SubAgent] {
        let effect = of(origin);
        assert_eq!((effect.difference.as_str(), effect.tells("content")), ("", false), "{origin}");
        assert!(effect.asker.is_some() && effect.seen.is_some(), "{origin}");
    }
}

#[test]
fn deleting_and_moving_say_what_is_lost() {
    let folder = |files, more, empty| PathContents::Folder { files, more, empty };
    let delete = |recursive: bool, seen: Option<&PathContents>| {
        file("delete", &json!({"path": "photos", "recursive": recursive}), seen)
    };
    assert_eq!(
        delete(true, Some(&folder(212, false, false))),
        "⚠ Delete photos/ and the 212 files in it"
    );
    assert_eq!(delete(true, Some(&folder(1, false, false))), "⚠ Delete photos/ and one file in it");
    assert_eq!(
        delete(true, Some(&folder(10_000, true, false))),
        "⚠ Delete photos/ and the more than 10000 files in it"
    );
    assert_eq!(delete(false, Some(&folder(0, false, true))), "Delete photos/, an empty folder");
    assert_eq!(delete(false, Some(&text(1))), "⚠ Delete photos (1 line)");
    assert_eq!(delete(true, None), "⚠ Delete photos and everything in it");
    let moves = |to: &str, overwrite: bool, seen: Option<&PathContents>| {
        let arguments = json!({"source": "in/a.txt", "destination": to, "overwrite": overwrite});
        file("move", &arguments, seen)
    };
    assert_eq!(moves("in/b.txt", false, None), "Rename in/a.txt to b.txt");
    assert_eq!(moves("out/a.txt", false, None), "Move in/a.txt to out/");
    assert_eq!(moves("out/b.txt", false, None), "Move in/a.txt to out/b.txt");
    assert_eq!(
        moves("out/b.txt", true, Some(&PathContents::Nothing)),
        "Move in/a.txt to out/b.txt"
    );
    assert_eq!(
        moves("out/b.txt", true, Some(&text(2))),
        "⚠ Move in/a.txt to out/b.txt and replace what is there"
    );
}

#[test]
fn an_edit_shows_its_lines_and_nothing_of_an_edit_is_lost() {
    let edits =
        json!([{"old_text": "a\nb", "new_text": "a\nc"}, {"old_text": "x", "new_text": ""}]);
    let shown = effect("filesystem", "edit_file", &json!({"path": "a.rs", "edits": edits}), None);
    assert_eq!(shown.says, "Edit a.rs (2 lines change)");
    assert_eq!(shown.difference, " a\n-b\n+c\n@ elsewhere\n-x\n+\n");
    assert!(shown.tells("edits[0].old_text") && shown.tells("path"));
    let more = json!([{"old_text": "a", "new_text": "b", "count": 2}]);
    let shown = effect("filesystem", "edit_file", &json!({"path": "a.rs", "edits": more}), None);
    assert!(!shown.tells("edits"), "a third part would be hidden");
    let all = json!([{"old_text": "a", "new_text": "b", "replace_all": true}]);
    let shown = effect("filesystem", "edit_file", &json!({"path": "a.rs", "edits": all}), None);
    assert_eq!(shown.says, "Edit a.rs (1 line changes, everywhere in it)");
    assert!(!shown.tells("edits"), "the question shows that all are meant");
}

#[test]
fn a_command_says_its_level_and_a_strange_one_stands_below() {
    let run = |arguments: Value| {
        let effect = effect("bash", "run", &arguments, None);
        (effect.says, effect.danger, effect.notes, effect.told)
    };
    let told = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        run(json!({"command": "cargo push", "needs": "network", "hosts": ["crates.io"]})),
        (
            "Run `cargo push` with the network: crates.io".to_owned(),
            true,
            told(&["It can change files in the workspace"]),
            told(&["command", "needs", "hosts"])
        )
    );
    assert_eq!(
        run(json!({"command": "make", "needs": "network"})).0,
        "Run `make` with all of the network"
    );
    assert_eq!(
        run(json!({"command": "cargo build", "needs": "write"})).2,
        ["It can change files in the workspace; no network"]
    );
    let opened = run(json!({
        "command": "git push", "needs": "network", "hosts": ["github.com:22"], "opens": ["ssh-agent"],
    }));
    assert_eq!(
        opened.0,
        "Run `git push` with the network: github.com:22; it signs in as you by ssh"
    );
    assert_eq!(opened.2[0], "ssh-agent: there it can do all you can");
    assert!(opened.3.contains(&"opens".to_owned()));
    let docker = json!({"command": "docker ps", "needs": "network", "opens": ["docker"]});
    assert_eq!(run(docker).0, "Run `docker ps`; it uses Docker");
    for command in ["echo a\nrm b", "echo `rm b`", "rm  a", "echo \u{202e}", &"x".repeat(60)] {
        assert_eq!(
            run(json!({"command": command, "needs": "write"})).0,
            "Run this command",
            "{command}"
        );
    }
    for (tool, folder, says, is_told) in [
        ("run", "web/a b", "Run `make` in `web/a b`", true),
        ("run", ".", "Run `make` in the workspace", true),
        ("start", "web", "Start `make` in `web` in the background", true),
        ("run", "a` and `b", "Run `make`", false),
        ("run", "a\u{202e}b", "Run `make`", false),
        ("run", &"x".repeat(60), "Run `make`", false),
    ] {
        let effect = effect("bash", tool, &json!({"command": "make", "cwd": folder}), None);
        assert_eq!((effect.says.as_str(), effect.tells("cwd")), (says, is_told));
    }
    let stop = effect("bash", "stop", &json!({"job": 3}), None);
    assert_eq!((stop.says.as_str(), stop.tells("job")), ("Stop the background job 3", true));
}

#[test]
fn another_servers_tool_is_called_by_its_name_and_quoted_by_its_title() {
    let arguments = json!({"item": "apples"});
    let of = |title| effect_of(&facts("shop", "add", &arguments, Origin::Owner), None, title).says;
    assert_eq!(of(Some("Add to the cart")), "Use shop/add (“Add to the cart”)");
    assert_eq!(of(Some("a\nb\u{202e}")), "Use shop/add (“a\\nb\\u{202e}”)");
    assert_eq!(of(None), "Use shop/add");
    assert_eq!(of(Some(&"x".repeat(80))), "Use shop/add");
}

#[test]
fn a_command_says_its_variables_a_line_each_or_that_they_stand_below() {
    let notes = |variables: Value| {
        let arguments = json!({"command": "make", "needs": "write", "variables": variables});
        let effect = effect("bash", "run", &arguments, None);
        (effect.notes[..effect.notes.len() - 1].join("; "), effect.tells("variables"))
    };
    for (variables, says, is_told) in [
        (json!({"A": "/tmp/x"}), "With `A=/tmp/x`", true),
        (json!({"B": "", "A": "a b"}), "With `A=a b`; With `B=`", true),
        (json!({}), "", false),
        (json!({"A": "a` and `b"}), "With `A`, whose value stands below", false),
        (json!({"A": "x\ny", "B": "1"}), "With `A`, whose value stands below; With `B=1`", false),
        (json!({"A": "x".repeat(60)}), "With `A`, whose value stands below", false),
        (
            json!({"A": "1", "B": "2", "C": "3", "D": "4"}),
            "With `A=1`; With `B=2`; With 2 more variables, which stand below",
            false,
        ),
        (json!(["A"]), "", false),
    ] {
        assert_eq!(notes(variables.clone()), (says.to_owned(), is_told), "{variables}");
    }
}
