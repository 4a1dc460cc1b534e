//! The outbox: what a door still has to show. At least once: a row is marked after it was shown.

use rusqlite::params;

use super::damaged::json_at;
use super::{RowAt, StoreError, Tx, now_ms};
use claw_domain::{Address, Outbound, SessionId, UnixMillis};

#[derive(Clone, Debug)]
pub struct OutboxRow {
    pub id: i64,
    pub at_ms: UnixMillis,
    /// A door had begun to show part number `parts_sent` when it was last heard of: that part may
    /// or may not be there.
    pub sending: bool,
    /// How many parts of it are certainly there.
    pub parts_sent: u32,
    pub outbound: Outbound,
}

impl Tx<'_> {
    pub fn add_outbound(&self, outbound: &Outbound) -> Result<i64, StoreError> {
        self.conn
            .prepare_cached("INSERT INTO outbox(session, door, address, at_ms, body) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![
                outbound.session.as_str(),
                outbound.to.door(),
                outbound.to.0,
                now_ms(),
                serde_json::to_string(outbound)?
            ])
            .map_err(|error| self.numbers_over(error, "outbox", RowAt::Outbox))?;
        Ok(self.conn.last_insert_rowid())
    }

    /// What waits for one address, oldest first.
    pub fn queued_outbound(&self, to: &Address) -> Result<Vec<OutboxRow>, StoreError> {
        self.outbound_rows("door = ?1 AND address = ?2", params![to.door(), to.0])
    }

    /// What waits for any instance of a door in one session, oldest first: the leftovers of
    /// instances that died.
    pub fn queued_outbound_of(
        &self,
        door: &str,
        session: &SessionId,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        self.outbound_rows("door = ?1 AND session = ?2", params![door, session.as_str()])
    }

    fn outbound_rows(
        &self,
        which: &str,
        given: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let sql = format!(
            "SELECT id, at_ms, body, state, parts_sent, address FROM outbox
             WHERE {which} AND state IN ('queued', 'sending') ORDER BY id"
        );
        self.all(&sql, given, |row| {
            let id = row.get(0)?;
            let mut outbound: Outbound = json_at(row, 2, || RowAt::Outbox(id))?;
            // The body keeps the one that it was written for.
            outbound.to = Address(row.get(5)?);
            Ok(OutboxRow {
                id,
                at_ms: row.get(1)?,
                sending: row.get::<_, String>(3)? == "sending",
                parts_sent: row.get(4)?,
                outbound,
            })
        })
    }

    /// Marks a row that was shown elsewhere already: the same words of the same turn, at another
    /// address. True if it was so.
    pub fn mark_if_shown_elsewhere(&self, id: i64) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE outbox SET state = 'sent' WHERE id = ?1 AND state = 'queued' AND EXISTS(
                     SELECT 1 FROM outbox AS other WHERE other.session = outbox.session AND other.state = 'sent'
                     AND other.id <> outbox.id AND other.at_ms BETWEEN outbox.at_ms - 1000 AND outbox.at_ms + 1000
                     AND CASE WHEN json_valid(other.body) AND json_valid(outbox.body) THEN
                         json_extract(other.body, '$.body') = json_extract(outbox.body, '$.body') END)",
            )?
            .execute([id])?;
        Ok(changed == 1)
    }

    /// Hands a row from one instance of a door to another. False when it was shown or handed over
    /// already.
    pub fn readdress(&self, id: i64, from: &Address, to: &Address) -> Result<bool, StoreError> {
        let sql =
            "UPDATE outbox SET address = ?3 WHERE id = ?1 AND address = ?2 AND state = 'queued'";
        let changed = self.conn.prepare_cached(sql)?.execute(params![id, from.0, to.0])?;
        Ok(changed == 1)
    }

    /// The addresses at a door for which something waits.
    pub fn addresses_with_outbound(&self, door: &str) -> Result<Vec<Address>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT DISTINCT address FROM outbox WHERE door = ?1 AND state IN ('queued', 'sending') ORDER BY address",
        )?;
        let rows = query.query_map([door], |row| Ok(Address(row.get(0)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes that a door begins to show the part after the `parts_sent` ones that are there.
    pub fn mark_sending(&self, id: i64, parts_sent: u32) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE outbox SET state = 'sending', parts_sent = ?2 WHERE id = ?1")?
            .execute(params![id, parts_sent])?;
        Ok(())
    }

    /// Puts a row back that could not be shown, with the parts that are there.
    pub fn mark_queued(&self, id: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE outbox SET state = 'queued' WHERE id = ?1 AND state = 'sending'",
            )?
            .execute([id])?;
        Ok(())
    }

    pub fn mark_sent(&self, id: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE outbox SET state = 'sent' WHERE id = ?1")?
            .execute([id])?;
        Ok(())
    }
}
