//! The index: an FTS5 table in memory that parts words and makes stems, and the order in which hits
//! of a request are given. Must not know what a column means, or how well a tool fits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params, params_from_iter};

use crate::clauses::clauses;
use crate::fields::{COLUMNS, columns};
use crate::postings::{Posting, Postings};
use crate::ranking::ranked;
use crate::{Tool, related, words};

/// Hits of the whole request that stand before those of its parts.
const WHOLE_FIRST: usize = 5;
/// Parts of a request that are looked for by themselves, and the words that such a part needs.
const CLAUSES_MAX: usize = 6;
const CLAUSE_WORDS_MIN: usize = 3;
/// SQLite has refused.
#[derive(Debug, thiserror::Error)]
#[error("the index of the tools: {0}")]
pub struct SearchError(#[from] rusqlite::Error);

/// Tools that can be found. A hit is the place of a tool in the list that it was made of.
#[derive(Debug)]
pub struct Index {
    db: Mutex<Connection>,
    tools: usize,
    postings: Postings,
    /// By name in small letters, the offered one and that at the server.
    by_name: BTreeMap<String, Vec<usize>>,
}

impl Index {
    /// # Errors
    /// SQLite refuses: there is no memory.
    pub fn of(tools: &[Tool]) -> Result<Self, SearchError> {
        let db = Connection::open_in_memory()?;
        let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
        let tokens = "tokenize = \"porter unicode61 remove_diacritics 2\"";
        db.execute_batch(&format!(
            "CREATE VIRTUAL TABLE tools USING fts5({}, {tokens});
             CREATE VIRTUAL TABLE in_tools USING fts5vocab(tools, instance);
             CREATE VIRTUAL TABLE request USING fts5(word, {tokens});
             CREATE VIRTUAL TABLE in_request USING fts5vocab(request, instance);",
            names.join(", ")
        ))?;
        let places = vec!["?"; COLUMNS.len() + 1].join(", ");
        db.execute_batch("BEGIN")?;
        let sql = format!("INSERT INTO tools (rowid, {}) VALUES ({places})", names.join(", "));
        let mut by_name = BTreeMap::<String, Vec<usize>>::new();
        for (place, tool) in tools.iter().enumerate() {
            let texts = columns(tool).map(SqlValue::from);
            let row = std::iter::once(SqlValue::from(place as i64)).chain(texts);
            db.prepare_cached(&sql)?.execute(params_from_iter(row))?;
            for name in [&tool.offered, &tool.name].into_iter().filter(|name| !name.is_empty()) {
                let known = by_name.entry(name.to_lowercase()).or_default();
                if !known.contains(&place) {
                    known.push(place);
                }
            }
        }
        db.execute_batch("COMMIT")?;
        let mut groups = Vec::new();
        for group in related::GROUPS {
            groups.push(stems_of(&db, group)?);
        }
        let postings = Postings::read(&db, tools.len(), &groups)?;
        Ok(Self { db: Mutex::new(db), tools: tools.len(), postings, by_name })
    }

    /// The tools that fit a request, the best first. What it calls by name comes first; then what
    /// fits all of it, and then the best for each of its sentences.
    ///
    /// # Errors
    /// SQLite refuses.
    pub fn search(&self, request: &str, limit: usize) -> Result<Vec<usize>, SearchError> {
        let mut hits = Vec::new();
        let mut take = |places: Vec<usize>, max: usize| {
            for place in places {
                if hits.len() < max.min(limit) && !hits.contains(&place) {
                    hits.push(place);
                }
            }
        };
        let named = words::names_in(request).into_iter().filter_map(|name| self.by_name.get(&name));
        let named: BTreeSet<usize> = named.flatten().copied().collect();
        let named: Vec<usize> = named.into_iter().collect();
        let first = named.len() + WHOLE_FIRST;
        take(named, limit);
        let whole = self.fitting(request)?;
        take(whole.clone(), first);
        let parts = clauses(request);
        if parts.len() > 1 {
            let parts =
                parts.into_iter().filter(|part| self.telling(part).len() >= CLAUSE_WORDS_MIN);
            for part in parts.take(CLAUSES_MAX) {
                take(self.fitting(part)?.into_iter().take(1).collect(), limit);
            }
        }
        take(whole, limit);
        Ok(hits)
    }

    fn telling(&self, text: &str) -> Vec<String> {
        let names_server = |word: &str| self.postings.of(word).iter().any(Posting::is_in_server);
        words::telling(text, names_server)
    }

    /// The tools that fit a text, the best first.
    fn fitting(&self, text: &str) -> Result<Vec<usize>, SearchError> {
        let mut stems = {
            let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
            let mut stems = stems_of(&db, &self.telling(text))?;
            let joined = stems_of(&db, &words::joined(text))?;
            stems.extend(joined.into_iter().filter(|stem| !self.postings.of(stem).is_empty()));
            stems
        };
        let mut seen = BTreeSet::new();
        stems.retain(|stem| seen.insert(stem.clone()));
        Ok(ranked(&self.postings, &stems, self.tools))
    }
}

/// The stems of words, as FTS5 makes them.
fn stems_of<T: AsRef<str>>(db: &Connection, words: &[T]) -> Result<Vec<String>, SearchError> {
    db.execute("DELETE FROM request", [])?;
    for (at, word) in words.iter().enumerate() {
        db.prepare_cached("INSERT INTO request (rowid, word) VALUES (?, ?)")?
            .execute(params![at as i64, word.as_ref()])?;
    }
    let mut statement = db.prepare_cached("SELECT term FROM in_request ORDER BY doc")?;
    let stems = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(stems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(server: &str, name: &str, description: &str) -> Tool {
        Tool {
            offered: format!("{server}__{name}"),
            name: name.to_owned(),
            description: description.to_owned(),
            server: server.to_owned(),
            ..Tool::default()
        }
    }

    fn tools() -> Vec<Tool> {
        vec![
            tool("mail", "sendMail", "Sends a message to somebody."),
            tool("calendar", "create_event", "Puts a meeting into the calendar."),
            tool("weather", "forecast", "Says what the weather will be."),
            tool("disk", "search", "Looks for files."),
            Tool {
                input_schema: json!({"properties": {"unit": {"enum": ["celsius", "fahrenheit"]}}}),
                ..tool("units", "convert", "Converts between units.")
            },
        ]
    }

    #[test]
    fn a_request_finds_by_name_description_parameters_and_server() {
        let index = Index::of(&tools()).unwrap();
        let first = |request: &str| index.search(request, 3).unwrap().first().copied();
        assert_eq!(first("please send mails to Ann"), Some(0), "a name in camelCase, by its stem");
        assert_eq!(first("what meetings are there"), Some(1));
        assert_eq!(first("5 degrees fahrenheit"), Some(4), "one of its choices");
        assert_eq!(first("disk"), Some(3), "its server");
        assert_eq!(first("zzz"), None);
    }

    #[test]
    fn an_exact_name_is_the_first_hit_and_a_plain_word_is_no_name() {
        let index = Index::of(&tools()).unwrap();
        for (place, tool) in tools().iter().enumerate() {
            assert_eq!(index.search(&tool.offered, 1).unwrap(), [place]);
            assert_eq!(index.search(&tool.name, 1).unwrap(), [place]);
        }
        let hits = index.search("search the weather forecast for tomorrow", 5).unwrap();
        assert_eq!(hits.first(), Some(&2), "`search` is a word of this request, and no name");
    }

    #[test]
    fn a_number_that_names_a_server_finds_its_tools() {
        let servers: Vec<String> = (0..40).map(|number| format!("server-{number:02}")).collect();
        let echo = |server: &String| tool(server, "echo", "Says it again.");
        let index = Index::of(&servers.iter().map(echo).collect::<Vec<_>>()).unwrap();
        assert_eq!(index.search("echo server 17", 3).unwrap().first(), Some(&17));
    }

    #[test]
    fn each_sentence_of_a_request_gets_its_tool() {
        let mut many = tools();
        many.extend(
            (0..20)
                .map(|n| tool("weather", &format!("weather_{n}"), "Tells the weather of a city.")),
        );
        let index = Index::of(&many).unwrap();
        let request = "Tell me the weather of the city, the weather of that city and the city's weather. \
            Then put a meeting into the calendar.";
        assert!(index.search(request, 8).unwrap().contains(&1));
    }

    #[test]
    fn words_of_the_same_meaning_or_family_find_a_tool_behind_the_word_itself() {
        let mut many = tools();
        many.push(tool("calc", "multiply", "Takes two numbers."));
        let first = |index: &Index, request: &str| index.search(request, 1).unwrap();
        let index = Index::of(&many).unwrap();
        assert_eq!(first(&index, "put an appointment"), [1], "it says meeting");
        assert_eq!(first(&index, "a multiplication"), [5], "another stem");
        many.push(tool("desk", "appointment", "Opens the diary."));
        let index = Index::of(&many).unwrap();
        assert_eq!(first(&index, "an appointment"), [6], "the word itself comes first");
    }

    #[test]
    fn a_word_with_a_hyphen_finds_the_word_without_it() {
        let mut many = tools();
        many.push(tool("list", "todo", "Keeps what is open."));
        let index = Index::of(&many).unwrap();
        assert_eq!(index.search("my to-do", 1).unwrap(), [5]);
    }

    #[test]
    fn a_tool_that_explains_its_parameters_does_not_fall_behind() {
        let named = |name: &str, about: &str| Tool {
            input_schema: json!({"properties": {"x": {"description": about}}}),
            ..tool("", name, "Tells the tide.")
        };
        let long = "The number of hours that are looked at before and after the given time. ";
        let many = [named("tide_long", &long.repeat(8)), named("tide_brief", "")];
        let index = Index::of(&many).unwrap();
        assert_eq!(index.search("tide", 2).unwrap(), [0, 1], "equals stand in their own order");
    }

    #[test]
    fn no_text_is_an_order_to_the_index() {
        let index = Index::of(&tools()).unwrap();
        for text in
            ["\"", "a\" OR \"b", "name:x AND NOT (y*)", "NEAR(a b)", "\0", "天気", "é\u{301}"]
        {
            index.search(text, 5).unwrap();
        }
        assert_eq!(Index::of(&[]).unwrap().search("mail", 5).unwrap(), [0; 0]);
    }
}
