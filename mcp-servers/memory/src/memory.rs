//! The notes and their index together. Owns the lock between processes, and that every look comes
//! after every change that was made before it. Must not know tools or the protocol.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use claw_kit::durable;
use rusqlite::ErrorCode;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::args::{Args, Limits};
use crate::caller::Caller;
use crate::error::{Result, ToolError};
use crate::folder::watch::{Changed, Watch};
use crate::folder::{Folder, PassedOver, is_thesaurus};
use crate::index::equal::{Scope, differences};
use crate::index::{Index, sync};
use crate::names::Names;
use crate::vectors::Vectors;
use crate::whose::Whose;
use crate::writer::{Gone, trash_path};

/// The environment variable that names the notes when `--notes` does not.
const NOTES_VARIABLE: &str = "CLAW_MEMORY";

const OWNER_ONLY: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// How long a call waits for another process that changes the same notes.
const LOCK_TIME_MAX: Duration = Duration::from_secs(10);
const LOCK_LOOK_EVERY: Duration = Duration::from_millis(5);

/// All files are looked at again after this time, for file systems that do not tell of changes
/// (those over a network).
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("which notes? Name their folder with --notes DIR or {NOTES_VARIABLE}.")]
    NoFolder,
    #[error("the notes in {} cannot be used: {}", path.display(), why_of_folder(source))]
    Notes { path: PathBuf, source: io::Error },
    #[error(
        "{} cannot be used for the index, the proposals and the trash: {} Another folder is named by {option}.",
        path.display(), why_of_folder(source)
    )]
    State { path: PathBuf, source: io::Error, option: String },
    #[error(
        "{} and the notes in {} lie inside of each other: proposals and trash would be taken for notes. Name a folder beside the notes by {option}.",
        state.display(), notes.display()
    )]
    Nested { state: PathBuf, notes: PathBuf, option: String },
    #[error("the index in {} cannot be made: {}", state.display(), why_of_index(source))]
    Index { state: PathBuf, source: rusqlite::Error },
    #[error(transparent)]
    Sync(#[from] ToolError),
}

/// Why a folder cannot be used, and what to do.
fn why_of_folder(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            "a file lies there, where a folder is needed. Move the file away.".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "this user may not read and write there. Give it the right to, or use another folder."
                .to_owned()
        }
        _ => format!("{}.", claw_server_kit::why(error)),
    }
}

fn why_of_index(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "this user may not write there. Give it the right to.".to_owned()
        }
        Some(ErrorCode::ReadOnly) => {
            "its folder or its files are read-only. Make them writable.".to_owned()
        }
        Some(ErrorCode::DiskFull) => "the disk is full.".to_owned(),
        _ => format!("{error}."),
    }
}

/// All that a server has of the notes. Lives as long as it; one call at a time works with it.
pub struct Memory {
    /// Folders by their handles, which stay open until the end.
    pub notes: Folder,
    pub proposals: Folder,
    pub trash: Folder,
    /// The connection to SQLite. Closed at the end.
    pub index: Index,
    /// As they were at the start, as `whose` is.
    pub limits: Limits,
    pub whose: Whose,
    /// The file that every prompt of the host holds, if this server was given one.
    pub always: Option<PathBuf>,
    /// `None` if no embeddings endpoint is configured.
    /// The thread that makes missing ones holds them, too.
    pub vectors: Option<Arc<Vectors>>,
    /// Where index, proposals and trash lie.
    pub state: PathBuf,
    /// From whose words the call came that works here now, if the host has said so.
    pub caller: Option<Caller>,
    /// What is in the folder and is no note, as the last look at everything has found it.
    pub passed_over: Vec<PassedOver>,
    /// The names that lead to linked notes. Of the last look that needed them: see
    /// [`Memory::names_fresh`].
    pub names: Names,
    /// Since the names were made last.
    thesaurus_changed: bool,
    /// When the trash was looked at last, to bound it.
    pub trash_bounded_at: Option<Instant>,
    /// Open until the end; locked while notes or index are written.
    lock: File,
    /// What has changed since the last look, as the system tells it.
    watch: Watch,
    /// When everything was looked at last; `None` where that has to be done again.
    looked_at: Option<Instant>,
}

/// Whoever has it is the only one who writes to notes or index. Closing the file ends it, so that a
/// killed process holds nothing.
struct Locked<'a>(&'a File);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // It ends with the process at the latest.
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

impl Memory {
    /// # Errors
    /// A folder cannot be used, or no index can be made.
    pub fn open(args: &Args) -> Result<Self, OpenError> {
        let from_environment = || {
            std::env::var_os(NOTES_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let path = args.notes.clone().or_else(from_environment).ok_or(OpenError::NoFolder)?;
        let notes = Folder::open(&path).map_err(|source| OpenError::Notes { path, source })?;
        let state = args.state.clone().unwrap_or_else(|| beside(&notes.path));
        let option = args.limits.named("--state");
        let state_error =
            |source| OpenError::State { path: state.clone(), source, option: option.clone() };
        durable::create_dirs(&state, FOLDER_MODE).map_err(state_error)?;
        let state = state.canonicalize().map_err(state_error)?;
        if state.starts_with(&notes.path) || notes.path.starts_with(&state) {
            let option = option.clone();
            return Err(OpenError::Nested { state, notes: notes.path, option });
        }
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(OWNER_ONLY)
            .open(state.join("lock"))
            .map_err(state_error)?;
        let guard = locked(&lock)?;
        let index = Index::open(&state)
            .map_err(|source| OpenError::Index { state: state.clone(), source })?;
        let vectors = Vectors::open(&args.embeddings, &state, &index.path)
            .map_err(|source| OpenError::Index { state: state.clone(), source })?;
        drop(guard);
        let proposals = Folder::open(&state.join("proposals")).map_err(state_error)?;
        let trash = Folder::open(&state.join("trash")).map_err(state_error)?;
        let mut memory = Self {
            notes,
            proposals,
            trash,
            index,
            limits: args.limits,
            whose: Whose::new(args),
            always: args.always.clone(),
            vectors,
            state,
            caller: None,
            passed_over: Vec::new(),
            names: Names::default(),
            thesaurus_changed: true,
            trash_bounded_at: None,
            lock,
            watch: Watch::new(),
            looked_at: None,
        };
        memory.under_lock(|memory| memory.look_at(&Changed::Everything))?;
        Ok(memory)
    }

    /// Whether somebody else than the owner hears what this call is answered.
    pub fn is_heard_by_others(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.heard_by_others)
    }

    /// Brings the index to what the files are now. Costs nothing where nothing has changed.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn fresh(&mut self) -> Result<()> {
        match self.watch.changed() {
            Changed::Nothing => Ok(()),
            changed => self.under_lock(|memory| memory.look_at(&changed)),
        }
    }

