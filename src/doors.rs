//! Whose an error is that a door has given. Must not know what a door does.

use std::error::Error;

use claw_core::domain::Blame;

/// Whose an error of a door is.
pub fn blame_of(cause: &(dyn Error + 'static)) -> Option<Blame> {
    claw_door_console::blame_of(cause)
        .or_else(|| claw_door_mcp::blame_of(cause))
        .or_else(|| claw_door_telegram::blame_of(cause))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// What derives an error only for the sentence that it is told in, or never leaves its room.
    const NO_ERRORS: &[&str] = &[
        "Fault",
        "Migrated",
        "NoSuchHandle",
        "PatchError",
        "SearchError",
        "SendError",
        "ServeError",
    ];

    /// The names of all types below `folder` that derive `thiserror::Error`.
    fn derived(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                derived(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.extend(
                    text.split(&["thiserror", "::Error)]"].concat())
                        .skip(1)
                        .filter_map(name_of_type),
                );
            }
        }
    }

    /// The first type that a text defines.
    fn name_of_type(text: &str) -> Option<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.skip_while(|word| !["enum", "struct"].contains(word)).nth(1).map(str::to_owned)
    }

    #[test]
    fn every_error_type_is_asked_whose_it_is() {
        let mut found = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["src", "crates", "doors"] {
            derived(&root.join(folder), &mut found);
        }
        let lists = [claw_cli::fail::ASKED, claw_bot_api::ASKED, claw_doors::ASKED];
        let of_doors = [claw_door_console::ASKED, claw_door_mcp::ASKED, claw_door_telegram::ASKED];
        let all = || lists.into_iter().chain(of_doors).flatten();
        assert!(found.len() >= all().count(), "{found:?}");
        let asked =
            |name: &String| all().any(|path| path.rsplit("::").next().map(str::trim) == Some(name));
        found.retain(|name| !asked(name) && !NO_ERRORS.contains(&name.as_str()));
        assert!(found.is_empty(), "name these in `asked!`, and let them answer: {found:?}");
    }
}
