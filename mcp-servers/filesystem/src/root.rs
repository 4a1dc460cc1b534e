//! The one directory that everything happens in. Owns its handle, its lexical forms and the list of protected places; must
//! not know tools. The only file of this crate that uses ambient paths, once, at the start.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::args::Args;

/// The environment variable that names the root when `--workspace` does not.
const WORKSPACE_VARIABLE: &str = "CLAW_WORKSPACE";

#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("the workspace `{}` cannot be opened: {source}. Create it, or name another one with --workspace or {WORKSPACE_VARIABLE}.", path.display())]
    Open { path: PathBuf, source: std::io::Error },
    #[error("--protect `{}` is the workspace itself, so nothing would be left to work on", path.display())]
    ProtectsAll { path: PathBuf },
}

#[derive(Debug)]
pub struct Root {
    pub dir: Arc<Dir>,
    /// Absolute lexical forms of the root: as it was given, and with symbolic links resolved.
    pub forms: Vec<PathBuf>,
    /// Protected places relative to the root, without `.` and `..`.
    pub protected: Vec<PathBuf>,
}

impl Root {
    /// # Errors
    /// The root is not a directory that can be opened, or is protected as a whole.
    pub fn open(args: &Args) -> Result<Self, RootError> {
        let given = args
            .workspace
            .clone()
            .or_else(|| std::env::var_os(WORKSPACE_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from))
            .unwrap_or_else(|| PathBuf::from("."));
        let fail = |source| RootError::Open { path: given.clone(), source };
        let absolute = lexical(&std::path::absolute(&given).map_err(fail)?);
        let real = std::fs::canonicalize(&given).map_err(fail)?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(fail)?;
        let mut forms = vec![real];
        if !forms.contains(&absolute) {
            forms.push(absolute);
        }
        let mut protected = Vec::new();
        for path in &args.protect {
            for place in places_inside(path, &forms) {
                if place.as_os_str().is_empty() {
                    return Err(RootError::ProtectsAll { path: path.clone() });
                }
                if !protected.contains(&place) {
                    protected.push(place);
                }
            }
        }
        Ok(Self { dir: Arc::new(dir), forms, protected })
    }
}

/// Where a protected path lies inside the root: as it is written, and where its existing part leads today. A path that
/// does not lie inside has none; it is out of reach, because the root is never left.
fn places_inside(path: &Path, forms: &[PathBuf]) -> Vec<PathBuf> {
    let Some(first) = forms.first() else { return Vec::new() };
    let absolute = lexical(&first.join(path));
    let resolved = resolve_existing_part(&absolute);
    let mut places: Vec<PathBuf> = Vec::new();
    for candidate in [&absolute, &resolved] {
        for form in forms {
            if let Ok(inside) = candidate.strip_prefix(form) {
                places.push(inside.to_owned());
            }
        }
    }
    places
}

fn resolve_existing_part(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(ancestor), path.strip_prefix(ancestor)) {
            // Joining an empty rest would append a slash, which changes nothing for components.
            return lexical(&real.join(rest));
        }
    }
    path.to_owned()
}

/// Without `.` and `..`, decided by the letters alone.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(workspace: &Path, protect: &[&str]) -> Result<Root, RootError> {
        let protect = protect.iter().map(PathBuf::from).collect();
        Root::open(&Args { workspace: Some(workspace.into()), protect, ..Args::default() })
    }

    #[test]
    fn protected_places_are_relative_to_the_root() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", temp.path().join("link")).unwrap();
        let inside = temp.path().join("a/../home");
        let root = open(temp.path(), &[inside.to_str().unwrap(), "x/./y", "link/z", "/elsewhere", "../out"]).unwrap();
        let expected: Vec<PathBuf> = ["home", "x/y", "link/z", "real/z"].iter().map(PathBuf::from).collect();
        assert_eq!(root.protected, expected);
    }

    #[test]
    fn a_directory_around_the_root_is_out_of_reach_and_the_root_itself_a_mistake() {
        let temp = tempfile::tempdir().unwrap();
        let parent = temp.path().parent().unwrap().to_str().unwrap().to_owned();
        assert!(open(temp.path(), &[&parent]).unwrap().protected.is_empty());
        assert!(matches!(open(temp.path(), &["."]), Err(RootError::ProtectsAll { .. })));
        assert!(matches!(open(&temp.path().join("no"), &[]), Err(RootError::Open { .. })));
    }
}
