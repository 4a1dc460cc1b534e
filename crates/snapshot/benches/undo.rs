//! What remembering a workspace costs: the first snapshot, which copies it, and the second one,
//! after one file has changed. And what each call of a turn costs that may change it: a look before
//! and one behind, with one file written between. `cargo bench -p claw-snapshot --bench undo`
//! prints a table; the ratios are of the same run and machine.
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
const CALLS: usize = 9;
const LIMITS: Limits = Limits { files_max: 100_000, bytes_max: 1 << 30, file_bytes_max: 1 << 26 };

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| files | first snapshot | second snapshot | the second is | looks of one call |");
    println!("|---|---|---|---|---|");
    for files in SIZES {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(round(files)?);
        }
        // The median of each, so that one slow round of the machine says nothing.
        let [first, second, call] = [0, 1, 2].map(|nth| {
            let mut times: Vec<Duration> = rounds.iter().map(|round| round[nth]).collect();
            times.sort();
            times[ROUNDS / 2]
        });
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
        let ratio = first.as_secs_f64() / second.as_secs_f64();
        let [one, two, call] = [first, second, call].map(ms);
        println!("| {files} | {one} | {two} | {ratio:.1} times as fast | {call} |");
    }
    Ok(())
}

fn round(files: usize) -> Result<[Duration; 3], Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let (workspace, kept) = (dir.path().join("workspace"), dir.path().join("kept"));
    fill(&workspace, files)?;
    let (snapshots, _) = Snapshots::open(&kept, &workspace, LIMITS)?;
    let first = timed(|| snapshots.remember("1-before"))?;
    fs::write(workspace.join("folder-0/file-0"), "changed")?;
    let second = timed(|| snapshots.remember("2-before"))?;
    let mut calls = Vec::new();
    for number in 0..CALLS {
        let mut call = Duration::ZERO;
        let mut mark = None;
        call += timed(|| snapshots.begin("3-before").map(|begun| mark = Some(begun)))?;
        fs::write(workspace.join("folder-0/file-1"), format!("call {number}"))?;
        call += timed(|| snapshots.pause("3-before"))?;
        drop(mark);
        calls.push(call);
    }
    // The first one copies; those behind it are what a turn of many calls is made of.
    calls.sort();
    Ok([first, second, calls[CALLS / 2]])
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
