//! Puts damaged rows of calls, grants, updates and what was overheard aside, so that nothing more
//! is allowed than before and nothing runs. Must not know how damage is found, or what the note
//! says.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension as _, ToSql, params};

use super::damaged::ROW_NUMBER_MAX;
use super::damaged_tables::{self, COUNTED, Check};
use super::put_aside::{Original, possible_time};
use super::{DamagedRow, RowFault, StoreError, Tx, now_ms};
use claw_domain::{Approvers, CallId, CallState, DeniedBy, GrantEffect, Origin, Outcome};

impl Tx<'_> {
    /// An unreadable call never runs again: it is denied, or nobody knows how it ended. Of one that
    /// is missing the question expires, so that it is judged and asked anew.
    pub(super) fn put_call_aside(
        &self,
        row: &DamagedRow,
        id: &[u8],
        note: &str,
    ) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM calls WHERE id = ?1";
        let key = ToSqlOutput::Borrowed(ValueRef::Text(id));
        let original = self.original(ONE, &[&key], "arguments")?;
        let Some(original) = original else {
            let sql = "UPDATE approvals SET expires_ms = 0 WHERE call = ?1 AND state = 'waiting'";
            return Ok(row.fault == RowFault::Missing && self.conn.execute(sql, [&key])? > 0);
        };
        if !self.still_damaged(ONE, &key, damaged_tables::call)? {
            return Ok(false);
        }
        let name = String::from_utf8_lossy(id).into_owned();
        self.keep_original("calls", &name, &original, row)?;
        if name.parse::<CallId>().is_err() {
            // No turn can ask for a call of that name.
            self.conn.execute("DELETE FROM calls WHERE id = ?1", [&key])?;
            return Ok(true);
        }
        let reason = note.to_owned();
        let (state, outcome) = match original.may_have_started() {
            true => (CallState::Unknown, Outcome::Unknown { reason }),
            false => (CallState::Denied, Outcome::denied(DeniedBy::Failure, reason)),
        };
        self.conn.execute(
            "UPDATE calls SET session = ?2, server = ?3, tool = ?4, arguments = '{}', origin = '', principal = '',
                 state = ?5, server_state = NULL, received_ms = ?8, started_ms = iif(started_ms > ?8, ?8, started_ms),
                 pin = '', cwd = '', env_names = '', policy_version = '', digest = '', rule = '', shown = '',
                 outcome = ?6, ended_ms = iif(ended_ms < ?7, ended_ms, ?7)
             WHERE id = ?1",
            params![
                key,
                row.session.as_ref().map_or("", |session| session.as_str()),
                original.text_of("server"),
                original.text_of("tool"),
                state.as_str(),
                serde_json::to_string(&outcome)?,
                now_ms(),
                possible_time(original.number_of("received_ms"))
            ],
        )?;
        let open = "UPDATE approvals SET expires_ms = 0 WHERE call = ?1 AND state = 'waiting'";
        self.conn.execute(open, [&key])?;
        Ok(true)
    }

    /// In place of a question that is missing, one that has expired: its call is denied, and its
    /// turn goes on.
    pub(super) fn put_expired_question(&self, id: &str, note: &str) -> Result<bool, StoreError> {
        let parked = self.parked_without_question()?;
        let Some((call, approval)) = parked.into_iter().find(|(_, approval)| approval.0 == id)
        else {
            return Ok(false);
        };
        let session = call.session().cloned();
        let question = self.lost_question(approval, session, call, note)?;
        self.add_approval(&question, &Approvers::default(), "")?;
        Ok(true)
    }

    /// A refusal goes on for all calls of its tool, if that can be read. Everything else ends.
    fn put_grant_in_place(&self, id: i64, original: &Original) -> Result<(), StoreError> {
        let [effect, server, tool] =
            ["effect", "server", "tool"].map(|name| original.text_of(name));
        let was_in_force = original.rest.get("revoked_ms").is_some_and(serde_json::Value::is_null);
        let refuses = GrantEffect::parse(effect) == Some(GrantEffect::Deny);
        let holds = refuses && was_in_force && !server.is_empty() && !tool.is_empty();
        let says = match holds {
            true => format!("every call of {server}/{tool}, because what was refused is lost"),
            false => "it could not be read".to_owned(),
        };
        let (effect, now) =
            (if refuses { GrantEffect::Deny } else { GrantEffect::Allow }, now_ms());
        self.conn.execute(
            "UPDATE grants SET effect = ?2, principal = ?3, session = NULL, server = ?4, tool = ?5, shape = 'null',
                 origin = ?6, says = ?7, created_ms = ?8, expires_ms = NULL, revoked_ms = ?9, approval = '',
                 boot = '', boot_ends_ms = NULL, uses = 0, last_used_ms = NULL
             WHERE id = ?1",
            params![
                id,
                effect.as_str(),
                original.text_of("principal"),
                server,
                tool,
                Origin::Owner.as_str(),
                says,
                possible_time(original.number_of("created_ms")),
                (!holds).then_some(now)
            ],
        )?;
        Ok(())
    }

    /// A grant that cannot be read ends. One with an impossible number gets the next one.
    pub(super) fn put_grant_aside(&self, row: &DamagedRow, id: i64) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM grants WHERE id = ?1";
        let check = damaged_tables::grant;
        let Some((original, place)) = self.taken_aside("grants", ONE, row, id, ("shape", check))?
        else {
            return Ok(false);
        };
        let readable = !self.still_damaged(ONE, &id, damaged_tables::grant)?;
        self.conn.execute("UPDATE grants SET id = ?2 WHERE id = ?1", params![id, place])?;
        if !readable {
            self.put_grant_in_place(place, &original)?;
        }
        Ok(true)
    }

    /// An update that cannot be read counts as handled.
    pub(super) fn put_update_aside(&self, row: &DamagedRow, nr: i64) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM updates WHERE nr = ?1";
        let check = damaged_tables::update;
        let Some((original, place)) = self.taken_aside("updates", ONE, row, nr, ("body", check))?
        else {
            return Ok(false);
        };
        let readable = !self.still_damaged(ONE, &nr, damaged_tables::update)?;
        self.conn.execute("UPDATE updates SET nr = ?2 WHERE nr = ?1", params![nr, place])?;
        if !readable {
            self.conn.execute(
                "UPDATE updates SET state = 'put_aside', body = '', at_ms = ?2 WHERE nr = ?1",
                params![place, possible_time(original.number_of("at_ms"))],
            )?;
        }
        Ok(true)
    }

    /// What was overheard is only quoted to a model, so that nothing takes its place.
    pub(super) fn put_overheard_aside(
        &self,
        row: &DamagedRow,
        nr: i64,
    ) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM overheard WHERE nr = ?1";
        let check = damaged_tables::overheard;
        if self.taken_aside("overheard", ONE, row, nr, ("text", check))?.is_none() {
            return Ok(false);
        }
        self.conn.execute("DELETE FROM overheard WHERE nr = ?1", [nr])?;
        Ok(true)
    }

    /// Lets a table count on from its highest row. False if it does so already.
    pub(super) fn mend_sequence(&self, table: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS(SELECT 1 FROM sqlite_sequence WHERE name = ?1 AND seq > ?2)";
        if !self.conn.query_row(sql, params![table, ROW_NUMBER_MAX], |row| row.get::<_, bool>(0))? {
            return Ok(false);
        }
        self.count_on(table)?;
        Ok(true)
    }

    /// This number of a row, or the next one that the table counts to where it is impossible.
    fn possible_number(&self, table: &str, number: i64) -> Result<i64, StoreError> {
        if number > ROW_NUMBER_MAX { self.count_on(table) } else { Ok(number) }
    }

    /// The number after the highest one that was counted to, which the table counts on from.
    fn count_on(&self, table: &str) -> Result<i64, StoreError> {
        let Some((_, highest)) = COUNTED.iter().find(|(name, _)| *name == table) else {
            return Err(StoreError::Decode(format!("the table {table} counts no rows")));
        };
        let next: i64 =
            self.conn.query_row(highest, [ROW_NUMBER_MAX], |row| row.get::<_, i64>(0))? + 1;
        self.conn
            .execute("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1", params![table, next])?;
        Ok(next)
    }

    /// The row as it is, which is kept, and the number that it gets; none where nothing is wrong
    /// with it any more. `body` is the column that is parsed, `check` says what is wrong.
    pub(super) fn taken_aside(
        &self,
        table: &str,
        sql: &str,
        row: &DamagedRow,
        number: i64,
        (body, check): (&str, Check),
    ) -> Result<Option<(Original, i64)>, StoreError> {
        if number <= ROW_NUMBER_MAX && !self.still_damaged(sql, &number, check)? {
            return Ok(None);
        }
        let Some(original) = self.original(sql, &[&number], body)? else { return Ok(None) };
        self.keep_original(table, &number.to_string(), &original, row)?;
        Ok(Some((original, self.possible_number(table, number)?)))
    }

    pub(super) fn still_damaged(
        &self,
        sql: &str,
        which: &dyn ToSql,
        check: Check,
    ) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .query_row(sql, [which], |row| Ok(check(row).is_err()))
            .optional()?
            .unwrap_or(false))
    }
}

impl Original {
    /// Whether the call was forwarded, as far as that can be read.
    fn may_have_started(&self) -> bool {
        self.rest.get("started_ms").is_some_and(|at| !at.is_null())
    }
}
