//! Which notes of a large index are ranked at all: those with the rare words of a question, because
//! ranking a note costs a microsecond and a frequent word stands in thousands. Owns that choice; must
//! not know how a note is ranked. Small indexes are always ranked as a whole.

use rusqlite::{Connection, params};

use crate::index::words::any_of;

/// Notes that are ranked for one question, as far as its rare words allow.
const RANKED_MAX: usize = 1_000;

/// So many times the hits that are wanted have to be among them.
const HITS_FACTOR: usize = 4;

/// An expression for `MATCH` that finds fewer notes, or `None` if all that hold a word are ranked.
///
/// It is `(rare) AND (all)`. A frequent word counts for little beside a rare one, and all words of a
/// note that is found count, the rare ones twice.
///
/// # Errors
/// SQLite refuses.
pub fn expression(
    db: &Connection,
    words: &[String],
    wanted: usize,
) -> rusqlite::Result<Option<String>> {
    let notes: Option<i64> =
        db.prepare_cached("SELECT max(row) FROM notes")?.query_row([], |row| row.get(0))?;
    if words.len() < 2 || notes.unwrap_or_default() <= RANKED_MAX as i64 {
        return Ok(None);
    }
    let mut counted = Vec::new();
    for word in words {
        counted.push((holding(db, word)?, word.clone()));
    }
    counted.sort_by_key(|(notes, _)| *notes);
    let enough = wanted.saturating_mul(HITS_FACTOR);
    let (mut sum, mut rare) = (0, Vec::new());
    for (notes, word) in counted {
        if sum >= enough && sum + notes > RANKED_MAX {
            break;
        }
        sum += notes;
        rare.push(word);
    }
    if rare.len() == words.len() {
        return Ok(None);
    }
    Ok(any_of(&rare).zip(any_of(words)).map(|(rare, all)| format!("({rare}) AND ({all})")))
}

/// How many notes hold a word, counted up to one more than are ranked.
fn holding(db: &Connection, word: &String) -> rusqlite::Result<usize> {
    let count: i64 = db
        .prepare_cached(
            "SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH ?1 LIMIT ?2)",
        )?
        .query_row(params![any_of(std::slice::from_ref(word)), RANKED_MAX as i64 + 1], |row| {
            row.get(0)
        })?;
    Ok(usize::try_from(count).unwrap_or_default())
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
        for n in 0..RANKED_MAX + 100 {
            let (kind, rare) = if n % 50 == 7 { ("person", " boiler") } else { ("fact", "") };
            let text = format!("---\nid: n{n}\nkind: {kind}\n---\nhouse garden{rare}\n");
            std::fs::write(notes.join(format!("n{n}.md")), text).unwrap();
        }
        let memory = Memory::open(&Args { notes: Some(notes), ..Args::default() }).unwrap();
        let db = &memory.index.db;
        let words = Query::of("the boiler of the house in the garden");
        let narrow = expression(db, &words.words, 5).unwrap().unwrap();
        assert!(narrow.starts_with("(\"boiler\") AND ("), "{narrow}");
        let question = Question { words, limit: 5, ..Question::default() };
        let found = hits(db, &question).unwrap();
        assert!(found.len() == 5 && found.iter().all(|hit| hit.entry.note.body.contains("boiler")));
        // Where filters leave none of these, all others are looked at.
        let question = Question { kind: Some(Kind::Fact), ..question };
        assert_eq!(hits(db, &question).unwrap().len(), 5);
        let question = Question { limit: 40, kind: None, ..question };
        assert_eq!(hits(db, &question).unwrap().len(), 40);
        // One word, or a small part of the notes: as before.
        assert_eq!(expression(db, &["house".to_owned()], 5).unwrap(), None);
        assert_eq!(expression(db, &["boiler".to_owned(), "x".to_owned()], 5).unwrap(), None);
    }
}
