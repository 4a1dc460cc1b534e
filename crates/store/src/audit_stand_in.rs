//! Stand-ins: rows that hold the chain of the audit together where one could not be read. Each
//! counts if a later row of the chain tells of it. Must not know how damage is found, or seals.

use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::audit::{Broken, Stored, link};
use super::damaged::check;
use super::put_aside::Original;
use super::{DamagedRow, RowAt, RowFault, StoreError, Tx, now_ms};
use claw_domain::canonical::canonical_json;
use claw_domain::{CallId, UnixMillis};

/// The kind of a stand-in, and of the row that tells of a repair.
pub(super) const PUT_ASIDE: &str = "put_aside";
/// Digits of a hash.
const HASH_DIGITS: usize = 64;

/// A row that the doctor has put aside, as a later row of the chain says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditPutAside {
    pub row: i64,
    pub at_ms: UnixMillis,
    /// What was wrong with it.
    pub what: String,
}

/// What a later row says of a stand-in.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Attested {
    number: i64,
    /// The hash of the row that was there, to which the next one is bound.
    hash: String,
    /// The hash that the stand-in would have by what it says.
    stand_in: String,
    what: String,
}

/// A row that tells of a stand-in.
struct Attestation {
    id: i64,
    at_ms: UnixMillis,
    attested: Attested,
}

/// The stand-ins that a walk through the chain has come by.
#[derive(Default)]
pub(super) struct StandIns {
    /// What the rows of the audit say. Read when the first one is needed.
    told: Option<Vec<Attestation>>,
    /// The number of each, and which of those rows tell of it as it is.
    found: Vec<(i64, Vec<usize>)>,
}

impl StandIns {
    /// Whether a row is a stand-in, as far as some row tells of it.
    pub(super) fn take(
        &mut self,
        tx: &Tx<'_>,
        row: &Stored<'_>,
        linked: &str,
    ) -> Result<bool, StoreError> {
        if row.kind != PUT_ASIDE {
            return Ok(false);
        }
        if self.told.is_none() {
            self.told = Some(tx.attestations()?);
        }
        let fits = |told: &Attestation| {
            let Attested { number, hash, stand_in, .. } = &told.attested;
            (*number, hash.as_str(), stand_in.as_str()) == (row.id, row.hash, linked)
                && told.id > row.id
        };
        let told = self.told.iter().flatten().enumerate();
        let told: Vec<usize> = told.filter(|(_, told)| fits(told)).map(|(at, _)| at).collect();
        let some = !told.is_empty();
        if some {
            self.found.push((row.id, told));
        }
        Ok(some)
    }

    /// The stand-ins, if a row of the chain itself tells of each: no stand-in tells of another one,
    /// and no row in one of the ranges `keyless` does.
    pub(super) fn judge(&self, keyless: &[(i64, i64)]) -> Result<Vec<AuditPutAside>, Broken> {
        let counts = |told: &&Attestation| {
            let in_range = |(from, through): &(i64, i64)| (*from..=*through).contains(&told.id);
            !keyless.iter().any(in_range) && !self.found.iter().any(|(row, _)| *row == told.id)
        };
        let all = self.told.as_deref().unwrap_or_default();
        let judged = self.found.iter().map(|(row, told)| {
            let row = *row;
            match told.iter().filter_map(|at| all.get(*at)).find(counts) {
                Some(told) => {
                    let what = told.attested.what.clone();
                    Ok(AuditPutAside { row, at_ms: told.at_ms, what })
                }
                None => {
                    let what = format!(
                        "row {row} was replaced, and no row that was written with the key says \
                         that it was put aside"
                    );
                    Err(Broken { row, what, next: None })
                }
            }
        });
        judged.collect()
    }
}

impl Tx<'_> {
    /// Puts a row into a place of the chain that holds its neighbours together: it is bound to the
    /// one before, and has the hash that the one behind is bound to. Gives back what has to be told
    /// of it.
    pub(super) fn put_stand_in(
        &self,
        row: &DamagedRow,
        id: i64,
        original: Option<&Original>,
        by: &str,
    ) -> Result<Value, StoreError> {
        let Some(prev) = self.audit_hash(id - 1)? else {
            let at = RowAt::Audit(id - 1);
            return Err(StoreError::Unreadable { at, what: RowFault::Missing.to_string() });
        };
        let near = "SELECT at_ms FROM audit WHERE id IN (?1 - 1, ?1 + 1) ORDER BY id LIMIT 1";
        let at_ms = match original {
            Some(original) => original.number_of("at_ms"),
            // Rows are in the order of time.
            None => {
                let near = self.conn.query_row(near, [id], |row| row.get(0)).optional()?;
                near.unwrap_or_else(now_ms)
            }
        };
        let call = original.map(|original| original.text_of("call")).unwrap_or_default();
        let call = if call.parse::<CallId>().is_ok() { call } else { "" };
        let body = canonical_json(&told_of(row, by));
        let linked = link(&prev, id, at_ms, PUT_ASIDE, call, &body);
        let hash = self.hash_wanted(id, original)?.unwrap_or_else(|| linked.clone());
        self.take_out(id)?;
        self.conn.execute(
            "INSERT INTO audit(id, at_ms, kind, call, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![id, at_ms, PUT_ASIDE, call, body, prev, hash],
        )?;
        Ok(json!(Attested { number: id, hash, stand_in: linked, what: row.fault.to_string() }))
    }

    /// The hash of the row that was here: as the next one names it, or the head, or the row itself.
    fn hash_wanted(
        &self,
        id: i64,
        original: Option<&Original>,
    ) -> Result<Option<String>, StoreError> {
        let is_hash = |text: &String| {
            text.len() == HASH_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let next = "SELECT prev FROM audit WHERE id = ?1";
        let next = self
            .conn
            .query_row(next, [id + 1], |row| {
                Ok(row.get_ref(0)?.as_str().ok().map(ToOwned::to_owned))
            })
            .optional()?
            .flatten();
        let head = self.newest_audit()?;
        let head = (head.number == id).then_some(head.digest);
        let own = original.map(|original| original.text_of("hash").to_owned());
        Ok(next.filter(is_hash).or(head).or(own.filter(is_hash)))
    }

    /// What the rows of the audit say of stand-ins. Whether these rows are of the chain is for
    /// those who walk it.
    fn attestations(&self) -> Result<Vec<Attestation>, StoreError> {
        let mut query = self
            .conn
            .prepare("SELECT id, at_ms, body FROM audit WHERE kind = 'put_aside' ORDER BY id")?;
        let mut rows = query.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if let Ok(attested) = check(&row.get_ref(2)?) {
                found.push(Attestation { id: row.get(0)?, at_ms: row.get(1)?, attested });
            }
        }
        Ok(found)
    }
}

pub(super) fn told_of(row: &DamagedRow, by: &str) -> Value {
    let session = row.session.as_ref().map(|session| session.as_str());
    json!({"row": row.at.to_string(), "session": session, "what": row.fault.to_string(), "by": by})
}
