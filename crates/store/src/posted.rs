//! Which messages of a chat show which question, so that a later process can change them. Must not
//! know any chat's wire.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx};
use claw_domain::{Address, ApprovalId, PostedQuestion, PostedState};

const COLUMNS: &str = "approval, address, message, state, file, sent_s";

const STATES: [PostedState; 6] = [
    PostedState::Open,
    PostedState::Stale,
    PostedState::Answered,
    PostedState::Closed,
    PostedState::AsksReason,
    PostedState::ReasonClosed,
];

/// As it is stored; the statements of this file name the same words.
fn as_text(state: PostedState) -> &'static str {
    match state {
        PostedState::Open => "open",
        PostedState::Stale => "stale",
        PostedState::Answered => "answered",
        PostedState::Closed => "closed",
        PostedState::AsksReason => "why",
        PostedState::ReasonClosed => "why closed",
    }
}

fn from_text(text: &str) -> Option<PostedState> {
    STATES.into_iter().find(|state| as_text(*state) == text)
}

fn read(row: &Row<'_>) -> rusqlite::Result<PostedQuestion> {
    Ok(PostedQuestion {
        approval: ApprovalId(row.get(0)?),
        address: Address(row.get(1)?),
        message: row.get(2)?,
        // A state that this claw does not know is not touched any more.
        state: from_text(&row.get::<_, String>(3)?).unwrap_or(PostedState::Closed),
        file: row.get(4)?,
        sent_s: row.get(5)?,
    })
}

impl Tx<'_> {
    pub fn add_posted(&self, posted: &PostedQuestion) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT OR REPLACE INTO posted(address, message, approval, state, file, sent_s)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                posted.address.0,
                posted.message,
                posted.approval.0,
                as_text(posted.state),
                posted.file,
                posted.sent_s
            ])?;
        Ok(())
    }

    /// The messages that show this question, or have shown it, at any address, and may still have
    /// to change.
    pub fn posted_of(&self, approval: &ApprovalId) -> Result<Vec<PostedQuestion>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM posted WHERE approval = ?1 AND state <> 'closed' ORDER BY address, message"
        ))?;
        let rows = query.query_map([&approval.0], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The messages at an address that show a question which waits for an answer.
    pub fn posted_open_at(&self, address: &Address) -> Result<Vec<PostedQuestion>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT posted.approval, address, message, posted.state, file, sent_s
             FROM approvals JOIN posted ON posted.approval = approvals.id
             WHERE approvals.state = 'waiting' AND posted.state <> 'closed' AND posted.state = 'open'
             AND posted.address = ?1 ORDER BY message",
        )?;
        let rows = query.query_map([&address.0], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn set_posted(
        &self,
        address: &Address,
        message: i64,
        state: PostedState,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE posted SET state = ?3 WHERE address = ?1 AND message = ?2")?
            .execute(params![address.0, message, as_text(state)])?;
        Ok(())
    }

    /// Every message that may still have to change, oldest first. By name, because SQLite would
    /// rather walk through all that were ever sent.
    pub fn posted(&self) -> Result<Vec<PostedQuestion>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM posted INDEXED BY posted_open WHERE state NOT IN ('closed', 'why closed') ORDER BY address, message"
        ))?;
        let rows = query.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Those whose question is no longer open. A thousand open ones are passed over here, because
    /// they are looked through after every commit.
    pub fn posted_and_closed(&self) -> Result<Vec<PostedQuestion>, StoreError> {
        let mut query = self.conn.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM posted INDEXED BY posted_open WHERE state NOT IN ('closed', 'why closed')
             AND (SELECT state FROM approvals WHERE approvals.id = posted.approval) <> 'waiting'
             ORDER BY address, message"
        ))?;
        let rows = query.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Those that show a list which is open, and of which something is answered.
    pub fn posted_lists(&self) -> Result<Vec<PostedQuestion>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT posted.approval, address, message, posted.state, file, sent_s
             FROM posted INDEXED BY posted_open JOIN approvals AS lists ON lists.id = posted.approval
             WHERE posted.state NOT IN ('closed', 'why closed') AND posted.state = 'open'
             AND lists.state = 'waiting' AND EXISTS(
                 SELECT 1 FROM approvals WHERE list = lists.id AND state <> 'waiting')
             ORDER BY address, message",
        )?;
        let rows = query.query_map([], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What one message shows, whatever its state.
    pub fn posted_at(
        &self,
        address: &Address,
        message: i64,
    ) -> Result<Option<PostedQuestion>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM posted WHERE address = ?1 AND message = ?2");
        let mut query = self.conn.prepare_cached(&sql)?;
        Ok(query.query_row(params![address.0, message], read).optional()?)
    }

    /// The same by the address of a chat whose topics have addresses below it and count their
    /// messages together.
    pub fn posted_in_chat(
        &self,
        chat: &Address,
        message: i64,
    ) -> Result<Option<PostedQuestion>, StoreError> {
        if let Some(posted) = self.posted_at(chat, message)? {
            return Ok(Some(posted));
        }
        // '0' is the character behind '/'.
        let sql = format!(
            "SELECT {COLUMNS} FROM posted WHERE address > ?1 || '/' AND address < ?1 || '0' AND message = ?2"
        );
        let mut query = self.conn.prepare_cached(&sql)?;
        Ok(query.query_row(params![chat.0, message], read).optional()?)
    }

    /// The open questions that no message at this address shows, oldest first.
    pub fn open_approvals_unseen_at(
        &self,
        address: &Address,
    ) -> Result<Vec<ApprovalId>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT id FROM approvals WHERE state = 'waiting' AND list IS NULL AND NOT EXISTS(
                 SELECT 1 FROM posted WHERE posted.approval = approvals.id AND posted.address = ?1
                 AND posted.state <> 'closed') ORDER BY asked_ms, id",
        )?;
        let rows = query.query_map([&address.0], |row| row.get(0).map(ApprovalId))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
