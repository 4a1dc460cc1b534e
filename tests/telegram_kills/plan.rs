//! Which kill comes next: every named point in turn, and moments that nobody chose. Must not know
//! how a kill is made.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::killing::house::Kill;
use crate::killing::random::Random;

/// Of a hundred kills so many are aimed at points.
const AIMED_PERCENT: u64 = 60;
/// How long a gateway has to come to the point that it is to be killed at.
const AIM_TIME: Duration = Duration::from_millis(2_500);
/// The same for a point that was not met in the whole series.
const AIM_TIME_OF_THE_MISSING: Duration = Duration::from_secs(20);

/// Deals out the kills of a series.
pub struct Plan {
    aimed_percent: u64,
    random: Random,
    points: Vec<String>,
    /// Points in random order; dealt again when it is empty.
    deck: Vec<String>,
    missing_only: bool,
    pub hits: BTreeMap<String, usize>,
}

impl Plan {
    /// `aimed`: no kill at a moment that nobody chose, as far as points are passed in time.
    pub fn new(points: &[String], seed: u64, aimed: bool) -> Self {
        let hits = points.iter().map(|point| (point.clone(), 0)).collect();
        let aimed_percent = if aimed { 100 } else { AIMED_PERCENT };
        Self {
            aimed_percent,
            random: Random(seed),
            points: points.to_vec(),
            deck: Vec::new(),
            missing_only: false,
            hits,
        }
    }

    /// From now on only at points that were never hit, with more patience.
    pub fn aim_at_the_missing(&mut self) {
        self.missing_only = true;
    }

    pub fn next(&mut self) -> Kill {
        if self.missing_only
            && let Some(point) = self.never_hit().first()
        {
            return Kill::AtOrAfter((*point).to_owned(), 1, AIM_TIME_OF_THE_MISSING);
        }
        if !self.random.chance(self.aimed_percent) {
            return Kill::After(Duration::from_micros(2_000 + self.random.below(700_000)));
        }
        if self.deck.is_empty() {
            self.deck.clone_from(&self.points);
            self.random.shuffle(&mut self.deck);
        }
        let point = self.deck.pop().unwrap_or_default();
        // Points that are rarely passed get their turn at the first passing.
        let rare = self.hits.get(&point).is_none_or(|hits| *hits == 0);
        let count = if rare { 1 } else { 1 + self.random.below(6) as u32 };
        Kill::AtOrAfter(point, count, AIM_TIME)
    }

    /// A kill has hit, at a point or at a moment.
    pub fn hit(&mut self, what: &str) {
        *self.hits.entry(what.to_owned()).or_default() += 1;
    }

    pub fn never_hit(&self) -> Vec<&str> {
        self.hits.iter().filter(|(_, hits)| **hits == 0).map(|(point, _)| point.as_str()).collect()
    }
}
