//! What a grant covers, tried against an independent normalisation of paths.

use claw_domain::{HeldLevels, OwnServerName};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tests::facts;

fn below(path: &str) -> Shape {
    Shape::Below { path: path.to_owned() }
}

fn covers_path(prefix: &str, path: &str) -> bool {
    covers(
        &below(prefix),
        &facts("filesystem", "write_file", &json!({"path": path, "content": ""})),
    )
}

#[test]
fn below_goes_by_components() {
    for path in ["src", "src/a", "./src/a", "src//a/b", "src/./a", "src/..."] {
        assert!(covers_path("src", path), "{path}");
        assert!(covers_path("./src/", path), "{path}");
    }
    for path in [
        "",
        ".",
        "./",
        "/",
        "/src/a",
        "srcs/a",
        "src2",
        "Src/a",
        "a/src",
        "..",
        "src/..",
        "src/../b",
        "../src",
        "src/a/../../b",
        "~/src",
        "./~/src",
        "src\\..\\b",
        "src/\0",
        "src/a\n",
        "src/.. /b",
    ] {
        assert!(!covers_path("src", path), "{path:?}");
    }
    for prefix in ["", ".", "./.", "/", "..", "a/..", "/src", "~"] {
        assert!(!covers_path(prefix, "src/a"), "{prefix:?}");
    }
}

#[test]
fn both_ends_of_a_move_must_be_below() {
    for (source, destination, wanted) in [
        ("d/a", "d/b", true),
        ("d/a", "e/b", false),
        ("e/a", "d/b", false),
        ("d/a", "d/../b", false),
    ] {
        let arguments = json!({"source": source, "destination": destination});
        assert_eq!(covers(&below("d"), &facts("filesystem", "move", &arguments)), wanted);
    }
    assert!(!covers(&below("d"), &facts("filesystem", "move", &json!({"source": "d/a"}))));
    assert!(!covers(
        &below("d"),
        &facts("filesystem", "move", &json!({"source": "d/a", "destination": 1}))
    ));
}

#[test]
fn below_is_for_our_file_tools_only() {
    let arguments = json!({"path": "d/a", "command": "d/a", "pattern": "*"});
    for (server, tool) in [
        ("bash", "run"),
        ("bash", "write_file"),
        ("stranger", "write_file"),
        ("filesystem", "find"),
        ("filesystem", "search"),
        ("filesystem", "unknown"),
    ] {
        let facts = facts(server, tool, &arguments);
        assert!(!covers(&below("d"), &facts), "{server} {tool}");
        assert_eq!(Shape::of(&Scope::Below { path: "d".into() }, &facts), None);
        assert!(!offered_shapes(&facts).iter().any(|shape| matches!(shape.0, Scope::Below { .. })));
        assert!(!choices(&facts).iter().any(|choice| matches!(choice.key.as_str(), "sb" | "ab")));
    }
}

#[test]
fn exact_means_the_canonical_arguments() {
    let (a, b) =
        (json!({"x": 1, "y": [2]}), serde_json::from_str::<Value>("{\"y\":[2],\"x\":1}").unwrap());
    let shape = Shape::of(&Scope::Exact, &facts("stranger", "t", &a)).unwrap();
    assert!(covers(&shape, &facts("stranger", "t", &b)));
    for other in [
        json!({"x": 1}),
        json!({"x": 1, "y": [2], "z": null}),
        json!({"x": "1", "y": [2]}),
        json!({"x": 1.0, "y": [2]}),
    ] {
        assert!(!covers(&shape, &facts("stranger", "t", &other)), "{other}");
    }
}

fn command(text: &str) -> Value {
    json!({"command": text})
}

