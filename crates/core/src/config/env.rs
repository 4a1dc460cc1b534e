//! The environment, read once. No other file of claw asks the process for a variable. Must not know
//! what a variable means.

use std::collections::BTreeMap;
use std::fmt;

/// A snapshot of the environment. Variables that are not UTF-8 are left out. Printing it shows the
/// names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env {
    variables: BTreeMap<String, String>,
}

impl Env {
    /// The environment of this process.
    pub fn from_process() -> Self {
        let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self { variables: std::env::vars_os().filter_map(utf8).collect() }
    }

    /// The value of a variable; one that is empty counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The same with one variable set.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same without some variables.
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        names.iter().for_each(|name| drop(self.variables.remove(*name)));
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_shows_names_only_and_empty_is_unset() {
        let env: Env = [("A_KEY", "hidden-value"), ("B", "")].into_iter().collect();
        assert_eq!(env.get("A_KEY"), Some("hidden-value"));
        assert_eq!(env.get("B"), None);
        let shown = format!("{env:?}");
        assert!(shown.contains("A_KEY") && !shown.contains("hidden-value"));
    }
}
