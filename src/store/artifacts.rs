//! Large results: content-addressed files beside the database. A file is synced before the row that names it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::params;

use super::{StoreError, Tx, now_ms};
use crate::domain::CallId;
use crate::domain::canonical::sha256_hex;

/// The folder of the artifacts.
#[derive(Clone, Debug)]
pub struct Artifacts {
    dir: PathBuf,
}

impl Artifacts {
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Writes `bytes` under their digest, synced, and returns the digest. Writing the same bytes twice is one file.
    pub fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let digest = sha256_hex(bytes);
        let path = self.path(&digest);
        if path.exists() {
            return Ok(digest);
        }
        fs::create_dir_all(&self.dir)?;
        let draft = self.dir.join(format!(".{digest}.{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        File::open(&self.dir)?.sync_all()?;
        Ok(digest)
    }

    pub fn path(&self, digest: &str) -> PathBuf {
        self.dir.join(digest)
    }
}

impl Tx<'_> {
    /// Digest and media type of everything that was kept of a call, in the order of the digests.
    #[cfg(test)]
    pub fn artifacts_of(&self, call: &CallId) -> Result<Vec<(String, String)>, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT digest, mime FROM artifacts WHERE call = ?1 ORDER BY digest")?;
        let rows = query.query_map([call.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn add_artifact(&self, digest: &str, bytes: u64, mime: &str, call: &CallId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT OR IGNORE INTO artifacts(digest, bytes, mime, call, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![digest, bytes as i64, mime, call.to_string(), now_ms()])?;
        Ok(())
    }
}
