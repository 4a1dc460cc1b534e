//! What the `.gitignore` files of a tree name. It was out of sight then, so that it is no work of
//! whoever has only taken the line away. Must not know whose changes are counted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::contents::Contents;
use crate::entry::{Entry, RelPath};
use crate::tree::Tree;

const NAME: &str = ".gitignore";
/// The workspace, as far as rules are concerned: they match below a folder that has a name.
const TOP: &str = "/";

/// `now` without what only came to sight since `before`: paths that `before` does not have and that
/// its own `.gitignore` files named. A `.gitignore` whose content is not kept names nothing.
pub(crate) fn without_what_came_to_sight<'t>(
    now: &'t Tree,
    before: &Tree,
    contents: &Contents,
) -> Cow<'t, Tree> {
    if rule_files(before).eq(rule_files(now)) {
        return Cow::Borrowed(now);
    }
    let rules = Rules::of(before, contents);
    let mut seen = now.clone();
    seen.entries.retain(|path, entry| {
        before.entries.contains_key(path) || !rules.name(path.as_path(), entry.is_folder())
    });
    Cow::Owned(seen)
}

/// The `.gitignore` files of a tree.
fn rule_files(tree: &Tree) -> impl Iterator<Item = (&RelPath, &Entry)> {
    tree.entries.iter().filter(|(path, _)| {
        path.as_path().as_os_str().as_bytes().ends_with(NAME.as_bytes())
            && path.as_path().ends_with(NAME)
    })
}

/// The rules of each folder that has some, by its path from [`TOP`].
struct Rules(BTreeMap<PathBuf, Gitignore>);

impl Rules {
    fn of(tree: &Tree, contents: &Contents) -> Self {
        let rules = rule_files(tree).filter_map(|(path, entry)| {
            let Entry::File { digest, .. } = entry else { return None };
            let folder = Path::new(TOP).join(path.as_path().parent()?);
            let mut lines = GitignoreBuilder::new(&folder);
            // A line that cannot be read names nothing, as on a walk.
            let _ = lines.add(contents.path(digest));
            Some((folder, lines.build().ok()?))
        });
        Self(rules.collect())
    }

    /// Whether the path is named, or a folder that it lies in.
    fn name(&self, path: &Path, is_folder: bool) -> bool {
        let path = Path::new(TOP).join(path);
        let mut parts = path.ancestors().filter(|part| part.parent().is_some());
        let itself = parts.next().is_some_and(|part| self.name_one(part, is_folder));
        itself || parts.any(|folder| self.name_one(folder, true))
    }

    /// The nearest folder above it whose rules speak of it decides.
    fn name_one(&self, path: &Path, is_folder: bool) -> bool {
        let mut folders = path.ancestors().skip(1);
        let said = folders.find_map(|folder| {
            let said = self.0.get(folder)?.matched(path, is_folder);
            (!said.is_none()).then(|| said.is_ignore())
        });
        said.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::New;

    #[test]
    fn what_the_rules_of_before_named_came_to_sight_and_everything_else_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let contents = Contents::open(dir.path().join("contents")).unwrap();
        let mut new = New::default();
        let mut file = |text: &str| {
            let (digest, bytes) = contents.keep(text.as_bytes(), &mut new).unwrap();
            Entry::File { digest, bytes, mode: 0o644 }
        };
        let top = file("\u{feff}.env\n/data/\n*.log\n!keep.log\nout\n");
        let (sub, plain, other) = (file("!out\nlocal\n"), file("1"), file(""));
        contents.publish(new).unwrap();
        let folder = Entry::Folder { mode: 0o755 };
        let tree = |entries: &[(&str, &Entry)]| {
            let of = |(path, entry): &(&str, &Entry)| {
                (RelPath::from(PathBuf::from(path)), (*entry).clone())
            };
            Tree { entries: entries.iter().map(of).collect(), ..Tree::default() }
        };
        let before = [(".gitignore", &top), ("sub", &folder), ("sub/.gitignore", &sub)];
        let sight = [".env", "sub/.env", "data/db", "data/deep/x", "a.log", "out/x", "sub/local"];
        let made = ["new", "keep.log", "sub/data", "sub/out", "local", "logs", "x.gitignore"];
        let mut now = before.to_vec();
        now.extend(sight.iter().chain(&made).map(|path| (*path, &plain)));
        now.extend([("data", &folder), ("out", &folder), ("known.log", &plain)]);
        let mut known = before.to_vec();
        known.push(("known.log", &plain));
        let known = tree(&known);
        // The same rules: nothing can have come to sight.
        let same = tree(&now);
        assert_eq!(*without_what_came_to_sight(&same, &known, &contents), same);
        for changed in [Some(&other), None] {
            let mut now = now.clone();
            now.remove(0);
            now.extend(changed.map(|entry| (".gitignore", entry)));
            let now = tree(&now);
            let counted = without_what_came_to_sight(&now, &known, &contents);
            let gone = |path: &&RelPath| !counted.entries.contains_key(*path);
            let gone: Vec<String> =
                now.entries.keys().filter(gone).map(|path| format!("{path:?}")).collect();
            let mut named: Vec<String> =
                sight.iter().chain(&["data", "out"]).map(|path| format!("{path:?}")).collect();
            named.sort();
            assert_eq!(gone, named);
        }
    }
}
