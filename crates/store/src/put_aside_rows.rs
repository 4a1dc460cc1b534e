//! Puts damaged rows of the tables that have no repair of their own aside, so that nothing more is
//! allowed than before. Must not know how damage is found.

use rusqlite::{OptionalExtension as _, ToSql, params};
use serde_json::json;

use super::damaged::ROW_NUMBER_MAX;
use super::damaged_rows::{KeyPart, key_shown, whole};
use super::put_aside::Original;
use super::{DamagedRow, RowFault, StoreError, Tx, meta, now_ms};
use claw_domain::{ApprovalState, CallId, ClientName, DeniedBy, Outcome, SessionId};

/// Hexadecimal SHA-256.
const DIGEST_CHARS: usize = 64;
const ONE_VALUE: &str = "SELECT * FROM meta WHERE key = ?1";

impl Tx<'_> {
    /// Takes a row out of its table. What protects is put in its place where its key can be read.
    pub(super) fn put_row_aside(
        &self,
        row: &DamagedRow,
        (table, key): (&str, &[KeyPart]),
        note: &str,
    ) -> Result<bool, StoreError> {
        if row.fault == RowFault::Missing {
            return self.list_session_again(key);
        }
        let columns = self.key_of(table)?;
        let which = columns.iter().enumerate().map(|(at, name)| format!("{name} = ?{}", at + 1));
        let which = which.collect::<Vec<_>>().join(" AND ");
        let given: Vec<&dyn ToSql> = key.iter().map(|part| part as &dyn ToSql).collect();
        let one = format!("SELECT * FROM {table} WHERE {which}");
        let given = given.as_slice();
        let damaged =
            self.conn.query_row(&one, given, |row| Ok(whole(table, row).is_err())).optional()?;
        let Some(original) = self.original(&one, given, "")?.filter(|_| damaged == Some(true))
        else {
            return Ok(false);
        };
        self.keep_original(table, &key_shown(key), &original, row)?;
        self.conn.execute(&format!("DELETE FROM {table} WHERE {which}"), given)?;
        self.put_in_place(table, key, &original, note)?;
        Ok(true)
    }

    fn put_in_place(
        &self,
        table: &str,
        key: &[KeyPart],
        original: &Original,
        note: &str,
    ) -> Result<(), StoreError> {
        let name = key.first().map_or("", KeyPart::text);
        match table {
            "meta" => self.put_value_in_place(name),
            "sessions" => self.list_session_again(key).map(drop),
            // What is offered changes for every process, and is compared with the servers anew.
            "pins" | "pin_forms" | "launches" | "trust" => self.pins_changed(),
            // Whether it was revoked cannot be known.
            "clients" => match ClientName::new(name.to_owned()) {
                Ok(client) => {
                    self.add_client(&client)?;
                    self.set_client_revoked(&client, true).map(drop)
                }
                Err(_) => Ok(()),
            },
            // It was taken once, and is not taken again.
            "firings" if !name.is_empty() => {
                self.conn.execute(
                    "INSERT INTO firings(id, job, revision, became, title, schedule, at_ms)
                     VALUES (?1, '', 0, 'put_aside', '', '', ?2)",
                    params![name, now_ms()],
                )?;
                Ok(())
            }
            // Without a row its file would belong to nothing on record.
            "artifacts" if name.len() == DIGEST_CHARS => {
                let bytes = original.number_of("bytes").clamp(0, ROW_NUMBER_MAX);
                self.conn.execute(
                    "INSERT INTO artifacts(digest, bytes, mime, call, created_ms) VALUES (?1, ?2, '', '', ?3)",
                    params![name, bytes, now_ms()],
                )?;
                Ok(())
            }
            "staged" => name.parse().map_or(Ok(()), |call| self.let_staged_go(&call, note)),
            "rounds" => {
                let open =
                    "UPDATE approvals SET expires_ms = 0 WHERE call = ?1 AND state = 'waiting'";
                self.conn.execute(open, [name])?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Nobody knows any more with what it was shown: its question has expired, and it never runs.
    fn let_staged_go(&self, call: &CallId, note: &str) -> Result<(), StoreError> {
        let Some(asked) = self.approval_of(call)? else { return Ok(()) };
        if self.decide(&asked.id, ApprovalState::Expired, None, "expired")?.is_ok() {
            self.end_call(call, &Outcome::denied(DeniedBy::Failure, note))?;
        }
        Ok(())
    }

    /// What stands in the place of a single value. Without one it is as it is in a new store.
    fn put_value_in_place(&self, key: &str) -> Result<(), StoreError> {
        match key {
            meta::PANIC => self.set_meta(key, "somebody whose name could not be read"),
            meta::DAY_SPENT => self.count_day_anew(),
            meta::CLOCK => {
                let newest = "SELECT at_ms FROM audit WHERE id = (SELECT max(id) FROM audit)";
                let newest: Option<i64> =
                    self.conn.query_row(newest, [], |row| row.get(0)).optional()?;
                self.believe_clock(newest.unwrap_or_default())
            }
            // Another number than any process has seen.
            super::pins::PINS_VERSION => self.set_meta(key, &now_ms().to_string()),
            _ => Ok(()),
        }
    }

    /// False if it is in the list, or if no session can have this name.
    fn list_session_again(&self, key: &[KeyPart]) -> Result<bool, StoreError> {
        let name = key.first().map_or("", KeyPart::text);
        let Ok(session) = SessionId::new(name.to_owned()) else { return Ok(false) };
        let listed = "SELECT EXISTS(SELECT 1 FROM sessions WHERE name = ?1)";
        if self.conn.query_row(listed, [name], |row| row.get::<_, bool>(0))? {
            return Ok(false);
        }
        self.touch_session(&session, now_ms())?;
        Ok(true)
    }

    /// The head of the audit, or where what is left of it begins. Both are put back by what the
    /// rows themselves say, and a row tells of it forever: it may be that others were behind them.
    ///
    /// # Errors
    /// [`StoreError::NoKey`] where the audit is sealed and the key is not here, and
    /// [`StoreError::Decode`] where no row says what went.
    pub(super) fn put_audit_value_aside(
        &self,
        row: &DamagedRow,
        key: &str,
        by: &str,
    ) -> Result<bool, StoreError> {
        let damaged = match key {
            meta::AUDIT_HEAD => self.audit_head().is_err(),
            meta::AUDIT_CUT => match self.audit_cut() {
                Ok((cut, _)) => cut == 0 && self.cut_by_chain()?.is_some(),
                Err(_) => true,
            },
            _ => self.has_unreadable_seal()?,
        };
        if !damaged {
            return Ok(false);
        }
        if self.anchor.is_none() && self.has_seal()? {
            return Err(StoreError::NoKey);
        }
        if let Some(original) = self.original(ONE_VALUE, &[&key], "value")? {
            self.keep_original("meta", key, &original, row)?;
        }
        let told = match key {
            meta::AUDIT_HEAD => Some(self.put_head_back()?),
            meta::AUDIT_CUT => {
                let Some((through, hash)) = self.cut_by_chain()? else {
                    return Err(StoreError::Decode(
                        "no row of the audit says which rows [retention] has removed, so nothing \
                         was put in its place; `claw audit verify` says what holds"
                            .to_owned(),
                    ));
                };
                self.set_meta(key, &format!("{through}:{hash}"))?;
                None
            }
            // Nothing takes its place: only the owner may take the audit as it is.
            _ => {
                self.conn.execute("DELETE FROM meta WHERE key = ?1", [key])?;
                None
            }
        };
        self.tell_put_aside(row, by, told)?;
        Ok(true)
    }

    /// The newest row that there is becomes the head again. Gives back what has to be told of it.
    fn put_head_back(&self) -> Result<serde_json::Value, StoreError> {
        let (cut, cut_hash) = self.audit_cut()?;
        let newest = "SELECT id, hash FROM audit WHERE id <= ?1 ORDER BY id DESC LIMIT 1";
        let newest = self
            .conn
            .query_row(newest, [ROW_NUMBER_MAX], |row| {
                Ok((row.get(0)?, row.get_ref(1)?.as_str().unwrap_or_default().to_owned()))
            })
            .optional()?;
        let (number, hash): (i64, String) = newest.unwrap_or((cut, cut_hash));
        self.set_meta(meta::AUDIT_HEAD, &format!("{number}:{hash}"))?;
        Ok(json!({"head": number, "sealed": self.is_sealed_head()?}))
    }

    /// What retention has removed, as the newest row says that tells of it, if that fits the oldest
    /// row that is left.
    pub(super) fn cut_by_chain(&self) -> Result<Option<(i64, String)>, StoreError> {
        let told = "SELECT CASE WHEN json_valid(body) THEN json_extract(body, '$.through') END,
                           CASE WHEN json_valid(body) THEN json_extract(body, '$.hash') END
                    FROM audit WHERE kind = 'audit.cut' ORDER BY id DESC LIMIT 1";
        let told: Option<(Option<i64>, Option<String>)> =
            self.conn.query_row(told, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((Some(through), Some(hash))) = told else { return Ok(None) };
        let fits = "SELECT EXISTS(SELECT 1 FROM audit WHERE id = ?1 AND prev = ?2)";
        let fits: bool = self.conn.query_row(fits, params![through + 1, hash], |row| row.get(0))?;
        Ok(fits.then_some((through, hash)))
    }
}
