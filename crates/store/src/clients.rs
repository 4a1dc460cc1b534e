//! The MCP clients that call claw: which there are, what each has used today, and which process
//! sees to each of their calls. A call is allocated, taken up, taken over and handed out by one
//! compare-and-set each. Must not know what a client may do.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::{Address, ClientName, UnixMillis};

/// How long the end of a call is kept for a client that has not fetched it, in milliseconds.
const KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// A client that has called, or has a token.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ClientRow {
    pub name: ClientName,
    pub since_ms: UnixMillis,
    /// When it called last; `None` before the first time.
    pub seen_ms: Option<UnixMillis>,
    pub revoked_ms: Option<UnixMillis>,
    /// The day that is counted, as year, month and day.
    pub day: String,
    pub day_calls: u64,
    pub day_tokens: u64,
    /// The day of which the owner was told that its budget is used up.
    pub told_day: String,
}

impl ClientRow {
    /// What it has used on a day: calls, tokens.
    pub fn used_on(&self, day: &str) -> (u64, u64) {
        if self.day == day { (self.day_calls, self.day_tokens) } else { (0, 0) }
    }
}

/// One call of a client, as far as somebody has to see to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCallRow {
    pub client: ClientName,
    pub number: u64,
    /// Over server, tool and canonical arguments.
    pub digest: String,
    /// By which the request that began it is known when it is sent again.
    pub mark: Option<String>,
    /// The instance that takes the call through the gate.
    pub driver: Address,
    /// The request that waits for its end; `None` where nobody waits.
    pub holder: Option<Address>,
    pub at_ms: UnixMillis,
    pub ended_ms: Option<UnixMillis>,
    /// When its end was given to the client.
    pub handed_ms: Option<UnixMillis>,
}

const CLIENT: &str = "name, since_ms, seen_ms, revoked_ms, day, day_calls, day_tokens, told_day";
const CALL: &str = "client, number, digest, driver, holder, at_ms, ended_ms, handed_ms, mark";

fn name(text: String) -> Result<ClientName, StoreError> {
    ClientName::new(text).map_err(|wrong| StoreError::Decode(format!("a client: {wrong}")))
}

fn read_client(row: &Row<'_>) -> Result<ClientRow, StoreError> {
    let count = |index| row.get::<_, i64>(index).map(i64::unsigned_abs);
    Ok(ClientRow {
        name: name(row.get(0)?)?,
        since_ms: row.get(1)?,
        seen_ms: row.get(2)?,
        revoked_ms: row.get(3)?,
        day: row.get(4)?,
        day_calls: count(5)?,
        day_tokens: count(6)?,
        told_day: row.get(7)?,
    })
}

fn read_call(row: &Row<'_>) -> Result<ClientCallRow, StoreError> {
    let holder: String = row.get(4)?;
    Ok(ClientCallRow {
        client: name(row.get(0)?)?,
        number: row.get::<_, i64>(1)?.unsigned_abs(),
        digest: row.get(2)?,
        driver: Address(row.get(3)?),
        holder: (!holder.is_empty()).then_some(Address(holder)),
        at_ms: row.get(5)?,
        ended_ms: row.get(6)?,
        handed_ms: row.get(7)?,
        mark: row.get(8)?,
    })
}

