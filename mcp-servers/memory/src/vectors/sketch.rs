//! Vectors in a twenty-fourth of their size, to choose which of them are compared exactly. Owns the
//! arithmetic of a sketch; must not know where vectors lie.
//!
//! A sketch holds on which side of the mean of all vectors each number lies: one bit. Together with
//! two numbers of the vector this estimates its cosine to any query without a bias (RaBitQ, Gao and
//! Long 2024, without the rotation). What is near by the estimate is compared exactly, so that the
//! order of what is found is exact.

/// Bits of a byte, and the sums that they can make.
const BITS: usize = 8;
const SUMS: usize = 1 << BITS;

/// The sketches of vectors of one dimension, one behind the other.
pub struct Sketches {
    mean: Vec<f32>,
    bytes_each: usize,
    rows: Vec<i64>,
    bits: Vec<u8>,
    scales: Vec<Scale>,
}

/// What of a vector the bits do not say.
#[derive(Clone, Copy)]
struct Scale {
    /// How long it is from the mean, in the measure of its bits.
    length: f32,
    /// The cosine of what leads from the mean to it and of the mean.
    to_mean: f32,
}

/// Bytes that one vector takes in memory.
pub fn bytes_of(dimension: usize) -> usize {
    dimension.div_ceil(BITS) + size_of::<Scale>() + size_of::<i64>()
}

impl Sketches {
    /// None yet, of `count` vectors with this mean.
    pub fn new(mean: Vec<f32>, count: usize) -> Self {
        let bytes_each = mean.len().div_ceil(BITS);
        Self {
            mean,
            bytes_each,
            rows: Vec::with_capacity(count),
            bits: Vec::with_capacity(count * bytes_each),
            scales: Vec::with_capacity(count),
        }
    }

    pub fn add(&mut self, row: i64, vector: impl Iterator<Item = f32>) {
        let from = self.bits.len();
        self.bits.resize(from + self.bytes_each, 0);
        let (mut squares, mut sum, mut to_mean) = (0.0_f32, 0.0_f32, 0.0_f32);
        for (at, (x, mean)) in vector.zip(&self.mean).enumerate() {
            let off = x - mean;
            squares += off * off;
            sum += off.abs();
            to_mean += off * mean;
            if off > 0.0
                && let Some(byte) = self.bits.get_mut(from + at / BITS)
            {
                *byte |= 1 << (at % BITS);
            }
        }
        let length = if sum > 0.0 { squares / sum } else { 0.0 };
        self.rows.push(row);
        self.scales.push(Scale { length, to_mean });
    }

    /// The rows of the vectors that are nearest to a query by their sketches, in the order of the
    /// rows.
    pub fn nearest(&self, query: &[f32], count: usize) -> Vec<i64> {
        if self.rows.len() <= count {
            return self.rows.clone();
        }
        let tables = self.tables(query);
        let each = self.bits.chunks_exact(self.bytes_each.max(1));
        let estimates = each.zip(&self.scales).map(|(bits, scale)| {
            let sums = bits.iter().zip(&tables).map(|(byte, sums)| sums[usize::from(*byte)]);
            scale.to_mean + scale.length * sums.sum::<f32>()
        });
        // Twice as many as are wanted are held, not all of them.
        let mut best: Vec<(f32, i64)> = Vec::with_capacity(2 * count.max(1));
        let keep = |best: &mut Vec<(f32, i64)>| {
            if (1..best.len()).contains(&count) {
                best.select_nth_unstable_by(count - 1, |one, other| other.0.total_cmp(&one.0));
            }
            best.truncate(count);
        };
        for (estimate, row) in estimates.zip(&self.rows) {
            if best.len() == best.capacity() {
                keep(&mut best);
            }
            best.push((estimate, *row));
        }
        keep(&mut best);
        let mut rows: Vec<i64> = best.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }

    /// For each byte of a sketch what each of its values adds: the numbers of the query whose bit is
    /// set, less those whose bit is not.
    fn tables(&self, query: &[f32]) -> Vec<[f32; SUMS]> {
        let off: Vec<f32> = query.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let of_byte = |numbers: &[f32]| {
            let mut sums = [0.0_f32; SUMS];
            sums[0] = -numbers.iter().sum::<f32>();
            for value in 1..SUMS {
                // The same with one bit less, and that bit changes its sign.
                let bit = value.trailing_zeros() as usize;
                let number = numbers.get(bit).copied().unwrap_or_default();
                sums[value] = sums[value & (value - 1)] + 2.0 * number;
            }
            sums
        };
        off.chunks(BITS).map(of_byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::nearest::cosine;

    /// Repeatable vectors of length 1 that lie in groups, as those of texts do.
    fn vectors(count: usize, dimension: usize) -> Vec<Vec<f32>> {
        let mut state = 0x5eed_u64;
        let mut dice = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
        };
        let centres: Vec<Vec<f32>> =
            (0..20).map(|_| (0..dimension).map(|_| dice()).collect()).collect();
        let one = |at: usize| {
            let centre = &centres[at % centres.len()];
            let vector: Vec<f32> = centre.iter().map(|x| x + 0.4 + 1.5 * dice()).collect();
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter().map(|x| x / length).collect()
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn what_is_nearest_is_among_the_few_that_are_compared() {
        for dimension in [100, 384] {
            let all = vectors(1_000, dimension);
            let mean = (0..dimension)
                .map(|at| all.iter().map(|one| one[at]).sum::<f32>() / all.len() as f32)
                .collect();
            let mut sketches = Sketches::new(mean, all.len());
            for (row, vector) in (0..).zip(&all) {
                sketches.add(row, vector.iter().copied());
            }
            let (mut found, mut wanted) = (0, 0);
            for query in all.iter().step_by(97) {
                let near = sketches.nearest(query, 100);
                assert!(near.is_sorted() && near.len() == 100);
                let mut exact: Vec<(f32, i64)> =
                    (0..).zip(&all).map(|(row, one)| (cosine(query, one), row)).collect();
                exact.sort_by(|one, other| other.0.total_cmp(&one.0));
                found += exact.iter().take(25).filter(|(_, row)| near.contains(row)).count();
                wanted += 25;
            }
            let share = found as f64 / f64::from(wanted);
            assert!(share > 0.93, "{share} of the nearest at {dimension} numbers");
        }
    }

    #[test]
    fn of_few_vectors_all_are_compared() {
        let mut sketches = Sketches::new(vec![0.0; 3], 2);
        sketches.add(7, [1.0, 0.0, 0.0].into_iter());
        sketches.add(9, [0.0, 1.0, 0.0].into_iter());
        assert_eq!(sketches.nearest(&[0.0, 0.0, 1.0], 10), [7, 9]);
        assert_eq!(sketches.nearest(&[0.0, 1.0, 0.0], 1), [9]);
        assert_eq!(bytes_of(384), 64);
    }
}
