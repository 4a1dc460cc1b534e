//! What has become of what others obey on sight, when a command has ended that was kept off it. A
//! path that is new gets another name. A file that was replaced is as it was before, because its
//! mount went with it: the new one may be the owner's or the command's, so it gets another name and
//! the owner is told. Must not know how a command is run, or who tells the owner.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::harmless::is_harmless;
use super::{Identity, NEW_FOLDERS_MAX, Obeyed};
use crate::baseline::Baseline;
use crate::git_head::GitHead;
use crate::level::Level;

const NOT_ALL_NEW: &str = "It has made more folders than are looked through for what other programs run or obey on sight; such files in them were not \
     set aside.";
/// Behind the name of what was set aside.
const ASIDE: &str = "set-aside";
const NAMES_MAX: usize = 1000;
/// So many of what was set aside are named to the owner, because a long notice is cut.
const TOLD_MAX: usize = 10;

/// What is said at the end of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObeyedEnd {
    /// What was set aside or put back, for the model.
    pub set_aside: Option<String>,
    /// The same for the owner, who may have made it.
    pub for_owner: Option<String>,
    /// Whether something has another name now, so that it is missing where it was made.
    pub has_set_aside: bool,
    /// Where a repository stands now that stood elsewhere before.
    pub moved_head: Option<String>,
}

/// What was done with a path.
enum Settled {
    Stays,
    /// In words: where it is now.
    Aside(String),
    /// In words: why it could not be given another name.
    Left(String),
    /// In words: where the one is now that had taken its place.
    Back(String),
}

impl Obeyed {
    pub fn set_aside_what_is_new(&self, level: Level, baseline: &Baseline) -> ObeyedEnd {
        let folders_max = self.folders + self.left.len() + NEW_FOLDERS_MAX;
        let mut now = Self::find(&self.workspace, folders_max, &self.left);
        // What lies outside is the owner's own.
        let targets = self.targets.keys().filter(|path| path.starts_with(&self.workspace));
        let targets = targets.filter_map(|path| Some((path.clone(), Identity::of(path)?)));
        now.found.extend(targets);
        let (mut aside, mut left, mut back) = (Vec::new(), Vec::new(), Vec::new());
        for (path, identity) in &now.found {
            match self.settle(path, identity, baseline) {
                Settled::Stays => {}
                Settled::Aside(words) => aside.push(words),
                Settled::Left(words) => left.push(words),
                Settled::Back(words) => back.push(words),
            }
        }
        let not_all = (!now.left.is_empty()).then_some(NOT_ALL_NEW.to_owned());
        let told = [of_aside(&aside, level), of_left(&left), of_back(&back), not_all];
        let for_owner = [back_for_owner(&back), left_for_owner(&left), aside_for_owner(&aside)];
        ObeyedEnd {
            set_aside: joined(told),
            for_owner: joined(for_owner),
            has_set_aside: !aside.is_empty(),
            moved_head: self.moved_head(),
        }
    }

    fn settle(&self, path: &Path, now: &Identity, baseline: &Baseline) -> Settled {
        let before = self.found.get(path).or_else(|| self.targets.get(path));
        if before == Some(now) {
            return Settled::Stays;
        }
        let below = path.strip_prefix(&self.workspace).ok();
        let kept = below.and_then(|below| Some((below, baseline.of(below)?)));
        let replaced = before.filter(|before| before.own != now.own);
        let Some((before, (below, kept))) = replaced.zip(kept) else {
            return if is_harmless(path) { Settled::Stays } else { self.put_aside(path) };
        };
        if before.leads_to == now.leads_to && kept.is_at(&self.workspace, below) {
            return Settled::Stays;
        }
        match kept.put_back(&self.workspace, below) {
            Ok(aside) => {
                let aside = self.shown(&path.with_file_name(aside));
                Settled::Back(format!("{} (the new one is {aside})", self.shown(path)))
            }
            Err(_) => self.put_aside(path),
        }
    }

    /// Gives it another name, so that nobody obeys it.
    fn put_aside(&self, path: &Path) -> Settled {
        let name = self.shown(path);
        match free_name(path).map(|aside| fs::rename(path, &aside).map(|()| aside)) {
            Some(Ok(aside)) => Settled::Aside(format!("{name} is now {}", self.shown(&aside))),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => Settled::Stays,
            Some(Err(error)) => Settled::Left(format!("{name} is still there ({error})")),
            None => Settled::Left(format!("{name} is still there (no name is free for it)")),
        }
    }

