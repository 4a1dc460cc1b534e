//! Files that other programs run or obey on sight: hooks and settings of git, what a shell loads in
//! a folder, what an editor starts, what steers another agent, what a build service runs. Whoever
//! writes one acts later and outside of every box. Names alone; must not know who asks.

/// Each stands for itself and all below it, at any depth of a workspace.
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
