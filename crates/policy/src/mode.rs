//! Which calls a mode of a session lets through without a question. Pure. Must not know who gave
//! the mode, or until when.

use std::path::Path;

use claw_domain::{Level, Mode, Origin, OwnServerName};
use serde_json::Value;

use super::shape::{call_paths, components};
use super::{Facts, level, obeyed, variables};

/// The tools of our filesystem server that change a file and lose none.
const EDITS: &[&str] = &["write_file", "edit_file", "apply_patch", "move"];

/// Whether the mode lets this call through: the owner's own words led to it, a tool of ours does
/// it, all of it lies in the workspace, and nothing of it is run or obeyed by other programs. In
/// doubt it does not.
pub fn lets_through(mode: Mode, facts: &Facts<'_>) -> bool {
    that_fits(facts).is_some_and(|needed| needed <= mode)
}

/// The narrowest mode that lets this call through.
pub fn that_fits(facts: &Facts<'_>) -> Option<Mode> {
    if facts.origin != Origin::Owner {
        return None;
    }
    if edited(facts).is_some() {
        return Some(Mode::Edits);
    }
    works_in_its_box(facts).then_some(Mode::Work)
}

/// A command of level `write`, which the operating system holds to it and keeps off what other
/// programs obey. A job that goes on is not kept off them. Its variables can be another program's
/// words, which one that could only look may have left.
fn works_in_its_box(facts: &Facts<'_>) -> bool {
    is_boxed_work(facts) && variables::are_harmless(facts)
}

fn is_boxed_work(facts: &Facts<'_>) -> bool {
    facts.tool == "run"
        && level::of(facts).is_some_and(|level| level <= Level::Write)
        && facts.held.levels
        && facts.held.protected
}

/// Whether a mode would let this command through if it had not the variables that it has.
pub fn is_kept_by_variables(facts: &Facts<'_>) -> bool {
    facts.origin == Origin::Owner && is_boxed_work(facts) && !variables::are_harmless(facts)
}

/// The paths in the workspace that an edit names. `None` for what is no edit, for what other
/// programs obey, and for what may be lost.
pub(super) fn edited<'a>(facts: &Facts<'a>) -> Option<Vec<&'a str>> {
    if !EDITS.contains(&facts.tool) || replaces(facts) {
        return None;
    }
    let paths = call_paths(facts)?.into_iter();
    paths
        .map(|path| inside(path, facts.workspace).filter(|path| !obeyed::is_obeyed(path)))
        .collect()
}

/// The first path of a call of our file tools that other programs act by, and who does: `git runs`.
/// A file that lies outside of the workspace is none.
pub fn acted_by<'a>(facts: &Facts<'a>) -> Option<(&'a str, &'static str)> {
    let inside = |path| inside(path, facts.workspace).and_then(obeyed::by);
    call_paths(facts)?.into_iter().find_map(|path| Some((path, inside(path)?)))
}

/// Why no mode lets a call through that it would else: half a sentence.
pub(super) fn why_never(facts: &Facts<'_>) -> Option<String> {
    if facts.builtin == Some(OwnServerName::Bash) && facts.tool == "start" {
        return Some("a background job is asked about in every mode".to_owned());
    }
    let (_, by) = acted_by(facts)?;
    Some(format!("{by} this file, so it is asked about in every mode"))
}

/// What is replaced by a move is gone like what is deleted.
pub(super) fn replaces(facts: &Facts<'_>) -> bool {
    facts.arguments.get("overwrite").is_some_and(|value| *value != Value::Bool(false))
}

/// The path below the workspace, if its letters say that it lies there.
fn inside<'a>(path: &'a str, workspace: &Path) -> Option<&'a str> {
    let below = if path.starts_with('/') {
        let below = path.strip_prefix(workspace.to_str()?.trim_end_matches('/'))?;
        below.strip_prefix('/')?
    } else {
        path
    };
    let below = below.trim_start_matches('/');
    components(below).map(|_| below)
}

#[cfg(test)]
mod tests {
    use claw_domain::HeldLevels;
    use serde_json::json;

    use super::*;
    use crate::tests::facts;

    fn file(tool: &str, arguments: &Value) -> Option<Mode> {
        that_fits(&facts("filesystem", tool, arguments))
    }

