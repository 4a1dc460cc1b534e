//! What to say when a path does not exist: the nearest directory that does, and names in it that
//! look alike. Must not know why somebody asked.

use std::ffi::OsStr;
use std::path::Path;

use cap_std::fs::Dir;
use claw_kit::line_diff::alike;

use crate::guard::{Act, Guard};

const NAMES_LOOKED_AT_MAX: usize = 2000;
const NAMES_SHOWN_MAX: usize = 5;
/// Similarity, from 0 to 1, from which on two names look alike.
const ALIKE: f32 = 0.6;

/// One or two sentences about `dir`, in which `wanted` was not found. `real` is the path of `dir`
/// from the root.
pub fn not_found(dir: &Dir, real: &Path, wanted: &OsStr, guard: &Guard) -> String {
    let shown = if real.as_os_str().is_empty() {
        "the workspace".into()
    } else {
        format!("`{}`", real.display())
    };
    let names = similar_names(dir, real, &wanted.to_string_lossy(), guard);
    if names.is_empty() {
        return format!(
            " The nearest directory that exists is {shown}; it has nothing with a similar name."
        );
    }
    format!(
        " The nearest directory that exists is {shown}. Similar names there: {}.",
        names.join(", ")
    )
}

fn similar_names(dir: &Dir, real: &Path, wanted: &str, guard: &Guard) -> Vec<String> {
    let Ok(entries) = dir.entries() else { return Vec::new() };
    let wanted = wanted.to_lowercase();
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let mut scored: Vec<(f32, String)> = entries
        .take(NAMES_LOOKED_AT_MAX)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| guard.forbids_path(&real.join(name), Act::Touch).is_none())
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let same_stem = !stem(&lower).is_empty() && stem(&lower) == stem(&wanted);
            let score = if same_stem { 1.0 } else { alike(&wanted, &lower) };
            (score >= ALIKE).then_some((score, name))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(NAMES_SHOWN_MAX).map(|(_, name)| format!("`{name}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_offered_and_protected_ones_are_not() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["README.md", "readme.txt", "other", "read-secret"] {
            std::fs::write(temp.path().join(name), "").unwrap();
        }
        let dir = Dir::open_ambient_dir(temp.path(), cap_std::ambient_authority()).unwrap();
        let mut guard = Guard::default();
        guard.add(Path::new("readme.txt"), None, crate::guard::Shield::Protected);
        let hint = not_found(&dir, Path::new(""), OsStr::new("Readme"), &guard);
        assert!(
            hint.contains("`README.md`") && !hint.contains("readme.txt") && !hint.contains("other"),
            "{hint}"
        );
    }
}
