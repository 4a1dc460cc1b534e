//! A path as a model wrote it, split into components. Lexical only: owns what is refused before any
//! file is looked at. Must not know whether anything exists.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::error::{Result, ToolError};

/// PATH_MAX of Linux; macOS allows 1024 and refuses by itself.
const PATH_BYTES_MAX: usize = 4096;

/// Splits a user's path into names and `..`, relative to the root. `.` and doubled slashes vanish.
///
/// An absolute path is accepted if it begins with one of `roots`, the lexical forms of the root;
/// the rest of it, `..` included, is walked like any other path.
///
/// # Errors
/// An empty path, NUL bytes, more than 4096 bytes, `~`, or an absolute path that does not begin
/// with the root.
pub fn split(path: &str, roots: &[PathBuf]) -> Result<Vec<OsString>> {
    if path.is_empty() {
        return Err(ToolError::BadArguments(
            "the path is empty. Use `.` for the workspace itself.".into(),
        ));
    }
    if path.contains('\0') {
        return Err(ToolError::BadArguments(
            "the path contains a NUL byte, which no file name can.".into(),
        ));
    }
    if path.len() > PATH_BYTES_MAX {
        let length = path.len();
        return Err(ToolError::BadArguments(format!(
            "the path has {length} bytes, at most {PATH_BYTES_MAX} work."
        )));
    }
    let whole = Path::new(path);
    let inside = if whole.is_absolute() { strip_root(whole, roots)? } else { whole };
    let names: Vec<OsString> = inside
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect();
    if names.first().is_some_and(|name| name == "~") {
        let how = "`~` is not expanded, and the home directory is not the workspace".into();
        return Err(ToolError::Outside { path: path.into(), how });
    }
    Ok(names)
}

fn strip_root<'a>(path: &'a Path, roots: &[PathBuf]) -> Result<&'a Path> {
    roots.iter().find_map(|root| path.strip_prefix(root).ok()).ok_or_else(|| {
        let root = roots.first().map(|root| root.display().to_string()).unwrap_or_default();
        let how = format!("the workspace is `{root}`");
        ToolError::Outside { path: path.display().to_string(), how }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Result<Vec<String>> {
        let names = split(path, &[PathBuf::from("/ws"), PathBuf::from("/real/ws")])?;
        Ok(names.into_iter().map(|name| name.into_string().unwrap()).collect())
    }

    #[test]
    fn the_root_prefix_is_stripped_in_both_forms() {
        assert_eq!(names("/ws/a//./b").unwrap(), ["a", "b"]);
        assert_eq!(names("/real/ws/a").unwrap(), ["a"]);
        assert_eq!(names("/ws").unwrap(), [""; 0]);
        assert_eq!(names("a/../../b").unwrap(), ["a", "..", "..", "b"]);
    }

    #[test]
    fn what_cannot_be_inside_is_refused() {
        for bad in [
            "",
            "/etc/passwd",
            "/wsx/a",
            "/proc/self/root/etc",
            "a\0b",
            "~",
            "~/x",
            &"x/".repeat(4000),
        ] {
            assert!(names(bad).is_err(), "{bad:?}");
        }
    }
}
