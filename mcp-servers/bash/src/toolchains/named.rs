//! Which of the user's programs a model is told of: those that it would ask for, of which it cannot
//! know that they are here. Must not know how commands are given them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Programs that people install beside the system's, with the questions that they answer: how is it
/// built, tested, run, fetched. In the order in which they are told.
const KNOWN: &[&str] = &[
    "cargo", "rustc", "go", "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "python3",
    "python", "pip", "pytest", "uv", "poetry", "ruff", "pipx", "ruby", "bundle", "java", "mvn",
    "gradle", "dotnet", "php", "composer", "elixir", "ghc", "zig", "rg", "fd", "jq", "just", "gh",
];

/// Those that lie in one of these folders and can be run.
pub(super) fn among(folders: &[PathBuf]) -> Vec<String> {
    let is_here = |name: &&&str| folders.iter().any(|folder| can_be_run(&folder.join(name)));
    KNOWN.iter().filter(is_here).map(|name| (*name).to_owned()).collect()
}

fn can_be_run(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_can_be_run_is_named_in_one_order_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let folders = ["one", "two"].map(|name| dir.path().join(name));
        for folder in &folders {
            fs::create_dir(folder).unwrap();
            for name in ["uv", "cargo", "my-own"] {
                fs::write(folder.join(name), "").unwrap();
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(folder.join(name), mode).unwrap();
            }
        }
        fs::write(folders[0].join("node"), "no program").unwrap();
        fs::create_dir(folders[0].join("go")).unwrap();
        symlink(folders[0].join("uv"), folders[1].join("python3")).unwrap();
        symlink("nowhere", folders[1].join("ruby")).unwrap();
        assert_eq!(among(&folders), ["cargo", "python3", "uv"]);
        assert_eq!(among(&[]), [""; 0]);
    }
}
