//! `docs/config.md` says each key once, with the default and the range that the code has, and from
//! when on it counts. The keys of doors are compared where the doors are known (`src/doors.rs`).
//! Must not know what a key means to a room.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize as _;
use toml::de::Deserializer;

use super::agents::MAIN;
use super::doors::DoorSections;
use super::env::Env;
use super::file::{self, ClawToml};
use super::{limits, memory, prompt, retention, serve, written};

const PAGE: &str = include_str!("../../../../docs/config.md");
/// Sections with a name of the owner's in them, as the page writes them.
const NAMED: [(&str, &str); 2] = [("prices", "prices.MODEL"), ("roles", "roles.NAME")];

/// One row of the page.
struct Row {
    default: &'static str,
    values: &'static str,
    says: &'static str,
}

/// Every row that begins with a key.
fn rows() -> BTreeMap<&'static str, Row> {
    let mut rows = BTreeMap::new();
    for line in PAGE.lines() {
        let Some((key, rest)) = line.strip_prefix("| `").and_then(|line| line.split_once("` |"))
        else {
            continue;
        };
        let cells: Vec<&str> = rest.trim_end().trim_end_matches('|').split(" | ").collect();
        let [default, values, says] = cells[..] else { panic!("{key} has {} cells", cells.len()) };
        let row = Row { default: default.trim(), values: values.trim(), says: says.trim() };
        assert!(rows.insert(key, row).is_none(), "{key} stands twice");
    }
    rows
}

/// The names that a section takes, by the sentence that refuses another one.
fn names(section: &str) -> Vec<String> {
    let head = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
    let text = format!("{head}no_such_key = 1\n");
    let read = Deserializer::parse(&text).and_then(ClawToml::deserialize);
    let message = read.unwrap_err().message().to_owned();
    let (_, expected) = message.split_once("expected").unwrap_or_else(|| panic!("{message}"));
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a name of the first lines is that of a section.
fn is_section(name: &str) -> bool {
    let text = format!("{name} = 1\n");
    Deserializer::parse(&text)
        .and_then(ClawToml::deserialize)
        .is_err_and(|error| error.message().contains("expected struct") || name == "prices")
        || name == "roles"
}

fn keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for name in names("") {
        if let Some((_, shown)) = NAMED.iter().find(|(section, _)| *section == name) {
            keys.extend(names(shown).into_iter().map(|key| format!("{shown}.{key}")));
        } else if is_section(&name) {
            keys.extend(names(&name).into_iter().map(|key| format!("{name}.{key}")));
        } else {
            keys.insert(name);
        }
    }
    if keys.remove("memory.embeddings") {
        let inner = names("memory.embeddings");
        keys.extend(inner.into_iter().map(|key| format!("memory.embeddings.{key}")));
    }
    keys
}

/// The section of a key; a key outside of all is its own.
fn section_of(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

/// A number as the page writes it: `86,400`, `2^50`, `10^12`.
fn number(text: &str) -> Option<u64> {
    let text = text.replace(',', "");
    match text.split_once('^') {
        Some((base, power)) => base.parse::<u64>().ok()?.checked_pow(power.parse().ok()?),
        None => text.parse().ok(),
    }
}

/// `1 to 86,400 s`
fn range(values: &str) -> Option<(u64, u64)> {
    let (least, most) = values.split_once(" to ")?;
    Some((number(least)?, number(most.split(' ').next()?)?))
}

#[test]
fn each_key_stands_once_in_the_settings_page_and_no_other() {
    let written: BTreeSet<String> = rows().into_keys().map(str::to_owned).collect();
    let known = keys();
    assert!(known.len() > 100, "{known:?}");
    let missing: Vec<_> = known.difference(&written).collect();
    let sections: BTreeSet<&str> = known.iter().map(|key| section_of(key)).collect();
    let surplus = written.difference(&known).filter(|key| sections.contains(section_of(key)));
    let surplus: Vec<_> = surplus.collect();
    assert!(missing.is_empty() && surplus.is_empty(), "missing {missing:?}, surplus {surplus:?}");
}

#[test]
fn the_settings_page_says_which_keys_count_from_the_next_start() {
    for (key, row) in rows() {
        let says_start = row.says.contains("**start**");
        assert_eq!(!written::counts_now(key), says_start, "{key}");
    }
}

#[test]
fn the_settings_page_has_the_ranges_that_the_code_holds() {
    let accepts = |key: &str, value: u64| {
        let (section, name) = key.split_once('.').unwrap();
        // A call may take no longer than its turn.
        let more = if name == "tool_timeout_s" { "turn_time_s = 86400\n" } else { "" };
        let less = if name == "turn_time_s" { "tool_timeout_s = 1\n" } else { "" };
        let text = format!("[{section}]\n{more}{less}{name} = {value}\n");
        file::read(("claw.toml", &text), &Env::default(), MAIN, &DoorSections::default()).is_ok()
    };
    let mut tried = 0;
    for (key, row) in rows() {
        let section = key.split('.').next().unwrap();
        // An endpoint of vectors is nothing without its address and model.
        let needs_others = key.starts_with("memory.embeddings.");
        if needs_others || !["limits", "retention", "memory", "prompt", "serve"].contains(&section)
        {
            continue;
        }
        let Some((least, most)) = range(row.values) else { continue };
        tried += 1;
        assert!(accepts(key, least), "{key} = {least}");
        assert!(accepts(key, most), "{key} = {most}");
        assert!(!accepts(key, most + 1), "{key} = {}", most + 1);
        assert!(least == 0 || !accepts(key, least - 1), "{key} = {}", least - 1);
    }
    assert!(tried > 50, "{tried} ranges");
}

#[test]
fn the_settings_page_has_the_defaults_that_the_code_has() {
    let shown = [
        ("limits", format!("{:?}", limits::Limits::default())),
        ("retention", format!("{:?}", retention::Retention::default())),
        ("memory", format!("{:?}", memory::MemorySection::default())),
        ("prompt", format!("{:?}", prompt::PromptSection::default())),
        ("serve", format!("{:?}", serve::ServeSection::default())),
    ];
    let mut compared = 0;
    for (key, row) in rows() {
        let Some((section, name)) = key.split_once('.') else { continue };
        let Some((_, debug)) = shown.iter().find(|(one, _)| *one == section) else { continue };
        let Some((_, rest)) = debug.split_once(&format!(" {name}: ")) else { continue };
        let value = rest.split([',', ' ', '}']).next().unwrap();
        let first = row.default.split(' ').next().unwrap().trim_matches('`');
        match value.parse::<u64>() {
            Ok(value) => assert_eq!(number(first), Some(value), "{key}"),
            Err(_) if ["true", "false"].contains(&value) => assert_eq!(first, value, "{key}"),
            Err(_) => continue,
        }
        compared += 1;
    }
    assert!(compared > 60, "{compared} defaults");
}
