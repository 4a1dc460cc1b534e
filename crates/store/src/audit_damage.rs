//! Rows of the audit that cannot be read: finds them, and puts a stand-in where each was, so that
//! the chain holds before and after. A stand-in counts if a later row of the chain tells of it.
//! Must not know seals.

use rusqlite::{OptionalExtension as _, Row, params};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::audit::{AuditEntry, Broken, Stored, link};
use super::damaged::{ROW_NUMBER_MAX, check};
use super::damaged_tables::{column, texts};
use super::put_aside::Original;
use super::{DamagedRow, Fault, RowAt, StoreError, Tx, now_ms};
use claw_domain::canonical::canonical_json;
use claw_domain::{CallId, UnixMillis};

/// The kind of a stand-in, and of the row that tells of a repair.
pub(super) const PUT_ASIDE: &str = "put_aside";
/// How many rows in a row may be missing. A longer gap is not put together again.
const GAP_ROWS_MAX: i64 = 1_000;
const ONE: &str = "SELECT * FROM audit WHERE id = ?1";
/// Digits of a hash.
const HASH_DIGITS: usize = 64;

/// What to do about a row that is damaged and not merely changed.
pub(super) const NEXT: &str = "If a disk, a crash or an editor explains it, `claw doctor --repair` puts a note in its \
                               place, and this proof tells of it for good. Otherwise keep the home as it is, and ask \
                               who else can write to it";

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

/// What is wrong with a row as a whole.
fn fault(row: &Row<'_>) -> Result<(), String> {
    texts(row)?;
    check::<IgnoredAny>(&column(row, "body")?).map(drop).map_err(|what| format!("its body: {what}"))
}

/// Why a row that does not fit its hash cannot be read, if that is so.
pub(super) fn unreadable_body(body: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(body).err().map(|error| format!("its body: {error}"))
}

