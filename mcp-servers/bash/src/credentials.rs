//! Where people and programs keep what signs in as them. The one list by which folders are kept out
//! of the box; a folder that holds one of these is never given to commands. Must not know what is
//! given.

use std::path::{Path, PathBuf};

/// Below the user's home. None need be there.
pub const CREDENTIALS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".pki",
    ".password-store",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".config/git",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/rclone",
    ".oci",
    ".kube",
    ".docker",
    ".config/containers",
    ".terraform.d",
    ".terraformrc",
    ".vault-token",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".npmrc",
    ".config/npm",
    ".config/pnpm",
    ".yarnrc",
    ".yarnrc.yml",
    ".bunfig.toml",
    ".pypirc",
    ".config/pip",
    ".pip",
    ".config/pypoetry",
    ".config/uv",
    ".local/share/uv/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".cargo/config",
    ".cargo/config.toml",
    ".gem/credentials",
    ".bundle",
    ".m2",
    ".gradle",
    ".sbt",
    ".composer",
    ".config/composer",
    ".nuget",
    ".config/go",
    ".my.cnf",
    ".pgpass",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".claude",
    ".codex",
    ".claw",
];

/// In cargo's own folder, wherever that is.
pub const OF_CARGO: &[&str] = &["config", "config.toml", "credentials", "credentials.toml", "git"];

/// The same in this home, links resolved where they are there.
pub fn below(home: &Path) -> Vec<PathBuf> {
    let named = CREDENTIALS.iter().map(|name| home.join(name));
    named.flat_map(|path| path.canonicalize().into_iter().chain([path])).collect()
}

/// Whether one of them lies in the other.
pub fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
