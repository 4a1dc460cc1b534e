//! `$NAME` and `${NAME}` in the strings of `claw.toml` stand for variables of the environment. Owns
//! the syntax; must not know what any key means.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::env::Env;
use super::error::ConfigError;
use super::toml_fault::line_of;
use crate::domain::secret::is_secret_name;

/// Fills in the variables of a whole table.
pub(super) struct Expander<'a> {
    pub(super) env: &'a Env,
    /// The file's name and text, for errors.
    pub(super) place: &'a str,
    pub(super) text: &'a str,
    /// Names and values of what was written at keys that hold secrets, or filled in from such a
    /// variable.
    pub(super) secrets: Vec<(String, String)>,
}

impl Expander<'_> {
    pub(super) fn table(&mut self, table: &mut DeTable<'_>, path: &str) -> Result<(), ConfigError> {
        for (key, value) in table.iter_mut() {
            let name = key.get_ref();
            let inner = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            self.value(value, &inner)?;
        }
        Ok(())
    }

    /// The same without an end at the first fault: for what it finds on the way.
    pub(super) fn table_as_far_as_it_goes(&mut self, table: &mut DeTable<'_>, path: &str) {
        for (key, value) in table.iter_mut() {
            let name = key.get_ref();
            let inner = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            match value.get_mut() {
                DeValue::Table(table) => self.table_as_far_as_it_goes(table, &inner),
                // Whoever reads the section for its own sake says what is wrong with it.
                _ => drop(self.value(value, &inner)),
            }
        }
    }

    fn value(&mut self, value: &mut Spanned<DeValue<'_>>, path: &str) -> Result<(), ConfigError> {
        let line = line_of(self.text, value.span().start);
        match value.get_mut() {
            DeValue::String(text) => {
                let expanded = self.string(text, path, line)?;
                *text = expanded.into();
                Ok(())
            }
            DeValue::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(item, &format!("{path}[{index}]"))?;
                }
                Ok(())
            }
            DeValue::Table(table) => self.table(table, path),
            _ => Ok(()),
        }
    }

    fn string(&mut self, text: &str, path: &str, line: usize) -> Result<String, ConfigError> {
        let place = format!("{}, line {line}", self.place);
        let mut out = String::new();
        let mut rest = text;
        let mut used = None;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                out.push('$');
                rest = after;
                continue;
            }
            let (name, behind) = variable(after).ok_or_else(|| {
                let message = format!("`{path}` holds a `$` that no variable's name follows");
                ConfigError::new(
                    &place,
                    message,
                    "Write `$NAME` or `${NAME}`, or `$$` for the sign itself",
                )
            })?;
            let value = self.env.get(name).ok_or_else(|| {
                let message = format!("`{path}` refers to the variable {name}, which is not set");
                ConfigError::new(
                    &place,
                    message,
                    format!("Set {name} in the environment, or remove `{path}`"),
                )
            })?;
            out.push_str(value);
            used = Some(name);
            rest = behind;
        }
        out.push_str(rest);
        let key = path.rsplit('.').next().unwrap_or(path);
        if is_secret_name(key) || path.starts_with("redact.extra") {
            self.secrets.push((used.unwrap_or(path).to_owned(), out.clone()));
        }
        Ok(out)
    }
}

/// The name behind a `$`, and the text behind the name.
fn variable(after: &str) -> Option<(&str, &str)> {
    let (name, behind) = match after.strip_prefix('{') {
        Some(inner) => inner.split_once('}')?,
        None => {
            let end = after
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(after.len());
            after.split_at(end)
        }
    };
    let fits = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (fits && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .then_some((name, behind))
}
