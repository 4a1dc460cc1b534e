//! Every variable of the environment that a sentence of claw or a page of the manual names is one
//! that the code reads. Which of them a sentence has to name is tested where the sentence is made.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::pages::pages_for_users;

/// What other programs read, and claw sets for them or speaks about.
const OF_OTHERS: [&str; 6] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_DIR",
    "GIT_NO_LAZY_FETCH",
    "GIT_OPTIONAL_LOCKS",
    "GIT_WORK_TREE",
    "MCP_TOOL_TIMEOUT",
];

/// The sources of the product, without their tests.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_test = ["tests", "benches", "examples", "test-kit"].contains(&&*name)
            || name.ends_with("_tests");
        if is_test {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
            found.push((path, product));
        }
    }
}

/// The literal texts of a source. A comment is none, but one on the command line is its help.
fn literals(path: &Path, source: &str) -> Vec<String> {
    let literal = Regex::new(r#""((?:[^"\\]|\\.|\\\n)*)""#).unwrap();
    let raw = Regex::new(r##"(?s)r#"(.*?)"#"##).unwrap();
    let is_help = path.to_string_lossy().contains("/cli/args");
    let (comments, code): (Vec<&str>, Vec<&str>) =
        source.lines().partition(|line| line.trim_start().starts_with("//"));
    let letter = Regex::new(r"'(?:\\.|[^'\\])'").unwrap();
    let code = letter.replace_all(&code.join("\n"), "' '").into_owned();
    let with_quotes: Vec<String> =
        raw.captures_iter(&code).map(|found| found[1].to_owned()).collect();
    let code = raw.replace_all(&code, "()");
    let mut found: Vec<String> =
        literal.captures_iter(&code).map(|found| found[1].to_owned()).collect();
    found.extend(with_quotes);
    if is_help {
        found.push(comments.join("\n"));
    }
    found
}

/// Every literal text of the product, and where it stands.
pub fn texts() -> Vec<(PathBuf, String)> {
    let root = claw_test_kit::root();
    let mut all = Vec::new();
    for folder in ["src", "crates", "doors", "mcp-servers"] {
        sources(&root.join(folder), &mut all);
    }
    let of = |(path, source): (PathBuf, String)| {
        literals(&path, &source).into_iter().map(move |text| (path.clone(), text))
    };
    all.into_iter().flat_map(of).collect()
}

#[test]
fn every_variable_that_a_sentence_names_is_one_that_is_read() {
    let name = Regex::new(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+").unwrap();
    let shaped = Regex::new(r"^[A-Z][A-Z0-9_]*$").unwrap();
    // `{NAME}` is a constant of the code, whose value a sentence holds.
    let constant = Regex::new(r"\{[A-Z0-9_]+[^}]*\}").unwrap();
    let mut read = BTreeSet::from(OF_OTHERS.map(str::to_owned));
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for (_, text) in texts() {
        if shaped.is_match(&text) {
            read.insert(text);
        } else if text.contains(char::is_whitespace) {
            let words = constant.replace_all(&text, "");
            let found = name.find_iter(&words);
            named.extend(found.map(|found| (found.as_str().to_owned(), text.clone())));
        }
    }
    let of_claw = Regex::new(r"\bCLAW_[A-Z_]*[A-Z]\b").unwrap();
    for (page, text) in pages_for_users() {
        let found: Vec<_> =
            of_claw.find_iter(&text).map(|found| found.as_str().to_owned()).collect();
        named.extend(found.into_iter().map(|name| (name, page.clone())));
    }
    for known in ["CLAW_ALLOWED_CHATS", "TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY", "SSL_CERT_FILE"]
    {
        assert!(named.contains_key(known) && read.contains(known), "{known} is not looked at");
    }
    named.retain(|name, _| !read.contains(name));
    assert!(named.is_empty(), "nobody reads these, by name and where it is told: {named:#?}");
}
