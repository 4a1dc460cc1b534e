//! What `--check` says: whether the index equals the files, and what somebody should look at in
//! the folder. Owns the sentences; must not know where they are printed.

use claw_kit::counted::counted;
use rusqlite::Connection;

use crate::copies;
use crate::error::Result;
use crate::memory::Memory;
use crate::vectors;

/// The lines of a check.
pub struct Report {
    pub lines: Vec<String>,
    /// Faults of files are told and are no difference: the index holds them as they are.
    pub is_equal: bool,
    /// Somebody has to do something: a file has a fault or is a copy, or the endpoint is away.
    pub has_faults: bool,
}

/// How much is done for a report.
#[derive(Clone, Copy)]
pub enum Depth {
    /// What can be seen on this machine, and whether an endpoint answers.
    Seen,
    /// Vectors that are missing are made first.
    Filled,
}

impl Memory {
    /// # Errors
    /// The files or the index cannot be read.
    pub fn report(&mut self, depth: Depth) -> Result<Report> {
        let differ = self.check()?;
        self.names_fresh()?;
        let db = &self.index.db;
        let count: i64 = db.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))?;
        let mut lines = differ.clone();
        lines.extend(faults(db)?);
        lines.extend(
            self.passed_over.iter().map(|one| format!("{}: it is no note: {}", one.path, one.why)),
        );
        lines.extend(self.names.thesaurus.faults.iter().cloned());
        let mut has_faults = !lines.is_empty();
        if self.names.left_out > 0 {
            lines.push(format!(
                "{} not looked for in queries: at most {} are ({})",
                match self.names.left_out {
                    1 => "1 name of a linked note is".to_owned(),
                    many => format!("{many} names of linked notes are"),
                },
                self.limits.linked_names_max,
                self.limits.named("--linked-names-max")
            ));
        }
        lines.extend(self.trash_told()?);
        if let Some(vectors) = &self.vectors {
            match depth {
                Depth::Seen => vectors.probe(vectors::PROBE_TIME_MAX),
                Depth::Filled => vectors.fill_for_a_check(),
            }
            has_faults |= vectors.has_fault();
        }
        lines.push(self.vectors.as_ref().map_or(vectors::NONE.to_owned(), |one| one.sentence()));
        let folder = self.notes.path.display();
        lines.push(match differ.len() {
            0 => format!("{} in {folder}; the index equals the files.", counted(count, "note")),
            many => format!(
                "{} in {folder}; the index differs from the files in {}. Remove `{}`: the next start makes a new one.",
                counted(count, "note"),
                counted(many, "place"),
                self.index.path.display()
            ),
        });
        Ok(Report { lines, is_equal: differ.is_empty(), has_faults })
    }
}

/// What somebody has to mend in the files themselves.
fn faults(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let pairs = |sql: &str| -> rusqlite::Result<Vec<(String, String)>> {
        db.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let broken = pairs("SELECT path, fault FROM notes WHERE fault IS NOT NULL ORDER BY path")?;
    let mut lines: Vec<String> =
        broken.iter().map(|(path, fault)| format!("{path}: {fault}")).collect();
    let copies =
        pairs(&format!("SELECT path, id FROM notes n WHERE {} ORDER BY path", copies::SHADOWED))?;
    lines.extend(copies.iter().map(|(path, id)| {
        format!("{path}: a conflict copy of `{id}`; it is not searched, merge it by hand")
    }));
    let left = pairs(
        "SELECT path, superseded_by FROM notes n WHERE superseded_by <> id AND superseded_by NOT IN
            (SELECT id FROM notes) ORDER BY path",
    )?;
    lines.extend(left.iter().map(|(path, by)| {
        format!(
            "{path}: it says `superseded_by: {by}`, and there is no such note, so it counts as \
             current; mend the id, or take the line out"
        )
    }));
    Ok(lines)
}
