//! Puts a damaged row aside: it is kept as it was in `put_aside`, and a note takes its place.
//! Must not know how damage is found, or what the note says.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension as _, Row, ToSql, params};
use serde_json::{Map, Value, json};

use super::damaged::{GAP_EVENTS_MAX, ROW_NUMBER_MAX, check};
use super::damaged_rows::{KeyPart, key_shown};
use super::tx::session_column;
use super::{
    DamagedRow, RowAt, RowFault, StoreError, Tx, damaged, damaged_tables, inbox, meta, now_ms,
};
use claw_domain::canonical::hex;
use claw_domain::{
    Address, ApprovalId, ApprovalState, CallId, DeniedBy, EventBody, Inbound, Outbound,
    OutboundBody, Outcome, Question, SessionId,
};

/// A damaged row as it was found.
pub(super) struct Original {
    /// The column that is parsed, byte for byte, whether or not it is UTF-8.
    body: Vec<u8>,
    /// The other columns.
    pub(super) rest: Map<String, Value>,
}

impl Original {
    fn of(row: &Row<'_>, body: &str) -> Result<Self, StoreError> {
        let mut original = Self { body: Vec::new(), rest: Map::new() };
        for (at, name) in row.as_ref().column_names().enumerate() {
            match row.get_ref(at)? {
                ValueRef::Text(bytes) if name == body => original.body = bytes.to_vec(),
                value => drop(original.rest.insert(name.to_owned(), shown(value))),
            }
        }
        Ok(original)
    }

    pub(super) fn number_of(&self, column: &str) -> i64 {
        self.rest.get(column).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(super) fn text_of(&self, column: &str) -> &str {
        self.rest.get(column).and_then(Value::as_str).unwrap_or_default()
    }
}

/// This time, or now where nothing can have been then.
pub(super) fn possible_time(at_ms: i64) -> i64 {
    if (1..=ROW_NUMBER_MAX).contains(&at_ms) { at_ms } else { now_ms() }
}

/// A column as JSON; what JSON cannot hold is told in hexadecimal digits.
fn shown(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => {
                json!({"hex": hex(bytes)})
            }
        },
    }
}

