//! Files that other programs run or obey on sight: a hook that git runs, a task that an editor
//! starts, a definition that a CI carries out, rules that an agent follows. Whoever writes one acts
//! later and outside of every box. One table; the file tools and the box both go by it. Must not
//! know who asks.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A name that counts at any depth of a workspace, with all that lies below it.
#[derive(Debug)]
pub struct Obeyed {
    pub name: &'static str,
    pub held: Held,
    /// Who acts by it, as the first half of a sentence: `git runs`, `agents obey`.
    pub by: &'static str,
}

/// What a command at level `write` leaves alone of it. The file tools leave all of it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Whole,
    /// These paths below it: the rest is what such a program itself writes all day. `*` stands for
    /// one folder, `**` for any number of them. A file or a link in the place of the folder is held
    /// itself.
    Parts(&'static [&'static str]),
}

/// Any name that ends like this: a workspace of VS Code has tasks and settings.
const CODE_WORKSPACE: &str = "*.code-workspace";

const fn whole(name: &'static str, by: &'static str) -> Obeyed {
    Obeyed { name, held: Held::Whole, by }
}

const fn parts(name: &'static str, parts: &'static [&'static str], by: &'static str) -> Obeyed {
    Obeyed { name, held: Held::Parts(parts), by }
}

const GIT: &str = "git runs";
const HOOKS: &str = "git hooks obey";
const EDITORS: &str = "your editor obeys";
const AGENTS: &str = "agents obey";
const CI: &str = "your CI obeys";
const CLAW: &str = "claw obeys";

/// Each name once. Programs that only an explicit order starts (`make`, `cargo`) are not meant.
pub const TABLE: &[Obeyed] = &[
    // Version control: hooks, and configuration that names programs. `commondir` says where the
    // configuration of a repository lies (gitrepository-layout(5)).
    parts(
        ".git",
        &[
            "hooks",
            "config",
            "config.worktree",
            "commondir",
            "worktrees/*/commondir",
            "worktrees/*/config.worktree",
            // A submodule is called by its path (`libs/foo`), and has modules itself.
            "modules/**/hooks",
            "modules/**/config",
            "modules/**/config.worktree",
            "modules/**/commondir",
            // Holds the commands that a `git rebase --continue` runs.
            "rebase-merge",
        ],
        "git obeys",
    ),
    parts(".hg", &["hgrc", "hgrc-not-shared", "sharedpath"], "Mercurial obeys"),
    parts(".jj", &["repo/config.toml"], "jj obeys"),
    // Nothing in it is run; its records change with each command of Subversion.
    parts(".svn", &[], "Subversion obeys"),
    whole(".husky", GIT),
    // What `core.hooksPath` mostly names.
    whole(".githooks", GIT),
    whole(".pre-commit-config.yaml", HOOKS),
    whole("lefthook.yml", HOOKS),
    whole("lefthook.yaml", HOOKS),
    whole(".lefthook.yml", HOOKS),
    // Shells and editors.
    whole(".envrc", "your shell runs"),
    whole(".vscode", EDITORS),
    whole(".idea", EDITORS),
    whole(".zed", EDITORS),
    whole(".exrc", EDITORS),
    whole(".nvim.lua", EDITORS),
    whole(".devcontainer", EDITORS),
    whole(".devcontainer.json", EDITORS),
    whole(CODE_WORKSPACE, EDITORS),
    // Agents.
    whole(".mcp.json", AGENTS),
    whole("mcp.json", AGENTS),
    whole(".claude", AGENTS),
    whole(".cursor", AGENTS),
    whole(".cursorrules", AGENTS),
    whole(".windsurf", AGENTS),
    whole(".windsurfrules", AGENTS),
    whole(".clinerules", AGENTS),
    whole(".codex", AGENTS),
    whole(".gemini", AGENTS),
    whole(".opencode", AGENTS),
    whole("opencode.json", AGENTS),
    whole(".roo", AGENTS),
    whole(".kiro", AGENTS),
    whole(".junie", AGENTS),
    whole(".continue", AGENTS),
    whole(".aider.conf.yml", AGENTS),
    whole(".claw", CLAW),
    whole("AGENT.md", AGENTS),
    whole("AGENTS.md", AGENTS),
    whole("AGENTS.override.md", AGENTS),
    whole("CLAUDE.md", AGENTS),
    whole("CLAUDE.local.md", AGENTS),
    whole("GEMINI.md", AGENTS),
    // Definitions of a CI.
    whole(".github", CI),
    whole(".gitlab", CI),
    whole(".gitlab-ci.yml", CI),
    whole(".gitea", CI),
    whole(".forgejo", CI),
    whole(".circleci", CI),
    whole(".buildkite", CI),
    whole(".woodpecker", CI),
    whole(".woodpecker.yml", CI),
    whole(".woodpecker.yaml", CI),
    whole(".drone.yml", CI),
    whole(".travis.yml", CI),
    whole(".cirrus.yml", CI),
    whole(".ci", CI),
    whole(".teamcity", CI),
    whole(".semaphore", CI),
    whole(".tekton", CI),
    whole(".build.yml", CI),
    whole("cloudbuild.yaml", CI),
    whole("netlify.toml", CI),
    whole(".readthedocs.yaml", CI),
    whole("Jenkinsfile", CI),
    whole("azure-pipelines.yml", CI),
    whole("bitbucket-pipelines.yml", CI),
    whole("appveyor.yml", CI),
    whole(".appveyor.yml", CI),
    // Claw's own persona, wherever its folder is.
    whole("SOUL.md", CLAW),
    whole("IDENTITY.md", CLAW),
    whole("USER.md", CLAW),
    whole("MEMORY.md", CLAW),
];

/// Who acts by the file at this path, as the first half of a sentence (`git runs`), if somebody
/// does whom the table names.
pub fn by(path: &str) -> Option<&'static str> {
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
    let row = parts.find_map(row)?;
    let is_hook = row.name == ".git" && parts.any(|part| folded(part) == "hooks");
    Some(if is_hook { GIT } else { row.by })
}

