//! Which notes are nearest to a query in meaning: every vector is looked at by its sketch, and
//! the best of these exactly. Owns what is kept between two searches; must not know where a
//! query's vector comes from.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::sketch::{self, Sketches, Sketching};
use super::store::{Store, StoredVector};

/// Notes that are given. Those behind them weigh nearly nothing.
pub const NEAREST_MAX: usize = 300;

/// Vectors that are read from the disk and compared exactly. With four times as many as are given,
/// few of the last of them are missed, and hardly one of the first.
const COMPARED_MAX: usize = 4 * NEAREST_MAX;

/// A note and how near it is: the cosine, from -1 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    pub digest: String,
    pub cosine: f32,
}

/// The vectors of one model and dimension.
pub struct Rows {
    dimension: usize,
    /// `None` if there are too many, or no file can be made: then every search reads all vectors.
    sketches: Option<Sketches>,
    /// The sum of all vectors, of which their mean cosine is made.
    sum: Vec<f32>,
    count: usize,
    /// Of the store, when they were read.
    pub foreign_version: i64,
}

impl Rows {
    /// `bytes_max`: of the file of all sketches.
    ///
    /// # Errors
    /// SQLite refuses.
    pub fn read(
        store: &Store,
        model: &str,
        dimension: usize,
        bytes_max: u64,
    ) -> rusqlite::Result<Self> {
        let foreign_version = store.foreign_version()?;
        let (mut sum, mut count) = (vec![0.0; dimension], 0);
        store.each(model, dimension, |kept| {
            count += 1;
            for (sum, x) in sum.iter_mut().zip(floats(kept.bytes)) {
                *sum += x;
            }
        })?;
        let bytes = (count * sketch::bytes_of(dimension)) as u64;
        let sketches = if bytes <= bytes_max {
            let mean = sum.iter().map(|sum| sum / count.max(1) as f32).collect();
            sketched(store, model, dimension, mean)?
        } else {
            None
        };
        Ok(Self { dimension, sketches, sum, count, foreign_version })
    }

    /// How near two of these notes are on the average. A note that is no nearer to a query than
    /// that has nothing to do with it.
    fn usual(&self) -> f32 {
        let count = self.count as f32;
        let whole: f32 = self.sum.iter().map(|x| x * x).sum();
        if self.count < 2 { -1.0 } else { (whole - count) / (count * (count - 1.0)) }
    }

    /// The nearest notes, best first.
    ///
    /// # Errors
    /// SQLite refuses.
    pub fn nearest(
        &self,
        store: &Store,
        model: &str,
        query: &[f32],
    ) -> rusqlite::Result<Vec<Near>> {
        let mut best = Best::new(self.usual());
        let mut vector = Vec::with_capacity(self.dimension);
        let mut compare = |kept: StoredVector<'_>| {
            vector.clear();
            vector.extend(floats(kept.bytes));
            best.take(kept.digest, cosine(query, &vector));
        };
        // A file that cannot be read costs time, and no note.
        let sketched = self.sketches.as_ref().map(|it| it.nearest(query, COMPARED_MAX));
        match sketched {
            Some(Ok(rows)) => store.some(self.dimension, rows.into_iter(), &mut compare)?,
            Some(Err(_)) | None => store.each(model, self.dimension, &mut compare)?,
        }
        Ok(best.in_order())
    }
}

/// `None` if there is no room for the file.
fn sketched(
    store: &Store,
    model: &str,
    dimension: usize,
    mean: Vec<f32>,
) -> rusqlite::Result<Option<Sketches>> {
    let Ok(mut sketching) = Sketching::new(&store.folder, mean) else { return Ok(None) };
    let mut added = Ok(());
    store.each(model, dimension, |kept| {
        if added.is_ok() {
            added = sketching.add(kept.row, floats(kept.bytes));
        }
    })?;
    Ok(added.and_then(|()| sketching.done()).ok())
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
}

/// Of two vectors of length 1. Eight sums at a time, which need not wait for one another.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.iter().zip(b) {
        for at in 0..sums.len() {
            sums[at] += a[at] * b[at];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// The best so far.
struct Best {
    floor: f32,
    heap: BinaryHeap<Reverse<Ranked>>,
}

#[derive(PartialEq)]
struct Ranked(f32, String);

impl Eq for Ranked {}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then_with(|| other.1.cmp(&self.1))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Best {
    fn new(floor: f32) -> Self {
        Self { floor, heap: BinaryHeap::new() }
    }

    fn take(&mut self, digest: &str, cosine: f32) {
        if cosine <= self.floor {
            return;
        }
        if self.heap.len() == NEAREST_MAX {
            if self.heap.peek().is_some_and(|worst| worst.0.0 >= cosine) {
                return;
            }
            self.heap.pop();
        }
        self.heap.push(Reverse(Ranked(cosine, digest.to_owned())));
    }

    fn in_order(self) -> Vec<Near> {
        let sorted = self.heap.into_sorted_vec();
        sorted.into_iter().map(|Reverse(Ranked(cosine, digest))| Near { digest, cosine }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_right_for_every_length() {
        for length in [1, 7, 8, 9, 16, 384, 385] {
            let a: Vec<f32> = (0..length).map(|n| n as f32).collect();
            let b: Vec<f32> = (0..length).map(|n| (n % 3) as f32).collect();
            let plain: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((cosine(&a, &b) - plain).abs() <= plain * 1e-5, "{length}");
        }
    }

    #[test]
    fn the_best_come_first_and_the_far_ones_not_at_all() {
        let mut best = Best::new(0.0);
        for n in 0..1000 {
            best.take(&format!("{n:04}"), (500 - n) as f32 / 1000.0);
        }
        let found = best.in_order();
        assert_eq!(found.len(), NEAREST_MAX);
        assert_eq!((found[0].digest.as_str(), found[299].digest.as_str()), ("0000", "0299"));
        let mut few = Best::new(0.3);
        [0.2, 0.3, 0.4].iter().for_each(|cosine| few.take("a", *cosine));
        assert_eq!(few.in_order().len(), 1);
    }
}
