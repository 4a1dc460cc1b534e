//! What the doctor may do, each with a yes. Nothing is thrown away that says anything: what cannot
//! be read is put aside.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claw_kit::counted::{counted, counted_with};

use crate::app::owner_principal;
use crate::durable::sync_folder_of;
use crate::mail::Instance;
use crate::moment::when;
use crate::store::{DamagedRow, RowAt, RowFault, Store, now_ms};

/// One repair.
#[derive(Clone, Debug)]
pub enum Repair {
    /// Lock files that nobody holds.
    RemoveLocks(Vec<PathBuf>),
    /// Files that nothing names.
    RemoveFiles(Vec<PathBuf>),
    /// A clock that has leapt ahead, and is right.
    BelieveClock,
    /// Folders of restores that were killed.
    RemoveFolders(Vec<PathBuf>),
    /// The oldest copies of the store from before updates.
    RemoveCopies(Vec<PathBuf>),
    /// Artifacts whose files are gone: their rows say so from now on.
    NoteLost(Vec<String>),
    /// A row that cannot be read.
    PutAside(DamagedRow),
    /// A settings file of which nothing can be read.
    MoveAside(PathBuf),
}

impl Repair {
    /// What would be done, as a question.
    pub fn question(&self) -> String {
        match self {
            Self::RemoveLocks(files) => {
                format!("Remove {} that nobody holds?", counted(files.len(), "lock file"))
            }
            Self::RemoveFiles(files) => {
                format!("Remove {} that nothing names?", counted(files.len(), "file"))
            }
            Self::BelieveClock => {
                format!("Is it really {}? Retention goes by that then.", when(now_ms()))
            }
            Self::RemoveFolders(folders) => {
                format!("Remove {} of unfinished restores?", counted(folders.len(), "folder"))
            }
            Self::RemoveCopies(files) => {
                format!("Remove the {} oldest of these copies?", files.len())
            }
            Self::NoteLost(digests) => match digests.len() {
                1 => "Note that the file of 1 artifact is gone?".to_owned(),
                many => format!("Note that the files of {many} artifacts are gone?"),
            },
            Self::PutAside(DamagedRow { at: RowAt::Sequence(table), .. }) => {
                format!("Let the table {table} count on from its highest row?")
            }
            Self::PutAside(DamagedRow { at: at @ RowAt::Row { table, .. }, fault, .. }) => {
                match (table.as_str(), fault) {
                    ("meta", _) if at.to_string() == "the head of the audit" => {
                        "Let the newest row of the audit that is left be its head? Rows behind it may \
                         be lost, and `claw audit verify` tells of it forever."
                            .to_owned()
                    }
                    ("sessions", RowFault::Missing) => format!("Put {at} back into the list?"),
                    _ => format!("Put {at} aside, as it is, into the table put_aside?"),
                }
            }
            Self::PutAside(DamagedRow { at: at @ RowAt::Audit(_), fault, .. }) => match fault {
                RowFault::TooHigh | RowFault::FarAhead { .. } => {
                    format!("Put {at} back into its place, or aside if its hash names none?")
                }
                _ => format!(
                    "Put a note in the place of {at}? Its place and its hash stay proven, and \
                     `claw audit verify` tells of it forever."
                ),
            },
            Self::PutAside(DamagedRow { at, fault: RowFault::Missing, .. }) => {
                format!("Put a note in the place of {at}, so that its turn can go on?")
            }
            Self::PutAside(row) => {
                format!(
                    "Put {} aside, as it is, into the table put_aside, and a note into its place?",
                    row.at
                )
            }
            Self::MoveAside(file) => {
                format!(
                    "Move all of {} aside? Claw then runs without any of its settings, until you \
                     have corrected it and moved it back.",
                    file.display()
                )
            }
        }
    }

    /// Does it. `store` is needed for everything but settings.
    pub async fn carry_out(self, store: Option<&Store>) -> anyhow::Result<String> {
        match (self, store) {
            (Self::MoveAside(file), _) => move_aside(&file),
            (Self::RemoveLocks(files), _) => {
                files.iter().try_for_each(|file| Instance::remove_left_over(file))?;
                Ok(format!("Removed {}.", counted(files.len(), "lock file")))
            }
            (Self::RemoveFiles(files) | Self::RemoveCopies(files), _) => {
                for file in &files {
                    fs::remove_file(file)
                        .with_context(|| format!("{} cannot be removed", file.display()))?;
                }
                Ok(format!("Removed {}.", counted(files.len(), "file")))
            }
            (Self::RemoveFolders(folders), _) => {
                for folder in &folders {
                    fs::remove_dir_all(folder)
                        .with_context(|| format!("{} cannot be removed", folder.display()))?;
                }
                Ok(format!("Removed {}.", counted(folders.len(), "folder")))
            }
            (Self::BelieveClock, Some(store)) => {
                let now = now_ms();
                store.write(move |tx| tx.believe_clock(now)).await?;
                Ok(format!("Noted that it is {}.", when(now)))
            }
            (Self::NoteLost(digests), Some(store)) => {
                let count = digests.len();
                let noted = move |tx: &crate::store::Tx<'_>| {
                    digests.iter().try_for_each(|digest| {
                        tx.artifact_gone(digest, "its file was missing").map(|_| ())
                    })
                };
                store.write(noted).await?;
                let artifacts = counted_with(count, "artifact", "is", "are");
                Ok(format!("Noted that {artifacts} gone."))
            }
            (Self::PutAside(row), Some(store)) => put_aside(row, store).await,
            (_, None) => anyhow::bail!("the store is not open"),
        }
    }
}

