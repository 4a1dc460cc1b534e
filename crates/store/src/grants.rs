//! Standing answers of the owner: grants that turn *ask* into *allow*, and refusals that deny from
//! now on.

use rusqlite::{OptionalExtension as _, Row, ToSql, params};

use super::{RowAt, StoreError, Tx, boot, now_ms};
use claw_domain::{GrantEffect, Origin, SessionId, UnixMillis};

/// A grant to be stored. `shape` is the gate's JSON for the arguments it covers; the store does not
/// read it.
#[derive(Clone, Debug)]
pub struct NewGrant {
    pub effect: GrantEffect,
    pub principal: String,
    /// Only calls of this session, when set.
    pub session: Option<SessionId>,
    pub server: String,
    pub tool: String,
    pub shape: String,
    /// The lowest origin that it extends to.
    pub origin: Origin,
    /// One sentence for a person.
    pub says: String,
    pub expires_ms: Option<UnixMillis>,
    pub approval: String,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct GrantRow {
    pub id: i64,
    pub effect: GrantEffect,
    pub principal: String,
    pub session: Option<SessionId>,
    pub server: String,
    pub tool: String,
    pub shape: String,
    pub origin: Origin,
    pub says: String,
    pub created_ms: UnixMillis,
    pub expires_ms: Option<UnixMillis>,
    /// How many calls it has decided without a question.
    pub uses: i64,
    pub last_used_ms: Option<UnixMillis>,
}

/// A grant, whether it is in force or not.
#[derive(Clone, Debug)]
pub struct GrantSaid {
    /// Server and tool.
    pub name: (String, String),
    pub says: String,
    pub revoked_ms: Option<UnixMillis>,
}

/// By the clock or the newest row of the audit, whichever is later, and by the time that the system
/// is up: a clock that was put back gives nothing back.
const LIVE: &str = "SELECT id, effect, principal, session, server, tool, shape, origin, says, created_ms, expires_ms,
                           uses, last_used_ms
                    FROM grants WHERE revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms >
                        max(?1, coalesce((SELECT at_ms FROM audit WHERE id = (SELECT max(id) FROM audit)), 0)))
                    AND (boot = '' OR boot <> ?2 OR boot_ends_ms IS NULL OR boot_ends_ms > ?3)";

fn read(row: &Row<'_>) -> Result<GrantRow, StoreError> {
    let (effect, origin): (String, String) = (row.get(1)?, row.get(7)?);
    let session: Option<String> = row.get(3)?;
    Ok(GrantRow {
        id: row.get(0)?,
        effect: GrantEffect::parse(&effect)
            .ok_or_else(|| StoreError::Decode(format!("effect `{effect}`")))?,
        principal: row.get(2)?,
        session: session
            .map(SessionId::new)
            .transpose()
            .map_err(|wrong| StoreError::Decode(format!("a grant's session: {wrong}")))?,
        server: row.get(4)?,
        tool: row.get(5)?,
        shape: row.get(6)?,
        origin: Origin::parse(&origin)
            .ok_or_else(|| StoreError::Decode(format!("origin `{origin}`")))?,
        says: row.get(8)?,
        created_ms: row.get(9)?,
        expires_ms: row.get(10)?,
        uses: row.get(11)?,
        last_used_ms: row.get(12)?,
    })
}

