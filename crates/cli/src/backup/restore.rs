//! `claw restore FILE`: makes a home from a backup where there is none. Everything is checked in a
//! folder beside it, which then gets the home's name at once. Must not know what the rows and
//! settings mean.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;

use super::contents::{Contents, DB, Entry, MANIFEST, MANIFEST_BYTES_MAX};
use super::hashed::Hashed;
use super::{broken_audit, schedule};
use crate::app::anchor_place;
use crate::config::{self, Home, MAIN};
use crate::domain::{Address, Inbound, InboundBody, Origin, SessionId};
use crate::doors::reached;
use crate::durable::{self, sync_folder_of};
use crate::fail::{self, UserError};
use crate::out;
use crate::store::{AuditEntry, Store, StoreError, Tx, now_ms};

/// Who stops what was under way.
const BY: &str = "claw restore";

pub async fn run(home: &Home, file: &Path, as_json: bool) -> anyhow::Result<ExitCode> {
    let home = real_path(home.path());
    refuse_a_home(&home)?;
    let from = File::open(file).with_context(|| format!("{} cannot be opened", file.display()))?;
    let draft = Draft::beside(&home)?;
    let contents = unpack(from, &draft.path).map_err(|error| {
        UserError::because(format!("{} is no whole backup: {error:#}", file.display()))
    })?;
    let stopped = settle_all(&draft.path, &contents).await?;
    let held = hold_back_all(&draft.path, &contents)?;
    sync_all(&draft.path)?;
    fs::rename(&draft.path, &home).map_err(|error| no_place(&home, &error))?;
    sync_folder_of(&home)?;
    anchor_all(&home, &contents).await;
    out::line(&if as_json {
        json!({"id": home, "at": contents.at, "files": contents.files.len(), "stopped": stopped,
               "held_jobs": held})
        .to_string()
    } else {
        let stopped = match stopped.len() {
            0 => String::new(),
            _ => format!(
                " Turns that were under way then are stopped, because their calls may have run \
                 since: {}.",
                stopped.join(", ")
            ),
        };
        let held = match held.len() {
            0 => String::new(),
            _ => format!(
                " Jobs that may have done their work since are paused; `claw schedule resume ID` \
                 lets one go on, `claw schedule run ID` does its work now: {}.",
                held.join(", ")
            ),
        };
        format!(
            "{} is what it was at {}.{stopped}{held} Do not use the home that it was made from any \
             more: both would answer.",
            home.display(),
            contents.at
        )
    })?;
    Ok(ExitCode::from(fail::DONE))
}

fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn refuse_a_home(home: &Path) -> anyhow::Result<()> {
    let holds_something = match fs::read_dir(home) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(_) => true,
    };
    if !holds_something {
        return Ok(());
    }
    Err(UserError::because(format!(
        "{} is not empty, and a backup is restored only where no home is; move it away, or set \
         CLAW_HOME to a new folder",
        home.display()
    )))
}

/// A home is made beside its place and then renamed. A mount point does not let that happen, nor
/// does a folder that belongs to somebody else.
fn no_place(home: &Path, error: &io::Error) -> anyhow::Error {
    let such = match home.is_dir() {
        true => format!("such as {}", home.join("home").display()),
        false => "in one that you may write to".to_owned(),
    };
    UserError::because(format!(
        "a home cannot be made at {}: {error}; set CLAW_HOME to a new folder {such} and restore \
         again",
        home.display()
    ))
}

/// The folder in which the home is made. It goes when it is dropped, unless it has become the home.
struct Draft {
    path: PathBuf,
    /// Held, so that nobody takes it for one that a kill has left.
    _held: File,
}

