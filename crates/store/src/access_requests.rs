//! How many access requests of a bot become a question to its owner. Must not know how a request
//! looks, or what the owner's answer does.

use super::{StoreError, Tx, now_ms};
use claw_domain::{OwnerQuestionAbout, OwnerQuestionKind};

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
}
