//! The thesaurus: which word of a message stands for which name, in Markdown beside the notes
//! (`sis → Anna` in `thesaurus.md`, and in `thesaurus.ROLE.md` for one role). Owns what a line
//! means and how much is read; must not know the index, or what a name leads to.

use std::collections::BTreeMap;

use crate::args::Limits;
use crate::error::{Result, ToolError, why};
use crate::folder::{Content, Folder, thesaurus_role};
use crate::index::words::folded;
use crate::note::{front, one_line};

/// The longest word or name of a line, in bytes.
const TERM_BYTES_MAX: usize = 200;

/// Files of roles that are read, the first by name. The others are named by a check.
const FILES_MAX: usize = 64;

/// Faults that a check names; the others are counted.
const FAULTS_NAMED_MAX: usize = 20;

/// What the files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thesaurus {
    /// By the folded word.
    terms: BTreeMap<String, Vec<Meaning>>,
    /// How many lines of the files mean something.
    lines: u64,
    /// What could not be used, one sentence each.
    pub faults: Vec<String>,
}

/// The name that a word stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Meaning {
    /// `None` for every role.
    role: Option<String>,
    term: String,
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    /// A heading, a quotation, a rule, or nothing.
    Nothing,
    Means {
        words: Vec<&'a str>,
        term: &'a str,
    },
    /// Half a sentence: why it means nothing.
    Odd(&'static str),
}

impl Thesaurus {
    /// Reads the files at the top of the folder. What is wrong in one is a fault and no error.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn read(folder: &Folder, limits: &Limits) -> Result<Self> {
        let mut all = Self::default();
        let files =
            folder.thesauri().map_err(|error| ToolError::io("read", "the notes", &error))?;
        for (at, path) in files.iter().enumerate() {
            if at >= FILES_MAX {
                all.faults.push(format!(
                    "{path}: it is the thesaurus number {} and not read; at most {FILES_MAX} are",
                    at + 1
                ));
                continue;
            }
            let read = folder.read(path, limits.thesaurus_bytes_max);
            match read.map_err(|error| ToolError::io("read", path.as_str(), &error))? {
                // Gone since it was listed.
                None => {}
                Some((_, Content::Text(bytes))) => match String::from_utf8(bytes) {
                    Ok(text) => all.take(path, &text, limits),
                    Err(_) => all.faults.push(format!("{path}: it is not UTF-8 text; none of it is used")),
                },
                Some((_, Content::TooLarge(bytes))) => all.faults.push(format!(
                    "{path}: it has {bytes} bytes, and a thesaurus may have {} ({}); none of it is used",
                    limits.thesaurus_bytes_max,
                    limits.named("--thesaurus-bytes-max")
                )),
                Some((_, Content::Unreadable(error))) => {
                    all.faults.push(format!("{path}: it cannot be read: {}", why(&error)));
                }
            }
        }
        let more = all.faults.len().saturating_sub(FAULTS_NAMED_MAX);
        if more > 0 {
            all.faults.truncate(FAULTS_NAMED_MAX);
            all.faults.push(match more {
                1 => "1 more line of the thesaurus is not understood".to_owned(),
                _ => format!("{more} more lines of the thesaurus are not understood"),
            });
        }
        Ok(all)
    }

    fn take(&mut self, path: &str, text: &str, limits: &Limits) {
        let terms_max = limits.thesaurus_terms_max;
        let role = thesaurus_role(path).map(str::to_owned);
        let body = front::split(text).body;
        let before = text.len() - body.len();
        let first = text.get(..before).unwrap_or_default().matches('\n').count() + 1;
        let mut is_comment = false;
        let mut left_out = 0_u64;
        for (number, line) in (first..).zip(body.lines()) {
            if is_comment || line.trim_start().starts_with("<!--") {
                is_comment = !line.contains("-->");
                continue;
            }
            match meaning(line) {
                Line::Nothing => {}
                Line::Odd(why) => self.faults.push(format!(
                    "{path}, line {number}: {why}. It is passed over; write `word → name`, such as `sis → Anna`"
                )),
                Line::Means { .. } if self.lines >= terms_max => left_out += 1,
                Line::Means { words, term } => {
                    self.lines += 1;
                    self.put(&words, term, role.as_deref());
                }
            }
        }
        if left_out > 0 {
            let are = if left_out == 1 { "is" } else { "are" };
            self.faults.push(format!(
                "{path}: {left_out} of its lines {are} not used, because all thesauri together may have {terms_max} ({})",
                limits.named("--thesaurus-terms-max")
            ));
        }
    }

    fn put(&mut self, words: &[&str], term: &str, role: Option<&str>) {
        let meaning = Meaning { role: role.map(str::to_owned), term: one_line(term) };
        for word in words {
            let meanings = self.terms.entry(folded(word)).or_default();
            if !meanings.contains(&meaning) {
                meanings.push(meaning.clone());
            }
        }
    }

    /// The words that stand for something, folded.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.terms.keys().map(String::as_str)
    }

    /// What a folded word stands for in this role; what its own thesaurus says comes first.
    pub fn means(&self, word: &str, role: Option<&str>) -> Vec<&str> {
        let meanings = self.terms.get(word).into_iter().flatten();
        let mut means: Vec<&Meaning> = meanings
            .filter(|meaning| meaning.role.is_none() || is_same(meaning.role.as_deref(), role))
            .collect();
        means.sort_by_key(|meaning| meaning.role.is_none());
        means.into_iter().map(|meaning| meaning.term.as_str()).collect()
    }
}

