//! How many access requests of a bot become a question to its owner. Must not know how a request
//! looks, or what the owner's answer does.

use rusqlite::params;

use super::{StoreError, Tx, now_ms};
use claw_domain::{OwnerAnswer, OwnerQuestionAbout, OwnerQuestionKind};

/// How long access requests count as those of one day.
const DAY_MS: i64 = 24 * 3_600_000;

/// What became of an access request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRequested {
    /// The owner is to be told.
    First,
    /// The chat has asked before.
    Again,
    /// There were too many on this day. It is not kept, and may ask again on another one.
    TooMany,
}

impl Tx<'_> {
    /// Asks the owner about a chat that asks for the first time, at most `day_max` of them in 24
    /// hours. `who` is in the door's own form.
    pub fn request_access(
        &self,
        bot: i64,
        chat: i64,
        who: &str,
        day_max: u32,
    ) -> Result<AccessRequested, StoreError> {
        let id = OwnerQuestionAbout::access_id(bot, chat);
        if self.owner_question(&id)?.is_some() {
            return Ok(AccessRequested::Again);
        }
        let yesterday = now_ms() - DAY_MS;
        if self.owner_questions_since(OwnerQuestionKind::Access, bot, yesterday)? >= day_max {
            return Ok(AccessRequested::TooMany);
        }
        self.ask_owner(&id, &OwnerQuestionAbout::Access { bot, chat }, who)?;
        Ok(AccessRequested::First)
    }

    /// The chats whose request an owner has left without an answer, the newest first.
    pub fn ignored_chats(&self) -> Result<Vec<i64>, StoreError> {
        let sql = "SELECT CAST(subject AS INTEGER) FROM owner_questions
                   WHERE kind = ?1 AND answer = ?2 ORDER BY decided_ms DESC, id";
        let of = [OwnerQuestionKind::Access.as_str(), OwnerAnswer::Ignore.as_str()];
        let mut query = self.conn.prepare_cached(sql)?;
        let rows = query.query_map(of, |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Forgets the request of a chat that was answered so: its next one is its first. False when
    /// there is none.
    pub fn forget_access_request(
        &self,
        chat: i64,
        answer: OwnerAnswer,
    ) -> Result<bool, StoreError> {
        let sql = "DELETE FROM owner_questions WHERE kind = ?1 AND subject = ?2 AND answer = ?3";
        let of = params![OwnerQuestionKind::Access.as_str(), chat.to_string(), answer.as_str()];
        Ok(self.conn.prepare_cached(sql)?.execute(of)? > 0)
    }
}
