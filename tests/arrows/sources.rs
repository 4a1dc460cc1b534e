//! Reads the sources as text, for the table of arrows: which files there are, and which paths and
//! crates they name. Must not know what is allowed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

pub struct Source {
    /// Relative to the package, with `/`.
    pub path: String,
    pub room: String,
    /// Without comments and unit tests.
    pub text: String,
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

pub fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/")
}

/// The product's sources, without tests: a test may build what its room must not know.
pub fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    rust_files(&root().join("crates"), &mut files);
    rust_files(&root().join("doors"), &mut files);
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    let source = |file: PathBuf| {
        let path = relative(&file);
        let room = room_of(&path).to_owned();
        let text = product_text(&fs::read_to_string(&file).unwrap());
        (!is_test(&path)).then_some(Source { path, room, text })
    };
    let found: Vec<Source> = files.into_iter().filter_map(source).collect();
    assert!(found.len() > 80, "only {} sources were found", found.len());
    found
}

/// Where the rooms are that are no crates of their own: the program, and what is below the doors.
pub const ROOMS: [&str; 2] = ["src/", "crates/core/src/"];

/// Several folders that are one room of the table: the command line with the commands that open
/// doors, and the doors with what they share and the look of a terminal.
pub const JOINED: [(&str, &str); 5] = [
    ("crates/cli/", "cli"),
    ("src/commands/", "cli"),
    ("crates/doors/", "doors"),
    ("crates/terminal/", "doors"),
    ("doors/", "doors"),
];

/// Whether a file belongs to a room of the table.
pub fn is_in_a_room(path: &str) -> bool {
    let mut folders = ROOMS.into_iter().chain(JOINED.map(|(folder, _)| folder));
    folders.any(|folder| path.starts_with(folder))
}

/// A folder of `crates` is a room; what its files may name is in its `Cargo.toml`.
fn room_of(path: &str) -> &str {
    if let Some((_, room)) = JOINED.iter().find(|(folder, _)| path.starts_with(folder)) {
        return room;
    }
    let of_a_room = ROOMS.iter().find_map(|folder| path.strip_prefix(folder));
    let inside = of_a_room.unwrap_or_else(|| path.trim_start_matches("crates/"));
    inside.split('/').next().unwrap().trim_end_matches(".rs")
}

/// Without comments, and without the unit tests at the end of a file.
fn product_text(text: &str) -> String {
    let product = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
    let code = product.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.collect::<Vec<_>>().join("\n")
}

/// Every path behind `crate::`, with grouped imports taken apart: `crate::{a, b::c}` gives `a` and
/// `b::c`.
pub fn named_paths(text: &str, root: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(root) {
        if text[..at]
            .ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
        {
            continue;
        }
        expand("", &text[at + root.len()..], &mut found);
    }
    found
}

fn expand(prefix: &str, text: &str, found: &mut Vec<String>) {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix('{') {
        let (mut depth, mut start) = (0_usize, 0);
        for (at, c) in inner.char_indices() {
            match c {
                '{' => depth += 1,
                ',' if depth == 0 => {
                    expand(prefix, &inner[start..at], found);
                    start = at + 1;
                }
                '}' if depth == 0 => return expand(prefix, &inner[start..at], found),
                '}' => depth -= 1,
                _ => {}
            }
        }
        return;
    }
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if word.is_empty() {
        return;
    }
    let path = if prefix.is_empty() { word.clone() } else { format!("{prefix}::{word}") };
    match text[word.len()..].strip_prefix("::") {
        Some(rest) => expand(&path, rest, found),
        None => found.push(path),
    }
}

pub fn paths_of(source: &Source) -> Vec<String> {
    // A crate's short names for the rooms below it are no arrows; what its files name by them is.
    let roots = if source.path.ends_with("/lib.rs") {
        &["crate::"][..]
    } else {
        &["crate::", "claw_core::"]
    };
    roots.iter().flat_map(|root| named_paths(&source.text, root)).collect()
}

/// The names of the dependencies of ours in a `Cargo.toml`, without those of its tests.
pub fn dependencies_of_ours(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]") && !section.contains("dev-dependencies") {
            let name = line.split(['=', '.', ' ']).next().unwrap();
            if line.contains("path =") || name.starts_with("claw") {
                found.insert(name.trim_start_matches("claw-").to_owned());
            }
        }
    }
    found
}

/// The reader of the arrows is itself held by an example of each form.
#[test]
fn the_reader_sees_every_form() {
    let text = "use crate::{a, b::{c, d::e}};\nlet x = crate::f::g();\nuse not_crate::h;\nuse crate::i::{self, J};";
    assert_eq!(named_paths(text, "crate::"), ["a", "b::c", "b::d::e", "f::g", "i::self", "i::J"]);
    let manifest = "[dependencies]\nclaw-a = { path = \"../a\" }\nclaw-b.workspace = true\nc = \"1\"\n\
        [dev-dependencies]\nclaw-d = { path = \"../d\" }\n[target.'cfg(unix)'.dependencies]\nclaw-e.workspace = true\n";
    assert_eq!(dependencies_of_ours(manifest).into_iter().collect::<Vec<_>>(), ["a", "b", "e"]);
    assert_eq!(product_text("a // crate::b\nc\n#[cfg(test)]\nmod tests {\n d"), "a \nc");
}
