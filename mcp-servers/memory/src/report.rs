//! What `--check` says: whether the index equals the files, and what somebody should look at in
//! the folder. Owns the sentences; must not know where they are printed.

use crate::error::Result;
use crate::memory::Memory;
use crate::vectors;

/// The lines of a check.
pub struct Report {
    pub lines: Vec<String>,
    /// Faults of files are told and are no difference: the index holds them as they are.
    pub is_equal: bool,
}

/// How much is done for a report.
#[derive(Clone, Copy)]
pub enum Depth {
    /// Only what can be seen on this machine.
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
        let faults: Vec<(String, String)> = db
            .prepare("SELECT path, fault FROM notes WHERE fault IS NOT NULL ORDER BY path")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        lines.extend(faults.iter().map(|(path, fault)| format!("{path}: {fault}")));
        let copies: Vec<(String, String)> = db
            .prepare(
                "SELECT path, id FROM notes n WHERE EXISTS (SELECT 1 FROM notes o WHERE o.id = n.id
                    AND (o.copy, length(o.path), o.path) < (n.copy, length(n.path), n.path)) ORDER BY path",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        lines.extend(copies.iter().map(|(path, id)| {
            format!("{path}: a conflict copy of `{id}`; it is not searched, merge it by hand")
        }));
        lines.extend(
            self.passed_over.iter().map(|one| format!("{}: it is no note: {}", one.path, one.why)),
        );
        lines.extend(self.names.thesaurus.faults.iter().cloned());
        if self.names.left_out > 0 {
            lines.push(format!(
                "{} names of linked notes are not looked for in queries: at most {} are (--linked-names-max)",
                self.names.left_out, self.limits.linked_names_max
            ));
        }
        lines.extend(self.trash_told()?);
        lines.push(match (&self.vectors, depth) {
            (None, _) => vectors::NONE.to_owned(),
            (Some(vectors), Depth::Seen) => vectors.sentence(),
            (Some(vectors), Depth::Filled) => vectors.filled_sentence(),
        });
        let folder = self.notes.path.display();
        lines.push(match differ.len() {
            0 => format!("{count} notes in {folder}; the index equals the files."),
            many => format!(
                "{count} notes in {folder}; the index differs from the files in {many} places. Remove `{}`: the next start makes a new one.",
                self.index.path.display()
            ),
        });
        Ok(Report { lines, is_equal: differ.is_empty() })
    }
}
