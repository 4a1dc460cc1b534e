//! Tokens of every reply, as the provider counted them, and their sums by day (UTC).

use rusqlite::params;
use serde::Serialize;

use super::{StoreError, Tx, now_ms};
use claw_domain::{SessionId, UnixMillis, Usage};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// By name, because SQLite would rather walk through all replies of the session.
const USAGE_OF_SESSION: &str = "SELECT provider, model, sum(replies), sum(input_tokens) AS input,
        sum(output_tokens) AS output, sum(cached_tokens), sum(cache_write_tokens)
    FROM (SELECT provider, model, 1 AS replies, input_tokens, output_tokens, cached_tokens, cache_write_tokens
          FROM usage INDEXED BY usage_at WHERE at_ms >= ?1 AND at_ms < ?2 AND session = ?4
          UNION ALL
          SELECT provider, model, replies, input_tokens, output_tokens, cached_tokens, cache_write_tokens
          FROM usage_days WHERE session = ?4 AND day > ?3)
    GROUP BY provider, model ORDER BY input + output DESC, provider, model";
const USAGE_OF_ALL: &str = "SELECT provider, model, sum(replies), sum(input_tokens) AS input,
        sum(output_tokens) AS output, sum(cached_tokens), sum(cache_write_tokens)
    FROM (SELECT provider, model, 1 AS replies, input_tokens, output_tokens, cached_tokens, cache_write_tokens
          FROM usage INDEXED BY usage_at WHERE at_ms >= ?1 AND at_ms < ?2
          UNION ALL
          SELECT provider, model, replies, input_tokens, output_tokens, cached_tokens, cache_write_tokens
          FROM usage_days WHERE day > ?3)
    GROUP BY provider, model ORDER BY input + output DESC, provider, model";

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
        let now = now_ms();
        let counted = [
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cache_write_tokens,
        ];
        let [input, output, cached, cache_write] = counted.map(|tokens| tokens as i64);
        let session = session.as_str();
        let added = self
            .conn
            .prepare_cached("INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING")?
            .execute(params![session, reply_seq as i64, now, provider, model, input, output, cached, cache_write])?;
        // A reply counts once.
        if added == 1 {
            self.conn
                .prepare_cached(
                    "INSERT INTO usage_days VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8)
                     ON CONFLICT(session, day, provider, model) DO UPDATE SET
                         replies = replies + 1,
                         input_tokens = input_tokens + ?5,
                         output_tokens = output_tokens + ?6,
                         cached_tokens = cached_tokens + ?7,
                         cache_write_tokens = cache_write_tokens + ?8",
                )?
                .execute(params![
                    session,
                    now.div_euclid(DAY_MS),
                    provider,
                    model,
                    input,
                    output,
                    cached,
                    cache_write
                ])?;
        }
        Ok(())
    }

    /// The sums of one session, or of all, since a moment.
    pub fn usage_since(
        &self,
        session: Option<&SessionId>,
        since: UnixMillis,
    ) -> Result<UsageRow, StoreError> {
        let mut all = UsageRow::default();
        for row in self.usage_by_model(session, since)? {
            all.replies += row.usage.replies;
            all.input_tokens += row.usage.input_tokens;
            all.output_tokens += row.usage.output_tokens;
            all.cached_tokens += row.usage.cached_tokens;
            all.cache_write_tokens += row.usage.cache_write_tokens;
        }
        Ok(all)
    }

    /// The same by model, the most used one first. Whole days (UTC) come from their sums, the
    /// beginning of the first one from its replies.
    pub fn usage_by_model(
        &self,
        session: Option<&SessionId>,
        since: UnixMillis,
    ) -> Result<Vec<ModelUsageRow>, StoreError> {
        let first = since.div_euclid(DAY_MS);
        let first_ends = (first + 1).saturating_mul(DAY_MS);
        match session {
            Some(session) => self.sums_by_model(
                USAGE_OF_SESSION,
                params![since, first_ends, first, session.as_str()],
            ),
            None => self.sums_by_model(USAGE_OF_ALL, params![since, first_ends, first]),
        }
    }

    fn sums_by_model(
        &self,
        sql: &str,
        given: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<ModelUsageRow>, StoreError> {
        let mut query = self.conn.prepare_cached(sql)?;
        let rows = query.query_map(given, |row| {
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
