//! What a patch does, in words: which files, how many lines, and the lines themselves. Pure. Must
//! not know what stands in the files.

use claw_kit::patch::{self, Change, Edit};

use super::{Effect, Facts, count, inline, text};
use crate::domain::escape;

/// Names that stand in the sentence; with more of them it says how many.
const NAMES_MAX: usize = 3;

/// `None` for a patch that our server refuses: it stands among the arguments as it is.
pub(super) fn of_patch(facts: &Facts<'_>) -> Option<Effect> {
    let changes = patch::read(text(facts, "patch")?).ok()?;
    let all = changes.iter().map(Lines::of).fold(Lines::default(), Lines::and);
    let lines = if changes.len() == 1 { all.of_one_file() } else { all.of_several() };
    let verb = if changes.iter().all(|change| change.creates) { "Create" } else { "Patch" };
    let names: Option<Vec<&str>> = changes.iter().map(|change| inline(change.path)).collect();
    let named = names.filter(|names| names.len() <= NAMES_MAX);
    let files = match named {
        Some(names) => names.join(", "),
        None => count(changes.len() as u64, "file"),
    };
    let says = format!("{verb} {files} ({lines})");
    let files_first = if changes.len() == 1 { String::new() } else { listed(&changes) };
    let difference: String = changes.iter().map(difference).collect();
    let difference = files_first + &difference;
    Some(Effect { says, told: vec!["patch".to_owned()], difference, ..Effect::default() })
}

/// How many lines go and come.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    gone: u64,
    come: u64,
}

impl Lines {
    fn of(change: &Change<'_>) -> Self {
        change.edits().into_iter().fold(Self::default(), |lines, edit| match edit {
            Edit::Goes(_) => Self { gone: lines.gone + 1, ..lines },
            Edit::Comes(_) => Self { come: lines.come + 1, ..lines },
            Edit::Hunk(_) | Edit::Stays(_) | Edit::NoLineFeed => lines,
        })
    }

    fn and(self, other: Self) -> Self {
        Self { gone: self.gone + other.gone, come: self.come + other.come }
    }

    fn of_one_file(self) -> String {
        match (self.gone, self.come) {
            (0, come) => format!("{} more", count(come, "line")),
            (gone, 0) => {
                format!("{} {}", count(gone, "line"), if gone == 1 { "goes" } else { "go" })
            }
            (gone, come) if gone == come => {
                format!("{} {}", count(gone, "line"), if gone == 1 { "changes" } else { "change" })
            }
            (gone, come) => {
                let becomes = if gone == 1 { "becomes" } else { "become" };
                format!("{} {becomes} {come}", count(gone, "line"))
            }
        }
    }

    /// Over several files no line becomes another.
    fn of_several(self) -> String {
        match (self.gone, self.come) {
            (gone, 0) => format!("{} removed", count(gone, "line")),
            (0, come) => format!("{} added", count(come, "line")),
            (gone, come) => format!("{} added, {gone} removed", count(come, "line")),
        }
    }

    /// As developers write it.
    fn in_signs(self) -> String {
        match (self.gone, self.come) {
            (gone, 0) => format!("-{gone}"),
            (0, come) => format!("+{come}"),
            (gone, come) => format!("+{come} -{gone}"),
        }
    }
}

/// Every file on a line of its own above all changes, so that what is changed is seen also where
/// there is no room for the lines.
fn listed(changes: &[Change<'_>]) -> String {
    let line = |change: &Change<'_>| {
        let (path, lines) = (escape::visible(change.path), Lines::of(change).in_signs());
        let new = if change.creates { "new, " } else { "" };
        format!("@ {path} ({new}{lines})\n")
    };
    changes.iter().map(line).collect()
}

/// The lines of one file, under its name.
fn difference(change: &Change<'_>) -> String {
    let path = escape::visible(change.path);
    let mut shown = match change.creates {
        true => format!("@ {path}, a new file\n"),
        false => format!("@ {path}\n"),
    };
    for edit in change.edits() {
        let (mark, line) = match edit {
            Edit::Hunk(_) if change.creates => continue,
            Edit::Hunk(line) => {
                shown.push_str(&format!("@ near line {line}\n"));
                continue;
            }
            Edit::Stays(line) => (' ', line),
            Edit::Goes(line) => ('-', line),
            Edit::Comes(line) => ('+', line),
            Edit::NoLineFeed => {
                shown.push_str("\\ no line feed at the end\n");
                continue;
            }
        };
        shown.push(mark);
        shown.push_str(&escape::visible_multiline(line));
        shown.push('\n');
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::effect;

    #[test]
    fn a_patch_says_its_files_and_shows_every_line_of_it() {
        let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -4,2 +4,2 @@\n one\n-two\n+t\u{200b}wo\n\
             --- /dev/null\n+++ b/b/new.sh\n@@ -0,0 +1 @@\n+echo\n\\ No newline at end of file\n";
        let effect = effect("filesystem", "apply_patch", &json!({ "patch": patch }), None);
        assert_eq!(effect.says, "Patch a.txt, b/new.sh (2 lines added, 1 removed)");
        assert_eq!(
            effect.difference,
            "@ a.txt (+1 -1)\n@ b/new.sh (new, +1)\n@ a.txt\n@ near line 4\n one\n-two\n+t\\u{200b}wo\n@ b/new.sh, a new file\n+echo\n\
             \\ no line feed at the end\n"
        );
        assert!(effect.tells("patch") && !effect.danger);
    }

    #[test]
    fn many_files_are_counted_and_their_names_stand_above_their_lines() {
        let part = |n: usize| format!("--- f{n}\n+++ f{n}\n@@ -1 +1,2 @@\n x\n+y\n");
        let patch: String = (0..4).map(part).collect();
        let effect = effect("filesystem", "apply_patch", &json!({ "patch": patch }), None);
        assert_eq!(effect.says, "Patch 4 files (4 lines added)");
        assert!((0..4).all(|n| effect.difference.contains(&format!("@ f{n}\n"))));
        let all = "@ f0 (+1)\n@ f1 (+1)\n@ f2 (+1)\n@ f3 (+1)\n@ f0\n";
        assert!(effect.difference.starts_with(all), "{}", effect.difference);
    }

    #[test]
    fn a_patch_of_one_file_needs_no_list() {
        let patch = "--- f\n+++ f\n@@ -1,2 +1 @@\n-x\n-y\n+z\n";
        let effect = effect("filesystem", "apply_patch", &json!({ "patch": patch }), None);
        assert_eq!(effect.says, "Patch f (2 lines become 1)");
        assert!(effect.difference.starts_with("@ f\n@ near line 1\n-x\n"));
    }

    #[test]
    fn what_the_server_refuses_stands_among_the_arguments() {
        let arguments = json!({"patch": "--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"});
        let effect = effect("filesystem", "apply_patch", &arguments, None);
        assert!(!effect.tells("patch") && effect.difference.is_empty(), "{}", effect.says);
    }
}
