//! What one of several has changed in a workspace, told from what the others have. Pure. Must not
//! know where a ledger is kept, or who they are.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use serde::{Deserialize, Serialize};

use crate::entry::RelPath;
use crate::tree::{Changes, Tree};

/// Behind the name of a file that the server `bash` has given another name, because nobody knows
/// whose it is; a number may follow.
const ASIDE: &[u8] = b".set-aside";

/// Whose the changes between two looks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Nobody else was at work that counts itself.
    Own,
    Others,
    /// Others were at work, too, and nobody can tell.
    Doubtful,
}

/// The changes of one, from look to look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ledger {
    /// What was at each path before its own first change there.
    was: Tree,
    /// What its own last change has left there.
    left: Tree,
    /// Own paths that somebody else has changed between two own changes: what was there before
    /// would take back theirs, too.
    mixed: BTreeSet<RelPath>,
    /// What others have changed meanwhile.
    others: BTreeSet<RelPath>,
    /// What has changed while others were at work, too.
    doubtful: BTreeSet<RelPath>,
}

impl Ledger {
    /// Counting the same twice is counting it once: a kill may come before it is known as counted.
    pub(crate) fn count(&mut self, seen: &Tree, now: &Tree, whose: Whose) {
        let paths = seen.entries.keys().chain(now.entries.keys());
        let is_other = |path: &&RelPath| seen.entries.get(*path) != now.entries.get(*path);
        let changed: BTreeSet<&RelPath> = paths.filter(is_other).collect();
        let own = match whose {
            Whose::Own => changed,
            Whose::Others => return self.others.extend(changed.into_iter().cloned()),
            Whose::Doubtful => return self.doubtful.extend(changed.into_iter().cloned()),
        };
        for path in own {
            if !seen.entries.contains_key(path) && is_set_aside(path) {
                self.others.insert(path.clone());
            } else {
                self.count_own(path, seen, now);
            }
        }
        self.was.leave_out_also(seen);
        self.left.leave_out_also(now);
    }

    fn count_own(&mut self, path: &RelPath, seen: &Tree, now: &Tree) {
        let (old, new) = (seen.entries.get(path), now.entries.get(path));
        let left = self.left.entries.get(path);
        let is_known = left.is_some() || self.was.entries.contains_key(path);
        if is_known && left == new {
            return;
        }
        if !is_known {
            self.was.entries.extend(old.map(|entry| (path.clone(), entry.clone())));
        } else if left != old {
            self.mixed.insert(path.clone());
        }
        match new {
            Some(entry) => self.left.entries.insert(path.clone(), entry.clone()),
            None => self.left.entries.remove(path),
        };
    }

    /// The paths that it tells apart.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.was.entries.keys().chain(self.left.entries.keys())
    }

    /// What was there before.
    pub(crate) fn was(&self) -> &Tree {
        &self.was
    }

    /// How much is another thing than before, what is in doubt included.
    pub(crate) fn changes(&self) -> Changes {
        let Changes { paths, files } = self.was.differs_from(&self.left);
        let doubtful = self.doubtful.iter().filter(|path| !self.is_own(path)).count();
        Changes { paths: paths + doubtful, files: files + doubtful }
    }

    /// Before and behind all of it, with what others have changed meanwhile.
    pub(crate) fn trees(mut self) -> (Tree, Tree) {
        let others = self.others.iter().chain(&self.doubtful).filter(|path| !self.is_own(path));
        self.left.others = others.chain(&self.mixed).cloned().collect();
        (self.was, self.left)
    }

    fn is_own(&self, path: &RelPath) -> bool {
        self.was.entries.contains_key(path) || self.left.entries.contains_key(path)
    }
}

