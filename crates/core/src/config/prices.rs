//! `[prices."MODEL"]` of `claw.toml`: what a model's tokens cost. Must not know which models there
//! are, or who counts tokens.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::domain::Usage;

const PER_MILLION: f64 = 1_000_000.0;

/// What a million tokens of one model cost, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input_usd_per_million: f64,
    pub output_usd_per_million: f64,
    /// Tokens that the provider had cached; default: as input.
    pub cached_usd_per_million: Option<f64>,
    /// Tokens that the provider put into its cache; default: as input.
    pub cache_write_usd_per_million: Option<f64>,
}

/// Prices by the model's name as the provider knows it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// The first price that is none, as a sentence.
    pub(super) fn check(&self) -> Result<(), (&str, String)> {
        let is_price = |usd: &f64| usd.is_finite() && *usd >= 0.0;
        for (model, price) in &self.0 {
            let all = [Some(price.input_usd_per_million), Some(price.output_usd_per_million)];
            let cache = [price.cached_usd_per_million, price.cache_write_usd_per_million];
            if !all.into_iter().chain(cache).flatten().all(|usd| is_price(&usd)) {
                let message =
                    format!("`[prices.\"{model}\"]` holds a price that is negative or no number");
                return Err((model, message));
            }
        }
        Ok(())
    }

    /// What these tokens cost in US dollars; `None` if the price is not known. Cached tokens, and
    /// those written into the cache, are a part of what went in.
    pub fn usd(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.0.get(model)?;
        let input = price.input_usd_per_million;
        let (cached, written) = (usage.cached_tokens, usage.cache_write_tokens);
        let plain = usage.input_tokens.saturating_sub(cached + written);
        let sum = plain as f64 * input
            + cached as f64 * price.cached_usd_per_million.unwrap_or(input)
            + written as f64 * price.cache_write_usd_per_million.unwrap_or(input)
            + usage.output_tokens as f64 * price.output_usd_per_million;
        Some(sum / PER_MILLION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_cost_what_is_written() {
        let prices: Prices = toml::from_str(
            "[m]\ninput_usd_per_million = 3.0\noutput_usd_per_million = 15.0\n\
             cached_usd_per_million = 0.3\n[plain]\ninput_usd_per_million = 1.0\n\
             output_usd_per_million = 2.0",
        )
        .unwrap();
        prices.check().unwrap();
        let usage = Usage {
            input_tokens: 2_000_000,
            output_tokens: 100_000,
            cached_tokens: 1_000_000,
            cache_write_tokens: 0,
        };
        assert_eq!(prices.usd("m", &usage), Some(3.0 + 0.3 + 1.5));
        assert_eq!(prices.usd("plain", &usage), Some(2.2));
        assert_eq!(prices.usd("other", &usage), None, "an unknown price is no zero");
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for text in [
            "[m]\ninput_usd_per_million = -1.0\noutput_usd_per_million = 1.0",
            "[m]\ninput_usd_per_million = 1.0",
        ] {
            let read = toml::from_str::<Prices>(text);
            assert!(!read.is_ok_and(|prices| prices.check().is_ok()), "{text}");
        }
    }
}
