//! The index: an FTS5 table in memory, and what stands beside it for the order of hits. Must not know
//! what a column means.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params, params_from_iter};

use crate::clauses::clauses;
use crate::fields::{COLUMNS, COVERING, SERVER, columns};
use crate::{Tool, words};

/// Hits of FTS5 that are put in order.
const CANDIDATES: usize = 80;
/// Hits of the whole request that stand before those of its parts.
const WHOLE_FIRST: usize = 5;
/// Parts of a request that are looked for by themselves, and the words that such a part needs.
const CLAUSES_MAX: usize = 6;
const CLAUSE_WORDS_MIN: usize = 3;
/// How much a name counts that the request holds whole, and a request that a tool holds whole.
const NAME_SHARE: f64 = 0.3;
const REQUEST_SHARE: f64 = 1.0;

/// SQLite has refused.
#[derive(Debug, thiserror::Error)]
#[error("the index of the tools: {0}")]
pub struct SearchError(#[from] rusqlite::Error);

/// Tools that can be found. A hit is the place of a tool in the list that it was made of.
#[derive(Debug)]
pub struct Index {
    db: Mutex<Connection>,
    /// By stem: the tools whose columns hold it, with a bit for each column.
    stems: HashMap<String, Vec<(usize, u16)>>,
    /// By tool: what all words of its name weigh.
    names_weigh: Vec<f64>,
    /// By name in small letters, the offered one and that at the server.
    by_name: BTreeMap<String, Vec<usize>>,
}

/// A word of a request and its stem, by which FTS5 finds it.
struct Word {
    word: String,
    stem: String,
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
        let stems = stems_of(&db)?;
        let mut index =
            Self { db: Mutex::new(db), stems, names_weigh: vec![0.0; tools.len()], by_name };
        index.weigh_names();
        Ok(index)
    }

    fn weigh_names(&mut self) {
        let mut weigh = vec![0.0; self.names_weigh.len()];
        for (stem, held) in &self.stems {
            let weight = self.weight(stem);
            for (place, _) in held.iter().filter(|(_, columns)| columns & 1 == 1) {
                if let Some(sum) = weigh.get_mut(*place) {
                    *sum += weight;
                }
            }
        }
        self.names_weigh = weigh;
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
        let whole = self.ranked(&self.telling(request))?;
        take(whole.clone(), first);
        let parts: Vec<Vec<String>> =
            clauses(request).into_iter().map(|part| self.telling(part)).collect();
        if parts.len() > 1 {
            let parts = parts.iter().filter(|part| part.len() >= CLAUSE_WORDS_MIN);
            for part in parts.take(CLAUSES_MAX) {
                take(self.ranked(part)?.into_iter().take(1).collect(), limit);
            }
        }
        take(whole, limit);
        Ok(hits)
    }

    fn telling(&self, text: &str) -> Vec<String> {
        let names_server = |word: &str| {
            let held = self.stems.get(word).into_iter().flatten();
            held.into_iter().any(|(_, columns)| columns & (1 << SERVER) != 0)
        };
        words::telling(text, names_server)
    }

    /// The candidates of FTS5 in the order of their weight times their two shares.
    fn ranked(&self, words: &[String]) -> Result<Vec<usize>, SearchError> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let db = self.db();
        let words = stemmed(&db, words)?;
        let looked_for: Vec<String> = words.iter().map(|word| word.word.clone()).collect();
        let weights: Vec<String> = COLUMNS.iter().map(|(_, weight)| weight.to_string()).collect();
        let sql = format!(
            "SELECT rowid, -bm25(tools, {}) FROM tools WHERE tools MATCH ? ORDER BY 2 DESC, 1 LIMIT ?",
            weights.join(", ")
        );
        let mut statement = db.prepare_cached(&sql)?;
        let found =
            statement.query_map(params![words::any_of(&looked_for), CANDIDATES as i64], |row| {
                Ok((
                    usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX),
                    row.get::<_, f64>(1)?,
                ))
            })?;
        let mut scores = found.collect::<Result<Vec<(usize, f64)>, _>>()?;
        let shares = self.shares(&words);
        for (place, score) in &mut scores {
            let (of_name, of_request) = shares.get(place).copied().unwrap_or_default();
            *score *= 1.0 + NAME_SHARE * of_name + REQUEST_SHARE * of_request;
        }
        scores.sort_by(|one, other| other.1.total_cmp(&one.1));
        Ok(scores.into_iter().map(|(place, _)| place).collect())
    }

    /// By tool: how much of its name stands in the request, and how much of the request in it.
    fn shares(&self, words: &[Word]) -> HashMap<usize, (f64, f64)> {
        let all: f64 = words.iter().map(|word| self.weight(&word.stem)).sum();
        let mut shares = HashMap::<usize, (f64, f64)>::new();
        for word in words {
            let weight = self.weight(&word.stem);
            for (place, columns) in self.stems.get(&word.stem).into_iter().flatten() {
                let (of_name, of_request) = shares.entry(*place).or_default();
                if columns & 1 == 1 {
                    let name = self.names_weigh.get(*place).copied().unwrap_or_default();
                    *of_name += weight / name.max(f64::MIN_POSITIVE);
                }
                if columns & ((1 << COVERING) - 1) != 0 {
                    *of_request += weight / all.max(f64::MIN_POSITIVE);
                }
            }
        }
        shares
    }

    /// The rarer a word, the more it weighs.
    fn weight(&self, stem: &str) -> f64 {
        let all = self.names_weigh.len() as f64;
        let having = self.stems.get(stem).map_or(0, Vec::len) as f64;
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which tools hold which stem, as FTS5 has made them.
fn stems_of(db: &Connection) -> Result<HashMap<String, Vec<(usize, u16)>>, SearchError> {
    let bit = |column: &str| {
        let at = COLUMNS.iter().position(|(name, _)| *name == column);
        at.map_or(0, |at| 1_u16 << at)
    };
    let mut statement = db.prepare("SELECT term, doc, col FROM in_tools ORDER BY term, doc")?;
    let mut rows = statement.query([])?;
    let mut stems = HashMap::<String, Vec<(usize, u16)>>::new();
    while let Some(row) = rows.next()? {
        let (place, column) = (row.get::<_, i64>(1)?, bit(&row.get::<_, String>(2)?));
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let held = stems.entry(row.get(0)?).or_default();
        match held.last_mut() {
            Some((last, columns)) if *last == place => *columns |= column,
            _ => held.push((place, column)),
        }
    }
    Ok(stems)
}

/// The words with their stems, each stem once.
fn stemmed(db: &Connection, words: &[String]) -> Result<Vec<Word>, SearchError> {
    db.execute("DELETE FROM request", [])?;
    for (at, word) in words.iter().enumerate() {
        db.prepare_cached("INSERT INTO request (rowid, word) VALUES (?, ?)")?
            .execute(params![at as i64, word])?;
    }
    let mut statement = db.prepare_cached("SELECT doc, term FROM in_request ORDER BY doc")?;
    let mut rows = statement.query([])?;
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    while let Some(row) = rows.next()? {
        let (at, stem) = (row.get::<_, i64>(0)?, row.get::<_, String>(1)?);
        let word = usize::try_from(at).ok().and_then(|at| words.get(at));
        if let Some(word) = word.filter(|_| seen.insert(stem.clone())) {
            found.push(Word { word: word.clone(), stem });
        }
    }
    Ok(found)
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
