//! How well each tool fits words: BM25 over all of them, times how much of its name stands in the
//! request and how much of the request stands in it. Must not know SQL, or what a request is.

use crate::postings::{Posting, Postings};

/// How much a name counts that the request holds whole, and a request that a tool holds whole.
const NAME_SHARE: f64 = 0.3;
const REQUEST_SHARE: f64 = 1.0;

/// What a tool has of the words that were looked for.
#[derive(Clone, Copy, Default)]
struct Fit {
    score: f64,
    of_name: f64,
    of_request: f64,
}

impl Fit {
    fn best_of(&mut self, other: Self) {
        self.score = self.score.max(other.score);
        self.of_name = self.of_name.max(other.of_name);
        self.of_request = self.of_request.max(other.of_request);
    }

    fn add(&mut self, other: Self) {
        self.score += other.score;
        self.of_name += other.of_name;
        self.of_request += other.of_request;
    }
}

/// The tools that hold a stem of these or one that is related, the best first; equals in their own
/// order.
pub fn ranked(postings: &Postings, stems: &[String], tools: usize) -> Vec<usize> {
    let mut fits = vec![Fit::default(); tools];
    let mut all = 0.0;
    for stem in stems {
        all += take(postings, stem, &mut fits);
    }
    let mut scores: Vec<(usize, f64)> = fits
        .iter()
        .enumerate()
        .filter(|(_, fit)| fit.score > 0.0)
        .map(|(place, fit)| {
            let of_request = fit.of_request / all;
            let factor = 1.0 + NAME_SHARE * fit.of_name + REQUEST_SHARE * of_request;
            (place, fit.score * factor)
        })
        .collect();
    scores.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    scores.into_iter().map(|(place, _)| place).collect()
}

/// Adds to each tool what it has of a stem: by that one or by the best of those that are related,
/// never by two. Returns what the stem weighs at most.
fn take(postings: &Postings, stem: &str, fits: &mut [Fit]) -> f64 {
    let mut most = postings.weight(stem);
    let mut of_stem = Vec::<(usize, Fit)>::new();
    for (stem, factor) in [(stem, 1.0)].into_iter().chain(postings.related(stem)) {
        let weight = factor * postings.weight(stem);
        most = most.max(weight);
        let fit = |posting: &Posting| (posting.place, fit(postings, posting, weight));
        of_stem.extend(postings.of(stem).iter().map(fit));
    }
    of_stem.sort_by_key(|(place, _)| *place);
    for same in of_stem.chunk_by(|one, other| one.0 == other.0) {
        let mut best = Fit::default();
        same.iter().for_each(|(_, fit)| best.best_of(*fit));
        let place = same.first().and_then(|(place, _)| fits.get_mut(*place));
        place.into_iter().for_each(|fit| fit.add(best));
    }
    most
}

fn fit(postings: &Postings, posting: &Posting, weight: f64) -> Fit {
    let name = postings.name_weighs(posting.place);
    Fit {
        score: postings.score(posting, weight),
        of_name: if posting.is_in_name() { weight / name } else { 0.0 },
        of_request: if posting.covers() { weight } else { 0.0 },
    }
}