impl Tx<'_> {
    /// Rows that readers of the audit stumble over, and places that are empty. What was merely
    /// changed is not among them: it can be read, and is evidence.
    pub(super) fn damaged_audit(&self, found: &mut Vec<DamagedRow>) -> Result<(), StoreError> {
        let (mut strays, mut places) = (Vec::new(), Vec::new());
        self.at_one_moment(|| {
            let (cut, head) = (self.audit_cut()?.0, self.newest_audit()?.number);
            let mut query = self
                .conn
                .prepare("SELECT id, at_ms, kind, call, body, prev, hash FROM audit ORDER BY id")?;
            let mut rows = query.query([])?;
            let mut last = cut;
            let gap = |from: i64, to: i64| {
                let few = to - from < GAP_ROWS_MAX;
                (from..=to).filter(move |_| few).map(|id| (id, Fault::Missing))
            };
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                if id > ROW_NUMBER_MAX {
                    strays.push((id, Fault::TooHigh));
                    continue;
                }
                if id <= cut || (id > head && id > last + 1) {
                    strays.push((id, Fault::FarAhead { after: last }));
                    continue;
                }
                places.extend(gap(last + 1, id - 1));
                if let Err(what) = fault(row) {
                    places.push((id, Fault::Unreadable(what)));
                }
                last = id;
            }
            places.extend(gap(last + 1, head));
            Ok(())
        })?;
        // First what may go back to its place.
        let rows = strays.into_iter().chain(places);
        found.extend(rows.map(|(id, fault)| DamagedRow {
            at: RowAt::Audit(id),
            session: None,
            fault,
        }));
        Ok(())
    }

    pub(super) fn put_audit_aside(
        &self,
        row: &DamagedRow,
        id: i64,
        by: &str,
    ) -> Result<bool, StoreError> {
        // Otherwise it would look like somebody's without the key.
        if self.anchor.is_none() && self.has_seal()? {
            return Err(StoreError::NoKey);
        }
        let original = self.original(ONE, params![id], "body")?;
        let stand_in = match (&original, &row.fault) {
            (Some(original), Fault::TooHigh | Fault::FarAhead { .. }) => {
                self.put_stray_aside(row, id, original)?;
                None
            }
            (Some(original), Fault::Unreadable(_)) if self.still_damaged(ONE, &id, fault)? => {
                self.keep_original("audit", &id.to_string(), original, row)?;
                Some(self.put_stand_in(row, id, Some(original), by)?)
            }
            (None, Fault::Missing) => Some(self.put_stand_in(row, id, None, by)?),
            _ => return Ok(false),
        };
        self.tell_put_aside(row, by, stand_in)?;
        Ok(true)
    }

    /// Says in the audit what was put aside, and what stands in the chain in its place.
    pub(super) fn tell_put_aside(
        &self,
        row: &DamagedRow,
        by: &str,
        stand_in: Option<Value>,
    ) -> Result<(), StoreError> {
        let mut body = told_of(row, by);
        if let (Some(body), Some(Value::Object(stand_in))) = (body.as_object_mut(), stand_in) {
            body.extend(stand_in);
        }
        self.audit(&AuditEntry { kind: PUT_ASIDE, call: String::new(), body })
    }

    /// A row whose own hash names its place goes back there, if that is empty. Any other one goes.
    fn put_stray_aside(
        &self,
        row: &DamagedRow,
        id: i64,
        original: &Original,
    ) -> Result<(), StoreError> {
        self.keep_original("audit", &id.to_string(), original, row)?;
        if let Some(place) = self.place_by_hash(id)? {
            self.conn.execute(
                "INSERT INTO audit(id, at_ms, kind, call, body, prev, hash)
                 SELECT ?2, at_ms, kind, call, body, prev, hash FROM audit WHERE id = ?1",
                params![id, place],
            )?;
        }
        self.take_out(id)
    }

    fn place_by_hash(&self, id: i64) -> Result<Option<i64>, StoreError> {
        let head = self.newest_audit()?.number;
        let (cut, cut_hash) = self.audit_cut()?;
        let mut query = self
            .conn
            .prepare("SELECT id, at_ms, kind, call, body, prev, hash FROM audit WHERE id = ?1")?;
        let mut rows = query.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let Ok(stored) = Stored::of(row) else { return Ok(None) };
        let before = "SELECT id FROM audit WHERE hash = ?1 AND id < ?2 ORDER BY id DESC LIMIT 1";
        let before = match stored.prev == cut_hash {
            true => Some(cut),
            false => self
                .conn
                .query_row(before, params![stored.prev, head], |row| row.get(0))
                .optional()?,
        };
        let Some(place) = before.map(|before: i64| before + 1) else { return Ok(None) };
        let taken = "SELECT EXISTS(SELECT 1 FROM audit WHERE id = ?1)";
        let taken: bool = self.conn.query_row(taken, [place], |row| row.get(0))?;
        let fits = stored.linked_as(place) == stored.hash;
        Ok((fits && !taken && place <= head).then_some(place))
    }

    /// Puts a row into a place of the chain that holds its neighbours together: it is bound to the
    /// one before, and has the hash that the one behind is bound to. Gives back what has to be told
    /// of it.
    fn put_stand_in(
        &self,
        row: &DamagedRow,
        id: i64,
        original: Option<&Original>,
        by: &str,
    ) -> Result<Value, StoreError> {
        let Some(prev) = self.audit_hash(id - 1)? else {
            let at = RowAt::Audit(id - 1);
            return Err(StoreError::Unreadable { at, what: Fault::Missing.to_string() });
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

    /// Takes one row out, past the trigger that keeps rows from going. The trigger is back before
    /// the transaction ends, and a kill before that brings the row back.
    fn take_out(&self, id: i64) -> Result<(), StoreError> {
        let text =
            "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = 'audit_no_delete'";
        let text: Option<String> = self.conn.query_row(text, [], |row| row.get(0)).optional()?;
        self.conn.execute_batch("DROP TRIGGER IF EXISTS audit_no_delete")?;
        self.conn.execute("DELETE FROM audit WHERE id = ?1", [id])?;
        if let Some(text) = text {
            self.conn.execute_batch(&text)?;
        }
        Ok(())
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

fn told_of(row: &DamagedRow, by: &str) -> Value {
    let session = row.session.as_ref().map(|session| session.as_str());
    json!({"row": row.at.to_string(), "session": session, "what": row.fault.to_string(), "by": by})
}