    /// Where a repository stands now, if it stood elsewhere before.
    fn moved_head(&self) -> Option<String> {
        let mut moved = self.heads.iter().filter_map(|(git, before)| {
            GitHead::of(git).filter(|now| now != before).map(|now| now.words())
        });
        moved.next()
    }
}

fn of_aside(aside: &[String], level: Level) -> Option<String> {
    let said = aside.join(", ");
    (!aside.is_empty()).then(|| match level {
        Level::Network => format!(
            "This command ran without a question, and such a one makes nothing that other \
             programs run or obey on sight, so that was set aside: {said}. If it has to be \
             there, move it back with the file tool, which asks the owner."
        ),
        _ => format!(
            "Level `write` makes nothing that other programs run or obey on sight, so that \
             was set aside: {said}. Call again with needs: \"network\" if it has to be there."
        ),
    })
}

fn of_left(left: &[String]) -> Option<String> {
    (!left.is_empty()).then(|| {
        format!(
            "What other programs run or obey on sight could not be set aside: {}. Tell the owner, \
             and leave it to them.",
            left.join(", ")
        )
    })
}

fn of_back(back: &[String]) -> Option<String> {
    (!back.is_empty()).then(|| {
        format!(
            "While it ran, what other programs run or obey on sight was replaced, and it was put \
             back as it was before: {}. Tell the owner, and leave both to them.",
            back.join(", ")
        )
    })
}

fn aside_for_owner(aside: &[String]) -> Option<String> {
    (!aside.is_empty()).then(|| {
        format!(
            "{}. It came while a command ran that may make nothing that other programs run or \
             obey on sight. If it is yours, or you want it there, move it back.",
            first_of(aside)
        )
    })
}

fn left_for_owner(left: &[String]) -> Option<String> {
    let said = first_of(left);
    (!left.is_empty())
        .then(|| format!("{said}. It may be the command's: look at it, and remove it."))
}

