//! What `/usage` says: tokens as the providers counted them, today and in this session, by model. Must not know prices.

use super::code;
use crate::domain::SessionId;
use crate::store::{ModelUsageRow, Store, StoreError, UsageRow};

pub(super) fn markdown(store: &Store, session: &SessionId) -> Result<String, StoreError> {
    // Without a midnight (a broken time zone) the day is the last 24 hours.
    let now = jiff::Zoned::now();
    let midnight = now.start_of_day().unwrap_or_else(|_| now.saturating_sub(jiff::Span::new().hours(24)));
    let since = midnight.timestamp().as_millisecond();
    let (today, here) = store.read(|tx| Ok((tx.usage_by_model(None, since)?, tx.usage_by_model(Some(session), 0)?)))?;
    let here_title = format!("This session, `{session}`");
    Ok(format!("{}\n{}", section("Today, all sessions", &today), section(&here_title, &here)))
}

fn section(title: &str, rows: &[ModelUsageRow]) -> String {
    let total = rows.iter().fold(UsageRow::default(), |sum, row| UsageRow {
        replies: sum.replies + row.usage.replies,
        input_tokens: sum.input_tokens + row.usage.input_tokens,
        output_tokens: sum.output_tokens + row.usage.output_tokens,
        cached_tokens: sum.cached_tokens + row.usage.cached_tokens,
    });
    let models =
        rows.iter().map(|row| format!("- {} ({}): {}\n", code(&row.model), row.provider, in_words(&row.usage)));
    format!("**{title}**: {}\n\n{}", in_words(&total), models.collect::<String>())
}

/// The sums of one span. Cached tokens are a part of what went in.
pub(super) fn in_words(usage: &UsageRow) -> String {
    let replies = if usage.replies == 1 { "reply" } else { "replies" };
    format!(
        "{} tokens in ({} of them cached), {} out, {} {replies}",
        usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.replies
    )
}
