//! Which notes of a large index are ranked at all: those with the rare words of a question, because
//! ranking a note costs a microsecond and a frequent word stands in thousands. Owns that choice;
//! must not know how a note is ranked. Small indexes are always ranked as a whole.

use crate::holders::{Holders, ROWS_MAX};
use crate::index::words::any_of;

/// So many times the hits that are wanted have to be among them.
const HITS_FACTOR: usize = 4;

/// An expression for `MATCH` that finds fewer notes, or `None` if all that hold a word are ranked.
///
/// It is `(rare) AND (all)`. A frequent word counts for little beside a rare one, and all words of
/// a note that is found count, the rare ones twice. As far as the rare words allow, [`ROWS_MAX`]
/// notes are ranked. A word that stands in every other note is left out: FTS5 gives nothing for it,
/// and counts its notes all the same, which takes longer than all else.
pub fn expression(notes: usize, holders: &[Holders], wanted: usize) -> Option<String> {
    if holders.len() < 2 || notes <= ROWS_MAX {
        return None;
    }
    let mut counted: Vec<&Holders> = holders.iter().collect();
    counted.sort_by_key(|one| one.rows.len());
    let enough = wanted.saturating_mul(HITS_FACTOR);
    let (mut sum, mut rare) = (0, Vec::new());
    for one in counted {
        if sum >= enough && sum + one.rows.len() > ROWS_MAX {
            break;
        }
        sum += one.rows.len();
        rare.push(one.word.clone());
    }
    if rare.len() == holders.len() {
        return None;
    }
    let counts = |one: &&Holders| !one.is_in_every_other() || rare.contains(&one.word);
    let all: Vec<String> = holders.iter().filter(counts).map(|one| one.word.clone()).collect();
    any_of(&rare).zip(any_of(&all)).map(|(rare, all)| format!("({rare}) AND ({all})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use crate::index::words::Query;
    use crate::memory::Memory;
    use crate::note::Kind;
    use crate::recall::{Question, hits};

    #[test]
    fn a_large_index_is_ranked_by_its_rare_words_and_no_hit_is_missing_for_it() {
        let temp = tempfile::tempdir().unwrap();
        let notes = temp.path().join("memory");
        std::fs::create_dir(&notes).unwrap();
        for n in 0..ROWS_MAX + 100 {
            let (kind, rare) = if n % 50 == 7 { ("person", " boiler") } else { ("fact", "") };
            let text = format!("---\nid: n{n}\nkind: {kind}\n---\nhouse garden{rare}\n");
            std::fs::write(notes.join(format!("n{n}.md")), text).unwrap();
        }
        let memory = Memory::open(&Args { notes: Some(notes), ..Args::default() }).unwrap();
        let db = &memory.index.db;
        let words = Query::of("the boiler of the house in the garden");
        let of = |words: &[&str], wanted| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let notes = crate::holders::notes(db).unwrap();
            expression(notes, &Holders::of(db, &words).unwrap(), wanted)
        };
        let narrow = of(&["boiler", "house", "garden"], 5).unwrap();
        assert_eq!(narrow, "(\"boiler\") AND (\"boiler\")", "the others stand in all notes");
        let question = Question { words, limit: 5, ..Question::default() };
        let found = hits(db, &question).unwrap();
        assert!(found.len() == 5 && found.iter().all(|hit| hit.entry.note.body.contains("boiler")));
        // Where filters leave none of these, all others are looked at.
        let question = Question { kind: Some(Kind::Fact), ..question };
        assert_eq!(hits(db, &question).unwrap().len(), 5);
        let question = Question { limit: 40, kind: None, ..question };
        assert_eq!(hits(db, &question).unwrap().len(), 40);
        // One word, or a small part of the notes: as before.
        assert_eq!(of(&["house"], 5), None);
        assert_eq!(of(&["boiler", "x"], 5), None);
    }
}