#[test]
fn a_program_and_its_subcommand_are_offered_and_covered() {
    fn facts(arguments: &Value) -> Facts<'_> {
        crate::tests::facts("bash", "run", arguments)
    }
    let arguments = command("cargo test --lib gate");
    let words = vec!["cargo".to_owned(), "test".to_owned()];
    let offered = offered_shapes(&facts(&arguments)).remove(1);
    assert_eq!(offered.0, Scope::Command { words });
    assert_eq!(
        offered.1,
        "bash/run for any `cargo test` with known options and plain words, in the box and without a network"
    );
    let shape = Shape::of(&offered.0, &facts(&arguments)).unwrap();
    let keys: Vec<String> =
        choices(&facts(&arguments)).into_iter().map(|choice| choice.key).collect();
    assert_eq!(keys, ["y", "s", "a", "10c", "sc", "ac", "w", "n", "n WORDS", "never"]);
    for covered in ["cargo test", "cargo  test 'a b'", "cargo test -p claw -- --nocapture"] {
        assert!(covers(&shape, &facts(&command(covered))), "{covered}");
    }
    assert!(covers(&shape, &facts(&json!({"command": "cargo test", "cwd": "a", "timeout_s": 5}))));
    for other in [
        "cargo build",
        "cargo",
        "cargo test; ls",
        "cargo test --config x",
        "cargo test $(x)",
        "cargo test > x",
        "cargo --config x test",
        "cargo test a b",
        "git test",
        "cargo testx",
        "bash -c 'cargo test'",
    ] {
        assert!(!covers(&shape, &facts(&command(other))), "{other}");
    }
    for (needs, covered) in [("read", true), ("write", false), ("network", false)] {
        let at = json!({"command": "cargo test", "needs": needs});
        assert_eq!(covers(&shape, &facts(&at)), covered, "{needs}");
    }
    let network = json!({"command": "cargo test", "needs": "network"});
    for none in [json!([]), json!(null)] {
        let at = json!({"command": "cargo test", "opens": none});
        assert!(covers(&shape, &facts(&at)), "{at}");
    }
    let widest = Shape::of(&offered.0, &facts(&network)).unwrap();
    assert!(covers(&widest, &facts(&arguments)) && covers(&widest, &facts(&network)));
    let old: Shape =
        serde_json::from_value(json!({"kind": "command", "words": ["cargo", "test"]})).unwrap();
    let write = json!({"command": "cargo test", "needs": "write"});
    assert!(covers(&old, &facts(&write)) && !covers(&old, &facts(&network)));
    for unknown in [
        json!({"command": "cargo test", "env": {}}),
        json!({"command": ["cargo test"]}),
        json!({}),
        json!("x"),
    ] {
        assert!(!covers(&shape, &facts(&unknown)), "{unknown}");
    }
}

#[test]
fn a_program_is_granted_for_our_shell_in_its_box_only() {
    let arguments = command("cargo test");
    let boxed = facts("bash", "run", &arguments);
    let shape =
        Shape::of(&Scope::Command { words: vec!["cargo".into(), "test".into()] }, &boxed).unwrap();
    for other in [
        Facts { held: HeldLevels::NONE, ..boxed },
        Facts { builtin: None, ..boxed },
        Facts { builtin: Some(OwnServerName::Filesystem), ..boxed },
        Facts { tool: "start", ..boxed },
    ] {
        assert!(!covers(&shape, &other), "{other:?}");
        let programs = |shape: &(Scope, String)| matches!(shape.0, Scope::Command { .. });
        assert!(!offered_shapes(&other).iter().any(programs), "{other:?}");
    }
    let another = Scope::Command { words: vec!["cargo".into()] };
    assert_eq!(Shape::of(&another, &boxed), None, "a program alone is no shape");
}

