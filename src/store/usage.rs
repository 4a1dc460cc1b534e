//! Tokens of every reply, as the provider counted them.

use rusqlite::params;
use serde::Serialize;

use super::{StoreError, Tx, now_ms};
use crate::domain::{SessionId, UnixMillis, Usage};

/// Sums over a span of time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct UsageRow {
    pub replies: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    /// Tokens that the provider put into its cache.
    pub cache_write_tokens: u64,
}

/// The sums of one model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelUsageRow {
    pub provider: String,
    pub model: String,
    pub usage: UsageRow,
}

impl Tx<'_> {
    pub fn add_usage(
        &self,
        session: &SessionId,
        reply_seq: u64,
        provider: &str,
        model: &str,
        usage: &Usage,
    ) -> Result<(), StoreError> {
        self.conn.prepare_cached("INSERT OR REPLACE INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?.execute(
            params![
                session.as_str(),
                reply_seq as i64,
                now_ms(),
                provider,
                model,
                usage.input_tokens as i64,
                usage.output_tokens as i64,
                usage.cached_tokens as i64,
                usage.cache_write_tokens as i64
            ],
        )?;
        Ok(())
    }

    /// The sums of one session, or of all, since a moment.
    pub fn usage_since(&self, session: Option<&SessionId>, since: UnixMillis) -> Result<UsageRow, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
                    coalesce(sum(cached_tokens), 0), coalesce(sum(cache_write_tokens), 0)
             FROM usage WHERE at_ms >= ?1 AND (?2 IS NULL OR session = ?2)",
        )?;
        Ok(query.query_row(params![since, session.map(SessionId::as_str)], |row| sums(row, 0))?)
    }

    /// The same by model, the most used one first.
    pub fn usage_by_model(
        &self,
        session: Option<&SessionId>,
        since: UnixMillis,
    ) -> Result<Vec<ModelUsageRow>, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT provider, model, count(*), sum(input_tokens), sum(output_tokens), sum(cached_tokens),
                    sum(cache_write_tokens)
             FROM usage WHERE at_ms >= ?1 AND (?2 IS NULL OR session = ?2)
             GROUP BY provider, model ORDER BY sum(input_tokens + output_tokens) DESC, provider, model",
        )?;
        let rows = query.query_map(params![since, session.map(SessionId::as_str)], |row| {
            Ok(ModelUsageRow { provider: row.get(0)?, model: row.get(1)?, usage: sums(row, 2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Replies and tokens, in the order in which both queries name them, from the column `first` on.
fn sums(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<UsageRow> {
    let number = |index| row.get::<_, i64>(first + index).map(|n| n as u64);
    Ok(UsageRow {
        replies: number(0)?,
        input_tokens: number(1)?,
        output_tokens: number(2)?,
        cached_tokens: number(3)?,
        cache_write_tokens: number(4)?,
    })
}
