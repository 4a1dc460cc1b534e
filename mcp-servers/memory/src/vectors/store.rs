//! The vectors on the disk: SQLite beside the index, by the digest of a note, the model and the
//! dimension. They outlive a new index, because each one costs a request. Owns the SQL; must not
//! know how a vector is made or compared.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::index::is_unusable;

const FILE: &str = "vectors.db";
const VERSION: i64 = 1;
const BUSY_TIME: Duration = Duration::from_secs(10);
/// Pages that are kept in memory of each of the two files, in KiB. Vectors are read in the order of
/// their rows, each once a search, so that a larger cache is never hit.
const CACHE_KIB: i64 = 64;

const SCHEMA: &str = "
CREATE TABLE models (model TEXT PRIMARY KEY, dimension INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE vectors (
    digest TEXT NOT NULL, model TEXT NOT NULL, dimension INTEGER NOT NULL, vector BLOB NOT NULL,
    UNIQUE (model, dimension, digest)
);
CREATE TABLE trials (
    model TEXT NOT NULL, dimension INTEGER NOT NULL, notes INTEGER NOT NULL,
    asked INTEGER NOT NULL, by_words REAL NOT NULL, by_both REAL NOT NULL,
    PRIMARY KEY (model, dimension)
) WITHOUT ROWID;
";

/// Notes that have no vector of this model and dimension. A file that could not be read has no
/// digest.
pub const WITHOUT: &str =
    "FROM notes.notes n WHERE n.digest <> '' AND NOT EXISTS (SELECT 1 FROM vectors v
    WHERE v.model = ?1 AND v.dimension = ?2 AND v.digest = n.digest)";

pub struct Store {
    pub db: Connection,
    /// Where its file lies.
    pub folder: PathBuf,
}

/// A note that has no vector yet.
pub struct Missing {
    pub digest: String,
    pub text: String,
}

/// What came of comparing words with words and vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Notes that there were.
    pub notes: u64,
    /// Subjects that were asked for. Too few say nothing.
    pub asked: u64,
    /// Mean of 1 through the place of the right note among the first ten.
    pub by_words: f64,
    pub by_both: f64,
}

/// A vector as it lies in the file.
pub struct StoredVector<'a> {
    pub row: i64,
    pub digest: &'a str,
    /// Its numbers, each as four bytes, the lowest first.
    pub bytes: &'a [u8],
}

impl<'a> StoredVector<'a> {
    /// `None` for one that has not the length of the others.
    fn of(row: &'a Row<'_>, dimension: usize) -> rusqlite::Result<Option<Self>> {
        let bytes = row.get_ref(2)?.as_blob().unwrap_or_default();
        let digest = row.get_ref(1)?.as_str().unwrap_or_default();
        let is_whole = bytes.len() == dimension * size_of::<f32>();
        Ok(is_whole.then_some(Self { row: row.get(0)?, digest, bytes }))
    }
}

impl Store {
    /// Opens the vectors in the folder `state`, which has an index already. One that is damaged or
    /// of another version is made anew.
    ///
    /// # Errors
    /// A new one cannot be made either.
    pub fn open(state: &Path, index: &Path) -> rusqlite::Result<Self> {
        let path = state.join(FILE);
        let db = match open_at(&path) {
            Ok(db) => db,
            Err(error) if !is_unusable(&error) => return Err(error),
            Err(_) => {
                for ending in ["", "-wal", "-shm"] {
                    // What stays makes the next line fail.
                    let _ = std::fs::remove_file(state.join(format!("{FILE}{ending}")));
                }
                open_at(&path)?
            }
        };
        db.execute("ATTACH ? AS notes", [index.display().to_string()])?;
        // Of its own it would keep two megabytes of an index that another connection keeps, too.
        db.pragma_update(Some("notes"), "cache_size", -CACHE_KIB)?;
        Ok(Self { db, folder: state.to_owned() })
    }

    /// The dimension of a model's vectors, if there has been an answer.
    pub fn dimension(&self, model: &str) -> rusqlite::Result<Option<usize>> {
        self.db
            .prepare_cached("SELECT dimension FROM models WHERE model = ?")?
            .query_row([model], |row| row.get::<_, i64>(0))
            .optional()
            .map(|found| found.and_then(|dimension| usize::try_from(dimension).ok()))
    }

    pub fn set_dimension(&self, model: &str, dimension: usize) -> rusqlite::Result<()> {
        self.db.execute(
            "INSERT INTO models (model, dimension) VALUES (?1, ?2)
             ON CONFLICT DO UPDATE SET dimension = ?2",
            params![model, dimension as i64],
        )?;
        Ok(())
    }

    /// Some notes without a vector.
    pub fn missing(
        &self,
        model: &str,
        dimension: usize,
        limit: u32,
    ) -> rusqlite::Result<Vec<Missing>> {
        self.db
            .prepare_cached(&format!(
                "SELECT n.digest, n.subject || char(10) || n.body {WITHOUT} GROUP BY n.digest ORDER BY n.digest LIMIT ?3"
            ))?
            .query_map(params![model, dimension as i64, limit], |row| {
                Ok(Missing { digest: row.get(0)?, text: row.get(1)? })
            })?
            .collect()
    }