impl Tx<'_> {
    pub fn client(&self, client: &ClientName) -> Result<Option<ClientRow>, StoreError> {
        let mut query =
            self.conn.prepare_cached(&format!("SELECT {CLIENT} FROM clients WHERE name = ?1"))?;
        let found = query.query_row([client.as_str()], |row| Ok(read_client(row)));
        found.optional()?.transpose()
    }

    /// All clients, by name.
    pub fn clients(&self) -> Result<Vec<ClientRow>, StoreError> {
        let mut query =
            self.conn.prepare_cached(&format!("SELECT {CLIENT} FROM clients ORDER BY name"))?;
        let rows = query.query_map([], |row| Ok(read_client(row)))?;
        rows.map(|row| row?).collect()
    }

    /// Makes a client known. One that is known stays as it is.
    pub fn add_client(&self, client: &ClientName) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO clients(name, since_ms) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![client.as_str(), now_ms()])?;
        Ok(())
    }

    /// Says whether a client is refused from now on. False: it was so before, or there is none.
    pub fn set_client_revoked(&self, client: &ClientName, is: bool) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE clients SET revoked_ms = ?2
                 WHERE name = ?1 AND (revoked_ms IS NULL) <> (?2 IS NULL)",
            )?
            .execute(params![client.as_str(), is.then(now_ms)])?;
        Ok(changed == 1)
    }

    /// Counts what a client has used on a day. Of an earlier day nothing is kept.
    pub fn count_client(
        &self,
        client: &ClientName,
        day: &str,
        (calls, tokens): (u64, u64),
    ) -> Result<(), StoreError> {
        self.add_client(client)?;
        self.conn
            .prepare_cached(
                "UPDATE clients SET seen_ms = ?2, day = ?3,
                     day_calls = iif(day = ?3, day_calls, 0) + ?4,
                     day_tokens = iif(day = ?3, day_tokens, 0) + ?5
                 WHERE name = ?1",
            )?
            .execute(params![client.as_str(), now_ms(), day, calls as i64, tokens as i64])?;
        Ok(())
    }

    /// Notes that the owner is told of a client's day. False: that was done.
    pub fn tell_of_client(&self, client: &ClientName, day: &str) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached("UPDATE clients SET told_day = ?2 WHERE name = ?1 AND told_day <> ?2")?
            .execute([client.as_str(), day])?;
        Ok(changed == 1)
    }

    /// Allocates the next number of a client's calls, driven by this instance and waited for by
    /// this request.
    pub fn add_client_call(
        &self,
        client: &ClientName,
        (digest, mark): (&str, Option<&str>),
        (driver, holder): (&Address, &Address),
    ) -> Result<u64, StoreError> {
        let now = now_ms();
        self.add_client(client)?;
        let number: i64 = self
            .conn
            .prepare_cached(
                "UPDATE clients SET last_number = last_number + 1 WHERE name = ?1
                 RETURNING last_number",
            )?
            .query_row([client.as_str()], |row| row.get(0))?;
        self.conn
            .prepare_cached(
                "INSERT INTO client_calls(client, number, digest, mark, driver, holder, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![client.as_str(), number, digest, mark, driver.0, holder.0, now])?;
        self.conn
            .prepare_cached("DELETE FROM client_calls WHERE ended_ms < ?1")?
            .execute([now - KEPT_MS])?;
        Ok(number.unsigned_abs())
    }

    pub fn client_call(
        &self,
        client: &ClientName,
        number: u64,
    ) -> Result<Option<ClientCallRow>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT {CALL} FROM client_calls WHERE client = ?1 AND number = ?2"
        ))?;
        let found = query
            .query_row(params![client.as_str(), number as i64], |row| Ok(read_call(row)))
            .optional()?;
        found.transpose()
    }

    /// The calls of a client with this digest, the oldest first, whose end was not handed out, or
    /// only after `handed_after`.
    pub fn client_calls_like(
        &self,
        client: &ClientName,
        digest: &str,
        handed_after: UnixMillis,
    ) -> Result<Vec<ClientCallRow>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT {CALL} FROM client_calls WHERE client = ?1 AND digest = ?2
             AND (handed_ms IS NULL OR handed_ms > ?3) ORDER BY number"
        ))?;
        let rows = query
            .query_map(params![client.as_str(), digest, handed_after], |row| Ok(read_call(row)))?;
        rows.map(|row| row?).collect()
    }

    /// The calls that have no end yet.
    pub fn open_client_calls(&self) -> Result<Vec<ClientCallRow>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT {CALL} FROM client_calls INDEXED BY client_calls_open
             WHERE ended_ms IS NULL ORDER BY client, number"
        ))?;
        let rows = query.query_map([], |row| Ok(read_call(row)))?;
        rows.map(|row| row?).collect()
    }

    /// How many calls of a client have no end yet.
    pub fn open_calls_of_client(&self, client: &ClientName) -> Result<u64, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT count(*) FROM client_calls INDEXED BY client_calls_open
             WHERE client = ?1 AND ended_ms IS NULL",
        )?;
        let count: i64 = query.query_row([client.as_str()], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Moves a call that has no end from one driver to another. False: somebody else was faster.
    pub fn drive_client_call(
        &self,
        client: &ClientName,
        number: u64,
        (from, to): (&Address, &Address),
    ) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE client_calls SET driver = ?4
                 WHERE client = ?1 AND number = ?2 AND driver = ?3 AND ended_ms IS NULL",
            )?
            .execute(params![client.as_str(), number as i64, from.0, to.0])?;
        Ok(changed == 1)
    }

    /// Says who waits for the end of a call. False: somebody else than `from` does. For whoever
    /// waits from here on it was not handed out.
    pub fn hold_client_call(
        &self,
        client: &ClientName,
        number: u64,
        (from, to): (Option<&Address>, Option<&Address>),
    ) -> Result<bool, StoreError> {
        let text = |holder: Option<&Address>| holder.map_or("", |holder| &holder.0).to_owned();
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE client_calls SET holder = ?4, handed_ms = iif(?4 = '', handed_ms, NULL)
                 WHERE client = ?1 AND number = ?2 AND holder = ?3",
            )?
            .execute(params![client.as_str(), number as i64, text(from), text(to)])?;
        Ok(changed == 1)
    }

    /// The request that waits for the end of a call has gone without it. An end that was on its way
    /// to it was not handed out.
    pub fn let_go_client_call(
        &self,
        client: &ClientName,
        number: u64,
        by: &Address,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE client_calls SET holder = '', handed_ms = NULL
                 WHERE client = ?1 AND number = ?2 AND holder = ?3",
            )?
            .execute(params![client.as_str(), number as i64, by.0])?;
        Ok(())
    }

    /// The call has its end. Nobody drives it any more. False if it had one already.
    pub fn end_client_call(&self, client: &ClientName, number: u64) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE client_calls SET ended_ms = ?3
                 WHERE client = ?1 AND number = ?2 AND ended_ms IS NULL",
            )?
            .execute(params![client.as_str(), number as i64, now_ms()])?;
        Ok(changed == 1)
    }

    /// Forgets a call of which nothing but its number is known, unless another instance than this
    /// one has taken it over.
    pub fn forget_client_call(
        &self,
        client: &ClientName,
        number: u64,
        driver: &Address,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "DELETE FROM client_calls
                 WHERE client = ?1 AND number = ?2 AND driver = ?3 AND ended_ms IS NULL",
            )?
            .execute(params![client.as_str(), number as i64, driver.0])?;
        Ok(())
    }

    /// Hands the end of a call to this request. False: another one holds it.
    pub fn hand_client_call(
        &self,
        client: &ClientName,
        number: u64,
        by: &Address,
    ) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE client_calls SET handed_ms = ?4, ended_ms = coalesce(ended_ms, ?4)
                 WHERE client = ?1 AND number = ?2 AND holder = ?3",
            )?
            .execute(params![client.as_str(), number as i64, by.0, now_ms()])?;
        Ok(changed == 1)
    }
}