impl Tx<'_> {
    /// Keeps the row as it is in `put_aside`, and puts a note with the words `note` into its place;
    /// a row of the audit says so in the name of `by`, a principal. False, and nothing is changed,
    /// if it is not damaged any more. Only for the holder of the session's lock, where there is a
    /// session.
    ///
    /// # Errors
    /// [`StoreError::NoKey`] for a row of a sealed audit in a process without a key.
    pub fn put_aside(&self, row: &DamagedRow, note: &str, by: &str) -> Result<bool, StoreError> {
        let put = match &row.at {
            RowAt::Event { session, seq } => self.put_event_aside(row, session, *seq, note),
            RowAt::Inbox(id) => self.put_inbound_aside(row, *id, note),
            RowAt::Outbox(id) => self.put_outbound_aside(row, *id, note),
            RowAt::Approval(id) => self.put_approval_aside(row, id, note),
            RowAt::Call(id) => self.put_call_aside(row, id, note),
            RowAt::Grant(id) => self.put_grant_aside(row, *id),
            RowAt::Update(nr) => self.put_update_aside(row, *nr),
            RowAt::Overheard(nr) => self.put_overheard_aside(row, *nr),
            RowAt::Audit(id) => return self.put_audit_aside(row, *id, by),
            RowAt::Sequence(table) => self.mend_sequence(table),
            RowAt::Row { table, key } if table == "approvals" => {
                self.put_nameless_approval_aside(row, key)
            }
            RowAt::Row { table, key } => match key.as_slice() {
                [key] if table == "meta" && meta::is_of_audit(key.text()) => {
                    return self.put_audit_value_aside(row, key.text(), by);
                }
                key => self.put_row_aside(row, (table, key), note),
            },
        }?;
        if put {
            self.tell_put_aside(row, by, None)?;
        }
        Ok(put)
    }

    fn put_event_aside(
        &self,
        row: &DamagedRow,
        session: &SessionId,
        seq: i64,
        note: &str,
    ) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM events WHERE session = ?1 AND seq = ?2";
        let original = self.original(ONE, params![session.as_str(), seq], "body")?;
        match (&original, &row.fault) {
            (Some(found), RowFault::Unreadable(_))
                if check::<EventBody>(&ValueRef::Text(&found.body)).is_ok() =>
            {
                return Ok(false);
            }
            (Some(_), RowFault::Missing)
            | (None, RowFault::FarAhead { .. } | RowFault::Unreadable(_)) => {
                return Ok(false);
            }
            _ => {}
        }
        self.forget_kept_window(session)?;
        if let Some(original) = &original {
            self.keep_original("events", &format!("{session}:{seq}"), original, row)?;
            self.conn.execute(
                "DELETE FROM events WHERE session = ?1 AND seq = ?2",
                params![session.as_str(), seq],
            )?;
        }
        let place = match &row.fault {
            RowFault::FarAhead { after } => {
                self.next_seq_below(session, after.saturating_add(GAP_EVENTS_MAX))?
            }
            _ => seq,
        };
        let body = serde_json::to_value(EventBody::LimitReached {
            limit: "log".to_owned(),
            text: note.to_owned(),
        })?;
        let kind = body.get("type").and_then(Value::as_str).unwrap_or_default();
        let at_ms = original.map_or_else(now_ms, |original| original.number_of("at_ms"));
        self.conn.execute(
            "INSERT INTO events(session, seq, at_ms, type, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![session.as_str(), place, at_ms, kind, body.to_string()],
        )?;
        Ok(true)
    }

    /// The number after the last event whose number is at most `limit`.
    fn next_seq_below(&self, session: &SessionId, limit: i64) -> Result<i64, StoreError> {
        let sql =
            "SELECT coalesce(max(seq), 0) FROM events WHERE session = ?1 AND seq BETWEEN 1 AND ?2";
        let last: i64 =
            self.conn.query_row(sql, params![session.as_str(), limit], |row| row.get(0))?;
        Ok(last + 1)
    }

    /// A row that says what it is gets the next number. Of one that does not, a notice tells its
    /// session.
    fn put_inbound_aside(&self, row: &DamagedRow, id: i64, note: &str) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM inbox WHERE id = ?1";
        let check_row = damaged_tables::inbound;
        let Some((original, place)) =
            self.taken_aside("inbox", ONE, row, id, ("body", check_row))?
        else {
            return Ok(false);
        };
        let body = check::<Inbound>(&ValueRef::Text(&original.body));
        let session = row.session.clone().or(body.as_ref().ok().map(|body| body.session.clone()));
        let Some(session) = session else {
            // Nobody takes it in, and nobody can be told.
            self.conn.execute("DELETE FROM inbox WHERE id = ?1", [id])?;
            return Ok(true);
        };
        // Where nobody knows whether it was taken in, it is not taken in once more.
        let state = original.text_of("state");
        let is_known = ["queued", "absorbed"].contains(&state);
        let (kind, state, text) = match &body {
            Ok(inbound) if is_known => {
                (inbox::kind(&inbound.body), state, serde_json::to_string(inbound)?)
            }
            _ => ("message", "absorbed", json!({"put_aside": row.fault.to_string()}).to_string()),
        };
        let at_ms = possible_time(original.number_of("at_ms"));
        self.conn.execute(
            "UPDATE inbox SET id = ?2, body = ?3, state = ?4, kind = ?5, at_ms = ?6, session = ?7, mark = NULL
             WHERE id = ?1",
            params![id, place, text, state, kind, at_ms, session.as_str()],
        )?;
        if body.is_err() || !is_known {
            self.tell_session(&session, note)?;
        }
        Ok(true)
    }

    /// Adds a notice for where this session was last answered, if it was.
    fn tell_session(&self, session: &SessionId, note: &str) -> Result<(), StoreError> {
        let sql = "SELECT address FROM outbox WHERE session = ?1 AND state = 'sent' ORDER BY at_ms DESC LIMIT 1";
        let address = self.conn.query_row(sql, [session.as_str()], |row| row.get(0)).optional()?;
        let Some(address) = address else { return Ok(()) };
        let body = OutboundBody::Notice { text: note.to_owned() };
        self.add_outbound(&Outbound { session: session.clone(), to: Address(address), body })?;
        Ok(())
    }

    /// A row that says what it is gets the next number. In place of one that does not, its address
    /// gets a notice.
    fn put_outbound_aside(
        &self,
        row: &DamagedRow,
        id: i64,
        note: &str,
    ) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM outbox WHERE id = ?1";
        let check_row = damaged_tables::outbound;
        let Some((original, place)) =
            self.taken_aside("outbox", ONE, row, id, ("body", check_row))?
        else {
            return Ok(false);
        };
        let body = check::<Outbound>(&ValueRef::Text(&original.body));
        let session = row.session.clone().or(body.as_ref().ok().map(|body| body.session.clone()));
        let Some(session) = session else {
            self.conn.execute("DELETE FROM outbox WHERE id = ?1", [id])?;
            return Ok(true);
        };
        // Where nobody knows whether it was shown, it may come once more and is not lost.
        let (state, parts_sent) = match original.text_of("state") {
            state @ ("queued" | "sending" | "sent") => (state, original.number_of("parts_sent")),
            _ => ("queued", 0),
        };
        let parts_sent = if parts_sent > ROW_NUMBER_MAX { 0 } else { parts_sent };
        let mut to = Address(original.text_of("address").to_owned());
        let (state, parts_sent, text) = match body {
            Ok(outbound) => {
                to = outbound.to.clone();
                (state, parts_sent, serde_json::to_string(&outbound)?)
            }
            Err(_) => {
                let to = to.clone();
                let notice = Outbound {
                    session: session.clone(),
                    to,
                    body: OutboundBody::Notice { text: note.to_owned() },
                };
                let state = if state == "sent" { "sent" } else { "queued" };
                (state, 0, serde_json::to_string(&notice)?)
            }
        };
        self.conn.execute(
            "UPDATE outbox SET id = ?2, body = ?3, state = ?4, parts_sent = ?5, door = ?6, address = ?7,
                 at_ms = ?8, session = ?9 WHERE id = ?1",
            params![
                id,
                place,
                text,
                state,
                parts_sent,
                to.door(),
                to.0,
                possible_time(original.number_of("at_ms")),
                session.as_str()
            ],
        )?;
        Ok(true)
    }

    /// A question in place of it that says no more than which call it was about. It has expired, so
    /// that nobody can answer it, and nothing runs by the answer that there may be.
    fn put_approval_aside(
        &self,
        row: &DamagedRow,
        id: &str,
        note: &str,
    ) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM approvals WHERE id = ?1";
        let Some(original) = self.original(ONE, params![id], "question")? else {
            return self.put_expired_question(id, note);
        };
        if !self.still_damaged(ONE, &id, damaged::approval)? {
            return Ok(false);
        }
        let Ok(call) = original.text_of("call").parse::<CallId>() else {
            return self.put_nameless_approval_aside(row, &[KeyPart::Text(id.into())]);
        };
        let session = row.session.clone().or_else(|| call.session().cloned());
        let question = self.lost_question(ApprovalId(id.to_owned()), session, call, note)?;
        self.keep_original("approvals", id, &original, row)?;
        let call = question.call.clone();
        self.conn.execute(
            "UPDATE approvals SET question = ?2, session = ?3, answer = NULL, expires_ms = 0, approvers = '',
                 digest = '', asked_ms = ?4, decided_ms = iif(decided_ms > ?4, ?4, decided_ms), decided_by = NULL,
                 list = NULL, state = iif(state IN ('waiting', 'approved', 'denied', 'expired', 'superseded'), state, 'waiting')
             WHERE id = ?1",
            params![
                id,
                serde_json::to_string(&question)?,
                session_column(question.session.as_ref()),
                possible_time(original.number_of("asked_ms"))
            ],
        )?;
        // No turn waits for what was staged, so that nobody else would close it.
        let staged = self.staged(&call)?.is_some() || !self.staged_in(&call)?.is_empty();
        if staged
            && self.decide(&question.approval, ApprovalState::Expired, None, "expired")?.is_ok()
        {
            self.end_call(&call, &Outcome::denied(DeniedBy::Failure, note))?;
        }
        Ok(true)
    }

    /// One that nobody can name, or of whose call nothing is known: it goes, and its call is then
    /// one without a question.
    fn put_nameless_approval_aside(
        &self,
        row: &DamagedRow,
        key: &[KeyPart],
    ) -> Result<bool, StoreError> {
        const ONE: &str = "SELECT * FROM approvals WHERE id = ?1";
        let [id] = key else { return Ok(false) };
        if !self.still_damaged(ONE, id, damaged::approval)? {
            return Ok(false);
        }
        let Some(original) = self.original(ONE, &[id], "question")? else { return Ok(false) };
        self.keep_original("approvals", &key_shown(key), &original, row)?;
        self.conn.execute("DELETE FROM approvals WHERE id = ?1", [id])?;
        Ok(true)
    }

    /// What stands in the place of a question: it says no more than which call it was about, and
    /// has expired.
    pub(super) fn lost_question(
        &self,
        approval: ApprovalId,
        session: Option<SessionId>,
        call: CallId,
        note: &str,
    ) -> Result<Question, StoreError> {
        let known: Option<(String, String)> = self
            .conn
            .query_row("SELECT server, tool FROM calls WHERE id = ?1", [call.to_string()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let (server, tool) = known.unwrap_or_default();
        Ok(Question {
            approval,
            session,
            call,
            server,
            tool,
            arguments: Vec::new(),
            why: note.to_owned(),
            effect: None,
            expires_at_ms: 0,
            choices: Vec::new(),
            staged: None,
            list: None,
            input: None,
        })
    }

    pub(super) fn original(
        &self,
        sql: &str,
        which: &[&dyn ToSql],
        body: &str,
    ) -> Result<Option<Original>, StoreError> {
        self.conn.query_row(sql, which, |row| Ok(Original::of(row, body))).optional()?.transpose()
    }

    pub(super) fn keep_original(
        &self,
        table: &str,
        id: &str,
        original: &Original,
        row: &DamagedRow,
    ) -> Result<(), StoreError> {
        let body = ToSqlOutput::Borrowed(ValueRef::Text(&original.body));
        let rest = Value::Object(original.rest.clone()).to_string();
        self.conn.execute(
            "INSERT INTO put_aside(of_table, id, body, rest, why, put_aside_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![table, id, body, rest, row.fault.to_string(), now_ms()],
        )?;
        Ok(())
    }
}
