//! How wide comments and prose are. Reads them as text, from the sources and the papers. Must not
//! know what they say.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sources::{relative, root, rust_files};

const COLUMNS: usize = 100;

/// Where papers lie beside the folders of crates.
const PAPERS: [&str; 4] = [".", "docs", "packaging", "examples"];

#[test]
fn comments_and_prose_are_at_most_100_columns_wide() {
    let mut sources = Vec::new();
    for folder in ["src", "crates", "doors", "mcp-servers", "tests", "benches", "examples"] {
        rust_files(&root().join(folder), &mut sources);
    }
    let mut wrong = Vec::new();
    for file in &sources {
        wrong.extend(wide(file, |line, _| line.trim_start().starts_with("//")));
    }
    let servers = fs::read_dir(root().join("mcp-servers")).unwrap();
    let folders = servers.map(|entry| entry.unwrap().path());
    let folders = folders.chain(PAPERS.map(|folder| root().join(folder)));
    let papers: Vec<PathBuf> = folders.flat_map(|folder| papers_in(&folder)).collect();
    assert!(papers.len() > 30, "only {} papers were found", papers.len());
    for file in &papers {
        // A row of a table is one line, whatever it holds.
        wrong.extend(wide(file, |line, in_code| !in_code && !line.starts_with('|')));
    }
    assert!(wrong.is_empty(), "{} lines are too wide:\n{}", wrong.len(), wrong.join("\n"));
}

fn papers_in(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The lines of a file that are too wide, of those that are looked at. What is looked at is told
/// whether a line stands in a block of code. An address cannot be broken.
fn wide(file: &Path, is_looked_at: impl Fn(&str, bool) -> bool) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let (mut found, mut in_code) = (Vec::new(), false);
    for (index, line) in text.lines().enumerate() {
        in_code ^= line.trim_start().starts_with("```");
        let columns = line.chars().count();
        if columns > COLUMNS && !line.contains("://") && is_looked_at(line, in_code) {
            found.push(format!("{}:{}: {columns}", relative(file), index + 1));
        }
    }
    found
}
