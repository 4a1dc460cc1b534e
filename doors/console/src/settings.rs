//! The `[console]` section of `claw.toml`. Must not know who paints.

use serde::Deserialize;

use crate::config::{ConfigError, DoorSection, DoorTexts, Env};

/// Named in the list of doors.
pub static SECTION: DoorSection =
    DoorSection::new("console", |texts| ConsoleSection::of(texts).map(drop));

/// When the console uses colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

/// `[console]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConsoleSection {
    pub color: Color,
}

impl ConsoleSection {
    /// # Errors
    /// It cannot be read.
    pub fn of(texts: &DoorTexts) -> Result<Self, ConfigError> {
        texts.read(SECTION.name)
    }

    pub fn no_colour(&self, env: &Env) -> bool {
        match self.color {
            Color::Always => false,
            Color::Never => true,
            Color::Auto => env.get("NO_COLOR").is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, DoorSections, Overrides};

    fn no_colour(toml: &str, variables: &[(&str, &str)]) -> Result<bool, ConfigError> {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("claw.toml"), toml).unwrap();
        let at = [("CLAW_HOME", home.path().to_str().unwrap())];
        let doors = DoorSections(vec![&SECTION]);
        let overrides = Overrides { doors, ..Overrides::default() };
        let env = variables.iter().copied().chain(at).collect();
        let config = Config::load_from(env, overrides)?;
        Ok(ConsoleSection::of(&config.doors)?.no_colour(&config.env))
    }

    #[test]
    fn what_is_written_overrides_the_variable_and_a_mistake_names_its_line() {
        let no_color = [("NO_COLOR", "1")];
        assert!(!no_colour("", &[]).unwrap() && no_colour("", &no_color).unwrap());
        assert!(!no_colour("[console]\ncolor = \"always\"\n", &no_color).unwrap());
        assert!(no_colour("[console]\ncolor = \"never\"\n", &[]).unwrap());
        let error = no_colour("[console]\ncolor = \"nevr\"\n", &[]).unwrap_err().to_string();
        assert!(error.contains(", line 2") && error.contains("did you mean `never`?"), "{error}");
    }
}
