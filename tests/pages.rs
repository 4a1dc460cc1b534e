//! The pages of the manual, and their parts for other tests: every link leads to a file that is
//! there, and every anchor to a heading of it. Must not know what a page says.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every page that a person may read, by its path in the repository.
fn pages() -> BTreeMap<PathBuf, String> {
    let root = claw_test_kit::root();
    let mut pages = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !["target", "dist", "node_modules"].contains(&&*name) {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                let text = fs::read_to_string(&path).unwrap();
                pages.insert(path.strip_prefix(root).unwrap().to_owned(), text);
            }
        }
    }
    pages
}

/// Pages of `docs/` that are not for users.
pub const DEVELOPERS: [&str; 2] = ["architecture", "benchmarks"];

/// The README and the manual.
pub fn pages_for_users() -> Vec<(String, String)> {
    let is_for_users = |path: &Path| {
        let name = path.file_stem().unwrap().to_string_lossy();
        path == Path::new("README.md")
            || path.parent() == Some(Path::new("docs")) && !DEVELOPERS.contains(&&*name)
    };
    let all = pages().into_iter().filter(|(path, _)| is_for_users(path));
    all.map(|(path, text)| (path.display().to_string(), text)).collect()
}

/// The lines of the blocks of code in one language.
pub fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut open = None;
    let mut lines = Vec::new();
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), &open) {
            (Some(named), None) => open = Some(named.to_owned()),
            (Some(_), Some(_)) => open = None,
            (None, Some(named)) if named == language => lines.push(line.to_owned()),
            (None, _) => {}
        }
    }
    lines
}

/// What stands in code between other words.
pub fn spans(page: &str) -> Vec<String> {
    let code = regex::Regex::new(r"`([^`]+)`").unwrap();
    let text = prose(page);
    let clean = |found: regex::Captures<'_>| {
        found[1].replace("\\|", "|").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    code.captures_iter(&text).map(clean).collect()
}

/// A page without its blocks of code.
fn prose(page: &str) -> String {
    let mut fenced = false;
    let mut kept = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The anchors of a page, as GitHub makes them of its headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for heading in prose(page).lines().filter(|line| line.starts_with('#')) {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let mut free = anchor.clone();
        for number in 1.. {
            if anchors.insert(free) {
                break;
            }
            free = format!("{anchor}-{number}");
        }
    }
    anchors
}

/// The targets of the links and pictures of a page.
fn links(page: &str) -> Vec<String> {
    let link = regex::Regex::new(r#"(?:\]\(|<img src=")([^)"\s]+)[)"]"#).unwrap();
    let code = regex::Regex::new(r"`[^`\n]*`").unwrap();
    let prose = prose(page);
    let prose = code.replace_all(&prose, "");
    link.captures_iter(&prose).map(|found| found[1].to_owned()).collect()
}

#[test]
fn every_link_of_the_manual_leads_somewhere() {
    let pages = pages();
    let root = claw_test_kit::root();
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, page) in &pages {
        for link in links(page) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() {
                path.clone()
            } else {
                let mut target = PathBuf::new();
                for part in path.parent().unwrap().join(file).components() {
                    match part {
                        std::path::Component::ParentDir => drop(target.pop()),
                        part => target.push(part),
                    }
                }
                target
            };
            if !root.join(&target).exists() {
                wrong.push(format!("{}: {link} is not there", path.display()));
            } else if !anchor.is_empty()
                && !pages.get(&target).is_some_and(|page| anchors(page).contains(anchor))
            {
                wrong.push(format!("{}: {link} has no such heading", path.display()));
            }
        }
    }
    assert!(seen > 150, "only {seen} links were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
