//! What the tests of undo compare, those of the whole program, too. Must not know how a snapshot is
//! kept.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// All that a person could see of a folder: kinds, contents, modes, targets.
pub fn picture(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let mode = meta.permissions().mode() & 0o777;
            let what = if meta.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else if meta.is_dir() {
                folders.push(path.clone());
                format!("{mode:o} folder")
            } else {
                format!("{mode:o} {}", fs::read(&path).unwrap().escape_ascii())
            };
            seen.insert(path.strip_prefix(root).unwrap().to_owned(), what);
        }
    }
    seen
}
