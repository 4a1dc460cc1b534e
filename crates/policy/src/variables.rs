//! The environment variables that a call gives to a command of our bash server, and which of them
//! change nothing that claw believes of the command. Pure. Must not know where they come from.
//!
//! No list of dangerous names is complete: `RUSTC_WRAPPER`, `GIT_EXTERNAL_DIFF`, `MAKEFLAGS`,
//! `PERL5OPT`, and the next program's own. So there is a list of harmless ones, and with any other
//! name claw believes nothing that it has read in the command's text: neither a grant for a program
//! nor a mode nor a rule that allows covers it. What the box alone holds needs no belief.

use std::collections::BTreeMap;

use claw_kit::variables;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{Facts, level};

/// The argument's name.
pub const VARIABLES: &str = "variables";
/// The longest value that is plain, in bytes.
const PLAIN_BYTES_MAX: usize = 256;

/// So many names stand in a sentence.
const NAMES_SHOWN: usize = 4;

/// They change what a program prints, in which language and how wide, and nothing else. Missing on
/// purpose: `CI` (some tools then publish), `DEBUG` and `NODE_ENV` (other code runs), `VERBOSE` (in
/// make files it stands before a command), `TERM` and `TERMINFO` (files are read by their name).
const HARMLESS: &[&str] = &[
    "RUST_LOG",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "CARGO_TERM_COLOR",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "PYTHONUNBUFFERED",
    "COLUMNS",
    "LINES",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
];
/// A time zone is the name of a file.
const ZONE: &str = "TZ";

/// What the call gives, as it is written; `None` for a call that gives none, or is no command.
pub fn named<'a>(facts: &Facts<'a>) -> Option<&'a Value> {
    let given = facts.arguments.get(VARIABLES).filter(|_| level::is_command(facts))?;
    (!given.is_null() && given.as_object().is_none_or(|given| !given.is_empty())).then_some(given)
}

/// Whether none of them changes what claw believes of the command: there are none, or all are
/// harmless. In doubt it does.
pub(crate) fn are_harmless(facts: &Facts<'_>) -> bool {
    let Some(given) = named(facts) else { return true };
    given.as_object().is_some_and(|given| strange(given, facts).next().is_none())
}

/// The names that are not harmless, quoted, for a sentence.
pub(crate) fn strange_words(facts: &Facts<'_>) -> String {
    let given = named(facts).and_then(Value::as_object);
    quoted(given.into_iter().flat_map(|given| strange(given, facts)))
}

/// The same names, as they stand behind `unset`.
fn bare_names(facts: &Facts<'_>) -> String {
    let given = named(facts).and_then(Value::as_object);
    let mut names = given.into_iter().flat_map(|given| strange(given, facts));
    let mut shown: Vec<String> =
        names.by_ref().take(NAMES_SHOWN).map(|name| claw_domain::escape::visible(name)).collect();
    shown.extend(names.next().map(|_| "…".to_owned()));
    shown.join(" ")
}

/// Half a sentence: why no mode covers a command, and what ends that.
pub(crate) fn why_no_mode(facts: &Facts<'_>) -> String {
    format!(
        "no mode covers it with {}, which may change what its programs do, until a command \
         removes them by `unset {}`, or `/new` does",
        strange_words(facts),
        bare_names(facts)
    )
}

/// Of those that a shell keeps, the names that are not harmless, quoted. `None` where all are.
pub fn strange_of(kept: &BTreeMap<String, String>, by_owner: &[String]) -> Option<String> {
    let is_strange =
        |(name, value): &(&String, &String)| !by_owner.contains(name) && !is_plain(name, value);
    let names: Vec<&String> = kept.iter().filter(is_strange).map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| quoted(names.into_iter()))
}

/// The first of them, and how many more there are.
fn quoted<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let all: Vec<&String> = names.collect();
    let shown = all.iter().take(NAMES_SHOWN);
    let shown: Vec<String> =
        shown.map(|name| format!("`{}`", claw_domain::escape::visible(name))).collect();
    match all.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Whether the server takes them.
///
/// # Errors
/// What is wrong with them, for the model.
pub fn check(facts: &Facts<'_>) -> Result<(), String> {
    let Some(given) = named(facts) else { return Ok(()) };
    let given = BTreeMap::<String, String>::deserialize(given)
        .map_err(|_| "`variables` is an object of names with texts".to_owned())?;
    variables::check(&given).map_err(|why| format!("`variables`: {why}"))
}

fn strange<'a>(
    given: &'a Map<String, Value>,
    facts: &'a Facts<'_>,
) -> impl Iterator<Item = &'a String> {
    let is_known = |name: &String, value: &Value| {
        let by_owner = facts.harmless_variables.contains(name);
        by_owner || value.as_str().is_some_and(|value| is_plain(name, value))
    };
    given.iter().filter(move |(name, value)| !is_known(name, value)).map(|(name, _)| name)
}

/// A word or a list of words, which is no path and no option.
fn is_plain(name: &str, value: &str) -> bool {
    let is_zone = name == ZONE;
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'-' | b'.' | b',' | b'=' | b'@' | b'+')
            || (byte == b':' && !is_zone)
            || (byte == b'/' && is_zone)
    };
    (is_zone || HARMLESS.contains(&name))
        && value.len() <= PLAIN_BYTES_MAX
        && value.bytes().all(plain)
        && !value.starts_with(['-', '.', '/', ':'])
        && !value.contains("..")
}

#[cfg(test)]
mod tests;
