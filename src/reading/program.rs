//! Whether a program's name leads to a file of the system's. Must not know what the program does.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// Folders whose content comes from the system's packages. All are readable in the box, so that the
/// bash server leaves them on its search path.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/nix/store", "/gnu/store"];

/// Whether `name` on the search path is a file of the system's: the first one of that name lies,
/// after all links, below `SYSTEM` and outside of the workspace, belongs to root, and neither it
/// nor a folder on the way to it can be written by others.
///
/// The bash server drops folders that are not in its box from the path that it is started with. It
/// drops none of these, so the first one here is the first one there as well.
pub(super) fn is_the_systems(name: &str, search_path: &str, workspace: &Path) -> bool {
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    let Some(found) =
        folders.map(|folder| folder.join(name)).find(|file| is_program(file.as_path()))
    else {
        return false;
    };
    let real_folder = found.parent().and_then(|folder| folder.canonicalize().ok());
    let Ok(real) = found.canonicalize() else { return false };
    real_folder.is_some_and(|folder| is_guarded(&folder, workspace)) && is_guarded(&real, workspace)
}

fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn is_guarded(real: &Path, workspace: &Path) -> bool {
    let rooted = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|meta| meta.uid() == 0 && meta.mode() & 0o022 == 0)
    };
    SYSTEM.iter().any(|system| real.starts_with(system))
        && !real.starts_with(workspace)
        && real.ancestors().all(rooted)
}
