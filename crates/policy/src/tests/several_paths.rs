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
