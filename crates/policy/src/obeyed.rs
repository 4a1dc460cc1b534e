//! The files of a workspace that other programs run or obey on sight: a hook that git runs, a task
//! that an editor starts, a definition that a CI carries out, rules that an agent follows. Whoever
//! writes one acts later and outside of the box. Pure. Must not know modes or grants.

/// A path is one of them if any of its components has such a name. A whole folder counts, so that
/// nothing is slipped in by moving a folder to its place.
pub const NAMES: &[&str] = &[
    // Version control: hooks, and configuration that names programs.
    ".git",
    ".hg",
    ".svn",
    ".husky",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    // Shells and editors.
    ".envrc",
    ".vscode",
    ".idea",
    ".devcontainer",
    // Agents.
    ".mcp.json",
    "mcp.json",
    ".claude",
    ".cursor",
    ".cursorrules",
    ".claw",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    // Definitions of a CI.
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".gitea",
    ".forgejo",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".woodpecker.yml",
    ".drone.yml",
    ".travis.yml",
    ".cirrus.yml",
    ".ci",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "appveyor.yml",
    // Claw's own persona, wherever its folder is.
    "SOUL.md",
    "IDENTITY.md",
    "USER.md",
    "MEMORY.md",
];

/// Whether a path of the workspace is one of them, or lies below one. Names are compared as the
/// loosest file systems do, so a look-alike counts, too. A path that climbs (`..`) counts, because
/// only a walk says where it leads.
pub fn is_obeyed(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| {
        let part = folded(part);
        part == ".." || NAMES.iter().any(|name| folded(name) == part)
    })
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
