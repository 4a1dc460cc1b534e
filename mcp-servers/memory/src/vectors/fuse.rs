//! One order out of two: words, and nearness in meaning. Owns the weight; must not know how either
//! was found.
//!
//! A note's place among the nearest adds to what its words score, before its neighbours count. The
//! weight was found on conversations 0 to 4 of LoCoMo: no kind of question finds fewer notes or
//! sessions than by the better half alone, whatever the weights of neighbours are, which lower
//! weights and a longer tail do not hold. Equal weights of both ranks lose more than they find,
//! because words are the better half.

use std::collections::HashMap;

/// What the nearest note gets, as a share of what the best words score.
const WEIGHT: f64 = 0.6;

/// Places after which half of that is left.
const HALF_AT: f64 = 10.0;

/// What the best words score where there are none.
const NO_WORDS: f64 = 1.0;

/// Rows with their scores, best first. Whatever was found by words is still there.
pub fn fused(by_words: Vec<(i64, f64)>, nearest: &[i64]) -> Vec<(i64, f64)> {
    if nearest.is_empty() {
        return by_words;
    }
    let best = by_words.iter().map(|(_, score)| *score).fold(0.0, f64::max);
    let best = if best > 0.0 { best } else { NO_WORDS };
    let mut scores: HashMap<i64, f64> = by_words.into_iter().collect();
    for (place, row) in nearest.iter().enumerate() {
        let share = HALF_AT / (HALF_AT + place as f64 + 1.0);
        *scores.entry(*row).or_default() += WEIGHT * best * share;
    }
    let mut fused: Vec<(i64, f64)> = scores.into_iter().collect();
    fused.sort_by(|(row, score), (other_row, other)| {
        other.total_cmp(score).then_with(|| row.cmp(other_row))
    });
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(fused: &[(i64, f64)]) -> Vec<i64> {
        fused.iter().map(|(row, _)| *row).collect()
    }

    #[test]
    fn nearness_decides_between_equals_and_adds_what_words_do_not_find() {
        let words = vec![(1, 5.0), (2, 4.9), (3, 1.0)];
        assert_eq!(rows(&fused(words.clone(), &[2, 9])), [2, 1, 9, 3]);
        assert_eq!(rows(&fused(words, &[])), [1, 2, 3]);
        assert_eq!(rows(&fused(Vec::new(), &[7, 8])), [7, 8]);
    }

    /// Equal weights, as a textbook has them, lose ten points on LoCoMo.
    #[test]
    fn words_are_the_better_half_so_a_good_hit_on_them_stands_before_the_nearest() {
        let words = vec![(1, 5.0), (2, 3.5), (3, 2.0)];
        assert_eq!(rows(&fused(words, &[9, 8])), [1, 2, 9, 8, 3]);
    }

    #[test]
    fn a_hit_on_words_stays_and_the_best_one_is_not_overtaken_by_nearness_alone() {
        let words: Vec<(i64, f64)> = (0..200).map(|row| (row, 10.0 - row as f64 / 100.0)).collect();
        let near: Vec<i64> = (1000..1300).collect();
        let fused = fused(words, &near);
        assert_eq!(fused.len(), 500);
        assert_eq!(fused[0].0, 0);
        assert!((0..200).all(|row| fused.iter().any(|(found, _)| *found == row)));
    }
}
