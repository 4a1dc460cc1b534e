//! Rows of the audit that cannot be read or have no place: finds them and puts them aside. Must not
//! know seals, nor what makes a stand-in count.

use rusqlite::{OptionalExtension as _, Row, params};
use serde_json::Value;

use super::audit::{AuditEntry, Stored};
use super::audit_stand_in::{PUT_ASIDE, told_of};
use super::damaged::{ROW_NUMBER_MAX, check};
use super::damaged_tables::{column, texts};
use super::put_aside::Original;
use super::{DamagedRow, RowAt, RowFault, StoreError, Tx, meta};

/// How many rows in a row may be missing. A longer gap is not put together again.
const GAP_ROWS_MAX: i64 = 1_000;
const ONE: &str = "SELECT * FROM audit WHERE id = ?1";
/// What to do about a row that is damaged and not merely changed.
pub(super) const NEXT: &str = "If a disk, a crash or an editor explains it, `claw doctor \
    --repair` puts a note in its place, and this proof tells of it forever. Otherwise keep the \
    home as it is, and ask who else can write to it";

/// What is wrong with a row as a whole, by the reader that `claw audit` uses.
fn fault(row: &Row<'_>) -> Result<(), String> {
    texts(row)?;
    check::<Value>(&column(row, "body")?).map(drop).map_err(|what| format!("its body: {what}"))
}

/// Why a row that does not fit its hash cannot be read, if that is so.
pub(super) fn unreadable_body(body: &str) -> Option<String> {
    serde_json::from_str::<Value>(body).err().map(|error| format!("its body: {error}"))
}

impl Tx<'_> {
    /// Rows that readers of the audit stumble over, and places that are empty. What was merely
    /// changed is not among them: it can be read, and is evidence.
    pub(super) fn damaged_audit(&self, found: &mut Vec<DamagedRow>) -> Result<(), StoreError> {
        let (mut strays, mut places) = (Vec::new(), Vec::new());
        self.at_one_moment(|| {
            let (cut, head) = self.ends_of_audit(found)?;
            let mut query = self
                .conn
                .prepare("SELECT id, at_ms, kind, call, body, prev, hash FROM audit ORDER BY id")?;
            let mut rows = query.query([])?;
            let mut last = cut;
            let gap = |from: i64, to: i64| {
                let few = to - from < GAP_ROWS_MAX;
                (from..=to).filter(move |_| few).map(|id| (id, RowFault::Missing))
            };
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                if id > ROW_NUMBER_MAX {
                    strays.push((id, RowFault::TooHigh));
                    continue;
                }
                if id <= cut || (id > head && id > last + 1) {
                    strays.push((id, RowFault::FarAhead { after: last }));
                    continue;
                }
                places.extend(gap(last + 1, id - 1));
                if let Err(what) = fault(row) {
                    places.push((id, RowFault::Unreadable(what)));
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

    /// Where the audit begins and ends. What of it cannot be read is found, and the rows themselves
    /// are asked.
    fn ends_of_audit(&self, found: &mut Vec<DamagedRow>) -> Result<(i64, i64), StoreError> {
        let mut value = |key: &str, read: Result<(i64, String), StoreError>| match read {
            Ok((number, _)) => Ok(Some(number)),
            Err(StoreError::Unreadable { what, .. }) => {
                let is_missing = what == RowFault::Missing.to_string();
                let fault = if is_missing { RowFault::Missing } else { RowFault::Unreadable(what) };
                found.push(DamagedRow { at: meta::at(key), session: None, fault });
                Ok(None)
            }
            Err(error) => Err(error),
        };
        let cut = match self.audit_cut() {
            Ok((0, _)) if self.cut_by_chain()?.is_some() => Err(StoreError::Unreadable {
                at: meta::at(meta::AUDIT_CUT),
                what: RowFault::Missing.to_string(),
            }),
            read => read,
        };
        let (cut, head) =
            (value(meta::AUDIT_CUT, cut)?, value(meta::AUDIT_HEAD, self.audit_head())?);
        if self.has_unreadable_seal()? {
            let fault = RowFault::Unreadable("it is no key with a number and a seal".to_owned());
            found.push(DamagedRow { at: meta::at(meta::AUDIT_SEAL), session: None, fault });
        }
        let ends = "SELECT (SELECT min(id) FROM audit), (SELECT max(id) FROM audit WHERE id <= ?1)";
        let (oldest, newest): (Option<i64>, Option<i64>) =
            self.conn.query_row(ends, [ROW_NUMBER_MAX], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let cut = match cut {
            Some(cut) => cut,
            None => self.cut_by_chain()?.map_or(oldest.unwrap_or(1) - 1, |(through, _)| through),
        };
        Ok((cut, head.or(newest).unwrap_or(cut)))
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
            (Some(original), RowFault::TooHigh | RowFault::FarAhead { .. }) => {
                self.put_stray_aside(row, id, original)?;
                None
            }
            (Some(original), RowFault::Unreadable(_)) if self.still_damaged(ONE, &id, fault)? => {
                self.keep_original("audit", &id.to_string(), original, row)?;
                Some(self.put_stand_in(row, id, Some(original), by)?)
            }
            (None, RowFault::Missing) => Some(self.put_stand_in(row, id, None, by)?),
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

    /// Takes one row out, past the trigger that keeps rows from going. The trigger is back before
    /// the transaction ends, and a kill before that brings the row back.
    pub(super) fn take_out(&self, id: i64) -> Result<(), StoreError> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_list_of_the_audit_cannot_read_is_damaged() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(unreadable_body(&nested(100)), None);
        let why = unreadable_body(&nested(130)).unwrap_or_default();
        assert!(why.contains("recursion limit"), "{why}");
        // The doctor looks by the same reader.
        assert!(check::<Value>(&rusqlite::types::ValueRef::Text(nested(130).as_bytes())).is_err());
    }
}
