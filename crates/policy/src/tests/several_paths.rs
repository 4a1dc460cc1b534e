//! Calls that name several files: in a list, or in a patch. Every file counts.

use claw_domain::Mode;
use serde_json::{Value, json};

use super::{ALLOW_ALL, facts, kind, policy};
use crate::{Policy, mode, shape};

/// A rule about a file holds wherever the file is named.
#[test]
fn a_rule_about_one_file_decides_for_the_call_that_names_it_among_others() {
    let rule = |decision: &str, tool: &str, pattern: &str| {
        policy(&format!(
            "[[rule]]\nserver = \"filesystem\"\ntool = \"{tool}\"\nargs.path = '{pattern}'\n\
             decision = \"{decision}\"\nwhy = \"because\"\n"
        ))
    };
    let judged = |policy: &Policy, paths: Value| {
        let arguments = json!({ "paths": paths });
        kind(&policy.judge(&facts("filesystem", "read_files", &arguments))).0
    };
    for decision in ["deny", "ask"] {
        for tool in ["read_file", "read_files", "*"] {
            let policy = rule(decision, tool, r".*\.env");
            for paths in [json!([".env"]), json!(["a", "x/.env"]), json!(["x/.env", "a", "b"])] {
                assert_eq!(judged(&policy, paths.clone()), decision, "{tool} {paths}");
            }
            assert_eq!(judged(&policy, json!(["a", "b"])), "allow", "{tool}");
        }
    }
    // What allows has to fit all of them.
    let docs = rule("allow", "read_file", "docs/.*");
    let by = |paths: Value| {
        let arguments = json!({ "paths": paths });
        kind(&docs.judge(&facts("filesystem", "read_files", &arguments))).1.to_owned()
    };
    assert_eq!(by(json!(["docs/a", "docs/b"])), "policy.toml:1");
    assert_eq!(by(json!(["docs/a", "src/b"])), "class.safe");
    // Which files it names cannot be told: it is asked about.
    for odd in [json!("a"), json!(["a", 3]), json!([["a"]]), json!(null)] {
        assert_eq!(judged(&policy(""), odd.clone()), "ask", "{odd}");
        assert_eq!(judged(&policy(ALLOW_ALL), odd.clone()), "ask", "{odd}");
    }
}

#[test]
fn a_grant_for_a_folder_covers_several_files_only_if_all_lie_in_it() {
    let covers = |paths: Value| {
        let arguments = json!({ "paths": paths });
        let shape = shape::Shape::Below { path: "src".to_owned() };
        shape::covers(&shape, &facts("filesystem", "read_files", &arguments))
    };
    assert!(covers(json!(["src/a", "src/b"])));
    for paths in
        [json!(["src/a", "b"]), json!(["src/a", "src/../b"]), json!([]), json!(["src/a", 1])]
    {
        assert!(!covers(paths.clone()), "{paths}");
    }
}

/// A patch is judged by the files that the server would change, and never waved through.
#[test]
fn a_rule_about_one_file_decides_for_the_patch_that_names_it() {
    let part = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n");
    let new = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+y\n");
    let judged = |rules: &str, patch: &str| {
        let arguments = json!({ "patch": patch });
        let verdict = policy(rules).judge(&facts("filesystem", "apply_patch", &arguments));
        let (kind, rule) = kind(&verdict);
        format!("{kind} {rule}")
    };
    let deny = |tool: &str| {
        format!(
            "{ALLOW_ALL}[[rule]]\nserver = \"filesystem\"\ntool = \"{tool}\"\n\
             args.path = '.*\\.env'\ndecision = \"deny\"\nwhy = \"keys\"\n"
        )
    };
    let denied = |rules: &str, patch: &str| judged(rules, patch).starts_with("deny");
    assert!(denied(&deny("edit_file"), &(part("a") + &part("b/.env"))));
    assert!(denied(&deny("write_file"), &(part("a") + &new("b/.env"))));
    assert!(denied(&deny("*"), &(part(".env") + &new("b"))));
    assert_eq!(judged(&deny("*"), &(part("a") + &new("b"))), "allow policy.toml:1");
    let hidden = format!("{}rename from a\nrename to .env\n", part("a"));
    for odd in [hidden.as_str(), "", "x", &part("a").replace("b/a", "b/.env")] {
        assert_eq!(judged(&deny("*"), odd), "ask builtin.unreadable-paths", "{odd}");
    }
    // What a mode and a grant for a folder cover.
    let mode = |patch: &str| {
        let arguments = json!({ "patch": patch });
        mode::that_fits(&facts("filesystem", "apply_patch", &arguments))
    };
    assert_eq!(mode(&(part("a") + &new("b/c"))), Some(Mode::Edits));
    for path in [".git/hooks/pre-commit", "../x", "/etc/passwd", "AGENTS.md", ".envrc"] {
        assert_eq!(mode(&(part("a") + &part(path))), None, "{path}");
        assert_eq!(mode(&(part("a") + &new(path))), None, "{path}");
    }
    assert_eq!(mode("x"), None);
}