fn first_of(words: &[String]) -> String {
    let said = words.iter().take(TOLD_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match words.len().saturating_sub(TOLD_MAX) {
        0 => said,
        more => format!("{said} and {more} more"),
    }
}

fn back_for_owner(back: &[String]) -> Option<String> {
    (!back.is_empty()).then(|| {
        format!(
            "Replaced while a command ran: {}. The command may have written to the new one, so \
             what was there before is back. If the new one is yours, look at it and move it back.",
            back.join(", ")
        )
    })
}

fn joined<const N: usize>(sentences: [Option<String>; N]) -> Option<String> {
    let said: Vec<String> = sentences.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// The names that a path of this name can have aside, the first that is free being meant.
pub fn names_aside(name: &str) -> impl Iterator<Item = String> {
    (1..NAMES_MAX).map(move |number| match number {
        1 => format!("{name}.{ASIDE}"),
        _ => format!("{name}.{ASIDE}-{number}"),
    })
}

fn free_name(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    let mut names = names_aside(&name).map(|aside| path.with_file_name(aside));
    names.find(|candidate| fs::symlink_metadata(candidate).is_err())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// Nothing is known of how it was before.
    fn aside(before: &Obeyed) -> Option<String> {
        before.set_aside_what_is_new(Level::Write, &Baseline::default()).set_aside
    }

    fn workspace() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("one/two/three/.git/hooks")).unwrap();
        fs::create_dir_all(dir.path().join("one/.git/hooks")).unwrap();
        fs::write(dir.path().join("one/AGENTS.md"), "").unwrap();
        dir
    }

    #[test]
    fn what_is_new_is_set_aside_and_what_was_there_is_not() {
        let dir = workspace();
        let before = Obeyed::below(dir.path(), &[]);
        assert_eq!(aside(&before), None);
        fs::write(dir.path().join(".envrc"), "x").unwrap();
        fs::write(dir.path().join(".envrc.set-aside"), "older").unwrap();
        fs::remove_file(dir.path().join("one/AGENTS.md")).unwrap();
        symlink("/", dir.path().join("one/AGENTS.md")).unwrap();
        let said = aside(&before).unwrap();
        assert!(said.contains(".envrc is now .envrc.set-aside-2"), "{said}");
        assert!(said.contains("one/AGENTS.md is now one/AGENTS.md.set-aside"), "{said}");
        assert_eq!(fs::read_to_string(dir.path().join(".envrc.set-aside")).unwrap(), "older");
        assert!(!dir.path().join(".envrc").exists());
        assert_eq!(aside(&before), None);
    }

    #[test]
    fn a_new_repository_stays_and_one_that_starts_something_does_not() {
        let dir = workspace();
        let before = Obeyed::below(dir.path(), &[]);
        let git = dir.path().join("new/.git");
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("hooks/pre-commit.sample"), "").unwrap();
        fs::write(git.join("config"), "[core]\n\tbare = false\n\tfilemode = true\n").unwrap();
        assert_eq!(aside(&before), None);
        fs::write(git.join("hooks/pre-commit"), "").unwrap();
        fs::write(git.join("config"), "[core]\n\tfsmonitor = ./x\n").unwrap();
        let said = aside(&before).unwrap();
        assert!(said.contains("new/.git/hooks is now"), "{said}");
        assert!(said.contains("new/.git/config is now"), "{said}");
        // A repository may lie elsewhere, where no name gives it away.
        fs::write(dir.path().join("new/.git/commondir"), "../other").unwrap();
        fs::create_dir_all(dir.path().join("tree")).unwrap();
        fs::write(dir.path().join("tree/.git"), "gitdir: ../other").unwrap();
        let said = aside(&before).unwrap();
        assert!(said.contains("new/.git/commondir is now"), "{said}");
        assert!(said.contains("tree/.git is now tree/.git.set-aside"), "{said}");
    }

    #[test]
    fn a_monorepo_is_looked_through_whole_and_more_folders_than_that_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let place =
            |number: usize| dir.path().join(format!("packages/p{}/m{number}/src", number % 30));
        (0..400).for_each(|number| fs::create_dir_all(place(number)).unwrap());
        fs::write(dir.path().join("packages/p9/m399/src/.envrc"), "").unwrap();
        fs::create_dir_all(dir.path().join("packages/p1/node_modules/x/.vscode")).unwrap();
        let before = Obeyed::below(dir.path(), &[]);
        let shown: Vec<String> = before.paths().map(|path| before.shown(path)).collect();
        assert_eq!(shown, ["packages/p9/m399/src/.envrc"]);
        assert_eq!(before.is_not_all(), None);
        // Folders that a command makes hide no file that it makes.
        (0..5000).for_each(|number| fs::create_dir(dir.path().join(format!("n{number}"))).unwrap());
        fs::write(place(3).join("AGENTS.md"), "").unwrap();
        let said = aside(&before).unwrap();
        assert!(said.contains("m3/src/AGENTS.md is now"), "{said}");
        let many = Obeyed::below(dir.path(), &[]);
        assert!(many.is_not_all().is_some_and(|said| said.contains("more folders than")));
        // The nearest are looked into all the same, and what was there in others stays.
        let left = many.left.iter().next().unwrap();
        fs::write(left.join(".envrc"), "").unwrap();
        fs::write(dir.path().join(".mcp.json"), "").unwrap();
        fs::create_dir(dir.path().join("new")).unwrap();
        fs::write(dir.path().join("new/.envrc"), "").unwrap();
        let said = aside(&many).unwrap();
        assert!(said.contains(".mcp.json is now") && said.contains("new/.envrc is now"), "{said}");
        assert!(left.join(".envrc").exists(), "{said}");
    }

    /// As an editor and git save.
    fn replace(path: &Path, text: &str) {
        let passing = path.with_extension("lock");
        fs::write(&passing, text).unwrap();
        fs::rename(passing, path).unwrap();
    }

    #[test]
    fn a_file_that_was_replaced_is_as_before_and_the_new_one_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let text = |name: &str| fs::read_to_string(at(name)).unwrap();
        fs::create_dir_all(at("docs")).unwrap();
        for name in ["AGENTS.md", ".envrc", "docs/guide.md", "GEMINI.md"] {
            fs::write(at(name), "before").unwrap();
        }
        symlink("docs/guide.md", at("CLAUDE.md")).unwrap();
        symlink("AGENTS.md", at("AGENT.md")).unwrap();
        fs::set_permissions(at(".envrc"), fs::Permissions::from_mode(0o600)).unwrap();
        let baseline = Baseline::read(dir.path());
        let before = Obeyed::below(dir.path(), &[]);
        replace(&at("AGENTS.md"), "new");
        replace(&at(".envrc"), "new");
        // Of a link what it leads to counts, and the link itself.
        replace(&at("docs/guide.md"), "new");
        replace(&at("AGENT.md"), "no link");
        // Another file that says the same is no news.
        replace(&at("GEMINI.md"), "before");
        fs::write(at("SOUL.md"), "made").unwrap();
        let end = before.set_aside_what_is_new(Level::Write, &baseline);
        for (name, aside) in [
            ("AGENTS.md", "AGENTS.md.set-aside"),
            (".envrc", ".envrc.set-aside"),
            ("docs/guide.md", "docs/guide.md.set-aside"),
        ] {
            assert_eq!((text(name), text(aside)), ("before".into(), "new".into()), "{name}");
            let said = format!("{name} (the new one is {aside})");
            for told in [&end.set_aside, &end.for_owner] {
                assert!(told.as_ref().unwrap().contains(&said), "{end:?}");
            }
        }
        assert_eq!(fs::read_link(at("AGENT.md")).unwrap(), Path::new("AGENTS.md"));
        assert_eq!(text("AGENT.md.set-aside"), "no link");
        assert_eq!(fs::read_link(at("CLAUDE.md")).unwrap(), Path::new("docs/guide.md"));
        assert_eq!(fs::metadata(at(".envrc")).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!at("GEMINI.md.set-aside").exists() && !at("SOUL.md").exists());
        assert!(end.for_owner.unwrap().contains("SOUL.md is now SOUL.md.set-aside"));
        // What was put back is what was there, also for a command that ran beside it.
        assert_eq!(before.set_aside_what_is_new(Level::Write, &baseline), ObeyedEnd::default());
    }

    #[test]
    fn what_a_link_leads_to_outside_of_the_workspace_is_left_alone() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let target = outside.path().canonicalize().unwrap().join("CLAUDE.md");
        fs::write(&target, "before").unwrap();
        symlink(&target, dir.path().join("CLAUDE.md")).unwrap();
        let opened = [target.parent().unwrap().to_owned()];
        let before = Obeyed::below(dir.path(), &opened);
        assert!(before.paths().any(|path| path == target), "it is held while the command runs");
        replace(&target, "saved");
        let end = before.set_aside_what_is_new(Level::Write, &Baseline::read(dir.path()));
        assert_eq!(end, ObeyedEnd::default());
        assert_eq!(fs::read_to_string(&target).unwrap(), "saved");
    }

    #[test]
    fn the_owner_reads_first_what_was_put_back_and_ten_names_of_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("AGENTS.md"), "before").unwrap();
        let (baseline, before) = (Baseline::read(dir.path()), Obeyed::below(dir.path(), &[]));
        replace(&at("AGENTS.md"), "new");
        for number in 0..12 {
            fs::create_dir(at(&format!("f{number}"))).unwrap();
            fs::write(at(&format!("f{number}/.envrc")), "").unwrap();
        }
        let end = before.set_aside_what_is_new(Level::Write, &baseline);
        let told = end.for_owner.unwrap();
        assert!(told.starts_with("Replaced while a command ran: AGENTS.md"), "{told}");
        assert_eq!(told.matches(" is now ").count(), TOLD_MAX, "{told}");
        assert!(told.contains(" and 2 more. It came while"), "{told}");
        assert_eq!(end.set_aside.unwrap().matches(" is now ").count(), 12);
        let left = left_for_owner(&[".envrc is still there (no)".into()]).unwrap();
        assert!(left.ends_with("look at it, and remove it."), "{left}");
    }

    #[test]
    fn what_cannot_be_kept_is_set_aside_and_what_is_gone_stays_gone() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at(".github")).unwrap();
        fs::write(at("AGENTS.md"), "x".repeat(70_000)).unwrap();
        fs::write(at("CLAUDE.md"), "gone").unwrap();
        #[cfg(target_os = "linux")]
        rustix::fs::mkfifoat(rustix::fs::CWD, at(".envrc"), 0o600.into()).unwrap();
        let (baseline, before) = (Baseline::read(dir.path()), Obeyed::below(dir.path(), &[]));
        replace(&at("AGENTS.md"), "new");
        fs::remove_file(at("CLAUDE.md")).unwrap();
        fs::rename(at(".github"), at("elsewhere")).unwrap();
        fs::create_dir(at(".github")).unwrap();
        let said = before.set_aside_what_is_new(Level::Write, &baseline).set_aside.unwrap();
        assert!(said.contains("AGENTS.md is now AGENTS.md.set-aside"), "{said}");
        assert!(said.contains(".github is now .github.set-aside"), "{said}");
        assert!(!said.contains("CLAUDE.md") && !at("CLAUDE.md").exists(), "{said}");
    }
}
