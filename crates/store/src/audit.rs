//! The audit: append-only rows, each bound to the one before by a hash, the head kept apart. A
//! changed, missing or cut-off row is found and named.

use rusqlite::{OptionalExtension as _, Row, params};
use serde_json::{Value, json};

use super::anchor::{Anchor, AuditHead, Noted};
use super::audit_damage::{self, unreadable_body};
use super::audit_stand_in::{AuditPutAside, PUT_ASIDE, StandIns};
use super::damaged::ROW_NUMBER_MAX;
use super::seal::{ACCEPTED, ADOPTED, Anchored, AuditEvidence, BEGUN};
use super::{RowFault, StoreError, Tx, meta, now_ms};
use claw_domain::UnixMillis;
use claw_domain::canonical::{canonical_json, sha256_hex};

/// What the first row is bound to.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const HEAD: &str = meta::AUDIT_HEAD;
/// The newest row that retention has removed, and its hash. The trigger that keeps rows from being
/// deleted reads it, too.
const CUT: &str = meta::AUDIT_CUT;
/// The kind of the row that says so in the chain itself.
const CUT_KIND: &str = "audit.cut";

/// One entry to append. `kind`: received, verdict, asked, answered, started, ended, panic, grant,
/// pin, …
#[derive(Clone, Debug)]
pub struct AuditEntry {
    pub kind: &'static str,
    /// The call's id, or empty.
    pub call: String,
    pub body: Value,
}

/// The first place at which the chain does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub row: i64,
    /// A sentence without its end.
    pub what: String,
    /// What the owner can do, another one.
    pub next: Option<&'static str>,
}

impl Broken {
    fn chain(row: i64, what: String) -> Self {
        Self { row, what, next: None }
    }

    /// Damage that the doctor can mend.
    fn damage(row: i64, what: String) -> Self {
        Self { row, what, next: Some(audit_damage::NEXT) }
    }
}

/// An audit whose chain holds, and what more is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    pub rows: u64,
    /// The newest row that retention has removed, 0 for none.
    pub cut_through: i64,
    /// Row number 0 for an empty audit.
    pub head: AuditHead,
    pub anchored: Anchored,
    /// The rows from and to which processes without the key have written.
    pub keyless: Vec<(i64, i64)>,
    /// The rows in which the proof begins anew, because the audit was there before or the owner has
    /// said so.
    pub anew: Vec<i64>,
    /// Rows in whose place the doctor has put a note.
    pub put_aside: Vec<AuditPutAside>,
    /// When the head could not be read, and was put back by the newest row that was left.
    pub heads: Vec<HeadPutBack>,
}

/// A row as it is stored, its columns in the order in which they are read everywhere.
#[derive(Clone, Copy)]
pub(super) struct Stored<'r> {
    pub(super) id: i64,
    at_ms: UnixMillis,
    pub(super) kind: &'r str,
    call: &'r str,
    body: &'r str,
    pub(super) prev: &'r str,
    pub(super) hash: &'r str,
}

impl<'r> Stored<'r> {
    /// # Errors
    /// Which column is no text.
    pub(super) fn of(row: &'r Row<'_>) -> Result<Self, String> {
        let text = |at: usize, name: &str| {
            let value = row.get_ref(at).map_err(|error| error.to_string())?;
            value.as_str().map_err(|error| format!("its {name} is not UTF-8: {error}"))
        };
        Ok(Self {
            id: row.get(0).map_err(|error| error.to_string())?,
            at_ms: row.get(1).map_err(|error| error.to_string())?,
            kind: text(2, "kind")?,
            call: text(3, "call")?,
            body: text(4, "body")?,
            prev: text(5, "prev")?,
            hash: text(6, "hash")?,
        })
    }

    /// The hash of what it says, behind the row that it names.
    fn linked(&self) -> String {
        self.linked_as(self.id)
    }

    /// The same, if its number were `id`.
    pub(super) fn linked_as(&self, id: i64) -> String {
        link(self.prev, id, self.at_ms, self.kind, self.call, self.body)
    }
}

pub(super) fn link(
    prev: &str,
    id: i64,
    at_ms: UnixMillis,
    kind: &str,
    call: &str,
    body: &str,
) -> String {
    // A JSON array has one reading only: no two different rows share these bytes.
    let bytes = canonical_json(&serde_json::json!([prev, id, at_ms, kind, call, body]));
    sha256_hex(bytes)
}

