//! New files: written under a name that nobody looks at, synced, and then given their own, all or
//! nothing. Never replaces anything and never follows a link. Must not know where the bytes come
//! from.

use std::io;
use std::path::PathBuf;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use claw_kit::durable::at::{rename_new, sync};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::Workspace;

/// What there is under a name.
pub enum Put {
    /// A file, put there before: its path in the workspace, and its size in bytes.
    Already(String, u64),
    /// Nothing yet.
    New(FileDraft),
}

/// A file that is being written. Dropped without [`FileDraft::keep`], it is removed.
pub struct FileDraft {
    dir: Dir,
    file: tokio::fs::File,
    draft_name: String,
    name: String,
    /// In the workspace, with `/`.
    path: String,
    kept: bool,
}

impl Workspace {
    /// Begins a file at `folders`/`name`, each a plain name; folders that are missing are made.
    ///
    /// # Errors
    /// What the system says; that a folder is a link, or that something other than a file has the
    /// name.
    pub fn put(&self, folders: &[&str], name: &str) -> io::Result<Put> {
        let mut dir = self.dir.try_clone()?;
        for folder in folders {
            match dir.create_dir(folder) {
                // Once a day, so nobody notices that it waits for the disk.
                Ok(()) => sync(&dir)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            dir = dir.open_dir_nofollow(folder)?;
        }
        let path = folders.iter().copied().chain([name]).collect::<Vec<_>>().join("/");
        match dir.symlink_metadata(name) {
            Ok(there) if there.is_file() => return Ok(Put::Already(path, there.len())),
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "something that is no file has this name",
                ));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        // The same name at every try, so that what a kill left is replaced and does not pile up.
        let draft_name = format!(".{name}.part");
        match dir.remove_file(&draft_name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = dir
            .open_with(&draft_name, OpenOptions::new().write(true).create_new(true).mode(0o600))?;
        let file = tokio::fs::File::from_std(file.into_std());
        Ok(Put::New(FileDraft { dir, file, draft_name, name: name.to_owned(), path, kept: false }))
    }

    /// The size of a file that was put there before, in bytes.
    pub fn size_of(&self, folders: &[&str], name: &str) -> Option<u64> {
        let path: PathBuf = folders.iter().copied().chain([name]).collect();
        self.dir
            .symlink_metadata(path)
            .ok()
            .filter(|there| there.is_file())
            .map(|there| there.len())
    }
}

impl FileDraft {
    /// Where its bytes go.
    pub fn sink(&mut self) -> &mut (impl AsyncWrite + Unpin + use<>) {
        &mut self.file
    }

    /// Puts the file under its name, on the disk. Returns its path in the workspace.
    pub async fn keep(mut self) -> io::Result<String> {
        self.file.flush().await?;
        self.file.sync_all().await?;
        rename_new(&self.dir, &self.draft_name, &self.dir, &self.name)?;
        self.kept = true;
        let dir = self.dir.try_clone()?;
        tokio::task::spawn_blocking(move || sync(&dir)).await.map_err(io::Error::other)??;
        Ok(self.path.clone())
    }
}

impl Drop for FileDraft {
    fn drop(&mut self) {
        if !self.kept {
            // One that stays is replaced at the next try.
            let _ = self.dir.remove_file(&self.draft_name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    async fn put(workspace: &Workspace, text: &str) -> io::Result<String> {
        match workspace.put(&["inbox", "day"], "a.txt")? {
            Put::Already(path, _) => Ok(format!("already {path}")),
            Put::New(mut draft) => {
                draft.sink().write_all(text.as_bytes()).await?;
                draft.keep().await
            }
        }
    }

    #[tokio::test]
    async fn a_file_is_put_once_and_nothing_is_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        assert_eq!(put(&workspace, "one").await.unwrap(), "inbox/day/a.txt");
        assert_eq!(put(&workspace, "two").await.unwrap(), "already inbox/day/a.txt");
        assert_eq!(fs::read_to_string(temp.path().join("inbox/day/a.txt")).unwrap(), "one");
        assert_eq!(
            fs::read_dir(temp.path().join("inbox/day")).unwrap().count(),
            1,
            "no draft stays"
        );
    }

    #[tokio::test]
    async fn a_draft_that_is_given_up_or_was_killed_leaves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        fs::create_dir_all(temp.path().join("inbox/day")).unwrap();
        fs::write(temp.path().join("inbox/day/.a.txt.part"), "half").unwrap();
        let Put::New(mut draft) = workspace.put(&["inbox", "day"], "a.txt").unwrap() else {
            panic!()
        };
        draft.sink().write_all(b"x").await.unwrap();
        drop(draft);
        assert_eq!(fs::read_dir(temp.path().join("inbox/day")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn no_link_is_followed() {
        let (temp, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = Workspace::open(temp.path()).unwrap();
        symlink(outside.path(), temp.path().join("inbox")).unwrap();
        assert!(put(&workspace, "x").await.is_err());
        fs::remove_file(temp.path().join("inbox")).unwrap();
        fs::create_dir_all(temp.path().join("inbox/day")).unwrap();
        symlink(outside.path().join("b"), temp.path().join("inbox/day/a.txt")).unwrap();
        assert!(put(&workspace, "x").await.is_err());
        fs::remove_file(temp.path().join("inbox/day/a.txt")).unwrap();
        symlink(outside.path().join("b"), temp.path().join("inbox/day/.a.txt.part")).unwrap();
        put(&workspace, "x").await.unwrap();
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "nothing was written outside");
    }
}
