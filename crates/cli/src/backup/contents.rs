//! What a backup holds, and the list in front of it by which it is checked. Must not know where
//! anything is read or written.

use serde::{Deserialize, Serialize};

use crate::config::is_agent_name;

/// The first entry of the file.
pub const MANIFEST: &str = "claw-backup.json";
pub const DB: &str = "claw.db";
/// The other files of a home, those of them that are there.
pub const FILES: [&str; 11] = [
    "claw.toml",
    "mcp.json",
    "policy.toml",
    "heartbeats.toml",
    "SOUL.md",
    "history",
    "persona/SOUL.md",
    "persona/IDENTITY.md",
    "persona/USER.md",
    "persona/AGENTS.md",
    "persona/MEMORY.md",
];
/// The jobs of the schedule.
pub const JOBS: &str = "schedule/jobs.db";
/// What the names of notes begin with.
pub const NOTES: &str = "memory/";
/// The largest list, in bytes: some hundred thousand artifacts.
pub const MANIFEST_BYTES_MAX: u64 = 64 * 1024 * 1024;
const VERSION: u32 = 1;

/// One file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub bytes: u64,
    /// Lower-case hexadecimal SHA-256 of the content.
    pub sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Contents {
    claw_backup: u32,
    /// The claw that wrote it.
    claw: String,
    /// When it was begun, RFC 3339.
    pub at: String,
    pub files: Vec<Entry>,
}

impl Contents {
    pub fn of(files: Vec<Entry>) -> Self {
        let at = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        Self { claw_backup: VERSION, claw: env!("CARGO_PKG_VERSION").to_owned(), at, files }
    }

    pub fn to_text(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// Reads a list that somebody may have changed.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let read: Self = serde_json::from_slice(bytes)
            .map_err(|error| format!("its list of contents: {error}"))?;
        if read.claw_backup != VERSION {
            return Err(format!(
                "it has version {}, and this claw ({}) reads {VERSION}",
                read.claw_backup,
                env!("CARGO_PKG_VERSION")
            ));
        }
        for (index, entry) in read.files.iter().enumerate() {
            if !belongs(&entry.name) {
                return Err(format!("it lists {:?}, which no backup holds", entry.name));
            }
            if read.files.iter().take(index).any(|other| other.name == entry.name) {
                return Err(format!("it lists {:?} twice", entry.name));
            }
            if let Some((_, digest)) = entry.name.rsplit_once("artifacts/")
                && digest != entry.sha256
            {
                return Err(format!("{:?} is not named after its content", entry.name));
            }
        }
        if !read.files.iter().any(|entry| entry.name == DB) {
            return Err("it lists no claw.db".to_owned());
        }
        Ok(read)
    }
}

/// The only names there are: nothing in a backup can point out of the new home. An agent's home
/// lies in it under its name.
fn belongs(name: &str) -> bool {
    let in_agents = name.strip_prefix("agents/").and_then(|rest| rest.split_once('/'));
    let name = match in_agents {
        Some((agent, inner)) if is_agent_name(agent) => inner,
        _ => name,
    };
    name == DB
        || name == JOBS
        || FILES.contains(&name)
        || name.strip_prefix("artifacts/").is_some_and(is_digest)
        || name.strip_prefix(NOTES).is_some_and(is_note)
}

/// A Markdown file in the folder of the notes, or in a folder below it; nothing hidden, and nothing
/// that leads out.
pub fn is_note(path: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\0');
    claw_mcp_memory::is_note_name(path) && path.split('/').all(is_plain)
}

/// Lower-case hexadecimal SHA-256.
pub fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(names: &[&str]) -> String {
        let entry =
            |name: &&str| Entry { name: (*name).to_owned(), bytes: 0, sha256: "a".repeat(64) };
        Contents::of(names.iter().map(entry).collect()).to_text().unwrap()
    }

    #[test]
    fn only_what_a_home_holds_is_read() {
        let artifact = format!("artifacts/{}", "a".repeat(64));
        assert_eq!(
            Contents::read(
                with(&[
                    "claw.db",
                    "SOUL.md",
                    "persona/USER.md",
                    JOBS,
                    "memory/a b/c.md",
                    "memory/D.MD",
                    "memory/e\\f.markdown",
                    &artifact
                ])
                .as_bytes()
            )
            .unwrap()
            .files
            .len(),
            8
        );
        for (names, wrong) in [
            (vec!["SOUL.md"], "no claw.db"),
            (vec!["claw.db", "claw.db"], "twice"),
            (vec!["claw.db", "../mcp.json"], "no backup holds"),
            (vec!["claw.db", "/etc/passwd"], "no backup holds"),
            (vec!["claw.db", "workspace/x"], "no backup holds"),
            (vec!["claw.db", "persona/claw.toml"], "no backup holds"),
            (vec!["claw.db", "persona/../USER.md"], "no backup holds"),
            (vec!["claw.db", "artifacts/../x"], "no backup holds"),
            (vec!["claw.db", "memory/../mcp.json"], "no backup holds"),
            (vec!["claw.db", "memory/../x.md"], "no backup holds"),
            (vec!["claw.db", "memory//x.md"], "no backup holds"),
            (vec!["claw.db", "memory/.git/x.md"], "no backup holds"),
            (vec!["claw.db", "memory/x.txt"], "no backup holds"),
            (vec!["claw.db", "memory/x\0.md"], "no backup holds"),
            (vec!["claw.db", "memory-state/x.md"], "no backup holds"),
            (vec!["claw.db", "schedule/../mcp.json"], "no backup holds"),
        ] {
            let error = Contents::read(with(&names).as_bytes()).unwrap_err();
            assert!(error.contains(wrong), "{names:?}: {error}");
        }
        let other = format!("artifacts/{}", "b".repeat(64));
        assert!(
            Contents::read(with(&["claw.db", &other]).as_bytes())
                .unwrap_err()
                .contains("named after")
        );
        let newer = with(&["claw.db"]).replace("\"claw_backup\": 1", "\"claw_backup\": 2");
        assert!(Contents::read(newer.as_bytes()).unwrap_err().contains("version 2"));
        assert!(Contents::read(b"{").is_err());
    }
}
