//! The questions that wait for a human, and the one compare-and-set that answers them.

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, Row, params};

use super::damaged::json_at;
use super::tx::session_column;
use super::{RowAt, StoreError, Tx, now_ms};
use claw_domain::{
    Answer, ApprovalId, ApprovalState, Approvers, CallId, Question, SessionId, UnixMillis,
};

/// A question and its answer, if there is one.
#[derive(Clone, Debug)]
pub struct ApprovalRow {
    pub id: ApprovalId,
    pub call: CallId,
    pub state: ApprovalState,
    pub question: Question,
    /// Who may answer.
    pub approvers: Approvers,
    pub digest: String,
    pub asked_ms: UnixMillis,
    pub expires_ms: UnixMillis,
    pub decided_ms: Option<UnixMillis>,
    pub decided_by: Option<String>,
    pub answer: Option<Answer>,
    /// The question about several calls by which a person is asked about this one, too.
    pub list: Option<ApprovalId>,
}

impl ApprovalRow {
    /// Whether it is open and its time is over: no answer counts, and its session closes it when
    /// that runs.
    pub fn is_overdue(&self, now: UnixMillis) -> bool {
        self.state == ApprovalState::Waiting && self.expires_ms <= now
    }
}

/// Why an answer did not count. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecideRefused {
    #[error("there is no question with the id `{0}`; `claw approvals` lists the open ones")]
    NotFound(String),
    #[error("this question was already answered: {state} by {}", claw_domain::person(by))]
    AlreadyDecided { state: ApprovalState, by: String },
    #[error("this question has expired; ask again for what you want")]
    Expired,
    #[error("{} may not answer this question", claw_domain::person(by))]
    NotYours { by: String },
}

impl claw_domain::Blamed for DecideRefused {
    fn blame(&self) -> claw_domain::Blame {
        claw_domain::Blame::User
    }
}

const COLUMNS: &str = "id, call, state, question, approvers, digest, asked_ms, expires_ms, \
    decided_ms, decided_by, answer, list";

fn read(row: &Row<'_>) -> Result<ApprovalRow, StoreError> {
    let (id, call): (String, String) = (row.get(0)?, row.get(1)?);
    let (state, approvers): (String, String) = (row.get(2)?, row.get(4)?);
    let at = || RowAt::Approval(id.clone());
    let answered = !matches!(row.get_ref(10)?, ValueRef::Null);
    Ok(ApprovalRow {
        call: call.parse().map_err(StoreError::Decode)?,
        state: ApprovalState::parse(&state).ok_or_else(|| StoreError::Unreadable {
            at: at(),
            what: format!("its state is `{state}`"),
        })?,
        question: json_at(row, 3, at)?,
        approvers: Approvers::parse(&approvers),
        digest: row.get(5)?,
        asked_ms: row.get(6)?,
        expires_ms: row.get(7)?,
        decided_ms: row.get(8)?,
        decided_by: row.get(9)?,
        answer: answered.then(|| json_at(row, 10, at)).transpose()?,
        list: row.get::<_, Option<String>>(11)?.map(ApprovalId),
        id: ApprovalId(id),
    })
}

