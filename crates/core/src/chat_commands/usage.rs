//! What `/usage` says: tokens as the providers counted them and what they cost, today and in this
//! session, by model. Must not know who may see it.

use super::{ChatCommandsParts, code, definitions};
use crate::config::Prices;
use crate::domain::{SessionId, Usage};
use crate::store::{ModelUsageRow, StoreError, UsageRow};
use crate::turn::Log;

pub(super) fn markdown(
    parts: &ChatCommandsParts,
    session: &SessionId,
) -> Result<String, StoreError> {
    let (store, prices) = (&parts.store, &parts.prices);
    // Without a midnight (a broken time zone) the day is the last 24 hours.
    let now = jiff::Timestamp::now().to_zoned(parts.zone.clone());
    let midnight =
        now.start_of_day().unwrap_or_else(|_| now.saturating_sub(jiff::Span::new().hours(24)));
    let since = midnight.timestamp().as_millisecond();
    let (today, here, log) = store.read(|tx| {
        let log = Log::new(session.clone(), tx.window(session)?.events, tx.last_seq(session)?);
        Ok((tx.usage_by_model(None, since)?, tx.usage_by_model(Some(session), 0)?, log))
    })?;
    let here_title = format!("This session, `{session}`");
    Ok(format!(
        "{}\n{}{}",
        section("Today, all sessions", &today, prices),
        section(&here_title, &here, prices),
        definitions::usage(parts, &log)
    ))
}

fn section(title: &str, rows: &[ModelUsageRow], prices: &Prices) -> String {
    let total = rows.iter().fold(UsageRow::default(), |sum, row| UsageRow {
        replies: sum.replies + row.usage.replies,
        input_tokens: sum.input_tokens + row.usage.input_tokens,
        output_tokens: sum.output_tokens + row.usage.output_tokens,
        cached_tokens: sum.cached_tokens + row.usage.cached_tokens,
        cache_write_tokens: sum.cache_write_tokens + row.usage.cache_write_tokens,
    });
    let models = rows.iter().map(|row| {
        let cost = usd(row, prices).map_or("price unknown".to_owned(), money);
        format!("- {} ({}): {}, {cost}\n", code(&row.model), row.provider, in_words(&row.usage))
    });
    let cost =
        if rows.is_empty() { String::new() } else { format!(", {}", cost_of_all(rows, prices)) };
    format!("**{title}**: {}{cost}\n\n{}", in_words(&total), models.collect::<String>())
}

/// The cost of all models whose price is known, and whether that is all of it.
fn cost_of_all(rows: &[ModelUsageRow], prices: &Prices) -> String {
    let known: Vec<f64> = rows.iter().filter_map(|row| usd(row, prices)).collect();
    match known.len() {
        0 => "price unknown".to_owned(),
        some if some < rows.len() => {
            format!("{} and what has no known price", money(known.iter().sum()))
        }
        _ => money(known.iter().sum()),
    }
}

fn usd(row: &ModelUsageRow, prices: &Prices) -> Option<f64> {
    // What claw's own demo says costs nothing.
    if row.provider == "demo" {
        return Some(0.0);
    }
    let UsageRow { input_tokens, output_tokens, cached_tokens, cache_write_tokens, .. } = row.usage;
    prices
        .usd(&row.model, &Usage { input_tokens, output_tokens, cached_tokens, cache_write_tokens })
}

fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { "under 0.01 USD".to_owned() } else { format!("{usd:.2} USD") }
}

/// The sums of one span. Cached tokens are a part of what went in; where the provider reports no
/// cache, nothing is said of one. What was written to it costs more than other tokens do.
pub(super) fn in_words(usage: &UsageRow) -> String {
    let replies = if usage.replies == 1 { "reply" } else { "replies" };
    let cached = usage.cached_tokens;
    let rate = (cached * 100).checked_div(usage.input_tokens).unwrap_or_default();
    let cached = match (cached, usage.cache_write_tokens) {
        (0, 0) => String::new(),
        (_, 0) => format!(" ({cached} of them cached, {rate} %)"),
        (_, written) => {
            format!(" ({cached} of them cached, {rate} %; {written} written to the cache)")
        }
    };
    format!(
        "{} tokens in{cached}, {} out, {} {replies}",
        usage.input_tokens, usage.output_tokens, usage.replies
    )
}