    /// The same for whoever holds the lock.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn fresh_locked(&mut self) -> Result<()> {
        let changed = self.watch.changed();
        self.look_at(&changed)
    }

    /// Looks at all files again, if the last time is long ago.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn look_again(&mut self) -> Result<()> {
        let long_ago = self.looked_at.is_none_or(|then| then.elapsed() >= LOOK_AGAIN_AFTER);
        if !long_ago {
            return Ok(());
        }
        self.under_lock(|memory| memory.look_at(&Changed::Everything))
    }

    /// Brings the index to some files, and compares.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn bring_along(&mut self, paths: &BTreeSet<String>) -> Result<()> {
        sync::some(&mut self.index.db, &self.notes, paths, self.limits.note_bytes_max)?;
        let scope = Scope::Paths(paths);
        let differ = differences(&self.index.db, &self.notes, self.limits.note_bytes_max, &scope)?;
        // Somebody else is writing at this moment. The watch tells of it at the next call, and all
        // is looked at behind this one.
        if !differ.is_empty() {
            self.looked_at = None;
        }
        Ok(())
    }

    /// Brings the names to the index and the thesaurus. Nothing that finds no name pays for it.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn names_fresh(&mut self) -> Result<()> {
        let changed = self.thesaurus_changed;
        self.names.bring_along(&self.index.db, &self.notes, &self.limits, changed)?;
        self.thesaurus_changed = false;
        Ok(())
    }

    fn look_at(&mut self, changed: &Changed) -> Result<()> {
        match changed {
            Changed::Nothing => return Ok(()),
            Changed::Paths(paths) => {
                let (thesauri, notes): (BTreeSet<_>, _) =
                    paths.iter().cloned().partition(|path| is_thesaurus(path));
                self.thesaurus_changed |= !thesauri.is_empty();
                return self.bring_along(&notes);
            }
            Changed::Everything => {}
        }
        self.thesaurus_changed = true;
        let mut folders = Vec::new();
        let synced = sync::everything(
            &mut self.index.db,
            &self.notes,
            &mut self.watch,
            &mut folders,
            self.limits.note_bytes_max,
        )?;
        for left in self.notes.left_over(&folders) {
            let kept = trash_path(
                Gone::LeftOver,
                &left.replace("/.", "/").replacen('.', "", usize::from(left.starts_with('.'))),
            )?;
            self.notes
                .move_to(&left, &self.trash, &kept)
                .map_err(|error| ToolError::io("move to the trash", left, &error))?;
        }
        self.passed_over = synced.passed_over;
        self.looked_at = Some(Instant::now());
        Ok(())
    }

    /// Does something while no other process writes.
    ///
    /// # Errors
    /// Another process has the lock for too long, and what `work` gives.
    pub fn under_lock<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // A second handle of the same open file, so that `self` is free.
        let lock = self.lock.try_clone().map_err(|error| ToolError::io("lock", "lock", &error))?;
        let _locked = locked(&lock)?;
        work(self)
    }

    /// Does something that reads the index many times, and writes nothing: it is the index of one
    /// moment, and its file is locked once instead of by each statement.
    ///
    /// # Errors
    /// SQLite refuses, and what `look` gives.
    pub fn at_one_moment<T>(&mut self, look: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.end_moment()?;
        self.index.db.execute_batch("BEGIN")?;
        let looked = look(self);
        self.end_moment()?;
        looked
    }

    /// Also one that a panic has left.
    fn end_moment(&self) -> Result<()> {
        if !self.index.db.is_autocommit() {
            self.index.db.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    /// Everything in which the index differs from the files.
    ///
    /// # Errors
    /// The files or the index cannot be read.
    pub fn check(&self) -> Result<Vec<String>> {
        let _locked = locked(&self.lock)?;
        differences(&self.index.db, &self.notes, self.limits.note_bytes_max, &Scope::Everything)
    }
}

/// `memory-state` beside `memory`.
fn beside(notes: &Path) -> PathBuf {
    let name = notes.file_name().map(|name| name.to_string_lossy().into_owned());
    notes.with_file_name(format!("{}-state", name.unwrap_or_default()))
}

fn locked(lock: &File) -> Result<Locked<'_>> {
    let began = Instant::now();
    loop {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Locked(lock)),
            Err(Errno::AGAIN | Errno::INTR) if began.elapsed() < LOCK_TIME_MAX => {
                std::thread::sleep(LOCK_LOOK_EVERY);
            }
            Err(Errno::AGAIN | Errno::INTR) => {
                return Err(ToolError::Busy { waited_s: LOCK_TIME_MAX.as_secs() });
            }
            Err(error) => return Err(ToolError::io("lock", "lock", &error.into())),
        }
    }
}