    #[test]
    fn edits_are_writing_editing_and_moving_in_the_workspace() {
        let write = |path: &str| file("write_file", &json!({"path": path, "content": ""}));
        let edit = |path: &str| file("edit_file", &json!({"path": path}));
        let go = |from: &str, to: &str| file("move", &json!({"source": from, "destination": to}));
        for path in ["a", "src/main.rs", "./x", "/home/ann/work/a", "/home/ann/work//a"] {
            assert_eq!(write(path), Some(Mode::Edits), "{path}");
            assert_eq!(edit(path), Some(Mode::Edits), "{path}");
            assert_eq!(go(path, "b"), Some(Mode::Edits), "{path}");
            assert_eq!(go("b", path), Some(Mode::Edits), "{path}");
        }
        for path in [
            "",
            "/",
            "/etc/passwd",
            "/home/ann/works/a",
            "/home/ann/work",
            "/home/ann/work/../x",
            "../x",
            "a/../../x",
            "~/x",
            ".git/hooks/pre-commit",
            "/home/ann/work/.git/config",
            ".envrc",
            "AGENTS.md",
            ".github/workflows/ci.yml",
        ] {
            assert_eq!(write(path), None, "{path}");
            assert_eq!(go(path, "b"), None, "from {path}");
            assert_eq!(go("b", path), None, "to {path}");
        }
        assert_eq!(file("delete", &json!({"path": "a"})), None);
        let over = json!({"source": "a", "destination": "b", "overwrite": true});
        assert_eq!(file("move", &over), None, "what it replaces is gone");
        let odd = json!({"source": "a", "destination": "b", "overwrite": "yes"});
        assert_eq!(file("move", &odd), None);
        let kept = json!({"source": "a", "destination": "b", "overwrite": false});
        assert_eq!(file("move", &kept), Some(Mode::Edits));
    }

    /// What the box keeps a command at level `write` off, the file tools are kept off, too.
    #[test]
    fn no_mode_covers_a_file_of_what_is_obeyed_on_sight() {
        for row in obeyed::TABLE {
            for path in [row.name.to_owned(), format!("sub/{}/x", row.name)] {
                let write = json!({"path": path, "content": ""});
                assert_eq!(file("write_file", &write), None, "{path}");
                let go = json!({"source": "a", "destination": path});
                assert_eq!(file("move", &go), None, "to {path}");
            }
        }
    }

    #[test]
    fn a_question_that_a_mode_does_not_spare_says_why() {
        let said = |server: &str, tool: &str, arguments: Value| {
            let policy = crate::Policy::load(None).unwrap();
            match policy.judge(&facts(server, tool, &arguments)) {
                crate::Verdict::Ask { why, .. } => why,
                other => panic!("{other:?}"),
            }
        };
        let write =
            |path: &str| said("filesystem", "write_file", json!({"path": path, "content": ""}));
        let hook = "git runs this file, so it is asked about in every mode";
        assert_eq!(write(".git/hooks/pre-commit"), hook);
        assert_eq!(write("/home/ann/work/.git/hooks/pre-commit"), hook);
        assert!(write("AGENTS.md").starts_with("agents obey this file, so"));
        assert_eq!(write("src/a.rs"), "filesystem/write_file can change something");
        let why = said("filesystem", "move", json!({"source": "a", "destination": ".envrc"}));
        assert!(why.starts_with("your shell runs this file"), "{why}");
        let job = said("bash", "start", json!({"command": "npm start", "needs": "write"}));
        assert_eq!(
            job,
            "a background job is asked about in every mode; it can change files in the workspace; \
             it has no network"
        );
    }

    #[test]
    fn work_is_also_commands_that_the_box_keeps_from_the_network() {
        let needs = |level: &str| json!({"command": "make", "needs": level});
        let fits = |arguments: &Value| that_fits(&facts("bash", "run", arguments));
        assert_eq!(fits(&needs("write")), Some(Mode::Work));
        assert_eq!(fits(&needs("read")), Some(Mode::Work));
        assert_eq!(fits(&needs("network")), None);
        assert_eq!(fits(&needs("all")), None, "a level that there is not");
        let write = needs("write");
        let call = facts("bash", "run", &write);
        for held in [HeldLevels::NONE, HeldLevels { levels: false, ..HeldLevels::ALL }] {
            assert_eq!(that_fits(&Facts { held, ..call }), None);
        }
        assert!(!lets_through(Mode::Edits, &call) && !lets_through(Mode::Ask, &call));
        assert!(lets_through(Mode::Work, &call));
        assert_eq!(that_fits(&Facts { tool: "start", ..call }), None);
        let held = HeldLevels { protected: false, ..HeldLevels::ALL };
        assert_eq!(that_fits(&Facts { held, ..call }), None, "it could write a hook");
        assert_eq!(that_fits(&Facts { tool: "write_input", ..call }), None);
    }

    #[test]
    fn only_our_own_servers_and_the_owners_own_words_profit() {
        let (path, write) =
            (json!({"path": "a", "content": ""}), json!({"command": "make", "needs": "write"}));
        for call in [facts("filesystem", "write_file", &path), facts("bash", "run", &write)] {
            assert!(lets_through(Mode::Work, &call));
            assert!(!lets_through(Mode::Work, &Facts { builtin: None, ..call }), "a stranger's");
            for origin in [
                Origin::Forwarded,
                Origin::SubAgent,
                Origin::McpClient,
                Origin::Schedule,
                Origin::Button,
            ] {
                assert!(!lets_through(Mode::Work, &Facts { origin, ..call }), "{origin}");
            }
        }
    }
}
