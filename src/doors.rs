//! The doors of this program, one line each. Must not know what a door does.

use claw_doors::entry::DoorEntries;

/// Handed to the command line, which reads their settings, and runs them in the gateway.
pub const ALL: DoorEntries = &[
    &claw_door_acp::DOOR,
    &claw_door_console::DOOR,
    &claw_door_mcp::DOOR,
    &claw_door_telegram::DOOR,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use claw_core::config::{Config, Overrides};
    use claw_doors::entry::sections_of;

    use super::ALL;

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

    /// The rows of the page of settings: a key, and what is said of it.
    fn rows() -> Vec<(String, String)> {
        let page = include_str!("../docs/config.md").lines();
        let row = |line: &str| {
            let (key, says) = line.strip_prefix("| `")?.split_once("` |")?;
            Some((key.to_owned(), says.to_owned()))
        };
        page.filter_map(row).collect()
    }

    /// What a `claw.toml` is refused with.
    fn refusal(toml: &str) -> Option<String> {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("claw.toml"), toml).unwrap();
        let env = [("CLAW_HOME", home.path().to_str().unwrap())].into_iter().collect();
        let overrides = Overrides { doors: sections_of(ALL), ..Overrides::default() };
        Config::load_from(env, overrides).err().map(|error| error.message)
    }

    #[test]
    fn the_settings_page_has_each_key_of_each_door_and_no_other_section() {
        let mut compared = 0;
        for section in sections_of(ALL).iter() {
            // Every key is listed where none is like the one that was written.
            let said = refusal(&format!("[{}]\nQ9 = 1\n", section.name)).unwrap();
            let known: BTreeSet<&str> = said.split('`').skip(3).step_by(2).collect();
            let rows = rows();
            let own =
                |key: &'_ str| key.strip_prefix(&format!("{}.", section.name)).map(str::to_owned);
            let written: BTreeSet<String> = rows.iter().filter_map(|(key, _)| own(key)).collect();
            assert!(!known.is_empty(), "{said}");
            assert_eq!(known, written.iter().map(String::as_str).collect(), "{}", section.name);
            for (key, says) in rows.iter().filter(|(key, _)| own(key).is_some()) {
                assert!(says.contains("**start**"), "{key}: what a door reads counts from a start");
                compared += 1;
            }
        }
        assert!(compared > 10, "{compared} keys");
        for (key, _) in rows() {
            let section = key.split('.').next().unwrap();
            let said = refusal(&format!("{section} = {{}}\n")).unwrap_or_default();
            assert!(!said.contains("is not a key here"), "{key}: no door or room has it: {said}");
        }
    }

    #[test]
    fn one_door_at_most_takes_keys_from_the_section_of_an_agent() {
        let in_agent = sections_of(ALL).iter().filter(|section| section.in_agent).count();
        assert!(in_agent <= 1, "whose key would it be?");
    }

    #[test]
    fn every_error_type_is_asked_whose_it_is() {
        let mut found = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["src", "crates", "doors"] {
            derived(&root.join(folder), &mut found);
        }
        let lists = [claw_cli::fail::ASKED, claw_bot_api::ASKED, claw_doors::ASKED];
        let all = || lists.into_iter().chain(ALL.iter().map(|door| door.asked)).flatten();
        assert!(found.len() >= all().count(), "{found:?}");
        let asked =
            |name: &String| all().any(|path| path.rsplit("::").next().map(str::trim) == Some(name));
        found.retain(|name| !asked(name) && !NO_ERRORS.contains(&name.as_str()));
        assert!(found.is_empty(), "name these in `asked!`, and let them answer: {found:?}");
    }
}