impl Tx<'_> {
    /// Appends a row. The head is read inside this transaction, so several processes keep one
    /// chain.
    pub fn audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        match self.anchor {
            Some(anchor) => self.append_sealed(anchor, entry),
            None => self.append_audit(entry).map(|_| ()),
        }
    }

    /// The same without a seal. Gives back the new head.
    pub(super) fn append_audit(&self, entry: &AuditEntry) -> Result<AuditHead, StoreError> {
        let (last, prev) = self.audit_head()?;
        let (id, at_ms, body) = (last + 1, now_ms(), canonical_json(&entry.body));
        let hash = link(&prev, id, at_ms, entry.kind, &entry.call, &body);
        self.keep_ended_grants(at_ms)?;
        self.conn
            .prepare_cached(
                "INSERT INTO audit(id, at_ms, kind, call, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![id, at_ms, entry.kind, entry.call, body, prev, hash])?;
        self.set_meta(HEAD, &format!("{id}:{hash}"))?;
        Ok(AuditHead { number: id, digest: hash })
    }

    /// Whether a row of this kind about this turn stands behind the row `number`.
    pub fn is_audited_since(
        &self,
        number: i64,
        kind: &str,
        turn: &str,
    ) -> Result<bool, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT EXISTS(SELECT 1 FROM audit WHERE id > ?1 AND kind = ?2
                AND CASE WHEN json_valid(body) THEN json_extract(body, '$.turn') END = ?3)",
        )?;
        Ok(query.query_row(params![number, kind, turn], |row| row.get(0))?)
    }

    /// The newest row, number 0 for none.
    pub fn newest_audit(&self) -> Result<AuditHead, StoreError> {
        let (number, digest) = self.audit_head()?;
        Ok(AuditHead { number, digest })
    }

    /// The hash of one row, also of the newest one that retention has removed. What is no text fits
    /// nothing.
    pub(super) fn audit_hash(&self, number: i64) -> Result<Option<String>, StoreError> {
        let (cut, hash) = self.audit_cut()?;
        if number == cut {
            return Ok(Some(hash));
        }
        let mut query = self.conn.prepare_cached("SELECT hash FROM audit WHERE id = ?1")?;
        let hash = |row: &Row<'_>| Ok(row.get_ref(0)?.as_str().unwrap_or_default().to_owned());
        Ok(query.query_row([number], hash).optional()?)
    }

    pub(super) fn audit_head(&self) -> Result<(i64, String), StoreError> {
        if let Some(head) = self.meta(HEAD)? {
            return number_and_hash(HEAD, &head);
        }
        // A new audit has none.
        let newest = "SELECT max(id) FROM audit";
        if self.conn.query_row(newest, [], |row| row.get::<_, Option<i64>>(0))?.is_some() {
            let what = RowFault::Missing.to_string();
            return Err(StoreError::Unreadable { at: meta::at(HEAD), what });
        }
        Ok((0, GENESIS.to_owned()))
    }

    /// Walks the whole chain, at one moment of it, and compares it with its seal and with the head
    /// outside of the store; and with what the owner has noted, if that is given. Returns what is
    /// proven, or the first thing that is wrong.
    pub fn verify_audit(
        &self,
        told: Option<&AuditHead>,
    ) -> Result<Result<Whole, Broken>, StoreError> {
        // Before that moment: what is noted later may be of rows that are not seen.
        let noted = self.anchor.map_or(Noted::Nothing, Anchor::noted);
        let walked = self.at_one_moment(|| {
            let mut evidence = AuditEvidence::collect(self, noted, told)?;
            self.walk_audit(&mut evidence)
        });
        match walked {
            // Its head, or where it begins.
            Err(StoreError::Unreadable { at, what }) => {
                Ok(Err(Broken::damage(0, format!("{at} cannot be read: {what}"))))
            }
            walked => walked,
        }
    }

    fn walk_audit(
        &self,
        evidence: &mut AuditEvidence<'_>,
    ) -> Result<Result<Whole, Broken>, StoreError> {
        let mut query = self
            .conn
            .prepare("SELECT id, at_ms, kind, call, body, prev, hash FROM audit ORDER BY id")?;
        let mut rows = query.query([])?;
        let (cut, cut_hash) = self.audit_cut()?;
        let head = self.newest_audit()?;
        let (mut last, mut prev) = (cut, cut_hash.clone());
        let mut told = cut == 0;
        let (mut keyless, mut anew, mut heads) = (Vec::new(), Vec::new(), Vec::new());
        let mut stand_ins = StandIns::default();
        evidence.see(last, &prev);
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            if id != last + 1 {
                return Ok(Err(out_of_order(id, last, &head)));
            }
            let row = match Stored::of(row) {
                Ok(row) => row,
                Err(what) => return Ok(Err(unreadable(id, &what))),
            };
            let (linked, binds) = (row.linked(), row.prev == prev);
            if !binds || linked != row.hash {
                if let Some(what) = unreadable_body(row.body) {
                    return Ok(Err(unreadable(id, &what)));
                }
                if !binds || !stand_ins.take(self, &row, &linked)? {
                    return Ok(Err(Broken::chain(id, format!("row {id} was changed"))));
                }
            } else {
                match row.kind {
                    CUT_KIND => told |= row.body == cut_body(cut, &cut_hash),
                    ADOPTED => keyless.push(range_of(row.body)),
                    BEGUN | ACCEPTED => anew.push(id),
                    // Where nothing was left that knew the hash, a stand-in has its own.
                    PUT_ASIDE => {
                        heads.extend(head_put_back(id, row.body));
                        stand_ins.take(self, &row, &linked)?;
                    }
                    _ => {}
                }
            }
            evidence.see(id, row.hash);
            (last, prev) = (id, row.hash.to_owned());
        }
        if !told {
            let what = format!(
                "the rows up to {cut} are missing, and no row says that retention removed them"
            );
            return Ok(Err(Broken::chain(1, what)));
        }
        if head.number != last || head.digest != prev {
            let what = format!(
                "the rows after {last} are missing: the chain should end with row {}",
                head.number
            );
            return Ok(Err(Broken::damage(last + 1, what)));
        }
        Ok(evidence.judge(last).and_then(|anchored| {
            if matches!(anchored, Anchored::Yes { sealed, .. } if sealed < last) {
                keyless.push((evidence.sealed() + 1, last));
            }
            let put_aside = stand_ins.judge(&keyless)?;
            let (rows, cut_through) = ((last - cut) as u64, cut);
            Ok(Whole { rows, cut_through, head, anchored, keyless, anew, put_aside, heads })
        }))
    }

    /// The newest row that was removed, 0 for none, and what the first one that is left is bound
    /// to.
    pub fn audit_cut(&self) -> Result<(i64, String), StoreError> {
        let Some(cut) = self.meta(CUT)? else { return Ok((0, GENESIS.to_owned())) };
        number_and_hash(CUT, &cut)
    }

    /// The newest row from before `before_ms`, if one is left.
    pub fn audit_through(&self, before_ms: UnixMillis) -> Result<Option<i64>, StoreError> {
        // Rows are in the order of time, unless a clock was put back: then the first young row
        // keeps those behind it.
        let young: Option<i64> = self
            .conn
            .query_row(
                "SELECT id FROM audit WHERE at_ms >= ?1 ORDER BY id LIMIT 1",
                [before_ms],
                |row| row.get(0),
            )
            .optional()?;
        let last = match young {
            Some(young) => young - 1,
            None => self.audit_head()?.0,
        };
        Ok((last > self.audit_cut()?.0).then_some(last))
    }

    /// Removes the rows up to `through`, at most `rows` of them, and appends one that says so: with
    /// the hash of the last one removed, which is a digest over all of them. True when none is left
    /// to remove.
    pub fn cut_audit(&self, through: i64, rows: u32) -> Result<bool, StoreError> {
        let cut = self.audit_cut()?.0;
        if through <= cut {
            return Ok(true);
        }
        let now = through.min(cut + i64::from(rows));
        let hash: String =
            self.conn.query_row("SELECT hash FROM audit WHERE id = ?1", [now], |row| row.get(0))?;
        self.audit(&AuditEntry {
            kind: CUT_KIND,
            call: String::new(),
            body: json!({"through": now, "hash": hash}),
        })?;
        self.set_meta(CUT, &format!("{now}:{hash}"))?;
        self.conn.execute("DELETE FROM audit WHERE id <= ?1", [now])?;
        Ok(now == through)
    }
}

