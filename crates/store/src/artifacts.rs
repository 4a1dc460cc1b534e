//! Large results: content-addressed files beside the database. A file is synced before the row that
//! names it.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{OptionalExtension as _, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::canonical::sha256_hex;
use claw_domain::{CallId, UnixMillis};
use claw_kit::durable;

/// Hexadecimal SHA-256.
const DIGEST_CHARS: usize = 64;

/// The folder of the artifacts.
#[derive(Clone, Debug)]
pub struct Artifacts {
    dir: PathBuf,
}

impl Artifacts {
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Writes `bytes` under their digest, synced, and returns the digest. Writing the same bytes
    /// twice is one file.
    pub fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let digest = sha256_hex(bytes);
        let path = self.path(&digest);
        if let Ok(known) = OpenOptions::new().write(true).open(&path) {
            // It is as young as its newest use.
            known.set_modified(SystemTime::now())?;
            return Ok(digest);
        }
        durable::create_dirs(&self.dir, 0o700)?;
        let mut part = durable::Part::beside(&path)?;
        part.file.write_all(bytes)?;
        // Whoever had the name meanwhile has written the same bytes.
        part.replace(&path)?;
        Ok(digest)
    }

    pub fn path(&self, digest: &str) -> PathBuf {
        self.dir.join(digest)
    }

    /// Every file in the folder by its name, drafts of writers that were killed included.
    pub fn files(&self) -> io::Result<Vec<(String, fs::Metadata)>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            // One that went away since then is none.
            if let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata())
                && metadata.is_file()
            {
                found.push((name, metadata));
            }
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(found)
    }
}

/// What the store knows of an artifact.
#[derive(Clone, Debug)]
pub struct ArtifactRow {
    pub digest: String,
    pub bytes: u64,
    /// The call that it came with, or the session of whose log it is a part; may be empty.
    pub call: String,
    /// Server and tool of that call.
    pub tool: Option<(String, String)>,
    pub mime: String,
    /// What its owner calls it.
    pub alias: Option<String>,
    pub created_ms: UnixMillis,
    /// When its file went, if it has gone in order, and why.
    pub removed: Option<(UnixMillis, String)>,
}

