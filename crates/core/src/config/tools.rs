//! The `[tools]` section of `claw.toml`: which tools of the servers are there at all, and which of
//! them models do not see. Must not know servers, or who asks.

use std::collections::{BTreeMap, BTreeSet};

use claw_kit::variables;
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use super::tools_listed::ToolsListed;
use crate::domain::Trust;

/// The longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 256;
/// The most patterns in one list.
const PATTERNS_MAX: usize = 1000;

/// `[tools]` as it is written: patterns over `server/tool`, in which `*` stands for any text and
/// `?` for one character.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ToolsSection {
    /// Not offered to models; only staged actions reach them.
    hidden: Vec<String>,
    /// What matches none of these is not there for anybody.
    offered: Vec<String>,
    /// By server: what of its tools is pinned.
    pins: BTreeMap<String, PinBy>,
    /// By server: how far it is trusted.
    trust: BTreeMap<String, String>,
    listed_max: Option<u64>,
    listed_window_percent: Option<u64>,
    found_max: Option<u64>,
    suggested_max: Option<u64>,
    used_lately_max: Option<u64>,
    definition_tokens_max: Option<u64>,
    /// Whether a command begins where the one before it has left its shell.
    keep_shell_folder: bool,
    /// Whether a command has the variables that the one before it has exported.
    keep_shell_variables: bool,
    /// Variables that no question is asked about, beside those that claw knows.
    harmless_variables: Vec<String>,
}

/// What of a tool is pinned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PinBy {
    /// Everything that the server says about it.
    #[default]
    All,
    /// Its name and its schemas, for servers whose texts vary at each start.
    Schema,
}

impl Default for ToolsSection {
    fn default() -> Self {
        Self {
            hidden: Vec::new(),
            offered: vec!["*".to_owned()],
            pins: BTreeMap::new(),
            trust: BTreeMap::new(),
            listed_max: None,
            listed_window_percent: None,
            found_max: None,
            suggested_max: None,
            used_lately_max: None,
            definition_tokens_max: None,
            keep_shell_folder: true,
            keep_shell_variables: true,
            harmless_variables: Vec::new(),
        }
    }
}

/// The same, ready to be asked.
#[derive(Clone, Debug)]
pub struct Tools {
    hidden: GlobSet,
    offered: GlobSet,
    by_schema: BTreeSet<String>,
    trust: BTreeMap<String, Trust>,
    /// How many of them a model is offered at once.
    pub listed: ToolsListed,
    /// Whether a command begins where the one before it in the session has left its shell.
    pub keeps_shell_folder: bool,
    /// Whether a command has the variables that the one before it in the session has exported.
    pub keeps_shell_variables: bool,
    /// Names of variables that the owner calls harmless.
    pub harmless_variables: Vec<String>,
}

impl Default for Tools {
    /// All tools are there, and none is hidden.
    fn default() -> Self {
        let everything = Glob::new("*").and_then(|glob| GlobSetBuilder::new().add(glob).build());
        Self {
            hidden: GlobSet::empty(),
            offered: everything.unwrap_or_default(),
            by_schema: BTreeSet::new(),
            trust: BTreeMap::new(),
            listed: ToolsListed::default(),
            keeps_shell_folder: true,
            keeps_shell_variables: true,
            harmless_variables: Vec::new(),
        }
    }
}

impl Tools {
    /// For tests, which need no file.
    #[cfg(test)]
    pub(crate) fn of(hidden: &[&str], offered: &[&str]) -> Self {
        let owned =
            |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        ToolsSection { hidden: owned(hidden), offered: owned(offered), ..ToolsSection::default() }
            .resolve()
            .unwrap()
    }

    /// Whether our configuration keeps this tool from models.
    pub fn hides(&self, server: &str, tool: &str) -> bool {
        self.hidden.is_match(format!("{server}/{tool}"))
    }

    /// Whether only names and schemas of this server's tools are pinned.
    pub fn by_schema(&self, server: &str) -> bool {
        self.by_schema.contains(server)
    }

    /// How far the file says that a server is trusted, if it says so.
    pub fn trust(&self, server: &str) -> Option<Trust> {
        self.trust.get(server).copied()
    }

    /// The servers that the file names there.
    pub fn trust_named(&self) -> impl Iterator<Item = &String> {
        self.trust.keys()
    }

    /// The servers of which only names and schemas are pinned.
    pub fn schema_pinned(&self) -> &BTreeSet<String> {
        &self.by_schema
    }

    /// What a running claw can follow: which tools are there and which are hidden. What is pinned
    /// and which variables are harmless stays as it is in `self`.
    pub fn following(&self, new: &Self) -> Self {
        Self {
            by_schema: self.by_schema.clone(),
            harmless_variables: self.harmless_variables.clone(),
            ..new.clone()
        }
    }

    /// Whether this tool may be called at all.
    pub fn has(&self, server: &str, tool: &str) -> bool {
        self.offered.is_match(format!("{server}/{tool}"))
    }
}

