//! Conflict copies: what sync tools write beside a file that was changed in two places. Owns their
//! names; must not know what is in one.

use super::stem;

/// The path of the file that `path` is a conflict copy of, by its name alone.
pub fn original(path: &str) -> Option<String> {
    let name = stem(path);
    let kept = syncthing(name).or_else(|| parenthesis(name))?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let ending = path.rsplit_once('.').map_or("md", |(_, ending)| ending);
    Some(super::join(folder, &format!("{kept}.{ending}")))
}

/// `name.sync-conflict-20261123-101112-ABCDEFG`.
fn syncthing(name: &str) -> Option<&str> {
    name.split_once(".sync-conflict-").map(|(kept, _)| kept).filter(|kept| !kept.is_empty())
}

/// `name (conflicted copy 2026-11-23)` and `name (Anna's conflicted copy 2026-11-23)` of Dropbox,
/// `name (Case Conflict)`, `name (conflict 2026-11-23)` of Nextcloud and others.
fn parenthesis(name: &str) -> Option<&str> {
    let (kept, inside) = name.rsplit_once('(')?;
    let inside = inside.strip_suffix(')')?.to_lowercase();
    let kept = kept.trim_end();
    (inside.contains("conflict") && !kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_sync_tools_are_known() {
        for (copy, of) in [
            ("a/b.sync-conflict-20261123-101112-ABCDEFG.md", "a/b.md"),
            ("b (conflicted copy 2026-11-23).md", "b.md"),
            ("a/b (Anna's conflicted copy 2026-11-23 101112).md", "a/b.md"),
            ("b (Case Conflict).md", "b.md"),
        ] {
            assert_eq!(original(copy).as_deref(), Some(of), "{copy}");
        }
        for plain in ["b.md", "a conflict.md", "b (2).md", "(conflict).md", ".sync-conflict-1.md"] {
            assert_eq!(original(plain), None, "{plain}");
        }
    }
}