    /// How many notes have a vector, and how many have none.
    pub fn counts(&self, model: &str, dimension: usize) -> rusqlite::Result<(u64, u64)> {
        let without: i64 = self.db.query_row(
            &format!("SELECT count(*) {WITHOUT}"),
            params![model, dimension as i64],
            |row| row.get(0),
        )?;
        let all: i64 = self.db.query_row(
            "SELECT count(*) FROM notes.notes WHERE digest <> ''",
            [],
            |row| row.get(0),
        )?;
        Ok((all.saturating_sub(without).unsigned_abs(), without.unsigned_abs()))
    }

    /// Keeps vectors of one model and dimension.
    pub fn put(&mut self, model: &str, vectors: &[(&str, &[f32])]) -> rusqlite::Result<()> {
        let tx = self.db.transaction()?;
        for (digest, vector) in vectors {
            let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
            tx.prepare_cached("INSERT OR REPLACE INTO vectors (digest, model, dimension, vector) VALUES (?, ?, ?, ?)")?
                .execute(params![digest, model, vector.len() as i64, bytes])?;
        }
        tx.commit()
    }

    /// Removes the vectors of notes that are gone, of every model.
    pub fn purge(&self) -> rusqlite::Result<usize> {
        self.db
            .execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM notes.notes)", [])
    }

    /// All vectors of one model and dimension.
    pub fn each(
        &self,
        model: &str,
        dimension: usize,
        mut take: impl FnMut(StoredVector<'_>),
    ) -> rusqlite::Result<()> {
        // By row: what lies side by side in the file is read once.
        let mut statement = self.db.prepare_cached(
            "SELECT rowid, digest, vector FROM vectors NOT INDEXED WHERE model = ? AND dimension = ?",
        )?;
        let mut rows = statement.query(params![model, dimension as i64])?;
        while let Some(row) = rows.next()? {
            if let Some(kept) = StoredVector::of(row, dimension)? {
                take(kept);
            }
        }
        Ok(())
    }

    /// Some of them, by their rows.
    pub fn some(
        &self,
        dimension: usize,
        wanted: impl Iterator<Item = i64>,
        mut take: impl FnMut(StoredVector<'_>),
    ) -> rusqlite::Result<()> {
        // One look at the file: each statement by itself would lock it anew.
        let reading = self.db.unchecked_transaction()?;
        let mut statement =
            reading.prepare_cached("SELECT rowid, digest, vector FROM vectors WHERE rowid = ?")?;
        for row in wanted {
            let mut rows = statement.query([row])?;
            if let Some(row) = rows.next()?
                && let Some(kept) = StoredVector::of(row, dimension)?
            {
                take(kept);
            }
        }
        Ok(())
    }

    /// A number that is another one when another process has written.
    pub fn foreign_version(&self) -> rusqlite::Result<i64> {
        self.db.pragma_query_value(None, "data_version", |row| row.get(0))
    }

    /// The same of the index: another one when notes have changed.
    pub fn notes_version(&self) -> rusqlite::Result<i64> {
        self.db.query_row("PRAGMA notes.data_version", [], |row| row.get(0))
    }

    pub fn trial(&self, model: &str, dimension: usize) -> rusqlite::Result<Option<Trial>> {
        let whole = |row: &rusqlite::Row<'_>, at| row.get::<_, i64>(at).map(i64::unsigned_abs);
        self.db
            .prepare_cached(
                "SELECT notes, asked, by_words, by_both FROM trials WHERE model = ? AND dimension = ?",
            )?
            .query_row(params![model, dimension as i64], |row| {
                Ok(Trial {
                    notes: whole(row, 0)?,
                    asked: whole(row, 1)?,
                    by_words: row.get(2)?,
                    by_both: row.get(3)?,
                })
            })
            .optional()
    }

    pub fn put_trial(&self, model: &str, dimension: usize, trial: &Trial) -> rusqlite::Result<()> {
        self.db.execute(
            "INSERT OR REPLACE INTO trials (model, dimension, notes, asked, by_words, by_both) VALUES (?, ?, ?, ?, ?, ?)",
            params![
                model,
                dimension as i64,
                trial.notes as i64,
                trial.asked as i64,
                trial.by_words,
                trial.by_both
            ],
        )?;
        Ok(())
    }
}

fn open_at(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(BUSY_TIME)?;
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "normal")?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.pragma_update(None, "cache_size", -CACHE_KIB)?;
    match db.pragma_query_value(None, "user_version", |row| row.get(0))? {
        VERSION => {}
        0 => db.execute_batch(&format!(
            "BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;"
        ))?,
        _ => return Err(rusqlite::Error::InvalidQuery),
    }
    Ok(db)
}
