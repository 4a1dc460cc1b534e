//! Vectors in a twenty-fourth of their size, to choose which of them are compared exactly. Owns the
//! arithmetic of a sketch, and the file that holds them; must not know where vectors lie.
//!
//! A sketch holds on which side of the mean of all vectors each number lies: one bit. Together with
//! two numbers of the vector this estimates its cosine to any query without a bias (RaBitQ, Gao and
//! Long 2024, without the rotation). What is near by the estimate is compared exactly, so that the
//! order of what is found is exact.
//!
//! They lie in a file without a name, one behind the other, and a search reads all of it in parts:
//! the system has it at hand while there is room, and a process that rests holds none of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Bits of a byte, and the sums that they can make.
const BITS: usize = 8;
const SUMS: usize = 1 << BITS;

/// Bytes that are read at once.
const PART_BYTES: usize = 64 * 1024;

const OWNER_ONLY: u32 = 0o600;

/// The sketches of vectors of one dimension, which are being written.
pub struct Sketching {
    mean: Vec<f32>,
    count: usize,
    bits: Vec<u8>,
    out: BufWriter<File>,
}

/// The same when all of them are there.
pub struct Sketches {
    mean: Vec<f32>,
    count: usize,
    file: File,
}

/// What of a vector the bits do not say.
#[derive(Clone, Copy)]
struct Scale {
    /// How long it is from the mean, in the measure of its bits.
    length: f32,
    /// The cosine of what leads from the mean to it and of the mean.
    to_mean: f32,
}

/// Bytes before the bits of a sketch: the row and the scale.
const HEAD_BYTES: usize = size_of::<i64>() + size_of::<Scale>();

/// Bytes of the sketch of one vector.
pub fn bytes_of(dimension: usize) -> usize {
    HEAD_BYTES + dimension.div_ceil(BITS)
}

impl Sketching {
    /// None yet, of vectors with this mean, in a file below `folder` that ends with its last user.
    ///
    /// # Errors
    /// No file can be made there.
    pub fn new(folder: &Path, mean: Vec<f32>) -> io::Result<Self> {
        let path = folder.join(format!("sketches-{}", std::process::id()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(OWNER_ONLY);
        let file = options.open(&path)?;
        // A kill before this leaves an empty file.
        fs::remove_file(&path)?;
        let bits = vec![0; mean.len().div_ceil(BITS)];
        Ok(Self { mean, count: 0, bits, out: BufWriter::with_capacity(PART_BYTES, file) })
    }

    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, row: i64, vector: impl Iterator<Item = f32>) -> io::Result<()> {
        self.bits.fill(0);
        let (mut squares, mut sum, mut to_mean) = (0.0_f32, 0.0_f32, 0.0_f32);
        for (at, (x, mean)) in vector.zip(&self.mean).enumerate() {
            let off = x - mean;
            squares += off * off;
            sum += off.abs();
            to_mean += off * mean;
            if off > 0.0
                && let Some(byte) = self.bits.get_mut(at / BITS)
            {
                *byte |= 1 << (at % BITS);
            }
        }
        let length = if sum > 0.0 { squares / sum } else { 0.0 };
        self.out.write_all(&row.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&to_mean.to_le_bytes())?;
        self.out.write_all(&self.bits)?;
        self.count += 1;
        Ok(())
    }

    /// # Errors
    /// The file cannot be written.
    pub fn done(self) -> io::Result<Sketches> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Sketches { mean: self.mean, count: self.count, file })
    }
}

impl Sketches {
    /// The rows of the vectors that are nearest to a query by their sketches, in the order of the
    /// rows.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn nearest(&self, query: &[f32], count: usize) -> io::Result<Vec<i64>> {
        let tables = self.tables(query);
        // Twice as many as are wanted are held, not all of them.
        let mut best: Vec<(f32, i64)> = Vec::with_capacity(2 * count.max(1));
        let keep = |best: &mut Vec<(f32, i64)>| {
            if (1..best.len()).contains(&count) {
                best.select_nth_unstable_by(count - 1, |one, other| other.0.total_cmp(&one.0));
            }
            best.truncate(count);
        };
        self.each(|row, scale, bits| {
            if best.len() == best.capacity() {
                keep(&mut best);
            }
            let mut sum = 0.0;
            for (byte, sums) in bits.iter().zip(&tables) {
                sum += sums[usize::from(*byte)];
            }
            best.push((scale.to_mean + scale.length * sum, row));
        })?;
        keep(&mut best);
        let mut rows: Vec<i64> = best.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        Ok(rows)
    }

    fn each(&self, mut take: impl FnMut(i64, Scale, &[u8])) -> io::Result<()> {
        let bytes_each = bytes_of(self.mean.len());
        let per_part = (PART_BYTES / bytes_each).max(1);
        let mut part = vec![0; per_part.min(self.count) * bytes_each];
        let mut read = 0;
        while read < self.count {
            let now = per_part.min(self.count - read);
            let part = &mut part[..now * bytes_each];
            self.file.read_exact_at(part, (read * bytes_each) as u64)?;
            for sketch in part.chunks_exact(bytes_each) {
                let Some((row, rest)) = sketch.split_first_chunk() else { continue };
                let Some((length, rest)) = rest.split_first_chunk() else { continue };
                let Some((to_mean, bits)) = rest.split_first_chunk() else { continue };
                let (length, to_mean) = (f32::from_le_bytes(*length), f32::from_le_bytes(*to_mean));
                take(i64::from_le_bytes(*row), Scale { length, to_mean }, bits);
            }
            read += now;
        }
        Ok(())
    }

    /// For each byte of a sketch what each of its values adds: the numbers of the query whose bit
    /// is set, less those whose bit is not.
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
            // More than are read at once.
            let all = vectors(2_500, dimension);
            let mean = (0..dimension)
                .map(|at| all.iter().map(|one| one[at]).sum::<f32>() / all.len() as f32)
                .collect();
            let temp = tempfile::tempdir().unwrap();
            let mut sketches = Sketching::new(temp.path(), mean).unwrap();
            for (row, vector) in (0..).zip(&all) {
                sketches.add(row, vector.iter().copied()).unwrap();
            }
            let sketches = sketches.done().unwrap();
            assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0, "its file has no name");
            let (mut found, mut wanted) = (0, 0);
            for query in all.iter().step_by(97) {
                let near = sketches.nearest(query, 100).unwrap();
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
        let temp = tempfile::tempdir().unwrap();
        let mut sketches = Sketching::new(temp.path(), vec![0.0; 3]).unwrap();
        sketches.add(7, [1.0, 0.0, 0.0].into_iter()).unwrap();
        sketches.add(9, [0.0, 1.0, 0.0].into_iter()).unwrap();
        let sketches = sketches.done().unwrap();
        assert_eq!(sketches.nearest(&[0.0, 0.0, 1.0], 10).unwrap(), [7, 9]);
        assert_eq!(sketches.nearest(&[0.0, 1.0, 0.0], 1).unwrap(), [9]);
        assert_eq!(bytes_of(384), 64);
    }
}
