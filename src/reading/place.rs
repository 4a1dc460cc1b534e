//! Where in the workspace a command stands, and whether what it names lies in there. Must not know
//! programs.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// A folder of the workspace that was reached without a link.
#[derive(Clone, Debug)]
pub(super) struct Place<'w> {
    workspace: &'w Path,
    /// Absolute.
    folder: PathBuf,
}

impl<'w> Place<'w> {
    /// The workspace itself; its path is real.
    pub(super) fn new(workspace: &'w Path) -> Self {
        Self { workspace, folder: workspace.to_owned() }
    }

    pub(super) fn workspace(&self) -> &'w Path {
        self.workspace
    }

    /// The folders from here up to the workspace.
    pub(super) fn upwards(&self) -> impl Iterator<Item = &Path> {
        self.folder.ancestors().take_while(|folder| folder.starts_with(self.workspace))
    }

    /// The folder that `path` names from here. It must be there.
    pub(super) fn folder(&self, path: &str) -> Option<Self> {
        let folder = self.resolve(path)?;
        folder.is_dir().then_some(Self { workspace: self.workspace, folder })
    }

    /// Whether `path` names something in the workspace, or nothing at all. The last part may be
    /// missing; then so is the file.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.resolve(path).is_some()
    }

    /// The absolute path, where no part of it is `..` or a link. An absolute one must begin with
    /// the workspace.
    fn resolve(&self, path: &str) -> Option<PathBuf> {
        let written = Path::new(path);
        let below_workspace = match written.strip_prefix(self.workspace) {
            Ok(rest) => Some(rest),
            Err(_) if written.is_absolute() || path.is_empty() => None,
            Err(_) => Some(written),
        }?;
        let mut whole =
            if written.is_absolute() { self.workspace.to_owned() } else { self.folder.clone() };
        for component in below_workspace.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => {
                    whole.push(name);
                    match whole.symlink_metadata() {
                        Ok(found) if found.is_symlink() => return None,
                        Ok(_) => {}
                        Err(error) if error.kind() == ErrorKind::NotFound => {}
                        Err(_) => return None,
                    }
                }
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(whole)
    }
}
