//! A directory that things happen in: the workspace, or a further one. Owns its handle, its lexical
//! forms and the lists of guarded places; must not know tools. The only file of this crate that
//! uses ambient paths, once each, at the start.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use claw_kit::homes::homes;

use crate::args::Args;

/// The environment variable that names the root when `--workspace` does not.
const WORKSPACE_VARIABLE: &str = "CLAW_WORKSPACE";

#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("the workspace `{}` cannot be opened: {source}. Create it, or name another one with --workspace or {WORKSPACE_VARIABLE}.", path.display())]
    Open { path: PathBuf, source: std::io::Error },
    #[error(
        "without --workspace it works in the current directory, which is `{}` and holds {inside}: every file in there could be \
         changed. Name a directory with --workspace or {WORKSPACE_VARIABLE}.", path.display()
    )]
    TooWide { path: PathBuf, inside: &'static str },
    #[error("the folder of --artifacts `{}` cannot be opened: {source}", path.display())]
    Artifacts { path: PathBuf, source: std::io::Error },
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
    /// The same for what can be read and not changed. An empty path is the root with everything in
    /// it.
    pub read_only: Vec<PathBuf>,
    /// The first root is the workspace: paths in it are shown as they lie in it. In all others they
    /// are shown whole.
    pub is_workspace: bool,
}

impl Root {
    /// The workspace and the further roots, in this order.
    ///
    /// # Errors
    /// A root is not a directory that can be opened, or is protected as a whole.
    pub fn open_all(args: &Args) -> Result<Vec<Self>, RootError> {
        let workspace = args
            .workspace
            .clone()
            .or_else(|| {
                std::env::var_os(WORKSPACE_VARIABLE)
                    .filter(|value| !value.is_empty())
                    .map(PathBuf::from)
            })
            .map_or_else(current_dir, Ok)?;
        let mut roots = vec![Self::open(&workspace, args, true)?];
        for further in &args.root {
            let root = Self::open(further, args, false)?;
            if roots.iter().all(|known| known.forms.first() != root.forms.first()) {
                roots.push(root);
            }
        }
        Ok(roots)
    }

    /// A path from this root as it is shown: never empty, and readable even if its bytes are not
    /// UTF-8.
    pub fn shown(&self, real: &Path) -> String {
        if self.is_workspace {
            shown(real)
        } else {
            self.whole(real).to_string_lossy().into_owned()
        }
    }

    /// The absolute path of a place in this root.
    pub fn whole(&self, real: &Path) -> PathBuf {
        let root = self.forms.first().map(PathBuf::as_path).unwrap_or_else(|| Path::new(""));
        if real.as_os_str().is_empty() { root.to_owned() } else { root.join(real) }
    }

    fn open(given: &Path, args: &Args, is_workspace: bool) -> Result<Self, RootError> {
        let given = given.to_owned();
        let fail = |source| RootError::Open { path: given.clone(), source };
        let absolute = lexical(&std::path::absolute(&given).map_err(fail)?);
        let real = std::fs::canonicalize(&given).map_err(fail)?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(fail)?;
        let mut forms = vec![real];
        if !forms.contains(&absolute) {
            forms.push(absolute);
        }
        let mut protected = Vec::new();
        for path in args.protect.iter().filter(|path| is_workspace || path.is_absolute()) {
            for place in places_inside(path, &forms) {
                if place.as_os_str().is_empty() {
                    return Err(RootError::ProtectsAll { path: path.clone() });
                }
                if !protected.contains(&place) {
                    protected.push(place);
                }
            }
        }
        let mut read_only = Vec::new();
        for path in args.read_only.iter().filter(|path| is_workspace || path.is_absolute()) {
            let absolute =
                lexical(&forms.first().map_or_else(PathBuf::new, |root| root.join(path)));
            let around = forms.iter().any(|form| form.starts_with(&absolute));
            read_only.extend(if around {
                vec![PathBuf::new()]
            } else {
                places_inside(path, &forms)
            });
        }
        Ok(Self { dir: Arc::new(dir), forms, protected, read_only, is_workspace })
    }
}

/// The folder of what the host has put aside, made if nothing was yet.
///
/// # Errors
/// It is no directory that can be opened or made.
pub fn open_artifacts(path: &Path) -> Result<Dir, RootError> {
    let fail = |source| RootError::Artifacts { path: path.to_owned(), source };
    if !path.is_dir() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(fail)?;
    }
    Dir::open_ambient_dir(path, ambient_authority()).map_err(fail)
}

/// The current directory, where nobody has chosen one. Hosts start their servers in `/` or in the
/// user's home.
fn current_dir() -> Result<PathBuf, RootError> {
    let given = PathBuf::from(".");
    let real =
        given.canonicalize().map_err(|source| RootError::Open { path: given.clone(), source })?;
    if real.parent().is_none() {
        return Err(RootError::TooWide { path: real, inside: "everything" });
    }
    match homes().into_iter().find(|home| home.path.starts_with(&real)) {
        Some(home) => Err(RootError::TooWide { path: real, inside: home.what }),
        None => Ok(given),
    }
}

/// A path relative to some directory as it is shown there.
pub fn shown(real: &Path) -> String {
    if real.as_os_str().is_empty() { ".".into() } else { real.to_string_lossy().into_owned() }
}

/// Where a protected path lies inside the root: as it is written, and where its existing part leads
/// today. A path that does not lie inside has none; it is out of reach, because the root is never
/// left.
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
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(ancestor), path.strip_prefix(ancestor))
        {
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
        let args = Args { workspace: Some(workspace.into()), protect, ..Args::default() };
        Root::open_all(&args).map(|mut roots| roots.remove(0))
    }

    #[test]
    fn protected_places_are_relative_to_the_root() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("real")).unwrap();
        std::os::unix::fs::symlink("real", temp.path().join("link")).unwrap();
        let inside = temp.path().join("a/../home");
        let root = open(
            temp.path(),
            &[inside.to_str().unwrap(), "x/./y", "link/z", "/elsewhere", "../out"],
        )
        .unwrap();
        let expected: Vec<PathBuf> =
            ["home", "x/y", "link/z", "real/z"].iter().map(PathBuf::from).collect();
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
