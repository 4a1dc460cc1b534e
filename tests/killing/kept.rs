//! Files: what a result left with claw, and what tools made for a reply to hand over. Owns what
//! must be in them and whether it is on the disk, whole and under its name. Must not know doors.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::findings::Findings;
use super::house::House;
use super::log::Use;
use super::look::Look;

/// In a house.
const ARTIFACTS: &str = "home/artifacts";
/// More than a result may be without being cut, and the whole kept apart.
const KEPT_LINES: usize = 900;

/// The long text that a call of `keep` answers with.
pub fn kept_text(id: &str) -> String {
    (1..=KEPT_LINES).map(|number| format!("line {number} of {id}\n")).collect()
}

/// The file that comes with it.
pub fn kept_file(id: &str) -> Vec<u8> {
    format!("the file of {id}\n").repeat(20).into_bytes()
}

/// Where a call of `make` puts a file in the workspace, and what is in it.
pub fn made_path(id: &str) -> String {
    format!("gifts/{id}.txt")
}

pub fn made(id: &str) -> Vec<u8> {
    format!("made by {id}\n").repeat(30).into_bytes()
}

/// Every file below a folder, without drafts of writers that were killed.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_draft = entry.file_name().to_string_lossy().starts_with('.');
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() && !is_draft => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

fn digest_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a result in the log says is kept is there, whole, by its digest and as a copy in the
/// workspace; and no file of claw's is anything else than its name says.
pub fn judge(
    house: &House,
    look: &Look,
    uses: &[Use],
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let rows: Vec<String> = look.all("SELECT digest FROM artifacts", |row| row.get(0))?;
    for one in uses.iter().filter(|one| one.id.starts_with("keep-")) {
        for outcome in one.outcomes.iter().filter(|outcome| outcome["kind"] == "ended") {
            let said = outcome["output"]["text"].as_str().unwrap_or_default();
            // The whole text is kept with the line that stands for the file.
            let whole =
                said.split_once("the whole is kept as artifact ").map_or("", |(_, rest)| rest);
            let text =
                (whole.get(..64).unwrap_or_default().to_owned(), kept_text(&one.id).into_bytes());
            let file = (digest_of(&kept_file(&one.id)), kept_file(&one.id));
            for (digest, begins) in [text, file] {
                findings.seen.kept += 1;
                if let Err(what) = is_kept(house, &rows, said, &digest, &begins) {
                    findings.lost.push(format!("of what {} left: {what}", one.id));
                }
            }
        }
    }
    for path in files_below(&house.path(ARTIFACTS)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap_or_default();
        if name.len() == 64 && digest_of(&bytes) != name {
            findings.other.push(format!("the kept file {name} holds something else"));
        }
    }
    Ok(())
}

fn is_kept(
    house: &House,
    rows: &[String],
    said: &str,
    digest: &str,
    begins: &[u8],
) -> Result<(), String> {
    if !rows.iter().any(|row| row == digest) {
        return Err(format!("the store does not know `{digest}`"));
    }
    let kept = std::fs::read(house.path(ARTIFACTS).join(digest)).unwrap_or_default();
    if !kept.starts_with(begins) || digest_of(&kept) != digest {
        return Err(format!("{digest} is not on the disk as it was"));
    }
    let (_, behind) =
        said.split_once(digest).ok_or_else(|| format!("the result does not name {digest}"))?;
    let copy =
        behind.strip_prefix(", copy: ").ok_or_else(|| format!("there is no copy of {digest}"))?;
    let copy = copy.split(|c: char| c.is_whitespace() || c == ']').next().unwrap_or_default();
    match std::fs::read(house.path("work").join(copy)) {
        Ok(there) if there == kept => Ok(()),
        _ => Err(format!("the copy {copy} is not as it was")),
    }
}