/// Some file systems do not tell large letters from small ones.
fn is_same(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.eq_ignore_ascii_case(other))
}

fn meaning(line: &str) -> Line<'_> {
    let line = line.trim();
    let is_rule = line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '*' | '_' | '='));
    if line.is_empty() || line.starts_with(['#', '>', '|']) || is_rule {
        return Line::Nothing;
    }
    let entry = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let found = ["→", "->", "=>"].iter().find_map(|arrow| entry.split_once(arrow));
    let Some((words, term)) = found else { return Line::Odd("there is no arrow in it") };
    let term = name(term);
    let words: Vec<&str> = words.split(',').map(name).filter(|word| !word.is_empty()).collect();
    match () {
        () if words.is_empty() => Line::Odd("no word stands before the arrow"),
        () if term.is_empty() => Line::Odd("no name stands behind the arrow"),
        () if ["→", "->", "=>"].iter().any(|arrow| term.contains(arrow)) => {
            Line::Odd("it has more than one arrow")
        }
        () if words.iter().chain([&term]).any(|text| text.len() > TERM_BYTES_MAX) => {
            Line::Odd("a word or a name in it is longer than 200 bytes")
        }
        () => Line::Means { words, term },
    }
}

/// Without the brackets of a link and the marks of code and of bold text.
fn name(text: &str) -> &str {
    let text = text.trim().trim_matches(['*', '`', '"']).trim();
    let inside = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]")).unwrap_or(text);
    inside.split(['|', '#']).next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)], limits: &Limits) -> Thesaurus {
        let temp = tempfile::tempdir().unwrap();
        for (path, text) in files {
            std::fs::write(temp.path().join(path), text).unwrap();
        }
        Thesaurus::read(&Folder::open(temp.path()).unwrap(), limits).unwrap()
    }

    #[test]
    fn lines_are_read_as_people_write_them_and_a_role_has_its_own() {
        let all = read(
            &[
                (
                    "thesaurus.md",
                    "---\nx: 1\n---\n# Family\n\n- sis, Big  Sister → [[Anna|A]]\n- 姐姐 -> Anna\n\n> a note\n",
                ),
                ("thesaurus.coder.md", "crab => Rust\nsis → Sisyphus\n"),
            ],
            &Limits::default(),
        );
        assert_eq!(all.faults, Vec::<String>::new());
        assert_eq!(all.means("sis", None), ["Anna"]);
        assert_eq!(all.means("big sister", Some("tutor")), ["Anna"]);
        assert_eq!(all.means("姐姐", None), ["Anna"]);
        assert_eq!(all.means("sis", Some("Coder")), ["Sisyphus", "Anna"]);
        assert!(all.means("crab", None).is_empty());
    }

    #[test]
    fn a_line_that_means_nothing_is_one_sentence_and_loses_no_other() {
        let text =
            "---\na: b\n---\nsis Anna\n→ Anna\nbro →\na → b → c\n<!-- two\nlines -->\nmum → Eve\n";
        let all = read(&[("thesaurus.md", text)], &Limits::default());
        assert_eq!(all.means("mum", None), ["Eve"]);
        assert_eq!(all.faults.len(), 4, "{:?}", all.faults);
        assert_eq!(
            all.faults[0],
            "thesaurus.md, line 4: there is no arrow in it. It is passed over; write `word → name`, such as `sis → Anna`"
        );
        assert!(all.faults[2].starts_with("thesaurus.md, line 6: no name stands behind"));
    }

    #[test]
    fn what_is_too_much_is_said() {
        let limits =
            Limits { thesaurus_bytes_max: 100, thesaurus_terms_max: 2, ..Limits::default() };
        let long = "a → b\n".repeat(100);
        let all = read(&[("thesaurus.md", "a→x\nb→y\nc→z\n"), ("thesaurus.r.md", &long)], &limits);
        assert_eq!((all.means("b", None), all.means("c", None).len()), (vec!["y"], 0));
        assert!(
            all.faults[0].contains("1 of its lines is") && all.faults[0].contains("may have 2")
        );
        assert!(all.faults[1].contains("thesaurus.r.md: it has"), "{:?}", all.faults);
    }
}
