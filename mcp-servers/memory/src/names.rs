//! Which known names stand in a text: subjects, other names and file names of notes that a link
//! leads to or from, what links name, and the words of the thesaurus. Found by Aho-Corasick, in one
//! pass whatever their number. Owns when a name counts; must not know what it leads to.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use rusqlite::Connection;

use crate::args::Limits;
use crate::error::{Result, ToolError};
use crate::folder::Folder;
use crate::index::words::{folded, is_stop_word, joins};
use crate::thesaurus::Thesaurus;

/// So much of a text is looked at, in bytes.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// Names of one text that are followed, the first ones.
pub const MENTIONS_MAX: usize = 8;

/// The longest name that is looked for, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// The names of notes that have neighbours. A note that nothing links to or from has none, so where
/// nobody writes links there is nothing to look for.
const LINKED_NAMES: &str = "
SELECT key FROM links
UNION SELECT name FROM known_names WHERE row IN (SELECT row FROM links)
UNION SELECT name FROM known_names WHERE row IN
    (SELECT row FROM known_names WHERE name IN (SELECT key FROM links))";

/// What can be found, as it was at the last look.
#[derive(Default)]
pub struct Names {
    finder: Option<AhoCorasick>,
    pub thesaurus: Thesaurus,
    /// Names beyond the limit, which are not found.
    pub left_out: u64,
    /// The state of the index that `finder` was made of.
    made_of: Option<(i64, u64)>,
}

/// A name that stands in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// As the text has it, folded.
    pub said: String,
    /// What the thesaurus says that it stands for; empty for a name of a note.
    pub means: Vec<String>,
}

/// All of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    pub found: Vec<Mention>,
    /// Names beyond [`MENTIONS_MAX`].
    pub left_out: u64,
}

impl Names {
    /// Brings it to the index and, if its files may have changed, to the thesaurus. Costs one
    /// look-up where nothing has changed.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn bring_along(
        &mut self,
        db: &Connection,
        folder: &Folder,
        limits: &Limits,
        thesaurus_changed: bool,
    ) -> Result<()> {
        let mut is_new = false;
        if thesaurus_changed {
            let thesaurus = Thesaurus::read(folder, limits)?;
            is_new = thesaurus != self.thesaurus;
            self.thesaurus = thesaurus;
        }
        let version: i64 =
            db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        let now = Some((version, db.total_changes()));
        if !is_new && self.made_of == now {
            return Ok(());
        }
        self.make(db, limits)?;
        self.made_of = now;
        Ok(())
    }

    fn make(&mut self, db: &Connection, limits: &Limits) -> Result<()> {
        let mut names: BTreeSet<String> = self.thesaurus.words().map(str::to_owned).collect();
        let max = usize::try_from(limits.linked_names_max).unwrap_or(usize::MAX);
        let mut statement = db.prepare_cached(LINKED_NAMES)?;
        let mut rows = statement.query([])?;
        (self.left_out, self.finder) = (0, None);
        let mut linked = 0;
        while let Some(row) = rows.next()? {
            let name = folded(row.get_ref(0)?.as_str().unwrap_or_default());
            if !is_telling(&name) {
                continue;
            }
            if linked == max {
                self.left_out += 1;
                continue;
            }
            linked += usize::from(names.insert(name));
        }
        if names.is_empty() {
            return Ok(());
        }
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&names)
            .map_err(|error| {
                ToolError::Refused(format!("the names of the notes cannot be looked for: {error}"))
            })?;
        self.finder = Some(finder);
        Ok(())
    }

    /// The names in a text, each once, in its order. Of names that overlap the longest of the first
    /// counts, and a name counts only as a whole word.
    pub fn mentions(&self, text: &str, role: Option<&str>) -> Mentions {
        let Some(finder) = &self.finder else { return Mentions::default() };
        let text = folded(text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default());
        let mut spans: Vec<(usize, usize)> = finder
            .find_overlapping_iter(&text)
            .map(|found| (found.start(), found.end()))
            .filter(|(start, end)| is_whole(&text, *start, *end))
            .collect();
        spans.sort_by_key(|(start, end)| (*start, usize::MAX - end));
        let mut mentions = Mentions::default();
        let mut behind = 0;
        for (start, end) in spans {
            let said = text.get(start..end).unwrap_or_default();
            if start < behind || mentions.found.iter().any(|mention| mention.said == said) {
                continue;
            }
            behind = end;
            if mentions.found.len() == MENTIONS_MAX {
                mentions.left_out += 1;
                continue;
            }
            let means = self.thesaurus.means(said, role).into_iter().map(str::to_owned).collect();
            mentions.found.push(Mention { said: said.to_owned(), means });
        }
        mentions
    }
}

/// Whether a name says something in a sentence: not one letter, and no word that stands in nearly
/// every sentence.
fn is_telling(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.chars().filter(|c| c.is_alphanumeric()).count() >= 2
        && !is_stop_word(name)
}

fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let (before, rest) = text.split_at(start);
    let (name, after) = rest.split_at(end - start);
    let joined = |one: Option<char>, other: Option<char>| {
        one.zip(other).is_some_and(|(one, other)| joins(one, other))
    };
    // A particle follows a Korean name without a gap.
    let takes_particles = name.ends_with(|c| matches!(c, '\u{ac00}'..='\u{d7a3}'));
    !joined(before.chars().next_back(), name.chars().next())
        && (takes_particles || !joined(name.chars().next_back(), after.chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Names {
        let names: BTreeSet<String> = of.iter().map(|name| folded(name)).collect();
        let finder = AhoCorasick::builder().build(&names).unwrap();
        Names { finder: Some(finder), ..Names::default() }
    }

    fn said(names: &Names, text: &str) -> Vec<String> {
        names.mentions(text, None).found.into_iter().map(|mention| mention.said).collect()
    }

    #[test]
    fn a_name_counts_as_a_whole_word_in_any_case_and_script() {
        let names =
            names(&["Anna", "Anna Maria", "Köln", "北京", "Москва", "안나", "दिल्ली", "C++"]);
        for (text, found) in [
            ("Where does ANNA live?", &["anna"][..]),
            ("Anna's bike, Joanna's and Annabel's", &["anna"]),
            ("anna\n  maria and Anna Mariachi", &["anna maria", "anna"]),
            ("annA_b Anna2", &["anna"]),
            ("KÖLN; in Köln", &["köln"]),
            ("in KO\u{308}LN, as some systems write it", &["köln"]),
            ("她住在北京大学旁边", &["北京"]),
            ("МОСКВА? Москвариум", &["москва"]),
            ("안나는 어디에", &["안나"]),
            ("वह दिल्ली में", &["दिल्ली"]),
            ("दिल्लीवाला", &[]),
            ("c++, C++20", &["c++"]),
            ("Anna\u{301}", &[]),
        ] {
            assert_eq!(said(&names, text), found, "{text}");
        }
    }

    #[test]
    fn a_text_of_many_names_has_a_bound_that_is_said() {
        let many: Vec<String> = (10..30).map(|n| format!("name{n}")).collect();
        let refs: Vec<&str> = many.iter().map(String::as_str).collect();
        let mentions = names(&refs).mentions(&many.join(" "), None);
        assert_eq!((mentions.found.len(), mentions.left_out), (MENTIONS_MAX, 12));
        assert_eq!(mentions.found[0].said, "name10");
    }

    #[test]
    fn words_of_every_sentence_are_no_names() {
        for (name, is) in
            [("the", false), ("x", false), ("!!", false), ("ev", true), ("北京", true)]
        {
            assert_eq!(is_telling(name), is, "{name}");
        }
    }
}