fn move_aside(file: &Path) -> anyhow::Result<String> {
    let now = jiff::Timestamp::now()
        .to_zoned(jiff::tz::TimeZone::system())
        .strftime("%Y-%m-%dT%H-%M-%S")
        .to_string();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let aside = file.with_file_name(format!("{name}.broken-{now}"));
    anyhow::ensure!(aside.symlink_metadata().is_err(), "{} is there already", aside.display());
    fs::rename(file, &aside).with_context(|| format!("{} cannot be moved", file.display()))?;
    sync_folder_of(file)?;
    Ok(format!(
        "It is {} now, and none of what it says is in force. Correct it and move it back: mv {0} {}",
        aside.display(),
        file.display()
    ))
}

/// The note in a log counts as a limit: in a turn that still goes on it ends that turn, and says
/// why.
async fn put_aside(row: DamagedRow, store: &Store) -> anyhow::Result<String> {
    let held = row.session.as_ref().map(|session| store.lock_session(session)).transpose()?;
    if let (Some(session), Some(None)) = (&row.session, &held) {
        anyhow::bail!("`{session}` is at work in another process; end that first");
    }
    let note = note(&row);
    let (at, by) = (row.at.clone(), owner_principal());
    let put = store.write(move |tx| tx.put_aside(&row, &note, &by)).await;
    // At once: the next row may be one of the same session.
    if let Some(lock) = held.flatten() {
        lock.release();
    }
    Ok(if put? { done(&at) } else { format!("Nothing is wrong with {at} any more.") })
}

/// What is said of a repair that was made. Some of them end what their owner may want to give
/// again.
fn done(at: &RowAt) -> String {
    match at {
        RowAt::Sequence(table) => format!("The table {table} counts on from its highest row."),
        RowAt::Grant(_) => format!(
            "Put {at} aside. If that was a grant it has ended. A refusal holds for all calls of its \
             tool, or has ended if nobody knows which tool that is: `claw grants` lists what holds."
        ),
        RowAt::Audit(_) => format!("Put {at} aside; `claw audit verify` says what holds now."),
        RowAt::Row { table, .. } => format!("Put {at} aside. {}", meaning(table, at)),
        _ => format!("Put {at} aside."),
    }
}

/// What it means that a row of this table is gone.
fn meaning(table: &str, at: &RowAt) -> &'static str {
    match (table, at.to_string().as_str()) {
        (_, "the head of the audit") => {
            "The newest row that is left is the head again; `claw audit verify` says what is proven."
        }
        (_, "the seal of the audit") => {
            "Nothing takes its place: `claw audit verify` says what that means, and `claw audit \
             anchor --accept` takes the audit as it is."
        }
        (_, "what models have taken today") => {
            "The tokens of the last 24 hours count in its place, and you are asked before a turn \
             goes on."
        }
        (_, "the stop switch") => "It counts as pulled: `claw panic off` lets calls run again.",
        ("pins" | "pin_forms" | "launches" | "trust", _) => {
            "What was accepted there is asked about again: `claw tools diff` shows it."
        }
        ("clients", _) => {
            "Its client is revoked until `claw clients add` lets it in again. If its name could not \
             be read and you had revoked it, revoke it once more."
        }
        ("session_roles" | "session_models", _) => {
            "Its conversation has what all others have: `/role` and `/model` choose again."
        }
        ("guests", _) => "Nobody is let in by it any more.",
        ("staged" | "rounds", _) => "What waited for an answer there has expired.",
        ("firings", _) => "What it was about is not said or done once more.",
        ("sessions", _) => "The conversation is in the list.",
        _ => "Nothing takes its place.",
    }
}

/// What a person reads in the place of the row.
fn note(row: &DamagedRow) -> String {
    match &row.at {
        RowAt::Event { seq, .. } => format!(
            "Event {seq} of this log could not be read, and `claw doctor` has put it aside. The \
             turn is ended with that; write again to go on."
        ),
        RowAt::Inbox(_) => {
            "Something that was sent to claw here could not be read from its store, and `claw \
             doctor` has put it aside. If an answer is missing, write again."
                .to_owned()
        }
        RowAt::Outbox(_) => {
            "A message from claw could not be read from its store, and `claw doctor` has put it \
             aside. The conversation may still have it: ask again."
                .to_owned()
        }
        RowAt::Approval(_) => "this question could not be read from the store, and `claw doctor` \
            has put it aside; it has expired, ask again for what you want"
            .to_owned(),
        // Its question expires, and the call is judged anew.
        RowAt::Call(_) if row.fault == RowFault::Missing => String::new(),
        RowAt::Call(_) => {
            "this call could not be read from the store, and `claw doctor` has put it aside; it \
             does not run again, ask again for what you want"
                .to_owned()
        }
        // Nothing takes their place.
        RowAt::Grant(_)
        | RowAt::Update(_)
        | RowAt::Overheard(_)
        | RowAt::Audit(_)
        | RowAt::Sequence(_) => String::new(),
        RowAt::Row { .. } => {
            "what this was shown with could not be read from the store, and `claw doctor` has put \
             it aside; it does not run, ask again for what you want"
                .to_owned()
        }
    }
}