fn unreadable(row: i64, what: &str) -> Broken {
    Broken::damage(row, format!("row {row} cannot be read: {what}"))
}

/// A row that does not have the number behind `last`.
fn out_of_order(id: i64, last: i64, head: &AuditHead) -> Broken {
    if last == head.number || id <= last {
        let what = format!("row {id} is no part of the chain, which ends with row {}", head.number);
        return Broken::damage(id, what);
    }
    Broken::damage(last + 1, format!("row {} is missing", last + 1))
}

/// A row that tells that the head of the audit was put back.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct HeadPutBack {
    /// The row that tells of it.
    pub row: i64,
    /// The newest row that was left.
    pub head: i64,
    /// The seal says that this was the newest one.
    pub sealed: bool,
}

fn head_put_back(row: i64, body: &str) -> Option<HeadPutBack> {
    let body: Value = serde_json::from_str(body).ok()?;
    let head = body.get("head")?.as_i64()?;
    let sealed = body.get("sealed").and_then(Value::as_bool).unwrap_or_default();
    Some(HeadPutBack { row, head, sealed })
}

/// `NUMBER:HASH`, as the single value `key` holds it.
fn number_and_hash(key: &str, text: &str) -> Result<(i64, String), StoreError> {
    let parsed = text.split_once(':').and_then(|(id, hash)| {
        let hash = hash.to_owned();
        let is_hash =
            hash.len() == GENESIS.len() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id: i64 = id.parse().ok()?;
        (is_hash && (0..=ROW_NUMBER_MAX).contains(&id)).then_some((id, hash))
    });
    parsed.ok_or_else(|| StoreError::Unreadable {
        at: meta::at(key),
        what: "it is no number with a hash".to_owned(),
    })
}

/// From and through which row, as the row says that adopts them.
fn range_of(body: &str) -> (i64, i64) {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let number = |key: &str| body.get(key).and_then(Value::as_i64).unwrap_or_default();
    (number("from"), number("through"))
}

fn cut_body(cut: i64, hash: &str) -> String {
    canonical_json(&json!({"through": cut, "hash": hash}))
}