impl Tx<'_> {
    /// `call` is what it came with: a call, or a session of whose log it is a part.
    pub fn add_artifact(
        &self,
        digest: &str,
        bytes: u64,
        mime: &str,
        call: &str,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO artifacts(digest, bytes, mime, call, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT(digest) DO UPDATE SET removed_ms = NULL, removed_why = '', created_ms = ?5
                 WHERE removed_ms IS NOT NULL",
            )?
            .execute(params![digest, bytes as i64, mime, call, now_ms()])?;
        Ok(())
    }

    /// The text that was too long for the result of a call, if it was kept and is still there.
    pub fn text_artifact(&self, call: &CallId) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT digest FROM artifacts WHERE call = ?1 AND mime LIKE 'text/plain%'
             AND removed_ms IS NULL ORDER BY bytes DESC LIMIT 1",
        )?;
        Ok(query.query_row([call.to_string()], |row| row.get(0)).optional()?)
    }

    pub fn artifacts(&self) -> Result<Vec<ArtifactRow>, StoreError> {
        let mut query = self.conn.prepare(
            "SELECT kept.digest, bytes, call, kept.created_ms, removed_ms, removed_why, mime, server, tool,
                    alias
             FROM artifacts AS kept LEFT JOIN calls ON calls.id = kept.call
             ORDER BY kept.created_ms, kept.digest",
        )?;
        let rows = query.query_map([], |row| {
            let removed: Option<UnixMillis> = row.get(4)?;
            let why: String = row.get(5)?;
            Ok(ArtifactRow {
                digest: row.get(0)?,
                bytes: row.get::<_, i64>(1)? as u64,
                call: row.get(2)?,
                tool: row.get::<_, Option<String>>(7)?.zip(row.get(8)?),
                mime: row.get(6)?,
                alias: row.get(9)?,
                created_ms: row.get(3)?,
                removed: removed.map(|at| (at, why)),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// From now on this artifact is called so by its owner, or nothing. `Some`: another one that is
    /// still there is called so, by its digest, and nothing has changed.
    pub fn call_artifact(
        &self,
        digest: &str,
        alias: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT digest FROM artifacts WHERE alias = ?1 AND digest <> ?2 AND removed_ms IS NULL",
        )?;
        let other = query.query_row(params![alias, digest], |row| row.get(0)).optional()?;
        if other.is_some() {
            return Ok(other);
        }
        // What is gone needs no name any more.
        self.conn
            .prepare_cached("UPDATE artifacts SET alias = NULL WHERE alias = ?1")?
            .execute([alias])?;
        self.conn
            .prepare_cached("UPDATE artifacts SET alias = ?2 WHERE digest = ?1")?
            .execute(params![digest, alias])?;
        Ok(None)
    }

    /// Notes that the file of an artifact is gone. False when that was known.
    pub fn artifact_gone(&self, digest: &str, why: &str) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE artifacts SET removed_ms = ?2, removed_why = ?3 WHERE digest = ?1 AND removed_ms IS NULL",
            )?
            .execute(params![digest, now_ms(), why])?;
        Ok(changed == 1)
    }

    /// Notes before a file is removed that it is, also for one that had no row (an image is named
    /// by its log alone).
    pub fn artifact_removed(&self, digest: &str, bytes: u64, why: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO artifacts(digest, bytes, mime, call, created_ms, removed_ms, removed_why)
                 VALUES (?1, ?2, '', '', ?3, ?3, ?4)
                 ON CONFLICT(digest) DO UPDATE SET removed_ms = ?3, removed_why = ?4",
            )?
            .execute(params![digest, bytes as i64, now_ms(), why])?;
        Ok(())
    }

    /// When and why the file of an artifact went, if it has gone in order.
    pub fn artifact_removal(
        &self,
        digest: &str,
    ) -> Result<Option<(UnixMillis, String)>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT removed_ms, removed_why FROM artifacts WHERE digest = ?1 AND removed_ms IS NOT NULL",
        )?;
        Ok(query.query_row([digest], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// Those of `digests` that a model may still get to see: in the window of a session, or in what
    /// waits to come into one.
    pub fn digests_in_windows(
        &self,
        digests: &HashSet<String>,
    ) -> Result<HashSet<String>, StoreError> {
        let mut named = HashSet::new();
        for session in self.sessions()? {
            let session = super::inbox::session_of(session.name)?;
            let window = self.window(&session)?.events;
            let waiting = self.queued_inbound(&session)?;
            let texts = window.iter().map(|event| serde_json::to_string(&event.body));
            for text in
                texts.chain(waiting.iter().map(|row| serde_json::to_string(&row.inbound.body)))
            {
                named.extend(
                    digests_of(&text?).filter(|word| digests.contains(*word)).map(str::to_owned),
                );
            }
        }
        Ok(named)
    }

    /// Those of `digests` that something on record names: a log, what waits to come into one, or a
    /// call.
    pub fn named_digests(&self, digests: &HashSet<String>) -> Result<HashSet<String>, StoreError> {
        let mut named = HashSet::new();
        for sql in [
            "SELECT body FROM events",
            "SELECT body FROM put_aside",
            "SELECT body FROM inbox WHERE state = 'queued'",
            "SELECT outcome FROM calls WHERE outcome IS NOT NULL",
            "SELECT body FROM outbox WHERE state <> 'sent'",
        ] {
            let mut query = self.conn.prepare(sql)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                // A row that is not UTF-8 still names what it names.
                let text = String::from_utf8_lossy(row.get_ref(0)?.as_bytes().unwrap_or_default());
                named.extend(
                    digests_of(&text).filter(|word| digests.contains(*word)).map(str::to_owned),
                );
            }
        }
        Ok(named)
    }
}

/// Everything in a text that looks like a digest.
fn digests_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == DIGEST_CHARS)
}
