//! What an owner is asked beside the calls: each question is frozen when it is asked, shown by one
//! message, answered once. Must not know what an answer does, or how a question looks.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::{
    Address, OwnerAnswer, OwnerQuestion, OwnerQuestionAbout, OwnerQuestionKind, OwnerQuestionState,
    UnixMillis,
};

const COLUMNS: &str = "id, kind, subject, bot, form, shown, state, answer, address, message, \
     decided_by, decided_ms, at_ms";

/// The columns of what a question is about: whom it is about, the bot that alone shows it (0: any),
/// and the form that an answer is for.
fn columns_of(about: &OwnerQuestionAbout) -> Result<(String, i64, String), StoreError> {
    Ok(match about {
        OwnerQuestionAbout::Access { bot, chat } => (chat.to_string(), *bot, String::new()),
        OwnerQuestionAbout::NewServer { server, launch } => (server.clone(), 0, launch.clone()),
        OwnerQuestionAbout::ChangedTools { server, forms } => {
            (server.clone(), 0, serde_json::to_string(forms)?)
        }
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<OwnerQuestion> {
    let (kind, subject, bot): (String, String, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
    let (form, state): (String, String) = (row.get(4)?, row.get(6)?);
    let answer: Option<String> = row.get(7)?;
    let known = OwnerQuestionKind::ALL.into_iter().find(|known| known.as_str() == kind);
    let state = OwnerQuestionState::ALL.into_iter().find(|known| known.as_str() == state);
    let about = match known {
        Some(OwnerQuestionKind::Access) => {
            OwnerQuestionAbout::Access { bot, chat: subject.parse().unwrap_or_default() }
        }
        Some(OwnerQuestionKind::NewServer) => {
            OwnerQuestionAbout::NewServer { server: subject, launch: form }
        }
        // What cannot be read covers nothing, so that a yes to it accepts nothing.
        Some(OwnerQuestionKind::ChangedTools) | None => OwnerQuestionAbout::ChangedTools {
            server: subject,
            forms: serde_json::from_str(&form).unwrap_or_default(),
        },
    };
    Ok(OwnerQuestion {
        id: row.get(0)?,
        about,
        shown: row.get(5)?,
        // A kind or a state that this claw does not know asks nobody.
        state: state.filter(|_| known.is_some()).unwrap_or(OwnerQuestionState::Closed),
        answer: answer.as_deref().and_then(OwnerAnswer::parse),
        address: Address(row.get(8)?),
        message: row.get(9)?,
        decided_by: row.get(10)?,
        decided_ms: row.get(11)?,
        at_ms: row.get(12)?,
    })
}

impl Tx<'_> {
    pub fn ask_owner(
        &self,
        id: &str,
        about: &OwnerQuestionAbout,
        shown: &str,
    ) -> Result<(), StoreError> {
        let (subject, bot, form) = columns_of(about)?;
        self.conn
            .prepare_cached(
                "INSERT INTO owner_questions(id, kind, subject, bot, form, shown, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![id, about.kind().as_str(), subject, bot, form, shown, now_ms()])?;
        Ok(())
    }

    pub fn owner_question(&self, id: &str) -> Result<Option<OwnerQuestion>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM owner_questions WHERE id = ?1");
        Ok(self.conn.prepare_cached(&sql)?.query_row([id], read).optional()?)
    }

    /// Those that an owner's screen does not show as they are, oldest first: what every bot shows,
    /// and what this one alone does.
    pub fn owner_questions_to_show(&self, bot: i64) -> Result<Vec<OwnerQuestion>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM owner_questions
             WHERE state IN ('new', 'decided', 'stale') AND bot IN (0, ?1) ORDER BY at_ms, id"
        );
        let mut query = self.conn.prepare_cached(&sql)?;
        let rows = query.query_map([bot], read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many of a kind a bot has asked since then.
    pub(crate) fn owner_questions_since(
        &self,
        kind: OwnerQuestionKind,
        bot: i64,
        since_ms: UnixMillis,
    ) -> Result<u32, StoreError> {
        let mut count = self.conn.prepare_cached(
            "SELECT count(*) FROM owner_questions WHERE kind = ?1 AND bot = ?2 AND at_ms > ?3",
        )?;
        Ok(count.query_row(params![kind.as_str(), bot, since_ms], |row| row.get(0))?)
    }

    /// Notes by which message an owner was asked. One that ended meanwhile is to be shown as that.
    pub fn owner_question_told(
        &self,
        id: &str,
        at: &Address,
        message: i64,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE owner_questions SET address = ?2, message = ?3,
                     state = CASE state WHEN 'new' THEN 'told' WHEN 'closed' THEN 'stale' ELSE state END
                 WHERE id = ?1",
            )?
            .execute(params![id, at.0, message])?;
        Ok(())
    }

    /// The one compare-and-set of the answer. False when it was answered or ended before, when no
    /// owner has seen it, and when it does not offer this.
    pub fn decide_owner_question(
        &self,
        id: &str,
        answer: OwnerAnswer,
        by: &str,
    ) -> Result<bool, StoreError> {
        if !self.owner_question(id)?.is_some_and(|asked| asked.about.kind().offers(answer)) {
            return Ok(false);
        }
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE owner_questions SET state = 'decided', answer = ?2, decided_by = ?3, decided_ms = ?4
                 WHERE id = ?1 AND state = 'told'",
            )?
            .execute(params![id, answer.as_str(), by, now_ms()])?;
        Ok(changed == 1)
    }

    /// Ends what of a kind is open about a server. What nobody was shown needs no end on a screen.
    pub fn end_owner_questions(
        &self,
        kind: OwnerQuestionKind,
        server: &str,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE owner_questions SET decided_ms = ?3,
                     state = CASE state WHEN 'new' THEN 'closed' ELSE 'stale' END
                 WHERE kind = ?1 AND subject = ?2 AND state IN ('new', 'told')",
            )?
            .execute(params![kind.as_str(), server, now_ms()])?;
        Ok(())
    }

    /// Notes that the screen shows the end.
    pub fn close_owner_question(&self, id: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE owner_questions SET state = 'closed'
                 WHERE id = ?1 AND state IN ('decided', 'stale')",
            )?
            .execute([id])?;
        Ok(())
    }
}