/// What an owner reads into "nothing writes to this file" is every tool that does.
#[test]
fn a_rule_about_writing_a_path_holds_for_every_tool_that_changes_it() {
    let judged = |rules: &str, tool: &str, arguments: Value| {
        kind(&policy(rules).judge(&facts("filesystem", tool, &arguments))).0
    };
    let rule = |decision: &str, tool: &str| {
        format!(
            "{ALLOW_ALL}[[rule]]\nserver = \"filesystem\"\ntool = \"{tool}\"\n\
             args.path = 'conf/keys'\ndecision = \"{decision}\"\nwhy = \"keys\"\n"
        )
    };
    let change = |path: &str| {
        let patch = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n");
        ("apply_patch", json!({ "patch": patch }))
    };
    let new = |path: &str| {
        let patch = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+y\n");
        ("apply_patch", json!({ "patch": patch }))
    };
    let by_all = |path: &str| {
        vec![
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "edits": []})),
            ("move", json!({"source": "a", "destination": path})),
            ("move", json!({"source": path, "destination": "a"})),
            ("delete", json!({"path": path})),
        ]
    };
    for tool in ["write_file", "edit_file", "{write_file,edit_file}", "*"] {
        for decision in ["deny", "ask"] {
            let rules = rule(decision, tool);
            let whole =
                super::facts("filesystem", "write_file", &Value::Null).workspace.join("conf/keys");
            let spelled = ["conf/keys", "./conf/keys", "conf//keys", "a/../conf/./keys"];
            let spelled = spelled.into_iter().chain(whole.to_str());
            let calls = spelled.flat_map(by_all).chain([change("conf/keys"), new("conf/keys")]);
            for (by, arguments) in calls {
                assert_eq!(
                    judged(&rules, by, arguments.clone()),
                    decision,
                    "{tool} {by} {arguments}"
                );
            }
            for (by, arguments) in by_all("conf/other").into_iter().chain([change("conf/other")]) {
                assert_eq!(
                    judged(&rules, by, arguments.clone()),
                    "allow",
                    "{tool} {by} {arguments}"
                );
            }
        }
    }
    // A rule about deleting is about what takes a file away, and not about what writes to it.
    let rules = rule("deny", "delete");
    assert_eq!(judged(&rules, "move", json!({"source": "conf/keys", "destination": "a"})), "deny");
    assert_eq!(judged(&rules, "move", json!({"source": "a", "destination": "conf/keys"})), "allow");
    assert_eq!(judged(&rules, "write_file", json!({"path": "conf/keys"})), "allow");
    // What allows writing allows nothing else.
    let allows = "[[rule]]\nserver = \"filesystem\"\ntool = \"write_file\"\n\
                  args.path = 'conf/keys'\ndecision = \"allow\"\nwhy = \"mine\"\n";
    for (by, arguments) in by_all("conf/keys") {
        let expected = if by == "write_file" { "allow" } else { "ask" };
        assert_eq!(judged(allows, by, arguments.clone()), expected, "{by} {arguments}");
    }
}