impl ToolsSection {
    /// The first key that is wrong, and what is wrong with it.
    pub(super) fn resolve(&self) -> Result<Tools, (&'static str, String)> {
        if self.offered.is_empty() {
            let message = "`tools.offered` is empty, so that no tool would be there; leave it \
                out, or write `[\"*\"]` for all";
            return Err(("offered", message.to_owned()));
        }
        let hidden = globs("hidden", &self.hidden).map_err(|message| ("hidden", message))?;
        let offered = globs("offered", &self.offered).map_err(|message| ("offered", message))?;
        let by_schema = self
            .pins
            .iter()
            .filter(|(_, by)| **by == PinBy::Schema)
            .map(|(server, _)| server.clone());
        let usual = ToolsListed::default();
        let listed = ToolsListed {
            listed_max: self.listed_max.unwrap_or(usual.listed_max),
            listed_window_percent: self
                .listed_window_percent
                .unwrap_or(usual.listed_window_percent),
            found_max: self.found_max.unwrap_or(usual.found_max),
            suggested_max: self.suggested_max.unwrap_or(usual.suggested_max),
            used_lately_max: self.used_lately_max.unwrap_or(usual.used_lately_max),
            definition_tokens_max: self
                .definition_tokens_max
                .unwrap_or(usual.definition_tokens_max),
        };
        listed.check()?;
        let trust = self.trust().map_err(|message| ("trust", message))?;
        Ok(Tools {
            hidden,
            offered,
            by_schema: by_schema.collect(),
            trust,
            listed,
            keeps_shell_folder: self.keep_shell_folder,
            keeps_shell_variables: self.keep_shell_variables,
            harmless_variables: self.harmless()?,
        })
    }
}

impl ToolsSection {
    fn harmless(&self) -> Result<Vec<String>, (&'static str, String)> {
        let wrong = |name: &&String| !variables::is_name(name) || variables::is_owned(name);
        match self.harmless_variables.iter().find(wrong) {
            None => Ok(self.harmless_variables.clone()),
            Some(name) => Err((
                "harmless_variables",
                format!(
                    "`tools.harmless_variables` names {name:?}, which no call can give: a name has \
                     letters, digits and `_`, and what the shell or its box sets stays as it is"
                ),
            )),
        }
    }

    fn trust(&self) -> Result<BTreeMap<String, Trust>, String> {
        let read = |(server, text): (&String, &String)| match Trust::parse(text) {
            Some(trust) => Ok((server.clone(), trust)),
            None => Err(format!(
                "`tools.trust` says `{text}` for `{server}`; it may say `nothing`, `ask` or `hints`"
            )),
        };
        self.trust.iter().map(read).collect()
    }
}

fn globs(key: &str, patterns: &[String]) -> Result<GlobSet, String> {
    if patterns.len() > PATTERNS_MAX {
        return Err(format!(
            "`tools.{key}` has {} patterns, and may have {PATTERNS_MAX}",
            patterns.len()
        ));
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let wrong = |why: String| {
            format!("`{pattern}` in `tools.{key}` is not a pattern over `server/tool`: {why}")
        };
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
            return Err(wrong(format!("use 1 to {PATTERN_BYTES_MAX} bytes")));
        }
        // A name without a slash could only ever match nothing, which somebody who hides a tool
        // must hear.
        if !pattern.contains('/') && !pattern.contains('*') {
            return Err(wrong(
                "it has no `/`, so no tool can match it; write for example `shop/confirm_*`"
                    .to_owned(),
            ));
        }
        set.add(Glob::new(pattern).map_err(|error| wrong(error.kind().to_string()))?);
    }
    set.build().map_err(|error| format!("`tools.{key}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(text: &str) -> Result<Tools, (&'static str, String)> {
        toml::from_str::<ToolsSection>(text).unwrap().resolve()
    }

    #[test]
    fn without_the_section_all_tools_are_there_and_none_is_hidden() {
        for tools in [tools("").unwrap(), Tools::default()] {
            assert!(
                tools.has("shop", "order")
                    && tools.has("a/b", "c/d")
                    && !tools.hides("shop", "order")
            );
        }
    }

    #[test]
    fn patterns_are_over_server_and_tool() {
        let tools =
            tools("hidden = ['shop/confirm_*']\noffered = ['shop/*', 'files/read']").unwrap();
        assert!(
            tools.hides("shop", "confirm_add")
                && !tools.hides("shop", "add")
                && !tools.hides("other", "confirm_add")
        );
        assert!(
            tools.has("shop", "add") && tools.has("files", "read") && !tools.has("files", "write")
        );
    }

    #[test]
    fn what_can_match_nothing_is_an_error_that_names_its_key() {
        for (text, key) in [
            ("hidden = ['confirm_add']", "hidden"),
            ("hidden = ['shop/[a']", "hidden"),
            ("hidden = ['']", "hidden"),
            ("offered = []", "offered"),
            ("offered = ['shop']", "offered"),
            ("trust = { shop = 'all' }", "trust"),
            ("harmless_variables = ['a-b']", "harmless_variables"),
            ("harmless_variables = ['HOME']", "harmless_variables"),
        ] {
            let (found, message) = tools(text).unwrap_err();
            assert!(found == key && message.contains(&format!("tools.{key}")), "{text}: {message}");
        }
    }
}