#[test]
fn ten_minutes_of_the_same_are_offered_where_no_other_grant_is() {
    let offers = |facts: &Facts<'_>| choices(facts).iter().any(|choice| choice.key == "10m");
    let call = |more: Value| {
        let mut arguments = json!({"command": "curl https://a.org/state | grep done"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    // To ask again how far something is, by exactly this call and no other.
    for polled in [
        call(json!({"needs": "network"})),
        call(json!({"needs": "network", "hosts": ["*.a.org"]})),
        call(json!({"needs": "network", "hosts": ["a.org"], "opens": ["docker"]})),
    ] {
        assert!(offers(&facts("bash", "run", &polled)), "{polled}");
    }
    let tool = json!({"job": 7});
    assert!(offers(&Facts { builtin: None, ..facts("ci", "state", &tool) }));
    // A mode, a program or its hosts cover these with their like, and a file is changed once.
    let cargo = json!({"command": "cargo test", "needs": "network"});
    for covered in [call(json!({})), call(json!({"needs": "network", "hosts": ["a.org"]})), cargo] {
        assert!(!offers(&facts("bash", "run", &covered)), "{covered}");
    }
    for tool in ["write_file", "delete", "read_file"] {
        let arguments = json!({"path": "notes/a", "content": ""});
        assert!(!offers(&facts("filesystem", tool, &arguments)), "{tool}");
    }
}

#[test]
fn the_answers_say_what_they_grant() {
    let shown = |server, tool, arguments: Value| -> Vec<(String, String)> {
        choices(&facts(server, tool, &arguments))
            .into_iter()
            .map(|choice| (choice.key, choice.label))
            .collect()
    };
    let bash = shown("bash", "run", json!({"command": "ls"}));
    assert_eq!(
        bash,
        [
            ("y", "allow this one call"),
            ("s", "allow bash/run with exactly these arguments, until this session ends or /new"),
            ("a", "allow bash/run with exactly these arguments, until you revoke it"),
            (
                "w",
                "allow edits, and commands without the network, in this workspace (mode `work`), until this session ends or /new",
            ),
            ("n", "deny this one call"),
            ("n WORDS", "deny this one call and tell the model WORDS"),
            ("never", "deny bash/run with exactly these arguments, now and always"),
        ]
        .map(|(key, label)| (key.to_owned(), label.to_owned()))
    );
    let write =
        shown("filesystem", "write_file", json!({"path": "docs/\u{202E}a/x.md", "content": ""}));
    let folder = "allow writing, editing and moving files at or below docs/\\u{202e}a, until";
    assert_eq!(write[3], ("sb".to_owned(), format!("{folder} this session ends or /new")));
    assert_eq!(write[4], ("ab".to_owned(), format!("{folder} you revoke it")));
    let edits = "allow writing, editing and moving files in this workspace (mode `edits`), until this session ends or /new";
    assert_eq!(write[5], ("e".to_owned(), edits.to_owned()));
    let file_in_the_workspace =
        shown("filesystem", "write_file", json!({"path": "x.md", "content": ""}));
    assert_eq!(file_in_the_workspace.len(), 8);
    assert_eq!(
        shown("filesystem", "write_file", json!({"path": "./~/x.md", "content": ""})).len(),
        6
    );
    let apart = shown("filesystem", "move", json!({"source": "a/x", "destination": "b/x"}));
    assert_eq!(apart.len(), 8);
    let hook = shown("filesystem", "write_file", json!({"path": ".envrc", "content": ""}));
    assert_eq!(hook.len(), 6, "no mode and no folder is offered for what other programs obey");
}

#[test]
fn one_grant_for_edits_covers_all_file_tools_below_a_folder_and_loses_no_file() {
    let files = |path: &str| Shape::Files { path: path.to_owned() };
    let write = |path: &str| ("write_file", json!({"path": path, "content": ""}));
    let go = |from: &str, to: &str| ("move", json!({"source": from, "destination": to}));
    let is_covered = |shape: &Shape, (tool, arguments): &(&str, Value)| {
        covers(shape, &facts("filesystem", tool, arguments))
    };
    for call in [
        write("notes/a.md"),
        write("/home/ann/work/notes/a.md"),
        ("edit_file", json!({"path": "notes/deep/a.md", "edits": []})),
        go("notes/a", "notes/b/c"),
    ] {
        assert!(is_covered(&files("notes"), &call) && is_covered(&files(""), &call), "{call:?}");
    }
    for call in [write("a.md"), write("notes2/a"), go("notes/a", "b"), go("b", "notes/a")] {
        assert!(!is_covered(&files("notes"), &call) && is_covered(&files(""), &call), "{call:?}");
    }
    let over = json!({"source": "notes/a", "destination": "notes/b", "overwrite": true});
    for call in [
        ("delete", json!({"path": "notes/a.md"})),
        ("move", over.clone()),
        write("notes/.git/hooks/pre-commit"),
        write("notes/CLAUDE.md"),
        write("notes/../x"),
        write("/etc/passwd"),
        ("read_file", json!({"path": "notes/a.md"})),
    ] {
        let (tool, arguments) = &call;
        let facts = facts("filesystem", tool, arguments);
        for shape in [files("notes"), files("")] {
            assert!(!covers(&shape, &facts), "{call:?}");
        }
        if *tool != "read_file" {
            let wide = |shape: &(Scope, String)| shape.0 != Scope::Exact;
            assert!(!offered_shapes(&facts).iter().any(wide), "{call:?}");
        }
    }
    // Neither does a grant for one tool cover them.
    for call in
        [write("notes/.vscode/tasks.json"), write("notes/AGENTS.md"), ("move", over.clone())]
    {
        assert!(!is_covered(&below("notes"), &call), "{call:?}");
    }
    let arguments = json!({"path": "notes/a.md", "content": ""});
    for origin in [claw_domain::Origin::Forwarded, claw_domain::Origin::Schedule] {
        let call = Facts { origin, ..facts("filesystem", "write_file", &arguments) };
        let files = |shape: &(Scope, String)| matches!(shape.0, Scope::Files { .. });
        assert!(!offered_shapes(&call).iter().any(files), "{origin}");
    }
}

/// Where a path leads by its text alone, as a list of names, or `None` where it leaves the
/// workspace.
fn leads_to(path: &str) -> Option<Vec<String>> {
    let mut at: Vec<String> = Vec::new();
    if path.starts_with('/') {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(at.pop()?),
            name => at.push(name.to_owned()),
        }
    }
    Some(at)
}

proptest! {
    #[test]
    fn a_grant_never_covers_what_leads_elsewhere(
        prefix in r"(/|\.|\.\.|a|b|~|\\){0,6}",
        path in r"(/|\.|\.\.|a|b|~|\\){0,12}",
    ) {
        if covers_path(&prefix, &path) {
            let (folder, place) = (leads_to(&prefix).unwrap(), leads_to(&path).unwrap());
            prop_assert!(!folder.is_empty() && place.starts_with(&folder), "{prefix:?} covers {path:?}");
        }
    }

    #[test]
    fn every_offer_covers_the_call_that_it_was_made_for(path in "[a-c./~]{0,12}") {
        let arguments = json!({"path": path, "content": ""});
        let facts = facts("filesystem", "write_file", &arguments);
        for (scope, _) in offered_shapes(&facts) {
            prop_assert!(Shape::of(&scope, &facts).is_some(), "{scope:?}");
        }
    }
}

#[test]
fn a_grant_for_a_command_with_hosts_covers_these_hosts_and_no_others() {
    let call = |needs: &str, hosts: Option<Value>| {
        let mut arguments = json!({"command": "cargo build", "needs": needs});
        if let Some(hosts) = hosts {
            arguments["hosts"] = hosts;
        }
        arguments
    };
    let named = call("network", Some(json!(["crates.io", "*.crates.io"])));
    let scope = Scope::Command { words: vec!["cargo".into(), "build".into()] };
    let granted = Shape::of(&scope, &facts("bash", "run", &named)).unwrap();
    for covered in [
        named.clone(),
        call("network", Some(json!(["crates.io"]))),
        call("write", None),
        call("read", None),
    ] {
        assert!(covers(&granted, &facts("bash", "run", &covered)), "{covered}");
    }
    for other in [
        call("network", None),
        call("network", Some(json!([]))),
        call("network", Some(Value::Null)),
        call("network", Some(json!("crates.io"))),
        call("network", Some(json!(["crates.io", "evil.com"]))),
        call("network", Some(json!(["CRATES.IO.evil.com"]))),
    ] {
        assert!(!covers(&granted, &facts("bash", "run", &other)), "{other}");
    }
    let all = Shape::of(&scope, &facts("bash", "run", &call("network", None))).unwrap();
    assert!(covers(&all, &facts("bash", "run", &named)));
    let write = Shape::of(&scope, &facts("bash", "run", &call("write", None))).unwrap();
    assert!(!covers(&write, &facts("bash", "run", &named)));
    let says = offered_shapes(&facts("bash", "run", &named)).pop().unwrap().1;
    assert!(says.ends_with("with the network to crates.io, *.crates.io"), "{says}");
    let before: Shape =
        serde_json::from_value(json!({"kind": "command", "words": ["cargo", "build"]})).unwrap();
    assert!(
        covers(&before, &facts("bash", "run", &call("write", None)))
            && !covers(&before, &facts("bash", "run", &named))
    );
}
