//! Which repository holds a folder, by names and owners alone: git itself would run what a
//! repository configures. Must not know who is told.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The root of the innermost git repository that holds this folder. Neither the user's home nor
/// what lies above it counts, and of the folders above this one none of another user: whoever owns
/// a folder can put a repository there.
pub fn repository_of(folder: &Path, user_home: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let home = user_home.canonicalize().unwrap_or_else(|_| user_home.to_owned());
    let me = rustix::process::geteuid().as_raw();
    let is_own = |at: &Path| fs::metadata(at).is_ok_and(|meta| meta.uid() == me);
    let mut ways = folder.ancestors().take_while(|at| !home.starts_with(at));
    let root = ways.find(|at| at.join(".git").symlink_metadata().is_ok())?;
    (root == folder || is_own(root)).then(|| root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_repository_is_in_it_and_the_home_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap().join("ann");
        let at = |name: &str| home.join(name);
        for name in ["code/shop/src/deep", "code/shop/vendor/inner", "notes", ".git"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::create_dir(at("code/shop/.git")).unwrap();
        fs::write(at("code/shop/vendor/inner/.git"), "gitdir: ../../.git/modules/x").unwrap();
        let of = |name: &str| repository_of(&at(name), &home);
        assert_eq!(of("code/shop"), Some(at("code/shop")));
        assert_eq!(of("code/shop/src/deep"), Some(at("code/shop")));
        assert_eq!(of("code/shop/vendor/inner"), Some(at("code/shop/vendor/inner")));
        // The files of a home are somebody's settings.
        for none in ["notes", "code", "", "gone"] {
            assert_eq!(of(none), None, "{none}");
        }
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert_eq!(of("notes"), None, "above the home");
    }
}
