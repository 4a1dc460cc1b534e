//! How SQLite finds the rows of every query of a crate: no look at a table that grows walks through
//! all of it, but for those that the crate names with the reason. The statements are read from the
//! sources, so that none can be forgotten. Must not know the tables.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;

/// Files and folders that hold statements of no query: the tables themselves, and tests.
const SKIPPED: [&str; 7] =
    ["any_query.rs", "migrate", "plans.rs", "schema", "schema.rs", "tests", "tests.rs"];

/// What a statement begins with.
const VERBS: [&str; 5] = ["SELECT", "UPDATE", "DELETE", "INSERT", "WITH"];

/// What a crate says of its tables and queries. Whatever is named and met by no query is too much.
pub struct Plans<'a> {
    /// Tables that stay small, whatever happens, and why.
    pub little: &'a [(&'a str, &'a str)],
    /// Indexes that hold only what is under way.
    pub small: &'a [&'a str],
    /// Beginnings of the queries that walk through a table, and why they may. One with a `;` at its
    /// end is the whole query.
    pub walks: &'a [(&'a str, &'a str)],
    /// What stands for the placeholders of texts that are put together.
    pub parts: &'a [(&'a str, &'a [&'a str])],
}

impl Plans<'_> {
    /// Looks at every statement in the sources of a folder, which are at least so many.
    pub fn hold(&self, db: &Connection, sources: &Path, at_least: usize) {
        let statements = statements(sources);
        let count = statements.len();
        assert!(count >= at_least, "the sources hold more statements: {count}");
        let used = RefCell::new(BTreeSet::new());
        let mut wrong = Vec::new();
        for (file, statement) in &statements {
            let named = self.walks.iter().find(|(begins, _)| match begins.strip_suffix(';') {
                Some(whole) => statement == whole,
                None => statement.starts_with(begins),
            });
            if let Some((begins, _)) = named {
                used.borrow_mut().insert((*begins).to_owned());
                continue;
            }
            for sql in self.put_together(statement) {
                let found = self.walked(db, &sql, &used);
                if !found.is_empty() {
                    wrong.push(format!("{file}: {sql}\n    {found:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "these read a whole table:\n{}", wrong.join("\n"));
        let named = self.little.iter().chain(self.walks).map(|(name, _)| *name);
        let unused: Vec<&str> = named
            .chain(self.small.iter().copied())
            .filter(|name| !used.borrow().contains(*name))
            .collect();
        assert!(unused.is_empty(), "no query needs these any more: {unused:#?}");
    }

    /// The same statement with every part that can stand in it.
    fn put_together(&self, statement: &str) -> Vec<String> {
        let mut all = vec![statement.to_owned()];
        for (part, texts) in self.parts.iter().rev() {
            all = all
                .into_iter()
                .flat_map(|sql| {
                    if sql.contains(part) {
                        texts.iter().map(|text| sql.replace(part, text)).collect()
                    } else {
                        vec![sql]
                    }
                })
                .collect();
        }
        all
    }

    /// The steps of a plan that walk through a growing table. Notes the little ones in `used`.
    fn walked(&self, db: &Connection, sql: &str, used: &RefCell<BTreeSet<String>>) -> Vec<String> {
        let may = |step: &String| {
            let Some(walked) = step.strip_prefix("SCAN ") else { return true };
            let table = walked.split(' ').next().unwrap_or_default();
            let small = self.small.iter().find(|index| step.ends_with(&format!("INDEX {index}")));
            let little = self.little.iter().map(|(name, _)| name).find(|little| **little == table);
            if let Some(name) = small.or(little) {
                used.borrow_mut().insert((*name).to_owned());
                return true;
            }
            // What a statement itself has put together, has no table for, or finds by words.
            let by_words = step.split_once("VIRTUAL TABLE INDEX 0:");
            walked.starts_with('(')
                || table == "CONSTANT"
                || by_words.is_some_and(|(_, words)| !words.is_empty())
        };
        plan(db, sql).into_iter().filter(|step| !may(step)).collect()
    }
}

/// The steps by which SQLite would carry a statement out.
fn plan(db: &Connection, sql: &str) -> Vec<String> {
    let explained = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"));
    let mut query = explained.unwrap_or_else(|error| panic!("{error}: {sql}"));
    query.raw_query().mapped(|row| row.get::<_, String>(3)).map(Result::unwrap).collect()
}

/// Every text in the sources of a folder that is a statement about rows, with its file.
fn statements(sources: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(sources).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            found.extend(statements(&path));
        } else if name.ends_with(".rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            found.extend(of_rows(code).map(|statement| (name.clone(), statement)));
        }
    }
    found
}

fn of_rows(code: &str) -> impl Iterator<Item = String> {
    let literals = literals(code).into_iter();
    let plain = literals.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    plain.filter(|text| text.split_once(' ').is_some_and(|(verb, _)| VERBS.contains(&verb)))
}

/// The texts in quotes, outside of comments.
fn literals(code: &str) -> Vec<String> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let rest = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "' '");
    let mut found = Vec::new();
    let mut chars = rest.chars();
    while chars.by_ref().any(|c| c == '"') {
        let mut text = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => text.extend(chars.next().filter(|next| *next != '\n')),
                other => text.push(other),
            }
        }
        found.push(text);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Plans<'_> = Plans {
        little: &[("settings", "a few")],
        small: &["notes_open"],
        walks: &[("SELECT text FROM notes", "once a day")],
        parts: &[("{which}", &["id = ?1", "at = ?1"])],
    };

    fn db() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "CREATE TABLE notes(id INTEGER PRIMARY KEY, at INTEGER, open INTEGER, text TEXT);
             CREATE INDEX notes_open ON notes(open) WHERE open;
             CREATE TABLE settings(name TEXT);",
        )
        .unwrap();
        db
    }

    fn walked(sql: &str) -> usize {
        ALL.walked(&db(), sql, &RefCell::default()).len()
    }

    #[test]
    fn a_query_without_an_index_is_named() {
        assert_eq!(walked("SELECT id FROM notes WHERE at = ?1"), 1);
        assert_eq!(walked("SELECT id FROM notes WHERE id = ?1"), 0);
        assert_eq!(walked("SELECT at FROM notes WHERE open"), 0);
        assert_eq!(walked("SELECT name FROM settings"), 0);
        assert_eq!(walked("WITH old AS (SELECT * FROM notes WHERE at < 1) SELECT * FROM old"), 1);
    }

    fn in_a_folder(code: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("deep/tests")).unwrap();
        std::fs::write(dir.path().join("deep/a.rs"), code).unwrap();
        std::fs::write(dir.path().join("deep/tests/b.rs"), "\"SELECT nothing\"").unwrap();
        dir
    }

    #[test]
    fn statements_are_found_in_every_folder_but_those_of_tests() {
        let dir = in_a_folder("a(\"SELECT \\\n    1\", '\"') // \"no\"\nb(\"WITH x AS (y)\")");
        let found = statements(dir.path());
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["SELECT 1", "WITH x AS (y)"]);
    }

    const USED: &str = "\"SELECT text FROM notes\" \"SELECT name FROM settings\" \"SELECT at FROM notes WHERE open\"";

    #[test]
    fn what_is_named_and_needed_holds() {
        let dir = in_a_folder(USED);
        ALL.hold(&db(), dir.path(), 3);
    }

    #[test]
    #[should_panic(expected = "at = ?1")]
    fn a_part_that_makes_a_statement_walk_does_not_hold() {
        let dir = in_a_folder(&format!("{USED} \"DELETE FROM notes WHERE {{which}}\""));
        ALL.hold(&db(), dir.path(), 3);
    }

    #[test]
    #[should_panic(expected = "any more")]
    fn a_reason_that_nothing_needs_does_not_hold() {
        let dir = in_a_folder("\"SELECT name FROM settings\"");
        ALL.hold(&db(), dir.path(), 1);
    }
}