impl Tx<'_> {
    /// It is the newest question about its call, also where the clock was set back since the last
    /// one.
    pub fn add_approval(
        &self,
        question: &Question,
        approvers: &Approvers,
        digest: &str,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO approvals(id, call, session, state, question, approvers, digest, asked_ms, expires_ms)
                 VALUES (?1, ?2, ?3, 'waiting', ?4, ?5, ?6,
                     max(?7, coalesce((SELECT max(asked_ms) + 1 FROM approvals WHERE call = ?2), 0)), ?8)",
            )?
            .execute(params![
                question.approval.0,
                question.call.to_string(),
                session_column(question.session.as_ref()),
                serde_json::to_string(question)?,
                approvers.to_string(),
                digest,
                now_ms(),
                question.expires_at_ms
            ])?;
        Ok(())
    }

    pub fn approval(&self, id: &ApprovalId) -> Result<Option<ApprovalRow>, StoreError> {
        let mut query =
            self.conn.prepare_cached(&format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1"))?;
        let found = query.query_row([&id.0], |row| Ok(read(row))).optional()?.transpose()?;
        found.map(|row| self.with_states(row)).transpose()
    }

    /// The newest question about a call.
    pub fn approval_of(&self, call: &CallId) -> Result<Option<ApprovalRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM approvals WHERE call = ?1 ORDER BY asked_ms DESC, state = 'waiting' DESC LIMIT 1"
        );
        let mut query = self.conn.prepare_cached(&sql)?;
        let found = query.query_row([call.to_string()], |row| Ok(read(row))).optional()?;
        found.transpose()?.map(|row| self.with_states(row)).transpose()
    }

    /// The open questions of one session, or of all, oldest first; those of one list in its order.
    pub fn open_approvals(
        &self,
        session: Option<&SessionId>,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM approvals WHERE state = 'waiting' AND (?1 IS NULL OR session = ?1)
             ORDER BY asked_ms, CASE WHEN json_valid(question) THEN coalesce(json_extract(question, '$.staged.number'), 1000) END, id"
        );
        self.all(&sql, [session.map(SessionId::as_str)], |row| self.with_states(read(row)?))
    }

    /// The newest answers since then, the newest first, at most so many.
    pub fn approvals_answered_since(
        &self,
        since: UnixMillis,
        most: u32,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM approvals WHERE answer IS NOT NULL AND decided_ms >= ?1
             ORDER BY decided_ms DESC, id LIMIT ?2"
        );
        self.all(&sql, params![since, most], read)
    }

    /// The open questions as persons are asked them: a call of a list is asked about by its list,
    /// and no answer counts to one whose time is over.
    pub fn open_questions(
        &self,
        session: Option<&SessionId>,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        let (mut rows, now) = (self.open_approvals(session)?, now_ms());
        rows.retain(|row| row.list.is_none() && !row.is_overdue(now));
        Ok(rows)
    }

    /// The questions whose time is over and which their session has not closed yet.
    pub fn overdue_questions(&self) -> Result<Vec<ApprovalRow>, StoreError> {
        let (mut rows, now) = (self.open_approvals(None)?, now_ms());
        rows.retain(|row| row.list.is_none() && row.is_overdue(now));
        Ok(rows)
    }

    /// The other questions that the answer to this one has answered, session by session.
    pub fn approvals_settled_with(&self, id: &ApprovalId) -> Result<Vec<ApprovalRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM approvals
             WHERE answer IS NOT NULL
               AND decided_ms >= (SELECT decided_ms FROM approvals WHERE id = ?1)
               AND decided_by GLOB 'grant [0-9]*'
               AND ?1 = (SELECT approval FROM grants
                         WHERE id = CAST(substr(decided_by, 7) AS INTEGER))
             ORDER BY session, asked_ms, id"
        );
        self.all(&sql, [&id.0], read)
    }

    /// The one compare-and-set of a decision: waiting → `state`. `answer: None` is for expired and
    /// superseded.
    pub fn decide(
        &self,
        id: &ApprovalId,
        state: ApprovalState,
        answer: Option<&Answer>,
        by: &str,
    ) -> Result<Result<ApprovalRow, DecideRefused>, StoreError> {
        let now = now_ms();
        let Some(row) = self.approval(id)? else {
            return Ok(Err(DecideRefused::NotFound(id.0.clone())));
        };
        if row.state == ApprovalState::Expired || (answer.is_some() && row.is_overdue(now)) {
            return Ok(Err(DecideRefused::Expired));
        }
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE approvals SET state = ?2, answer = ?3, decided_by = ?4, decided_ms = ?5
                 WHERE id = ?1 AND state = 'waiting'",
            )?
            .execute(params![
                id.0,
                state.as_str(),
                answer.map(serde_json::to_string).transpose()?,
                by,
                now
            ])?;
        if changed == 1 {
            self.close_list_of(&row, state, by)?;
            return Ok(Ok(row));
        }
        Ok(Err(DecideRefused::AlreadyDecided {
            state: row.state,
            by: row.decided_by.unwrap_or_default(),
        }))
    }
}