impl Draft {
    fn beside(home: &Path) -> anyhow::Result<Self> {
        let parent =
            home.parent().with_context(|| format!("{} has no folder above it", home.display()))?;
        let name =
            home.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let path = parent.join(format!("{}{}", drafts_begin(&name), durable::random()?));
        let private =
            |path: &Path, above: bool| DirBuilder::new().recursive(above).mode(0o700).create(path);
        let made = private(parent, true).and_then(|()| private(&path, false));
        made.map_err(|error| no_place(home, &error))?;
        let held = File::open(&path)?;
        durable::hold(&held)?;
        let draft = Self { path, _held: held };
        private(&draft.path.join("artifacts"), false)?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Not there any more, if it has become the home.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn drafts_begin(home: &str) -> String {
    format!(".{home}.restore-")
}

/// What restores to this home that were killed have left beside it: whole copies, with their
/// secrets.
pub fn left_drafts(home: &Home) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (home.root().parent(), home.root().file_name()) else {
        return Vec::new();
    };
    let beginning = drafts_begin(&name.to_string_lossy());
    durable::abandoned(parent, |name| name.starts_with(&beginning))
}

/// Writes what the list names, and nothing else.
fn unpack(from: impl Read, into: &Path) -> anyhow::Result<Contents> {
    let mut archive = tar::Archive::new(from);
    let mut entries = archive.entries()?;
    let mut first = entries.next().context("it is empty")?.context("it is no tar file")?;
    anyhow::ensure!(first.path()?.as_os_str() == MANIFEST, "it does not begin with {MANIFEST}");
    anyhow::ensure!(first.size() <= MANIFEST_BYTES_MAX, "its list of contents is too long");
    let mut text = Vec::new();
    first.read_to_end(&mut text)?;
    let contents = Contents::read(&text).map_err(anyhow::Error::msg)?;
    let mut wanted: BTreeMap<&str, &Entry> =
        contents.files.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    for entry in entries {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        let listed = wanted
            .remove(name.as_str())
            .with_context(|| format!("{name:?} is not in its list of contents"))?;
        anyhow::ensure!(entry.header().entry_type().is_file(), "{name:?} is no plain file");
        anyhow::ensure!(
            entry.size() == listed.bytes,
            "{name:?} has another length than its list says"
        );
        let to = into.join(&name);
        if let Some(folder) = to.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let read = copy(&name, &mut entry, &to);
        let read = read.with_context(|| format!("{name:?} cannot be read"))?;
        anyhow::ensure!(read == *listed, "{name:?} is damaged");
    }
    if let Some(missing) = wanted.keys().next() {
        anyhow::bail!("{missing:?} is missing; the file was cut");
    }
    Ok(contents)
}

fn copy(name: &str, from: &mut impl Read, to: &Path) -> anyhow::Result<Entry> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let mut from = Hashed::new(from);
    io::copy(&mut from, &mut file)?;
    Ok(from.into_entry(name))
}

/// The databases among what was restored, as the list names them.
fn databases(contents: &Contents) -> impl Iterator<Item = &str> {
    let names = contents.files.iter().map(|entry| entry.name.as_str());
    names.filter(|name| *name == DB || name.ends_with(&format!("/{DB}")))
}

/// The agent whose database this is; `None` for claw's own.
fn agent_of(database: &str) -> Option<&str> {
    let (agent, _) = database.strip_prefix("agents/")?.split_once('/')?;
    Some(agent)
}

/// Seals the audits at their new place: whatever was noted of another home here is not true of this
/// one. What is broken in the chain stays broken.
async fn anchor_all(home: &Path, contents: &Contents) {
    let place = anchor_place(&config::locate_kept_apart());
    for name in databases(contents) {
        let anchored = async {
            Store::open_anchored(&home.join(name), place.as_ref())?.accept_audit(BY).await
        };
        if let Err(error) = anchored.await {
            let claw = reached::claw(agent_of(name).unwrap_or(MAIN));
            out::err_line(&format!(
                "claw: the audit {name} is not sealed at its new place ({error}); `{claw} audit \
                 anchor --accept` does it, once nothing else is wrong with it."
            ));
        }
    }
}

