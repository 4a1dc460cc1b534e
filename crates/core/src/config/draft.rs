//! A `claw.toml` with a few keys changed and everything else as it was, comments too. Owns how that
//! is written: whole or not at all, the owner's alone, never over what somebody else has written
//! meanwhile. Must not know why a key changes.

use std::fs;
use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value, value};

use super::agents::MAIN;
use super::error::ConfigError;
use super::model::{KEYS_FOR_ONE_MODEL, ModelKeys, ModelSection};
use super::seen::ExistingSettings;
use super::{file, read_if_there};
use crate::durable;

/// What a new file begins with.
const HEAD: &str = "# Settings of claw. It holds keys, so that nobody but you may read it. \
    `claw help home` says what else can stand here.\n\n";

/// The text as it is to be.
pub struct ConfigDraft {
    path: PathBuf,
    before: Option<String>,
    /// Who answers before it.
    model: ModelSection,
    document: DocumentMut,
}

impl ConfigDraft {
    pub fn of(seen: &ExistingSettings) -> Result<Self, ConfigError> {
        let path = seen.home.claw_toml();
        let document = seen.text.as_deref().unwrap_or(HEAD).parse().map_err(
            |error: toml_edit::TomlError| {
                ConfigError::new(
                    path.display().to_string(),
                    error.message().to_owned(),
                    "Correct the file",
                )
            },
        )?;
        Ok(Self { path, before: seen.text.clone(), model: seen.model.clone(), document })
    }

    /// Who answers from now on. Keys that were set for another model are taken out, and given back;
    /// what else stands under `[model]` stays.
    pub fn set_model(&mut self, keys: &ModelKeys<'_>) -> Result<Vec<&'static str>, ConfigError> {
        let is_another = !keys.is_of(&self.model);
        let table = self.section("model")?;
        let goes = KEYS_FOR_ONE_MODEL.into_iter().filter(|_| is_another);
        let taken_out = goes.filter(|key| table.remove(key).is_some()).collect();
        put(table, "agent", Some(keys.agent.as_str()));
        put(table, "base_url", keys.base_url);
        put(table, "model", keys.model);
        put(table, "api_key", keys.key.map(|key| key.expose_secret()));
        Ok(taken_out)
    }

    /// A key of a section of a door that holds a secret.
    pub fn set_secret(
        &mut self,
        section: &str,
        key: &str,
        secret: &SecretString,
    ) -> Result<(), ConfigError> {
        put(self.section(section)?, key, Some(secret.expose_secret()));
        Ok(())
    }

    /// A key that holds a list of numbers.
    pub fn set_numbers(
        &mut self,
        section: &str,
        key: &str,
        numbers: &[i64],
    ) -> Result<(), ConfigError> {
        let numbers = numbers.iter().copied().collect::<Array>();
        self.section(section)?.insert(key, value(numbers));
        Ok(())
    }

    /// Takes a key away.
    pub fn remove(&mut self, section: &str, key: &str) -> Result<(), ConfigError> {
        self.section(section)?.remove(key);
        Ok(())
    }

    pub fn is_changed(&self) -> bool {
        self.before.as_deref().unwrap_or(HEAD) != self.document.to_string()
    }

    /// Makes the home where it is missing, and writes. `seen` is what the draft was made of.
    ///
    /// # Errors
    /// Settings that mean nothing together, a file that was changed meanwhile, and every failure to
    /// write; nothing is changed then.
    pub fn write(self, seen: ExistingSettings) -> Result<(), ConfigError> {
        let text = self.document.to_string();
        let place = self.path.display().to_string();
        file::read((&place, &text), &seen.env, MAIN, seen.doors.sections())?.doors.notes()?;
        let mut home = seen.home;
        home.ensure()?;
        if read_if_there(&self.path)? != self.before {
            let message = "this file was changed while you were asked, and is left as it is now";
            return Err(ConfigError::new(place, message, "Run `claw init` again"));
        }
        // A link of the owner's stays a link.
        let target = fs::canonicalize(&self.path).unwrap_or(self.path);
        durable::replace(&target, &text, 0o600)
            .map_err(|error| ConfigError::io(&target, "this file cannot be written", &error))
    }

    fn section(&mut self, name: &str) -> Result<&mut dyn TableLike, ConfigError> {
        if !self.document.contains_key(name) {
            let mut table = Table::new();
            // Comments at the end of the file stay before what is added behind them.
            let end = self.document.trailing().as_str().unwrap_or_default().trim_end().to_owned();
            if !end.is_empty() {
                table.decor_mut().set_prefix(format!("{end}\n\n"));
                self.document.set_trailing("");
            }
            self.document.insert(name, Item::Table(table));
        }
        let item = self.document.entry(name).or_insert(Item::None);
        let place = self.path.display().to_string();
        item.as_table_like_mut()
            .ok_or_else(|| ConfigError::new(place, format!("`{name}` is no section"), "Correct it"))
    }
}

/// A `$` stands for itself only when it is doubled. `None` takes the key away.
fn put(table: &mut dyn TableLike, key: &str, text: Option<&str>) {
    let Some(text) = text else {
        table.remove(key);
        return;
    };
    let mut new = Value::from(text.replace('$', "$$"));
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        // With the comment behind it.
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(new));
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
