//! Files that other programs run or obey on sight: hooks and settings of git, what a shell loads in
//! a folder, what an editor starts, what steers another agent, what a build service runs. Whoever
//! writes one acts later and outside of every box. Names alone; must not know who asks.

use std::path::{Component, Path};

/// Each stands for itself and all below it, at any depth of a workspace. Compared without case,
/// because some file systems do not know it either.
pub const OBEYED: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".husky",
    ".pre-commit-config.yaml",
    ".envrc",
    ".vscode",
    ".idea",
    ".cursor",
    ".cursorrules",
    ".claude",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/workflows",
    ".github/actions",
    ".github/copilot-instructions.md",
    ".forgejo/workflows",
    ".gitea/workflows",
    ".gitlab-ci.yml",
    ".circleci",
    ".travis.yml",
    ".buildkite",
    ".drone.yml",
    ".woodpecker",
    ".woodpecker.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "Jenkinsfile",
];

/// Whether something at this path, relative to a workspace, is obeyed on sight, lies below what is,
/// or holds the place of it (`.git` itself).
pub fn is_obeyed(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    OBEYED.iter().any(|obeyed| {
        let wanted: Vec<String> = obeyed.split('/').map(str::to_lowercase).collect();
        let begins = |at: usize| {
            let rest = &names[at..];
            let common = rest.len().min(wanted.len());
            rest[..common] == wanted[..common]
                && (common == wanted.len() || (wanted[0] == ".git" && common == 1))
        };
        (0..names.len()).any(begins)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_obeyed_is_known_at_any_depth_and_in_any_case() {
        for path in [
            ".git/hooks",
            ".git/hooks/pre-commit",
            "sub/.git/config",
            ".git",
            "a/b/AGENTS.md",
            "agents.md",
            ".vscode/tasks.json",
            "./.github/workflows/ci.yml",
        ] {
            assert!(is_obeyed(Path::new(path)), "{path}");
        }
        for path in [
            "",
            "src/main.rs",
            ".git/index",
            ".git/objects/ab",
            ".github",
            ".github/README.md",
            "hooks",
            "config",
            "my.envrc",
            "AGENTS.md.old",
        ] {
            assert!(!is_obeyed(Path::new(path)), "{path}");
        }
    }
}