/// The same for every store in it. The sessions of an agent are named with the agent.
async fn settle_all(draft: &Path, contents: &Contents) -> anyhow::Result<Vec<String>> {
    let mut stopped = Vec::new();
    for name in databases(contents) {
        let agent = agent_of(name);
        let claw = reached::claw(agent.unwrap_or(MAIN));
        let sessions = settle(&draft.join(name), contents, &claw).await?;
        stopped.extend(sessions.into_iter().map(|session| match agent {
            Some(agent) => format!("{agent}/{session}"),
            None => session,
        }));
    }
    Ok(stopped)
}

/// The agents whose homes were restored, by what their names begin with; claw's own is empty.
fn prefixes(contents: &Contents) -> impl Iterator<Item = &str> {
    databases(contents).filter_map(|name| name.strip_suffix(DB))
}

/// The jobs of an agent are named with the agent.
fn hold_back_all(draft: &Path, contents: &Contents) -> anyhow::Result<Vec<String>> {
    let mut held = Vec::new();
    for prefix in prefixes(contents) {
        let lines = schedule::hold_back(&draft.join(prefix))
            .context("the jobs in the backup cannot be read")?;
        let of = prefix.strip_prefix("agents/").unwrap_or_default();
        held.extend(lines.into_iter().map(|line| format!("{of}{line}")));
    }
    Ok(held)
}

/// Checks a database, notes in its audit where it comes from, and stops what was under way. A
/// broken audit is told and left as it is: the backup may be all that there is. Gives back the
/// sessions that are stopped.
async fn settle(db: &Path, contents: &Contents, claw: &str) -> anyhow::Result<Vec<String>> {
    let store = Store::open(db)?;
    if let Some(migrated) = store.migrated() {
        // The backup itself is the copy.
        fs::remove_file(&migrated.copy)?;
        let (from, to) = (migrated.from, migrated.to);
        out::err_line(&format!(
            "claw: its store had schema {from} and has {to} in the new home; the backup stays as \
             it is."
        ));
    }
    if let Some(fault) = store.read(|tx| tx.quick_check())? {
        anyhow::bail!("the database in the backup is damaged: {fault}; restore an older one");
    }
    let broken = broken_audit(&store, claw);
    if let Some(what) = &broken {
        out::err_line(&format!(
            "claw: the audit in the backup is broken, and stays so in the new home: {what}."
        ));
    }
    let (at, is_broken) = (contents.at.clone(), broken.is_some());
    let (stopped, unnoted) = store
        .write(move |tx| {
            let stopped = stop_all(tx)?;
            let entry =
                AuditEntry { kind: "restored", call: String::new(), body: json!({"backup": at}) };
            match tx.audit(&entry) {
                // Nothing can follow a head that cannot be read.
                Err(error) if is_broken => Ok((stopped, Some(error))),
                noted => noted.map(|()| (stopped, None)),
            }
        })
        .await?;
    if let Some(error) = unnoted {
        out::err_line(&format!(
            "claw: the audit has no row of this restore ({error}); run `{claw} doctor --repair` in \
             the new home."
        ));
    }
    Ok(stopped.iter().map(ToString::to_string).collect())
}

/// What was still to be done when the backup was made may have been done since, and nothing may be
/// done twice.
fn stop_all(tx: &Tx<'_>) -> Result<Vec<SessionId>, StoreError> {
    let mut open = tx.sessions_with_open_turn()?;
    // What was confirmed and had not run yet, and what could still be confirmed.
    let answered = tx.sessions_with_answers()?;
    open.extend(answered.into_iter().filter(|session| !open.contains(session)).collect::<Vec<_>>());
    tx.let_staged_expire(now_ms())?;
    for session in &open {
        let stop = Inbound {
            session: session.clone(),
            from: Address("console/restore".to_owned()),
            principal: BY.to_owned(),
            origin: Origin::Owner,
            body: InboundBody::Stop,
        };
        tx.add_inbound(&stop, u32::MAX)?;
    }
    Ok(open)
}

/// Brings every file and folder to the disk, the inner ones first.
fn sync_all(folder: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_all(&entry.path())?
        } else {
            File::open(entry.path())?.sync_all()?
        }
    }
    Ok(File::open(folder)?.sync_all()?)
}
