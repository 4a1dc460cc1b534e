//! The list of sessions.

use rusqlite::params;

use super::{StoreError, Tx, now_ms};
use claw_domain::{CLIENT_SESSIONS, ClientName, SessionId, UnixMillis};

#[derive(Clone, Debug, serde::Serialize)]
pub struct SessionRow {
    pub name: String,
    pub created_ms: UnixMillis,
    pub last_ms: UnixMillis,
    pub events: u64,
    pub turns: u64,
}

impl Tx<'_> {
    pub(super) fn touch_session(
        &self,
        session: &SessionId,
        now: UnixMillis,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO sessions(name, created_ms, last_ms) VALUES (?1, ?2, ?2)
                 ON CONFLICT(name) DO UPDATE SET last_ms = ?2",
            )?
            .execute(params![session.as_str(), now])?;
        Ok(())
    }

    /// The sessions whose newest turn has no end: it was interrupted, or waits for an answer.
    pub fn sessions_with_open_turn(&self) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT name FROM sessions WHERE (
                 SELECT type FROM events WHERE session = name AND type IN ('turn.started', 'turn.ended')
                 ORDER BY seq DESC LIMIT 1) = 'turn.started' ORDER BY name";
        self.all(sql, [], |row| super::inbox::session_of(row.get(0)?))
    }

    /// What an ended process left in the middle, of the sessions whose name starts with `prefix`:
    /// how many turns go on without anybody's answer, and the calls that were started and have no
    /// end.
    pub fn in_the_middle(&self, prefix: &str) -> Result<(usize, Vec<String>), StoreError> {
        let waits = self.open_questions(None)?;
        let waits = |session: &SessionId| {
            waits.iter().any(|row| row.question.session.as_ref() == Some(session))
        };
        let open = self.sessions_with_open_turn()?;
        let turns = open
            .iter()
            .filter(|session| session.as_str().starts_with(prefix) && !waits(session))
            .count();
        let mut query = self.conn.prepare_cached(
            "SELECT server, tool FROM calls
             WHERE state = 'started' AND substr(session, 1, length(?1)) = ?1 ORDER BY started_ms, id",
        )?;
        let rows = query.query_map([prefix], |row| {
            Ok(format!("{}/{}", row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        Ok((turns, rows.collect::<Result<_, _>>()?))
    }

    pub fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.session_rows("", &[])
    }

    /// The sessions of one client, the newest first. The one with its owner's answers to what its
    /// calls have proposed is none that the client has begun.
    pub fn sessions_of_client(&self, client: &ClientName) -> Result<Vec<SessionRow>, StoreError> {
        let usual = format!("{CLIENT_SESSIONS}{client}");
        // The character behind the dot.
        let (from, to) = (format!("{usual}."), format!("{usual}/"));
        let mut rows = self
            .session_rows("WHERE name = ?1 OR (name >= ?2 AND name < ?3)", &[&usual, &from, &to])?;
        let staged = client.staged_session();
        rows.retain(|row| staged.as_ref().is_none_or(|staged| staged.as_str() != row.name));
        Ok(rows)
    }

    /// This session and those whose names have a dot and more behind its name.
    pub fn sessions_below(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        // The character behind the dot.
        let (from, to) = (format!("{session}."), format!("{session}/"));
        let sql = "SELECT name FROM sessions
                   WHERE name = ?1 OR (name >= ?2 AND name < ?3) ORDER BY name";
        self.all(sql, [session.as_str(), &from, &to], |row| super::inbox::session_of(row.get(0)?))
    }

    fn session_rows(
        &self,
        of_client: &str,
        given: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<SessionRow>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT name, created_ms, last_ms,
                    (SELECT count(*) FROM events WHERE session = name),
                    (SELECT count(*) FROM events WHERE session = name AND type = 'turn.started')
             FROM sessions {of_client} ORDER BY last_ms DESC",
        ))?;
        let rows = query.query_map(given, |row| {
            Ok(SessionRow {
                name: row.get(0)?,
                created_ms: row.get(1)?,
                last_ms: row.get(2)?,
                events: row.get::<_, i64>(3)? as u64,
                turns: row.get::<_, i64>(4)? as u64,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The statements about what a person chooses for one session.
struct Choice {
    chosen: &'static str,
    choose: &'static str,
    forget: &'static str,
}

const MODEL: Choice = Choice {
    chosen: "SELECT model FROM session_models WHERE session = ?1",
    choose: "INSERT OR REPLACE INTO session_models(session, model, by, at_ms) VALUES (?1, ?2, ?3, ?4)",
    forget: "DELETE FROM session_models WHERE session = ?1",
};

const ROLE: Choice = Choice {
    chosen: "SELECT role FROM session_roles WHERE session = ?1",
    choose: "INSERT OR REPLACE INTO session_roles(session, role, by, at_ms) VALUES (?1, ?2, ?3, ?4)",
    forget: "DELETE FROM session_roles WHERE session = ?1",
};

impl Tx<'_> {
    /// The model that was chosen for a session, if one was.
    pub fn session_model(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        self.chosen(&MODEL, session)
    }

    /// Chooses a model for a session, or with `None` the one that everybody has.
    pub fn set_session_model(
        &self,
        session: &SessionId,
        model: Option<&str>,
        by: &str,
    ) -> Result<(), StoreError> {
        self.choose(&MODEL, session, model, by)
    }

    /// The role that was chosen for a session, if one was.
    pub fn session_role(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        self.chosen(&ROLE, session)
    }

    /// Chooses a role for a session, or with `None` the one that everybody has.
    pub fn set_session_role(
        &self,
        session: &SessionId,
        role: Option<&str>,
        by: &str,
    ) -> Result<(), StoreError> {
        self.choose(&ROLE, session, role, by)
    }

    fn chosen(&self, what: &Choice, session: &SessionId) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached(what.chosen)?;
        let mut rows = query.query_map([session.as_str()], |row| row.get(0))?;
        Ok(rows.next().transpose()?)
    }

    fn choose(
        &self,
        what: &Choice,
        session: &SessionId,
        chosen: Option<&str>,
        by: &str,
    ) -> Result<(), StoreError> {
        match chosen {
            Some(chosen) => self.conn.prepare_cached(what.choose)?.execute(params![
                session.as_str(),
                chosen,
                by,
                now_ms()
            ])?,
            None => self.conn.prepare_cached(what.forget)?.execute([session.as_str()])?,
        };
        Ok(())
    }
}