/// The names alone.
pub const NAMES: &[&str] = &names();

const fn names() -> [&'static str; TABLE.len()] {
    let mut names = [""; TABLE.len()];
    let mut at = 0;
    while at < TABLE.len() {
        names[at] = TABLE[at].name;
        at += 1;
    }
    names
}

static BY_NAME: LazyLock<HashMap<String, &Obeyed>> =
    LazyLock::new(|| TABLE.iter().map(|row| (folded(row.name), row)).collect());

/// The row of a file or folder of this name, if there is one. Names are compared as the loosest
/// file systems do, so a look-alike counts, too.
pub fn row(name: &str) -> Option<&'static Obeyed> {
    let name = folded(name);
    let by_end = CODE_WORKSPACE.strip_prefix('*').filter(|end| name.ends_with(end));
    BY_NAME.get(by_end.map_or(name.as_str(), |_| CODE_WORKSPACE)).copied()
}

/// Whether a path of the workspace has such a name or lies below one. A whole folder counts, so
/// that nothing is slipped in by moving a folder to its place. A path that climbs (`..`) counts,
/// because only a walk says where it leads.
pub fn is_obeyed(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| folded(part) == ".." || row(part).is_some())
}

/// As HFS+, APFS, NTFS and ext4 with `casefold` compare: without case, and without what they pass
/// over, which is characters that nobody sees, and dots and spaces at the end.
fn folded(name: &str) -> String {
    let seen = name.chars().filter(|c| !is_passed_over(*c));
    let folded: String = seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    let whole = folded.trim();
    match whole.trim_end_matches(['.', ' ']) {
        // Nothing but dots is `.` or `..`.
        "" => whole.to_owned(),
        // What NTFS calls `.git` in eight letters.
        "git~1" => ".git".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// Default ignorable code points (Unicode 16, DerivedCoreProperties), and control characters.
fn is_passed_over(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_run_or_obeyed_on_sight_counts_wherever_it_lies() {
        for path in [
            ".git/hooks/pre-commit",
            ".git/config",
            ".git",
            "sub/.git",
            "./.git/./hooks//post-merge",
            ".envrc",
            "deep/er/.envrc",
            ".vscode/tasks.json",
            ".idea/workspace.xml",
            ".mcp.json",
            "AGENTS.md",
            "docs/CLAUDE.md",
            ".github/workflows/ci.yml",
            ".github",
            ".gitlab-ci.yml",
            ".circleci/config.yml",
            "Jenkinsfile",
            ".claw/policy.toml",
            "my project.code-workspace",
            "sub/A.Code-Workspace",
            ".git/modules/libs/foo/config",
            ".roo/rules/x.md",
            "netlify.toml",
            "persona/SOUL.md",
            // By another name of the same file.
            ".GIT/config",
            ".Git/hooks/x",
            "jenkinsfile",
            "agents.MD",
            ".g\u{200c}it/config",
            ".git./config",
            ".git /config",
            "GIT~1/config",
            "AGENT\u{17f}.md",
            ".git\\config",
            // Only a walk says where this leads.
            "src/../.git/config",
            "..",
            "a/..",
        ] {
            assert!(is_obeyed(path), "{path:?}");
        }
    }

    #[test]
    fn it_is_known_who_acts_by_a_file() {
        for (path, who) in [
            (".git/hooks/pre-commit", "git runs"),
            ("sub/.GIT/Hooks/x", "git runs"),
            (".git/modules/a/hooks/x", "git runs"),
            (".git/config", "git obeys"),
            (".github/workflows/ci.yml", "your CI obeys"),
            ("docs/AGENTS.md", "agents obey"),
            (".vscode/tasks.json", "your editor obeys"),
            (".envrc", "your shell runs"),
            ("SOUL.md", "claw obeys"),
        ] {
            assert_eq!(by(path), Some(who), "{path}");
        }
        for nobody in ["src/main.rs", "..", "hooks/pre-commit", ""] {
            assert_eq!(by(nobody), None, "{nobody}");
        }
    }

    #[test]
    fn ordinary_files_do_not_count() {
        for path in [
            "",
            ".",
            "src/main.rs",
            ".gitignore",
            ".gitattributes",
            "git/config",
            "github/workflows",
            "my.git",
            "agents.markdown",
            "notes/AGENTS.md.bak",
            "x..y",
            "...",
            ".env",
            "vscode",
        ] {
            assert!(!is_obeyed(path), "{path:?}");
        }
    }

    proptest! {
        /// Whatever stands around it, and however its letters are written.
        #[test]
        fn no_way_of_writing_a_name_hides_it(
            before in "([a-z]{1,4}/|\\./|//){0,3}",
            after in "(/[a-z.]{1,5}){0,3}",
            which in 0..NAMES.len(),
            upper in any::<u64>(),
            unseen in 0usize..8,
            end in "[. ]{0,2}",
        ) {
            let mut written: String = NAMES[which].chars().enumerate()
                .map(|(at, c)| if upper >> (at % 64) & 1 == 1 { c.to_ascii_uppercase() } else { c })
                .collect();
            let at = written.char_indices().nth(unseen).map_or(0, |(at, _)| at);
            written.insert(at, '\u{200d}');
            let path = format!("{before}{written}{end}{after}");
            prop_assert!(is_obeyed(&path), "{path:?}");
        }

        /// Letters and digits alone make none of the names.
        #[test]
        fn plain_names_are_let_through(path in "[a-z0-9_-]{1,8}(/[a-z0-9_-]{1,8}){0,4}\\.rs") {
            prop_assert!(!is_obeyed(&path));
        }
    }
}