impl Tx<'_> {
    pub fn add_grant(&self, grant: &NewGrant) -> Result<i64, StoreError> {
        let (now, up) = (now_ms(), boot::uptime());
        self.conn
            .prepare_cached(
                "INSERT INTO grants(effect, principal, session, server, tool, shape, origin, says, created_ms, expires_ms,
                                    approval, boot, boot_ends_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )?
            .execute(params![
                grant.effect.as_str(),
                grant.principal,
                grant.session.as_ref().map(SessionId::as_str),
                grant.server,
                grant.tool,
                grant.shape,
                grant.origin.as_str(),
                grant.says,
                now,
                grant.expires_ms,
                grant.approval,
                up.boot,
                grant.expires_ms.map(|at_ms| up.ms.saturating_add(at_ms - now))
            ])?;
        Ok(self.conn.last_insert_rowid())
    }

    /// Before a row of the audit that is older than the newest one: the clock was put back. What
    /// had ended by the newest row stays ended, and of what had not no more is left than there was.
    pub(super) fn keep_ended_grants(&self, at_ms: UnixMillis) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE grants SET
                     revoked_ms = iif(expires_ms <= newest.at_ms, expires_ms, NULL),
                     expires_ms = iif(expires_ms <= newest.at_ms, expires_ms, expires_ms - (newest.at_ms - ?1))
                 FROM (SELECT at_ms FROM audit WHERE id = (SELECT max(id) FROM audit)) AS newest
                 WHERE grants.revoked_ms IS NULL AND grants.expires_ms IS NOT NULL AND newest.at_ms > ?1",
            )?
            .execute([at_ms])?;
        Ok(())
    }

    /// Closes the grants whose time is over by the clock and by the newest row of the audit, so
    /// that no look for grants in force reads past them. One of the two alone may be ahead. Gives
    /// back how many were closed.
    pub fn close_expired_grants(&self) -> Result<usize, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "UPDATE grants SET revoked_ms = expires_ms
                 WHERE revoked_ms IS NULL AND expires_ms <=
                     min(?1, (SELECT at_ms FROM audit WHERE id = (SELECT max(id) FROM audit)))",
            )?
            .execute([now_ms()])?)
    }

    /// The grants in force for one tool.
    pub fn grants_for(&self, server: &str, tool: &str) -> Result<Vec<GrantRow>, StoreError> {
        self.grant_rows(" AND server = ?4 AND tool = ?5", &[&server, &tool])
    }

    /// Whether this grant is in force.
    pub fn grant_holds(&self, id: i64) -> Result<bool, StoreError> {
        Ok(self.grant(id)?.is_some())
    }

    /// This grant, if it is in force.
    pub fn grant(&self, id: i64) -> Result<Option<GrantRow>, StoreError> {
        Ok(self.grant_rows(" AND id = ?4", &[&id])?.pop())
    }

    /// What a grant says, also when it has ended, and when that was, as far as it is noted.
    pub fn grant_said(&self, id: i64) -> Result<Option<GrantSaid>, StoreError> {
        let mut query = self
            .conn
            .prepare_cached("SELECT server, tool, says, revoked_ms FROM grants WHERE id = ?1")?;
        let said = query.query_row([id], |row| {
            let name = (row.get(0)?, row.get(1)?);
            Ok(GrantSaid { name, says: row.get(2)?, revoked_ms: row.get(3)? })
        });
        Ok(said.optional()?)
    }

    /// Counts one call that a grant has decided without a question. Belongs into the transaction
    /// that starts or ends the call, so that no call counts twice.
    pub fn count_use(&self, id: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE grants SET uses = uses + 1, last_used_ms = ?2 WHERE id = ?1")?
            .execute(params![id, now_ms()])?;
        Ok(())
    }

    /// All grants in force.
    pub fn grants(&self) -> Result<Vec<GrantRow>, StoreError> {
        self.grant_rows(" ORDER BY id", &[])
    }

    fn grant_rows(&self, rest: &str, given: &[&dyn ToSql]) -> Result<Vec<GrantRow>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!("{LIVE}{rest}"))?;
        let (now, up) = (now_ms(), boot::uptime());
        let when: [&dyn ToSql; 3] = [&now, &up.boot, &up.ms];
        let given: Vec<&dyn ToSql> = when.into_iter().chain(given.iter().copied()).collect();
        let mut rows = query.query(given.as_slice())?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            let unreadable = |error: StoreError| StoreError::Unreadable {
                at: RowAt::Grant(id),
                what: error.to_string(),
            };
            found.push(read(row).map_err(unreadable)?);
        }
        Ok(found)
    }

    /// Revokes one grant. False when there is none in force with this id.
    pub fn revoke_grant(&self, id: i64) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE grants SET revoked_ms = ?2
                 WHERE id = ?1 AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > ?2)",
            )?
            .execute(params![id, now_ms()])?;
        Ok(changed == 1)
    }

    /// Sets when a grant ends that is in force. One that has ended stays ended.
    pub fn prolong_grant(&self, id: i64, expires_ms: UnixMillis) -> Result<(), StoreError> {
        if !self.grant_holds(id)? {
            return Ok(());
        }
        let (now, up) = (now_ms(), boot::uptime());
        let boot_ends_ms = up.ms.saturating_add(expires_ms - now);
        self.conn
            .prepare_cached(
                "UPDATE grants SET expires_ms = ?2, boot = ?3, boot_ends_ms = ?4
                 WHERE id = ?1 AND revoked_ms IS NULL",
            )?
            .execute(params![id, expires_ms, up.boot, boot_ends_ms])?;
        Ok(())
    }

    /// Ends the grants that were given for one session only. Returns how many.
    pub fn revoke_session_grants(&self, session: &SessionId) -> Result<usize, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "UPDATE grants SET revoked_ms = ?2 WHERE session = ?1 AND revoked_ms IS NULL",
            )?
            .execute(params![session.as_str(), now_ms()])?)
    }
}