/// Whether it was set aside, or lies in a folder that was.
fn is_set_aside(path: &RelPath) -> bool {
    let is_aside = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (before, _) = name.split_at(name.len() - digits);
        let before = if digits > 0 { before.strip_suffix(b"-") } else { Some(before) };
        before.is_some_and(|before| before.len() > ASIDE.len() && before.ends_with(ASIDE))
    };
    path.as_path().iter().any(is_aside)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::entry::Entry;
    use crate::plan::{KeptBecause, Plan};

    fn path(name: &str) -> RelPath {
        RelPath::from(PathBuf::from(name))
    }

    fn tree(files: &[(&str, &str)]) -> Tree {
        let file = |text: &str| Entry::File { digest: text.into(), bytes: 1, mode: 0o644 };
        let entries = files.iter().map(|(name, text)| (path(name), file(text))).collect();
        Tree { entries, ..Tree::default() }
    }

    /// The paths that an undo changes, and those that it names and leaves.
    fn undone(ledger: Ledger, now: &Tree) -> (Vec<RelPath>, Vec<RelPath>) {
        let (before, after) = ledger.trees();
        let plan = Plan::new(&before, &after, now);
        assert!(plan.kept.iter().all(|kept| kept.why == KeptBecause::ChangedMeanwhile));
        let kept = plan.kept.into_iter().map(|kept| kept.path).collect();
        (plan.changes.into_iter().map(|change| change.path).collect(), kept)
    }

    #[test]
    fn own_changes_are_told_from_those_of_others() {
        use Whose::{Others, Own};
        let looks = [
            (Own, tree(&[("a", "0"), ("mixed", "0"), ("theirs", "0"), ("upon", "0")])),
            (Own, tree(&[("a", "1"), ("mixed", "1"), ("theirs", "0"), ("upon", "0")])),
            (Others, tree(&[("a", "1"), ("mixed", "2"), ("theirs", "1"), ("upon", "1")])),
            (Own, tree(&[("a", "2"), ("mixed", "3"), ("theirs", "1"), ("upon", "2")])),
        ];
        let mut ledger = Ledger::default();
        for pair in looks.windows(2) {
            let ([(_, seen), (whose, now)], mut twice) = (pair, ledger.clone()) else { panic!() };
            ledger.count(seen, now, *whose);
            twice.count(seen, now, *whose);
            twice.count(seen, now, *whose);
            assert_eq!(twice, ledger);
        }
        assert_eq!(ledger.was.entries[&path("upon")], looks[2].1.entries[&path("upon")]);
        let (changed, kept) = undone(ledger, &looks[3].1);
        assert_eq!(changed, [path("a"), path("upon")]);
        assert_eq!(kept, [path("mixed"), path("theirs")]);
    }

    #[test]
    fn what_was_set_aside_while_a_call_ran_is_not_its_own() {
        let aside = ["A.set-aside", "A.set-aside-12", ".github.set-aside/x"];
        let own = ["A", "set-aside", "A.set-aside-", "A.set-aside2", "A.set-aside.md"];
        let files: Vec<(&str, &str)> =
            aside.into_iter().chain(own).map(|name| (name, "1")).collect();
        let mut ledger = Ledger::default();
        ledger.count(&tree(&[("seen.set-aside", "0")]), &tree(&files), Whose::Own);
        let (changed, kept) = undone(ledger, &tree(&files));
        assert_eq!(kept, [".github.set-aside/x", "A.set-aside", "A.set-aside-12"].map(path));
        let gone = [own.as_slice(), &["seen.set-aside"]].concat();
        assert_eq!(
            changed.into_iter().collect::<BTreeSet<_>>(),
            gone.into_iter().map(path).collect::<BTreeSet<_>>()
        );
    }

    #[test]
    fn what_was_made_and_removed_again_is_no_change() {
        let (none, some) = (tree(&[]), tree(&[("a", "1")]));
        let mut ledger = Ledger::default();
        ledger.count(&none, &some, Whose::Own);
        ledger.count(&some, &none, Whose::Own);
        assert_eq!(undone(ledger, &none), (Vec::new(), Vec::new()));
    }
}
