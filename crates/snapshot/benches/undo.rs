//! What remembering a workspace costs: the first snapshot, which copies it, and the second one,
//! after one file has changed. `cargo bench -p claw-snapshot --bench undo` prints a table; the
//! ratio of the two is of the same run and machine.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use claw_snapshot::{Limits, Snapshots};

const SIZES: [usize; 3] = [100, 1_000, 10_000];
/// Of one file, in bytes.
const FILE_BYTES: usize = 2_048;
const FILES_IN_A_FOLDER: usize = 50;
const ROUNDS: usize = 3;
const LIMITS: Limits = Limits { files_max: 100_000, bytes_max: 1 << 30, file_bytes_max: 1 << 26 };

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| files | first snapshot | second snapshot | the second is |");
    println!("|---|---|---|---|");
    for files in SIZES {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(round(files)?);
        }
        // The median of each, so that one slow round of the machine says nothing.
        let [first, second] = [0, 1].map(|nth| {
            let mut times: Vec<Duration> = rounds.iter().map(|round| round[nth]).collect();
            times.sort();
            times[ROUNDS / 2]
        });
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
        let ratio = first.as_secs_f64() / second.as_secs_f64();
        println!("| {files} | {} | {} | {ratio:.1} times as fast |", ms(first), ms(second));
    }
    Ok(())
}

fn round(files: usize) -> Result<[Duration; 2], Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let (workspace, kept) = (dir.path().join("workspace"), dir.path().join("kept"));
    fill(&workspace, files)?;
    let (snapshots, _) = Snapshots::open(&kept, &workspace, LIMITS)?;
    let first = timed(|| snapshots.remember("1-before"))?;
    fs::write(workspace.join("folder-0/file-0"), "changed")?;
    let second = timed(|| snapshots.remember("2-before"))?;
    Ok([first, second])
}

fn fill(workspace: &Path, files: usize) -> std::io::Result<()> {
    for number in 0..files {
        let folder = workspace.join(format!("folder-{}", number / FILES_IN_A_FOLDER));
        fs::create_dir_all(&folder)?;
        let line = format!("line of the file {number}\n");
        let text: String = line.repeat(FILE_BYTES / line.len());
        fs::write(folder.join(format!("file-{number}")), text)?;
    }
    Ok(())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}
